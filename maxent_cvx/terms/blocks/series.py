"""Series meet labelled rows: by label, in any order, as pandas does it; never by position."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from ...errors import BadProbability, LabelMismatch, listing
from ..axes import Axes
from .labels import are_known, find, repeated, same_levels, subset_keys

__all__ = ["by_label"]


def by_label(
    values: pd.Series,
    index: pd.Index,
    axes: Axes,
    label: str,
    unknown_rows: Callable[[pd.Index], np.ndarray],
    *,
    or_fewer: bool,
) -> tuple[np.ndarray, pd.Series]:
    """Bring a Series into the order of labels.

    Parameters
    ----------
    values : Series
        Finite or not, but numbers.
    index : Index
        The labels of the rows.
    axes : Axes
        Which values are known.
    label : str
        What the rows are, for errors.
    unknown_rows : callable
        Marks the labels whose rows were left out or dropped, so that they must not be in the Series either.
    or_fewer : bool
        Whether values along some of the levels do, one for all rows that share them.

    Returns
    -------
    ndarray
        One value a row.
    Series
        The values of labels that are known and have no row, since no terms are of them.

    Raises
    ------
    LabelMismatch
        If labels are missing, unknown or repeated, or levels do not go together.
    BadProbability
        If it does not hold numbers.
    """
    levels = same_levels(index, values.index, label, or_fewer=or_fewer)
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        raise BadProbability(f"the values for {label} must be numbers, not of type {values.dtype}")
    if set(values.index.names) == {None}:
        values = values.set_axis(values.index.set_names(levels))
    elif list(values.index.names) != levels:
        values = values.reorder_levels(levels)  # type: ignore[arg-type]
    keys = subset_keys(index, levels)
    if values.index.equals(keys):
        return values.to_numpy(dtype=float), values.iloc[:0]
    if values.index.has_duplicates:
        raise LabelMismatch(f"the values for {label} repeat the labels {repeated(values.index)}; one value a label")
    at = find(values.index, keys)
    used = np.zeros(len(values), dtype=bool)
    used[at[at >= 0]] = True
    extra = values[~used]
    unknown = ~are_known(axes, extra.index)
    if len(levels) == index.nlevels:
        unknown |= unknown_rows(extra.index)
    if (at < 0).any() or unknown.any():
        raise LabelMismatch(_mismatch(label, keys[at < 0].unique(), extra.index[unknown], len(index)))
    return values.to_numpy(dtype=float)[at], extra


def _mismatch(label: str, missing: pd.Index, extra: pd.Index, n: int) -> str:
    """Say which labels are missing, and which are too many."""
    parts = [f"{what} {listing(some)}" for what, some in (("lack", missing), ("have", extra)) if len(some)]
    return (
        f"the values for {label} {' and '.join(parts)}; exactly the {n} labels "
        f"of its rows are expected: reindex the Series, or take a "
        "coarser marginal"
    )
