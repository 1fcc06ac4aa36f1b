"""Whether rows can hold at all, and what would have to give: one linear program."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..errors import SolverError
from .linear_form import LinearForm
from .linear_program import PRECISION, linear_program

__all__ = ["least_change"]

#: How far HiGHS may leave a row off, relative to the largest side; people, at most.
SHARE, COARSEST = 1e-15, 1e-7


def least_change(form: LinearForm) -> np.ndarray:
    """Find the least total change of the knowledge, in people, that makes all rows hold together.

    Facts never give way. Zero throughout: the rows can hold as they are.

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
    gives = np.arange(form.n_facts, n_rows)
    n = len(gives)
    if n == 0:
        return np.zeros(n_rows)
    give = sp.csr_array((np.ones(n), (gives, np.arange(n))), shape=(n_rows, n))
    matrix = sp.hstack([form.matrix, give, -give], format="csr")
    cost = np.concatenate([np.zeros(n_terms), np.ones(2 * n)])
    sides = np.concatenate([form.low, form.high])
    precision = np.clip(SHARE * np.abs(sides[np.isfinite(sides)]).max(initial=0.0), PRECISION, COARSEST)
    optimum = linear_program(cost, matrix, form.low, form.high, precision=precision)
    if not optimum.found:
        raise SolverError(f"HiGHS could not tell whether the knowledge is consistent: {optimum.message}")
    off = np.zeros(n_rows)
    off[gives] = optimum.x[n_terms : n_terms + n] + optimum.x[n_terms + n :]
    return np.where(off > 10 * precision, off, 0.0)
