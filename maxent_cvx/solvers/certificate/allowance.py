"""A convex constraint in the certificate, where its Lagrangian is a cost of soft rows.

Let the constraint be C(x) + g x <= limit, and t its multiplier. The costs t C are those of soft rows, and the weights
of the objective are w exp(-t g). By weak duality the entropy of the exact solution is at most the dual value of that
problem plus t limit. So the gap at a point x'' that satisfies the constraint is that of the soft problem plus

    t (limit - C(x'') - g x'').
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..parameters.tolerances import EPS
from ..program.linear_form import LinearForm

__all__ = ["Allowance", "linked"]


@dataclass(frozen=True, eq=False)
class Allowance:
    """The costs of some soft rows and a linear expression are at most a limit, all in nats.

    Attributes
    ----------
    rows : ndarray of int
        The soft rows, whose costs are those of the constraint times its multiplier t.
    linear : ndarray, one a term
        t g.
    limit : float
        t limit.
    magnitude : float
        The size that a violation is relative to.
    """

    rows: np.ndarray
    linear: np.ndarray
    limit: float
    magnitude: float

    def left(self, form: LinearForm, x: np.ndarray, moves: np.ndarray) -> tuple[float, float]:
        """What x'' leaves of the limit, nats, bounded above, and by how much it exceeds the limit, relative.

        Parameters
        ----------
        form : LinearForm
        x : ndarray, one a term
            Counts, records.
        moves : ndarray, one a term
            A bound on the distance of each count from x''.
        """
        assert form.penalties is not None
        penalties, matrix = form.penalties.select(self.rows - form.n_hard), form.matrix[self.rows]
        value, size = matrix @ x, abs(matrix)
        error = size @ (moves + 4 * EPS * x) + form.side_error[self.rows]
        error += form.coefficient_error[self.rows] * (abs(matrix.sign()) @ x)
        missed = np.maximum(np.maximum(form.low[self.rows] - value, value - form.high[self.rows]), 0.0)
        ends = [penalties.cost(np.maximum(missed + shift, 0.0)) for shift in (-error, 0.0 * error, error)]
        least, most = float(np.minimum.reduce(ends).sum()), float(np.maximum.reduce(ends).sum())
        linear, spread = float(self.linear @ x), float(np.abs(self.linear) @ (moves + 4 * EPS * x))
        # A sum of n numbers is off by at most n EPS times their size; NumPy's pairwise sums by far less.
        rounding = 16 * EPS * (abs(self.limit) + most + float(np.abs(self.linear) @ x))
        left = max(self.limit - least - linear + spread, 0.0) + rounding
        return left, max(most + linear + spread - self.limit, 0.0) / self.magnitude


def linked(components: tuple[np.ndarray, np.ndarray], allowances: Sequence[Allowance]) -> tuple[np.ndarray, np.ndarray]:
    """Join the connected components that share a limit: for each row, and for each term."""
    of_row, of_term = components
    for allowance in allowances:
        joined = np.union1d(of_row[allowance.rows], of_term[allowance.linear != 0])
        first = of_row[allowance.rows[0]]
        of_row = np.where(np.isin(of_row, joined), first, of_row)
        of_term = np.where(np.isin(of_term, joined), first, of_term)
    return of_row, of_term
