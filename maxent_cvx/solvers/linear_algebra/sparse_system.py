"""Newton systems by a sparse LDL' factor, for problems whose blocks are too large for dense factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import qdldl
import scipy.sparse as sp

from ..parameters.dual_methods import NEWTON_SYSTEM
from ..program.linear_form import LinearForm
from .schur_preconditioner import SchurComplement

__all__ = ["SparseSystem"]


class SparseSystem:
    """Solves A diag(x) A' d = g at any x."""

    def __init__(self, form: LinearForm) -> None:
        self.matrix, self.n_published = form.matrix, form.n_published
        self.products = 0  # systems are solved directly
        self.schur: SchurComplement | None = None  # without a preconditioner

    def at(self, x: np.ndarray, ridge: float, curvature: np.ndarray | None = None) -> SparseFactor:
        """The system at one x, its diagonal raised by a relative ridge and, of knowledge, by the curvature given."""
        return SparseFactor(self.matrix, self.n_published, x, ridge, curvature)


@dataclass(frozen=True, eq=False)
class SparseFactor:
    """A diag(x) A' at one x; it is factored for the rows that are active."""

    matrix: sp.csr_array
    n_published: int
    x: np.ndarray
    ridge: float
    curvature: np.ndarray | None = None

    def solve(self, gradient: np.ndarray, active: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
        """Solve for the published rows and the active rows of knowledge; the direction of the others is 0."""
        rows = np.concatenate([np.arange(self.n_published), self.n_published + active])
        matrix = self.matrix[rows]
        hessian = sp.csc_array(matrix @ sp.diags_array(self.x) @ matrix.T)
        if self.curvature is not None:
            hessian = hessian + sp.diags_array(np.concatenate([np.zeros(self.n_published), self.curvature[active]]))
        factor = ldl_factor(sp.csc_array(hessian), self.ridge)
        direction = np.zeros(len(gradient))
        direction[rows] = factor.solve(gradient[rows])
        return direction


def ldl_factor(matrix: sp.csc_array, ridge: float) -> qdldl.Solver:
    """The LDL' factor of a symmetric matrix whose diagonal is raised by a relative ridge."""
    raised = matrix + sp.diags_array(ridge * np.maximum(matrix.diagonal(), NEWTON_SYSTEM.smallest_diagonal))
    return qdldl.Solver(sp.csc_matrix(sp.triu(raised, format="csc")), upper=True)
