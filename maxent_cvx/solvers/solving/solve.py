"""One solve: presolve, a backend, the way back, and the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import Infeasible, SolverError
from ..backends.registry import Backend, find, registered
from ..cvxpy.problem import Convex
from ..program.linear_form import LinearForm
from .attempts import Solution, Solve

__all__ = ["Solution", "run"]


def run(
    form: LinearForm,
    closed_form: tuple[np.ndarray, np.ndarray],
    groups: tuple[np.ndarray, np.ndarray],
    solver: str | object,
    *,
    presolve: bool,
    convex: Convex | None,
    allow_inaccurate: bool,
    polish: bool = False,
    start: np.ndarray | None = None,
    **options: Any,
) -> Solution:
    """Solve a linear form by name of a solver.

    Parameters
    ----------
    form : LinearForm
    closed_form : (counts, multipliers)
        The answer to the published rows alone.
    groups : (ndarray, ndarray)
        The QI tuple of every term, and how many people have each.
    solver, presolve, allow_inaccurate, polish, options
        See :meth:`maxent_cvx.MaxEnt.solve`.
    start : ndarray, optional
        Multipliers to start from, one a row; by default those of the closed form.
    convex : Convex, optional
        Constraints that are not affine: then a CVXPY solver gets the whole problem.

    Raises
    ------
    Infeasible, Inaccurate, SolverError
    """
    backend = find("CLARABEL" if convex and solver == "auto" else solver)
    require_able(backend, form, bool(convex))
    if convex and polish:
        raise SolverError("polish=True goes on with DUAL_NEWTON, which takes linear rows only; leave it out")
    backend.check(options)
    if start is None:
        start = np.concatenate([closed_form[1], np.zeros(form.shape[0] - form.n_published)])
    solve = Solve(form, closed_form, groups, backend, convex, polish, start, options)
    best = solve.best(presolve and not convex)
    if not best.found.certificate.holds:
        failed = solve.failure(best.solved, best.found.certificate)
        if not allow_inaccurate or isinstance(failed, Infeasible):
            raise failed
    return best.found


def require_able(backend: Backend, form: LinearForm, convex: bool) -> None:
    """Refuse a problem that a backend says it does not take, with those that do.

    Raises
    ------
    SolverError
    """
    inequalities = np.flatnonzero(~form.is_equation)
    if convex and not backend.takes_convex:
        able, takes, holds = "takes_convex", "linear rows", "a convex constraint of your own"
    elif len(inequalities) and not backend.takes_inequalities:
        able, takes = "takes_inequalities", "equations"
        holds = f"{len(inequalities)} inequalities, {form.name(int(inequalities[0]))!r} among them"
    else:
        return
    others = [one.name for one in registered() if getattr(one, able) and one.installed]
    raise SolverError(f"{backend.name} takes {takes} only, and the model holds {holds}; choose one of {others}")
