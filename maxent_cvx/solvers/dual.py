"""The dual function of maximum entropy: a convex function of the multipliers, one per row.

The Lagrangian of max sum x log(w / x) subject to low <= A x <= high is maximised by x = w exp(A' m - 1). The dual
problem is to minimise

    g(m) = sum w exp(A' m - 1) - low' max(m, 0) + high' max(-m, 0).

The multiplier of an inequality is positive only if the row is active at its low side, and negative only if it is active
at its high side. g is smooth except where the multiplier of an inequality is 0: there it has a kink.

A soft row adds the conjugate of its cost: v m^2 / 2, where |m| is at most the slope u, or the conjugate of a divergence
(:mod:`.costs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .duality import empty_terms
from .form import LinearForm
from .sparse import most_by_row

#: Rounding error of the dual function, relative to its value and to the sums whose difference it is; found empirically.
ROUNDING, ROUNDING_OF_SUMS = 1e-14, 2e-15


@dataclass(frozen=True, eq=False)
class Point:
    """Multipliers m, the value of the dual function with a bound on its rounding error, and its derivatives."""

    m: np.ndarray
    value: float
    rounding: float
    counts: np.ndarray  # x(m), records, one per term
    activity: np.ndarray  # A x(m), plus the derivative of the conjugate of a soft row
    curvature: np.ndarray | None = (
        None  # second derivatives of the conjugates, one per row of knowledge, 0 for hard rows
    )


class Dual:
    """The dual function of a linear form, without the terms that recession directions prove zero."""

    def __init__(self, form: LinearForm) -> None:
        self.form = form
        self.is_inequality = ~form.is_equation
        self.inequalities = np.flatnonzero(self.is_inequality)
        self.low, self.high = form.low[self.inequalities], form.high[self.inequalities]
        self.equation_sides = np.where(self.is_inequality, 0.0, form.low)  # one per row
        self.slope = np.full(form.shape[0], np.inf)  # the largest multiplier of a soft row
        if form.penalties is not None:
            self.slope[form.n_hard :] = form.penalties.slope
        known = form.known.distinct
        largest = np.append(np.ones(form.n_published), most_by_row(np.abs(known.data), known))
        self.largest_coefficient = np.maximum(largest, 1.0)  # one per row, at least 1
        self.removed = np.zeros(form.shape[1], dtype=bool)
        self.proofs: list[np.ndarray] = []  # each proof takes the terms removed by earlier ones as 0
        self._offset = np.log(form.weights) - 1 if form.is_weighted else np.broadcast_to(-1.0, form.shape[1])

    def remove_zeros(self, proof: np.ndarray) -> None:
        """Remove from the function the terms that a recession direction proves to be zero."""
        self.removed = self.removed | empty_terms(self.form, proof, self.removed, np.zeros(len(self.removed)))
        self.proofs.append(proof)
        self._offset = np.where(self.removed, -np.inf, self._offset)

    @property
    def n_removed(self) -> int:
        """Number of removed terms."""
        return int(self.removed.sum())

    def weights(self, point: Point, floor: float) -> Any:
        """Return the weights of the Hessian: the counts at a point, but at least `floor` for remaining terms."""
        return np.maximum(point.counts, np.where(self.removed, 0.0, floor))

    def start_from(self, point: Point) -> None:
        """Set the start of later evaluations, for subclasses that use it; here it has no effect."""

    def at(self, m: np.ndarray) -> Point:
        """Evaluate the function, and the components of its gradient."""
        with np.errstate(over="ignore", invalid="ignore"):
            counts = self.form.rmatvec(m)
            counts += self._offset
            np.exp(counts, out=counts)
            total, activity = float(counts.sum()), self.form.matvec(counts)
            value, rounding, curvature = self.value_at(m, total, total, activity)
            return Point(m, value, rounding, counts, activity, curvature)

    def value_at(
        self, m: np.ndarray, total: float, size: float, activity: np.ndarray
    ) -> tuple[float, float, np.ndarray | None]:
        """Return the value, its rounding error and the curvature, given sum x; add the conjugates to A x in place."""
        # The value is a difference. With few records and large multipliers the summands are far larger than the value,
        # which then has their absolute precision.
        value, curvature = total - self.linear_part(m), None
        size = size + float(np.abs(self.equation_sides) @ np.abs(m)) if np.isfinite(size) else 0.0
        if self.form.penalties is not None:
            n = self.form.n_hard
            conjugate, first, second = self.form.penalties.conjugate(m[n:])
            value, size = value + conjugate, size + abs(conjugate)
            activity[n:] += first
            curvature = np.concatenate([np.zeros(n - self.form.n_published), second])
        return value, max(ROUNDING * max(abs(value), 1.0), ROUNDING_OF_SUMS * size), curvature

    def linear_part(self, m: np.ndarray) -> float:
        """Return the linear terms of the dual function, low' max(m, 0) - high' max(-m, 0), over finite sides."""
        along = m[self.inequalities]
        sides = np.where(along > 0, self.low, np.where(along < 0, self.high, 0.0))
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self.equation_sides @ m + np.where(along == 0, 0.0, sides) @ along)

    def residual_and_gap(self, point: Point) -> tuple[float, float]:
        """Return the largest violation of a row and the complementarity gap (|m| slack over inequalities); records."""
        below, above = self.form.low - point.activity, point.activity - self.form.high
        # A soft row may be missed by any amount at the slope of its cost.
        below, above = np.where(point.m >= self.slope, 0, below), np.where(point.m <= -self.slope, 0, above)
        residual = np.maximum(below, above).max(initial=0.0)
        m, activity = point.m[self.inequalities], point.activity[self.inequalities]
        slack = np.where(m > 0, activity - self.low, np.where(m < 0, self.high - activity, 0.0))
        return float(residual), float(np.abs(m) @ np.maximum(slack, 0.0))

    def active_set(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Predict the active rows, and the sign that the multiplier of each must keep (0: any).

        An inequality counts as active if its multiplier is not 0 or if it is violated. A soft row is inactive if its
        multiplier is the slope of the cost, and the row is missed by even more.
        """
        m, activity = point.m[self.inequalities], point.activity[self.inequalities]
        violated = (activity < self.low).astype(float) - (activity > self.high)
        sign = np.zeros(len(point.m))
        sign[self.inequalities] = np.where(m != 0, np.sign(m), violated)
        active = ~self.is_inequality | (sign != 0)
        active &= ~((point.m >= self.slope) & (point.activity < self.form.low))
        active &= ~((point.m <= -self.slope) & (point.activity > self.form.high))
        return active, sign

    def leaves_cone(self, m: np.ndarray, sign: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Mark rows whose multiplier is at its bound (0, or the slope of a cost) and would cross it."""
        return (m == 0) & (sign * step < 0) | (np.abs(m) >= self.slope) & (m * step > 0)

    def negative_gradient(self, point: Point, sign: np.ndarray) -> np.ndarray:
        """Return the active side of each row minus A x, by the signs of :meth:`active_set`; 0 for inactive rows."""
        at, inactive = sign[self.inequalities], point.activity[self.inequalities]
        target = self.equation_sides.copy()
        target[self.inequalities] = np.where(at > 0, self.low, np.where(at < 0, self.high, inactive))
        return target - point.activity

    def directional_derivative(self, point: Point, step: np.ndarray) -> float:
        """Return the one-sided derivative of the function along a step."""
        m, along = point.m[self.inequalities], step[self.inequalities]
        side = np.where(m != 0, m, along)  # at a kink, the step selects the smooth piece
        target = np.where(side < 0, self.high, self.low)
        return float((point.activity - self.equation_sides) @ step - np.where(along != 0, target, 0.0) @ along)
