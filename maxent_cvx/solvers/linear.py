"""Linear and integer programs over two-sided rows: least values, feasibility, and the least change to feasibility.

min c'x over x >= 0 with low <= A x <= high. HiGHS solves it by the simplex method; if one polyhedron has many
objectives, each program starts from the optimal basis of the previous one, which is also feasible for it. All results
are verified. For any multipliers d of the rows, weak duality proves

    c'x >= d'b + sum_j min(0, (c - A'd)_j) u_j  for all feasible x,

where b_i is the side of row i that the sign of d_i selects, and u_j is an upper bound on x_j (``dual_bound``); a
minimum is accepted if a point attains that bound.

Large programs are first solved by an entropic penalty. As the penalty L grows, the x that maximises
sum x log(w / x) - L c'x approaches the least cost. It is the maximum-entropy problem with weights w exp(-L c), which
Newton's method solves in the time of a few conjugate gradient solutions. Its multipliers become affine in L up to an
exponentially small term, so that their slope between two values of L solves the dual linear program to many digits
(Cominetti and San Martin, 1994).

References
----------
Cominetti, R. and San Martin, J. (1994). Asymptotic analysis of the exponential penalty trajectory in linear
programming. Mathematical Programming 67, 169-187.
Huangfu, Q. and Hall, J. A. J. (2018). Parallelizing the dual revised simplex method. Mathematical Programming
Computation 10, 119-142.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._utils.errors import Inaccurate, Infeasible, NotDecided, SolverError
from .answer import Status
from .duality import dual_bound, error_of_sides, exact_residuals, moved_along_recession
from .form import LinearForm
from .monitor import Monitor, check_time, seconds_left
from .newton import newton
from .parameters import FEASIBLE
from .presolve import Reduced
from .sparse import entry_rows, least_by_row, most_by_row

if TYPE_CHECKING:
    import highspy


#: Records: the feasibility tolerance of HiGHS, the smallest that it accepts; its default is 1e-7.
PRECISION = 1e-10
#: Relative to the largest side: the tolerance of HiGHS if that is larger than `PRECISION`, because a double has no more
#: digits.
PRECISION_SHARE = 1e-15
#: Records: the largest tolerance of HiGHS.
COARSEST = 1e-7
#: The largest duality gap of an accepted bound, relative to the largest coefficient of the objective.
GAP = 1e-6
#: The smallest number of terms for which the entropic penalty is tried before HiGHS. On Adult (60,000 terms, 26,000
#: rows, 20 of them knowledge) it takes 0.4 s; HiGHS takes 18 s by the simplex method, 5.6 s by the interior-point
#: method, 4.2 s without crossover, and 1.8 s by PDLP, which is less precise. With 4,200 terms all take 0.02 to 0.05 s.
LARGE = 5_000
#: The two penalties, for costs of at most 1, in nats: exp(-600) is still a floating-point number.
PENALTIES = (300.0, 600.0)
#: Records: the largest distance from an integer of a count that was typed as a rounded probability.
INTEGER_ROUNDING = 1e-6
#: Records: the largest violation of a row by an integer point of HiGHS (its `mip_feasibility_tolerance`).
INTEGER_PRECISION = 1e-6
#: Ratio of two coefficients of one row above which that precision decides nothing.
WIDEST_RATIO = 1e9
#: Records: presolve's value of a term counts as an integer within this distance; bounds move by 1e-7 or more.
NEAR_INTEGER = 1e-6
#: Relative: no bound is this far from a nonzero value, so that any point with such a value ends an integer program.
ANY_GAP = 1e9


class Optimum(NamedTuple):
    """The unverified result of a solver of linear programs."""

    found: bool
    infeasible: bool
    message: str  # the solver's text of the status
    x: np.ndarray  # empty if nothing was found, like `multipliers`
    # A dual solution d: A' d <= cost up to rounding, with equality where x > 0; d > 0 where a row is active at its low
    # side, d < 0 where it is active at its high side.
    multipliers: np.ndarray


@cache
def _silent_highs() -> type[highspy.Highs]:
    """Return HiGHS without its output; highspy is imported when the first program is solved."""
    import highspy

    class SilentHighs(highspy.Highs):
        def enableCallbacks(self) -> None:
            """Silence HiGHS instead: its constructor calls this first, and any other call prints a banner."""
            self.silent()

    return SilentHighs


class LinearProgram:
    """Minimise cost @ x over ``0 <= x <= upper`` and ``low <= matrix @ x <= high``, for one cost after another.

    Rows are violated by at most `precision`. With a `gap`, x is an integer point within this gap, relative to the least
    value.
    """

    def __init__(
        self,
        matrix: sp.csr_array,
        low: np.ndarray,
        high: np.ndarray,
        *,
        upper: np.ndarray | float = np.inf,
        precision: float = PRECISION,
        gap: float | None = None,
    ) -> None:
        import highspy

        n_rows, n = self.shape = matrix.shape
        self._every = np.arange(n, dtype=np.int32)
        self._low, self._high = low, high
        self.highs = highs = _silent_highs()()
        if gap is None:
            highs.setOptionValue("primal_feasibility_tolerance", precision)
            highs.setOptionValue("dual_feasibility_tolerance", PRECISION)
        else:
            highs.setOptionValue("mip_rel_gap", gap)
        # HiGHS reads the memory of these arrays; equal coefficients may be stored as one.
        starts, columns = (np.ascontiguousarray(part, np.int32) for part in (matrix.indptr, matrix.indices))
        self._accepted = highs.passModel(
            n, n_rows, matrix.nnz, int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize), 0.0,
            np.zeros(n), np.zeros(n), np.array(np.broadcast_to(upper, n), float),
            np.ascontiguousarray(low, float), np.ascontiguousarray(high, float),
            starts, columns, np.ascontiguousarray(matrix.data, float), np.full(n, gap is not None, dtype=np.int32),
        ) != highspy.HighsStatus.kError  # fmt: skip

    def run(self, cost: np.ndarray, seconds: float) -> highspy.HighsModelStatus:
        """Run HiGHS, starting from the basis of the last cost if there is one."""
        highs = self.highs
        highs.changeColsCost(len(self._every), self._every, np.ascontiguousarray(cost, float))
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds)  # HiGHS accumulates its run time over all runs
        highs.run()
        return highs.getModelStatus()

    def minimum(self, cost: np.ndarray) -> Optimum:
        """Minimise within the remaining time."""
        import highspy

        check_time()
        nothing, is_status = np.empty(0), highspy.HighsModelStatus
        if not self._accepted:
            return Optimum(False, False, "it rejects the numbers of the problem", nothing, nothing)
        if self.shape[1] == 0:  # HiGHS ignores rows without terms
            empty = not ((self._low > 0) | (self._high < 0)).any()
            return Optimum(empty, not empty, "no terms", nothing, np.zeros(self.shape[0]))
        status = self.run(cost, seconds := seconds_left())
        if status not in (is_status.kOptimal, is_status.kInfeasible, is_status.kTimeLimit):
            # A basis or presolve may have misled HiGHS.
            self.highs.clearSolver()
            self.highs.setOptionValue("presolve", "off")
            self.highs.setOptionValue("simplex_strategy", 1)
            status = self.run(cost, seconds_left())
        if status == is_status.kTimeLimit:
            raise NotDecided(f"a linear program was not solved in the remaining {seconds:.3g} seconds; allow more time")
        message = self.highs.modelStatusToString(status)
        if status != is_status.kOptimal:
            return Optimum(False, status == is_status.kInfeasible, message, nothing, nothing)
        # This basis is feasible for any other cost: the primal simplex method (strategy 4) can start from it. For all
        # bounds of 1,000 people of Adult and 30 rows it takes a sixth of the iterations of the dual simplex method.
        self.highs.setOptionValue("simplex_strategy", 4)
        solution = self.highs.getSolution()
        return Optimum(True, False, message, np.array(solution.col_value), np.array(solution.row_dual))


class Minima:
    """Least values of several costs over x >= 0 with low <= A x <= high.

    If it `widens`, rows that contradict each other by less than their tolerances are widened by these; bounds over
    widened rows are also valid.
    """

    def __init__(self, form: LinearForm, *, widens: bool = False) -> None:
        self.form, self._widens = form, widens
        sides = np.concatenate([form.low, form.high])
        largest = np.abs(sides[np.isfinite(sides)]).max(initial=0.0)
        self.precision = float(np.clip(PRECISION_SHARE * largest, PRECISION, COARSEST))

    @cached_property
    def _program(self) -> LinearProgram:
        return LinearProgram(self.form.matrix, self.form.low, self.form.high, precision=self.precision)

    def of(self, cost: np.ndarray) -> Iterator[Optimum]:
        """Minimise a cost, at most 1 in absolute value, by one method after another; the caller verifies each result.

        For a large problem the entropic penalty is tried first. HiGHS follows; if it finds the rows infeasible, or
        finds nothing, Infeasible or SolverError is raised.
        """
        if self.form.shape[1] >= LARGE and (optimum := by_entropic_penalty(self.form, cost)).found:
            yield optimum
        optimum = self._program.minimum(cost)
        if optimum.infeasible and self._widens:
            form, self._widens = self.form, False
            self.form = replace(form, low=form.low - form.tolerance, high=form.high + form.tolerance)
            del self._program
            optimum = self._program.minimum(cost)
        if optimum.infeasible:
            raise Infeasible("the rows contradict each other")
        if not optimum.found:
            raise SolverError(f"HiGHS found no optimum: {optimum.message}")
        yield optimum


def by_entropic_penalty(form: LinearForm, cost: np.ndarray) -> Optimum:
    """Minimise by Newton's method; the result is empty if it does not converge, for example for infeasible rows."""
    multipliers = [np.zeros(form.shape[0])]
    for penalty in PENALTIES:
        start = multipliers[-1] * (penalty / PENALTIES[0])
        weighted = replace(form, weights=np.exp(-penalty * cost))
        answer = newton(weighted, start, monitor=Monitor(time_limit=seconds_left()))
        check_time()
        if answer.status is not Status.OPTIMAL or answer.counts is None or answer.multipliers is None:
            return Optimum(False, False, answer.message, np.empty(0), np.empty(0))
        multipliers.append(answer.multipliers)
    assert answer.counts is not None
    slope = (multipliers[2] - multipliers[1]) / (PENALTIES[1] - PENALTIES[0])
    # For terms that must be zero, this lowers A' slope below the cost.
    slope = moved_along_recession(replace(form, weights=np.exp(-cost)), slope, answer.proofs)
    return Optimum(True, False, answer.message, answer.counts, slope)


def linear_bounds(form: LinearForm, objective: np.ndarray) -> tuple[float, float]:
    """Return outer bounds of objective @ x over x >= 0 with low <= A x <= high, proved by weak duality."""
    size = np.abs(objective).max(initial=0.0)
    if size == 0:
        return 0.0, 0.0
    minima = Minima(form, widens=True)
    least, most = (_least(minima, direction) for direction in (objective / size, -objective / size))
    return least * size, -most * size


def _least(minima: Minima, objective: np.ndarray) -> float:
    """Return the least value of an expression whose largest coefficient is 1."""
    for optimum in minima.of(objective):
        attained, bound = float(objective @ optimum.x), dual_bound(minima.form, objective, optimum.multipliers)
        if abs(attained - bound) <= GAP:
            return bound - float(error_of_sides(minima.form, optimum.multipliers).sum())
    raise Inaccurate(
        f"a value of {attained:.9g} people is attained, but bounds are only proved to within {abs(attained - bound):.1e} "
        "people; bound a probability of fewer people"
    )


@dataclass(frozen=True, eq=False)
class ElasticRelaxation:
    """The least weighted violation of the rows, and the dual solution that proves it."""

    # How far each row is below its low side, and above its high side, in records, >= 0; violations within the precision
    # of the linear program are 0.
    below: np.ndarray
    above: np.ndarray
    # Multipliers d of the rows. If the rows are infeasible, d is a Farkas certificate: d' A x is less than d' (sides)
    # for every x >= 0, and at least d' (sides) for every x that satisfies the rows.
    direction: np.ndarray

    @property
    def off(self) -> np.ndarray:
        """Violation of each row, in records."""
        return self.below + self.above


def elastic_relaxation(form: LinearForm, weights: np.ndarray | None = None) -> ElasticRelaxation:
    """Minimise the weighted sum of violations of the knowledge, in records, subject to the hard constraints."""
    n_rows, n_terms = form.shape
    weights = np.ones(n_rows - form.n_facts) if weights is None else weights
    below, above = np.zeros(n_rows), np.zeros(n_rows)
    if len(weights) == 0:
        return ElasticRelaxation(below, above, below)
    soft = np.flatnonzero(np.isfinite(weights))
    n, rows = len(soft), form.n_facts + soft
    slacks = sp.csr_array((np.ones(n), (rows, np.arange(n))), shape=(n_rows, n))
    cost = np.concatenate([np.zeros(n_terms), np.tile(weights[soft] / weights[soft].max(initial=0.0), 2)])
    matrix = sp.hstack([form.matrix, slacks, -slacks], format="csr")
    minima = Minima(replace(form, coefficients=sp.csr_array(matrix), weights=np.ones(n_terms + 2 * n)))
    largest_multiplier = np.full(n_rows, np.inf)
    largest_multiplier[rows] = cost[n_terms : n_terms + n]
    for optimum in minima.of(cost):
        direction = np.clip(optimum.multipliers, -largest_multiplier, largest_multiplier)
        attained = float(cost @ optimum.x)
        if attained - dual_bound(form, np.zeros(n_terms), direction) <= GAP * max(attained, 1.0):
            break
    violations = np.where(optimum.x[n_terms:] > 10 * minima.precision, optimum.x[n_terms:], 0.0)
    below[rows], above[rows] = violations[:n], violations[n:]
    return ElasticRelaxation(below, above, direction)


def settle_integers(reduced: Reduced) -> Reduced:
    """Keep fixed only the terms whose values are integers up to rounding, and round these values.

    The count of a term is an integer, so that a value known to within half a record is known exactly. If presolve fixes
    a term at a fraction of a record, no integer point is feasible. The integer program can detect that only if the term
    is not fixed, so that its rows are part of the program.
    """
    nearest = np.rint(reduced.counts)
    fixed = reduced.fixed & (np.abs(reduced.counts - nearest) <= NEAR_INTEGER) & (reduced.width < 0.5)
    counts, width = np.where(fixed, nearest, reduced.counts), np.where(fixed, 0.0, reduced.width)
    return replace(reduced, fixed=fixed, counts=counts, width=width)


@dataclass(frozen=True, eq=False)
class IntegerOptimum:
    """The least value of an expression over the integer feasible points."""

    bound: float  # a lower bound
    x: np.ndarray | None  # the best integer feasible point found, verified against the rows
    decided: bool  # whether x attains the bound


def integer_bounds(form: LinearForm, objective: np.ndarray, seconds: float) -> tuple[float, float]:
    """Return the least and largest objective @ x over integers x >= 0 with low <= A x <= high."""
    size = float(np.abs(objective).max(initial=0.0))
    ends, until = [0.0, 0.0], time.perf_counter() + seconds
    for component, at in _components_with(form, objective != 0):
        for i, sign in enumerate((1.0, -1.0)):
            optimum = integer_minimum(component, sign * objective[at] / size, until - time.perf_counter())
            if not optimum.decided:
                raise NotDecided(
                    f"integer assignments were not decided in {seconds:.3g} seconds; allow more time or use integer=False"
                )
            ends[i] += sign * optimum.bound * size
    return ends[0], ends[1]


def never_filled(form: LinearForm, terms: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Find the terms that are zero at every integer feasible point.

    Each integer program maximises the sum of the terms that have been zero at all points so far, and stops at any point
    where that sum is positive: the best point may take minutes, and further programs follow anyway. Terms are zero at
    every point if the bound on their sum is below 1.
    """
    empty, undecided = np.zeros(len(terms), dtype=bool), np.zeros(len(terms), dtype=bool)
    until = time.perf_counter() + seconds
    for component, at in _components_with(form, terms):
        unfilled = terms[at].copy()
        while unfilled.any():
            objective, seconds_left = -unfilled.astype(float), until - time.perf_counter()
            optimum = integer_minimum(component, objective, seconds_left, ANY_GAP)
            filled = unfilled & (optimum.x > 0) if optimum.x is not None else np.zeros(len(unfilled), dtype=bool)
            if filled.any():
                unfilled &= ~filled
                continue
            (empty if optimum.bound > INTEGER_PRECISION - 1 else undecided)[at[unfilled]] = True
            break
    return empty, undecided


def integer_minimum(form: LinearForm, objective: np.ndarray, seconds: float, gap: float = 0.0) -> IntegerOptimum:
    """Minimise over the integer feasible points; see :func:`integer_bounds` for the errors.

    It stops at a point whose value is within `gap`, relative to that value, of the bound; at a value of 0 it continues.
    """
    if seconds <= 0:
        return IntegerOptimum(-np.inf, None, False)
    import highspy

    scaled, is_wide = _scaled_to_integers(form)
    upper = np.where(np.isfinite(form.upper_bound), form.upper_bound, np.inf)
    upper = np.floor(upper + INTEGER_ROUNDING)
    program = LinearProgram(scaled.matrix, scaled.low, scaled.high, upper=upper, gap=gap)
    status, is_status = program.run(objective, seconds), highspy.HighsModelStatus
    if status == is_status.kInfeasible and is_wide:
        raise SolverError(
            f"coefficients of one statement differ by a factor of more than {WIDEST_RATIO:g}, so that HiGHS cannot "
            "decide whether integer assignments satisfy it; split it into two statements, or omit integer=True"
        )
    if status == is_status.kInfeasible:
        raise Infeasible(
            "no integer assignment, in which everybody has exactly one value, satisfies the release and the knowledge, "
            "although a distribution may; add tolerances to statements with .about(value, eps), or omit integer=True"
        )
    if status not in (is_status.kOptimal, is_status.kTimeLimit):
        raise SolverError(f"HiGHS found no integer assignment: {program.highs.modelStatusToString(status)}")
    bound, solution = float(program.highs.getInfo().mip_dual_bound), program.highs.getSolution()
    if not solution.value_valid:
        return IntegerOptimum(bound, None, False)
    x = np.rint(solution.col_value)
    if _is_violated(scaled, x):
        raise Inaccurate("the integer assignment found by HiGHS does not satisfy the rows; omit integer=True")
    attained = float(objective @ x)
    decided = status == is_status.kOptimal and (gap == 0 or bound >= attained - INTEGER_PRECISION)
    return IntegerOptimum(attained if decided else bound, x, decided)


def _scaled_to_integers(form: LinearForm) -> tuple[LinearForm, bool]:
    """Scale the rows so that a difference of one record changes each by 1 or more, beyond the solver's tolerance.

    The sides of a row that counts records are integers, up to rounding, which is removed. Any other row is scaled so
    that its smallest coefficient is 1, and widened by its rounding error and the feasibility tolerance.
    """
    matrix = form.matrix
    size = np.abs(matrix.data)
    least, most = least_by_row(size, matrix), most_by_row(size, matrix)
    counts = least >= most  # all coefficients are equal to 1
    by = np.where(counts | (least <= 0), 1.0, least)
    sides = np.stack([np.where(np.isfinite(side), np.abs(side), 0.0) for side in (form.low, form.high)])
    widened = np.where(counts, 0.0, form.side_error + FEASIBLE * sides.max(axis=0)) / by
    low, high = (np.where(counts, _nearest_integer(side), side / by) for side in (form.low, form.high))
    matrix = sp.csr_array((matrix.data / by[entry_rows(matrix)], matrix.indices, matrix.indptr), shape=form.shape)
    return replace(form, coefficients=matrix, low=low - widened, high=high + widened), bool(
        (most > WIDEST_RATIO * by)[~counts].any()
    )


def _is_violated(form: LinearForm, x: np.ndarray) -> bool:
    """Return whether integer counts violate a row by more than HiGHS's precision; computed without rounding."""
    every = np.arange(form.shape[0])
    low, high = (np.where(np.isfinite(side), side, 0.0) for side in (form.low, form.high))
    short = np.where(np.isfinite(form.low), -exact_residuals(form, x, every, low), 0.0)
    beyond = np.where(np.isfinite(form.high), exact_residuals(form, x, every, high), 0.0)
    return bool((np.maximum(short, beyond) > INTEGER_PRECISION).any())


def _nearest_integer(side: np.ndarray) -> np.ndarray:
    """Replace numbers that are integers up to rounding by these integers."""
    with np.errstate(invalid="ignore"):
        nearest = np.rint(side)
        return np.where(np.abs(side - nearest) <= INTEGER_ROUNDING, nearest, side)


def _components_with(form: LinearForm, asked: np.ndarray) -> Iterator[tuple[LinearForm, np.ndarray]]:
    """Yield the independent components that contain requested terms, with all terms of each."""
    of_row, of_term = form.components()
    form = replace(form, coefficients=(matrix := form.matrix))  # one matrix: faster selection of small parts
    by_term = sp.csc_array(matrix)
    for component in np.unique(of_term[asked]):
        terms, rows = np.flatnonzero(of_term == component), of_row == component
        smaller = form.select(rows)
        kept = sp.csr_array(by_term[:, terms])[np.flatnonzero(rows)]
        yield replace(smaller, coefficients=sp.csr_array(kept), weights=form.weights[terms]), terms
