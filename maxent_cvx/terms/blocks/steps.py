"""Sums over levels, and differences along one: which rows go together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...errors import LabelMismatch
from ...tables.coding import group_codes, multi_index
from ..axes import Axes, level_of
from .labels import ordered_values, repeated, subset_keys

__all__ = ["differences", "sums"]


def sums(index: pd.Index, levels: Sequence[str]) -> tuple[np.ndarray, pd.Index]:
    """Number the combinations of values of some levels: that of every row, and their labels."""
    coded = [level_of(index, index.names.index(level)) for level in levels]
    group = group_codes([codes for codes, _ in coded], [len(values) for _, values in coded])
    return group, subset_keys(index, levels)[np.unique(group, return_index=True)[1]]


def differences(
    index: pd.Index, level: str, axes: Axes, present_only: bool, dropped: pd.Index | None = None
) -> tuple[pd.Index, np.ndarray, np.ndarray, pd.Index, pd.Index]:
    """Pair rows with those of the value before, along a level whose values have an order.

    Parameters
    ----------
    index : Index
        The labels of the rows.
    level : str
        One of its levels.
    axes : Axes
        Which values the level has, and their order.
    present_only : bool
        Whether values that no row has are passed over.
    dropped : Index, optional
        Values that no row has, because earlier differences have none for them; they are passed over.

    Returns
    -------
    Index
        Labels of the differences, those of the later value: wherever one of the two is there.
    ndarray, ndarray
        The positions of the later row and of the one before; -1 where there is none.
    Index
        The labels of the one before.
    Index
        The first value of the level, for which there is no difference.

    Raises
    ------
    LabelMismatch
        If labels are repeated.
    """
    place = index.names.index(level)
    codes, values = level_of(index, place)
    domain = ordered_values(axes, level)
    if present_only:
        domain = domain[domain.isin(values[np.unique(codes)])]
    if dropped is not None:
        domain = domain[~domain.isin(dropped)]
    n = len(domain)
    rank = domain.get_indexer(values)[codes]
    others = [level_of(index, i) for i in range(index.nlevels) if i != place]
    group = np.zeros(len(index), dtype=np.int64)
    if others:
        group = group_codes([of for of, _ in others], [len(labels) for _, labels in others])
    key = group * n + rank
    order = np.argsort(key, kind="stable")
    if (np.diff(key[order]) == 0).any():
        raise LabelMismatch(f"labels are repeated: {repeated(index)}; differences need unique labels")
    wanted = np.unique(np.concatenate([key[rank > 0], key[rank < n - 1] + 1]))
    first = np.unique(group, return_index=True)[1][wanted // max(n, 1)] if len(wanted) else np.zeros(0, dtype=np.int64)

    def labels(ranks: np.ndarray) -> pd.Index:
        parts = [level_of(index, i) for i in range(index.nlevels)]
        if len(parts) == 1:
            return domain[ranks]
        levels = [domain if i == place else of for i, (_, of) in enumerate(parts)]
        return multi_index(levels, [ranks if i == place else at[first] for i, (at, _) in enumerate(parts)], index.names)

    def rows(keys: np.ndarray) -> np.ndarray:
        if not len(key):
            return np.full(len(keys), -1)
        found = order[np.minimum(np.searchsorted(key[order], keys), len(key) - 1)]
        return np.where(key[found] == keys, found, -1)

    later = wanted % max(n, 1)
    return labels(later), rows(wanted), rows(wanted - 1), labels(later - 1), domain[:1]
