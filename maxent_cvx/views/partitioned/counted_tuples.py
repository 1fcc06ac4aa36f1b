"""Distinct rows of some columns and how many records have each: counted by partition, and united."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
import pandas as pd

from ...tables.coding import group_codes, multi_index, sort_distinct
from .label_values import plain, united_values

__all__ = ["CountedTuples", "number_rows", "recoded", "smallest", "unshared"]

AnyIndex = TypeVar("AnyIndex", bound=pd.Index)


def number_rows(rows: pd.DataFrame) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct rows of a partition in sorted order, with labels that mean the same in every partition."""
    return sort_distinct(pd.DataFrame({name: plain(column) for name, column in rows.items()}))


@dataclass(frozen=True, eq=False)
class CountedTuples:
    """Distinct rows, sorted, and the number of records with each; a few bytes a row.

    Attributes
    ----------
    labels : MultiIndex
        One level a column, with codes of the smallest type of integers that holds them.
    records : ndarray of int
        Counts, of the smallest type of integers.
    """

    labels: pd.MultiIndex
    records: np.ndarray

    @classmethod
    def of(cls, rows: pd.DataFrame, records: np.ndarray) -> Self:
        """Count the rows of one partition, each of which stands for so many records."""
        code, labels = number_rows(rows)
        return cls(labels, smallest(np.bincount(code, records, len(labels)).astype(np.int64)))

    @classmethod
    def united(cls, several: Sequence[Self]) -> tuple[Self, list[np.ndarray]]:
        """Add up those of all partitions.

        Returns
        -------
        whole : CountedTuples
        numbers : list of ndarray of int
            For each partition the number in the whole of each of its rows, ascending.
        """
        levels, codes = [], []
        for i in range(several[0].labels.nlevels):
            own, values = united_values([one.labels.levels[i] for one in several])
            levels.append(values)
            pairs = zip(own, several, strict=True)
            codes.append(np.concatenate([smallest(new)[np.asarray(one.labels.codes[i])] for new, one in pairs]))
        number = group_codes(codes, [len(values) for values in levels])
        first = np.unique(number, return_index=True)[1]
        records = np.bincount(number, np.concatenate([one.records for one in several])).astype(np.int64)
        labels = multi_index(levels, [code[first] for code in codes], list(several[0].labels.names))
        numbers = smallest(number)
        ends = np.cumsum([len(one.labels) for one in several])
        return cls(labels, records), np.split(numbers, ends[:-1])


def recoded(labels: pd.MultiIndex, levels: Sequence[pd.Index]) -> list[np.ndarray]:
    """The codes of labels among values of the whole; -1 of values that are not there."""
    pairs = zip(labels.levels, labels.codes, levels, strict=True)
    return [values.get_indexer(pd.Index(own))[np.asarray(code)] for own, code, values in pairs]


def unshared(index: AnyIndex) -> AnyIndex:
    """The same labels, and values in memory, with a hash table of their own.

    pandas builds it when it first is needed, and two threads that need it at once get an error.
    """
    if isinstance(index, pd.MultiIndex):
        levels = [unshared(level) for level in index.levels]
        return multi_index(levels, index.codes, list(index.names))  # type: ignore[return-value]
    return pd.Index(index.array, name=index.name)


def smallest(numbers: np.ndarray) -> np.ndarray:
    """The same non-negative integers in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
