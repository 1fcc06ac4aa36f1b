"""Solve M diag(x) M' d = g for the rows of a separable program, by the structure of M.

Few dense rows, such as moments over many outcomes, are one dense matrix. Where equations share no term, as the sums of
the rows of a table, their part of the matrix is diagonal and is eliminated: of two margins of n categories there is
left a Schur complement of n rows. All else is a sparse product, and a dense or a sparse factor of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..linear_algebra.cholesky import regularized_cholesky
from ..linear_algebra.sparse_system import ldl_factor
from ..rows.sparse import entry_rows

__all__ = ["Dense", "Solve", "Sparse", "normal_matrix"]

#: Share of the entries that are not 0 from which on rows are one dense matrix.
DENSE_SHARE = 0.3
#: Entries of a dense matrix, at most: 400 MB.
MOST_DENSE = 5e7
#: Columns that are multiplied at a time, so that a batch of some ten rows stays in the processor's cache.
BATCH = 8_192
#: Share of rows without common terms from which on these are eliminated.
LEAST_APART = 0.25
#: Rows that are left, up to which they are factored as a dense matrix.
MOST_REST = 3_000
#: Rounds in which rows without common terms are chosen.
ROUNDS = 8

#: Solves for right-hand sides of the chosen rows.
Solve = Callable[[np.ndarray], np.ndarray]


def normal_matrix(matrix: sp.csr_array, is_equation: np.ndarray) -> Dense | Sparse:
    """Choose a way by the structure of a matrix.

    Parameters
    ----------
    matrix : csr_array, shape (rows, terms)
    is_equation : ndarray of bool, one a row
        Only equations are eliminated, as they are always active.
    """
    n_rows, n_terms = matrix.shape
    if matrix.nnz >= DENSE_SHARE * n_rows * n_terms and n_rows * n_terms <= MOST_DENSE:
        return Dense(matrix)
    apart = disjoint_rows(matrix, is_equation)
    n_rest = n_rows - len(apart)
    if len(apart) >= LEAST_APART * n_rows and n_rest <= MOST_REST and n_rest * len(apart) <= MOST_DENSE:
        return Arrow(matrix, apart)
    return Sparse(matrix)


def disjoint_rows(matrix: sp.csr_array, allowed: np.ndarray) -> np.ndarray:
    """Choose rows of which no two share a term, short ones first, in a few rounds.

    In each round a row is chosen if, of the rows that are left, it comes first at all of its terms.
    """
    n_rows, n_terms = matrix.shape
    length = np.diff(matrix.indptr)
    rank = np.empty(n_rows, dtype=np.int64)
    rank[np.lexsort((np.arange(n_rows), length))] = np.arange(n_rows)
    row, term = entry_rows(matrix), matrix.indices
    left, chosen = allowed & (length > 0), np.zeros(n_rows, dtype=bool)
    for _ in range(ROUNDS):
        entries = left[row]
        if not entries.any():
            break
        first = np.full(n_terms, n_rows)
        np.minimum.at(first, term[entries], rank[row[entries]])
        beaten = np.bincount(row[entries], rank[row[entries]] > first[term[entries]], n_rows) > 0
        new = left & ~beaten
        chosen |= new
        claimed = np.zeros(n_terms, dtype=bool)
        claimed[term[new[row]]] = True
        left &= ~new & (np.bincount(row, claimed[term], n_rows) == 0)
    return np.flatnonzero(chosen)


class Dense:
    """M as one dense matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix = matrix.toarray()

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute M x."""
        return self.matrix @ x

    def rmatvec(self, m: np.ndarray) -> np.ndarray:
        """Compute M' m."""
        return m @ self.matrix

    def factor(self, x: np.ndarray, rows: np.ndarray, ridge: float, added: np.ndarray | None = None) -> Solve:
        """Factor M diag(x) M' of some rows, its diagonal raised by a relative ridge."""
        some = self.matrix if len(rows) == len(self.matrix) else self.matrix[rows]
        hessian = np.zeros((len(rows), len(rows)))
        for begin in range(0, len(x), BATCH):  # batches that the processor's cache holds
            batch = some[:, begin : begin + BATCH]
            hessian += (batch * x[begin : begin + BATCH]) @ batch.T
        raised = ridge * hessian.diagonal() + (0.0 if added is None else added[rows])
        return regularized_cholesky(hessian, raised, is_inverted=False)


class Sparse:
    """M as a sparse matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self.matrix, self.by_term = matrix, sp.csr_array(matrix.T)

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute M x."""
        return self.matrix @ x

    def rmatvec(self, m: np.ndarray) -> np.ndarray:
        """Compute M' m."""
        return self.by_term @ m

    def factor(self, x: np.ndarray, rows: np.ndarray, ridge: float, added: np.ndarray | None = None) -> Solve:
        """Factor M diag(x) M' of some rows, its diagonal raised by a relative ridge."""
        some = self.matrix if len(rows) == self.matrix.shape[0] else self.matrix[rows]
        hessian = sp.csr_array(some @ sp.diags_array(x) @ some.T)
        if added is not None:
            hessian = sp.csr_array(hessian + sp.diags_array(added[rows]))
        if len(rows) <= MOST_REST:
            dense = hessian.toarray()
            return regularized_cholesky(dense, ridge * dense.diagonal(), is_inverted=False)
        return ldl_factor(sp.csc_array(hessian), ridge).solve


class Arrow(Sparse):
    """Rows that share no term are eliminated as a diagonal."""

    def __init__(self, matrix: sp.csr_array, apart: np.ndarray) -> None:
        super().__init__(matrix)
        n_rows, n_terms = matrix.shape
        self.apart, self.rest = apart, np.setdiff1d(np.arange(n_rows), apart)
        self.place = np.full(n_rows, -1)
        self.place[apart] = np.arange(len(apart))
        own = matrix[apart]
        self.owner, coefficient = np.full(n_terms, -1), np.zeros(n_terms)
        self.owner[own.indices], coefficient[own.indices] = entry_rows(own), own.data
        self.square = coefficient**2
        self.others = matrix[self.rest]
        row = entry_rows(self.others)
        shared = self.owner[self.others.indices] >= 0
        self.term = self.others.indices[shared]
        self.cell = row[shared] * len(apart) + self.owner[self.term]
        self.product = self.others.data[shared] * coefficient[self.term]
        self.are_apart_too = n_terms == 0 or np.bincount(self.others.indices, minlength=n_terms).max(initial=0) <= 1
        self.owned = np.flatnonzero(self.owner >= 0)

    def factor(self, x: np.ndarray, rows: np.ndarray, ridge: float, added: np.ndarray | None = None) -> Solve:
        """Factor M diag(x) M' of some rows, which include those that are apart."""
        n_apart, n_rest = len(self.apart), len(self.rest)
        diagonal = (1 + ridge) * np.bincount(self.owner[self.owned], (self.square * x)[self.owned], n_apart)
        diagonal = np.maximum(diagonal, np.finfo(float).tiny)
        between = np.bincount(self.cell, self.product * x[self.term], n_rest * n_apart).reshape(n_rest, n_apart)
        is_apart = self.place[rows] >= 0
        some = np.searchsorted(self.rest, rows[~is_apart])
        between = between if len(some) == n_rest else between[some]
        others = self.others if len(some) == n_rest else self.others[some]
        if self.are_apart_too:
            own = np.diag(sp.csr_array((others.data**2, others.indices, others.indptr), others.shape) @ x)
        else:
            own = (others @ sp.diags_array(x) @ others.T).toarray()
        raised = ridge * own.diagonal() + (0.0 if added is None else added[self.rest[some]])
        own -= (between / diagonal) @ between.T
        solve = regularized_cholesky(own, raised, is_inverted=False)

        def solution(right: np.ndarray) -> np.ndarray:
            found, first = np.empty(len(rows)), right[is_apart]
            last = solve(right[~is_apart] - between @ (first / diagonal)) if len(some) else right[~is_apart]
            found[is_apart], found[~is_apart] = (first - last @ between) / diagonal, last
            return found

        return solution
