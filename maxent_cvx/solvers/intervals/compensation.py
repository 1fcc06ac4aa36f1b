r"""How far buckets may be changed if all others make up for it: one factorization answers for every change.

Let x > 0 satisfy all rows, and let some buckets be given other counts that satisfy their published rows, so that the
rows of knowledge K change by r. All other buckets are given x (1 + B' y), where B is K less its projection onto the
published rows in the metric of x, and S y = -r with S = B diag(x) B', both over these other buckets. Then all rows hold
again, and no count is negative if \|B_t' y\| <= 1 for every term t, where

    \|B_t' y\| <= \|S^-1/2 B_t\| \|S^-1/2 r\|.

S is the Schur complement of the knowledge. It is formed once, over all buckets. Without those that are changed it is at
least (1 - rho) S, where rho is the sum of the leverages x_t \|S^-1/2 B_t\|^2 of their terms, so that, with the S of all
buckets,

    \|B_t' y\| <= \|B_t' S^-1 r\| + rho / (1 - rho) \|S^-1/2 B_t\| \|S^-1/2 r\|
             <= \|S^-1/2 B_t\| \|S^-1/2 r\| / (1 - rho).

The first bound is evaluated for the terms where \|S^-1/2 B_t\| is large, the second for all others together. Where it
is largest, as for counts of nearly 0, counts stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..linear_algebra.bucket_inverse import BucketInverse
from ..linear_algebra.schur_complement import schur_complement
from ..parameters.size_limits import COMPENSATION_SIZES, NEWTON_COSTS
from ..parameters.tolerances import COMPENSATION
from ..program.linear_form import LinearForm

__all__ = ["Compensation"]


@dataclass(frozen=True, eq=False)
class Compensation:
    """What the buckets at one interior point can make up for.

    Attributes
    ----------
    root : ndarray, shape (rows of knowledge, rank)
        S^-1/2 on the range of S: ``change @ root`` has the norm of S^-1/2 r.
    outside : ndarray, shape (rows of knowledge, others)
        An orthonormal basis of what is not in the range: a change must have no part in it.
    steep : ndarray, shape (steep terms, rank)
        S^-1/2 B_t of the terms where it is large.
    largest : float
        The largest norm of S^-1/2 B_t of all other terms.
    leverage : ndarray, one a bucket
        The sums of the leverages of its terms.
    """

    root: np.ndarray
    outside: np.ndarray
    steep: np.ndarray
    largest: float
    leverage: np.ndarray

    @classmethod
    def at(cls, form: LinearForm, x: np.ndarray) -> Compensation:
        """Form and factor S at x > 0: twice, the second time without the terms that are to keep their counts."""
        root, _, inverse = _inverse_root(form, x)
        before, _ = _columns(form, inverse, x, root, np.zeros(len(x), dtype=bool))
        moved = np.where(before <= np.quantile(before, COMPENSATION.moved), x, 0.0)
        root, outside, inverse = _inverse_root(form, moved)
        order = np.argsort(np.where(moved > 0, before, 0.0))
        is_steep = np.zeros(len(x), dtype=bool)
        is_steep[order[-COMPENSATION_SIZES.steep :]] = True
        norm, steep = _columns(form, inverse, moved, root, is_steep)
        largest = float(norm[(moved > 0) & ~is_steep].max(initial=0.0))
        return cls(root, outside, steep, largest, np.bincount(form.bucket[1], moved * norm**2))

    def suffices(self, change: np.ndarray, outside: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        """Which changes can be made up for.

        Parameters
        ----------
        change : ndarray, shape (changes, rank)
            Changes of the rows of knowledge, times `root`.
        outside : ndarray, shape (changes, others)
            The same changes, times `outside`.
        leverage : ndarray, one a change
            That of the buckets that are given other counts.
        """
        size, lost = np.linalg.norm(change, axis=1), np.abs(outside).max(axis=1, initial=0.0)
        left = 1 - leverage
        possible = (left > 0) & (lost <= COMPENSATION.lost) & (self.largest * size <= COMPENSATION.most * left)
        steep, of_steep = np.linalg.norm(self.steep, axis=1), self.steep.T
        for some in np.array_split(np.flatnonzero(possible), len(change) // COMPENSATION_SIZES.steep + 1):
            moves = np.abs(change[some] @ of_steep)
            moves += (leverage[some] / left[some] * size[some])[:, None] * steep
            possible[some] = (moves <= COMPENSATION.most).all(axis=1)
        return possible


def _inverse_root(form: LinearForm, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, BucketInverse]:
    """S^-1/2 on the range of S, and an orthonormal basis of the rest; and the factors of the buckets.

    Rows of knowledge may be redundant.
    """
    known, inverse = form.known, BucketInverse(form.bucket_blocks, x, COMPENSATION.ridge)
    every = np.arange(known.distinct.shape[0])
    schur = schur_complement(inverse, known, _across(form, x), known.collect(x), every)
    squares = known.squared @ known.collect(x)
    size = np.sqrt(np.where(squares > 0, squares, 1.0))
    values, vectors = np.linalg.eigh(schur / size / size[:, None])
    in_range = values > COMPENSATION.range * values.max(initial=0.0)
    outside = vectors[:, ~in_range] / size[:, None]
    outside /= np.linalg.norm(outside, axis=0)
    return vectors[:, in_range] / np.sqrt(values[in_range]) / size[:, None], outside, inverse


def _across(form: LinearForm, x: np.ndarray) -> sp.csr_array:
    """P diag(x) by slot, summed over the terms of each class of columns of the knowledge."""
    rows, known = form.bucket_blocks.rows, form.known
    shape = (rows.shape[0], known.distinct.shape[1])
    return sp.csr_array((rows.data * x[rows.indices], known.of_term[rows.indices], rows.indptr), shape=shape)


def _columns(
    form: LinearForm, inverse: BucketInverse, x: np.ndarray, root: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The norm of S^-1/2 B_t, one a term, and S^-1/2 B_t itself for those that are wanted."""
    buckets, known, rank = form.bucket_blocks, form.known, root.shape[1]
    classes, across = known.transposed @ root, _across(form, x)
    single, others = buckets.slots
    block_of_slot, place = (np.empty(buckets.n_slots, dtype=np.int64) for _ in range(2))
    for side in (single, others):
        block_of_slot[side] = np.arange(len(side))[:, None]
    by_term, norm, columns = buckets.by_term, np.empty(len(x)), [np.empty((0, rank))]
    block = block_of_slot[by_term.indices[by_term.indptr[:-1]]]
    order = np.argsort(block, kind="stable")
    for batch in _batches(buckets.n_blocks, (single.shape[1] + others.shape[1]) * rank):
        right = [(across[side[batch].ravel()] @ classes).reshape(*side[batch].shape, rank) for side in (single, others)]
        projected = np.concatenate(
            [one.reshape(one.shape[0] * one.shape[1], rank) for one in inverse.solutions(right[0], right[1], batch)]
        )
        own = np.concatenate([single[batch].ravel(), others[batch].ravel()])
        place[own] = np.arange(len(own))
        terms = order[slice(*np.searchsorted(block[order], [batch.start, batch.stop]))]
        rows = by_term[terms]
        rows = sp.csr_array((rows.data, place[rows.indices], rows.indptr), shape=(len(terms), len(own)))
        found = classes[known.of_term[terms]] - rows @ projected
        norm[terms] = np.linalg.norm(found, axis=1)
        columns.append(found[wanted[terms]])
    return norm, np.concatenate(columns)


def _batches(n_blocks: int, doubles: int) -> Iterator[slice]:
    """The blocks of every batch, blocks being of so many doubles each."""
    step = max(NEWTON_COSTS.batch // max(doubles, 1), 1)
    return (slice(low, min(low + step, n_blocks)) for low in range(0, n_blocks, step))
