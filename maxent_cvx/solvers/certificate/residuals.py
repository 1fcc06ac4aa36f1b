"""Residuals of rows, correctly rounded: error-free products, and an exactly rounded sum."""

from __future__ import annotations

import math

import numpy as np

from ..program.linear_form import LinearForm

__all__ = ["exact_residuals", "two_product"]

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
    product, rest = two_product(matrix.data, x[matrix.indices])
    ends = matrix.indptr
    return np.array(
        [
            math.fsum([*product[start:end], *rest[start:end], -side])
            for start, end, side in zip(ends[:-1], ends[1:], sides.tolist(), strict=True)
        ]
    )


def two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two doubles whose sum is exactly a b."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split each double into a high and a low half (Veltkamp)."""
    high = SPLIT * a
    high = high - (high - a)
    return high, a - high
