"""All tables of whole numbers that satisfy the rows of published statistics, by branching on one type after another.

Many partial tables are extended together, as rows of an array. A partial table is left out as soon as a row cannot be
satisfied any more: by what the types that are left can add to it, each up to its own limit, or all of them together as
many people as are left in the smallest group that contains them. All numbers are integers, so that the end of the
search is a proof that there are no other tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

__all__ = ["FREE", "MOST_ENTRIES", "Median", "TableRows", "enumerated"]

#: Partial tables that are extended together.
BATCH = 4_000
#: Types after which the search can be interrupted.
STEPS = 64
#: No limit of a row; the sums of a row stay far below it.
FREE = 2**61
#: Entries of the matrix of rows up to which tables are enumerated: 64 MB of bounds.
MOST_ENTRIES = 2 * 10**6

#: A partial table is the last value that was chosen and the partial table before it: (type, values, parents, before).
_Trail = tuple[int, np.ndarray, np.ndarray, Any]


@dataclass(frozen=True, eq=False)
class Median:
    """least <= a + b <= most for the two numbers in the middle of some people, a = b if the people are odd in number.

    Attributes
    ----------
    types, numbers : ndarray of int
        The types of records of these people, and the number of each.
    least, most : int
    count : (int, int)
        The least and the most people, at least one.
    """

    types: np.ndarray
    numbers: np.ndarray
    least: int
    most: int
    count: tuple[int, int]

    def holds(self, people: np.ndarray) -> np.ndarray:
        """Which tables have it, shape (tables,), given the people of each type, shape (tables, types)."""
        levels, level = np.unique(self.numbers, return_inverse=True)
        of_level = np.zeros((len(people), len(levels)), dtype=np.int64)
        np.add.at(of_level.T, level, people[:, self.types].T)
        at_most = of_level.cumsum(axis=1)
        n = at_most[:, -1:]
        both = levels[(at_most < (n + 1) // 2).sum(axis=1).clip(max=len(levels) - 1)]
        both = both + levels[(at_most < n // 2 + 1).sum(axis=1).clip(max=len(levels) - 1)]
        return np.asarray((n[:, 0] > 0) & (self.least <= both) & (both <= self.most))


@dataclass(frozen=True, eq=False)
class TableRows:
    """low <= matrix @ n <= high, 0 <= n <= upper, n the people of each type, and medians.

    Attributes
    ----------
    matrix : ndarray of int, shape (rows, types)
    low, high : ndarray of int
        ``-FREE`` and ``FREE`` where there is no limit.
    upper : ndarray of int
        One a type.
    counts : ndarray of bool
        The rows that count people.
    medians : list of Median
    """

    matrix: np.ndarray
    low: np.ndarray
    high: np.ndarray
    upper: np.ndarray
    counts: np.ndarray
    medians: list[Median]


def enumerated(rows: TableRows) -> Iterator[np.ndarray]:
    """Give all tables, in arrays of shape (tables, types); some are empty, so that the search can be interrupted."""
    order = _order(rows)
    at = np.empty(len(order), dtype=np.int64)
    checked: dict[int, list[Median]] = {}
    at[order] = np.arange(len(order))
    for median in rows.medians:
        checked.setdefault(int(at[median.types].max()), []).append(median)
    bounds = _Bounds.of(rows, order)
    start = np.zeros((1, len(rows.matrix)), dtype=np.int64)
    stack: list[tuple[int, np.ndarray, _Trail | None]] = [(0, start[bounds.possible(0, start)], None)]
    while stack:
        depth, sums, trail = stack.pop()
        while depth < len(order) and len(sums):
            type_ = int(order[depth])
            least, most = bounds.range(depth, type_, sums)
            number = (most - least + 1).clip(min=0)
            if len(sums) > 1 and number.sum() > BATCH:
                half = len(sums) // 2
                stack.append((depth, sums[half:], _part(trail, np.arange(half, len(sums)))))
                sums, trail = sums[:half], _part(trail, np.arange(half))
                continue
            if most.any() or least.any() or depth == len(order) - 1:  # else nobody has it, and what is left decides
                parent = np.repeat(np.arange(len(sums)), number)
                value = np.arange(len(parent)) - np.repeat(number.cumsum() - number, number) + least[parent]
                sums = sums[parent] + value[:, None] * rows.matrix[:, type_]
                kept = bounds.possible(depth + 1, sums)
                trail = (type_, value[kept], parent[kept], trail)
                sums = sums[kept]
            for median in checked.get(depth, ()):
                kept = median.holds(_tables(trail, len(order), len(sums)))
                sums, trail = sums[kept], _part(trail, np.flatnonzero(kept))
            depth += 1
            if depth % STEPS == 0 and depth < len(order):
                yield np.zeros((0, len(order)), dtype=np.int64)
        yield _tables(trail, len(order), len(sums))


def _part(trail: _Trail | None, which: np.ndarray) -> _Trail | None:
    if trail is None:
        return None
    type_, value, parent, before = trail
    return type_, value[which], parent[which], before


def _tables(trail: _Trail | None, n_types: int, n: int) -> np.ndarray:
    """The people of each type, shape (tables, types); 0 of types that are not reached."""
    people, which = np.zeros((n, n_types), dtype=np.int64), np.arange(n)
    while trail is not None and n:
        type_, value, parent, trail = trail
        people[:, type_], which = value[which], parent[which]
    return people


@dataclass(frozen=True, eq=False)
class _Bounds:
    """What the types that are left can add to each row.

    Attributes
    ----------
    rows : TableRows
    box : ndarray of int, shape (2, types + 1, rows)
        The least and the most that the types from each depth on add, each up to its own limit.
    coefficient : ndarray of int, shape (2, types + 1, rows)
        The least and the largest coefficient of these types, among those of the group that counts for a row.
    group : ndarray of int
        The row that counts the smallest group with all types of each row.
    """

    rows: TableRows
    box: np.ndarray
    coefficient: np.ndarray
    group: np.ndarray

    @classmethod
    def of(cls, rows: TableRows, order: np.ndarray) -> _Bounds:
        matrix, upper = rows.matrix[:, order], rows.upper[order]
        each = np.stack([np.minimum(matrix, 0), np.maximum(matrix, 0)]) * upper
        n_rows, n = matrix.shape
        box, coefficient = np.zeros((2, 2, n + 1, n_rows), dtype=np.int64)
        box[:, :n] = each[:, :, ::-1].cumsum(axis=2)[:, :, ::-1].transpose(0, 2, 1)
        count = np.flatnonzero(rows.counts)
        uncovered = (matrix != 0).astype(np.int32) @ (matrix[count] == 0).astype(np.int32).T
        size = np.where(uncovered == 0, (matrix[count] != 0).sum(axis=1), n + 1)
        group = count[size.argmin(axis=1)]
        inside = matrix[group] != 0
        for k, (ufunc, neutral) in enumerate(((np.minimum, FREE), (np.maximum, -FREE))):
            found = ufunc.accumulate(np.where(inside, matrix, neutral)[:, ::-1], axis=1)[:, ::-1]
            coefficient[k, :n] = np.where(np.abs(found) == FREE, 0, found).T
        return cls(rows, box, coefficient, group)

    def range(self, depth: int, type_: int, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most people of the type at this depth, by each row alone."""
        rows, a = self.rows, self.rows.matrix[:, type_]
        has = np.flatnonzero(a)
        low = rows.low[has] - sums[:, has] - self.box[1, depth + 1, has]
        high = rows.high[has] - sums[:, has] - self.box[0, depth + 1, has]
        a = a[has]
        first, last = np.where(a > 0, low, high), np.where(a > 0, high, low)
        least = (-(first // -a)).max(axis=1, initial=0)
        return least, (last // a).min(axis=1, initial=int(rows.upper[type_]))

    def possible(self, depth: int, sums: np.ndarray) -> np.ndarray:
        """Whether the types from a depth on can satisfy every row, given the sums of those before."""
        rows = self.rows
        fewest = (rows.low[self.group] - sums[:, self.group]).clip(min=0)
        most = (rows.high[self.group] - sums[:, self.group]).clip(min=0)
        smallest, largest = self.coefficient[:, depth]
        add_least = np.maximum(self.box[0, depth], np.where(smallest > 0, fewest, most) * smallest)
        add_most = np.minimum(self.box[1, depth], np.where(largest > 0, most, fewest) * largest)
        return np.asarray(((sums + add_least <= rows.high) & (sums + add_most >= rows.low)).all(axis=1))


def _order(rows: TableRows) -> np.ndarray:
    """The types in the order of branching: group by group, those first that leave the fewest tables.

    Inside a group the types with large coefficients come first, since small ones can complete a sum more finely.
    """
    inside, n = rows.matrix[rows.counts] != 0, rows.high[rows.counts].astype(float)
    exact = np.zeros(len(inside))
    for row, low, high in zip(rows.matrix[~rows.counts], rows.low[~rows.counts], rows.high[~rows.counts], strict=True):
        if high - low < FREE:  # a sum, which as many tables share as there are sums
            same = ((row != 0) <= inside).all(axis=1)
            exact[same] = np.maximum(exact[same], np.log1p(np.ptp(row) * n[same] / (high - low + 1)))
    weight = np.abs(rows.matrix[~rows.counts]).max(axis=0, initial=0)
    left, order = np.ones(inside.shape[1], dtype=bool), []
    while left.any():
        size = (inside & left).sum(axis=1)
        tables = gammaln(size + n) - gammaln(n + 1) - gammaln(np.maximum(size, 1)) - exact
        group = int(np.where(size > 0, tables, np.inf).argmin())
        types = np.flatnonzero(inside[group] & left)
        order.append(types[np.argsort(-weight[types], kind="stable")])
        left[types] = False
    return np.concatenate(order)
