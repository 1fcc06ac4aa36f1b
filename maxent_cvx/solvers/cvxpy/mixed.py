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

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import qdldl
import scipy.sparse as sp

from ..answer import Status
from ..blocks import regularized_cholesky
from ..monitor import Monitor
from ..schur import ldl_factor
from ..sparse import entry_rows

__all__ = [
    "Dense",
    "MixedAnswer",
    "MixedProgram",
    "SeparableAnswer",
    "SeparableProgram",
    "Sparse",
    "normal_matrix",
    "solve_mixed",
    "solve_separable",
    "step_system",
]

# Solve M diag(x) M' d = g for the rows of a separable program, by the structure of M.
#
# Few dense rows, such as moments over many outcomes, are one dense matrix. Where equations share no term, as the sums
# of the rows of a table, their part of the matrix is diagonal and is eliminated: of two margins of n categories there
# is left a Schur complement of n rows. All else is a sparse product, and a dense or a sparse factor of it.


#: Share of the entries that are not 0 from which on rows are one dense matrix.
DENSE_SHARE = 0.3
#: Entries of a dense matrix, at most: 400 MB.
MOST_DENSE = 5e7
#: Columns that are multiplied at a time, so that a batch of some ten rows stays in the processor's cache.
BATCH = 8_192
#: Share of rows without common terms from which on these are eliminated.
LEAST_APART = 0.25
#: Rows that are left, up to which they are factored as a dense matrix.
MOST_REST = 3_000
#: Rounds in which rows without common terms are chosen.
ROUNDS = 8

#: Solves for right-hand sides of the chosen rows.
Solve = Callable[[np.ndarray], np.ndarray]


def normal_matrix(matrix: sp.csr_array, is_equation: np.ndarray) -> Dense | Sparse:
    """Choose a way by the structure of a matrix.

    Parameters
    ----------
    matrix : csr_array, shape (rows, terms)
    is_equation : ndarray of bool, one a row
        Only equations are eliminated, as they are always active.
    """
    n_rows, n_terms = matrix.shape
    if matrix.nnz >= DENSE_SHARE * n_rows * n_terms and n_rows * n_terms <= MOST_DENSE:
        return Dense(matrix)
    apart = disjoint_rows(matrix, is_equation)
    n_rest = n_rows - len(apart)
    if len(apart) >= LEAST_APART * n_rows and n_rest <= MOST_REST and n_rest * len(apart) <= MOST_DENSE:
        return Arrow(matrix, apart)
    return Sparse(matrix)


def disjoint_rows(matrix: sp.csr_array, allowed: np.ndarray) -> np.ndarray:
    """Choose rows of which no two share a term, short ones first, in a few rounds.

    In each round a row is chosen if, of the rows that are left, it comes first at all of its terms.
    """
    n_rows, n_terms = matrix.shape
    length = np.diff(matrix.indptr)
    rank = np.empty(n_rows, dtype=np.int64)
    rank[np.lexsort((np.arange(n_rows), length))] = np.arange(n_rows)
    row, term = entry_rows(matrix), matrix.indices
    left, chosen = allowed & (length > 0), np.zeros(n_rows, dtype=bool)
    for _ in range(ROUNDS):
        entries = left[row]
        if not entries.any():
            break
        first = np.full(n_terms, n_rows)
        np.minimum.at(first, term[entries], rank[row[entries]])
        beaten = np.bincount(row[entries], rank[row[entries]] > first[term[entries]], n_rows) > 0
        new = left & ~beaten
        chosen |= new
        claimed = np.zeros(n_terms, dtype=bool)
        claimed[term[new[row]]] = True
        left &= ~new & (np.bincount(row, claimed[term], n_rows) == 0)
    return np.flatnonzero(chosen)


class Dense:
    """M as one dense matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix = matrix.toarray()

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute M x."""
        return self.matrix @ x

    def rmatvec(self, m: np.ndarray) -> np.ndarray:
        """Compute M' m."""
        return m @ self.matrix

    def factor(self, x: np.ndarray, rows: np.ndarray, ridge: float, added: np.ndarray | None = None) -> Solve:
        """Factor M diag(x) M' of some rows, its diagonal raised by a relative ridge."""
        some = self.matrix if len(rows) == len(self.matrix) else self.matrix[rows]
        hessian = np.zeros((len(rows), len(rows)))
        for begin in range(0, len(x), BATCH):  # batches that the processor's cache holds
            batch = some[:, begin : begin + BATCH]
            hessian += (batch * x[begin : begin + BATCH]) @ batch.T
        raised = ridge * hessian.diagonal() + (0.0 if added is None else added[rows])
        return regularized_cholesky(hessian, raised, is_inverted=False)


class Sparse:
    """M as a sparse matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix, self.by_term = matrix, sp.csr_array(matrix.T)

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute M x."""
        return self.matrix @ x

    def rmatvec(self, m: np.ndarray) -> np.ndarray:
        """Compute M' m."""
        return self.by_term @ m

    def factor(self, x: np.ndarray, rows: np.ndarray, ridge: float, added: np.ndarray | None = None) -> Solve:
        """Factor M diag(x) M' of some rows, its diagonal raised by a relative ridge."""
        some = self.matrix if len(rows) == self.matrix.shape[0] else self.matrix[rows]
        hessian = sp.csr_array(some @ sp.diags_array(x) @ some.T)
        if added is not None:
            hessian = sp.csr_array(hessian + sp.diags_array(added[rows]))
        if len(rows) <= MOST_REST:
            dense = hessian.toarray()
            return regularized_cholesky(dense, ridge * dense.diagonal(), is_inverted=False)
        return ldl_factor(sp.csc_array(hessian), ridge).solve


class Arrow(Sparse):
    """Rows that share no term are eliminated as a diagonal."""

    def __init__(self, matrix: sp.csr_array, apart: np.ndarray) -> None:
        super().__init__(matrix)
        n_rows, n_terms = matrix.shape
        self.apart, self.rest = apart, np.setdiff1d(np.arange(n_rows), apart)
        self.place = np.full(n_rows, -1)
        self.place[apart] = np.arange(len(apart))
        own = matrix[apart]
        self.owner, coefficient = np.full(n_terms, -1), np.zeros(n_terms)
        self.owner[own.indices], coefficient[own.indices] = entry_rows(own), own.data
        self.square = coefficient**2
        self.others = matrix[self.rest]
        row = entry_rows(self.others)
        shared = self.owner[self.others.indices] >= 0
        self.term = self.others.indices[shared]
        self.cell = row[shared] * len(apart) + self.owner[self.term]
        self.product = self.others.data[shared] * coefficient[self.term]
        self.are_apart_too = n_terms == 0 or np.bincount(self.others.indices, minlength=n_terms).max(initial=0) <= 1
        self.owned = np.flatnonzero(self.owner >= 0)

    def factor(self, x: np.ndarray, rows: np.ndarray, ridge: float, added: np.ndarray | None = None) -> Solve:
        """Factor M diag(x) M' of some rows, which include those that are apart."""
        n_apart, n_rest = len(self.apart), len(self.rest)
        diagonal = (1 + ridge) * np.bincount(self.owner[self.owned], (self.square * x)[self.owned], n_apart)
        diagonal = np.maximum(diagonal, np.finfo(float).tiny)
        between = np.bincount(self.cell, self.product * x[self.term], n_rest * n_apart).reshape(n_rest, n_apart)
        is_apart = self.place[rows] >= 0
        some = np.searchsorted(self.rest, rows[~is_apart])
        between = between if len(some) == n_rest else between[some]
        others = self.others if len(some) == n_rest else self.others[some]
        if self.are_apart_too:
            own = np.diag(sp.csr_array((others.data**2, others.indices, others.indptr), others.shape) @ x)
        else:
            own = (others @ sp.diags_array(x) @ others.T).toarray()
        raised = ridge * own.diagonal() + (0.0 if added is None else added[self.rest[some]])
        own -= (between / diagonal) @ between.T
        solve = regularized_cholesky(own, raised, is_inverted=False)

        def solution(right: np.ndarray) -> np.ndarray:
            found, first = np.empty(len(rows)), right[is_apart]
            last = solve(right[~is_apart] - between @ (first / diagonal)) if len(some) else right[~is_apart]
            found[is_apart], found[~is_apart] = (first - last @ between) / diagonal, last
            return found

        return solution


# Newton's method on the dual of a sum of entropies over rows and bounds, in the logarithmic domain.
#
# With t the inverse temperature, 1 in the problem that is posed, the problem is
#
#     maximise sum y (t c - log y)  over  M y = r (equations) or <= r, and l <= y <= u.
#
# The Lagrangian is maximised by y = exp(e) with e = t c - 1 + M' m, clipped to the bounds; m has one number a row,
# which is at most 0 for an inequality. So a bound costs nothing: it is no row, and its multiplier is e - log y. The
# dual problem is to minimise
#
#     g(m) = sum y (e + 1 - log y) - r' m.
#
# What is added to c by a combination M' a of the equations moves m by -a, and changes no y. `centred` takes that away,
# so that constants in costs, however large, meet no exponential function.
#
# Where costs are large against the entropy, a Newton step from far away is far too long or far too short. The method
# therefore follows a path of falling temperatures, which begins where the (centred) costs are small. From one inverse
# temperature t to the next, the multipliers move along the tangent of their path, d m / d t = -(M X M')^-1 M X c, which
# needs no further factor.


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
NEWTON_LONGEST = 64.0
#: Share of the slope at the start of a step: it is doubled if the slope at its end is this or more.
STEEP = 0.1
#: Relative: equations determine the sum of all terms if a combination of them is a row of ones to this.
IS_SUM = 1e-9
#: Relative to the largest right-hand side: the smallest violation that is asked for.
#: Nats a term: the largest gap by residuals of rows whose multipliers are large, at which to stop.
#: The same relative to the products of right-hand sides and multipliers, for its rounding error.
SUMMED = 2e-15
#: Multiple of the tolerance at which an answer is taken that rounding does not let improve.
NEWTON_STALLED = 1e3
#: Iterations without improvement after which such an answer is taken.
NEWTON_PATIENCE = 3
#: Iterations without improvement after which the method gives up.
LONG_PATIENCE = 15
#: Relative ridge of the Hessian.
NEWTON_RIDGE = 1e-13
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
            near = best[0] <= NEWTON_STALLED * self.tolerance
            is_over = stalled >= (NEWTON_PATIENCE if near else LONG_PATIENCE)
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
        self.solve = program.normal.factor(x, rows, NEWTON_RIDGE), rows, x
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
            self.solve = program.normal.factor(x, rows, NEWTON_RIDGE), rows, x
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
        while length < NEWTON_LONGEST:
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
