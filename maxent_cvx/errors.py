"""The errors of this package, each saying what was found, what was expected, where, and what to do.

Every error is a :class:`MaxEntError`, which is a ``ValueError``. Messages name columns and labels;
they never print a person's record.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BadProbability",
    "DuplicateLabel",
    "Inaccurate",
    "Infeasible",
    "LabelMismatch",
    "MaxEntError",
    "RepeatedStatement",
    "SolverError",
    "StatementError",
    "TableError",
    "UnknownName",
    "listing",
    "unknown_name",
]


class MaxEntError(ValueError):
    """Any error this package raises on purpose."""


class TableError(MaxEntError):
    """A table cannot play the role it was given: empty, missing values, wrong columns or counts."""


class UnknownName(MaxEntError):
    """A column, value, solver or label that does not exist."""


class BadProbability(MaxEntError):
    """A number that no probability can be: outside [0, 1], not finite, or out of reach of a sum."""


class StatementError(MaxEntError):
    """A statement that says nothing, or that cannot be read as linear knowledge."""


class LabelMismatch(MaxEntError):
    """Values whose labels are not those of the rows they are compared with."""


class DuplicateLabel(MaxEntError):
    """One label for two different pieces of knowledge."""


class Infeasible(MaxEntError):
    """No distribution satisfies the published data and the knowledge together."""


class SolverError(MaxEntError):
    """A solver stopped without an answer, or cannot take the model."""


class Inaccurate(SolverError):
    """An answer whose certificate does not reach :data:`maxent_cvx.solvers.ACCURACY`."""


class RepeatedStatement(UserWarning):
    """Knowledge that the model holds already was added again; nothing changed."""


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Write the first few of many items: ``'a', 'b', ... (7 in total)``."""
    items = list(items)
    shown = ", ".join(repr(_plain(item)) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown}, ... ({len(items)} in total)"


def unknown_name(what: str, found: object, known: Iterable[object]) -> UnknownName:
    """Say that `found` is not a `what`, with near misses or else what there is.

    >>> print(unknown_name("value of 'Disease'", "Fluu", ["Flu", "HIV"]))
    'Fluu' is not a value of 'Disease'; did you mean 'Flu'?
    """
    known = list(known)
    found = _plain(found)
    by_text = {str(_plain(item)): _plain(item) for item in known}
    near = [by_text[text] for text in difflib.get_close_matches(str(found), by_text, n=3)]
    if str(found) in by_text:
        twin = by_text[str(found)]
        hint = f"{twin!r} ({type(twin).__name__}) is, but this is a {type(found).__name__}"
    elif near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"expected one of {listing(known, 8)}" if known else "there is none"
    return UnknownName(f"{found!r} is not a {what}; {hint}")


def _plain(item: object) -> object:
    """Turn a NumPy scalar into the Python value it stands for, so that messages read well."""
    return item.item() if hasattr(item, "item") and getattr(item, "ndim", 1) == 0 else item
