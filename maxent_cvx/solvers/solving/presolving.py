"""Presolve for a backend: what bounds see, and the zeros that it would not find by itself."""

from __future__ import annotations

import numpy as np

from ...errors import Infeasible
from ..backends.registry import SOLVERS, Backend
from ..decompose import solve_by_components
from ..diagnosis.failure import contradiction
from ..presolve.reduce import Reduced, reduce
from ..program.problem import Problem
from .forced_zeros import zeros_before_solve

__all__ = ["NEWTON", "presolved"]

NEWTON = SOLVERS["DUAL_NEWTON"]


def presolved(problem: Problem, backend: Backend = NEWTON, most: np.ndarray | None = None) -> Reduced:
    """Presolve for a backend; a contradiction that bounds see is told in full.

    Newton's method proves terms empty as it goes. Other solvers are far off where rows force zeros, and conic ones
    call it optimal, so that they get what Newton's method has proved.
    """
    try:
        smaller = zeros_before_solve(problem, reduce(problem, most))
        if backend is not NEWTON and smaller.terms.any():
            ended = solve_by_components(NEWTON, smaller.form, np.zeros(smaller.form.shape[0]))
            zeros = smaller.proved(problem.form, ended.proofs)
            if np.isfinite(zeros).any():
                smaller = reduce(problem, np.minimum(zeros, smaller.most))
        return smaller
    except Infeasible as error:
        raise contradiction(problem) or error from None
