"""Error bounds for A' m: from roundoff of the product, and from rounding of the coefficients."""

from __future__ import annotations

import numpy as np

from ..parameters.tolerances import EPS
from .linear_form import LinearForm

__all__ = ["exact_rmatvec", "rmatvec_coefficient_error", "rmatvec_rounding"]


def exact_rmatvec(form: LinearForm, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute A' m from the raw rows, with a bound on its roundoff; one number a term each.

    Where all coefficients are 1 or -1, m is split into multiples of a power of two 2^-k, whose sums are exact below
    2^(53-k), and small remainders, whose roundoff is small. Otherwise it is a plain product.
    """
    if not _has_unit_coefficients(form):
        return form.rmatvec(multipliers), rmatvec_rounding(form, multipliers)
    unit = 2.0 ** (np.ceil(np.log2(max(np.abs(multipliers).sum(), 1.0))) - 52)
    leading = np.rint(multipliers / unit) * unit
    rest = multipliers - leading
    sums = form.rmatvec(leading), form.rmatvec(rest)
    return sums[0] + sums[1], EPS * (np.abs(sums[0]) + np.abs(sums[1])) + rmatvec_rounding(form, rest)


def rmatvec_rounding(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Bound the roundoff of A' m, one number a term.

    The error of a sum of k products is at most k EPS times the sum of their absolute values.
    """
    n_products = np.diff(form.published_by_term.indptr)
    n_products = n_products + np.diff(form.known.transposed.indptr)[form.known.of_term]
    return EPS * n_products * form.absolute_rmatvec(np.abs(multipliers))


def rmatvec_coefficient_error(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Bound the error of A' m that stems from coefficients being rounded while rows were built; one number a term."""
    errors, n = form.coefficient_error * np.abs(multipliers), form.n_published
    found = (form.known.pattern.T @ errors[n:])[form.known.of_term]
    if errors[:n].any():
        pattern = form.published.copy()
        pattern.data[:] = 1.0
        found += pattern.T @ errors[:n]
    return found


def _has_unit_coefficients(form: LinearForm) -> bool:
    """Whether every coefficient is 1 or -1."""
    return all(bool((np.abs(some.data) == 1).all()) for some in (form.published, form.known.distinct))
