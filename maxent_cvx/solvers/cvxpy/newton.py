r"""Newton's method on the dual of a sum of entropies over rows and bounds, in the logarithmic domain.

With t the inverse temperature, 1 in the problem that is posed, the problem is

    maximise sum y (t c - log y)  over  M y = r (equations) or <= r, and l <= y <= u.

The Lagrangian is maximised by y = exp(e) with e = t c - 1 + M' m, clipped to the bounds; m has one number a row, which
is at most 0 for an inequality. So a bound costs nothing: it is no row, and its multiplier is e - log y. The dual
problem is to minimise

    g(m) = sum y (e + 1 - log y) - r' m.

What is added to c by a combination M' a of the equations moves m by -a, and changes no y. `centred` takes that away, so
that constants in costs, however large, meet no exponential function.

Where costs are large against the entropy, a Newton step from far away is far too long or far too short. The method
therefore follows a path of falling temperatures, which begins where the (centred) costs are small. From one inverse
temperature t to the next, the multipliers move along the tangent of their path, d m / d t = -(M X M')^-1 M X c, which
needs no further factor.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..answer import Status
from ..monitoring.monitor import Monitor
from .normal_matrix import Dense, Solve, Sparse, normal_matrix

__all__ = ["LEAST_SQUARES_RIDGE", "Point", "SeparableAnswer", "SeparableProgram", "solve_separable"]

# Where no source is given, values were found by trial on the transport problems of tests/benchmarks/guest.py. An
# average term is 1.

#: Relative ridge of the least-squares problem by which costs are centred.
LEAST_SQUARES_RIDGE = 1e-13
#: Rounding error of the dual function, relative to the sum of the absolute values of its summands.
ROUNDING_OF_DUAL = 4 * np.finfo(float).eps
#: Nats: the range of the centred costs at the first temperature.
FIRST_SPREAD = 10.0
#: By what factor the temperature falls, at most.
GROWTH = 4.0
#: Relative to the sum of all right-hand sides: the sum of violations at which the next temperature follows.
LOOSE = 0.05
#: Relative to the sum of all right-hand sides: the largest sum of violations right after the temperature fell.
STRAYED = 1.0
#: By what factor the temperature falls at least.
SLOWEST = 1.01
#: Longest multiple of a step.
LONGEST = 64.0
#: Share of the slope at the start of a step: it is doubled if the slope at its end is this or more.
STEEP = 0.1
#: Relative: equations determine the sum of all terms if a combination of them is a row of ones to this.
IS_SUM = 1e-9
#: Relative to the largest right-hand side: the smallest violation that is asked for.
SMALLEST_VIOLATION = 1e-13
#: Nats a term: the largest gap by residuals of rows whose multipliers are large, at which to stop.
GAP = 1e-10
#: The same relative to the products of right-hand sides and multipliers, for its rounding error.
SUMMED = 2e-15
#: Multiple of the tolerance at which an answer is taken that rounding does not let improve.
STALLED = 1e3
#: Iterations without improvement after which such an answer is taken.
PATIENCE = 3
#: Iterations without improvement after which the method gives up.
LONG_PATIENCE = 15
#: Relative ridge of the Hessian.
RIDGE = 1e-13
#: The least term in the Hessian, also of terms at a bound, times the residual and, where that is less than one, times
#: its square: where too few terms are free, it shortens the step (Levenberg, Marquardt).
FLOOR = 1e-6
#: Times that a system is solved again without inequalities whose multipliers would get the wrong sign.
REPAIRS = 20
#: Share of the predicted decrease that a step must bring (Armijo, 1966).
ARMIJO = 1e-4
#: Shortest multiple of a step that is tried.
SHORTEST = 1e-6


@dataclass(frozen=True, eq=False)
class Point:
    """Multipliers, and what the dual function and its derivatives are made of there.

    Attributes
    ----------
    m : ndarray, one a row
    value, rounding : float
        The dual function, and a bound on its rounding error.
    y, slope : ndarray, one a term
        y, and its derivative with respect to e: y itself, and 0 at a bound.
    excess : ndarray, one a row
        M y - r.
    """

    m: np.ndarray
    value: float
    rounding: float
    y: np.ndarray
    slope: np.ndarray
    excess: np.ndarray


@dataclass(frozen=True, eq=False)
class SeparableProgram:
    """Maximise sum y (c - log y) over rows and bounds.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
    right : ndarray, one a row
    is_equation : ndarray of bool, one a row
        The other rows are at most their right-hand side.
    log_weights : ndarray, one a term
        c.
    least, most : ndarray, one a term, or None
        Bounds, 0 <= least <= most <= infinity; None if there are none.
    """

    matrix: sp.csr_array
    right: np.ndarray
    is_equation: np.ndarray
    log_weights: np.ndarray
    least: np.ndarray | None = None
    most: np.ndarray | None = None

    @cached_property
    def normal(self) -> Dense | Sparse:
        """Products with M, and solutions of M diag(x) M' d = g."""
        return normal_matrix(self.matrix, self.is_equation)

    @cached_property
    def log_most(self) -> np.ndarray | None:
        """The logarithms of the upper bounds."""
        return None if self.most is None else np.log(self.most)

    @cached_property
    def log_least(self) -> np.ndarray | None:
        """The logarithms of the lower bounds, minus infinity where there is none."""
        if self.least is None:
            return None
        with np.errstate(divide="ignore"):
            return np.log(self.least)

    @cached_property
    def equations(self) -> np.ndarray:
        """The numbers of the equations."""
        return np.flatnonzero(self.is_equation)

    @cached_property
    def _gram(self) -> Solve:
        """M M' of the equations, factored."""
        return self.normal.factor(np.ones(self.matrix.shape[1]), self.equations, LEAST_SQUARES_RIDGE)

    def combination(self, values: np.ndarray) -> np.ndarray:
        """The combination a of the equations, one number a row, for which M' a is nearest to some values of terms."""
        a = np.zeros(len(self.right))
        if not len(self.equations):
            return a
        solve = self._gram
        for _ in range(2):  # the second time for the rounding error of the first, which large constants enlarge
            rest = values - self.normal.rmatvec(a)
            a[self.equations] += solve(self.normal.matvec(rest)[self.equations])
        return a

    @cached_property
    def of_ones(self) -> np.ndarray:
        """The combination that is nearest to the sum of all terms."""
        return self.combination(np.ones(self.matrix.shape[1]))

    def centred(self) -> tuple[SeparableProgram, np.ndarray]:
        """The same problem with c - M' a, as near to 0 as equations can make it, and a; multipliers are m - a."""
        c = self.log_weights
        is_constant = len(c) > 0 and bool((c == c[0]).all())
        a = c[0] * self.of_ones if is_constant else self.combination(c)
        smaller = replace(self, log_weights=self.log_weights - self.normal.rmatvec(a))
        smaller.__dict__.update(
            {name: self.__dict__[name] for name in ("normal", "_gram", "of_ones") if name in self.__dict__}
        )
        return smaller, a

    def exponent(self, m: np.ndarray, inverse_temperature: float = 1.0) -> np.ndarray:
        """Compute e = t c - 1 + M' m."""
        e = self.normal.rmatvec(m)
        e += inverse_temperature * self.log_weights if inverse_temperature != 1 else self.log_weights
        e -= 1
        return e

    def at(self, m: np.ndarray, inverse_temperature: float = 1.0) -> Point:
        """Evaluate the dual function, and what its derivatives are made of, at multipliers and a temperature."""
        e = self.exponent(m, inverse_temperature)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.log_most is None and self.log_least is None:
                y = slope = np.exp(e, out=e)
                total = size = float(y.sum())
            else:
                y, slope, summands = self._bounded(e)
                total, size = float(summands.sum()), float(np.abs(summands).sum())
            value = total - float(self.right @ m)
            size += float(np.abs(self.right) @ np.abs(m))
            excess = self.normal.matvec(y) - self.right if np.isfinite(size) else np.full(len(m), np.nan)
        return Point(m, value if np.isfinite(size) else np.inf, ROUNDING_OF_DUAL * size, y, slope, excess)

    def _bounded(self, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The terms y between their bounds, d y / d e, and what they add to the dual function."""
        log_y = e
        if self.log_most is not None:
            log_y = np.minimum(log_y, self.log_most)
        if self.log_least is not None:
            log_y = np.maximum(log_y, self.log_least)
        y = np.exp(log_y)
        if self.log_most is not None and self.most is not None:
            y = np.where(e >= self.log_most, self.most, y)  # exactly, by which terms at bounds are known
        if self.log_least is not None and self.least is not None:
            y = np.where(e <= self.log_least, self.least, y)
        return y, np.where(log_y == e, y, 0.0), y * (e + 1 - log_y)

    def violation(self, point: Point) -> np.ndarray:
        """By how much each row is violated, >= 0."""
        return np.where(self.is_equation, np.abs(point.excess), np.maximum(point.excess, 0.0))

    def gap(self, point: Point) -> float:
        """The complementarity gap of the inequalities."""
        slack = np.where(self.is_equation, 0.0, np.maximum(-point.excess, 0.0))
        return float(slack @ np.abs(point.m))


class SeparableAnswer(NamedTuple):
    """How the method ended, the terms y, the multipliers of the rows, and the iterations."""

    status: Status
    y: np.ndarray
    multipliers: np.ndarray
    iterations: int


def solve_separable(
    program: SeparableProgram, *, tolerance: float = 1e-9, max_iterations: int = 200, monitor: Monitor | None = None,
    start: np.ndarray | None = None,
) -> SeparableAnswer:  # fmt: skip
    """Maximise sum y (c - log y) over the rows and bounds of a program.

    Parameters
    ----------
    program : SeparableProgram
        In units in which an average y is about 1, each row divided by its largest coefficient.
    tolerance : float
        Largest violation of a row, and complementarity gap, at which to stop; raised to what rounding allows.
    max_iterations : int
    monitor : Monitor, optional
        Is told every iteration, and may stop the method.
    start : ndarray, one a row, optional
        Multipliers near those of the solution: the temperature is then that of the problem from the beginning.
    """
    monitor = monitor or Monitor()
    centred, shift = program.centred()
    path = _Path(centred, shift, tolerance)
    steps = path.steps() if start is None else path.steps_from(start + shift)
    iteration, stop = 0, False
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # multipliers may diverge
        line = next(steps)
        while True:
            told = {"iteration": iteration, "parts": 1, **line, "seconds": monitor.seconds}
            stop = monitor.tell(told) or iteration == max_iterations
            try:
                line = steps.send(stop)
            except StopIteration as end:
                status, point = end.value
                return SeparableAnswer(status, point.y, point.m - shift, iteration)
            iteration += 1


class _Path:
    """The path of solutions from the first inverse temperature to 1."""

    def __init__(self, program: SeparableProgram, shift: np.ndarray, tolerance: float) -> None:
        self.program, self.shift = program, shift
        self.sides = sides = np.abs(program.right)
        self.tolerance = max(tolerance, SMALLEST_VIOLATION * float(sides[program.is_equation].max(initial=0.0)))
        self.total = float(sides.sum()) or 1.0
        spread = float(np.ptp(program.log_weights)) if len(program.log_weights) else 0.0
        self.t = min(1.0, FIRST_SPREAD / spread) if spread > 0 else 1.0
        self.solve: tuple[Solve, np.ndarray, np.ndarray] | None = None

    def is_precise(self, point: Point, violation: np.ndarray) -> bool:
        """Whether residuals times multipliers, as the rows were posed, are a small gap, or one of rounding."""
        size = np.abs(point.m - self.shift)
        limit = GAP * float(point.y.sum()), SUMMED * float(size @ self.sides)
        return float(size @ violation) <= max(limit)

    def start(self) -> np.ndarray:
        """Multipliers at which the sum of y is what the equations say it is, if they say it."""
        program, m = self.program, np.zeros(len(self.program.right))
        sums = program.of_ones
        mass = float(program.right @ sums)
        if mass > 0 and np.abs(program.normal.rmatvec(sums) - 1).max(initial=0.0) < IS_SUM:
            e = program.exponent(m, self.t)
            top = float(e.max())
            m = sums * (np.log(mass) - top - np.log(np.exp(e - top).sum()))
        return m

    def steps(self) -> Generator[dict[str, float], bool, tuple[Status, Point]]:
        """Give a line of the log before each step, and be sent whether to stop; the status and the last point."""
        point = self.at(self.start())
        while self.t < 1:
            status, point = yield from self.correct(point, last=False)
            if status is not Status.OPTIMAL:
                return status, point
            point = self.predict(point)
        return (yield from self.correct(point, last=True))

    def steps_from(self, m: np.ndarray) -> Generator[dict[str, float], bool, tuple[Status, Point]]:
        """The same from multipliers near those of the solution."""
        self.t = 1.0
        point = self.at(np.where(self.program.is_equation, m, np.minimum(m, 0.0)))
        if not np.isfinite(point.value):
            yield {"residual": np.inf, "gap": 0.0, "dual": np.inf, "dropped": 0, "products": 0}
        return (yield from self.correct(point, last=True))

    def at(self, m: np.ndarray) -> Point:
        """Evaluate the dual function at this temperature."""
        return self.program.at(m, self.t)

    def predict(self, point: Point) -> Point:
        """Move along the tangent to a lower temperature, as far as rows are not violated by more than they hold."""
        tangent, start, growth = self.tangent(point), self.t, GROWTH
        while True:
            self.t = min(1.0, start * growth)
            m = point.m + (self.t - start) * tangent
            trial = self.at(np.where(self.program.is_equation, m, np.minimum(m, 0.0)))
            off = float(self.program.violation(trial).sum())
            if off <= STRAYED * self.total or growth < SLOWEST:
                self.solve = None
                return trial
            growth = growth**0.5

    def tangent(self, point: Point) -> np.ndarray:
        """The derivative of the multipliers with respect to the inverse temperature."""
        if self.solve is None:
            self.factor(point, 0.0)
        assert self.solve is not None
        solve, rows, x = self.solve
        along = np.zeros(len(point.m))
        along[rows] = -solve(self.program.normal.matvec(x * self.program.log_weights)[rows])
        return np.where(self.program.is_equation | (point.m < 0), along, 0.0)

    def correct(self, point: Point, *, last: bool) -> Generator[dict[str, float], bool, tuple[Status, Point]]:
        """Newton's method at one temperature."""
        program, best, stalled = self.program, (np.inf, point), 0
        loose = LOOSE * self.total
        while True:
            violation = program.violation(point)
            residual, gap = float(violation.max(initial=0.0)), program.gap(point)
            error = max(residual, gap)
            is_precise = error <= self.tolerance and self.t == 1 and self.is_precise(point, violation)
            if not np.isfinite(point.value):
                return Status.FAILED, point
            stop = yield {"residual": residual, "gap": gap, "dual": point.value, "dropped": 0, "products": 0}
            stalled = stalled + 1 if error > 0.9 * best[0] else 0
            best = min(best, (error, point), key=lambda pair: pair[0])
            if is_precise:
                return Status.OPTIMAL, point
            if stop:
                return Status.LIMIT, best[1]
            if not last and (error <= self.tolerance or violation.sum() + gap <= loose):
                return Status.OPTIMAL, point
            near = best[0] <= STALLED * self.tolerance
            is_over = stalled >= (PATIENCE if near else LONG_PATIENCE)
            trial = None if is_over else self.step(point, FLOOR * residual * min(residual, 1.0))
            if trial is None:
                return Status.OPTIMAL if near else Status.FAILED, best[1]
            point = trial

    def factor(self, point: Point, floor: float) -> np.ndarray:
        """Factor the system of the rows that are predicted to be active; a step is solved for again without others."""
        program = self.program
        active = program.is_equation | (point.m < 0) | (point.excess > 0)
        x = np.maximum(point.slope, floor)
        rows = np.flatnonzero(active)
        self.solve = program.normal.factor(x, rows, RIDGE), rows, x
        return active

    def step(self, point: Point, floor: float) -> Point | None:
        """A projected Newton step by Armijo's rule; None if no multiple of it decreases the function."""
        program = self.program
        active = self.factor(point, floor)
        for _ in range(REPAIRS):
            assert self.solve is not None
            solve, rows, x = self.solve
            step = np.zeros(len(point.m))
            step[rows] = solve(-point.excess[rows])
            leaving = active & ~program.is_equation & (point.m == 0) & (step > 0)
            if not leaving.any():
                break
            active &= ~leaving
            rows = np.flatnonzero(active)
            self.solve = program.normal.factor(x, rows, RIDGE), rows, x
        else:
            step[leaving] = 0.0
        return self.search(point, step)

    def search(self, point: Point, step: np.ndarray) -> Point | None:
        """Halve a step until the function decreases enough."""
        program, length = self.program, self.reach(point, step)
        shortest = SHORTEST * length
        while length >= shortest:
            m = point.m + length * step
            m[~program.is_equation & (m > 0)] = 0.0
            trial = self.at(m)
            predicted = min(float(point.excess @ (m - point.m)), 0.0)
            if trial.value <= point.value + ARMIJO * predicted + point.rounding:
                return self.lengthened(point, trial, step) if length == 1 else trial
            length /= 2
        return None

    def lengthened(self, point: Point, trial: Point, step: np.ndarray) -> Point:
        """Double a step while the function goes on falling: a Newton step lowers no y by more than a factor e or so."""
        program, length = self.program, 1.0
        slope = min(float(point.excess @ step), 0.0)
        while length < LONGEST:
            moved = np.where(program.is_equation | (trial.m < 0), step, 0.0)
            if not float(trial.excess @ moved) < STEEP * slope:
                break
            m = point.m + 2 * length * step
            m[~program.is_equation & (m > 0)] = 0.0
            further = self.at(m)
            if not further.value < trial.value - trial.rounding:
                break
            trial, length = further, 2 * length
        return trial

    def reach(self, point: Point, step: np.ndarray) -> float:
        """The largest multiple of a step, at most 1, by which no y exceeds what any row can hold."""
        program = self.program
        change = program.normal.rmatvec(step)
        top = np.log(max(self.total, 1.0)) + 2.0
        if not np.isfinite(change).all():
            return 1.0
        e = program.exponent(point.m, self.t)
        limit = np.full(len(e), top)
        if program.log_most is not None:
            limit[np.isfinite(program.log_most)] = np.inf
        room = np.maximum(limit - e, 1.0)
        with np.errstate(invalid="ignore"):
            return float(min(1.0, 1.0 / max(float(np.max(change / room, initial=0.0)), 1.0)))
