"""Views as tables and back: which class a stored view is of, by a name that is written down with it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import pandas as pd

from ..errors import MaxEntError, StatementError, TableError, listing, shown

__all__ = ["restored", "stored", "taken"]

T = TypeVar("T", bound="type[Storable]")


class Storable(Protocol):
    """What is written as tables: a view."""

    def to_frames(self) -> dict[str, Any]:
        """Give the tables."""
        ...

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Make the view of them again."""
        ...


#: Every class of views that has been defined, by the name that is written down. Of two by one name, the later: a
#: notebook's cell is run again.
KINDS: dict[str, type[Storable]] = {}


def register(kind: T) -> T:
    """Take a class of views down, by its name: `stored_as` of the class itself, or its module and its name in there.

    Raises
    ------
    StatementError
        If a class from elsewhere has the name.
    """
    name = name_of(kind)
    if (other := KINDS.get(name)) is not None and _place(other) != _place(kind):
        raise StatementError(
            f"stored_as={name!r} of {_place(kind)} is that of {_place(other)} already; files could not tell them "
            "apart: choose another"
        )
    KINDS[name] = kind
    return kind


def name_of(kind: type) -> str:
    """The name by which files know a class; a subclass has one of its own."""
    name = vars(kind).get("stored_as", _place(kind))
    if not isinstance(name, str) or not name:
        raise StatementError(f"stored_as={shown(name)} of {_place(kind)}: a text is expected")
    return name


def _place(kind: type) -> str:
    """Where a class is defined, as Python would import it."""
    return f"{kind.__module__}.{kind.__qualname__}"


def stored(view: Storable) -> dict[str, Any]:
    """Write a view as the name of its class and what :meth:`maxent_cvx.View.to_frames` gives.

    Raises
    ------
    TableError
        If its class does not say how, or a subclass holds more than its parent's tables.
    """
    kind = type(view)
    if KINDS.get(name_of(kind)) is not kind:
        raise TableError(
            f"the class {_place(kind)} has been defined again since the view was made; make the view again"
        )
    frames = view.to_frames()
    _check_whole(view, frames)
    return {"kind": name_of(kind), "frames": frames}


def restored(parts: Mapping[str, Any]) -> Any:
    """Make a view again from what :func:`stored` wrote.

    Raises
    ------
    TableError
        If its class is not known here, or does not make a view of the class from the tables.
    """
    if not isinstance(parts, Mapping) or not isinstance(name := parts.get("kind"), str) or "frames" not in parts:
        raise TableError(f"a view is written as a kind, a text, and frames, not as {shown(parts)}")
    if name not in KINDS:
        module = str(name).rpartition(".")[0].partition(".<locals>")[0]
        raise TableError(
            f"it is of a view of the class {name}, which is not known here: import the module that defines it "
            f"({module or name}) first, or define it, and read again; known are {listing(KINDS, 20)}"
        )
    kind = KINDS[name]
    try:
        view = kind.from_frames(parts["frames"])
    except MaxEntError as error:
        raise TableError(f"a {kind.__name__} cannot be made of its tables: {error}") from error
    except Exception as error:  # whatever the author's own code raises
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise TableError(
            f"a {kind.__name__} cannot be made of its tables ({reason}); its class needs a "
            "from_frames(cls, frames) that takes what its to_frames() gives"
        ) from error
    if type(view) is not kind:
        raise TableError(
            f"{kind.__name__}.from_frames gives a {type(view).__name__}; it must give a {kind.__name__}, as in "
            "return cls(...)"
        )
    return view


def taken(frames: Mapping[str, Any], kind: type, **expected: type) -> list[Any]:
    """Read what a view of some kind was written as, each entry by its name and type.

    Raises
    ------
    TableError
        If one is missing, left over, or something else.
    """
    if not isinstance(frames, Mapping) or set(frames) != set(expected):
        found = listing(sorted(map(str, frames))) if isinstance(frames, Mapping) else shown(frames)
        raise TableError(f"a {kind.__name__} is written as {listing(expected, 20)}, not as {found or 'nothing'}")
    for name, sort in expected.items():
        if not isinstance(frames[name], sort):
            raise TableError(f"{name!r} of a {kind.__name__} is a {sort.__name__}, not {shown(frames[name])}")
        if isinstance(frames[name], list) and not all(isinstance(column, str | Mapping) for column in frames[name]):
            raise TableError(f"{name!r} of a {kind.__name__} holds something else than names: {shown(frames[name])}")
    return [frames[name] for name in expected]


def labels_of(column: pd.Series) -> pd.Index:
    """Make an index of a column, of the same type: pandas would guess another one for objects."""
    return pd.Index(column.array, dtype=column.dtype, name=column.name)


def positions(frame: pd.DataFrame, sizes: Mapping[str, int], what: str) -> list[np.ndarray]:
    """Read columns of positions, each from 0 to below the number of what it points to.

    Raises
    ------
    TableError
        If a column is missing, or points to nothing.
    """
    found = []
    for name, size in sizes.items():
        column = frame[name].to_numpy() if name in frame.columns else np.array([None])
        if column.dtype.kind not in "iu" or ((column < 0) | (column >= size)).any():
            raise TableError(f"column {name!r} of {what} must hold positions from 0 to {size - 1}")
        found.append(column.astype(np.int64))
    return found


def _check_whole(view: Storable, frames: dict[str, Any]) -> None:
    """Refuse a view that holds more than the tables of the parent whose `to_frames` it has."""
    kind = type(view)
    owner: Any = next(one for one in kind.__mro__ if "to_frames" in vars(one))
    if owner is kind or owner not in KINDS.values():
        return
    kept = set(vars(owner.from_frames(frames)))
    derived = {name for one in kind.__mro__ for name, value in vars(one).items() if isinstance(value, cached_property)}
    if more := sorted(set(vars(view)) - kept - derived):
        raise TableError(
            f"a {kind.__name__} holds {listing(more)}, which the tables of a {owner.__name__} do not: it would not "
            f"come back as it is; {kind.__name__} needs a to_frames() and a from_frames(cls, frames) of its own"
        )
