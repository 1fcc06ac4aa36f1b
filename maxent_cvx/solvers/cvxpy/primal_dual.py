"""A primal-dual interior-point method for entropies with bounds, inequalities and variables that have no entropy.

    maximise sum y (c - log y) - q' v - v' P v / 2  over  M y + N v = r (equations) or <= r, and l <= y <= u.

The conditions of optimality are solved for y, v, the multipliers l = -m of the rows, the slacks s of the inequalities
and the multipliers of the bounds, by Newton's method along the central path, on which the products of slacks and
multipliers are mu, with Mehrotra's (1992) predictor and corrector. The logarithm is expanded to the second order. As
the entropy and the barrier of y > 0 are together self-concordant (Nesterov and Nemirovski, 1994, section 5.1), some
twenty steps are taken from any start, however large the costs. At the end, y is computed from the multipliers, as
exp(c - 1 + M' m) between the bounds. The linear system of a step is

    D dy + M' dl = a,   P dv + N' dl = b,   M dy + N dv - W dl = e,

with diagonal D and W. Without v, dy is eliminated, and the structure of M is used (:mod:`.normal_matrix`); else the
sparse system is factored as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import qdldl
import scipy.sparse as sp

from ..answer import Status
from ..linear_algebra.sparse_system import ldl_factor
from ..monitoring.monitor import Monitor
from .newton import LEAST_SQUARES_RIDGE, SeparableProgram
from .normal_matrix import Solve

__all__ = ["MixedAnswer", "MixedProgram", "solve_mixed", "step_system"]

# An average term is 1.

#: Share of the way to the boundary that a step goes.
LONGEST = 0.995
#: Nats: the largest second-order term of a logarithm that is taken for true.
LARGEST_CORRECTION = 2.0
#: Iterations without improvement after which the method ends.
PATIENCE = 12
#: Regularization of the linear systems where variables have no entropy, which refinement takes away again. Their own
#: curvature, multipliers of inequalities by slacks, is down to 1e-9; less ridge is too little at prices of 1e5.
RIDGE = 1e-9
#: Rounds of iterative refinement of these.
REFINEMENTS = 8
#: Relative residual at which they end.
REFINED = 1e-14
#: Relative: terms of the point and terms that multipliers say are taken for each other if no further apart.
SAME = 1e-6
#: Multiple of the tolerance at which an answer is taken that rounding does not let improve.
STALLED = 1e2
#: Relative to the largest right-hand side: the smallest violation that is asked for.
SMALLEST_VIOLATION = 1e-13
#: Nats a term: the largest gap by residuals of rows, times their multipliers, at which to stop.
GAP = 1e-10


@dataclass(frozen=True, eq=False)
class MixedProgram:
    """A separable program and variables v beside its terms.

    Attributes
    ----------
    terms : SeparableProgram
        M, r, c and the bounds.
    others : csr_array, shape (rows, variables)
        N.
    cost : ndarray, one a variable
        q.
    curvature : csc_array, shape (variables, variables)
        P, symmetric and positive semidefinite.
    """

    terms: SeparableProgram
    others: sp.csr_array
    cost: np.ndarray
    curvature: sp.csc_array

    def centred(self) -> tuple[MixedProgram, np.ndarray]:
        """The same problem with c - M' a and q + N' a, as near to 0 as equations can make them, and a.

        Multipliers are m - a: as M y + N v = r, the objective differs by the constant a' r.
        """
        if not len(self.cost):
            terms, a = self.terms.centred()
            return replace(self, terms=terms), a
        terms, a = self.terms, np.zeros(len(self.terms.right))
        at = terms.equations
        rows = sp.csr_array(sp.hstack([terms.matrix[at], self.others[at]]))
        values = np.concatenate([terms.log_weights, -self.cost])
        if len(at):
            factor = ldl_factor(sp.csc_array(rows @ rows.T), LEAST_SQUARES_RIDGE)
            for _ in range(2):  # the second time for the rounding error of the first, which large constants enlarge
                a[at] += factor.solve(rows @ (values - rows.T @ a[at]))
        smaller = replace(terms, log_weights=terms.log_weights - terms.matrix.T @ a)
        return replace(self, terms=smaller, cost=self.cost + self.others.T @ a), a


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
        self.tolerance = max(tolerance, SMALLEST_VIOLATION * largest)
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
        above = np.maximum(pull[self.bounded], 0.0) + 1 / high
        return _State(y, np.zeros(len(self.program.cost)), rows, slack, below, low, above, high)

    def balancing(self) -> np.ndarray:
        """Multipliers of inequalities that make up for costs of variables without entropy, by least squares."""
        if not len(self.program.cost):
            return np.ones(len(self.loose))
        others = sp.csr_array(self.program.others[self.loose])
        factor = ldl_factor(sp.csc_array(others.T @ others), LEAST_SQUARES_RIDGE)
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
            waited = 0 if error < least else waited + 1
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
            trial = None if waited > PATIENCE else self.step(state, residuals, mu)
            if trial is None:
                is_near = least <= STALLED * self.tolerance
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
        size, limit = np.abs(m), GAP * float(point.y.sum())
        lacking = float(size @ self.lacking(point.excess, state))
        if lacking <= limit:
            return point.y
        is_near = (point.slope > 0) & (np.abs(state.y / point.y - 1) <= SAME)
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
        return is_small and float(np.abs(m) @ violation) <= GAP * float(y.sum())

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
        curved = np.minimum((affine.y / state.y) ** 2 / 2, LARGEST_CORRECTION)
        combined = self.direction(state, (residuals[0] + primal * curved, *residuals[1:]), products)
        primal, dual = (min(1.0, LONGEST * length) for length in self.lengths(state, combined))
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


#: dy, dv and dl.
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def step_system(program: MixedProgram) -> _OfRows | _OfAll:
    """Choose a way by whether there are variables without entropy."""
    return _OfAll(program) if program.others.shape[1] else _OfRows(program)


class _OfRows:
    def __init__(self, program: MixedProgram) -> None:
        self.normal = program.terms.normal
        self.rows = np.arange(len(program.terms.right))
        self.x = np.empty(0)
        self.factored: Solve | None = None

    def update(self, d: np.ndarray, w: np.ndarray) -> None:
        self.x = 1 / d
        self.factored = self.normal.factor(self.x, self.rows, LEAST_SQUARES_RIDGE, w)

    def solve(self, a: np.ndarray, b: np.ndarray, e: np.ndarray) -> Parts:
        assert self.factored is not None
        rows = self.factored(self.normal.matvec(self.x * a) - e)
        return self.x * (a - self.normal.rmatvec(rows)), b, rows


class _OfAll:
    """[D + P, B'; B, -W] of all variables, B = (M, N): factored with a ridge, which refinement takes away again."""

    def __init__(self, program: MixedProgram) -> None:
        n_terms, n_rows = program.terms.matrix.shape[1], len(program.terms.right)
        self.n_terms, self.n = n_terms, n_terms + program.others.shape[1]
        P = sp.block_diag([sp.csc_array((n_terms, n_terms)), program.curvature])
        B = sp.hstack([program.terms.matrix, program.others])
        self.constant = sp.csr_array(sp.block_array([[P, B.T], [B, None]]))
        self.sign = np.repeat([1.0, -1.0], [self.n, n_rows])
        # The diagonal is stored, last in its column of the upper triangle, also where it is 0.
        self.upper = sp.csc_matrix(sp.triu(self.constant + sp.eye_array(len(self.sign)), format="csc"))
        self.upper.sort_indices()
        self.at = self.upper.indptr[1:] - 1
        self.diagonal = np.zeros(len(self.sign))
        self.factor: qdldl.Solver | None = None

    def update(self, d: np.ndarray, w: np.ndarray) -> None:
        self.diagonal = np.concatenate([d, np.zeros(self.n - self.n_terms), -w])
        self.upper.data[self.at] = self.constant.diagonal() + self.diagonal + RIDGE * self.sign
        if self.factor is None:
            self.factor = qdldl.Solver(self.upper, upper=True)
        else:
            self.factor.update(self.upper, upper=True)

    def solve(self, a: np.ndarray, b: np.ndarray, e: np.ndarray) -> Parts:
        assert self.factor is not None
        right = np.concatenate([a, b, e])
        found, missing, best = np.zeros(len(right)), right, np.inf
        enough = REFINED * (1 + np.abs(right).max(initial=0.0))
        for _ in range(REFINEMENTS):
            trial = found + self.factor.solve(missing)
            rest = right - self.constant @ trial - self.diagonal * trial
            off = float(np.abs(rest).max(initial=0.0))
            if not off < best:
                break
            found, missing, best = trial, rest, off
            if best <= enough:
                break
        return found[: self.n_terms], found[self.n_terms : self.n], found[self.n :]
