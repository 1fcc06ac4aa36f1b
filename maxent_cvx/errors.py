"""The errors of this package, each saying what was found, what was expected, where, and what to do.

Every error is a :class:`MaxEntError`, which is a ``ValueError``. Messages name columns and labels;
they never print a person's record.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable
from typing import Any

__all__ = [
    "BadProbability",
    "DuplicateLabel",
    "GroupTooLarge",
    "Inaccurate",
    "Infeasible",
    "LabelMismatch",
    "MaxEntError",
    "NotDecided",
    "RepeatedStatement",
    "RulesLeftOut",
    "SolverError",
    "StatementError",
    "TableError",
    "UnknownName",
    "listing",
    "number",
    "shown",
    "unknown_name",
    "whole",
]

#: Characters of a value that a message shows.
MOST_SHOWN = 80
#: Whole numbers beyond this are no counts: arrays cannot hold them.
LARGEST = 2**63 - 1


class MaxEntError(ValueError):
    """Any error this package raises on purpose."""


class TableError(MaxEntError):
    """A table cannot play the role it was given: empty, missing values, wrong columns or counts."""


class UnknownName(MaxEntError):
    """A column, value, solver or label that does not exist."""


class BadProbability(MaxEntError):
    """A number that no probability can be: outside [0, 1], not finite, or out of reach of a sum."""


class StatementError(MaxEntError):
    """A statement that says nothing, or that cannot be read as linear knowledge; an argument that cannot be read."""


class LabelMismatch(MaxEntError):
    """Values whose labels are not those of the rows they are compared with."""


class DuplicateLabel(MaxEntError):
    """One label for two different pieces of knowledge."""


class Infeasible(MaxEntError):
    """No distribution satisfies the published data and the knowledge together.

    Attributes
    ----------
    conflict : DataFrame or None
        An irreducible set of statements that contradict each other, as ``model.diagnose()`` gives it.
    """

    conflict: Any = None


class SolverError(MaxEntError):
    """A solver stopped without an answer, or cannot take the model."""


class Inaccurate(SolverError):
    """An answer whose certificate does not reach :data:`maxent_cvx.solvers.ACCURACY`."""


class NotDecided(SolverError):
    """A question about whole assignments was not decided in the time that it was given."""


class GroupTooLarge(MaxEntError):
    """Exact possible worlds of a group would cost more than is allowed."""


class RulesLeftOut(UserWarning):
    """Rules say something that is not read: what they reveal is left out of the model."""


class RepeatedStatement(UserWarning):
    """Knowledge that the model holds already was added again; nothing changed."""


def number(value: object, what: str) -> float:
    """Read a finite number, or say what was found instead.

    >>> number("0.3", "the value")
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.BadProbability: the value must be a finite number, not '0.3'
    """
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(found):
        many = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        what_it_is = f"a {type(value).__name__}" if many else shown(value)
        raise BadProbability(f"{what} must be a finite number, not {what_it_is}")
    return found


def whole(value: object, what: str, least: int, most: float = LARGEST, error: type[MaxEntError] | None = None) -> int:
    """Read a whole number from a range, or say what was found instead."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:  # type: ignore[operator]
        up = f"from {least} to {most:.0f}" if most < LARGEST else f"of at least {least}"
        raise (error or StatementError)(f"{what}={shown(value)}: a whole number {up} is expected")
    return int(value)  # type: ignore[call-overload]


def shown(value: object) -> str:
    """Write a value for a message; of a table, array or other container of data only its type: no record is printed."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if _holds_data(value):
        return f"a {type(value).__name__}"
    try:
        text = " ".join(repr(_plain(value)).splitlines())
    except Exception:  # Python refuses to write integers of more than 4,300 digits, and objects may fail to be written
        return f"a {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... (a {type(value).__name__})"


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Write the first few of many items: ``'a', 'b', ... (7 in total)``."""
    items = list(items)
    first = ", ".join(shown(item) if _holds_data(item) else repr(_plain(item)) for item in items[:limit])
    return first if len(items) <= limit else f"{first}, ... ({len(items)} in total)"


def unknown_name(what: str, found: object, known: Iterable[object]) -> UnknownName:
    """Say that `found` is not a `what`, with near misses or else what there is.

    >>> print(unknown_name("value of 'Disease'", "Fluu", ["Flu", "HIV"]))
    'Fluu' is not a value of 'Disease'; did you mean 'Flu'?
    """
    known = list(known)
    found = _plain(found)
    by_text = {str(_plain(item)): _plain(item) for item in known}
    if _holds_data(found):  # to compare it as a text would take long, and to print it would print records
        return UnknownName(f"{shown(found)} is not {'an' if what[0] in 'aeiou' else 'a'} {what}")
    by_lower = {text.lower(): item for text, item in by_text.items()}
    near = [by_lower[text] for text in difflib.get_close_matches(str(found).lower(), by_lower, n=3)]
    if str(found) in by_text:
        twin = by_text[str(found)]
        hint = f"{twin!r} ({type(twin).__name__}) is, but this is a {type(found).__name__}"
    elif near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"expected one of {listing(known, 8)}" if known else "there is none"
    return UnknownName(f"{shown(found)} is not {'an' if what[0] in 'aeiou' else 'a'} {what}; {hint}")


def _holds_data(value: object) -> bool:
    """Whether something is a table, an array or another container whose text would print data."""
    return bool(getattr(value, "shape", ()) or hasattr(value, "matrix"))


def _plain(item: object) -> object:
    """Turn a NumPy scalar into the Python value it stands for, so that messages read well."""
    return item.item() if hasattr(item, "item") and getattr(item, "ndim", 1) == 0 else item
