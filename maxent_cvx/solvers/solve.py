"""One solve: the sequence of attempts, the choice of the best answer, and the error if none is certified."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.errors import Infeasible, NotDecided, SolverError
from .answer import point_of
from .attempts import NEWTON, Request, attempts
from .backends import Backend, registered
from .blocks import single_thread
from .certificate import PRECISE, Solution, by_distance
from .convex_solve import solve_convex
from .explain import failure
from .form import Problem
from .monitor import Monitor, within

#: Conic solvers of the package, for convex constraints that cannot be solved by problems of rows.
CONIC = ("CLARABEL", "SCS")


@single_thread
def solve(
    problem: Problem,
    backend: Backend,
    *,
    presolve: bool = True,
    polish: bool = False,
    allow_inaccurate: bool = False,
    start: np.ndarray | None = None,
    monitor: Monitor | None = None,
    **options: Any,
) -> Solution:
    """Maximise sum x log(w / x) subject to the rows of a problem, and certify the answer."""
    monitor = monitor or Monitor()
    require_supported(backend, problem, monitor)
    if problem.convex and polish:
        raise SolverError(
            "polish=True continues from an answer to linear rows, but the model contains a convex constraint; omit it, "
            "or solve the model by DUAL_NEWTON from the start"
        )
    backend.check(options)
    request = Request(backend, problem.start if start is None else start, presolve, polish, options, monitor)
    tried: list[Solution] = []
    try:
        with within(monitor.seconds_left):
            if problem.convex and backend is NEWTON:
                tried.extend(_by_rows(problem, request))
            else:
                for attempt in attempts(problem, request):
                    tried.append(attempt.solution)
                    if attempt.bound <= PRECISE or monitor.stopped:
                        break
                if problem.convex and not any(solution.certificate.holds for solution in tried):
                    # At a kink, as of |x| at 0, no single tangent need have a multiplier that fits.
                    for other in _by_default(problem, request):
                        tried += [_near(other, solution, problem) for solution in tried]
    except NotDecided:
        if not tried:
            raise
    except SolverError:
        if problem.convex and backend is not NEWTON and not monitor.stopped:
            _by_default(problem, request)
        raise
    return _judged(problem, request, tried, allow_inaccurate)


def _judged(problem: Problem, request: Request, tried: list[Solution], allow_inaccurate: bool) -> Solution:
    """Return the best of all solutions if it is certified; otherwise raise the error that explains it."""
    best, monitor = min(tried, key=lambda solution: solution.certificate.bound), request.monitor
    answer, certificate = best.answer, best.certificate
    monitor.say(f"{answer.status} in {answer.iterations} iterations, {monitor.seconds:.2f} seconds: {certificate}")
    if not certificate.holds:
        name = best.solver if problem.convex else request.backend.name
        try:
            with within(monitor.seconds_left):
                failed = failure(problem, name, answer, certificate, monitor.stopped)
        except NotDecided:  # the time limit was reached during the search for a contradiction
            failed = failure(problem, name, answer, certificate, monitor.stopped or "by its time limit")
        if not allow_inaccurate or isinstance(failed, Infeasible):
            raise failed
    return best


def _by_rows(problem: Problem, request: Request) -> list[Solution]:
    """Solve a problem with convex constraints by problems of rows or, if that is not certified, by conic solvers."""
    solutions, refused = list[Solution](), None
    if not request.presolve:
        request.monitor.say(
            "presolve=False has no effect: the problems of rows that replace convex constraints are always presolved"
        )
    try:
        solutions.append(solve_convex(problem, request))
    except Infeasible:
        raise
    except SolverError as error:
        refused = error
    for backend in registered():
        if solutions and solutions[-1].certificate.holds:
            break
        if not (backend.takes_convex and backend.installed and backend.name in CONIC):
            continue
        try:
            for other in attempts(problem, replace(request, backend=backend, options={})):
                solutions.append(other.solution)
                if other.holds:
                    break
        except SolverError as error:
            refused = refused or error
    if not solutions:
        assert refused is not None
        raise refused
    return solutions


def _by_default(problem: Problem, request: Request) -> list[Solution]:
    """Return the default solver's answer, if it has one.

    Raise Infeasible if the constraints provably contradict each other; a conic solver's status is not a proof.
    """
    with suppress(SolverError), within(request.monitor.seconds_left):
        return [solve_convex(problem, replace(request, backend=NEWTON, options={}, monitor=request.monitor.quietly()))]
    return []


def _near(other: Solution, solution: Solution, problem: Problem) -> Solution:
    """Certify the counts of a solution by their distance from another, with the multipliers of the other."""
    (near, multipliers), (counts, _) = point_of(other.answer), point_of(solution.answer)
    answer = replace(solution.answer, multipliers=multipliers, convex=other.answer.convex)
    return replace(solution, answer=answer, certificate=by_distance(other.certificate, near, counts, problem))


def require_supported(backend: Backend, problem: Problem, monitor: Monitor) -> None:
    """Raise SolverError, with alternatives, if a backend does not support the monitor or the constraints of a problem."""
    form = problem.form
    inequalities, n_soft = np.flatnonzero(~form.is_equation), form.shape[0] - form.n_hard
    if np.isfinite(monitor.time_limit) and not backend.takes_time_limit:
        capability, lacks = "takes_time_limit", "cannot be given a time limit; omit time_limit, or"
    elif monitor.callback is not None and not backend.takes_callback:
        capability, lacks = "takes_callback", "does not report its iterations while it runs; omit callback, or"
    elif problem.convex and not backend.takes_convex:
        capability = "takes_convex"
        lacks = "supports linear rows only, but the model contains a user-defined convex constraint;"
    elif len(inequalities) and not backend.takes_inequalities:
        capability, example = "takes_inequalities", form.name(int(inequalities[0]))
        lacks = (
            f"supports equations only, but the model contains {len(inequalities)} inequalities, {example!r} among them;"
        )
    elif n_soft and not backend.takes_soft_rows:
        capability, example = "takes_soft_rows", form.name(form.n_hard)
        lacks = f"supports hard rows only, but the model contains {n_soft} soft rows, {example!r} among them;"
    else:
        return
    others = [other.name for other in registered() if getattr(other, capability) and other.installed]
    raise SolverError(f"{backend.name} {lacks} choose one of {others}")
