"""Numbers an entry of a sparse matrix, and what each row makes of its own."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["entry_rows", "least_by_row", "most_by_row"]


def entry_rows(matrix: sp.csr_array) -> np.ndarray:
    """The row of every entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def least_by_row(of_entry: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    """The least of the numbers that the entries of each row have; infinite for a row without any."""
    found = np.full(matrix.shape[0], np.inf)
    touched = np.diff(matrix.indptr) > 0
    if len(of_entry):
        found[touched] = np.minimum.reduceat(of_entry, matrix.indptr[:-1][touched])
    return found


def most_by_row(of_entry: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    """The largest of the numbers >= 0 that the entries of each row have; 0 for a row without any."""
    return np.maximum(-least_by_row(-of_entry, matrix), 0.0)
