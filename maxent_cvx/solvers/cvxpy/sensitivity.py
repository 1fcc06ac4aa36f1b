"""How the solution of a cone program moves with its data: the implicit function theorem, with the active set held.

The conditions of optimality of a program :class:`.ConeProgram` are differentiated. An inequality is active, and goes on
to hold with equality, or it has the multiplier 0. An exponential cone whose dual value is a multiple a of the gradient
g' = (-1, log(w / u) - 1, u / w) of g = u log(w / u) - t stays on its boundary, g = 0. With H = a times the second
derivative of g, at the slacks s = b - A z, the system is

    (P - A' H A) dz + A_active' dl + (A' g) da = first,    A_active dz = second,    g' A dz = third.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ...errors import SolverError
from ..parameters.tolerances import CONIC_PROGRAM
from .cone_program import ConeProgram

__all__ = ["Sensitivity"]


class Sensitivity:
    """The linear system of the derivatives at a solution.

    Parameters
    ----------
    program : ConeProgram
    z, dual : ndarray
        Its solution.

    Raises
    ------
    SolverError
        If the solution is not differentiable there: an inequality holds and has the multiplier 0, or a cone does.
    """

    def __init__(self, program: ConeProgram, z: np.ndarray, dual: np.ndarray) -> None:
        self.program, self.z, self.dual = program, z, dual
        n, first = len(z), program.linear.stop
        self.active = np.concatenate([np.arange(program.n_zero), program.n_zero + self._active_inequalities()])
        slack = program.b - program.A @ z
        cones = self._curved_cones(slack[first:].reshape(-1, 3), dual[first:].reshape(-1, 3))
        self.rows = (first + 3 * cones[:, None] + np.arange(3)).ravel()
        _, u, w = slack[self.rows].reshape(-1, 3).T
        a = -dual[self.rows].reshape(-1, 3)[:, 0]
        of_all = sp.csr_array(program.A)
        self.curved = of_all[self.rows]
        number, k = np.arange(len(cones)), 3 * np.arange(len(cones))
        gradient = np.stack([-np.ones(len(u)), np.log(w / u) - 1, u / w], axis=1)
        self.gradient = sp.csr_array((gradient.ravel(), (np.repeat(number, 3), np.arange(3 * len(u)))))
        second = (-a / u, a / w, a / w, -a * u / w**2)
        at_rows = np.concatenate([k + 1, k + 1, k + 2, k + 2]), np.concatenate([k + 1, k + 2, k + 1, k + 2])
        self.hessian = sp.csr_array((np.concatenate(second), at_rows), shape=(3 * len(u), 3 * len(u)))
        P = sp.csc_array((n, n)) if program.P is None else program.P
        top = P - self.curved.T @ self.hessian @ self.curved
        held = sp.vstack([of_all[self.active], self.gradient @ self.curved], format="csr")
        self.n, self.held = n, held
        self.matrix = sp.csc_array(sp.block_array([[top, held.T], [held, None]]))
        size = np.abs(self.matrix.data).max(initial=1.0)
        ridge = CONIC_PROGRAM.derivative_ridge * size * np.where(np.arange(self.matrix.shape[0]) < n, 1.0, -1.0)
        self.factor = splu(sp.csc_matrix(self.matrix + sp.diags_array(ridge)))

    def _active_inequalities(self) -> np.ndarray:
        """The numbers of the inequalities that hold with equality."""
        program, n, m = self.program, self.program.n_zero, self.program.linear.stop
        finite = np.isfinite(program.b[n:m])
        matrix = program.A[n:m]
        slack = np.where(finite, program.b[n:m], np.inf) - matrix @ self.z
        summands = abs(matrix) @ np.abs(self.z) + np.abs(np.where(finite, program.b[n:m], 1.0))
        size = max(float(np.abs(summands).max(initial=0.0)), np.finfo(float).tiny)
        largest = max(float(np.abs(self.dual).max(initial=0.0)), np.finfo(float).tiny)
        room, multiplier = slack / size, self.dual[n:m] / largest
        doubtful = np.flatnonzero(np.maximum(room, multiplier) <= CONIC_PROGRAM.strict)
        if len(doubtful):
            columns = matrix[doubtful[:1]].indices
            names = ", ".join(program.where(int(column)) for column in columns[:3])
            raise SolverError(
                f"the solution has no derivative: {len(doubtful)} inequalities hold with equality and have the "
                f"multiplier 0, the first one on {names}; derivatives to the two sides differ. Move a parameter"
            )
        return np.flatnonzero(multiplier > room)

    def _curved_cones(self, slack: np.ndarray, dual: np.ndarray) -> np.ndarray:
        """The numbers of the cones on whose boundary the solution is."""
        a = -dual[:, 0]
        used = a > CONIC_PROGRAM.strict * a.max(initial=0.0)
        if (at_zero := used & (slack[:, 1] <= CONIC_PROGRAM.vanished_average * np.abs(slack).max(initial=0.0))).any():
            column = self.program.triple(1)[0][np.flatnonzero(at_zero)[:1]].indices
            name = self.program.where(int(column[0])) if len(column) else "a constant"
            raise SolverError(f"the solution has no derivative: {name} is 0, where the entropy has none; leave it out")
        return np.flatnonzero(used)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for right-hand sides; rows that repeat others do not matter, if the right-hand sides repeat them too.

        Raises
        ------
        SolverError
            If the system has no solution: the solution of the program is not unique, or not differentiable.
        """
        found = np.zeros_like(right)
        rest, size = right, np.abs(right).max(initial=0.0)
        for _ in range(CONIC_PROGRAM.derivative_rounds):
            found = found + self.factor.solve(rest)
            rest = right - self.matrix @ found
            if np.abs(rest).max(initial=0.0) <= CONIC_PROGRAM.derivative * size:
                return found
        raise SolverError(
            f"the solution has no derivative: the system of derivatives is solved to {np.abs(rest).max() / size:.0e} "
            f"only, and {CONIC_PROGRAM.derivative:.0e} is expected. The solution may not be unique, or data contradict"
            " each other if these parameters move"
        )

    def right(self, gradient: sp.csr_array, slack: sp.csr_array) -> np.ndarray:
        """The right-hand sides, one a column, for changes of the gradient and of the slacks at the solution held fixed.

        Parameters
        ----------
        gradient : csr_array, shape (columns of A, directions)
            dc + dP z + dA' dual.
        slack : csr_array, shape (rows of A, directions)
            db - dA z.
        """
        curved = slack[self.rows]
        first = -gradient - self.curved.T @ (self.hessian @ curved)
        return sp.vstack([first, slack[self.active], self.gradient @ curved]).toarray()
