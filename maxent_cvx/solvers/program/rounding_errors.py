"""Error bounds for A' m: from roundoff of the product, and from rounding of the coefficients."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import EPS
from .linear_form import LinearForm

__all__ = ["exact_rmatvec", "rmatvec_coefficient_error", "rmatvec_rounding"]


def exact_rmatvec(form: LinearForm, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute A' m from the raw rows, with a bound on its roundoff; one number a term each.

    Where all coefficients are 1 or -1, m is split into multiples of a power of two 2^-k, whose sums are exact below
    2^(53-k), and small remainders, whose roundoff is small. Otherwise it is a plain product.
    """
    if not _has_unit_coefficients(form):
        return form.matrix.T @ multipliers, rmatvec_rounding(form, multipliers)
    unit = 2.0 ** (np.ceil(np.log2(max(np.abs(multipliers).sum(), 1.0))) - 52)
    leading = np.rint(multipliers / unit) * unit
    rest = multipliers - leading
    sums = form.matrix.T @ leading, form.matrix.T @ rest
    return sums[0] + sums[1], EPS * (np.abs(sums[0]) + np.abs(sums[1])) + rmatvec_rounding(form, rest)


def rmatvec_rounding(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Bound the roundoff of A' m, one number a term.

    The error of a sum of k products is at most k EPS times the sum of their absolute values.
    """
    by_row, by_class, n = form.published_by_term, form.known.transposed, form.n_published
    sizes = np.abs(multipliers)
    n_products = np.diff(by_row.indptr) + np.diff(by_class.indptr)[form.known.of_term]
    return EPS * n_products * (abs(by_row) @ sizes[:n] + (abs(by_class) @ sizes[n:])[form.known.of_term])


def rmatvec_coefficient_error(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Bound the error of A' m that stems from coefficients being rounded while rows were built; one number a term."""
    rows = np.flatnonzero(form.coefficient_error * np.abs(multipliers))
    if not len(rows):
        return np.zeros(form.shape[1])
    pattern = form.matrix[rows]
    pattern = sp.csr_array((np.ones(pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape)
    return pattern.T @ (form.coefficient_error * np.abs(multipliers))[rows]


def _has_unit_coefficients(form: LinearForm) -> bool:
    """Whether every coefficient is 1 or -1."""
    return bool((np.abs(form.matrix.data) == 1).all())
