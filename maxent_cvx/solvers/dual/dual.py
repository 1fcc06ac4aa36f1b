"""The dual of maximum entropy: a convex function of the multipliers, a row each.

With x = w exp(A' m - 1) for multipliers m, maximising sum x log(w / x) over low <= A x <= high is the
same as minimising

    sum w exp(A' m - 1) - low' max(m, 0) + high' max(-m, 0).

It is smooth but for a kink at m = 0 of every inequality. An inequality with m > 0 is tight at its low
side, with m < 0 at its high side; one with m = 0 takes part only if x violates it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..presolve.zero_proofs import empty_terms
from ..program.linear_form import LinearForm
from ..tolerances import DUAL_FUNCTION

__all__ = ["Dual", "Point"]


@dataclass(frozen=True, eq=False)
class Point:
    """The dual function at multipliers m: its value and how precise that can be, x, and A x."""

    m: np.ndarray
    value: float
    rounding: float
    counts: np.ndarray
    activity: np.ndarray


class Dual:
    """The dual function of a linear form.

    Attributes
    ----------
    form : LinearForm
    ranges : ndarray of int
        The inequalities.
    dropped : ndarray of bool
        Terms that are zero in every solution, and take part no more.
    proofs : list of ndarray
        Directions of the multipliers that prove it, each given those before it.
    """

    def __init__(self, form: LinearForm) -> None:
        self.form = form
        self.is_range = ~form.is_equation
        self.ranges = np.flatnonzero(self.is_range)
        self.low, self.high = form.low[self.ranges], form.high[self.ranges]
        self.value = np.where(self.is_range, 0.0, form.low)  # of the equations
        self.removed = np.zeros(form.shape[1], dtype=bool)
        self.proofs: list[np.ndarray] = []
        self._offset = np.log(form.weights) - 1

    def remove(self, proof: np.ndarray) -> None:
        """Take the terms that a direction proves empty out of the function."""
        self.removed = self.removed | empty_terms(self.form, proof, self.removed, np.zeros(len(self.removed)))
        self.proofs.append(proof)
        self._offset = np.where(self.removed, -np.inf, self._offset)

    def at(self, m: np.ndarray) -> Point:
        """Evaluate the function, and its gradient A x - (low or high)."""
        with np.errstate(over="ignore", invalid="ignore"):
            counts = np.exp(self.form.rmatvec(m) + self._offset)
            people, linear_part = float(counts.sum()), self.linear_part(m)
            # Sums that cancel: the value of few people whose multipliers are large is no more precise than these.
            size = people + float(np.abs(self.value) @ np.abs(m)) if np.isfinite(people) else 0.0
            rounding = max(DUAL_FUNCTION.rounding * max(abs(people - linear_part), 1.0), DUAL_FUNCTION.summed * size)
            return Point(m, people - linear_part, rounding, counts, self.form.matvec(counts))

    def linear_part(self, m: np.ndarray) -> float:
        """What the sides contribute, low' max(m, 0) - high' max(-m, 0). An open side is never pressed."""
        own = m[self.ranges]
        sides = np.where(own > 0, self.low, np.where(own < 0, self.high, 0.0))
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self.value @ m + np.where(own == 0, 0.0, sides) @ own)

    def distance(self, point: Point) -> tuple[float, float]:
        """Largest row residual, and the gap: slack of the inequalities times their multipliers, people."""
        residual = np.maximum(self.form.low - point.activity, point.activity - self.form.high).max(initial=0.0)
        m, activity = point.m[self.ranges], point.activity[self.ranges]
        slack = np.where(m > 0, activity - self.low, np.where(m < 0, self.high - activity, 0.0))
        return float(residual), float(np.abs(m) @ np.maximum(slack, 0.0))

    def active_sides(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Say which rows take part, and the sign that the multiplier of each must keep (0: any)."""
        m, activity = point.m[self.ranges], point.activity[self.ranges]
        violated = (activity < self.low).astype(float) - (activity > self.high)
        sign = np.zeros(len(point.m))
        sign[self.ranges] = np.where(m != 0, np.sign(m), violated)
        return ~self.is_range | (sign != 0), sign

    def gradient(self, point: Point, sign: np.ndarray) -> np.ndarray:
        """How far each row is below the side that it is pulled to; 0 for a row that takes no part."""
        own = sign[self.ranges]
        target = self.value.copy()
        target[self.ranges] = np.where(own > 0, self.low, np.where(own < 0, self.high, point.activity[self.ranges]))
        return target - point.activity

    def slope(self, point: Point, step: np.ndarray) -> float:
        """Directional derivative."""
        m, along = point.m[self.ranges], step[self.ranges]
        side = np.where(m != 0, m, along)  # at a kink the step says to which side it goes
        target = np.where(side < 0, self.high, self.low)
        return float((point.activity - self.value) @ step - np.where(along != 0, target, 0.0) @ along)
