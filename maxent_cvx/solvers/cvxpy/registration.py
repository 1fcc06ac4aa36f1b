"""DUAL_NEWTON by its name in CVXPY: ``problem.solve(solver="DUAL_NEWTON")``.

CVXPY looks names up in a dictionary of its conic solvers and in lists of those that are installed. It has no call that
adds one to them, so that they are extended here, in place, as other modules of CVXPY hold the same objects.
"""

from __future__ import annotations

from cvxpy.reductions.solvers import defines

from .dual_newton import DualNewton

__all__ = ["register_with_cvxpy"]

#: The lists of names, as far as a release of CVXPY has them.
LISTS = ("CONIC_SOLVERS", "INSTALLED_SOLVERS", "INSTALLED_CONIC_SOLVERS")


def register_with_cvxpy() -> str:
    """Let CVXPY find the solver by its name, ``solver="DUAL_NEWTON"``, also in lists of solvers, ``solver_path=[...]``.

    It comes last in CVXPY's lists: a problem that is solved without the name of a solver is solved as before. To
    register again changes nothing.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> import cvxpy as cp, maxent_cvx as mx
    >>> mx.solvers.register_with_cvxpy()
    'DUAL_NEWTON'
    >>> x = cp.Variable(6)
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, range(1, 7) @ x == 4.5])
    >>> round(float(problem.solve(solver="DUAL_NEWTON")), 6)                      # nats
    1.613581
    >>> _ = problem.solve(solver_path=["DUAL_NEWTON", "CLARABEL"])
    >>> problem.solver_stats.solver_name
    'DUAL_NEWTON'
    """
    solver = DualNewton()
    name = solver.name()
    defines.SOLVER_MAP_CONIC.setdefault(name, solver)
    for which in LISTS:
        names = getattr(defines, which, None)
        if isinstance(names, list) and name not in names:
            names.append(name)
    return name
