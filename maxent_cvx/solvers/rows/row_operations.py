"""Elementary row operations on rows of knowledge: multiples of published equations subtracted, and a new scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

__all__ = ["RowOperations"]


@dataclass(frozen=True, eq=False)
class RowOperations:
    """Row i became ``factors[i] * (row i - sum over k of multiples[i, k] * row k)``; the feasible set is the same.

    Attributes
    ----------
    multiples : csr_array, shape (rows, rows)
        Non-zero only for rows k that are not rewritten themselves.
    factors : ndarray, one a row
        Positive.
    """

    multiples: sp.csr_array
    factors: np.ndarray

    def transform_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the rewritten rows, from those of the original rows."""
        return (multipliers + self.multiples.T @ multipliers) / self.factors

    def restore_multipliers(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the original rows, from those of the rewritten rows."""
        scaled = multipliers * self.factors
        return scaled - self.multiples.T @ scaled
