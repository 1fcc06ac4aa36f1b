"""Which pieces of a table make a partition of whole buckets, and which must be shuffled first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...tables.coding import factorize
from .counted_tuples import smallest
from .label_values import LARGEST_EXACT, kind_of, plain

__all__ = ["BucketRows", "Group", "count_buckets", "hashed", "planned", "straddling"]

#: Rows of a partition, where nothing else is asked for: large enough that an array operation outweighs its call, and
#: small enough that two partitions and what is computed of them fit into the memory of a small computer.
DEFAULT_ROWS = 250_000
#: How many times larger than that whole buckets in the files' own pieces may be before they are shuffled.
MOST_TIMES = 1.5


@dataclass(frozen=True, eq=False)
class BucketRows:
    """The buckets of one piece, by numbers of 64 bits that stand for their labels, sorted, and the rows in each.

    Two buckets of one number, which is unlikely, are taken for one: they stay together, and nothing else follows.
    """

    numbers: np.ndarray
    rows: np.ndarray

    @classmethod
    def united(cls, several: Sequence[BucketRows]) -> BucketRows:
        """Those of several pieces."""
        numbers, place = np.unique(np.concatenate([one.numbers for one in several]), return_inverse=True)
        rows = np.bincount(place, np.concatenate([one.rows for one in several]), len(numbers))
        return cls(numbers, rows.astype(np.int64))

    def bounds(self, n: int) -> np.ndarray:
        """Cut the numbers into n ranges or fewer, of nearly as many rows each: where all but the first begin."""
        ends = np.cumsum(self.rows)
        place = (ends - 1) * n // int(ends[-1])
        return self.numbers[1:][place[1:] > place[:-1]]


@dataclass(frozen=True, eq=False)
class Group:
    """Pieces that belong together: one partition; or as many as there are bounds and one, into which they are cut."""

    pieces: np.ndarray
    bounds: np.ndarray | None = None


def hashed(labels: pd.Series) -> np.ndarray:
    """Numbers of 64 bits that stand for labels: the same for the same label wherever it is, and 0 if it is missing."""
    code, values = factorize(plain(labels))
    return np.append(_hashed_values(values), np.uint64(0))[code]


def _hashed_values(values: pd.Index) -> np.ndarray:
    """Those of distinct labels; a whole number is the same as an integer and in floating point."""
    if values.empty:
        return np.empty(0, dtype=np.uint64)
    if kind_of(values) != "numbers":
        return pd.util.hash_array(np.asarray(values.astype(str), dtype=object), categorize=False)
    if pd.api.types.is_integer_dtype(values.dtype):
        return pd.util.hash_array(values.to_numpy(dtype=np.int64))
    numbers = values.to_numpy(dtype=np.float64)
    is_whole = (numbers == np.round(numbers)) & (np.abs(numbers) <= LARGEST_EXACT)
    as_whole = pd.util.hash_array(np.where(is_whole, numbers, 0).astype(np.int64))
    return np.where(is_whole, as_whole, pd.util.hash_array(numbers))


def count_buckets(labels: pd.Series) -> BucketRows:
    """Count the rows of each bucket of a piece; those without a bucket are refused when they are read as a whole."""
    numbers, rows = np.unique(hashed(labels.dropna()), return_counts=True)
    return BucketRows(numbers, smallest(rows))


def straddling(sizes: Sequence[BucketRows]) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of pieces that share a bucket: enough of them that all that share one are joined."""
    numbers = np.concatenate([size.numbers for size in sizes])
    piece = np.repeat(np.arange(len(sizes), dtype=np.int32), [len(size.numbers) for size in sizes])
    order = np.argsort(numbers, kind="stable")
    same = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
    return piece[order][same], piece[order][same + 1]


def planned(sizes: Sequence[BucketRows], partitions: int | None) -> list[Group]:
    """Group pieces into partitions of whole buckets, in their order.

    Pieces that share buckets are a unit. Small units are put together; one that is more than MOST_TIMES as large as a
    partition should be is cut by the numbers of its buckets.

    Parameters
    ----------
    sizes : list of BucketRows
        The buckets of each piece, which is not empty.
    partitions : int or None
        How many are asked for; None is one for DEFAULT_ROWS.
    """
    rows = np.array([size.rows.sum() for size in sizes])
    total = max(int(rows.sum()), 1)
    n = min(partitions or max(round(total / DEFAULT_ROWS), 1), total)
    first, second = straddling(sizes)
    graph = sp.coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(len(sizes), len(sizes)))
    _, unit = connected_components(graph, directed=False)
    groups: list[Group] = []
    slot, middle = -1, 0.0
    for pieces in [np.flatnonzero(unit == i) for i in pd.unique(unit)]:
        own = int(rows[pieces].sum())
        here = int((middle + own / 2) * n / total)
        middle += own
        if own * n > MOST_TIMES * total:
            buckets = BucketRows.united([sizes[int(i)] for i in pieces])
            groups.append(Group(pieces, buckets.bounds(round(own * n / total))))
            slot = -1
        elif here == slot:
            groups[-1] = Group(np.concatenate([groups[-1].pieces, pieces]))
        else:
            groups.append(Group(pieces))
            slot = here
    return groups
