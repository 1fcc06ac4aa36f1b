"""The dense corner of a Newton system: the Schur complement of the knowledge rows, kept as a preconditioner."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from ..tolerances import NEWTON_SYSTEM

__all__ = ["SchurComplement"]

Solve = Callable[[np.ndarray], np.ndarray]


class SchurComplement:
    """A Schur complement formed at some x for some active rows, to precondition that of another x and other rows.

    Parameters
    ----------
    schur : ndarray, shape (rows, rows)
    active : ndarray of int
        Which rows of knowledge those are, ascending.
    """

    def __init__(self, schur: np.ndarray, active: np.ndarray) -> None:
        self.schur, self.active = schur, active
        self._solve: Solve = np.copy
        self._at, self._ridge = np.empty(0, dtype=np.int64), -1.0  # what it was factored for

    def renumbered(self, of_row: np.ndarray) -> SchurComplement:
        """The same where row i is row ``of_row[i]``, ascending; a row that is no more (-1) is left out."""
        active = of_row[self.active]
        left = np.flatnonzero(active >= 0)
        schur = self.schur if len(left) == len(active) else self.schur[np.ix_(left, left)]
        return SchurComplement(schur, active[left])

    def scaled(self, by: np.ndarray) -> SchurComplement:
        """The same where every row is multiplied by a number."""
        if (by[self.active] == 1).all():
            return self
        return SchurComplement(self.schur * by[self.active, None] * by[self.active], self.active)

    def precondition(self, active: np.ndarray, scale: np.ndarray, ridge: float) -> Solve:
        """Solve for rows that were active then, divide by `scale` for the others.

        Parameters
        ----------
        active : ndarray of int
            The rows to solve for, ascending.
        scale : ndarray, one an active row
            The diagonal of the rows by themselves.
        ridge : float
            By what part of that the diagonal is raised.
        """
        then = np.isin(active, self.active, assume_unique=True)
        at = np.searchsorted(self.active, active[then])
        if ridge != self._ridge or not np.array_equal(at, self._at):
            chosen = self.schur if len(at) == len(self.active) else self.schur[np.ix_(at, at)]
            self._solve, self._at, self._ridge = factored(chosen, ridge * scale[then]), at, ridge
        solve = self._solve
        if then.all():
            return solve

        def both(right: np.ndarray) -> np.ndarray:
            found = right / scale
            found[then] = solve(right[then])
            return found

        return both


def factored(matrix: np.ndarray, raised: np.ndarray) -> Solve:
    """Factor a matrix whose rows some others may imply: such a row has only a ridge left of its diagonal."""
    size = np.maximum(matrix.diagonal() + raised, NEWTON_SYSTEM.vanished_diagonal)
    root = np.where(size > NEWTON_SYSTEM.vanished_diagonal, 1 / np.sqrt(size), 0.0)
    scaled = matrix * root[:, None] * root  # one scale, so that one ridge fits all rows
    diagonal = np.einsum("ii->i", scaled)
    diagonal += raised / size
    ridge = NEWTON_SYSTEM.first_ridge
    while ridge < 1:
        diagonal += ridge
        try:
            factor = np.linalg.cholesky(scaled)
        except np.linalg.LinAlgError:  # rounding was larger than the ridge
            ridge *= 100
            continue
        if len(size) > NEWTON_SYSTEM.most_inverted:
            # In the order in which LAPACK reads it. In single precision it would be half as much to read, and no
            # preconditioner any more where terms vanish and rows nearly imply each other.
            ordered = np.asfortranarray(factor)
            return lambda right: root * scipy.linalg.cho_solve((ordered, True), root * right, check_finite=False)
        inverse = np.linalg.inv(factor)
        return lambda right: root * (inverse.T @ (inverse @ (root * right)))
    return lambda right: right / size
