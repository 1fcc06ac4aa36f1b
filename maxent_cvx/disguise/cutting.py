"""Where Mondrian may cut a group: at medians, the widest attribute first. Nothing here looks at sensitive values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from ..tables.coding import factorize

__all__ = ["Scales", "is_number"]


@dataclass(frozen=True, eq=False)
class Scales:
    """The QI of records as positions on scales.

    Attributes
    ----------
    codes : ndarray of int, shape (records, attributes)
    levels : list of Index
        The distinct values of each attribute, sorted.
    place : ndarray, shape (records, attributes)
        Numbers are where they are, others at their ranks.
    width : ndarray
        How far the whole table reaches in each attribute.
    """

    codes: np.ndarray
    levels: list[pd.Index]
    place: np.ndarray
    width: np.ndarray

    @classmethod
    def of(cls, table: pd.DataFrame, qi: tuple[str, ...]) -> Self:
        """Read the columns of a table."""
        columns = [factorize(table[name]) for name in qi]
        place = np.column_stack([_positions(level)[code] for code, level in columns])
        width = np.maximum(np.ptp(place, axis=0), 1e-300)
        return cls(np.column_stack([code for code, _ in columns]), [level for _, level in columns], place, width)

    def cuts(self, records: np.ndarray, k: int) -> Iterator[np.ndarray]:
        """The cuts of a group that leave k records on both sides, in the order in which they are tried: who is low."""
        if len(records) < 2 * k:
            return
        here = self.place[records]
        for attribute in np.argsort(-np.ptp(here, axis=0) / self.width, kind="stable"):
            column = here[:, attribute]
            median = np.median(column)
            for low in (column <= median, column < median):  # many may have the median itself
                if k <= low.sum() <= len(records) - k:
                    yield low


def is_number(level: pd.Index) -> bool:
    """Whether the values of an attribute are numbers, truth values not counted."""
    return bool(pd.api.types.is_numeric_dtype(level) and not pd.api.types.is_bool_dtype(level))


def _positions(level: pd.Index) -> np.ndarray:
    """Where values stand on their scale."""
    return level.to_numpy(dtype=float) if is_number(level) else np.arange(len(level), dtype=float)
