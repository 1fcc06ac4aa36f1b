"""Rows of knowledge none of which is implied by the others, and the solution of their Schur complement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpstrf

from ..parameters.dual_methods import PARTITIONED

__all__ = ["IndependentRows"]


class IndependentRows(NamedTuple):
    """The largest set of rows, but for rounding, whose Schur complement S can be inverted.

    Attributes
    ----------
    numbers : ndarray of int
        Which rows of knowledge these are.
    factor : ndarray
        The upper Cholesky factor of S, scaled to a diagonal of 1.
    scale : ndarray, one a row
        What rows and columns of S were multiplied by.
    """

    numbers: np.ndarray
    factor: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, schur: np.ndarray, numbers: np.ndarray) -> IndependentRows:
        """Choose rows by a Cholesky factorisation with pivoting (LAPACK's dpstrf)."""
        diagonal = np.diag(schur)
        some = np.flatnonzero(diagonal > 0)
        scale = 1 / np.sqrt(diagonal[some])
        if not len(some):
            return cls(numbers[:0], np.zeros((0, 0)), scale)
        factor, order, rank, _ = dpstrf(schur[np.ix_(some, some)] * scale[:, None] * scale, tol=PARTITIONED.dependent)
        chosen = order[:rank] - 1
        return cls(numbers[some[chosen]], np.triu(factor[:rank, :rank]), scale[chosen])

    def solve(self, right: np.ndarray) -> np.ndarray:
        """S^-1 right."""
        if not len(self.numbers):
            return right
        return np.asarray(scipy.linalg.cho_solve((self.factor, False), right * self.scale)) * self.scale
