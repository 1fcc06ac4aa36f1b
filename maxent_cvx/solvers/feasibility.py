"""Whether rows can hold at all, and what would have to give: one linear program."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..errors import SolverError
from .linear_form import LinearForm

__all__ = ["least_change"]


def least_change(form: LinearForm) -> np.ndarray:
    """Find the least total change of the knowledge, in people, that makes all rows hold together.

    Published rows never give way. Zero throughout: the rows can hold as they are.

    Returns
    -------
    ndarray, one a row
        By how many people each row is missed, >= 0.

    Raises
    ------
    SolverError
        If HiGHS cannot decide.
    """
    n_rows, n_terms = form.shape
    gives = np.arange(form.n_published, n_rows)
    n = len(gives)
    give = sp.csr_array((np.ones(n), (gives, np.arange(n))), shape=(n_rows, n))
    matrix = sp.hstack([form.matrix, give, -give], format="csr")
    cost = np.concatenate([np.zeros(n_terms), np.ones(2 * n)])
    exact = form.is_equation
    upper = np.isfinite(form.high) & ~exact
    lower = np.isfinite(form.low) & ~exact
    found = linprog(
        cost,
        A_eq=matrix[exact] if exact.any() else None,
        b_eq=form.low[exact] if exact.any() else None,
        A_ub=sp.vstack([matrix[upper], -matrix[lower]]) if (upper | lower).any() else None,
        b_ub=np.concatenate([form.high[upper], -form.low[lower]]) if (upper | lower).any() else None,
        method="highs",
    )
    if not found.success or found.x is None:
        raise SolverError(f"HiGHS could not tell whether the knowledge is consistent: {found.message}")
    off = np.zeros(n_rows)
    off[gives] = found.x[n_terms : n_terms + n] + found.x[n_terms + n :]
    return off
