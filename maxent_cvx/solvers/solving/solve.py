"""One solve: attempts of presolve, backend, postsolve and certificate, until the answer is precise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import Infeasible, SolverError
from ..backends.registry import Backend, registered
from ..diagnosis.failure import failure
from ..parameters.tolerances import ATTEMPTS
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from .attempts import attempts
from .request import Request
from .solution import Solution

__all__ = ["Solution", "solve"]


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
    found = []
    for attempt in attempts(problem, request):
        found.append(attempt)
        if attempt.bound <= ATTEMPTS.precise:
            break
    best = min(found, key=lambda one: one.bound)
    if not best.holds:
        failed = failure(problem, backend.name, best.solved, best.solution.certificate)
        if not allow_inaccurate or isinstance(failed, Infeasible):
            raise failed
    return best.solution


def require_supported(backend: Backend, form: LinearForm, convex: bool) -> None:
    """Refuse a problem with constraints that a backend does not support, naming the backends that do.

    Raises
    ------
    SolverError
    """
    inequalities = np.flatnonzero(~form.is_equation)
    n_soft = form.shape[0] - form.n_hard
    if convex and not backend.takes_convex:
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
