"""One solve: attempts of presolve, backend, postsolve and certificate, until the answer is precise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import Infeasible, SolverError
from ..backends.registry import Backend, registered
from ..diagnosis.failure import failure
from ..parameters.tolerances import ATTEMPTS
from ..presolve.reduced import Reduced
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from .attempt import attempt
from .attempts import attempts
from .convex_solve import solve_convex
from .presolving import NEWTON
from .request import Request
from .solution import Solution

__all__ = ["Solution", "solve"]

#: Conic solvers that come with the package, for convex constraints that problems of rows do not settle.
CONIC = ("CLARABEL", "SCS")


def solve(
    problem: Problem,
    backend: Backend,
    *,
    presolve: bool = True,
    polish: bool = False,
    allow_inaccurate: bool = False,
    start: np.ndarray | None = None,
    **options: Any,
) -> Solution:
    """Maximise sum x log(w / x) subject to the rows of a problem, and certify the answer.

    Parameters
    ----------
    problem : Problem
    backend : Backend
    presolve, polish, allow_inaccurate, options
        See :meth:`maxent_cvx.MaxEnt.solve`.
    start : ndarray, optional
        Multipliers to start from, one a row; by default those of :attr:`.Problem.start`.

    Raises
    ------
    Infeasible, Inaccurate, SolverError
    """
    require_supported(backend, problem.form, bool(problem.convex))
    if problem.convex and polish:
        raise SolverError("polish=True goes on with DUAL_NEWTON, which takes linear rows only; leave it out")
    backend.check(options)
    request = Request(backend, problem.start if start is None else start, presolve, polish, options)
    if problem.convex and backend is NEWTON:
        return _by_rows(problem, request, allow_inaccurate=allow_inaccurate)
    found = []
    for one in attempts(problem, request):
        found.append(one)
        if one.bound <= ATTEMPTS.precise:
            break
    best = min(found, key=lambda one: one.bound)
    if not best.holds:
        failed = failure(problem, backend.name, best.solved, best.solution.certificate)
        if not allow_inaccurate or isinstance(failed, Infeasible):
            raise failed
    return best.solution


def _by_rows(problem: Problem, request: Request, *, allow_inaccurate: bool) -> Solution:
    """Solve a problem with convex constraints by problems of rows; if that is not certified, by conic solvers."""
    found, refused = [], None
    try:
        found.append(solve_convex(problem, request))
    except Infeasible:
        raise
    except SolverError as error:
        refused = error
    if not found or not found[0].certificate.holds:
        for backend in (one for one in registered() if one.takes_convex and one.installed and one.name in CONIC):
            try:
                other = attempt(problem, replace(request, backend=backend, options={}), Reduced.identity(problem.form))
            except SolverError as error:
                refused = refused or error
                continue
            found.append(other.solution)
            if other.holds:
                break
    if not found:
        assert refused is not None
        raise refused
    best = min(found, key=lambda one: one.certificate.bound)
    if not best.certificate.holds and not allow_inaccurate:
        raise failure(problem, best.solver, best.answer, best.certificate)
    return best


def require_supported(backend: Backend, form: LinearForm, convex: bool) -> None:
    """Refuse a problem with constraints that a backend does not support, naming the backends that do.

    Raises
    ------
    SolverError
    """
    inequalities = np.flatnonzero(~form.is_equation[: form.n_hard])
    n_soft = form.shape[0] - form.n_hard
    if convex and not backend.takes_convex and backend is not NEWTON:
        capability, takes, holds = "takes_convex", "linear rows", "a convex constraint of your own"
    elif len(inequalities) and not backend.takes_inequalities:
        capability, takes = "takes_inequalities", "equations"
        holds = f"{len(inequalities)} inequalities, {form.name(int(inequalities[0]))!r} among them"
    elif n_soft and not backend.takes_soft_rows:
        capability, takes = "takes_soft_rows", "hard rows"
        holds = f"{n_soft} soft rows, {form.name(form.n_hard)!r} among them"
    else:
        return
    others = [one.name for one in registered() if getattr(one, capability) and one.installed]
    raise SolverError(f"{backend.name} takes {takes} only, and the model holds {holds}; choose one of {others}")
