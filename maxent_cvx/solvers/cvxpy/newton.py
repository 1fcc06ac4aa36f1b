"""Newton's method on the dual of a separable program, along a path of falling temperatures.

Where costs are large against the entropy, a Newton step from far away is far too long or far too short. The path begins
where the (centred) costs are small. From one inverse temperature t to the next, the multipliers move along the tangent
of their path, d m / d t = -(M X M')^-1 M X c, which needs no further factor.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from ..answer import Status
from ..monitoring.monitor import Monitor
from ..parameters.dual_methods import SEPARABLE_NEWTON
from .normal_matrix import Solve
from .separable_program import Point, SeparableProgram

__all__ = ["SeparableAnswer", "solve_separable"]


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
        self.tolerance = max(tolerance, SEPARABLE_NEWTON.rounding * float(sides[program.is_equation].max(initial=0.0)))
        self.total = float(sides.sum()) or 1.0
        spread = float(np.ptp(program.log_weights)) if len(program.log_weights) else 0.0
        self.t = min(1.0, SEPARABLE_NEWTON.first_spread / spread) if spread > 0 else 1.0
        self.solve: tuple[Solve, np.ndarray, np.ndarray] | None = None

    def is_precise(self, point: Point, violation: np.ndarray) -> bool:
        """Whether residuals times multipliers, as the rows were posed, are a small gap, or one of rounding."""
        size = np.abs(point.m - self.shift)
        limit = SEPARABLE_NEWTON.gap * float(point.y.sum()), SEPARABLE_NEWTON.summed * float(size @ self.sides)
        return float(size @ violation) <= max(limit)

    def start(self) -> np.ndarray:
        """Multipliers at which the sum of y is what the equations say it is, if they say it."""
        program, m = self.program, np.zeros(len(self.program.right))
        sums = program.of_ones
        mass = float(program.right @ sums)
        if mass > 0 and np.abs(program.normal.rmatvec(sums) - 1).max(initial=0.0) < SEPARABLE_NEWTON.is_sum:
            e = program.exponent(m, self.t)
            top = float(e.max())
            m = sums * (np.log(mass) - top - np.log(np.exp(e - top).sum()))
        return m

    def steps(self) -> Generator[dict[str, float], bool, tuple[Status, Point]]:
        """Give a line of the log before each step, and be sent whether to stop; the status and the last point."""
        growth = SEPARABLE_NEWTON.growth
        point = self.at(self.start())
        while self.t < 1:
            taken, status, point = yield from self.correct(point, last=False)
            if status is not Status.OPTIMAL:
                return status, point
            growth = float(
                np.clip(
                    growth * (SEPARABLE_NEWTON.steps_aimed_at / max(taken, 1)) ** 0.5, 1.3, SEPARABLE_NEWTON.fastest
                )
            )
            point, growth = self.predict(point, growth)
        _, status, point = yield from self.correct(point, last=True)
        return status, point

    def steps_from(self, m: np.ndarray) -> Generator[dict[str, float], bool, tuple[Status, Point]]:
        """The same from multipliers near those of the solution."""
        self.t = 1.0
        point = self.at(np.where(self.program.is_equation, m, np.minimum(m, 0.0)))
        if not np.isfinite(point.value):
            yield {"residual": np.inf, "gap": 0.0, "dual": np.inf, "dropped": 0, "products": 0}
        _, status, point = yield from self.correct(point, last=True)
        return status, point

    def at(self, m: np.ndarray) -> Point:
        """Evaluate the dual function at this temperature."""
        return self.program.at(m, self.t)

    def predict(self, point: Point, growth: float) -> tuple[Point, float]:
        """Move along the tangent to a lower temperature, as far as rows are not violated by more than they hold."""
        tangent, start = self.tangent(point), self.t
        while True:
            self.t = min(1.0, start * growth)
            m = point.m + (self.t - start) * tangent
            trial = self.at(np.where(self.program.is_equation, m, np.minimum(m, 0.0)))
            off = float(self.program.violation(trial).sum())
            if off <= SEPARABLE_NEWTON.strayed * self.total or growth < SEPARABLE_NEWTON.slowest:
                self.solve = None
                return trial, growth
            growth = growth**0.5

    def tangent(self, point: Point) -> np.ndarray:
        """The derivative of the multipliers with respect to the inverse temperature."""
        if self.solve is None:
            self.factor(point, 0.0, SEPARABLE_NEWTON.ridges[0])
        assert self.solve is not None
        solve, rows, x = self.solve
        along = np.zeros(len(point.m))
        along[rows] = -solve(self.program.normal.matvec(x * self.program.log_weights)[rows])
        return np.where(self.program.is_equation | (point.m < 0), along, 0.0)

    def correct(self, point: Point, *, last: bool) -> Generator[dict[str, float], bool, tuple[int, Status, Point]]:
        """Newton's method at one temperature."""
        program, best, stalled, taken = self.program, (np.inf, point), 0.0, 0
        lowest = np.inf
        loose = SEPARABLE_NEWTON.loose * self.total
        while True:
            violation = program.violation(point)
            residual, gap = float(violation.max(initial=0.0)), program.gap(point)
            error = max(residual, gap)
            is_precise = error <= self.tolerance and self.t == 1 and self.is_precise(point, violation)
            if not np.isfinite(point.value):
                return taken, Status.FAILED, point
            stop = yield {"residual": residual, "gap": gap, "dual": point.value, "dropped": 0, "products": 0}
            falls = point.value < lowest - SEPARABLE_NEWTON.falls * (1 + abs(lowest))
            waited = SEPARABLE_NEWTON.falling if falls else 1.0
            stalled = stalled + waited if error > 0.9 * best[0] else 0.0
            lowest = min(lowest, point.value)
            best = min(best, (error, point), key=lambda pair: pair[0])
            if is_precise:
                return taken, Status.OPTIMAL, point
            if stop:
                return taken, Status.LIMIT, best[1]
            if not last and (error <= self.tolerance or violation.sum() + gap <= loose):
                return taken, Status.OPTIMAL, point
            near = best[0] <= SEPARABLE_NEWTON.stalled * self.tolerance
            if stalled >= (SEPARABLE_NEWTON.patience if near else SEPARABLE_NEWTON.long_patience):
                return taken, Status.OPTIMAL if near else Status.FAILED, best[1]
            for ridge, floor in zip(SEPARABLE_NEWTON.ridges, SEPARABLE_NEWTON.floors, strict=True):
                trial = self.step(point, floor * residual * min(residual, 1.0), ridge)
                if trial is not None:
                    break
            else:
                return taken, Status.OPTIMAL if near else Status.FAILED, best[1]
            point, taken = trial, taken + 1

    def factor(self, point: Point, floor: float, ridge: float) -> np.ndarray:
        """Factor the system of the rows that are predicted to be active; a step is solved for again without others."""
        program = self.program
        active = program.is_equation | (point.m < 0) | (point.excess > 0)
        x = np.maximum(point.slope, floor)
        rows = np.flatnonzero(active)
        self.solve = program.normal.factor(x, rows, ridge), rows, x
        return active

    def step(self, point: Point, floor: float, ridge: float) -> Point | None:
        """A projected Newton step by Armijo's rule; None if no multiple of it decreases the function."""
        program = self.program
        active = self.factor(point, floor, ridge)
        for _ in range(SEPARABLE_NEWTON.repairs):
            assert self.solve is not None
            solve, rows, x = self.solve
            step = np.zeros(len(point.m))
            step[rows] = solve(-point.excess[rows])
            leaving = active & ~program.is_equation & (point.m == 0) & (step > 0)
            if not leaving.any():
                break
            active &= ~leaving
            rows = np.flatnonzero(active)
            self.solve = program.normal.factor(x, rows, ridge), rows, x
        else:
            step[leaving] = 0.0
        return self.search(point, step)

    def search(self, point: Point, step: np.ndarray) -> Point | None:
        """Halve a step until the function decreases enough."""
        program, length = self.program, self.reach(point, step)
        shortest = SEPARABLE_NEWTON.shortest * length
        while length >= shortest:
            m = point.m + length * step
            m[~program.is_equation & (m > 0)] = 0.0
            trial = self.at(m)
            predicted = min(float(point.excess @ (m - point.m)), 0.0)
            if trial.value <= point.value + SEPARABLE_NEWTON.armijo * predicted + point.rounding:
                return self.lengthened(point, trial, step) if length == 1 else trial
            length /= 2
        return None

    def lengthened(self, point: Point, trial: Point, step: np.ndarray) -> Point:
        """Double a step while the function goes on falling: a Newton step lowers no y by more than a factor e or so."""
        program, length = self.program, 1.0
        slope = min(float(point.excess @ step), 0.0)
        while length < SEPARABLE_NEWTON.longest:
            moved = np.where(program.is_equation | (trial.m < 0), step, 0.0)
            if not float(trial.excess @ moved) < SEPARABLE_NEWTON.steep * slope:
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
