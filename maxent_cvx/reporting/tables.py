"""Tables of a report: whom a row is about, and then what is said of them."""

from __future__ import annotations

import pandas as pd

from .blocks import Cell, Column
from .formats import label

__all__ = ["MOST_COLUMNS", "group_cells", "group_columns"]

#: Quasi-identifiers that have columns of their own; more are written into one.
MOST_COLUMNS = 3


def group_columns(index: pd.Index) -> list[Column]:
    """The columns that say whom a row is about."""
    if index.nlevels <= MOST_COLUMNS:
        return [Column("Name" if name == "who" else str(name)) for name in index.names]
    return [Column(" \u00b7 ".join("Name" if name == "who" else str(name) for name in index.names), "group")]


def group_cells(index: pd.Index, at: int) -> list[Cell]:
    """What they hold in a row."""
    levels = index[at] if isinstance(index, pd.MultiIndex) else (index[at],)
    if index.nlevels <= MOST_COLUMNS:
        return [Cell(label(one)) for one in levels]
    return [Cell(" \u00b7 ".join(map(label, levels)))]
