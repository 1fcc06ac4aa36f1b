"""Presolve for a backend: the reductions, and the implied zeros that the backend would not find by itself."""

from __future__ import annotations

import numpy as np

from ...errors import Infeasible
from ..backends.registry import SOLVERS, Backend
from ..explain import contradiction
from ..monitoring.monitor import Monitor
from ..presolve.reduce import reduce
from ..presolve.reduced import Reduced
from ..program.problem import Problem
from .decompose import solve_by_components
from .forced_zeros import zeros_before_solve

__all__ = ["NEWTON", "presolved"]

NEWTON = SOLVERS["DUAL_NEWTON"]


def presolved(
    problem: Problem, backend: Backend = NEWTON, most: np.ndarray | None = None, monitor: Monitor | None = None
) -> Reduced:
    """Presolve a problem for a backend.

    Newton's method proves implied zeros during the solve. Other solvers are inaccurate where rows force zeros, and
    conic ones report such answers as optimal; for them, the zeros that Newton's method proves are fixed beforehand.

    Parameters
    ----------
    problem : Problem
    backend : Backend
    most : ndarray, optional
        Upper bounds of terms that are known already, records.
    monitor : Monitor, optional
        May stop Newton's method; what is proved by then is used.

    Raises
    ------
    Infeasible
        If presolve finds a contradiction; it is explained by an irreducible set of rows.
    """
    try:
        smaller = zeros_before_solve(problem, reduce(problem, most))
        if backend is not NEWTON and smaller.terms.any():
            by_newton = solve_by_components(NEWTON, smaller.form, np.zeros(smaller.form.shape[0]), monitor)
            zeros = smaller.proved_zeros(problem.form, by_newton.proofs)
            if np.isfinite(zeros).any():
                smaller = reduce(problem, np.minimum(zeros, smaller.upper_bounds_of_zeros))
        return smaller
    except Infeasible as error:
        raise contradiction(problem) or error from None
