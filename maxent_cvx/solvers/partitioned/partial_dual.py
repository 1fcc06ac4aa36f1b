"""The dual function of the knowledge alone, minimised over the multipliers of published rows partition by partition.

With u the multipliers of the published rows and m those of the knowledge, the dual function is g(u, m), and

    g(m) = min over u of g(u, m)

is a convex function of one number a row of knowledge. Its gradient is K x less the active sides, and its second
derivatives are the Schur complement S of :mod:`..linear_algebra.block_system`. Both are sums over partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dual.dual import Dual, Point
from ..parameters.dual_methods import DUAL_FUNCTION, PARTITIONED
from ..program.linear_form import LinearForm
from .bucket_multipliers import BucketState, Contribution, contribution, first_state, minimised
from .executing import Executor
from .reduction import ReducedPart, without

__all__ = ["PartialDual", "PartialPoint", "Weights"]


@dataclass(frozen=True, eq=False)
class PartialPoint(Point):
    """A point of the partial dual.

    Attributes
    ----------
    states : sequence of handles of BucketState
    residual : float
        The largest violation of a published row, records.
    """

    states: Sequence[Any] = ()
    residual: float = 0.0


@dataclass(frozen=True, eq=False)
class Weights:
    """The counts at a point, but at least `floor` records each: what the Hessian is made of."""

    states: Sequence[Any]
    floor: float


class PartialDual(Dual):
    """The dual function of the knowledge.

    Parameters
    ----------
    shared : LinearForm
        The rows of knowledge, without terms, less what terms that are left out contribute.
    whole, parts : sequence of handles of Part, and of ReducedPart
        The partitions before presolve, and what is left of them.
    executor : Executor
    states : sequence of handles of BucketState, optional
        Where the multipliers of published rows start from; by default at 0.
    tolerance : float
        Records: the largest violation of a published row.

    Attributes
    ----------
    lowest : PartialPoint or None
        Where the function has been lowest since terms were left out last.
    """

    def __init__(
        self,
        shared: LinearForm,
        whole: Sequence[Any],
        parts: Sequence[Any],
        executor: Executor,
        states: Sequence[Any] | None = None,
        tolerance: float = PARTITIONED.tolerance,
    ) -> None:
        super().__init__(shared)
        self.whole, self.parts, self.executor, self.tolerance = whole, parts, executor, tolerance
        self._n_removed = 0
        self.states = executor.map(first_state, parts) if states is None else states
        self.steps = 0
        self.lowest: PartialPoint | None = None

    def start_from(self, point: Point) -> None:
        """Minimise over the published rows from where they are at this point."""
        assert isinstance(point, PartialPoint)
        self.states = point.states

    def at(self, m: np.ndarray) -> PartialPoint:
        """Minimise over the published rows, and add up what the gradient is made of."""
        states = self.executor.map(minimised, self.parts, self.states, common=(m, self.tolerance))
        found = self.executor.reduce(Contribution.added, self.executor.map(contribution, self.parts, states))
        self.steps += found.iterations
        value = found.total - found.linear - self.linear_part(m)
        size = found.total + found.size + float(np.abs(self.equation_sides) @ np.abs(m))
        activity, curvature = found.activity.copy(), None
        if self.form.penalties is not None:
            n = self.form.n_hard
            conjugate, first, second = self.form.penalties.conjugate(m[n:])
            value, size = value + conjugate, size + abs(conjugate)
            activity[n:] += first
            curvature = np.concatenate([np.zeros(n), second])
        rounding = max(DUAL_FUNCTION.rounding * max(abs(value), 1.0), DUAL_FUNCTION.summed * size)
        point = PartialPoint(m, value, rounding, np.empty(0), activity, curvature, states, found.residual)
        if self.lowest is None or value < self.lowest.value:
            self.lowest = point
        return point

    def residual_and_gap(self, point: Point) -> tuple[float, float]:
        """As of any dual function; of published rows, the largest violation that is left."""
        residual, gap = super().residual_and_gap(point)
        assert isinstance(point, PartialPoint)
        return max(residual, point.residual), gap

    def remove_zeros(self, proof: Any) -> None:
        """Leave the terms that a proof says are zero out of every partition."""
        before, self.lowest = self.parts, None
        self.parts = self.executor.map(without, self.whole, before, proof.zeros)
        self.states = self.executor.map(moved_state, before, self.parts, self.states)
        self._n_removed += int(self.executor.reduce(sum, self.executor.map(fewer, before, self.parts)))

    @property
    def n_removed(self) -> int:
        """The number of terms that were proved zero."""
        return self._n_removed

    def weights(self, point: Point, floor: float) -> Weights:
        """The counts of all partitions at a point."""
        assert isinstance(point, PartialPoint)
        return Weights(point.states, floor)

    def largest_rise(self, step: np.ndarray) -> float:
        """By how much a step raises the logarithm of a count at most, before buckets make up for it."""
        return float(self.executor.reduce(max, self.executor.map(largest_rise, self.parts, common=(step,))))


def moved_state(before: ReducedPart, after: ReducedPart, state: BucketState) -> BucketState:
    """The same multipliers where some terms, and maybe some rows, are no longer there."""
    of_row = np.zeros(int(before.rows.max(initial=-1)) + 1)
    of_row[before.rows] = state.u[before.systems.bucket_blocks.slot]
    u = np.zeros(after.systems.bucket_blocks.n_slots)
    u[after.systems.bucket_blocks.slot] = of_row[after.rows]
    return BucketState(u, np.zeros(0))


def fewer(before: ReducedPart, after: ReducedPart) -> int:
    """How many terms have been left out."""
    return len(before.terms) - len(after.terms)


def largest_rise(part: ReducedPart, step: np.ndarray) -> float:
    """By how much the knowledge raises the logarithm of a count at most."""
    return float((part.form.known.transposed @ step).max(initial=0.0))
