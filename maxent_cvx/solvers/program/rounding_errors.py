"""How far A' m can be off: for the rounding of the product, and for that of the coefficients."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..tolerances import EPS
from .linear_form import LinearForm

__all__ = ["exact_rmatvec", "rmatvec_coefficient_error", "rmatvec_rounding"]


def exact_rmatvec(form: LinearForm, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The transposed matrix @ multipliers from the raw rows, and how far rounding can have put it off.

    Multiples of 2^-k add up exactly if their sum is below 2^(53-k), where the coefficients are 1 or -1; what
    is left of each multiplier is small, and so is its rounding.
    """
    if not _has_unit_coefficients(form):
        return form.matrix.T @ multipliers, rmatvec_rounding(form, multipliers)
    unit = 2.0 ** (np.ceil(np.log2(max(np.abs(multipliers).sum(), 1.0))) - 52)
    whole = np.rint(multipliers / unit) * unit
    rest = multipliers - whole
    found = form.matrix.T @ whole, form.matrix.T @ rest
    return found[0] + found[1], EPS * (np.abs(found[0]) + np.abs(found[1])) + rmatvec_rounding(form, rest)


def rmatvec_rounding(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """How far matrix' @ multipliers can be off, one number a term.

    A sum of k products is off by at most k units in the last place of the sum of their sizes.
    """
    by_row, by_class, n = form.published_by_term, form.known.transposed, form.n_published
    sizes = np.abs(multipliers)
    found = np.diff(by_row.indptr) + np.diff(by_class.indptr)[form.known.of_term]
    return EPS * found * (abs(by_row) @ sizes[:n] + (abs(by_class) @ sizes[n:])[form.known.of_term])


def rmatvec_coefficient_error(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """How far matrix' @ multipliers is off at most because coefficients were rounded while rows were built."""
    rows = np.flatnonzero(form.coefficient_error * np.abs(multipliers))
    if not len(rows):
        return np.zeros(form.shape[1])
    some = form.matrix[rows]
    some = sp.csr_array((np.ones(some.nnz), some.indices, some.indptr), shape=some.shape)
    return some.T @ (form.coefficient_error * np.abs(multipliers))[rows]


def _has_unit_coefficients(form: LinearForm) -> bool:
    """Whether all coefficients are 1 or -1."""
    return bool((np.abs(form.matrix.data) == 1).all())
