"""Write the intersphinx inventories: python docs/inventories/make.py.

The inventories beside this file are not copies of those that the projects publish. They hold the few names that our
docstrings refer to, each with the page of the project's public documentation that explains it, so that ours is built
without a network, and from the same names every time. A reference to a name that is not here fails the build: add the
name to the table. (Who would rather have a whole inventory puts the project's own objects.inv in the place of ours.)
"""

from __future__ import annotations

import zlib
from pathlib import Path

#: By project, and by role: where names are explained, {} being the name, and which names; $ is the anchor that is it.
NAMES = {
    "cvxpy": {
        "py:class": {
            "api_reference/cvxpy.expressions.html#cvxpy.expressions.expression.Expression": ["cvxpy.Expression"],
            "api_reference/cvxpy.expressions.html#cvxpy.expressions.variable.Variable": ["cvxpy.Variable"],
            "api_reference/cvxpy.expressions.html#cvxpy.expressions.constants.parameter.Parameter": ["cvxpy.Parameter"],
            "api_reference/cvxpy.problems.html#$": ["cvxpy.Problem"],
        },
    },
    "matplotlib": {
        "py:class": {"api/_as_gen/{}.html#$": ["matplotlib.axes.Axes"]},
    },
    "numpy": {
        "py:class": {"reference/generated/{}.html#$": ["numpy.ndarray"]},
        "py:function": {"reference/generated/{}.html#$": ["numpy.quantile"]},
    },
    "pandas": {
        "py:class": {
            "reference/api/{}.html#$": [
                "pandas.DataFrame", "pandas.Index", "pandas.Interval", "pandas.MultiIndex", "pandas.Series",
            ],
        },
    },
    "python": {
        "py:class": {
            "library/fractions.html#$": ["fractions.Fraction"],
            "library/functions.html#$": ["bool", "float", "int"],
            "library/stdtypes.html#$": ["dict", "list", "str", "tuple"],
        },
        "py:data": {"library/constants.html#$": ["None"]},
        "py:exception": {"library/exceptions.html#$": ["AssertionError", "ValueError"]},
        "py:function": {"library/functions.html#$": ["callable"]},
        "std:term": {"glossary.html#term-$": ["iterable", "sequence"]},
    },
    "scipy": {
        "py:class": {"reference/generated/{}.html#$": ["scipy.sparse.csr_array"]},
    },
}  # fmt: skip


def inventory(project: str) -> bytes:
    """Make an inventory in Sphinx's format, version 2: four lines, and a compressed line a name."""
    lines = [
        f"{name} {role} 1 {page.format(name)} -\n"
        for role, pages in NAMES[project].items()
        for page, names in pages.items()
        for name in names
    ]
    head = "# Sphinx inventory version 2\n# Project: {}\n# Version: \n"
    zipped = "# The remainder of this file is compressed using zlib.\n"
    return (head.format(project) + zipped).encode() + zlib.compress("".join(lines).encode(), 9)


if __name__ == "__main__":
    for project in NAMES:
        (Path(__file__).parent / f"{project}.inv").write_bytes(inventory(project))
