"""The block-diagonal part D = P diag(x) P' of a Newton system, P being the published rows.

Published rows of different buckets have no term in common, so that each bucket is a block. Within a block some rows
have no term in common either, such as those of the QI values, each term being in one of these. With such single rows
first, a block is

    [ D1  M  ]    D1 diagonal,
    [ M'  D2 ]    D2 as large as the block has other rows, such as those of the sensitive values.

All blocks are assembled at once, padded to the size of the largest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..parameters.size_limits import NEWTON_COSTS
from ..rows.sparse import with_ones_of

__all__ = ["BlockEntries", "BucketBlocks"]


class BlockEntries(NamedTuple):
    """The entries of all blocks at one x; padding is 1 on the diagonal.

    Attributes
    ----------
    diagonal : ndarray, one a slot
        Of D1, then of D2.
    cross : ndarray
        M, of shape (single, others, blocks) if blocks are narrow, else (blocks, single, others).
    below : ndarray or None
        The entries of D2 below its diagonal, of shape (others, others, blocks) or (blocks, others, others); None if
        there are none.
    """

    diagonal: np.ndarray
    cross: np.ndarray
    below: np.ndarray | None


class BucketBlocks:
    """Published rows in slots: the single rows of all blocks, then the others, both padded to the most in one block.

    Parameters
    ----------
    published : csr_array, shape (rows, terms)
    by_term : csr_array
        The transposed matrix.
    bucket : ndarray of int, one a row
        The bucket of each row.

    Attributes
    ----------
    slot : ndarray of int, one a row
    rows, by_term : csr_array
        P with a row a slot, and its transpose.
    n_blocks, n_single, n_others : int
        The number of blocks, and the most single rows, and other rows, of one.
    has_ones : bool
        Whether every coefficient is 1.
    narrow : bool
        Whether blocks are so small that operations run along the blocks, one entry of all of them at a time.
    """

    def __init__(self, published: sp.csr_array, by_term: sp.csr_array, bucket: np.ndarray) -> None:
        block, used = pd.factorize(bucket)
        others = ~_single(by_term)
        local, self.n_blocks, widths = np.empty(len(block), dtype=np.int64), len(used), []
        for side in (~others, others):
            own = np.flatnonzero(side)
            own = own[np.argsort(block[own], kind="stable")]
            size = np.bincount(block[own], minlength=self.n_blocks)
            local[own] = np.arange(len(own)) - np.repeat(np.cumsum(size) - size, size)
            widths.append(int(size.max(initial=0)))
        self.n_single, self.n_others = widths
        self.narrow = max(widths) ** 2 <= NEWTON_COSTS.narrow
        width = np.where(others, self.n_others, self.n_single)
        place = local * self.n_blocks + block if self.narrow else block * width + local
        self.slot = np.where(others, self.n_blocks * self.n_single, 0) + place
        shape = (self.n_slots, published.shape[1])
        ends = np.zeros(self.n_slots + 1, dtype=published.indptr.dtype)
        ends[1 + self.slot] = np.diff(published.indptr)
        ordered = with_ones_of(published[np.argsort(self.slot)], published)
        self.rows = sp.csr_array((ordered.data, ordered.indices, np.cumsum(ends, dtype=ends.dtype)), shape=shape)
        slots = self.slot.astype(by_term.indices.dtype)[by_term.indices]
        self.by_term = sp.csr_array((by_term.data, slots, by_term.indptr), shape=shape[::-1])
        self._padding = np.ones(self.n_slots)
        self._padding[self.slot] = 0.0
        self.has_ones = bool((published.data == 1).all())
        self._squared = self.rows if self.has_ones else self.rows.power(2)
        self._index_products(by_term, block, local, others)

    @property
    def n_slots(self) -> int:
        """The number of rows, padding included."""
        return self.n_blocks * (self.n_single + self.n_others)

    @property
    def slots(self) -> tuple[np.ndarray, np.ndarray]:
        """The slots of the single rows of every block, (blocks, single), and of the others, (blocks, others)."""
        sizes, n, found, first = (self.n_single, self.n_others), self.n_blocks, [], 0
        for size in sizes:
            numbers = first + np.arange(n * size)
            found.append(numbers.reshape(size, n).T if self.narrow else numbers.reshape(n, size))
            first += n * size
        return found[0], found[1]

    @property
    def cost(self) -> float:
        """How many multiplications it takes to factor all blocks."""
        return float(self.n_blocks) * self.n_others**2 * (self.n_single + self.n_others)

    @property
    def n_entries(self) -> float:
        """How many entries of blocks are stored."""
        return float(self.n_blocks) * self.n_others * (self.n_single + self.n_others)

    def _index_products(self, by_term: sp.csr_array, block: np.ndarray, local: np.ndarray, others: np.ndarray) -> None:
        """Find, for every pair of distinct entries of a column of P, where its product is added."""
        term, i, j = _pairs(by_term)
        product = None if (by_term.data == 1).all() else by_term.data[i] * by_term.data[j]
        first, second = by_term.indices[i], by_term.indices[j]
        del i, j
        both = others[first] & others[second]
        swap = np.where(both, local[first] < local[second], others[first])
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        if self.narrow:
            position = (local[first] * self.n_others + local[second]) * self.n_blocks + block[first]
        else:
            height = np.where(both, self.n_others, self.n_single)
            position = (block[first] * height + local[first]) * self.n_others + local[second]
        self._cross, self._below = (
            _of_kind(kind, position, term, product, len(by_term.indptr) - 1) for kind in (~both, both)
        )

    def entries(self, x: np.ndarray) -> BlockEntries:
        """Assemble all blocks at x."""
        below = self._assembled(*self._below, self.n_others, x) if len(self._below[0]) else None
        return BlockEntries(self._squared @ x + self._padding, self._assembled(*self._cross, self.n_single, x), below)

    def _assembled(
        self, position: np.ndarray, term: np.ndarray | None, product: np.ndarray | None, height: int, x: np.ndarray
    ) -> np.ndarray:
        """Add up x, times a product of coefficients, at the given positions of blocks of the given height."""
        shape = (height, self.n_others, self.n_blocks) if self.narrow else (self.n_blocks, height, self.n_others)
        weight = x if term is None else x[term]
        weight = weight if product is None else product * weight
        entries = np.bincount(position, weight, int(np.prod(shape)))
        return entries.astype(float, copy=False).reshape(shape)  # bincount of nothing has an integer type


def _of_kind(
    kind: np.ndarray, position: np.ndarray, term: np.ndarray, product: np.ndarray | None, n_terms: int
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """The products of one kind; no terms where there is one product of every term, no products where all are 1."""
    if not kind.all():
        position, term, product = position[kind], term[kind], None if product is None else product[kind]
    product = None if product is None or (product == 1).all() else product
    return position, None if np.array_equal(term, np.arange(n_terms)) else term, product


def _single(by_term: sp.csr_array) -> np.ndarray:
    """Mark rows of which no two have a term in common: those that come first, or last, in each of their terms."""
    entries = np.diff(by_term.indptr)
    filled, found = np.flatnonzero(entries), np.ones((2, by_term.shape[1]), dtype=bool)
    for mark, extreme in zip(found, (np.minimum, np.maximum), strict=True):
        if len(filled):
            chosen = extreme.reduceat(by_term.indices, by_term.indptr[filled])
            mark[by_term.indices[np.repeat(chosen, entries[filled]) != by_term.indices]] = False
    return found[int(found[1].sum() > found[0].sum())]


def _pairs(by_term: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair of entries of a column: the term, and the numbers of both entries."""
    entries, starts = np.diff(by_term.indptr), by_term.indptr[:-1].astype(np.int64)
    if entries.max(initial=0) <= 2:
        term = np.flatnonzero(entries == 2)
        return term, starts[term] + 1, starts[term]
    first = np.repeat(starts, entries)  # for each entry, the first one of its column
    before = np.arange(by_term.nnz) - first
    i = np.repeat(np.arange(by_term.nnz), before)
    j = first[i] + np.arange(len(i)) - (np.cumsum(before) - before)[i]
    return np.repeat(np.repeat(np.arange(len(entries)), entries), before), i, j
