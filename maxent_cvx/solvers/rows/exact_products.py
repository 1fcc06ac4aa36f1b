"""Products that lose nothing in a long sum."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["exact_matvec"]

#: Records: multiples of it add up exactly as long as there are fewer than 2^33 of them, 8 * 10^9 records.
UNIT = 2.0**-20


def exact_matvec(matrix: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """The matrix @ x without the rounding of a long sum, where coefficients are 1 or -1.

    Multiples of :data:`UNIT` add up exactly, and what is left of each number is small.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = np.rint(x / UNIT) * UNIT
        return matrix @ multiples + matrix @ (x - multiples)
