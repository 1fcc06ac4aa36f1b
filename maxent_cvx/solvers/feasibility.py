"""Whether rows can hold at all, and what would have to give: one linear program."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..errors import SolverError
from .linear_form import LinearForm

__all__ = ["least_change"]

#: How precisely HiGHS is asked to solve, relative to the largest side, and between which bounds, people. By
#: default it overlooks 1e-7 people, which is more than what a row is forgiven.
PRECISION, FINEST, COARSEST = 1e-15, 1e-10, 1e-7


def least_change(form: LinearForm) -> np.ndarray:
    """Find the least total change of the knowledge, in people, that makes all rows hold together.

    Published rows never give way. Zero throughout: the rows can hold as they are.

    Returns
    -------
    ndarray, one a row
        By how many people each row is missed, >= 0; rounding is none.

    Raises
    ------
    SolverError
        If HiGHS cannot decide.
    """
    n_rows, n_terms = form.shape
    gives = np.arange(form.n_published, n_rows)
    n = len(gives)
    if n == 0:
        return np.zeros(n_rows)
    give = sp.csr_array((np.ones(n), (gives, np.arange(n))), shape=(n_rows, n))
    matrix = sp.hstack([form.matrix, give, -give], format="csr")
    cost = np.concatenate([np.zeros(n_terms), np.ones(2 * n)])
    exact = form.is_equation
    upper = np.isfinite(form.high) & ~exact
    lower = np.isfinite(form.low) & ~exact
    sides = np.concatenate([form.low, form.high])
    precision = np.clip(PRECISION * np.abs(sides[np.isfinite(sides)]).max(initial=0.0), FINEST, COARSEST)
    found = linprog(
        cost,
        A_eq=matrix[exact] if exact.any() else None,
        b_eq=form.low[exact] if exact.any() else None,
        A_ub=sp.vstack([matrix[upper], -matrix[lower]]) if (upper | lower).any() else None,
        b_ub=np.concatenate([form.high[upper], -form.low[lower]]) if (upper | lower).any() else None,
        method="highs",
        options={"primal_feasibility_tolerance": precision, "dual_feasibility_tolerance": FINEST},
    )
    if not found.success or found.x is None:
        raise SolverError(f"HiGHS could not tell whether the knowledge is consistent: {found.message}")
    off = np.zeros(n_rows)
    off[gives] = found.x[n_terms : n_terms + n] + found.x[n_terms + n :]
    return np.where(off > 10 * precision, off, 0.0)
