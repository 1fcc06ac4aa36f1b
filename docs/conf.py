"""Configuration of Sphinx. No network is needed: python -m sphinx -W --keep-going -b html docs docs/_build/html."""

from __future__ import annotations

import inspect
import re
import shutil
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.ext import autosummary

import maxent_cvx as mx

HERE = Path(__file__).parent

project = "maxent_cvx"
author = "The maxent_cvx developers"
copyright = author  # noqa: A001
version = release = version_of("maxent-cvx")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_nb",
    "matplotlib.sphinxext.plot_directive",
]
exclude_patterns = ["_build", "notebooks/explorer"]  # Voila serves the latter
templates_path = ["_templates"]
nitpicky = True  # an unresolved reference fails the build
default_role = "code"

# Notebooks are shown as they are stored; the tests execute them. Sphinx reads only what is below its own folder.
nb_execution_mode = "off"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# The pictures of the gallery are drawn when the pages are built.
plot_include_source = True
plot_html_show_source_link = plot_html_show_formats = False
plot_formats = [("png", 110)]
shutil.rmtree(HERE / "notebooks", ignore_errors=True)
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", ignore=shutil.ignore_patterns(".*"))

# inventories/make.py writes the inventories: the names of other projects that docstrings link.
intersphinx_mapping = {
    name: (url, str(HERE / "inventories" / f"{name}.inv"))
    for name, url in {
        "cvxpy": "https://www.cvxpy.org/",
        "matplotlib": "https://matplotlib.org/stable/",
        "numpy": "https://numpy.org/doc/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
        "python": "https://docs.python.org/3/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
    }.items()
}

autodoc_typehints = "none"  # the sections of parameters have types, with links
add_module_names = False
toc_object_entries_show_parents = "hide"
# Classes that functions return are shown under their own names, without the modules that define them.
RETURNED = [
    f"{module}.{name}"
    for module, names in re.findall(
        r"currentmodule:: (\S+)\n\n\.\. autosummary::\n   :toctree: generated/\n\n((?:   \w+\n)+)",
        (HERE / "reference" / "returned.rst").read_text(encoding="utf-8"),
    )
    for name in names.split()
]
autosummary_context = {"titles": {path: path.rpartition(".")[2] for path in RETURNED}}
autosummary.WELL_KNOWN_ABBREVIATIONS = (*autosummary.WELL_KNOWN_ABBREVIATIONS, "Eq.", "Eqs.", "Fig.")
autosummary_filename_map = {path: f"returned.{path.rpartition('.')[2]}" for path in RETURNED} | {
    # File systems that ignore case would confuse these with the functions of the same names.
    f"maxent_cvx.measures.{name}": f"maxent_cvx.measures.{name}-class"
    for name in ("Equivocation", "Reidentification")
}
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = {  # inherited from str and from CVXPY
    "maxent_cvx.solvers.DualNewton": False,
    "maxent_cvx.solvers.Status": False,
}
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # except these words, which become links
numpydoc_xref_aliases = {
    "Axes": "matplotlib.axes.Axes",
    "DataFrame": "pandas.DataFrame",
    "Fraction": "fractions.Fraction",
    "Index": "pandas.Index",
    "MultiIndex": "pandas.MultiIndex",
    "Series": "pandas.Series",
    "bool": ":class:`bool`",
    "csr_array": "scipy.sparse.csr_array",
    "ndarray": "numpy.ndarray",
    **{
        name: f"{module.__name__}.{name}"
        for module in [mx, *(value for value in (getattr(mx, name) for name in mx.__all__) if inspect.ismodule(value))]
        for name in module.__all__
        if inspect.isclass(getattr(module, name))
    },
    **{path.rpartition(".")[2]: path for path in RETURNED},
}

html_theme = "pydata_sphinx_theme"
html_title = "maxent_cvx"
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}  # without it the theme reports an error in the console
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "quickstart", "gallery", "results")}
html_show_sourcelink = False
