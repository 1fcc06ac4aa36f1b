"""DUAL_NEWTON: projected Newton's method on the dual of maximum entropy.

With x = w exp(A' m - 1) for multipliers m, maximising sum x log(w / x) over low <= A x <= high is the
same as minimising the convex function

    sum w exp(A' m - 1) - low' max(m, 0) + high' max(-m, 0).

It is smooth but for a kink at m = 0 of every inequality. An inequality with m > 0 is tight at its low
side, with m < 0 at its high side; one with m = 0 takes part only if x violates it. So each iteration
solves a Newton system over the equations and the inequalities that take part, and stops a multiplier
that would change its sign at 0 (Bertsekas, 1982, for bounds; Kazama and Tsujii's treatment of inequalities).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import unknown_name
from .block_system import BlockSystem
from .linear_form import LinearForm
from .newton_system import newton_system
from .sparse_system import SparseSystem
from .status import Answer, Status

__all__ = ["NewtonBackend", "newton"]

#: Times that a Newton system is solved again without the inequalities it would push the wrong way.
REPAIRS = 20
#: A step is lengthened if the function falls at its end by this share of its first slope, or more.
STILL_FALLING = 0.2
#: Where nothing has improved for so many iterations, or no step lowers the dual function any more, rounding has
#: won: an answer that is so many times the tolerance away is taken, and the certificate says what it is worth.
PATIENCE, STALLED = 5, 1e3
#: Rounding of a row's sum, relative to the largest one: less is not to be had.
ROUNDING = 1e-13
#: Shortest and longest multiple of a Newton step.
SHORTEST, LONGEST = 1e-6, 64.0
#: Relative ridges of the Hessian, tried in turn: the first leaves Newton's step as it is where rows are
#: redundant, the last makes the step short where inequalities that cannot all be tight are taken to be.
RIDGES = (1e-13, 1e-9, 1e-6, 1e-3, 1.0)


@dataclass(frozen=True)
class NewtonBackend:
    """Newton's method on the dual, the buckets eliminated block by block."""

    name: str = "DUAL_NEWTON"
    installed: bool = True

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that :func:`newton` does not have."""
        if unknown := set(options) - {"tolerance", "max_iterations", "verbose"}:
            raise unknown_name("option of DUAL_NEWTON", min(unknown), ["tolerance", "max_iterations", "verbose"])

    def solve(self, form: LinearForm, start: np.ndarray | None = None, **options: Any) -> Answer:
        """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``; options are those of :func:`newton`."""
        return newton(form, start, **options)


def newton(
    form: LinearForm,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    verbose: bool = False,
) -> Answer:
    """Maximise sum x log(w / x) over ``low <= matrix @ x <= high``.

    Parameters
    ----------
    form : LinearForm
    start : ndarray, optional
        Multipliers to start from.
    tolerance : float
        Largest row residual, and duality gap, at which to stop, people; not below what rounding allows.
    max_iterations : int
    verbose : bool
        Print a line an iteration.
    """
    begun = time.perf_counter()
    system = newton_system(form)
    dual = Dual(form)
    best, stuck = np.inf, 0
    point = dual.at(np.zeros(form.shape[0]) if start is None else start.astype(float))
    status = Status.LIMIT
    tolerance = max(tolerance, ROUNDING * float(np.abs(form.low[form.is_equation]).max(initial=0.0)))
    for iteration in range(max_iterations + 1):
        residual, gap = dual.distance(point)
        if verbose:
            print(f"{iteration:4d}  residual {residual:9.2e} people  gap {gap:9.2e} people  dual {point.value:.10f}")
        if residual <= tolerance and gap <= tolerance:
            status = Status.OPTIMAL
            break
        if (stuck := stuck + 1 if max(residual, gap) > 0.9 * best else 0) == 0:
            best = max(residual, gap)
        if stuck >= PATIENCE and best <= STALLED * tolerance:
            status = Status.OPTIMAL
            break
        if iteration == max_iterations:
            break
        for ridge in RIDGES:
            moved = dual.descend(point, dual.direction(point, system, ridge))
            if moved is not None:
                break
        else:  # the dual function falls no further than its own rounding
            status = Status.OPTIMAL if max(residual, gap) <= STALLED * tolerance else Status.FAILED
            break
        point = moved
    message = f"{status} after {iteration} iterations, residual {residual:.1e} people"
    return Answer(status, point.counts, point.m, iteration, 0.0, time.perf_counter() - begun, message)


@dataclass(frozen=True, eq=False)
class Point:
    """The dual function at multipliers m: its value, x, and A x."""

    m: np.ndarray
    value: float
    counts: np.ndarray
    activity: np.ndarray


class Dual:
    """The dual function of a linear form."""

    def __init__(self, form: LinearForm) -> None:
        self.form = form
        self.transpose = sp.csr_array(form.matrix.T)
        self.offset = np.log(form.weights) - 1 if form.is_weighted else -1.0
        self.is_range = ~form.is_equation

    def at(self, m: np.ndarray) -> Point:
        """Evaluate the dual function."""
        with np.errstate(over="ignore", invalid="ignore"):
            counts = np.exp(self.transpose @ m + self.offset)
            # An open side (infinite) is never pressed: its multiplier is 0, and must not make 0 * inf.
            pressed = np.where(m > 0, self.form.low, np.where(m < 0, self.form.high, 0.0)) * m
            return Point(m, float(counts.sum() - pressed.sum()), counts, self.form.matrix @ counts)

    def distance(self, point: Point) -> tuple[float, float]:
        """Largest row residual, and the gap: slack of the inequalities times their multipliers, people."""
        low, high, m = self.form.low, self.form.high, point.m
        residual = np.maximum(low - point.activity, point.activity - high).max(initial=0.0)
        slack = np.where(m > 0, point.activity - low, np.where(m < 0, high - point.activity, 0.0))
        return float(residual), float(np.abs(m[self.is_range]) @ np.maximum(slack[self.is_range], 0.0))

    def direction(self, point: Point, system: BlockSystem | SparseSystem, ridge: float) -> np.ndarray:
        """Newton's direction over the equations and the inequalities that take part."""
        low, high, m, activity = self.form.low, self.form.high, point.m, point.activity
        n = self.form.n_published
        below, above = activity < low, activity > high
        # Where each row is pulled to, and the sign its multiplier must keep (0: any).
        sign = np.where(self.is_range, np.where(m != 0, np.sign(m), below.astype(float) - above), 0.0)
        target = np.where(sign > 0, low, np.where(sign < 0, high, np.where(self.is_range, activity, low)))
        active = ~self.is_range | (sign != 0)
        for _ in range(REPAIRS):
            step = system.factor(point.counts, np.flatnonzero(active[n:]), ridge)(target - activity)
            wrong = active & (m == 0) & (sign * step < 0)
            if not wrong.any():
                break
            active &= ~wrong
        else:
            step[wrong] = 0.0
        return step

    def descend(self, point: Point, step: np.ndarray) -> Point | None:
        """Go along a step, shortening it until the dual function falls enough (Armijo); None if it does not.

        A cell that must vanish shrinks by a factor e a Newton step, for ever: then the function keeps
        falling along the step, which is lengthened as long as it does.
        """
        length, slope = 1.0, self.slope(point, step)
        rounding = 1e-14 * max(abs(point.value), 1.0)
        first = self.first_kink(point, step)
        there = self.go(point, step, length)
        while not there.value <= point.value + 1e-4 * length * slope + rounding:
            # Up to the first kink the function is smooth; there the inequality leaves, and the next step is free of it.
            length = first if length / 2 < first < length else length / 2
            if length < SHORTEST or not slope < 0:
                return None
            there = self.go(point, step, length)
        if length == 1 and slope < -10 * rounding and self.still_falls(point, there, step) < STILL_FALLING * slope:
            while length < LONGEST:
                further = self.go(point, step, 2 * length)
                if not self.still_falls(point, further, step) < 0:
                    break
                there, length = further, 2 * length
        return there

    def go(self, point: Point, step: np.ndarray, length: float) -> Point:
        """Go so far along a step; the multiplier of an inequality stops where it would change its sign."""
        m = point.m + length * step
        m[self.is_range & (point.m * m < 0)] = 0.0
        return self.at(m)

    def first_kink(self, point: Point, step: np.ndarray) -> float:
        """Multiple of a step, and a hair more, at which a first multiplier of an inequality reaches 0; or infinity."""
        crosses = self.is_range & (point.m * step < 0)
        return float((1 + 1e-12) * np.min(-point.m[crosses] / step[crosses], initial=np.inf))

    def still_falls(self, point: Point, there: Point, step: np.ndarray) -> float:
        """Slope at a point reached along a step, of what has not been stopped on the way."""
        return self.slope(there, np.where(self.is_range & (there.m == 0) & (point.m != 0), 0.0, step))

    def slope(self, point: Point, step: np.ndarray) -> float:
        """Directional derivative of the dual function."""
        side = np.where(point.m != 0, point.m, step)  # at a kink the step says to which side it goes
        target = np.where(self.is_range & (side < 0), self.form.high, self.form.low)
        moves = step != 0
        return float((point.activity - target)[moves] @ step[moves])
