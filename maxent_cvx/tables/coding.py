"""Codes: values, rows and combinations numbered in sorted order, and counted by their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import TableError

__all__ = [
    "densely",
    "distinct",
    "factorize",
    "group_codes",
    "multi_index",
    "places_of",
    "ranges",
    "sort_distinct",
    "tally",
]


def sort_distinct(frame: pd.DataFrame) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct rows of a table in sorted order.

    Returns
    -------
    codes : ndarray of int, one a row
    index : MultiIndex
        The distinct rows, one level a column, sorted; an ordered Categorical keeps its order.
    """
    columns = [factorize(column) for _, column in frame.items()]
    levels = [level for _, level in columns]
    key = group_codes([code for code, _ in columns], [len(level) for level in levels])
    first = np.unique(key, return_index=True)[1]
    codes = [code[first] for code, _ in columns]
    return key, multi_index(levels, codes, list(frame.columns))


def distinct(frame: pd.DataFrame) -> tuple[np.ndarray, pd.Index]:
    """Number the distinct rows of a table in sorted order; of one column, its values."""
    return factorize(frame.iloc[:, 0]) if frame.shape[1] == 1 else sort_distinct(frame)


def ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Count up from every start: start, start + 1, ..., `length` numbers each, one after the other."""
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(length.sum())


def places_of(codes: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the places of each wanted code among many: pairs of its number among the wanted, and a place that has it."""
    order = np.argsort(codes, kind="stable")  # the places of each code are one slice then
    start, stop = np.searchsorted(codes[order], [wanted, wanted + 1])
    return np.repeat(np.arange(len(wanted)), stop - start), order[ranges(start, stop - start)]


def factorize(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Number the distinct values of a column in sorted order."""
    try:
        codes, values = pd.factorize(column, sort=True)
    except TypeError as error:  # a list in a cell, say
        raise TableError(f"column {column.name!r} holds something that is no single value: {error}") from error
    return codes, pd.Index(values, name=column.name)


def multi_index(levels: Sequence[pd.Index], codes: Sequence[np.ndarray], labels: Sequence[Hashable]) -> pd.MultiIndex:
    """Build a MultiIndex from levels and codes; the levels are shared, not copied, and nothing is checked."""
    return pd.MultiIndex(levels=levels, codes=codes, names=labels, verify_integrity=False)  # type: ignore[arg-type]


#: The largest key of a combination: beyond it 64 bits do not hold the next column.
LARGEST_KEY = 2**62


def group_codes(codes: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """Number the combinations that occur of several coded columns, in sorted order, from 0."""
    group, possible = np.zeros(len(codes[0]), dtype=np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if possible * size > LARGEST_KEY:  # dense again, so that the mixed-radix key cannot overflow
            group = densely(group)
            possible = int(group.max(initial=0)) + 1
        group = group * size + code
        possible *= max(size, 1)
    return densely(group)


#: Marking all possible numbers in a table is faster than sorting those that are there, up to so many for each of them.
MOST_POSSIBLE = 4


def densely(key: np.ndarray) -> np.ndarray:
    """Number the distinct integers, none negative, in sorted order from 0."""
    size = int(key.max(initial=-1)) + 1
    if size > MOST_POSSIBLE * len(key):
        return np.unique(key, return_inverse=True)[1]
    occurs = np.zeros(size, dtype=bool)
    occurs[key] = True
    return (np.cumsum(occurs) - 1)[key]


def tally(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], count: np.ndarray | None) -> sp.csr_array:
    """Count records by row and column code, as integers, zeros left out."""
    ones = np.ones(len(row), dtype=np.int64) if count is None else count
    table = sp.coo_array((ones, (row, column)), shape=shape).tocsr()  # repeated entries are added up
    table.eliminate_zeros()
    table.sort_indices()
    return table
