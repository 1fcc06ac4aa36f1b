"""Labels of rows: what values a level has and in which order, and how labels of two sides meet.

A label is *known* if each of its values is one that was published of its column. The combination may still have
no terms: then it is impossible, and a sum over its terms is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import LabelMismatch, StatementError, listing, unknown_name
from ...tables.coding import multi_index
from ..axes import Axes, as_names, level_of

__all__ = [
    "are_known",
    "find",
    "known_values",
    "level_names",
    "levels_named",
    "ordered_values",
    "pick",
    "repeated",
    "same_levels",
    "subset_keys",
    "without_levels",
]


def levels_named(axes: Axes, index: pd.Index, names: str | Sequence[str], label: str) -> list[str]:
    """Read names of levels; roles ("s", "q", "bucket") stand for the columns that play them."""
    columns = axes.columns(as_names(names))
    for column in columns:
        if column not in index.names:
            roles = [role for role, (of, _) in axes.view.axes.items() if set(of) <= set(index.names)]
            raise unknown_name(f"level of {label}", column, [*index.names, *roles])
    return columns


def level_names(index: pd.Index) -> list[str]:
    """The names of the levels: columns."""
    return cast("list[str]", list(index.names))


def known_values(axes: Axes, level: str) -> pd.Index:
    """The values that a level can have: those published of its column, or the names of people."""
    return axes.people.names if level == "who" else axes.of_column(level)[1]


def ordered_values(axes: Axes, level: str) -> pd.Index:
    """The values of a level in their order: that of an ordered Categorical, or sorted."""
    values = known_values(axes, level)
    advice = f"make it an ordered one before it is published: pd.Categorical(table[{level!r}], [...], ordered=True)"
    if isinstance(values.dtype, pd.CategoricalDtype):
        if not values.ordered:  # type: ignore[attr-defined]
            raise StatementError(f"the categories of {level!r} have no order, along which it could rise; {advice}")
        return values[np.argsort(values.codes, kind="stable")]  # type: ignore[attr-defined]
    try:
        return values.sort_values()
    except TypeError:
        raise StatementError(f"the values of {level!r} are of types that have no order; {advice}") from None


def are_known(axes: Axes, labels: pd.Index) -> np.ndarray:
    """Mark the labels each of whose values is known."""
    known = np.ones(len(labels), dtype=bool)
    for i, level in enumerate(level_names(labels)):
        codes, values = level_of(labels, i)
        known &= np.append(values.isin(known_values(axes, level)), False)[codes]  # code -1: a missing value
    return known


def find(labels: pd.Index, wanted: pd.Index) -> np.ndarray:
    """Positions of labels, whose levels are in the same order; -1 for those that are not there."""
    if labels is wanted or labels.equals(wanted):
        return np.arange(len(wanted))
    if labels.has_duplicates:
        raise LabelMismatch(
            f"labels are repeated: {repeated(labels)}; rows are matched by label, so each must be unique"
        )
    return labels.get_indexer(wanted)


def repeated(labels: pd.Index) -> str:
    """List the labels that are there more than once."""
    return listing(labels[labels.duplicated()].unique())


def subset_keys(index: pd.Index, levels: Sequence[str]) -> pd.Index:
    """The labels of rows along some levels, one a row."""
    if list(index.names) == list(levels):
        return index
    if len(levels) == 1:
        return index.get_level_values(levels[0])
    places = [index.names.index(level) for level in levels]
    parts = [level_of(index, place) for place in places]
    return multi_index([values for _, values in parts], [codes for codes, _ in parts], levels)


def without_levels(index: pd.Index, dropped: Mapping[str, object] | Sequence[str]) -> pd.Index | None:
    """The labels along the other levels; None if there are no others."""
    left = [name for name in level_names(index) if name not in dropped]
    return subset_keys(index, left) if left else None


def pick(matrix: sp.csr_array, at: np.ndarray) -> sp.csr_array:
    """Rows of a matrix in some order; -1 stands for a row of zeros."""
    if len(at) == matrix.shape[0] and np.array_equal(at, np.arange(len(at))):
        return matrix
    there = np.flatnonzero(at >= 0)
    picked = sp.csr_array((np.ones(len(there)), (there, at[there])), shape=(len(at), matrix.shape[0]))
    return sp.csr_array(picked @ matrix)


def same_levels(mine: pd.Index, theirs: pd.Index, label: str, *, or_fewer: bool) -> list[str]:
    """The levels by which two sides are aligned, in the order of mine; an unnamed index has those of mine."""
    own, other = level_names(mine), level_names(theirs)
    if set(other) == {None} and len(other) == len(own):
        return own
    if set(own) == set(other) or (or_fewer and set(other) < set(own)):
        return [name for name in own if name in other]
    how = "name the levels alike"
    if set(other) == {None}:
        names = own[0] if len(other) == 1 else own[: len(other)]
        how = f"say of which levels they are, as series.rename_axis({names!r}) does"
    raise LabelMismatch(f"{label} is indexed by {own}, the values by {other}; {how}")
