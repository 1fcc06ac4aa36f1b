"""One solve: the sequence of attempts, the choice of the best answer, and the error if none is certified."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.errors import Infeasible, NotDecided, SolverError
from .attempts import NEWTON, Attempt, Request, attempts
from .backends import Backend, registered
from .blocks import single_thread
from .certificate import PRECISE, Solution
from .convex_solve import solve_convex
from .explain import failure
from .form import LinearForm, Problem
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
    require_monitored(backend, monitor)
    require_supported(backend, problem.form, bool(problem.convex))
    if problem.convex and polish:
        raise SolverError(
            "polish=True continues from an answer to linear rows, but the model contains a convex constraint; omit it, "
            "or solve the model by DUAL_NEWTON from the start"
        )
    backend.check(options)
    request = Request(backend, problem.start if start is None else start, presolve, polish, options, monitor)
    tried: list[Attempt] = []
    try:
        with within(monitor.seconds_left):
            if problem.convex and backend is NEWTON:
                return _by_rows(problem, request, allow_inaccurate=allow_inaccurate)
            for attempt in attempts(problem, request):
                tried.append(attempt)
                if attempt.bound <= PRECISE or monitor.stopped:
                    break
            if problem.convex and not any(attempt.bound < np.inf for attempt in tried):
                _require_consistent(problem, request)
    except NotDecided:
        if not tried:
            raise
    except SolverError:
        if problem.convex and backend is not NEWTON and not monitor.stopped:
            _require_consistent(problem, request)
        raise
    return _judged(problem, request, tried, allow_inaccurate)


def _judged(problem: Problem, request: Request, tried: list[Attempt], allow_inaccurate: bool) -> Solution:
    """Return the best of all attempts if it is certified; otherwise raise the error that explains it."""
    best, monitor = min(tried, key=lambda attempt: attempt.bound), request.monitor
    answer, certificate = best.solution.answer, best.solution.certificate
    monitor.say(f"{answer.status} in {answer.iterations} iterations, {monitor.seconds:.2f} seconds: {certificate}")
    if not best.holds:
        name = request.backend.name
        try:
            with within(monitor.seconds_left):
                failed = failure(problem, name, best.solved, certificate, monitor.stopped)
        except NotDecided:  # the time limit was reached during the search for a contradiction
            failed = failure(problem, name, best.solved, certificate, monitor.stopped or "by its time limit")
        if not allow_inaccurate or isinstance(failed, Infeasible):
            raise failed
    return best.solution


def require_monitored(backend: Backend, monitor: Monitor) -> None:
    """Raise SolverError, with alternatives, if a backend does not support the given time limit or callback."""
    if np.isfinite(monitor.time_limit) and not getattr(backend, "takes_time_limit", False):
        capability, lacks = "takes_time_limit", "cannot be given a time limit; omit time_limit"
    elif monitor.callback is not None and not getattr(backend, "takes_callback", False):
        capability, lacks = "takes_callback", "does not report its iterations while it runs; omit callback"
    else:
        return
    others = [other.name for other in registered() if getattr(other, capability) and other.installed]
    raise SolverError(f"{backend.name} {lacks}, or choose one of {others}")


def _by_rows(problem: Problem, request: Request, *, allow_inaccurate: bool) -> Solution:
    """Solve a problem with convex constraints by problems of rows or, if that is not certified, by conic solvers."""
    solutions, refused = [], None
    if not request.presolve:
        request.monitor.say("presolve=False has no effect: problems of rows in place of constraints are presolved")
    try:
        solutions.append(solve_convex(problem, request))
    except Infeasible:
        raise
    except SolverError as error:
        refused = error
    if not solutions or not solutions[0].certificate.holds:
        for backend in (each for each in registered() if each.takes_convex and each.installed and each.name in CONIC):
            try:
                for other in attempts(problem, replace(request, backend=backend, options={})):
                    solutions.append(other.solution)
                    if other.holds:
                        break
            except SolverError as error:
                refused = refused or error
            if solutions and solutions[-1].certificate.holds:
                break
    if not solutions:
        assert refused is not None
        raise refused
    best = min(solutions, key=lambda one: one.certificate.bound)
    answer, monitor = best.answer, request.monitor
    monitor.say(f"{answer.status} in {answer.iterations} iterations, {monitor.seconds:.2f} seconds: {best.certificate}")
    if not best.certificate.holds and not allow_inaccurate:
        raise failure(problem, best.solver, answer, best.certificate, monitor.stopped)
    return best


def _require_consistent(problem: Problem, request: Request) -> None:
    """Raise Infeasible if the constraints provably contradict each other; a conic solver's status is not a proof."""
    with suppress(SolverError), within(request.monitor.seconds_left):
        solve_convex(problem, replace(request, backend=NEWTON, options={}, monitor=request.monitor.quietly()))


def require_supported(backend: Backend, form: LinearForm, convex: bool) -> None:
    """Raise SolverError, with alternatives, if a backend does not support the constraints of a problem."""
    inequalities = np.flatnonzero(~form.is_equation)
    n_soft = form.shape[0] - form.n_hard
    if convex and not backend.takes_convex:
        capability, takes, holds = "takes_convex", "linear rows", "a user-defined convex constraint"
    elif len(inequalities) and not backend.takes_inequalities:
        capability, takes = "takes_inequalities", "equations"
        holds = f"{len(inequalities)} inequalities, {form.name(int(inequalities[0]))!r} among them"
    elif n_soft and not backend.takes_soft_rows:
        capability, takes = "takes_soft_rows", "hard rows"
        holds = f"{n_soft} soft rows, {form.name(form.n_hard)!r} among them"
    else:
        return
    others = [other.name for other in registered() if getattr(other, capability) and other.installed]
    raise SolverError(f"{backend.name} supports {takes} only, but the model contains {holds}; choose one of {others}")
