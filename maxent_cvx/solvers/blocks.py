"""The block-diagonal part D = P diag(x) P' of a Newton system (P are the published rows), assembled and inverted.

Published rows of different buckets share no term, so that each bucket is a block. Within a block some rows share no
term either, such as those of the QI values. These `single` rows come first, and the `others` follow. A block is then

    [ D1  M  ]    D1 diagonal,
    [ M'  D2 ]    D2 as large as the block has other rows, such as those of the sensitive values,

and eliminating its single rows leaves E = D2 - M' D1^-1 M = L L', so that with N = D1^-1 M

    D^-1 = [ D1^-1  0 ]  +  [ -N ] E^-1 [ -N'  I ].
           [ 0      0 ]     [ I  ]

All blocks are padded to the size of the largest and processed together. Arrays of blocks have the axes (row, column,
block). In memory the block axis is contiguous if blocks are small, so that operations run along the blocks, and
outermost if they are large; only the strides differ.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.linalg.blas
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController

from .sparse import entry_rows, least_by_row, most_by_row, with_ones_of

#: The largest number of entries of a block for which operations run along the blocks, with one call for each entry of a
#: block. On Adult (2,842 blocks of 5 + 4 rows) Newton's method takes 1.4 times as long if they run along the rows.
NARROW = 256
#: Doubles per batch of blocks (2 MB, about the size of a processor's cache).
BATCH_DOUBLES = 250_000
#: Records: the smallest diagonal element that a ridge is relative to, for rows whose terms are all 0.
SMALLEST_DIAGONAL = 1e-12
#: Smallest diagonal element of a row of knowledge whose terms have not all vanished; below it, its multiplier is fixed.
VANISHED_DIAGONAL = 1e-200
#: Relative ridge of a Schur complement; multiplied by 100 as long as rounding makes the matrix indefinite.
FIRST_RIDGE = 1e-14
#: The largest number of rows for which a Cholesky factor is inverted, which makes later products with it faster.
MOST_INVERTED = 1_000


class BucketBlocks:
    """The slots of the published rows, and the positions in the blocks to which products of coefficients are added.

    Slots are the rows of `rows` (P with padding) and the columns of `by_term`: the single rows of all blocks, then the
    other rows, each padded to the largest number in one block.
    """

    def __init__(self, published: sp.csr_array, by_term: sp.csr_array, bucket: np.ndarray) -> None:
        block, used = pd.factorize(bucket)
        others = ~_single(by_term)
        kind = pd.Series(2 * block + others)
        local = kind.groupby(kind).cumcount().to_numpy()
        self.n_blocks = len(used)
        self.n_single, self.n_others = (int(local[side].max(initial=-1)) + 1 for side in (~others, others))
        self.is_narrow = max(self.n_single, self.n_others) ** 2 <= NARROW
        place, of_block = self._strides(np.where(others, self.n_others, self.n_single))
        self.slot = np.where(others, self.n_blocks * self.n_single, 0) + place * local + of_block * block
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
        """Number of rows, padding included."""
        return self.n_blocks * (self.n_single + self.n_others)

    @property
    def slots(self) -> tuple[np.ndarray, np.ndarray]:
        """Slots of the single rows, shape (blocks, single), and of the other rows, (blocks, others)."""
        single, others = self.split(np.arange(self.n_slots))
        return single.T, others.T

    @property
    def cost(self) -> float:
        """Number of multiplications for factorising all blocks."""
        return float(self.n_blocks) * self.n_others**2 * (self.n_single + self.n_others)

    @property
    def n_entries(self) -> float:
        """Number of stored entries of blocks."""
        return float(self.n_blocks) * self.n_others * (self.n_single + self.n_others)

    def _strides(self, *shape: Any) -> tuple[Any, ...]:
        """Return the strides of the axes of an array of blocks, with the block axis last."""
        strides: list[Any] = [self.n_blocks if self.is_narrow else 1]
        for size in reversed(shape):
            strides.insert(0, strides[0] * size)
        return (*strides[1:], 1) if self.is_narrow else (*strides[1:], strides[0])

    def _shaped(self, flat: np.ndarray, *shape: int) -> np.ndarray:
        """Return a view of stored numbers with the axes of `shape` and, last, the block axis."""
        if self.is_narrow:
            return flat.reshape(*shape, self.n_blocks)
        return np.moveaxis(flat.reshape(self.n_blocks, *shape), 0, -1)

    def split(self, of_slot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return views of an array with one number per slot: (single, blocks) and (others, blocks)."""
        n = self.n_blocks * self.n_single
        return self._shaped(of_slot[:n], self.n_single), self._shaped(of_slot[n:], self.n_others)

    def joined(self, single: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return an array with one number per slot: the inverse of :meth:`split`."""
        return np.concatenate([(side if self.is_narrow else side.T).ravel() for side in (single, others)])

    def _index_products(self, by_term: sp.csr_array, block: np.ndarray, local: np.ndarray, others: np.ndarray) -> None:
        """Find, for every pair of distinct entries of a column of P, the position to which their product is added."""
        term, i, j = _pairs(by_term)
        product = None if (by_term.data == 1).all() else by_term.data[i] * by_term.data[j]
        first, second = by_term.indices[i], by_term.indices[j]
        del i, j
        both = others[first] & others[second]
        # In a pair of a single and another row, the single row comes first; in a pair of others, the lower one does.
        # These are M, and D2 below its diagonal. Two single rows have no term in common.
        swap = np.where(both, local[first] < local[second], others[first])
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        row, column, of_block = self._strides(np.where(both, self.n_others, self.n_single), self.n_others)
        position = row * local[first] + column * local[second] + of_block * block[first]
        self._cross, self._below = (
            _of_kind(kind, position, term, product, len(by_term.indptr) - 1) for kind in (~both, both)
        )

    def entries(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the diagonals of D1 and D2, one number per slot; M; and D2 below its diagonal, or None if zero."""
        below = self._assembled(*self._below, self.n_others, x) if len(self._below[0]) else None
        return self._squared @ x + self._padding, self._assembled(*self._cross, self.n_single, x), below

    def _assembled(
        self, position: np.ndarray, term: np.ndarray | None, product: np.ndarray | None, height: int, x: np.ndarray
    ) -> np.ndarray:
        """Add x, times a product of coefficients, at the given positions of blocks of the given height."""
        weight = x if term is None else x[term]
        weight = weight if product is None else product * weight
        entries = np.bincount(position, weight, height * self.n_others * self.n_blocks)
        # bincount of an empty array has an integer type
        return self._shaped(entries.astype(float, copy=False), height, self.n_others)


def _of_kind(
    kind: np.ndarray, position: np.ndarray, term: np.ndarray, product: np.ndarray | None, n_terms: int
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Return the products of one kind; terms are None if every term has one product, products are None if all are 1."""
    if not kind.all():
        position, term, product = position[kind], term[kind], None if product is None else product[kind]
    product = None if product is None or (product == 1).all() else product
    return position, None if np.array_equal(term, np.arange(n_terms)) else term, product


def _single(by_term: sp.csr_array) -> np.ndarray:
    """Mark rows that pairwise share no term: those that come first, or last, in each of their terms."""
    marks = np.ones((2, by_term.shape[1]), dtype=bool)
    for mark, extreme in zip(marks, (least_by_row, most_by_row), strict=True):
        chosen = np.repeat(extreme(by_term.indices, by_term), np.diff(by_term.indptr))
        mark[by_term.indices[chosen != by_term.indices]] = False
    return marks[int(marks[1].sum() > marks[0].sum())]


def _pairs(by_term: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return every pair of entries of a column: the term, and the positions of both entries."""
    entries, starts = np.diff(by_term.indptr), by_term.indptr[:-1].astype(np.int64)
    first = np.repeat(starts, entries)  # for each entry, the first entry of its column
    before = np.arange(by_term.nnz) - first
    i = np.repeat(np.arange(by_term.nnz), before)
    j = first[i] + np.arange(len(i)) - (np.cumsum(before) - before)[i]
    return np.repeat(entry_rows(by_term), before), i, j


class BucketInverse:
    """The inverse of D at one x, with a relative ridge added to the diagonal of D."""

    def __init__(self, blocks: BucketBlocks, x: np.ndarray, ridge: float) -> None:
        self.blocks = blocks
        diagonal, cross, below = blocks.entries(x)
        while True:
            raised = diagonal + ridge * np.maximum(diagonal, SMALLEST_DIAGONAL)
            #: The diagonal of D1, one number per slot of a single row.
            self.single = raised[: blocks.n_blocks * blocks.n_single]
            self._single, of_others = blocks.split(raised)
            self._scaled = cross / self._single[:, None]  # N
            try:
                self._inverse = _inverse_factors(cross, self._scaled, of_others, below, is_narrow=blocks.is_narrow)
                break
            except np.linalg.LinAlgError:  # roundoff is larger than the ridge
                ridge *= 100

    def apply(self, right: np.ndarray) -> np.ndarray:
        """Return D^-1 right, one number per slot."""
        first, second = self.blocks.split(right)
        half = second - np.einsum("isb,ib->sb", self._scaled, first)
        half = np.einsum("stb,tb->sb", self._inverse, half)
        others = np.einsum("tsb,tb->sb", self._inverse, half)
        return self.blocks.joined(first / self._single - np.einsum("isb,sb->ib", self._scaled, others), others)

    def halves(self, first: np.ndarray, second: np.ndarray, batch: slice) -> np.ndarray:
        """Return L^-1 (B2' - N' B1') for some blocks; its square is the contribution of E^-1 to B D^-1 B'.

        B1' and B2' have the shapes (blocks, single, columns) and (blocks, others, columns).
        """
        scaled, inverse = self._of(batch)
        return inverse @ (second - scaled.transpose(0, 2, 1) @ first)

    def solutions(self, first: np.ndarray, second: np.ndarray, batch: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return D^-1 B' for some blocks, in two parts like the arguments of :meth:`halves`."""
        scaled, inverse = self._of(batch)
        others = inverse.transpose(0, 2, 1) @ (inverse @ (second - scaled.transpose(0, 2, 1) @ first))
        return first / self._single[:, batch].T[:, :, None] - scaled @ others, others

    def root(self, across: sp.csr_array) -> sp.csr_array:
        """Return the sparse V with V'V = B D^-1 B', for a sparse B' with one row per slot; V has as many rows."""
        single, others = self.blocks.slots
        scaled, inverse = self._of(slice(0, self.blocks.n_blocks))
        n_single = single.size
        others = others - n_single
        first, second, n = across[:n_single], across[n_single:], others.size
        half = second - _block_matrix(scaled.transpose(0, 2, 1), others, single, (n, n_single)) @ first
        halves = sp.diags_array(1 / np.sqrt(self.single)) @ first, _block_matrix(inverse, others, others, (n, n)) @ half
        return sp.csr_array(sp.vstack(halves, format="csr"))

    def _of(self, batch: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return N and L^-1 of some blocks, with the block axis first."""
        scaled, inverse = (np.moveaxis(values[..., batch], -1, 0) for values in (self._scaled, self._inverse))
        return np.ascontiguousarray(scaled), np.ascontiguousarray(inverse)


def _block_matrix(blocks: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Return a sparse matrix of dense blocks, (blocks, height, width), at the given rows and columns."""
    row, column = (np.broadcast_to(places, blocks.shape).ravel() for places in (rows[:, :, None], columns[:, None, :]))
    return sp.csr_array((blocks.ravel(), (row, column)), shape=shape)


def _inverse_factors(
    cross: np.ndarray, scaled: np.ndarray, diagonal: np.ndarray, below: np.ndarray | None, *, is_narrow: bool
) -> np.ndarray:
    """Return L^-1 of E = D2 - M' N for all blocks; raise LinAlgError if some E is not positive definite."""
    if is_narrow:
        rest = -np.einsum("isb,itb->stb", cross, scaled)
    else:
        rest = np.moveaxis(-(np.moveaxis(cross, -1, 0).transpose(0, 2, 1) @ np.moveaxis(scaled, -1, 0)), 0, -1)
    np.einsum("ssb->sb", rest)[...] += diagonal  # a view of the diagonals
    if below is not None:
        rest += below  # the upper entries are never read
    if not np.isfinite(rest).all():
        return np.full_like(rest, np.nan)
    if not is_narrow:
        return np.moveaxis(np.linalg.inv(np.linalg.cholesky(np.moveaxis(rest, -1, 0))), 0, -1)
    factor, inverse = np.zeros_like(rest), np.zeros_like(rest)
    for j in range(len(rest)):
        if (rest[j, j] <= 0).any():
            raise np.linalg.LinAlgError("not positive definite")
        column = rest[j:, j] / np.sqrt(rest[j, j])
        factor[j:, j] = column
        rest[j + 1 :, j + 1 :] -= column[1:, None] * column[None, 1:]
    for i in range(len(rest)):  # forward substitution: row i of L L^-1 = I
        inverse[i, i] = 1 / factor[i, i]
        if i:
            inverse[i, :i] = -inverse[i, i] * np.einsum("jb,jkb->kb", factor[i, :i], inverse[:i, :i])
    return inverse


Solve = Callable[[np.ndarray], np.ndarray]


def regularized_cholesky(matrix: np.ndarray, raised: np.ndarray, *, is_inverted: bool = True) -> Solve:
    """Return a solver for a positive semidefinite matrix plus `raised` on its diagonal, and a ridge if necessary.

    Rows may be redundant: elimination leaves only the ridge on their diagonal, and rounding can make that negative.
    """
    size = np.maximum(matrix.diagonal() + raised, VANISHED_DIAGONAL)
    root = np.where(size > VANISHED_DIAGONAL, 1 / np.sqrt(size), 0.0)
    scaled = matrix * root[:, None]  # with a diagonal of 1, so that one ridge suits all rows
    scaled *= root
    diagonal = np.einsum("ii->i", scaled)
    diagonal += raised / size
    ridge = FIRST_RIDGE
    while ridge < 1:
        diagonal += ridge
        try:
            # Transposed to LAPACK's column-major order, which saves a copy of the matrix.
            factor = scipy.linalg.cholesky(scaled.T, lower=True, check_finite=False)
        except np.linalg.LinAlgError:  # roundoff is larger than the ridge
            ridge *= 100
            continue
        if not is_inverted or len(size) > MOST_INVERTED:
            # Single precision would halve the memory traffic, but the preconditioner would fail if terms tend to zero
            # and rows are nearly redundant.
            return lambda right: root * _solved(factor, root * right)
        inverse = scipy.linalg.lapack.dtrtri(factor, lower=1)[0]
        return lambda right: root * (inverse.T @ (inverse @ (root * right)))
    return lambda right: right / size


def _solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve L L' v = right for one right-hand side, in half the time of LAPACK's dpotrs."""
    if not len(right):  # BLAS rejects empty arrays
        return right
    half = scipy.linalg.blas.dtrsv(factor, right, lower=1)
    return np.asarray(scipy.linalg.blas.dtrsv(factor, half, lower=1, trans=1))


class _SingleThread(ContextDecorator):
    """A context and decorator that limits BLAS to one thread; the first to enter sets it, the last restores it.

    The number of threads is global to the process, and contexts in several Python threads end in any order. They are
    counted, because the number could remain at 1 if each of them restored it.
    """

    def __init__(self) -> None:
        self._lock, self._entered = Lock(), 0
        self._limit: AbstractContextManager[Any] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._entered:
                self._limit = self._controller.limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._entered += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._entered -= 1
            if not self._entered and self._limit is not None:
                self._limit.__exit__(None, None, None)
                self._limit = None

    @cached_property
    def _controller(self) -> ThreadpoolController:
        """Find the loaded libraries once per process, as this takes some milliseconds."""
        return ThreadpoolController()


single_thread = _SingleThread()
