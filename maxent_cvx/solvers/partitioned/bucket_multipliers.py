"""The multipliers of published rows, given those of the knowledge: every bucket is a small problem of its own.

Knowledge with multipliers m changes the weights of the terms to w exp(K' m). What is left is to scale these until the
published rows P hold: to minimise

    sum w exp(K' m + P' u - 1) - b' u

over u, bucket by bucket and all buckets at once. Newton's steps are as long as log(1 + d) / d allows, d being the
largest change of a logarithm in the bucket: that decreases a sum of exponentials from wherever it is (Sun and
Tran-Dinh, 2019, "Generalized self-concordant functions"). Far from the solution, rows are scaled in turn before
(Sinkhorn, 1967), in the logarithmic domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..linear_algebra.bucket_inverse import BucketInverse
from ..parameters.dual_methods import PARTITIONED
from .reduction import ReducedPart

__all__ = ["BucketState", "Contribution", "contribution", "first_state", "minimised"]


class BucketState(NamedTuple):
    """Where the multipliers of one partition's published rows are.

    Attributes
    ----------
    u : ndarray, one a slot of the blocks
    counts : ndarray, one a term
        x, records.
    residual : float
        The largest violation of a published row, records.
    iterations : int
        Newton's steps that it took.
    """

    u: np.ndarray
    counts: np.ndarray
    residual: float = np.inf
    iterations: int = 0


class Contribution(NamedTuple):
    """What one partition, or some together, contribute to the dual function of the knowledge.

    Attributes
    ----------
    total : float
        sum x, records.
    linear, size : float
        b' u, and the sum of the absolute values of its summands.
    activity : ndarray, one a row of knowledge
        K x, records.
    residual : float
        The largest violation of a published row, records.
    iterations : int
        The largest number of steps in a partition.
    """

    total: float
    linear: float
    size: float
    activity: np.ndarray
    residual: float
    iterations: int

    @staticmethod
    def added(some: Sequence[Contribution]) -> Contribution:
        """The contribution of some partitions together."""
        return Contribution(
            sum(one.total for one in some),
            sum(one.linear for one in some),
            sum(one.size for one in some),
            np.sum([one.activity for one in some], axis=0),
            max(one.residual for one in some),
            max(one.iterations for one in some),
        )


def first_state(part: ReducedPart) -> BucketState:
    """All multipliers at 0."""
    return BucketState(np.zeros(part.systems.bucket_blocks.n_slots), np.zeros(0))


def minimised(part: ReducedPart, state: BucketState, m: np.ndarray, tolerance: float) -> BucketState:
    """The state at multipliers m of the knowledge.

    Parameters
    ----------
    part : ReducedPart
    state : BucketState
        Where to start from.
    m : ndarray, one a row of knowledge
    tolerance : float
        Records: the largest violation of a published row at which to stop.
    """
    blocks, sides = part.systems.bucket_blocks, _sides(part)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = part.form.known.rmatvec(m)
        offset += np.log(part.form.weights) - 1 if part.form.is_weighted else -1.0
        u, exponent = state.u.copy(), blocks.by_term @ state.u + offset
        rows = _Rows.of(blocks.rows)
        for _ in range(PARTITIONED.scalings):
            residual = sides - blocks.rows @ np.exp(exponent)
            if (np.abs(residual) <= PARTITIONED.near * np.abs(sides)).all():  # false where anything has overflown
                break
            for own in rows.halves(blocks.n_blocks * blocks.n_single):
                u = own.scaled(u, exponent, sides)
                exponent = blocks.by_term @ u + offset
        return _by_newton(part, u, exponent, sides, tolerance)


def _by_newton(
    part: ReducedPart, u: np.ndarray, exponent: np.ndarray, sides: np.ndarray, tolerance: float
) -> BucketState:
    """Newton's method on all buckets at once, from a point near the solution."""
    blocks, x, before = part.systems.bucket_blocks, np.exp(exponent), np.inf
    for iteration in range(PARTITIONED.iterations + 1):
        residual = sides - blocks.rows @ x
        worst = float(np.abs(residual).max(initial=0.0))
        # Rounding prevents any more where a step from nearby has not halved the residual.
        stalled = worst > 0.5 * before and worst <= PARTITIONED.rounding * max(float(sides.max(initial=0.0)), 1.0)
        if worst <= tolerance or stalled or iteration == PARTITIONED.iterations or not np.isfinite(worst):
            break
        before = worst
        step = BucketInverse(blocks, x, PARTITIONED.ridge).apply(residual)
        change = blocks.by_term @ step
        largest = part.buckets.largest(np.abs(change))
        if largest.max(initial=0.0) > PARTITIONED.whole_step:
            length = np.log1p(largest) / np.maximum(largest, np.finfo(float).tiny)
            length = np.where(largest > PARTITIONED.whole_step, length, 1.0)
            of_term = length[part.buckets.of_term]
            change *= of_term
            step = step * _of_slots(blocks.rows, of_term)
        u = u + step
        exponent = exponent + change
        x = np.exp(exponent)
    return BucketState(u, x, worst, iteration)


def contribution(part: ReducedPart, state: BucketState) -> Contribution:
    """What the partition contributes at a state."""
    products = _sides(part) * state.u
    return Contribution(
        float(state.counts.sum()), float(products.sum()), float(np.abs(products).sum()),
        part.form.known.matvec(state.counts), state.residual, state.iterations,
    )  # fmt: skip


def _sides(part: ReducedPart) -> np.ndarray:
    """The right-hand sides of the published rows, one a slot; 0 for padding."""
    blocks = part.systems.bucket_blocks
    found = np.zeros(blocks.n_slots)
    found[blocks.slot] = part.form.low[: part.form.n_published]
    return found


def _of_slots(rows: sp.csr_array, of_term: np.ndarray) -> np.ndarray:
    """A number that is the same for all terms of a row, one a slot; 1 for padding."""
    filled = np.diff(rows.indptr) > 0
    found = np.ones(rows.shape[0])
    found[filled] = of_term[rows.indices[rows.indptr[:-1][filled]]]
    return found


class _Rows(NamedTuple):
    """Rows with terms: their slots, where the entries of each begin, and the terms of the entries."""

    slots: np.ndarray
    starts: np.ndarray
    terms: np.ndarray

    @classmethod
    def of(cls, rows: sp.csr_array) -> _Rows:
        """All rows with terms."""
        slots = np.flatnonzero(np.diff(rows.indptr))
        return cls(slots, rows.indptr[:-1][slots], rows.indices)

    def halves(self, middle: int) -> tuple[_Rows, _Rows]:
        """The rows in slots before `middle`, and those after."""
        at = int(np.searchsorted(self.slots, middle))
        first = int(self.starts[at]) if at < len(self.starts) else len(self.terms)
        return (
            _Rows(self.slots[:at], self.starts[:at], self.terms[:first]),
            _Rows(self.slots[at:], self.starts[at:] - first, self.terms[first:]),
        )

    def scaled(self, u: np.ndarray, exponent: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Change the multiplier of each row until it holds: no two have a term in common, and coefficients are 1."""
        if not len(self.slots):
            return u
        own = exponent[self.terms]
        largest = np.maximum.reduceat(own, self.starts)
        sizes = np.diff(np.append(self.starts, len(own)))
        logarithm = largest + np.log(np.add.reduceat(np.exp(own - np.repeat(largest, sizes)), self.starts))
        found = u.copy()
        found[self.slots] += np.log(sides[self.slots]) - logarithm
        return found
