"""A primal-dual interior-point method for entropies with bounds, inequalities and variables that have no entropy.

The conditions of optimality of a :class:`.MixedProgram` are solved for y, v, the multipliers l = -m of the rows, the
slacks s of the inequalities and the multipliers of the bounds, by Newton's method along the central path, on which the
products of slacks and multipliers are mu, with Mehrotra's (1992) predictor and corrector. The logarithm is expanded to
the second order. As the entropy and the barrier of y > 0 are together self-concordant (Nesterov and Nemirovski, 1994,
section 5.1), some twenty steps are taken from any start, however large the costs. At the end, y is computed from the
multipliers, as exp(c - 1 + M' m) between the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..answer import Status
from ..linear_algebra.sparse_system import ldl_factor
from ..monitoring.monitor import Monitor
from ..parameters.dual_methods import PRIMAL_DUAL
from ..parameters.tolerances import SEPARABLE
from .mixed_program import MixedProgram
from .step_system import step_system

__all__ = ["MixedAnswer", "solve_mixed"]


class MixedAnswer(NamedTuple):
    """How the method ended, the terms y, the other variables v, the multipliers of the rows, and the iterations."""

    status: Status
    y: np.ndarray
    others: np.ndarray
    multipliers: np.ndarray
    iterations: int


@dataclass
class _State:
    """A point, or a direction.

    y, v, the multipliers and slacks of rows, and those of lower and of upper bounds; slacks of bounds are kept, too, as
    differences of y and a bound lose all their digits.
    """

    y: np.ndarray
    v: np.ndarray
    rows: np.ndarray
    slack: np.ndarray
    below: np.ndarray
    low: np.ndarray
    above: np.ndarray
    high: np.ndarray

    def moved(self, step: _State, primal: float, dual: float) -> _State:
        return _State(
            self.y + primal * step.y, self.v + primal * step.v, self.rows + dual * step.rows,
            self.slack + primal * step.slack, self.below + dual * step.below, self.low + primal * step.low,
            self.above + dual * step.above, self.high + primal * step.high,
        )  # fmt: skip


def solve_mixed(
    program: MixedProgram, *, tolerance: float = 1e-9, max_iterations: int = 200, monitor: Monitor | None = None
) -> MixedAnswer:
    """Maximise entropies less costs over rows and bounds.

    Parameters
    ----------
    program : MixedProgram
        In units in which an average y is about 1, each row divided by its largest coefficient.
    tolerance : float
        Largest violation of a row, of a condition of optimality, and of a term by the barriers, at which to stop.
    max_iterations : int
    monitor : Monitor, optional
        Is told every iteration, and may stop the method.
    """
    monitor = monitor or Monitor()
    scaled, per = _scaled(program)
    scaled, shift = scaled.centred()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        method = _Method(scaled, tolerance)
        status, state, iterations = method.run(max_iterations, monitor)
        m = method.multipliers(state)
        y = method.terms_at(state, m)
    return MixedAnswer(status, y, per * state.v, m - shift, iterations)


def _scaled(program: MixedProgram) -> tuple[MixedProgram, np.ndarray]:
    """Other variables in units in which their largest coefficients are 1, and these units."""
    size = abs(program.others).max(axis=0).toarray().ravel() if program.others.shape[1] else np.empty(0)
    per = np.where(size > 0, 1 / np.where(size > 0, size, 1.0), 1.0)
    by = sp.diags_array(per)
    others, curvature = sp.csr_array(program.others @ by), sp.csc_array(by @ program.curvature @ by)
    return MixedProgram(program.terms, others, per * program.cost, curvature), per


class _Method:
    """The iterations."""

    def __init__(self, program: MixedProgram, tolerance: float) -> None:
        self.program, self.terms = program, program.terms
        terms = program.terms
        largest = float(np.abs(terms.right[terms.is_equation]).max(initial=0.0))
        self.tolerance = max(tolerance, PRIMAL_DUAL.rounding * largest)
        n_terms = len(terms.log_weights)
        self.least = np.zeros(n_terms) if terms.least is None else terms.least
        self.bounded = np.empty(0, dtype=int) if terms.most is None else np.flatnonzero(np.isfinite(terms.most))
        self.most = np.empty(0) if terms.most is None else terms.most[self.bounded]
        self.loose = np.flatnonzero(~terms.is_equation)
        self.degree = n_terms + len(self.bounded) + len(self.loose)
        self.others_t = sp.csr_array(program.others.T)
        self.system = step_system(program)

    def start(self) -> _State:
        """Terms are 1 or well between their bounds, and multipliers of bounds make up for costs."""
        y = np.maximum(1.0, 2 * self.least)
        y[self.bounded] = np.minimum(y[self.bounded], (self.least[self.bounded] + self.most) / 2)
        slack = np.maximum(self.terms.right - self.terms.normal.matvec(y), 1.0)[self.loose]
        rows = np.zeros(len(self.terms.right))
        rows[self.loose] = np.maximum(self.balancing(), 1.0)
        pull = self.terms.exponent(-rows) - np.log(y)
        below, low, high = np.maximum(-pull, 0.0) + 1.0, y - self.least, self.most - y[self.bounded]
        above = np.where(high <= PRIMAL_DUAL.far, np.maximum(pull[self.bounded], 0.0), 0.0) + 1 / high
        return _State(y, np.zeros(len(self.program.cost)), rows, slack, below, low, above, high)

    def balancing(self) -> np.ndarray:
        """Multipliers of inequalities that make up for costs of variables without entropy, by least squares."""
        if not len(self.program.cost):
            return np.ones(len(self.loose))
        others = sp.csr_array(self.program.others[self.loose])
        factor = ldl_factor(sp.csc_array(others.T @ others), SEPARABLE.ridge)
        return -(others @ factor.solve(self.program.cost))

    def run(self, max_iterations: int, monitor: Monitor) -> tuple[Status, _State, int]:
        """Iterate; the status, the best point, and the iterations."""
        state = self.start()
        best, least, waited, is_last = state, np.inf, 0, False
        for iteration in range(max_iterations + 1):
            residuals, mu = self.residuals(state), self.mu(state)
            lacking = np.abs(residuals[2])
            lacking[self.loose] /= 1 + state.slack  # of which the rounding error is no violation
            violation = float(lacking.max(initial=0.0))
            balance = max(float((state.y * np.abs(residuals[0])).max()), float(np.abs(residuals[1]).max(initial=0.0)))
            gap = mu * self.degree / len(state.y)
            error = max(violation, balance, gap)
            waited = 0 if error < PRIMAL_DUAL.improves * least else waited + 1
            if error < least:
                best, least = state, error
            line = {"residual": max(violation, balance), "gap": gap, "dual": 0.0, "dropped": 0, "products": 0}
            stop = monitor.tell({"iteration": iteration, "parts": 1, **line, "seconds": monitor.seconds})
            if error <= self.tolerance and self.is_precise(state):
                if is_last or iteration == max_iterations:
                    return Status.OPTIMAL, state, iteration
                is_last = True  # one more step, as large constants in costs will multiply what rows lack
            elif is_last:
                return Status.OPTIMAL, best, iteration
            if stop or iteration == max_iterations:
                return Status.LIMIT, best, iteration
            trial = None if waited > PRIMAL_DUAL.patience else self.step(state, residuals, mu)
            if trial is None:
                is_near = least <= PRIMAL_DUAL.stalled * self.tolerance
                return Status.OPTIMAL if is_near else Status.FAILED, best, iteration
            state = trial
        raise AssertionError

    def multipliers(self, state: _State) -> np.ndarray:
        """m, which the terms are computed from."""
        return np.where(self.terms.is_equation, -state.rows, np.minimum(-state.rows, 0.0))

    def terms_at(self, state: _State, m: np.ndarray) -> np.ndarray:
        """The terms that multipliers say; those of the point, if near, where rows lack too much at the former.

        What is left of multipliers of 1e5 that cancel each other has lost digits, and the point satisfies the rows all
        the same. A difference of logarithms costs half of its square.
        """
        point = self.terms.at(m)
        size, limit = np.abs(m), PRIMAL_DUAL.gap * float(point.y.sum())
        lacking = float(size @ self.lacking(point.excess, state))
        if lacking <= limit:
            return point.y
        is_near = (point.slope > 0) & (np.abs(state.y / point.y - 1) <= PRIMAL_DUAL.same)
        mixed = np.where(is_near, state.y, point.y)
        excess = self.terms.normal.matvec(mixed) - self.terms.right
        return mixed if float(size @ self.lacking(excess, state)) < lacking else point.y

    def lacking(self, excess: np.ndarray, state: _State) -> np.ndarray:
        """By how much rows are violated."""
        excess = excess + self.program.others @ state.v
        return np.where(self.terms.is_equation, np.abs(excess), np.maximum(excess, 0.0))

    def is_precise(self, state: _State) -> bool:
        """Whether rows hold at the terms that are returned; what they lack, times multipliers, is a gap."""
        m = self.multipliers(state)
        y = self.terms_at(state, m)
        violation = self.lacking(self.terms.normal.matvec(y) - self.terms.right, state)
        is_small = float(violation.max(initial=0.0)) <= self.tolerance
        return is_small and float(np.abs(m) @ violation) <= PRIMAL_DUAL.gap * float(y.sum())

    def mu(self, state: _State) -> float:
        """The mean product of slacks and multipliers."""
        total = float(state.below @ state.low) + float(state.slack @ state.rows[self.loose])
        return (total + float(state.above @ state.high)) / self.degree

    def residuals(self, state: _State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is missing in the conditions of optimality for y and for v, and in the rows."""
        terms, program = self.terms, self.program
        first = terms.exponent(-state.rows) - np.log(state.y) + state.below
        first[self.bounded] -= state.above
        second = -(program.cost + program.curvature @ state.v + self.others_t @ state.rows)
        third = terms.right - terms.normal.matvec(state.y) - program.others @ state.v
        third[self.loose] -= state.slack
        return first, second, third

    def step(self, state: _State, residuals: tuple[np.ndarray, ...], mu: float) -> _State | None:
        """One predictor and corrector step; None if there is none."""
        d, w = 1 / state.y + state.below / state.low, np.zeros(len(state.rows))
        d[self.bounded] += state.above / state.high
        w[self.loose] = state.slack / state.rows[self.loose]
        try:
            self.system.update(d, w)
        except (ValueError, RuntimeError, np.linalg.LinAlgError):
            return None
        zeros = np.zeros(len(state.low)), np.zeros(len(state.high)), np.zeros(len(self.loose))
        affine = self.direction(state, residuals, zeros)
        primal, dual = self.lengths(state, affine)
        centring = mu * min(self.mu(state.moved(affine, primal, dual)) / mu, 1.0) ** 3
        products = (
            centring - affine.below * affine.low,
            centring - affine.above * affine.high,
            centring - affine.slack * affine.rows[self.loose],
        )
        curved = np.minimum((affine.y / state.y) ** 2 / 2, PRIMAL_DUAL.largest_correction)
        combined = self.direction(state, (residuals[0] + primal * curved, *residuals[1:]), products)
        primal, dual = (min(1.0, PRIMAL_DUAL.longest * length) for length in self.lengths(state, combined))
        moved = state.moved(combined, primal, dual)
        return moved if np.isfinite(moved.y).all() and np.isfinite(moved.rows).all() else None

    def direction(self, state: _State, residuals: tuple[np.ndarray, ...], products: tuple[np.ndarray, ...]) -> _State:
        """Solve the linearised conditions, in which products of slacks and multipliers become those given."""
        low, high, rows = state.low, state.high, state.rows[self.loose]
        lower, upper, loose = products[0] / low - state.below, products[1] / high - state.above, products[2] / rows
        a, e = residuals[0] + lower, residuals[2].copy()
        a[self.bounded] -= upper
        e[self.loose] -= loose - state.slack
        y, v, multipliers = self.system.solve(a, residuals[1], e)
        return _State(
            y, v, multipliers, loose - state.slack - state.slack / rows * multipliers[self.loose],
            lower - state.below / low * y, y, upper + state.above / high * y[self.bounded], -y[self.bounded],
        )  # fmt: skip

    def lengths(self, state: _State, step: _State) -> tuple[float, float]:
        """The largest multiples of a step, at most 1, with which slacks, and multipliers, remain positive."""
        primal = (state.low, step.low), (state.high, step.high), (state.slack, step.slack)
        rows = state.rows[self.loose], step.rows[self.loose]
        dual = (state.below, step.below), (state.above, step.above), rows
        return min(_room(*pair) for pair in primal), min(_room(*pair) for pair in dual)


def _room(value: np.ndarray, change: np.ndarray) -> float:
    """The largest multiple of a change, at most 1, that keeps values at 0 or above."""
    return float(1 / max(1.0, float((-change / value).max(initial=0.0))))
