"""Contradictory knowledge mended: the least that has to be moved, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .errors import BadProbability, unknown_name
from .knowledge import Entry
from .rows import Rows
from .solvers.feasibility import least_change
from .solvers.linear_form import LinearForm
from .solvers.lumping import lump
from .sources import Source, Statement

if TYPE_CHECKING:
    from .model import MaxEnt
    from .space import Space

__all__ = ["Relaxation", "Relaxed", "moved", "prices", "relaxed"]


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A model whose knowledge has been made consistent, and what that took.

    Attributes
    ----------
    model : MaxEnt
        A copy of the model in which the statements that had to move are wider. The original is as it was.
    changes : DataFrame
        A row for each of them, by the name that it had: `low` and `high` as typed, `new_low` and `new_high`, and
        the `move` from the one to the other, in the unit of its value. Empty if nothing had to move.
    """

    model: MaxEnt
    changes: pd.DataFrame

    def __repr__(self) -> str:
        return f"<Relaxation: {len(self.changes)} of {len(self.model.knowledge)} statements moved>\n{self.changes}"

    def _repr_html_(self) -> str:
        return self.changes.to_html(border=0)


class Relaxed(Source):
    """low - move <= rows <= high + move: a source whose rows have been moved apart.

    Attributes
    ----------
    original : Source
    """

    def __init__(self, original: Source, emitted: tuple[Rows, ...]) -> None:
        self.original, self.emitted = original, emitted

    @property
    def label(self) -> str:
        """That of the original."""
        return self.original.label

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the rows as they are now."""
        yield from self.emitted


def prices(knowledge: Mapping[str, Entry], priority: Mapping[str, float]) -> np.ndarray:
    """What it costs to move each row of the knowledge by one person."""
    unknown = [label for label in priority if label not in knowledge]
    if unknown:
        raise unknown_name("label of the model's knowledge", unknown[0], knowledge)
    for label, value in priority.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise BadProbability(
                f"the priority of {label!r} is {value!r}; a number above 0 is expected, inf for what must not move"
            )
    return np.concatenate(
        [np.empty(0), *(np.full(sum(map(len, e.rows)), float(priority.get(name, 1))) for name, e in knowledge.items())]
    )


def moved(form: LinearForm, price: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much each row of the knowledge must be lowered on its low side, and raised on its high side, as typed."""
    lumping = lump(form)
    change = least_change(lumping.form, price)
    off, direction = (vector[lumping.row][form.n_facts :] for vector in (change.off, change.direction))
    typed = off / form.scale[form.n_facts :]
    return np.where(direction > 0, typed, 0.0), np.where(direction < 0, typed, 0.0)


def relaxed(
    knowledge: Mapping[str, Entry], lower: np.ndarray, upper: np.ndarray
) -> tuple[dict[str, Entry], pd.DataFrame]:
    """Move rows apart, low sides down and high sides up: all knowledge by its labels, and a table of what moved."""
    entries: dict[str, Entry] = {}
    tables = [pd.DataFrame(columns=["low", "high", "new_low", "new_high", "move"], dtype=float)]
    ends = np.cumsum([sum(map(len, entry.rows)) for entry in knowledge.values()])[:-1]
    parts = zip(np.split(lower, ends), np.split(upper, ends), strict=True) if knowledge else ()
    for (name, entry), (down, up) in zip(knowledge.items(), parts, strict=True):
        if not (down.any() or up.any()):
            entries[name] = entry
            continue
        wider = _widened(entry, down, up)
        own = wider.source.label  # a statement's own text, unless it was given another name
        entries[own if name == entry.source.label and own not in knowledge else name] = wider
        tables.append(_changes(entry.rows, wider.rows))
    moved_rows = [table for table in tables if len(table)]
    return entries, (pd.concat(moved_rows) if moved_rows else tables[0]).rename_axis("statement")


def _widened(entry: Entry, lower: np.ndarray, upper: np.ndarray) -> Entry:
    """Move the rows of one source apart."""
    ends = np.cumsum([len(rows) for rows in entry.rows])[:-1]
    parts = zip(entry.rows, np.split(lower, ends), np.split(upper, ends), strict=True)
    rows = tuple(replace(r, low=r.low - down, high=r.high + up) for r, down, up in parts)
    if not isinstance(entry.source, Statement):
        return Entry(Relaxed(entry.source, rows), rows, entry.convex)
    said = Statement(entry.source.terms, float(rows[0].low[0]), float(rows[0].high[0]))
    if rows[0].label == entry.source.label:
        rows = (replace(rows[0], label=said.label),)
    return Entry(said, rows)


def _changes(before: tuple[Rows, ...], after: tuple[Rows, ...]) -> pd.DataFrame:
    """List the rows that moved."""
    old, new = (
        [np.concatenate([getattr(rows, side) for rows in some]) for side in ("low", "high")] for some in (before, after)
    )
    names = [rows.name(i) for rows in before for i in range(len(rows))]
    table = pd.DataFrame({"low": old[0], "high": old[1], "new_low": new[0], "new_high": new[1]}, index=names)
    down, up = (np.where(a == b, 0.0, np.abs(a - b)) for a, b in zip(old, new, strict=True))  # infinite ends stay
    return table.assign(move=down + up)[down + up > 0]
