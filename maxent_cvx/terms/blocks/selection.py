"""Labels as pandas reads them in ``[...]`` and ``.loc[...]``: which rows are meant, and which levels are then fixed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ...errors import LabelMismatch, StatementError, UnknownName, listing, shown
from ...errors.arguments import known_label, list_of
from ..axes import Axes, level_of
from .labels import find, known_values, level_names, ordered_values, repeated, without_levels

__all__ = ["Chosen", "chosen", "is_mask", "read_key"]


@dataclass(frozen=True)
class Chosen:
    """Rows that were asked for.

    Attributes
    ----------
    at : ndarray of int
        Their positions; -1 for a label that is known and has no row.
    index : Index or None
        What is left of their labels; None for a single expression.
    fixed : dict
        Levels that have one value now, and are dropped.
    left_out : Index or None
        Labels, of the same levels, whose rows were not asked for.
    """

    at: np.ndarray
    index: pd.Index | None
    fixed: Mapping[str, object] = field(default_factory=dict)
    left_out: pd.Index | None = None


def is_mask(key: object) -> bool:
    """Whether a key is a list of truth values, one a row."""
    if isinstance(key, list):
        return bool(key) and all(isinstance(one, bool | np.bool_) for one in key)
    return isinstance(key, np.ndarray | pd.Series | pd.Index) and pd.api.types.is_bool_dtype(key.dtype)


def read_key(key: Any, index: pd.Index, label: str) -> Mapping[str, Any] | pd.Index:
    """Read a key as what is asked of each level, or as a list of whole labels."""
    levels = level_names(index)
    if isinstance(key, tuple):
        if len(key) > len(levels):
            raise UnknownName(f"{shown(key)} has {len(key)} values, and {label} the levels {levels}")
        return dict(zip(levels, key, strict=False))
    if isinstance(key, list | np.ndarray | pd.Index | pd.Series):
        if np.ndim(key if isinstance(key, np.ndarray) else 0) > 1 or not all(isinstance(one, Hashable) for one in key):
            raise StatementError(f"rows of {label} are selected by a list of labels or by a mask, not by {shown(key)}")
        found = key if isinstance(key, pd.Index) else pd.Index(list(key), tupleize_cols=False)
        if len(levels) == 1 and not isinstance(found, pd.MultiIndex):
            return found.set_names(levels)
        if all(isinstance(one, tuple) and len(one) == len(levels) for one in found) and len(found):
            return pd.MultiIndex.from_tuples(list(found), names=levels)
    return {levels[0]: key}


def chosen(
    asked: Mapping[str, Any] | pd.Index, index: pd.Index, axes: Axes, label: str, dropped: Mapping[str, pd.Index]
) -> Chosen:
    """Find the rows that are asked for; `dropped` are the values of each level that differences have no rows for.

    Raises
    ------
    UnknownName
        If a value is not known of its level.
    StatementError
        If a slice has a step, or a level no order.
    LabelMismatch
        If a label is repeated, or has a value that was dropped.
    """
    if isinstance(asked, pd.Index):
        _unrepeated(asked, label)
        for i, level in enumerate(level_names(asked)):
            for value in level_of(asked, i)[1].unique():
                _there(value, axes, level, label, dropped)
        at = find(index, asked)
        return Chosen(at, asked, left_out=index[np.setdiff1d(np.arange(len(index)), at)])
    fixed = {
        level: value for level, value in asked.items() if not isinstance(value, list | slice | np.ndarray | pd.Index)
    }
    here, narrowed = np.ones(len(index), dtype=bool), np.ones(len(index), dtype=bool)
    for level, value in asked.items():
        codes, values = level_of(index, index.names.index(level))
        if level in fixed:
            here &= values.isin([_there(value, axes, level, label, dropped)])[codes]
        elif isinstance(value, slice):
            narrowed &= values.isin(_between(value, axes, level, label))[codes]
        else:
            value = list_of(value, f"values of {level!r}", "values")
            wanted = [_there(one, axes, level, label, dropped) for one in value]
            _unrepeated(pd.Index(wanted, tupleize_cols=False), label)
            narrowed &= values.isin(wanted)[codes]
    at, left = np.flatnonzero(here & narrowed), without_levels(index, fixed)
    if left is None:
        return Chosen(at if len(at) else np.array([-1]), None, fixed)
    return Chosen(at, left[at], fixed, left[here & ~narrowed])


def _known(value: object, axes: Axes, level: str, label: str) -> object:
    """Check that a value is one of the level's."""
    return known_label(value, f"value of {level!r} in {label}", known_values(axes, level))


def _there(value: object, axes: Axes, level: str, label: str, dropped: Mapping[str, pd.Index]) -> object:
    """Check that a value is one of the level's, and that differences have rows for it."""
    if _known(value, axes, level, label) in dropped.get(level, ()):
        raise LabelMismatch(
            f"{label} has no row for {level}={shown(value)}, which has no value before it; leave it out"
        )
    return value


def _unrepeated(labels: pd.Index, label: str) -> None:
    """Check that no label is there twice: rows are matched by label."""
    if labels.has_duplicates:
        raise LabelMismatch(
            f"the rows of {label} are selected more than once: {repeated(labels)}; list each label once"
        )


def _between(part: slice, axes: Axes, level: str, label: str) -> Iterable[object]:
    """The values of a level from one to another, both of them included, as pandas does."""
    if part == slice(None):
        return known_values(axes, level)
    if part.step is not None:
        raise StatementError(f"a slice of {level!r} has no step; list the values")
    values = ordered_values(axes, level)
    inside = np.ones(len(values), dtype=bool)
    ranked = values.codes if isinstance(values, pd.CategoricalIndex) else values
    try:
        for end, above in ((part.start, True), (part.stop, False)):
            if end is not None:
                if isinstance(values, pd.CategoricalIndex):
                    end = values.categories.get_loc(_known(end, axes, level, label))
                inside &= (ranked >= end) if above else (ranked <= end)
    except TypeError:
        ends = listing([end for end in (part.start, part.stop) if end is not None])
        raise StatementError(f"{ends} cannot be compared with the values of {level!r} in {label}") from None
    return values[inside]
