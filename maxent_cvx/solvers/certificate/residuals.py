"""Residuals of rows, correctly rounded: error-free products, and an exactly rounded sum."""

from __future__ import annotations

import math

import numpy as np

from ..parameters.tolerances import EPS
from ..program.linear_form import LinearForm
from ..rows.exact_products import UNIT

__all__ = ["exact_residuals", "residual_bounds"]

#: Veltkamp's constant: it splits a double into two halves of 26 binary digits, whose products are exact.
SPLIT = 2.0**27 + 1


def exact_residuals(form: LinearForm, x: np.ndarray, rows: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Compute A x - side for some rows and one side of each, records, rounded once.

    Notes
    -----
    A product a x is the sum of two doubles (Dekker's TwoProduct), unless it overflows or underflows; the sum of all is
    rounded once (Shewchuk's algorithm, :func:`math.fsum`).
    """
    matrix = form.rows(rows)
    product, rest = _two_product(matrix.data, x[matrix.indices])
    ends = matrix.indptr
    return np.array(
        [
            math.fsum([*product[start:end], *rest[start:end], -side])
            for start, end, side in zip(ends[:-1], ends[1:], sides.tolist(), strict=True)
        ]
    )


def residual_bounds(form: LinearForm, x: np.ndarray, rows: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Bound the absolute values of A x - side for rows with coefficients 1, closely and all at once; records.

    Notes
    -----
    x is split into multiples of :data:`UNIT`, whose sums are exact below 2^52 of them, and remainders of at most half a
    unit. The difference of such a sum and the side is rounded once, and exact where they are close (Sterbenz).
    """
    matrix = form.rows(rows)
    multiples = np.rint(x / UNIT) * UNIT
    rest, total = x - multiples, matrix @ multiples
    if not (total < 2.0**52 * UNIT).all():
        return np.abs(exact_residuals(form, x, rows, sides))
    products = np.diff(matrix.indptr)
    found = np.abs((total - sides) + matrix @ rest)
    return found * (1 + 4 * EPS) + EPS * (2 * np.abs(total - sides) + (products + 2) * (matrix @ np.abs(rest)))


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two doubles whose sum is exactly a b."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split each double into a high and a low half (Veltkamp)."""
    high = SPLIT * a
    high = high - (high - a)
    return high, a - high
