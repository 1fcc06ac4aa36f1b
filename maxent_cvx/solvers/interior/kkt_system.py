"""The linear systems of an interior-point method, [P A'; A -W], by a sparse LDL' factor and iterative refinement."""

from __future__ import annotations

import numpy as np
import qdldl
import scipy.sparse as sp

from ..parameters.dual_methods import INTERIOR

__all__ = ["KktSystem"]


class KktSystem:
    """Solves [P A'; A -W] (x, z) = (f, g) for scalings W that are diagonal or have blocks of 3 x 3.

    Parameters
    ----------
    P : csc_array
        Symmetric.
    A : csc_array
    n_diagonal : int
        Rows of A whose scaling is diagonal; the others come in threes.
    ridge : float
        The diagonal is raised by it while the system is factored.
    """

    def __init__(self, P: sp.csc_array, A: sp.csc_array, n_diagonal: int, ridge: float = INTERIOR.ridge) -> None:
        self.P, self.A, self.A_t, self.ridge = P, A, sp.csc_array(A.T), ridge
        n, m = P.shape[0], A.shape[0]
        self.n, self.n_diagonal = n, n_diagonal
        first = n + np.arange(n_diagonal, m, 3)
        upper = np.triu_indices(3)
        self.upper = upper
        top = sp.coo_array(sp.triu(P))
        across = sp.coo_array(A)
        diagonal = np.arange(n + n_diagonal)
        row = np.concatenate([top.coords[0], across.coords[1], diagonal, (first[:, None] + upper[0]).ravel()])
        column = np.concatenate([top.coords[1], across.coords[0] + n, diagonal, (first[:, None] + upper[1]).ravel()])
        self.fixed = np.concatenate([top.data, across.data])
        key = column.astype(np.int64) * (n + m) + row
        unique, self.place = np.unique(key, return_inverse=True)
        indptr = np.searchsorted(unique // (n + m), np.arange(n + m + 1))
        self.matrix = sp.csc_matrix((np.zeros(len(unique)), unique % (n + m), indptr), shape=(n + m, n + m))
        self.factor: qdldl.Solver | None = None
        self.diagonal, self.blocks, self.curvature = np.empty(0), np.empty((0, 3, 3)), np.zeros(n)

    def update(self, diagonal: np.ndarray, blocks: np.ndarray, curvature: np.ndarray | None = None) -> None:
        """Factor the system for another scaling, and with a diagonal added to P if there is one."""
        self.diagonal, self.blocks = diagonal, blocks
        self.curvature = np.zeros(self.n) if curvature is None else curvature
        ridge = self.ridge
        own = -blocks[:, self.upper[0], self.upper[1]] - ridge * (self.upper[0] == self.upper[1])
        added = np.concatenate([self.curvature + ridge, -diagonal - ridge])
        data = np.concatenate([self.fixed, added, own.ravel()])
        self.matrix.data[:] = np.bincount(self.place, data, len(self.matrix.data))
        if self.factor is None:
            self.factor = qdldl.Solver(self.matrix, upper=True)
        else:
            self.factor.update(self.matrix, upper=True)

    def scaled(self, z: np.ndarray) -> np.ndarray:
        """Compute W z."""
        k = self.n_diagonal
        of_blocks = np.einsum("nij,nj->ni", self.blocks, z[k:].reshape(-1, 3)).ravel()
        return np.concatenate([self.diagonal * z[:k], of_blocks])

    def solve(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve for a right-hand side, with refinement, as the ridge is not part of the system."""
        assert self.factor is not None
        n = self.n
        found = np.zeros(n + len(g))
        missing, size, best = (
            np.concatenate([f, g]),
            1 + np.abs(f).max(initial=0.0) + np.abs(g).max(initial=0.0),
            np.inf,
        )
        for _ in range(INTERIOR.refinements):
            trial = found + self.factor.solve(missing)
            x, z = trial[:n], trial[n:]
            rest = np.concatenate([f - self.P @ x - self.curvature * x - self.A_t @ z, g - self.A @ x + self.scaled(z)])
            off = float(np.abs(rest).max(initial=0.0))
            if not off < best:
                break
            found, missing, best = trial, rest, off
            if best <= INTERIOR.refined * size:
                break
        return found[:n], found[n:]
