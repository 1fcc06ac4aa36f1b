"""The Schur complement of the rows of knowledge as a preconditioner, at other points than where it was formed."""

from __future__ import annotations

import numpy as np

from .cholesky import Solve, regularized_cholesky

__all__ = ["SchurComplement"]


class SchurComplement:
    """A Schur complement formed at one x for some active rows, to precondition that of another x and other rows.

    Parameters
    ----------
    schur : ndarray, shape (rows, rows)
    active : ndarray of int
        Which rows of knowledge those are, ascending.
    """

    def __init__(self, schur: np.ndarray, active: np.ndarray) -> None:
        self.schur, self.active = schur, active
        self._solve: Solve = np.copy
        self._factored, self._ridge = np.empty(0, dtype=np.int64), -1.0  # the rows and the ridge of the last factor

    def renumbered(self, of_row: np.ndarray) -> SchurComplement:
        """The same where row i becomes row ``of_row[i]``, ascending; a row that is removed has -1."""
        active = of_row[self.active]
        left = np.flatnonzero(active >= 0)
        schur = self.schur if len(left) == len(active) else self.schur[np.ix_(left, left)]
        return SchurComplement(schur, active[left])

    def scaled(self, by: np.ndarray) -> SchurComplement:
        """The same where every row of knowledge is multiplied by a number."""
        if (by[self.active] == 1).all():
            return self
        return SchurComplement(self.schur * by[self.active, None] * by[self.active], self.active)

    def precondition(self, active: np.ndarray, scale: np.ndarray, ridge: float) -> Solve:
        """Solve with S for the rows that it was formed for, and divide by `scale` for the others.

        Parameters
        ----------
        active : ndarray of int
            The rows to solve for, ascending.
        scale : ndarray, one an active row
            The diagonal of C = K diag(x) K'.
        ridge : float
            Relative to `scale`: by how much the diagonal of S is raised.
        """
        formed = np.isin(active, self.active, assume_unique=True)
        at = np.searchsorted(self.active, active[formed])
        if ridge != self._ridge or not np.array_equal(at, self._factored):
            chosen = self.schur if len(at) == len(self.active) else self.schur[np.ix_(at, at)]
            self._solve = regularized_cholesky(chosen, ridge * scale[formed])
            self._factored, self._ridge = at, ridge
        solve = self._solve
        if formed.all():
            return solve

        def both(right: np.ndarray) -> np.ndarray:
            found = right / scale
            found[formed] = solve(right[formed])
            return found

        return both
