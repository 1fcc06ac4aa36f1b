"""Blocks: one dense Cholesky factor per bucket, in batches of equal size, on one BLAS thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.linalg.blas
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController

from .parameters import NEWTON_COSTS, NEWTON_SYSTEM
from .sparse import with_ones_of

__all__ = [
    "BucketBlocks",
    "BucketInverse",
    "Solve",
    "regularized_cholesky",
    "single_thread",
]

# The block-diagonal part D = P diag(x) P' of a Newton system, P being the published rows.
#
# Published rows of different buckets have no term in common, so that each bucket is a block. Within a block some rows
# have no term in common either, such as those of the QI values, each term being in one of these. With such single rows
# first, a block is
#
#     [ D1  M  ]    D1 diagonal,
#     [ M'  D2 ]    D2 as large as the block has other rows, such as those of the sensitive values.
#
# All blocks are assembled at once, padded to the size of the largest.


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


# D^-1 for the block-diagonal part D of a Newton system: the diagonal part of each block, then a Cholesky factor.
#
# With a block as in :mod:`..program.bucket_blocks`, eliminating its single rows leaves E = D2 - M' D1^-1 M = L L'. So
#
#     D^-1 = [ D1^-1  0 ]  +  [ -N ] E^-1 [ -N'  I ],    N = D1^-1 M.
#            [ 0      0 ]     [ I  ]


class BucketInverse:
    """All blocks at one x, factored.

    Parameters
    ----------
    blocks : BucketBlocks
    x : ndarray, one a term
    ridge : float
        Relative to the diagonal, which is raised by it; increased a hundredfold while rounding exceeds it.

    Attributes
    ----------
    single : ndarray, one a slot of a single row
        The diagonal of D1.
    """

    def __init__(self, blocks: BucketBlocks, x: np.ndarray, ridge: float) -> None:
        self.blocks = blocks
        self._n = blocks.n_blocks * blocks.n_single
        entries = blocks.entries(x)
        while True:
            raised = entries.diagonal + ridge * np.maximum(entries.diagonal, NEWTON_SYSTEM.smallest_diagonal)
            try:
                self._factor(entries, raised)
                break
            except np.linalg.LinAlgError:  # roundoff exceeded the ridge
                ridge *= 100

    def _factor(self, entries: BlockEntries, diagonal: np.ndarray) -> None:
        cross, self.single, of_others = entries.cross, diagonal[: self._n], self._second(diagonal[self._n :])
        if self.blocks.narrow:
            self._scaled = cross / self._first(self.single)[:, None]
            rest = -np.einsum("isb,itb->stb", cross, self._scaled)
            np.einsum("ssb->sb", rest)[...] += of_others  # a view: writing to it writes to the matrices
        else:
            self._scaled = cross / self._first(self.single)[:, :, None]
            rest = -(cross.transpose(0, 2, 1) @ self._scaled)
            np.einsum("bss->bs", rest)[...] += of_others
        if entries.below is not None:
            rest += entries.below
        if not np.isfinite(rest).all():
            self._inverse = np.full_like(rest, np.nan)
        else:
            self._inverse = _inverse_cholesky(rest) if self.blocks.narrow else np.linalg.inv(np.linalg.cholesky(rest))

    def apply(self, right: np.ndarray) -> np.ndarray:
        """Compute D^-1 right; one number a slot."""
        first, second = self._first(right[: self._n]), self._second(right[self._n :])
        scaled = first / self._first(self.single)
        if self.blocks.narrow:
            half = second - np.einsum("isb,ib->sb", self._scaled, first)
            half = np.einsum("stb,tb->sb", self._inverse, half)
            others = np.einsum("tsb,tb->sb", self._inverse, half)
            scaled = scaled - np.einsum("isb,sb->ib", self._scaled, others)
        else:
            half = second - (self._scaled.transpose(0, 2, 1) @ first[:, :, None])[:, :, 0]
            others = (self._inverse.transpose(0, 2, 1) @ (self._inverse @ half[:, :, None]))[:, :, 0]
            scaled = scaled - (self._scaled @ others[:, :, None])[:, :, 0]
        return np.concatenate([scaled.ravel(), others.ravel()])

    def _first(self, of_slot: np.ndarray) -> np.ndarray:
        n, width = self.blocks.n_blocks, self.blocks.n_single
        return of_slot.reshape((width, n) if self.blocks.narrow else (n, width))

    def _second(self, of_slot: np.ndarray) -> np.ndarray:
        n, width = self.blocks.n_blocks, self.blocks.n_others
        return of_slot.reshape((width, n) if self.blocks.narrow else (n, width))

    def halves(self, first: np.ndarray, second: np.ndarray, batch: slice) -> np.ndarray:
        """L^-1 (B2' - N' B1') for some blocks, so that E^-1 adds its square to B D^-1 B'.

        Parameters
        ----------
        first, second : ndarray, shape (blocks, single, columns) and (blocks, others, columns)
            B1' and B2'.
        batch : slice of int
            Which blocks these are.
        """
        scaled, inverse = self._of(batch)
        return inverse @ (second - scaled @ first)

    def solutions(self, first: np.ndarray, second: np.ndarray, batch: slice) -> tuple[np.ndarray, np.ndarray]:
        """D^-1 B' for some blocks, in two parts as B' is; see :meth:`halves` for the parameters."""
        scaled, inverse = self._of(batch)
        others = inverse.transpose(0, 2, 1) @ (inverse @ (second - scaled @ first))
        single = self._first(self.single)
        single = single[:, batch].T if self.blocks.narrow else single[batch]
        return first / single[:, :, None] - scaled.transpose(0, 2, 1) @ others, others

    def root(self, across: sp.csr_array) -> sp.csr_array:
        """The sparse V with V'V = B D^-1 B', for a sparse B' that has a row a slot; V has as many."""
        single, others = self.blocks.slots
        scaled, inverse = self._of(slice(0, self.blocks.n_blocks))
        first, second, own = across[: self._n], across[self._n :], others - self._n
        n = own.size
        half = second - _block_matrix(scaled, own, single, (n, self._n)) @ first
        halves = sp.diags_array(1 / np.sqrt(self.single)) @ first, _block_matrix(inverse, own, own, (n, n)) @ half
        return sp.csr_array(sp.vstack(halves, format="csr"))

    def _of(self, batch: slice) -> tuple[np.ndarray, np.ndarray]:
        """N' and L^-1 of some blocks, block after block."""
        if not self.blocks.narrow:
            return self._scaled[batch].transpose(0, 2, 1), self._inverse[batch]
        scaled, inverse = self._scaled[..., batch].transpose(2, 1, 0), self._inverse[..., batch].transpose(2, 0, 1)
        return np.ascontiguousarray(scaled), np.ascontiguousarray(inverse)


def _block_matrix(blocks: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """A sparse matrix of dense blocks, (blocks, height, width), whose rows and columns are given for every block."""
    row, column = (np.broadcast_to(one, blocks.shape).ravel() for one in (rows[:, :, None], columns[:, None, :]))
    return sp.csr_array((blocks.ravel(), (row, column)), shape=shape)


def _inverse_cholesky(matrices: np.ndarray) -> np.ndarray:
    """L^-1 of many small matrices L L', of shape (width, width, matrices), of which only the lower entries count.

    Raises
    ------
    numpy.linalg.LinAlgError
        If some matrix is not positive definite.
    """
    width, rest = len(matrices), matrices
    factor, inverse = np.zeros_like(matrices), np.zeros_like(matrices)
    for j in range(width):
        if (rest[j, j] <= 0).any():
            raise np.linalg.LinAlgError("not positive definite")
        column = rest[j:, j] / np.sqrt(rest[j, j])
        factor[j:, j] = column
        rest[j + 1 :, j + 1 :] -= column[1:, None] * column[None, 1:]
    for i in range(width):
        inverse[i, i] = 1 / factor[i, i]
        if i:
            inverse[i, :i] = -inverse[i, i] * np.einsum("jb,jkb->kb", factor[i, :i], inverse[:i, :i])
    return inverse


# A Cholesky factor of a positive semidefinite matrix that rounding can make indefinite.


Solve = Callable[[np.ndarray], np.ndarray]


def regularized_cholesky(matrix: np.ndarray, raised: np.ndarray, *, is_inverted: bool = True) -> Solve:
    """Factor a matrix some of whose rows may be redundant: of their diagonal, elimination leaves only the ridge.

    Parameters
    ----------
    matrix : ndarray
        Symmetric and positive semidefinite but for rounding.
    raised : ndarray
        What is added to its diagonal. A further relative ridge is added, and increased until the factor exists.
    is_inverted : bool
        Whether the factor of a matrix of moderate size is inverted, which pays if it solves for many right-hand sides.

    Returns
    -------
    callable
        Solves for a right-hand side.
    """
    size = np.maximum(matrix.diagonal() + raised, NEWTON_SYSTEM.vanished_diagonal)
    root = np.where(size > NEWTON_SYSTEM.vanished_diagonal, 1 / np.sqrt(size), 0.0)
    scaled = matrix * root[:, None]  # to a diagonal of 1, so that one ridge is right for all rows
    scaled *= root
    diagonal = np.einsum("ii->i", scaled)
    diagonal += raised / size
    ridge = NEWTON_SYSTEM.first_ridge
    while ridge < 1:
        diagonal += ridge
        try:
            # Transposed, as LAPACK reads it in column-major order: then it copies the matrix only once.
            factor = scipy.linalg.cholesky(scaled.T, lower=True, check_finite=False)
        except np.linalg.LinAlgError:  # the rounding error was larger than the ridge
            ridge *= 100
            continue
        if not is_inverted or len(size) > NEWTON_COSTS.most_inverted:
            # In single precision there would be half as much to read, but the preconditioner would fail where terms
            # tend to zero and rows are nearly redundant.
            return lambda right: root * _solved(factor, root * right)
        inverse = np.linalg.inv(factor)
        return lambda right: root * (inverse.T @ (inverse @ (root * right)))
    return lambda right: right / size


def _solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve L L' v = right for one right-hand side, for which this takes half the time of LAPACK's dpotrs."""
    if not len(right):  # which BLAS refuses
        return right
    half = scipy.linalg.blas.dtrsv(factor, right, lower=1)
    return np.asarray(scipy.linalg.blas.dtrsv(factor, half, lower=1, trans=1))


class _SingleThread(ContextDecorator):
    """A context, and a decorator, within which BLAS takes one thread; the first to enter sets it, the last restores it.

    The number of threads belongs to the process. So contexts of several threads of Python, which end in any order, are
    counted: restored by each, the number could stay at 1.
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
        """Finds the loaded libraries, which takes some milliseconds, once a process."""
        return ThreadpoolController()


single_thread = _SingleThread()
