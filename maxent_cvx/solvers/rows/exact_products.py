"""Matrix-vector products whose long sums are free of roundoff."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["exact_matvec", "split_exactly"]

#: Records: sums of multiples of it are exact as long as they are below 2^33, about 8 * 10^9 records.
UNIT = 2.0**-20


def split_exactly(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split x into multiples of :data:`UNIT`, whose sums are exact, and remainders of at most half a unit.

    The sums of the remainders are small and so is their roundoff.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = np.rint(x / UNIT) * UNIT
        return multiples, x - multiples


def exact_matvec(matrix: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """Compute A x without the roundoff of long sums, where all coefficients are 1 or -1."""
    multiples, rest = split_exactly(x)
    with np.errstate(over="ignore", invalid="ignore"):
        return matrix @ multiples + matrix @ rest
