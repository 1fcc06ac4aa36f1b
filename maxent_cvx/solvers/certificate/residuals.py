"""What rows miss, without any rounding: products split into two numbers each, and added up exactly."""

from __future__ import annotations

import math

import numpy as np

from ..program.linear_form import LinearForm

__all__ = ["exact_misses"]

#: Splits a double into two halves of 26 digits, whose products are exact (Veltkamp).
SPLIT = 2.0**27 + 1


def exact_misses(form: LinearForm, x: np.ndarray, rows: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """The value of some rows less one side each, A x - side, correctly rounded.

    Notes
    -----
    A product a x is a double and a rest that is a double, too (Dekker's TwoProduct), where nothing overflows; sums of
    doubles are rounded once (Shewchuk's, :func:`math.fsum`).
    """
    matrix = form.matrix[rows]
    product, rest = _two_product(matrix.data, x[matrix.indices])
    ends = matrix.indptr
    return np.array(
        [
            math.fsum([*product[start:end], *rest[start:end], -side])
            for start, end, side in zip(ends[:-1], ends[1:], sides.tolist(), strict=True)
        ]
    )


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two doubles, whose sum is a b exactly."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    high = SPLIT * a
    high = high - (high - a)
    return high, a - high
