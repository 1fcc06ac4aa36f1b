"""Attempts: presolve, solve, postsolve and certify; repeated in another way if the answer is not precise enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .._utils.errors import Infeasible, NotDecided, SolverError
from .answer import Answer, Status, point_of
from .backends import SOLVERS, Backend, CvxpyBackend, DualBackend
from .certificate import PRECISE, Certificate, ConvexTerms, Solution, by_distance, certify, fitted, project, uncertified
from .convex import exceeded, multipliers_at, tangent
from .costs import PENALTY_ROUNDING
from .duality import exact_residuals
from .explain import contradiction, failure
from .extension import Extension, extended
from .form import Convex, LinearForm, Problem, Settled
from .monitor import Monitor
from .newton import newton
from .parameters import EPS
from .presolve import Reduced, reduce
from .proofs import LOWERED, local_proofs, recession_part, support_proof

#: From this number of rows of knowledge, a linear program for each of their components saves more than it costs, and a
#: certified answer is not computed again from the start.
MUCH_KNOWLEDGE = 2_000
#: The largest product of terms and squared rows for which the null space of rows is computed, about ten seconds.
MOST_NULL_SPACE_WORK = 2e10
#: Nats per record: from this size on, multipliers of soft rows that cancel each other matter, since they are rounded
#: by 1e-10.
OPPOSED = 1e6
#: Relative to the largest singular value: smaller ones indicate linear dependence of rows.
DEPENDENT = 1e-10
#: Records: the tolerance for zeros in the second attempt, so that P = 1 - 1e-9 is not treated as 1; and the largest
#: number of terms for which zeros are searched for after a solve, by presolve with it or by a linear program.
STRICT_ZERO, LARGEST_AGAIN = 1e-14, 100_000
#: Records: a term whose count is smaller than this after a solve may be zero.
VANISHED = 1e-9
#: The largest number of terms for which a linear program searches for those zeros that the multipliers do not prove. On
#: Adult's rules with exact scores it took 34 s for 13,210 terms and 60 s for 28,988, and proved none.
MOST_LINEAR = 3_000
#: Steps of Newton's method from multipliers fitted to an answer; a nearly exact answer needs a few.
NEARBY_STEPS = 20
#: How often the tangents of convex constraints are recomputed.
NEARBY_ROUNDS = 3
#: Fields of an answer that are added to those of its continuation by another method.
SUMMED = ("iterations", "compile_seconds", "solve_seconds")

# Implied zeros that bound propagation does not find, computed before a solve and after it.


def zeros_before_solve(problem: Problem, smaller: Reduced) -> Reduced:
    """Fix terms that the knowledge alone forces to zero before the solve, if there is much knowledge.

    New zeros may force further ones, but few: on Adult a second round takes as long as the first, and finds almost
    none. Newton's method would also prove zeros, but one after the other. If no term is in two published rows, as for
    people without published values, Newton's method is faster than the linear programs, and nothing is done.
    """
    form = smaller.form
    if form.shape[0] - form.n_facts < MUCH_KNOWLEDGE:
        return smaller
    if np.diff(problem.form.published_by_term.indptr).max(initial=0) <= 1:
        return smaller
    upper = smaller.proved_zeros(problem.form, map(form.extend_to_soft, local_proofs(form.hard)))
    if not np.isfinite(upper).any():
        return smaller
    return reduce(problem, np.minimum(upper, smaller.upper_bounds_of_zeros))


def zeros_after_solve(problem: Problem, reduced: Reduced, solved: Answer, counts: np.ndarray) -> Reduced | None:
    """Fix terms that rows force to zero and that the solve did not prove to be zero; None if there are none.

    Newton's method proves the zeros that it approaches slowly. It does not see those that are zero up to rounding from
    the start, as after a warm start, or in a few steps, and the certificate cannot move such counts to exactly 0.
    `counts` are those of the original problem. A direction that is found is only a candidate: `proved_zeros` verifies it.
    """
    vanished = ~reduced.fixed & (counts < VANISHED * np.minimum(problem.form.weights, 1.0))
    if not vanished.any() or reduced.form.shape[1] > LARGEST_AGAIN:
        return None
    if np.isfinite(reduced.proved_zeros(problem.form, solved.proofs)[vanished]).all():
        return None
    form, proofs = reduced.form, list[np.ndarray]()
    of_solved, multipliers = point_of(solved)
    small = of_solved < VANISHED * np.minimum(form.weights, 1.0)
    searches: list[Callable[[], np.ndarray]] = [
        partial(recession_part, form.hard, multipliers[: form.n_hard], of_solved)
    ]

    def last_without_effect_on_others() -> np.ndarray:
        """Remove the effect of the last direction, which HiGHS determines to nine digits only, on terms it does not lower."""
        last = proofs[0][: form.n_hard]
        return recession_part(form.hard, last, np.where(form.hard.rmatvec(last) < -LOWERED / 2, 0.0, 1.0))

    if len(small) <= MOST_LINEAR:
        searches += [partial(support_proof, form.hard, small), last_without_effect_on_others]
    with suppress(NotDecided, Infeasible):  # at the time limit; up to rounding
        for search in searches:
            # The last comes first: the widths of the terms that it fixes are the smallest, and weaken the others least.
            proofs.insert(0, form.extend_to_soft(search()))
            upper = reduced.proved_zeros(problem.form, proofs)
            if np.isfinite(upper[vanished]).all():
                break
        if np.isfinite(upper).any():
            smaller = reduce(problem, np.minimum(upper, reduced.upper_bounds_of_zeros))
            # Otherwise the same problem would be solved again without end.
            return smaller if smaller.fixed.sum() > reduced.fixed.sum() else None
    return None


# Presolve for a backend: the reductions, and the implied zeros that the backend would not find.


NEWTON = SOLVERS["DUAL_NEWTON"]


def presolved(problem: Problem, backend: Backend = NEWTON, monitor: Monitor | None = None) -> Reduced:
    """Presolve a problem for a backend.

    Newton's method proves implied zeros during the solve. Other solvers are inaccurate if rows force zeros, and conic
    solvers report such answers as optimal; for them, the zeros that Newton's method proves are fixed beforehand.
    """
    try:
        smaller = zeros_before_solve(problem, reduce(problem, keep_small=backend is NEWTON))
        if backend is not NEWTON and smaller.terms.any():
            by_newton = newton(smaller.form, monitor=monitor)
            zeros = smaller.proved_zeros(problem.form, by_newton.proofs)
            if np.isfinite(zeros).any():
                smaller = reduce(problem, np.minimum(zeros, smaller.upper_bounds_of_zeros))
        return smaller
    except Infeasible as error:
        raise contradiction(problem) or error from None


# The request: the backend, its starting point, and its options.


@dataclass(frozen=True, eq=False)
class Request:
    """The way in which a problem is to be solved."""

    backend: Backend
    start: np.ndarray  # multipliers to start from, one per row of the problem
    presolve: bool = True  # whether to reduce the problem before it is solved
    polish: bool = False  # whether to continue by Newton's method
    options: Mapping[str, Any] = field(default_factory=dict)  # options of the backend
    monitor: Monitor = field(default_factory=Monitor)  # receives the progress, and may stop the solve

    def at_full_precision(self) -> Request:
        """Return the request with tolerance 0, unless the user has set a tolerance."""
        return replace(self, options={"tolerance": 0.0, **self.options})


# One attempt: a backend solves the reduced problem, postsolve restores the solution, and the solution is certified.


@dataclass(frozen=True, eq=False)
class Attempt:
    """The result of one attempt."""

    reduced: Reduced  # the reduced problem
    solved: Answer  # the answer to the reduced problem
    solution: Solution  # the answer to the original problem

    @property
    def bound(self) -> float:
        """The certified bound on the error of every P(s | q)."""
        return self.solution.certificate.bound

    @property
    def holds(self) -> bool:
        """Whether the answer is certified."""
        return self.solution.certificate.holds


def attempt(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray | None = None) -> Attempt:
    """Solve the reduced problem, restore the solution of the original problem, and certify it."""
    reduced, solved, answer, name = _without_zeros(problem, request, answered(problem, request, reduced, start))
    begun, (counts, _) = time.perf_counter(), point_of(answer)
    if reduced.form is not problem.form:
        reduced.form.clear_cache()  # frees memory for the certificate of the problem as posed
    if problem.convex:
        answer = replace(answer, convex=multipliers_at(problem.convex, counts))
    try:
        answer, certificate = _certified(problem, request, reduced, solved, answer)
    except NotDecided:  # the time limit was reached, but there is an answer
        certificate = uncertified(problem.form, counts)
    return Attempt(reduced, solved, Solution(answer, certificate, name, time.perf_counter() - begun))


class Answered(NamedTuple):
    """The answers to the reduced and to the original problem, and the name of the solver."""

    reduced: Reduced
    solved: Answer
    answer: Answer
    name: str


def answered(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray | None = None) -> Answered:
    """Solve the reduced problem, and restore the solution of the original problem."""
    if start is None:
        form = reduced.form
        start = form.project_to_dual_cone(reduced.start(request.start))
    solved, name = _solved(problem, request, reduced, start)
    if solved.counts is None or solved.multipliers is None:
        raise failure(problem, request.backend.name, solved, None, request.monitor.stopped)
    return Answered(reduced, solved, _restored(problem.form, reduced, solved), name)


def _without_zeros(problem: Problem, request: Request, last: Answered) -> Answered:
    """Solve again without the terms that are proved to be zero, until there are none.

    This precedes the certificate, which would fail with them, and take longer.
    """
    if request.backend is not NEWTON or not request.presolve or problem.convex:
        return last
    while last.solved.status is Status.OPTIMAL:
        smaller = zeros_after_solve(problem, last.reduced, last.solved, point_of(last.answer)[0])
        if smaller is None:
            break
        request.monitor.say("solving again, without the terms that are proved to be zero")
        last = answered(problem, request.at_full_precision(), smaller)
    return last


def _solved(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray) -> tuple[Answer, str]:
    """Solve the reduced problem with the backend; also return the name of the solver."""
    backend, monitor = request.backend, request.monitor
    if not reduced.terms.any():
        return Answer(Status.OPTIMAL, np.empty(0), np.empty(0), message="optimal: solved by presolve"), "presolve"
    convex: dict[str, Any] = {"convex": problem.convex} if problem.convex else {}
    solved = backend.solve(reduced.form, start, monitor=monitor, **request.options, **convex)
    if not solved.log:  # one line with the result of a solver that keeps no log
        residual = np.nan if solved.counts is None else float(reduced.form.residual(solved.counts).max(initial=0.0))
        end = {"iteration": solved.iterations, "residual": residual, "seconds": monitor.seconds}
        solved = replace(solved, log=[{**end, "status": str(solved.status)}])
        monitor.show(solved.log[-1])
    if not request.polish or convex or solved.multipliers is None or monitor.stopped:
        return solved, backend.name
    monitor.say(f"continuing with {NEWTON.name}")
    final = newton(reduced.form, solved.multipliers, monitor=monitor)
    sums = {name: getattr(solved, name) + getattr(final, name) for name in SUMMED}
    return replace(final, **sums), f"{backend.name}, polished by {NEWTON.name}"


def _restored(form: LinearForm, reduced: Reduced, solved: Answer) -> Answer:
    """Postsolve: return the answer to the original problem, given that to the reduced problem."""
    counts, multipliers = reduced.restore(*point_of(solved))
    return replace(
        solved,
        counts=counts,
        # A conic solver's multiplier of an inactive row may be 1e-19, with the sign of a side that the row lacks.
        multipliers=form.project_to_dual_cone(multipliers),
        proofs=reduced.restore_directions(solved.proofs),
    )


def _certified(
    problem: Problem, request: Request, reduced: Reduced, solved: Answer, answer: Answer
) -> tuple[Answer, Certificate]:
    """Certify an answer to the original problem; return it with the multipliers that certify it best."""
    counts, _ = point_of(answer)
    known, best = reduced, (answer, certificate_of(problem, reduced.settled, answer))
    if not (best[1].holds or reduced.fixed.any() or request.monitor.stopped):
        # Without presolve, terms that are forced to zero are positive in the answer; presolve identifies them.
        with suppress(NotDecided):  # the time limit was reached
            zeros = presolved(problem, request.backend, monitor=request.monitor.quietly())
            if zeros.fixed.any():
                with_zeros = certificate_of(problem, zeros.settled_for(counts), answer)
                if with_zeros.bound <= best[1].bound:
                    known, best = zeros, (answer, with_zeros)
    if best[1].bound <= PRECISE or isinstance(request.backend, DualBackend) or request.monitor.stopped:
        return best
    request.monitor.say(f"{best[1]}; trying again with multipliers fitted to the counts")
    if problem.convex:
        others = _at_fitted_tangents(problem, request, known, answer)
    else:
        others = _by_fitted_multipliers(problem, request, reduced, solved, known, answer)
    with suppress(NotDecided):
        for other in others:
            best = min(best, other, key=lambda pair: pair[1].bound)
            if best[1].holds:
                break
    return best


def certificate_of(problem: Problem, settled: Settled, answer: Answer) -> Certificate:
    """Certify an answer, given the terms that are fixed."""
    counts, multipliers = point_of(answer)
    if not problem.convex:
        return certify(problem.form, problem.groups, counts, multipliers, settled, answer.proofs)
    try:
        extension, of_all = _at_tangents(problem.form, problem.convex, counts, multipliers)
        # Where the tangents hold, constraints are violated to second order in the distance from the tangent point. At
        # the projection, that distance is of the order of roundoff.
        near = project(extension.form, np.maximum(counts, 0.0), settled.fixed)
        if near is not None:
            extension, of_all = _at_tangents(problem.form, problem.convex, near, multipliers)
    except SolverError:  # some of CVXPY's functions have no gradient
        return uncertified(problem.form, counts)
    return _certificate_by_tangents(problem, extension, of_all, settled, counts)


def _at_tangents(
    form: LinearForm, convex: Convex, at: np.ndarray, multipliers: np.ndarray
) -> tuple[Extension, np.ndarray]:
    """Add the tangents of all convex constraints at a point; also return the multipliers of all rows.

    A convex set lies inside its tangent half-spaces, and at the solution they have the multipliers of the constraint.
    """
    tangents = {name: tangent(constraint, convex.variable, at, name) for name, constraint in convex.by_name}
    extension = extended(form, tangents, form.weights)
    of_all = np.zeros(extension.form.shape[0])
    of_all[extension.original] = multipliers
    for name, constraint in convex.by_name:
        rows = extension.added[name]
        dual = np.atleast_1d(np.asarray(constraint.dual_value, dtype=float)).ravel(order="F")
        of_all[rows] = -dual / extension.form.scale[rows]
    return extension, of_all


def _certificate_by_tangents(
    problem: Problem, extension: Extension, multipliers: np.ndarray, settled: Settled, counts: np.ndarray
) -> Certificate:
    """Certify counts by the multipliers of rows and tangents."""
    assert problem.convex is not None
    terms = ConvexTerms(exceeded=exceeded(problem.convex.by_name, problem.convex.variable, extension.added))
    return certify(extension.form, problem.groups, counts, multipliers, settled, convex=terms)


# Other multipliers for the certificate, where those of a solver are less precise than its counts.
#
# First they are fitted to the counts. Then some steps of Newton's method lead from them to a nearby point with its own
# certificate; the counts do not change, and are certified by their distance from that point.


def _by_fitted_multipliers(
    problem: Problem, request: Request, reduced: Reduced, solved: Answer, known: Reduced, answer: Answer
) -> Iterator[tuple[Answer, Certificate]]:
    """Certify an answer by multipliers fitted to it, and by a nearby point; `known` contains the fixed terms."""
    form, (counts, _) = reduced.form, point_of(answer)
    fit = fitted(form, *point_of(solved))
    if fit is None:
        return
    other = _restored(problem.form, reduced, replace(solved, multipliers=fit))
    yield other, certificate_of(problem, known.settled_for(counts), other)
    refined = newton(form, fit, max_iterations=NEARBY_STEPS, monitor=request.monitor.quietly())
    if refined.counts is not None and refined.status is not Status.INFEASIBLE:
        near = _restored(problem.form, reduced, refined)
        counts_of_near, _ = point_of(near)
        certificate = certificate_of(problem, known.settled_for(counts_of_near), near)
        other = replace(answer, multipliers=near.multipliers, proofs=near.proofs)
        yield other, by_distance(certificate, counts_of_near, counts, problem)


def _at_fitted_tangents(
    problem: Problem, request: Request, known: Reduced, answer: Answer
) -> Iterator[tuple[Answer, Certificate]]:
    """Certify an answer likewise if there are convex constraints, replaced by their tangents at the nearby point."""
    assert problem.convex is not None
    counts, multipliers = point_of(answer)
    near = np.maximum(counts, 0.0)
    for _ in range(NEARBY_ROUNDS):
        try:
            extension, of_all = _at_tangents(problem.form, problem.convex, near, multipliers)
        except SolverError:  # some of CVXPY's functions have no gradient
            return
        fit = fitted(extension.form, near, of_all)
        if fit is None:
            return
        certificate = _certificate_by_tangents(problem, extension, fit, known.settled_for(counts), counts)
        yield replace(answer, multipliers=fit[extension.original]), certificate
        refined = newton(extension.form, fit, max_iterations=NEARBY_STEPS, monitor=request.monitor.quietly())
        if refined.counts is None or refined.multipliers is None or refined.status is Status.INFEASIBLE:
            return
        near, multipliers = refined.counts, refined.multipliers[extension.original]
        certificate = _certificate_by_tangents(problem, extension, refined.multipliers, known.settled_for(near), near)
        yield replace(answer, multipliers=multipliers), by_distance(certificate, near, counts, problem)


# Soft rows that contradict each other at great cost: an equivalent problem with multipliers of moderate size.
#
# Let two soft rows state that K x is .3 and .35, with standard deviations of 10^-6. Each misses its side b by a
# residual r = b - K x of about .03, and has the multiplier m = r / v = 10^10, where v is its variance. These cancel in
# A' m, and only rounding errors remain. For any multipliers m0 of the rows, and e = A' m0,
#
#     sum r^2 / (2 v)  =  sum (r - v m0)^2 / (2 v) - e' x + constant
#
# on the points that satisfy the hard rows: with the sides b - v m0 and the weights w exp(e) the problem is the same,
# and its multipliers are m - m0. So m0 is chosen in the null space of A', where it minimises the dual function without
# the entropy, and e, which consists of rounding errors, is computed exactly.


def balanced(problem: Problem, reduced: Reduced) -> tuple[Problem, np.ndarray] | None:
    """Return an equivalent problem with smaller multipliers, and the summand that restores them, or None."""
    form, penalties, fixed = problem.form, problem.form.penalties, reduced.fixed
    if penalties is None:
        return None
    variance = np.zeros(form.shape[0])
    variance[form.n_hard :] = penalties.variance
    quadratic = np.zeros(form.shape[0], dtype=bool)
    quadratic[form.n_hard :] = np.isinf(penalties.slope) & ~penalties.is_divergence & (penalties.variance > 0)
    of_row, of_term = form.components(~fixed)
    concerned = np.isin(of_row, of_row[quadratic])
    exact = (form.coefficient_error == 0) & form.is_equation & concerned
    rows = np.flatnonzero(exact & (quadratic | (np.arange(form.shape[0]) < form.n_hard)))
    terms = np.flatnonzero(~fixed & np.isin(of_term, of_row[quadratic]))
    if not quadratic[rows].any() or not len(terms) or len(terms) * len(rows) ** 2 > MOST_NULL_SPACE_WORK:
        return None
    by_term = sp.csr_array(form.rows(rows)[:, terms].T)
    null = scipy.linalg.null_space(by_term.toarray(), rcond=DEPENDENT)
    v = variance[rows] / variance[rows].max()
    side = form.low[rows] - form.rows(rows) @ np.where(fixed, reduced.counts, 0.0)
    m = null @ np.linalg.lstsq(null.T @ (v[:, None] * null), null.T @ side)[0] / variance[rows].max()
    if not np.abs(m[quadratic[rows]]).max(initial=0.0) > OPPOSED:
        return None
    plain = LinearForm.plain(by_term, np.zeros(len(terms)), np.zeros(len(terms)))
    change = exact_residuals(plain, m, np.arange(len(terms)), np.zeros(len(terms)))
    moved = variance[rows] * m
    low, weights, error = form.low.copy(), form.weights.astype(float), form.side_error.copy()
    low[rows] -= moved
    with np.errstate(over="ignore"):
        weights[terms] *= np.exp(change)
    if not (np.isfinite(weights) & (weights > 0)).all():
        return None
    error[rows] += PENALTY_ROUNDING * np.abs(moved) + EPS * np.abs(low[rows]) * (moved != 0)
    high = np.where(np.isin(np.arange(len(low)), rows), low, form.high)
    added = np.zeros(form.shape[0])
    added[rows] = m
    return problem.with_rows(replace(form, low=low, high=high, weights=weights, side_error=error)), added


def attempts(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Yield attempts until the caller is satisfied; if rows were rewritten, the last attempt uses the rows as typed.

    Rewritten rows treat the typed numbers as exact, and magnify their last digits. If these digits contradict each
    other, or prevent the solver from converging, the rows as typed allow for the rounding of their numbers.
    """
    form, typed, tried = problem.form, problem.as_typed, None
    try:
        for tried in _in_two_ways(problem, request):
            yield tried
            if tried.holds:
                typed = None
    except Infeasible as error:
        if typed is None or error.conflict is not None or problem.convex or request.monitor.stopped:
            raise
        tried = None  # rounding may explain the contradiction between the rows
    if tried is not None and (
        tried.holds or problem.convex or request.backend is not NEWTON or request.monitor.stopped
    ):
        return
    if tried is not None and (in_balance := balanced(problem, tried.reduced)) is not None:
        request.monitor.say("trying again, with soft rows whose costs are balanced")
        other, added = in_balance
        for again in _in_two_ways(other, replace(request, start=other.start)):
            yield _with_multipliers(again, lambda m: m + added)
    if typed is not None:
        request.monitor.say("trying again, with the rows as typed")
        for again in _in_two_ways(typed, replace(request, start=form.original_multipliers(request.start))):
            yield _with_multipliers(again, form.transformed_multipliers)


def _with_multipliers(earlier: Attempt, change: Callable[[np.ndarray], np.ndarray]) -> Attempt:
    """Return the attempt at an equivalent problem with the multipliers of the problem as posed."""
    answer = earlier.solution.answer
    answer = replace(answer, multipliers=change(point_of(answer)[1]), proofs=())
    return replace(earlier, solution=replace(earlier.solution, answer=answer))


def _in_two_ways(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Yield at most two attempts: as requested, and then in a way that depends on the result of the first.

    A conic solver is called again with stricter tolerances; for the default solver see :func:`_second_attempt`. On
    8,300 random models of twelve kinds a third attempt never improved the answer.
    """
    if problem.convex or not request.presolve:
        reduced = Reduced.identity(problem.form)
    else:
        reduced = presolved(problem, request.backend, monitor=request.monitor.quietly())
    size = " and ".join(f"{n:,} {what}" for n, what in zip(reduced.form.shape, ("rows", "terms"), strict=True))
    request.monitor.say(f"{request.backend.name} is given {size} after {request.monitor.seconds:.2f} seconds")
    backend = request.backend
    stricter = backend.tighter(request.options) if isinstance(backend, CvxpyBackend) else None
    try:
        yield (first := attempt(problem, request, reduced))
    except SolverError:
        if stricter is None or request.monitor.stopped:
            raise
        first = None
    # Without a first answer the second call is made even after the time limit: its error reports the limit.
    if stricter is not None and (first is None or not request.monitor.stopped):
        request.monitor.say(f"trying again, by {backend.name} with stricter tolerances")
        try:
            yield attempt(problem, replace(request, backend=stricter), reduced)
        except SolverError:
            if first is None:
                raise
    # A user who limits iterations does not want another attempt, either.
    if problem.convex or backend is not NEWTON or first is None or "max_iterations" in request.options:
        return
    if (second := _second_attempt(problem, request, first)) is not None:
        yield second


def _second_attempt(problem: Problem, request: Request, first: Attempt) -> Attempt | None:
    """Make one more attempt with the default solver if it can help, else return None.

    It has full precision, and a stricter tolerance for zeros if some terms are zero up to a tolerance only. If Newton's
    method did not converge from a warm start, it begins without one.
    """
    reduced, cold = first.reduced, problem.start
    if first.solved.status is not Status.OPTIMAL and not first.holds and not np.array_equal(request.start, cold):
        request.monitor.say("trying again, without the warm start")
        return attempt(problem, replace(request, start=cold), reduced)
    if first.solved.status is not Status.OPTIMAL or not reduced.terms.any():
        return None
    if first.holds and problem.form.shape[0] - problem.form.n_facts >= MUCH_KNOWLEDGE:
        return None  # another certificate would take as long as the first attempt
    request = request.at_full_precision()
    tolerates_zeros = request.presolve and (reduced.width.any() or len(first.solved.proofs) > 0)
    if tolerates_zeros and problem.form.shape[1] <= LARGEST_AGAIN:
        request.monitor.say("trying again, with a stricter tolerance for zeros")
        strict = problem.with_rows(replace(problem.form, zero_tolerance=STRICT_ZERO))
        return attempt(strict, request, presolved(strict))
    request.monitor.say("continuing at full precision")
    return attempt(problem, request, reduced, first.solved.multipliers)
