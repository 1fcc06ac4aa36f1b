"""The sequence of attempts: first as requested, then in other ways where that was not precise enough."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...errors import Infeasible, SolverError
from ..answer import Status
from ..backends.cvxpy_backend import CvxpyBackend
from ..backends.registry import SOLVERS
from ..explain import failure
from ..parameters.size_limits import ATTEMPT_SIZES
from ..parameters.tolerances import ATTEMPTS, EPS
from ..presolve.reduced import Reduced
from ..program.problem import Problem
from .attempt import Attempt, attempt
from .forced_zeros import zeros_after_solve
from .opposed_costs import balanced
from .presolving import NEWTON, presolved
from .request import Request

__all__ = ["attempts"]

#: The interior-point method for problems on which Newton's method on the dual reaches its iteration limit, as with
#: badly scaled rows.
INTERIOR_POINT = SOLVERS["CLARABEL"]


def attempts(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Yield attempts, until the caller is satisfied; the last with the rows as typed, if some were rewritten.

    Rewritten rows take the numbers as typed for exact, and magnify their last digits. Where these alone contradict each
    other, or keep a solver from the answer, the rows as typed allow for the rounding of their numbers.

    Raises
    ------
    Infeasible
        If no certified answer was found because rows contradict each other by more than rounding explains.
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

    Raises
    ------
    Infeasible
        If no certified answer was found because rows contradict each other.
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
    return problem.form.shape[1] <= ATTEMPT_SIZES.largest_unreduced and "max_iterations" not in request.options


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
    if limited and reduced.form.shape[1] <= ATTEMPT_SIZES.largest_conic and INTERIOR_POINT.installed:
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
    return problem.form.shape[0] - problem.form.n_facts >= ATTEMPT_SIZES.much_knowledge


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
        reduced, is_small = first.reduced, first.reduced.form.shape[1] <= ATTEMPT_SIZES.quick_linear
        zeros = zeros_after_solve(problem.form, reduced, first.solved, by_linear_program=number == 0 or is_small)
        if not np.isfinite(zeros).any():
            return
        known = np.minimum(zeros, reduced.upper_bounds_of_zeros)
        reduced = presolved(problem, request.backend, known, request.monitor.quietly())
        request.monitor.say("once more, without terms that the answer proved zero")
        yield (first := attempt(problem, request, reduced))


def _with_strict_zeros(problem: Problem, request: Request) -> Iterator[Attempt]:
    """Solve again with a stricter tolerance for zeros; if that is not certified, also without presolve."""
    problem = problem.with_rows(replace(problem.form, zero_tolerance=ATTEMPTS.strict_zero))
    unreduced = Reduced.identity(problem.form)
    request.monitor.say("once more, with a stricter tolerance for zeros")
    yield (first := attempt(problem, request, presolved(problem) if request.presolve else unreduced))
    if request.presolve and not first.holds:
        request.monitor.say("once more, without presolve")
        yield attempt(problem, request, unreduced)
