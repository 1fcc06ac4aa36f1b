"""Entropies over rows and bounds in CVXPY problems: the interior-point method, or Newton's method from a near start.

    maximise sum y (c - log y) - q' v - v' P v / 2  over  M y + N v = r (equations) or <= r, and l <= y <= u.

Adding a combination M' a of the equations to c moves m by -a and does not change y; likewise q - N' a. It is removed
first (`centred`), so that large constants in costs do not cost digits. Without v, the linear system of a step uses the
structure of M; otherwise the sparse system of all variables is factorised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import qdldl
import scipy.sparse as sp

from ..answer import Status
from ..blocks import regularized_cholesky
from ..interior_point import LEFT_OUT, Apply, InteriorPoint, Program, Solve, State, normal_system
from ..monitor import Monitor
from ..schur import ldl_factor
from ..sparse import entry_rows

# All constants assume that an average term is 1. Values without a source were tuned on transport problems, such as those
# of tests/benchmarks/peers/transport.py.

#: Share of nonzero entries from which rows are stored as a dense matrix, and the largest number of its entries.
DENSE_SHARE, MOST_DENSE = 0.3, 5e7
#: Columns of a dense matrix that are multiplied at a time, so that a batch of ten rows fits in the processor's cache.
BATCH = 8_192
#: The smallest share of rows without common terms for which these are eliminated as a diagonal.
LEAST_DISJOINT = 0.25
#: The largest number of rows for which the remaining (or a sparse normal) matrix is factorised as a dense matrix.
MOST_REST = 3_000
#: Rounds of choosing rows without common terms.
ROUNDS = 8
#: Relative ridge of normal matrices, for redundant rows.
NORMAL_RIDGE = 1e-13
#: Ridge of the system with variables without entropy; refinement removes its effect. The curvature of these variables
#: (multipliers of inequalities divided by slacks) is at least 1e-9; a smaller ridge fails at prices of 1e5.
RIDGE = 1e-9
#: Rounds of iterative refinement, and the relative residual at which it stops.
REFINEMENTS, REFINED = 8, 1e-14
#: Relative difference below which a term of the point and the term given by the multipliers count as equal.
SAME = 1e-6
#: Relative to the largest right-hand side: the smallest required violation.
SMALLEST_VIOLATION = 1e-13
#: Nats per term: the largest sum of residuals times multipliers of an answer.
GAP = 1e-10
#: Relative to the products of right-hand sides and multipliers: the rounding error of that sum.
SUMMED = 2e-15
#: Newton steps from the multipliers of an earlier problem, after which the method restarts.
WARM = 10
#: The least term in the Hessian of such a step, also for terms at a bound, times the residual and, if that is below
#: one, times its square: it shortens the step if too few terms are free (Levenberg, Marquardt).
LEAST_SLOPE = 1e-6
#: Multiple of the sum of all right-hand sides: a larger sum of terms indicates that such a step was too long.
TOO_LARGE = 1e3


class NormalMatrix:
    """M, and factors of M diag(x) M' + W that use the structure of M.

    A few rows over many terms, such as moments, are one dense matrix. If equations share no term, such as the sums of
    the rows of a table, their part of the matrix is diagonal and is eliminated: for two margins of n categories this
    leaves a Schur complement of n rows. All else is a sparse product with a dense or a sparse factor.
    """

    def __init__(self, matrix: sp.csr_array, is_equation: np.ndarray) -> None:
        n_rows, n_terms = matrix.shape
        self.is_dense = matrix.nnz >= DENSE_SHARE * n_rows * n_terms and n_rows * n_terms <= MOST_DENSE
        self.by_row = matrix.toarray() if self.is_dense else matrix  # M
        self.by_term = self.by_row.T if self.is_dense else sp.csr_array(matrix.T)  # M'
        disjoint = np.empty(0, dtype=int) if self.is_dense else disjoint_rows(matrix, is_equation)
        n_disjoint, n_rest = len(disjoint), n_rows - len(disjoint)
        pays = n_disjoint >= LEAST_DISJOINT * n_rows and n_rest <= MOST_REST and n_rest * n_disjoint <= MOST_DENSE
        self.is_arrow = n_disjoint > 0 and pays
        if not self.is_arrow:
            return
        self.disjoint, self.rest = disjoint, np.setdiff1d(np.arange(n_rows), disjoint)
        first, self.others = matrix[disjoint], matrix[self.rest]
        self.owner, coefficient = np.full(n_terms, -1), np.zeros(n_terms)  # the disjoint row of each term, if any
        self.owner[first.indices], coefficient[first.indices] = entry_rows(first), first.data
        self.owned, self.square = np.flatnonzero(self.owner >= 0), coefficient**2
        # Entries of the other rows that share their term with a disjoint row, with their place in the Schur complement.
        shared = self.owner[self.others.indices] >= 0
        self.term = self.others.indices[shared]
        self.cell = entry_rows(self.others)[shared] * n_disjoint + self.owner[self.term]
        self.product = self.others.data[shared] * coefficient[self.term]

    def factor(self, x: np.ndarray, w: np.ndarray) -> Apply:
        """Factorise M diag(x) M' + W, with a relative ridge on its diagonal."""
        if self.is_arrow:
            return self._by_schur_complement(x, w)
        if self.is_dense:
            n_rows = len(w)
            normal = np.zeros((n_rows, n_rows))
            for begin in range(0, len(x), BATCH):
                batch = self.by_row[:, begin : begin + BATCH]
                normal += (batch * x[begin : begin + BATCH]) @ batch.T
        else:
            sparse = sp.csr_array(self.by_row @ sp.diags_array(x) @ self.by_term)
            if len(w) > MOST_REST:
                return ldl_factor(sp.csc_array(sparse + sp.diags_array(w)), NORMAL_RIDGE).solve
            normal = sparse.toarray()
        return regularized_cholesky(normal, NORMAL_RIDGE * normal.diagonal() + w, is_inverted=False)

    def _by_schur_complement(self, x: np.ndarray, w: np.ndarray) -> Apply:
        """Solve [D B'; B C + W] with a diagonal D by the Schur complement C + W - B D^-1 B'."""
        n_disjoint, n_rest = len(self.disjoint), len(self.rest)
        D = (1 + NORMAL_RIDGE) * np.bincount(self.owner[self.owned], (self.square * x)[self.owned], n_disjoint)
        D = np.maximum(D, np.finfo(float).tiny)
        B = np.bincount(self.cell, self.product * x[self.term], n_rest * n_disjoint).reshape(n_rest, n_disjoint)
        C = (self.others @ sp.diags_array(x) @ self.others.T).toarray()
        raised = NORMAL_RIDGE * C.diagonal() + w[self.rest]
        solve = regularized_cholesky(C - (B / D) @ B.T, raised, is_inverted=False)

        def solution(right: np.ndarray) -> np.ndarray:
            x, first = np.empty(len(right)), right[self.disjoint]
            last = right[self.rest] - B @ (first / D)
            x[self.rest] = last = solve(last) if n_rest else last
            x[self.disjoint] = (first - last @ B) / D
            return x

        return solution


def disjoint_rows(matrix: sp.csr_array, allowed: np.ndarray) -> np.ndarray:
    """Choose rows that share no term; each round adds those that are the shortest remaining row at all their terms."""
    n_rows, n_terms = matrix.shape
    length = np.diff(matrix.indptr)
    rank = np.empty(n_rows, dtype=np.int64)
    rank[np.lexsort((np.arange(n_rows), length))] = np.arange(n_rows)
    row, term = entry_rows(matrix), matrix.indices
    candidates, chosen = allowed & (length > 0), np.zeros(n_rows, dtype=bool)
    for _ in range(ROUNDS):
        entries = candidates[row]
        if not entries.any():
            break
        first = np.full(n_terms, n_rows)
        np.minimum.at(first, term[entries], rank[row[entries]])
        beaten = np.bincount(row[entries], rank[row[entries]] > first[term[entries]], n_rows) > 0
        new = candidates & ~beaten
        chosen |= new
        claimed = np.zeros(n_terms, dtype=bool)
        claimed[term[new[row]]] = True
        candidates &= ~new & (np.bincount(row, claimed[term], n_rows) == 0)
    return np.flatnonzero(chosen)


@dataclass(frozen=True, eq=False)
class MixedProgram:
    """Maximise sum y (c - log y) - q' v - v' P v / 2 over rows and bounds."""

    matrix: sp.csr_array  # M, each row divided by its largest coefficient
    right: np.ndarray  # r, in units in which an average y is about 1
    is_equation: np.ndarray  # the other rows are inequalities <= r
    log_weights: np.ndarray  # c
    others: sp.csr_array  # N
    cost: np.ndarray  # q
    curvature: sp.csc_array  # P, symmetric and positive semidefinite
    least: np.ndarray | float = 0.0  # l
    most: np.ndarray | float = np.inf  # u

    @cached_property
    def normal(self) -> NormalMatrix:
        """Products with M, and factors of M diag(x) M'."""
        return NormalMatrix(self.matrix, self.is_equation)

    def centred(self) -> tuple[MixedProgram, np.ndarray]:
        """Return the problem with c - M' a and q + N' a, made as small as the equations permit, and a.

        Multipliers are m - a: as M y + N v = r, the objective differs by the constant a' r.
        """
        equations, a = self.is_equation, np.zeros(len(self.right))
        if not equations.any():
            return self, a
        if len(self.cost):
            rows = sp.csr_array(sp.hstack([self.matrix[equations], self.others[equations]]))
            solve = ldl_factor(sp.csc_array(rows @ rows.T), NORMAL_RIDGE).solve
        else:
            solve = self.normal.factor(np.ones(self.matrix.shape[1]), np.where(equations, 0.0, LEFT_OUT))
        c, q = self.log_weights, self.cost
        for _ in range(2):  # the second round removes the rounding error of the first
            gradient = self.normal.by_row @ c - self.others @ q
            if len(self.cost):
                a[equations] += solve(gradient[equations])
            else:
                a[equations] += solve(np.where(equations, gradient, 0.0))[equations]
            c, q = self.log_weights - self.normal.by_term @ a, self.cost + self.others.T @ a
        smaller = replace(self, log_weights=c, cost=q)
        smaller.__dict__["normal"] = self.normal
        return smaller, a

    def exponent(self, m: np.ndarray) -> np.ndarray:
        """Return the logarithms of the terms without bounds, c - 1 + M' m."""
        return self.normal.by_term @ m + self.log_weights - 1

    def terms_at(self, m: np.ndarray) -> np.ndarray:
        """Return the y that maximises the Lagrangian at multipliers m: exp(c - 1 + M' m), clipped to the bounds."""
        return np.clip(np.exp(self.exponent(m)), self.least, self.most)

    def violation(self, excess: np.ndarray) -> np.ndarray:
        """Return the violations of rows, given their left sides minus their right-hand sides."""
        return np.where(self.is_equation, np.abs(excess), np.maximum(excess, 0.0))


class MixedAnswer(NamedTuple):
    """Status of the method, the terms y, the other variables v, the multipliers m of the rows, and the iterations."""

    status: Status
    y: np.ndarray
    others: np.ndarray
    multipliers: np.ndarray
    iterations: int


def log_line(iteration: int, residual: float, gap: float, dual: float, monitor: Monitor) -> dict[str, float]:
    """Return a line of the log in the format of all solvers of cone programs in this package."""
    line = {"iteration": iteration, "residual": residual, "gap": gap, "dual": dual, "seconds": monitor.seconds}
    return {**line, "parts": 1, "dropped": 0, "products": 0}


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def solve_from(
    program: MixedProgram, start: np.ndarray, *, tolerance: float = 1e-9, max_iterations: int = WARM, monitor: Monitor
) -> MixedAnswer:
    """Solve a program without other variables by Newton's method on the dual, from multipliers near the solution.

    The dual function is minimised over m <= 0 for inequalities; its gradient is r - M y, its Hessian M diag(y) M' over
    the terms between their bounds. Steps are full Newton steps, which do not converge from a distant start.
    """
    sides = np.abs(program.right)
    tolerance = max(tolerance, SMALLEST_VIOLATION * float(sides[program.is_equation].max(initial=0.0)))
    centred, shift = program.centred()
    m, best, least, stalled, last = start + shift, start + shift, np.inf, 0, min(max_iterations, WARM)
    for iteration in range(last + 1):
        m = np.where(program.is_equation, m, np.minimum(m, 0.0))
        y = centred.terms_at(m)
        excess = program.normal.by_row @ y - program.right
        violation = program.violation(excess)
        gap = float(np.where(program.is_equation, 0.0, np.maximum(-excess, 0.0)) @ np.abs(m))
        residual = float(violation.max(initial=0.0))
        error = max(residual, gap)
        if not y.sum() <= TOO_LARGE * max(float(sides.sum()), 1.0):
            break
        stalled = 0 if error < 0.9 * least else stalled + 1
        if error < least:
            least, best = error, m
        size = np.abs(m - shift)
        is_precise = float(size @ violation) <= max(GAP * float(y.sum()), SUMMED * float(size @ sides))
        if monitor.tell(log_line(iteration, residual, gap, 0.0, monitor)) or iteration == last:
            break
        if stalled > 2 or (error <= tolerance and is_precise):
            break
        is_active = program.is_equation | (m < 0) | (excess > 0)
        is_free = (y > program.least) & (y < program.most)
        slope = np.maximum(np.where(is_free, y, 0.0), LEAST_SLOPE * residual * min(residual, 1.0))
        solve = program.normal.factor(slope, np.where(is_active, 0.0, LEFT_OUT))
        m = m + np.where(is_active, solve(np.where(is_active, -excess, 0.0)), 0.0)
    status = Status.OPTIMAL if least <= tolerance else Status.LIMIT
    return MixedAnswer(status, centred.terms_at(best), np.empty(0), best - shift, iteration)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def solve_mixed(
    program: MixedProgram, *, tolerance: float = 1e-9, max_iterations: int = 200, monitor: Monitor | None = None
) -> MixedAnswer:
    """Maximise entropies minus costs over rows and bounds.

    `tolerance` is the largest violation of a row, of an optimality condition, and of a term by the barriers.
    """
    # Other variables are scaled so that their largest coefficients are 1.
    largest = abs(program.others).max(axis=0).toarray().ravel() if len(program.cost) else np.empty(0)
    unit = np.where(largest > 0, 1 / np.where(largest > 0, largest, 1.0), 1.0)
    by = sp.diags_array(unit)
    others, curvature = sp.csr_array(program.others @ by), sp.csc_array(by @ program.curvature @ by)
    scaled, shift = replace(program, others=others, cost=unit * program.cost, curvature=curvature).centred()
    sides = np.abs(scaled.right)
    tolerance = max(tolerance, SMALLEST_VIOLATION * float(sides[scaled.is_equation].max(initial=0.0)))
    monitor = monitor or Monitor()

    def is_precise(state: State) -> bool:
        # Whether rows hold at the terms to be returned; their residuals times multipliers are a gap.
        m = multipliers_at(scaled, state)
        y = terms_at(scaled, state, m)
        violation, size = violation_at(scaled, y, state), np.abs(m - shift)
        limit = max(GAP * float(y.sum()), SUMMED * float(size @ sides))
        return float(violation.max(initial=0.0)) <= tolerance and float(size @ violation) <= limit

    def tell(iteration: int, state: State, error: float, gap: float) -> bool:
        return monitor.tell(log_line(iteration, error, gap, 0.0, monitor))

    normal, (n_rows, n_terms) = scaled.normal, scaled.matrix.shape
    values, adjoint = normal.by_row.__matmul__, normal.by_term.__matmul__
    least, most = (np.broadcast_to(bound, n_terms) for bound in (scaled.least, scaled.most))
    posed = Program(
        values, scaled.exponent, np.where(scaled.is_equation, scaled.right, -np.inf), scaled.right, others, scaled.cost,
        curvature, least, most, np.full(n_rows, np.inf), lambda m: (np.zeros(n_rows), np.zeros(n_rows)),
    )  # fmt: skip
    system = FullSystem(scaled) if len(scaled.cost) else normal_system(values, adjoint, normal.factor)
    method = InteriorPoint(posed, system, tolerance, is_precise)
    y = np.maximum(1.0, 2 * least)  # 1, or well between the bounds
    y = np.where(np.isfinite(most), np.minimum(y, (least + most) / 2), y)
    status, state, iterations = method.run(method.start(y, np.zeros(n_rows)), tell, max_iterations)
    m = multipliers_at(scaled, state)
    return MixedAnswer(status, terms_at(scaled, state, m), unit * state.v, m - shift, iterations)


def multipliers_at(program: MixedProgram, state: State) -> np.ndarray:
    """Return the multipliers m, from which the terms are computed."""
    return np.where(program.is_equation, -state.rows, np.minimum(-state.rows, 0.0))


def terms_at(program: MixedProgram, state: State, m: np.ndarray) -> np.ndarray:
    """Return the terms given by the multipliers, or those of the point if they are near and violate rows less.

    Multipliers of 1e5 that cancel have lost digits, while the point still satisfies the rows. A difference of
    logarithms costs half of its square.
    """
    y, size = program.terms_at(m), np.abs(m)
    lacking = float(size @ violation_at(program, y, state))
    if lacking <= GAP * float(y.sum()):
        return y
    is_free = (y > program.least) & (y < program.most)
    mixed = np.where(is_free & (np.abs(state.y / y - 1) <= SAME), state.y, y)
    return mixed if float(size @ violation_at(program, mixed, state)) < lacking else y


def violation_at(program: MixedProgram, y: np.ndarray, state: State) -> np.ndarray:
    """Return the violations of the rows at terms y and the other variables of a state."""
    return program.violation(program.normal.by_row @ y + program.others @ state.v - program.right)


class FullSystem:
    """The system [D + P, B'; B, -W] of all variables, B = (M, N), factorised with a ridge that refinement removes."""

    def __init__(self, program: MixedProgram) -> None:
        n_terms, n_rows = program.matrix.shape[1], len(program.right)
        self.n_terms, self.n = n_terms, n_terms + program.others.shape[1]
        P = sp.block_diag([sp.csc_array((n_terms, n_terms)), program.curvature])
        B = sp.hstack([program.matrix, program.others])
        self.constant = sp.csr_array(sp.block_array([[P, B.T], [B, None]]))
        self.sign = np.repeat([1.0, -1.0], [self.n, n_rows])
        # The diagonal is stored even if it is 0, last in its column of the upper triangle.
        self.upper = sp.csc_matrix(sp.triu(self.constant + sp.eye_array(len(self.sign)), format="csc"))
        self.upper.sort_indices()
        self.factor: qdldl.Solver | None = None

    def __call__(self, d: np.ndarray, w: np.ndarray) -> Solve:
        """Factorise the system with the diagonals D and W."""
        self.diagonal = np.concatenate([d, np.zeros(self.n - self.n_terms), -w])
        self.upper.data[self.upper.indptr[1:] - 1] = self.constant.diagonal() + self.diagonal + RIDGE * self.sign
        if self.factor is None:
            self.factor = qdldl.Solver(self.upper, upper=True)
        else:
            self.factor.update(self.upper, upper=True)
        return self.solve

    def solve(self, a: np.ndarray, b: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return dy, dv and dl for right-hand sides."""
        assert self.factor is not None
        right = np.concatenate([a, b, e])
        x, missing, best = np.zeros(len(right)), right, np.inf
        enough = REFINED * (1 + np.abs(right).max(initial=0.0))
        for _ in range(REFINEMENTS):
            trial = x + self.factor.solve(missing)
            rest = right - self.constant @ trial - self.diagonal * trial
            off = float(np.abs(rest).max(initial=0.0))
            if not off < best:
                break
            x, missing, best = trial, rest, off
            if best <= enough:
                break
        return x[: self.n_terms], x[self.n_terms : self.n], x[self.n :]
