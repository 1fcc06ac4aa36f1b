"""How a report was made: what was asked, from where the data are, versions, seed."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from ...errors import shown
from ..blocks import Block, Cell, Column, Table
from ..case import Case
from ..formats import from_on

__all__ = ["making"]

#: Packages that an answer depends on.
PACKAGES = ("maxent-cvx", "numpy", "scipy", "pandas", "cvxpy")


def making(cases: Sequence[Case], day: str) -> list[Block]:
    """List what somebody needs who wants to make the same report."""
    asked, compared = cases[0].asked, all(case.is_compared for case in cases)
    values = "all" if asked.sensitive is None else ", ".join(map(str, _several(asked.sensitive)))
    said = {
        "threshold of exposure": from_on(asked.threshold),
        "sensitive values": values,
        "compared with": _compared(asked.baseline, compared),
        "values that count as the same": "by default" if asked.within is None else f"within {shown(asked.within)}",
        "original records": "given, to measure by" if asked.original is not None else "not given",
        "made on": day,
        **asked.about,
        **{name: _version(name) for name in PACKAGES},
        "Python": platform.python_version(),
    }
    if "seed" not in {name.lower() for name in asked.about}:
        said["seed"] = "none was given; solving draws nothing at random"
    rows = [[Cell(str(name)), Cell(str(value))] for name, value in said.items()]
    return [Table("What this report was made of", [Column("What"), Column("Value")], rows, len(rows))]


def _several(values: object) -> list[object]:
    return list(values) if isinstance(values, list | set | frozenset) else [values]


def _compared(baseline: object, compared: bool) -> str:
    """What an inference is compared with, in words."""
    if baseline is None:
        return "nothing"
    if not compared:
        return "nothing where the release does not say how many people have each value"
    return "how many of all people have the value" if isinstance(baseline, str) else f"a {type(baseline).__name__}"


def _version(name: str) -> str:
    """The version of a package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"
