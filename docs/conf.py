"""How the documentation is built, without a network: python -m sphinx -W --keep-going -b html docs docs/_build/html."""

from __future__ import annotations

import inspect
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
exclude_patterns = ["_build", "notebooks/explorer"]  # what Voila serves is no page of ours
templates_path = ["_templates"]
nitpicky = True  # a reference to what is not there fails the build; nothing is exempt
default_role = "code"

# The notebooks are pages, shown as they are stored; tests execute them. Sphinx reads only what is below its own folder.
nb_execution_mode = "off"
myst_heading_anchors = 3
# The gallery is drawn when the pages are built: a picture below the code that makes it.
plot_include_source = True
plot_html_show_source_link = plot_html_show_formats = False
plot_formats = [("png", 110)]
shutil.rmtree(HERE / "notebooks", ignore_errors=True)
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", ignore=shutil.ignore_patterns(".*"))

# inventories/make.py writes the inventories: which names of other projects are linked, and where they are explained.
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

# Signatures without types, as those of NumPy and pandas: the parameters below say them, in words, with links.
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"  # beside a class page: `add()`, not `MaxEnt.add()`
RETURNED = [  # by public functions; nobody imports them
    "maxent_cvx.explorer.explorer.Explorer",
    "maxent_cvx.model.explain.Relaxation",
    "maxent_cvx.solvers.backends.Backend",
    "maxent_cvx.solvers.cvxpy.derivatives.SolutionDerivatives",
    "maxent_cvx.sources.Probability",
    "maxent_cvx._utils.associations.Associations",
    "maxent_cvx.terms.people.People",
]
autosummary_context = {"titles": {path: path.rpartition(".")[2] for path in RETURNED}}
WELL_KNOWN_ABBREVIATIONS = (*autosummary.WELL_KNOWN_ABBREVIATIONS, "Eq.", "Eqs.", "Fig.")  # they end no first sentence
autosummary.WELL_KNOWN_ABBREVIATIONS = WELL_KNOWN_ABBREVIATIONS
autosummary_filename_map = {  # beside the functions that are called so, but for the capital
    f"maxent_cvx.measures.{name}": f"maxent_cvx.measures.{name}-class" for name in ("Equivocation", "Reidentification")
}
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = {  # what they inherit from str and from CVXPY is explained elsewhere
    "maxent_cvx.solvers.DualNewton": False,
    "maxent_cvx.solvers.Status": False,
}
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but for these words, which are links
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
        for module in [mx, *(found for found in (getattr(mx, name) for name in mx.__all__) if inspect.ismodule(found))]
        for name in module.__all__
        if inspect.isclass(getattr(module, name))
    },
    **{path.rpartition(".")[2]: path for path in RETURNED},
}

html_theme = "pydata_sphinx_theme"
html_title = "maxent_cvx"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_end": [],
}
# Nothing is below these.
ALONE = (
    "index",
    "report",
    "explorer",
    "gallery",
    "attacks",
    "partitions",
    "expectations",
    "architecture",
    "contributing",
    "changes",
)
html_sidebars = {page: [] for page in ALONE}
html_show_sourcelink = False
