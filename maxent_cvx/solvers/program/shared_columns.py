"""A sparse matrix with many identical columns: each distinct column is stored once.

A statement about all men has the same coefficient on every term of a man. Storing the distinct columns makes a product
with the matrix cost one pass over the terms and one over the entries of the distinct columns.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

__all__ = ["SharedColumns", "column_classes"]


def column_classes(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct columns of a matrix: the class of every column, and one column of every class.

    Columns are compared by their product with a random vector. Equal columns add up the same numbers in the same
    order and always get the same class. Two different columns get the same class with probability about 1e-16; every
    answer is checked against the full matrix, so that this would be noticed.
    """
    hashes = matrix.T @ np.random.default_rng(0).uniform(1, 2, matrix.shape[0])
    of_column, classes = pd.factorize(hashes)
    example = np.empty(len(classes), dtype=np.int64)
    example[of_column] = np.arange(len(of_column))
    return of_column, example


class SharedColumns:
    """A matrix given by its distinct columns, ``matrix[:, t] == distinct[:, of_term[t]]``.

    Attributes
    ----------
    distinct : csr_array, shape (rows, classes)
    transposed : csr_array, shape (classes, rows)
    of_term : ndarray of int, one a term
        The class of each term's column.
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
        """Compute A x."""
        return self.distinct @ self.collect(x)

    def rmatvec(self, multipliers: np.ndarray) -> np.ndarray:
        """Compute A' multipliers, one number a term."""
        return (self.transposed @ multipliers)[self.of_term]

    def collect(self, x: np.ndarray) -> np.ndarray:
        """Sum x over the terms of each class of identical columns."""
        return np.bincount(self.of_term, x, self.distinct.shape[1]).astype(float, copy=False)

    @cached_property
    def squared(self) -> sp.csr_array:
        """The distinct columns with every coefficient squared."""
        return self.distinct.power(2)

    @property
    def touched(self) -> np.ndarray:
        """Which terms have a coefficient in some row."""
        return (np.diff(self.transposed.indptr) > 0)[self.of_term]
