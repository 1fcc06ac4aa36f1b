"""Attempts: presolve, a solver, postsolve and the certificate, repeated in other ways until the answer is precise."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .._utils.errors import Infeasible, NotDecided, SolverError
from .answer import Answer, Status
from .backends import SOLVERS, Backend, CvxpyBackend
from .certificate import Certificate, ConvexTerms, Solution, certify, project, uncertified
from .convex import exceeded, multipliers_at, tangent
from .costs import PENALTY_ROUNDING
from .dual import within_reach
from .duality import exact_residuals
from .explain import contradiction, failure
from .extension import AddedRows, extended
from .form import Convex, LinearForm, Problem, Settled
from .monitor import Monitor, solved_together
from .newton import facial_reduction
from .parameters import EPS
from .presolve import Reduced, reduce
from .proofs import local_proofs, support_proof
from .schur import MOST_DENSE_WORK

__all__ = ["NEWTON", "Attempt", "Request", "answered", "attempts", "certificate_of", "presolved", "solve_by_components"]

#: Terms up to which a linear program takes milliseconds, and may be solved repeatedly.
QUICK_LINEAR = 2_000
#: Terms up to which an interior-point method takes seconds; it helps where coefficients differ much in size.
LARGEST_CONIC = 20_000
#: Terms up to which a problem is solved again without presolve, which may take minutes.
LARGEST_UNREDUCED = 100_000
#: Rows of knowledge from which on a linear program for each component of them saves more than it costs, and from which
#: on a certified answer is not sought once more from the beginning.
MUCH_KNOWLEDGE = 2_000
#: Terms times rows squared up to which the null space of rows is computed, some ten seconds.
MOST_NULL_SPACE_WORK = 2e10
#: Problems into which one is divided: the largest independent components by themselves, the others together.
MOST_COMPONENTS = 16
#: Nats per record: multipliers of soft rows that cancel each other matter from here on, where they are rounded by
#: 1e-10.
OPPOSED = 1e6
#: Relative to the largest: a smaller singular value of rows is that of rows that depend on each other.
DEPENDENT = 1e-10
#: A probability: an answer with a larger certified error is improved, if it can be. Of a thousand statements terms
#: that are known to be zero up to 1e-11 records alone make the certified error 1e-7.
PRECISE = 1e-6
#: Records: what counts as zero after an attempt that is not certified, so that P = 1 - 1e-9 is not read as 1.
STRICT_ZERO = 1e-12

# Independent components of a problem, each solved by itself.
#
# A component then takes no more iterations than it needs, and a hard one does not make the others less precise. Those
# of a method that goes step by step are solved together, one step of each at a time, and are logged as one.


#: Every status, from the best to the worst.
BEST_TO_WORST = (Status.OPTIMAL, Status.INACCURATE, Status.LIMIT, Status.FAILED, Status.INFEASIBLE)


def solve_by_components(
    backend: Backend, form: LinearForm, start: np.ndarray, monitor: Monitor | None = None, **options: Any
) -> Answer:
    """Solve every independent component, and assemble the answers."""
    monitor = monitor or Monitor()
    steps = getattr(backend, "steps", None)
    if steps is not None and form.shape[0] ** 2 * form.shape[1] <= MOST_DENSE_WORK:
        return in_one_call(backend, form, start, monitor, **options)
    components = list(_components(form))
    if len(components) == 1:
        del components  # numbers of every row and term, which the solve needs not hold
        return in_one_call(backend, form, start, monitor, **options)
    if steps is not None:
        begun = monitor.seconds
        answers, log = solved_together(
            [steps(_part(form, *each), start[each[0]], **options) for each in components], monitor
        )
        seconds = [monitor.seconds - begun]
    else:
        answers, log = [], []
        for number, (rows, terms) in enumerate(components, start=1):
            watching = monitor.of_part(number, len(components))
            answer = in_one_call(backend, _part(form, rows, terms), start[rows], watching, **options)
            answers.append(answer)
            log += [{"part": number, **line} for line in answer.log]
            if answer.counts is None or answer.multipliers is None:
                break
        seconds = [answer.solve_seconds for answer in answers]
    return _assembled(form, components, answers, log, sum(seconds))


def in_one_call(backend: Backend, form: LinearForm, start: np.ndarray, monitor: Monitor, **options: Any) -> Answer:
    """Solve a problem as a whole; of a backend without a log, how it ended is logged as one line."""
    answer = backend.solve(form, start, monitor=monitor, **options)
    line: Mapping[str, Any] = answer.log[-1] if answer.log else {"iteration": answer.iterations}
    if not answer.log:
        residual = np.nan if answer.counts is None else float(form.residual(answer.counts).max(initial=0.0))
        line = {**line, "residual": residual, "seconds": monitor.seconds, "status": str(answer.status)}
        answer = replace(answer, log=[line])
    if getattr(backend, "steps", None) is None:
        monitor.end_part({**line, "status": str(answer.status)})
    return answer


def _assembled(
    form: LinearForm,
    components: list[tuple[np.ndarray, np.ndarray]],
    answers: list[Answer],
    log: list[Any],
    seconds: float,
) -> Answer:
    """One answer of those of all components."""
    counts, multipliers, proofs = np.zeros(form.shape[1]), np.zeros(form.shape[0]), []
    for (rows, terms), answer in zip(components, answers, strict=False):
        if answer.counts is None or answer.multipliers is None:
            return answer
        counts[terms], multipliers[rows] = answer.counts, answer.multipliers
        for proof in answer.proofs:
            extended = np.zeros(form.shape[0])
            extended[rows] = proof
            proofs.append(extended)
    return Answer(
        max((answer.status for answer in answers), key=BEST_TO_WORST.index),
        counts,
        multipliers,
        max(answer.iterations for answer in answers),
        sum(answer.compile_seconds for answer in answers),
        seconds,
        "; ".join(dict.fromkeys(answer.message for answer in answers)),
        proofs,
        log,
    )


def _part(form: LinearForm, rows: np.ndarray, terms: np.ndarray) -> LinearForm:
    """The problem of one component."""
    return form.select(rows).select_terms(terms)


def _components(form: LinearForm) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows and terms of each component, the largest first; the others, and rows without terms, form the last.

    Components without knowledge are no hard ones: they are among the others, all of them together.
    """
    of_row, of_term = form.components()
    size = np.bincount(of_term, minlength=max(of_row.max(initial=0), of_term.max(initial=0)) + 1)
    restricted = np.bincount(of_row[form.n_published :], minlength=len(size)) > 0
    order = np.lexsort((-size, ~restricted))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    n_own = np.count_nonzero(restricted & (size > 0))
    n = min(int(n_own + (np.count_nonzero(size) > n_own)), MOST_COMPONENTS)
    row, term = np.minimum(rank[of_row], n - 1), np.minimum(rank[of_term], n - 1)
    for component in range(n):
        yield np.flatnonzero(row == component), np.flatnonzero(term == component)


# Implied zeros that bound propagation does not find: searched for before a solve, and after it.


def zeros_before_solve(problem: Problem, smaller: Reduced) -> Reduced:
    """Fix terms that the knowledge alone forces to zero, where there is much knowledge, before the solve.

    New zeros may force further ones, but few: on Adult a second round takes as long as the first, and finds next to
    none. Newton's method would prove zeros, too, but one after the other. Where no term is in two published rows, as of
    people of whom no values are published, it does so in less time than the linear programs take, and nothing is done.
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


def zeros_after_solve(form: LinearForm, smaller: Reduced, answer: Answer, *, by_linear_program: bool) -> np.ndarray:
    """Find terms that are nearly zero in an uncertified answer and can be proved zero."""
    assert answer.counts is not None
    hard, extended = smaller.form.hard, smaller.form.extend_to_soft
    upper = smaller.proved_zeros(form, [*answer.proofs, extended(facial_reduction(hard, answer.counts))])
    if by_linear_program and not np.isfinite(upper).any():
        return smaller.proved_zeros(form, [extended(support_proof(hard))])
    return upper


# Presolve for a backend: the reductions, and the implied zeros that the backend would not find by itself.


NEWTON = SOLVERS["DUAL_NEWTON"]


def presolved(
    problem: Problem, backend: Backend = NEWTON, most: np.ndarray | None = None, monitor: Monitor | None = None
) -> Reduced:
    """Presolve a problem for a backend.

    Newton's method proves implied zeros during the solve. Other solvers are inaccurate where rows force zeros, and
    conic ones report such answers as optimal; for them, the zeros that Newton's method proves are fixed beforehand.
    """
    try:
        smaller = zeros_before_solve(problem, reduce(problem, most, keep_small=backend is NEWTON))
        if backend is not NEWTON and smaller.terms.any():
            by_newton = solve_by_components(NEWTON, smaller.form, np.zeros(smaller.form.shape[0]), monitor)
            zeros = smaller.proved_zeros(problem.form, by_newton.proofs)
            if np.isfinite(zeros).any():
                smaller = reduce(problem, np.minimum(zeros, smaller.upper_bounds_of_zeros))
        return smaller
    except Infeasible as error:
        raise contradiction(problem) or error from None


# How a problem is to be solved: the backend, where it starts, and its options.


@dataclass(frozen=True, eq=False)
class Request:
    """How a problem is to be solved."""

    backend: Backend
    start: np.ndarray  # multipliers to start from, one per row of the problem
    presolve: bool = True  # whether the problem is reduced before it is solved
    polish: bool = False  # whether Newton's method continues from the backend's multipliers
    options: Mapping[str, Any] = field(default_factory=dict)  # options of the backend
    monitor: Monitor = field(default_factory=Monitor)  # what is told of the solve, and may stop it

    def at_full_precision(self) -> Request:
        """The same request with tolerance 0, unless the user has set a tolerance."""
        return replace(self, options={"tolerance": 0.0, **self.options})


# One attempt: a backend solves the reduced problem, postsolve restores the solution, and it is certified.


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
    solved, answer, name = answered(problem, request, reduced, start)
    if reduced.form is not problem.form:
        reduced.form.forget()  # the certificate is of the problem as posed, and needs memory of its own
    assert answer.counts is not None
    counts, begun = answer.counts, time.perf_counter()
    if problem.convex:
        answer = replace(answer, convex=multipliers_at(problem.convex, counts))
    try:
        certificate = _certified(problem, request, reduced, answer)
    except NotDecided:  # the time is over, and the answer is there
        certificate = uncertified(problem.form, counts)
    return Attempt(reduced, solved, Solution(answer, certificate, name, time.perf_counter() - begun))


def answered(
    problem: Problem, request: Request, reduced: Reduced, start: np.ndarray | None = None
) -> tuple[Answer, Answer, str]:
    """The answer to the reduced problem, that to the original problem, and the name of what solved it."""
    if start is None:
        form = reduced.form
        start = within_reach(form, form.project_to_dual_cone(reduced.start(request.start)))
    solved, name = _solved(problem, request, reduced, start)
    if solved.counts is None or solved.multipliers is None:
        raise failure(problem, request.backend.name, solved, None, request.monitor.stopped)
    return solved, _restored(problem.form, reduced, solved), name


def _solved(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray) -> tuple[Answer, str]:
    """Solve the reduced problem with the backend; also return the name of what solved it."""
    backend = request.backend
    if not reduced.terms.any():
        return Answer(
            Status.OPTIMAL, np.empty(0), np.empty(0), message="optimal: presolve found everything"
        ), "presolve"
    if problem.convex:
        options = {**request.options, "convex": problem.convex}
        return in_one_call(backend, reduced.form, start, request.monitor, **options), backend.name
    solved = solve_by_components(backend, reduced.form, start, request.monitor, **request.options)
    if request.polish and solved.multipliers is not None and not request.monitor.stopped:
        return _polished(reduced.form, solved, request.monitor), f"{backend.name}, polished by {NEWTON.name}"
    return solved, backend.name


def _polished(form: LinearForm, answer: Answer, monitor: Monitor) -> Answer:
    """Continue from a solver's multipliers with Newton's method on the dual."""
    assert answer.multipliers is not None
    monitor.say(f"going on with {NEWTON.name}")
    final = solve_by_components(NEWTON, form, answer.multipliers, monitor)
    return replace(
        final,
        iterations=answer.iterations + final.iterations,
        compile_seconds=answer.compile_seconds + final.compile_seconds,
        solve_seconds=answer.solve_seconds + final.solve_seconds,
    )


def _restored(form: LinearForm, reduced: Reduced, solved: Answer) -> Answer:
    """Postsolve: the answer to the original problem, from that to the reduced problem."""
    assert solved.counts is not None
    assert solved.multipliers is not None
    counts, multipliers = reduced.restore(solved.counts, solved.multipliers)
    return replace(
        solved,
        counts=counts,
        # A conic solver's multiplier of an inactive row may be 1e-19, with the sign of a side that the row lacks.
        multipliers=form.project_to_dual_cone(multipliers),
        proofs=reduced.restore_directions(solved.proofs),
    )


def _certified(problem: Problem, request: Request, reduced: Reduced, answer: Answer) -> Certificate:
    """Certify an answer to the original problem."""
    assert answer.counts is not None
    certificate = certificate_of(problem, reduced.settled, answer)
    if certificate.holds or reduced.fixed.any() or request.monitor.stopped:
        return certificate
    # Without presolve, terms that are forced to zero are positive in the answer; presolve tells the certificate which.
    try:
        reduced = presolved(problem, request.backend, monitor=request.monitor.quietly())
    except NotDecided:  # the time is over
        return certificate
    if not reduced.fixed.any():
        return certificate
    with_zeros = certificate_of(problem, reduced.settled_for(answer.counts), answer)
    return min(certificate, with_zeros, key=lambda one: one.bound)


def certificate_of(problem: Problem, settled: Settled, answer: Answer) -> Certificate:
    """Certify an answer, given the terms that are fixed."""
    form, groups = problem.form, problem.groups
    counts, multipliers = answer.counts, answer.multipliers
    assert counts is not None
    assert multipliers is not None
    if not problem.convex:
        return certify(form, groups, counts, multipliers, settled, answer.proofs)
    try:
        posed = _at_tangents(problem.form, problem.convex, counts, multipliers)
        # Where the tangents hold, the constraints are violated to second order in the distance to the point that they
        # are made at. At the projection that distance is of the order of roundoff.
        near = project(posed.form, np.maximum(counts, 0.0), settled.fixed)
        if near is not None:
            posed = _at_tangents(problem.form, problem.convex, near, multipliers)
    except SolverError:  # some of CVXPY's functions have no gradient
        return uncertified(form, counts)
    return certify(
        posed.form, groups, counts, posed.multipliers, settled, convex=ConvexTerms(
            exceeded=exceeded(problem.convex.by_name, problem.convex.variable, posed.rows)
        ),
    )  # fmt: skip


class _Tangents(NamedTuple):
    """Rows with the tangents of convex constraints, the multipliers of all, and which rows are those of a constraint.

    A convex set lies inside its tangent half-spaces, and at the solution these have the multipliers of the constraint.
    """

    form: LinearForm
    multipliers: np.ndarray
    rows: dict[str, np.ndarray]


def _at_tangents(form: LinearForm, convex: Convex, at: np.ndarray, multipliers: np.ndarray) -> _Tangents:
    """Add the tangents of all convex constraints at a point."""
    tangents: dict[Hashable, AddedRows] = {
        name: tangent(one, convex.variable, at, name) for name, one in convex.by_name
    }
    extension = extended(form, tangents, form.weights)
    found = np.zeros(extension.form.shape[0])
    found[extension.original] = multipliers
    for name, one in convex.by_name:
        rows = extension.added[name]
        dual = np.atleast_1d(np.asarray(one.dual_value, dtype=float)).ravel(order="F")
        found[rows] = -dual / extension.form.scale[rows]
    return _Tangents(extension.form, found, {name: extension.added[name] for name, _ in convex.by_name})


# Soft rows that contradict each other at great cost: the same problem with multipliers of moderate size.
#
# Let two soft rows say that K x is .3 and .35, with standard deviations of 10^-6. Each misses its side b by a residual
# r = b - K x of about .03, and has the multiplier m = r / v = 10^10, v being its variance. These cancel in A' m, of
# which only rounding is left. For any multipliers m0 of the rows, and e = A' m0,
#
#     sum r^2 / (2 v)  =  sum (r - v m0)^2 / (2 v) - e' x + constant
#
# on the points that satisfy the hard rows: with the sides b - v m0 and the weights w exp(e) the problem is the same,
# and its multipliers are m - m0. So m0 is chosen in the null space of A', where it minimises the dual function but for
# the entropy, and e, which is rounding, is computed exactly.


def balanced(problem: Problem, reduced: Reduced) -> tuple[Problem, np.ndarray] | None:
    """The same problem with smaller multipliers, and what is to be added to these; None if there are no such."""
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
    if not len(rows) or not len(terms) or len(terms) * len(rows) ** 2 > MOST_NULL_SPACE_WORK:
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


#: The interior-point method for problems on which Newton's method on the dual reaches its iteration limit, as with
#: badly scaled rows.
INTERIOR_POINT = SOLVERS["CLARABEL"]


def attempts(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Yield attempts, until the caller is satisfied; the last with the rows as typed, if some were rewritten.

    Rewritten rows take the numbers as typed for exact, and magnify their last digits. Where these alone contradict each
    other, or keep a solver from the answer, the rows as typed allow for the rounding of their numbers.
    """
    form, typed, tried = problem.form, problem.as_typed, None
    try:
        for tried in _in_several_ways(problem, request):
            yield tried
            if tried.holds:
                typed = None
    except Infeasible as error:
        if typed is None or error.conflict is not None or problem.convex or request.monitor.stopped:
            raise
        tried = None  # the rows contradict each other by no more than rounding explains
    if tried is not None and (
        tried.holds or problem.convex or request.backend is not NEWTON or request.monitor.stopped
    ):
        return
    if tried is not None and (found := balanced(problem, tried.reduced)) is not None:
        request.monitor.say("once more, with soft rows whose costs are in balance")
        other, added = found
        for one in _in_several_ways(other, replace(request, start=other.start)):
            yield _with_multipliers(one, lambda m: m + added)
    if typed is not None:
        request.monitor.say("once more, with the rows as typed")
        for one in _in_several_ways(typed, replace(request, start=form.original_multipliers(request.start))):
            yield _with_multipliers(one, form.transformed_multipliers)


def _with_multipliers(found: Attempt, change: Callable[[np.ndarray], np.ndarray]) -> Attempt:
    """An attempt at an equivalent problem, with the multipliers of the problem as posed."""
    answer = found.solution.answer
    assert answer.multipliers is not None
    answer = replace(answer, multipliers=change(answer.multipliers), proofs=())
    return replace(found, solution=replace(found.solution, answer=answer))


def _in_several_ways(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Yield attempts: first as requested, then, with the default solver, in other ways.

    A conic solver is called once more with stricter tolerances. For the default solver the ways are: by an
    interior-point method, if Newton's method reached its iteration limit; at full precision, with a stricter tolerance
    for zeros if terms are zero only up to a tolerance; without terms that can be proved zero from an uncertified
    answer; without presolve.
    """
    if problem.convex or not request.presolve:
        reduced = Reduced.identity(problem.form)
    else:
        reduced = presolved(problem, request.backend, monitor=request.monitor.quietly())
    size = " and ".join(f"{n:,} {what}" for n, what in zip(reduced.form.shape, ("rows", "terms"), strict=True))
    request.monitor.say(f"{request.backend.name} is given {size}, after {request.monitor.seconds:.2f} seconds")
    tighter = _tighter(request)
    try:
        yield (first := attempt(problem, request, reduced))
    except SolverError:
        if tighter is None or request.monitor.stopped:
            raise
        first = None
    # Without a first answer the second call is made even if the time is over by now: its error says so.
    if tighter is not None and (first is None or not request.monitor.stopped):
        request.monitor.say(f"once more, by {request.backend.name} with stricter tolerances")
        try:
            yield attempt(problem, tighter, reduced)
        except SolverError:
            if first is None:
                raise
    if problem.convex or request.backend is not NEWTON or first is None:
        return
    tolerates_zeros = request.presolve and (first.reduced.width.any() or len(first.solved.proofs) > 0)
    strict = _with_strict_zeros(problem, request.at_full_precision())  # presolved; if not certified, not presolved
    if tolerates_zeros and first.solved.status is Status.OPTIMAL and _may_begin_again(problem, request, first):
        yield (later := next(strict))
        if later.holds:
            return
        first = later if later.bound < first.bound else first
    for later in _on_same_problem(problem, request, first):
        first = later if later.bound <= first.bound else first  # if both bounds are infinite, prefer the later one
        yield later
    # A user who limits iterations does not want linear programs, either.
    limited = first.solved.status is Status.LIMIT and "max_iterations" in request.options
    if request.presolve and not first.holds and not limited:
        yield from _without_proved_zeros(problem, request, first)
    if _may_begin_again(problem, request, first):
        yield from strict


def _may_begin_again(problem: Problem, request: Request, first: Attempt) -> bool:
    """Whether to solve once more from the beginning; where much is known that takes as long as all before."""
    if first.holds and _much_is_known(problem):
        return False
    return problem.form.shape[1] <= LARGEST_UNREDUCED and "max_iterations" not in request.options


def _tighter(request: Request) -> Request | None:
    """The same request of a conic solver with stricter tolerances, if it has any."""
    backend = request.backend
    tighter = backend.tighter(request.options) if isinstance(backend, CvxpyBackend) else None
    return None if tighter is None else replace(request, backend=tighter)


def _on_same_problem(problem: Problem, request: Request, first: Attempt) -> Iterator[Attempt]:
    """Start from an interior-point answer, if Newton's method reached its limit; then continue at full precision.

    Where that would take long, it is tried only if rounding leaves something to gain.
    """
    reduced = first.reduced
    limited = first.solved.status is Status.LIMIT and "max_iterations" not in request.options
    if limited and reduced.form.shape[1] <= LARGEST_CONIC and INTERIOR_POINT.installed:
        request.monitor.say(f"once more, by {INTERIOR_POINT.name}")
        with suppress(SolverError):
            first = attempt(problem, replace(request, backend=INTERIOR_POINT, polish=True, options={}), reduced)
            yield first
    if _much_is_known(problem) and first.holds and _is_rounding(first):
        return
    if first.solved.status is Status.OPTIMAL and reduced.terms.any():
        request.monitor.say("going on at full precision")
        yield attempt(problem, request.at_full_precision(), reduced, first.solved.multipliers)


def _much_is_known(problem: Problem) -> bool:
    return problem.form.shape[0] - problem.form.n_facts >= MUCH_KNOWLEDGE


def _is_rounding(found: Attempt) -> bool:
    """Whether rows are missed by no more than counts w exp(A' m - 1) are rounded by where multipliers m are large."""
    form, counts, multipliers = found.reduced.form, found.solved.counts, found.solved.multipliers
    assert counts is not None
    assert multipliers is not None
    rounded = EPS * form.absolute_matvec(counts * form.absolute_rmatvec(np.abs(multipliers)))
    return bool(form.residual(counts).max(initial=0.0) <= rounded.max(initial=0.0))


def _without_proved_zeros(problem: Problem, request: Request, first: Attempt) -> Iterator[Attempt]:
    """Fix terms that are nearly zero and can be proved zero, as long as each round fixes at least one more."""
    failed = failure(problem, request.backend.name, first.solved, first.solution.certificate)
    if isinstance(failed, Infeasible):
        raise failed
    n_fixed = -1
    for number in itertools.count():
        if np.count_nonzero(first.reduced.fixed) <= n_fixed or first.solved.status is Status.LIMIT:
            return  # presolve cannot fix the zeros: their widths count for something in some row
        n_fixed = int(np.count_nonzero(first.reduced.fixed))
        reduced, is_small = first.reduced, first.reduced.form.shape[1] <= QUICK_LINEAR
        zeros = zeros_after_solve(problem.form, reduced, first.solved, by_linear_program=number == 0 or is_small)
        if not np.isfinite(zeros).any():
            return
        known = np.minimum(zeros, reduced.upper_bounds_of_zeros)
        reduced = presolved(problem, request.backend, known, request.monitor.quietly())
        request.monitor.say("once more, without terms that the answer proved zero")
        yield (first := attempt(problem, request, reduced))


def _with_strict_zeros(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Solve again with a stricter tolerance for zeros; if that is not certified, also without presolve."""
    problem = problem.with_rows(replace(problem.form, zero_tolerance=STRICT_ZERO))
    unreduced = Reduced.identity(problem.form)
    request.monitor.say("once more, with a stricter tolerance for zeros")
    yield (first := attempt(problem, request, presolved(problem) if request.presolve else unreduced))
    if request.presolve and not first.holds:
        request.monitor.say("once more, without presolve")
        yield attempt(problem, request, unreduced)
