"""Rows whose columns repeat: many terms, few different columns.

Knowledge about men says the same of every man. A column is therefore kept once for all terms that
share it, and a product with the matrix costs one pass over the terms, however many rows there are.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

__all__ = ["SharedColumns", "column_classes"]


def column_classes(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the different columns of a matrix: for each column its class, and for each class one column.

    Columns are told apart by their product with a random vector. Equal columns add up the same
    numbers in the same order, so they are never separated; two different ones are confused with a
    probability of about 1e-16, and every answer is checked against the whole matrix anyway.
    """
    mark = matrix.T @ np.random.default_rng(0).uniform(1, 2, matrix.shape[0])
    of_column, classes = pd.factorize(mark)
    example = np.empty(len(classes), dtype=np.int64)
    example[of_column] = np.arange(len(of_column))
    return of_column, example


class SharedColumns:
    """A matrix whose columns are those of a smaller one, ``matrix[:, t] == distinct[:, of_term[t]]``.

    Attributes
    ----------
    distinct : csr_array, shape (rows, classes)
    transposed : csr_array, shape (classes, rows)
    of_term : ndarray of int, one a term
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        self.of_term, example = column_classes(matrix)
        if matrix.shape[0]:
            self.transposed = sp.csr_array(matrix[:, example].T)
            self.distinct = sp.csr_array(self.transposed.T)
        else:
            self.distinct = sp.csr_array((0, len(example)))
            self.transposed = sp.csr_array((len(example), 0))

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """The matrix @ x."""
        return self.distinct @ self.collect(x)

    def rmatvec(self, multipliers: np.ndarray) -> np.ndarray:
        """The transposed matrix @ multipliers, one number a term."""
        return (self.transposed @ multipliers)[self.of_term]

    def collect(self, x: np.ndarray) -> np.ndarray:
        """Add up x over the terms of each class."""
        return np.bincount(self.of_term, x, self.distinct.shape[1]).astype(float, copy=False)

    def squares(self, x: np.ndarray) -> np.ndarray:
        """The diagonal of matrix @ diag(x) @ matrix'."""
        return self.distinct.power(2) @ self.collect(x)

    @property
    def touched(self) -> np.ndarray:
        """Which terms are in some row."""
        return (np.diff(self.transposed.indptr) > 0)[self.of_term]
