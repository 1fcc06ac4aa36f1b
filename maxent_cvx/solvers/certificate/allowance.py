"""A convex constraint in the certificate, where its Lagrangian is a cost of soft rows.

Let the constraint be C(x) + g x <= limit, and t its multiplier. The costs t C are those of soft rows, and the weights
of the objective are w exp(-t g). By weak duality the entropy of the exact solution is at most the dual value of that
problem plus t limit. So the gap at a point x'' that satisfies the constraint is that of the soft problem plus

    t (limit - C(x'') - g x'').
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..parameters.tolerances import CONVEX_CONSTRAINTS, EPS
from ..program.linear_form import LinearForm
from .residuals import exact_residuals

__all__ = ["Allowance", "linked"]


@dataclass(frozen=True, eq=False)
class Allowance:
    """The costs of missing rows and a linear expression are at most a limit, all multiplied by the multiplier t: nats.

    Attributes
    ----------
    rows : LinearForm
        The rows, which are soft.
    linear : ndarray, one a term
        t g.
    limit : float
        t limit.
    magnitude : float
        The size that a violation is relative to.
    """

    rows: LinearForm
    linear: np.ndarray
    limit: float
    magnitude: float

    @property
    def terms(self) -> np.ndarray:
        """Which terms it is about."""
        found = self.linear != 0
        found[self.rows.matrix.indices] = True
        return found

    def left(self, x: np.ndarray, moves: np.ndarray, *, is_movable: bool) -> tuple[float, float]:
        """What x'' leaves of the limit, nats, bounded above, and by how much it exceeds the limit, relative.

        Parameters
        ----------
        x : ndarray, one a term
            Counts, records.
        moves : ndarray, one a term
            A bound on the distance of each count from x''.
        is_movable : bool
            Whether a limit that is kept but for rounding may be moved to what x'' spends, which leaves nothing. Near
            the least attainable limit t is so large that rounding of t limit alone is a considerable gap.
        """
        penalties, every = self.rows.penalties, np.arange(self.rows.shape[0])
        assert penalties is not None
        below, above = (
            np.where(
                np.isfinite(side),
                sign * exact_residuals(self.rows, x, every, np.nan_to_num(side, posinf=0, neginf=0)),
                0,
            )
            for sign, side in ((-1.0, self.rows.low), (1.0, self.rows.high))
        )
        missed = np.maximum(np.maximum(below, above), 0.0)
        error = abs(self.rows.matrix) @ moves + EPS * missed
        ends = [penalties.cost(np.maximum(missed + shift, 0.0)) for shift in (-error, 0.0 * error, error)]
        least, most = math.fsum(np.minimum.reduce(ends)), math.fsum(np.maximum.reduce(ends))
        linear, spread = math.fsum(self.linear * x), float(np.abs(self.linear) @ moves)
        # Sums are rounded once; each cost is a product and quotient of a few numbers, and its logarithm is off by EPS.
        rounding = EPS * (abs(self.limit) + 4 * most + 2 * float(np.abs(self.linear) @ x))
        left = max(self.limit - least - linear + spread, 0.0) + rounding
        beyond = max(most + linear + spread - self.limit, 0.0)
        if is_movable and max(left, beyond) <= CONVEX_CONSTRAINTS.kept * self.magnitude:
            return 0.0, (max(left, beyond) + rounding) / self.magnitude
        return left, beyond / self.magnitude


def linked(components: tuple[np.ndarray, np.ndarray], allowances: Sequence[Allowance]) -> tuple[np.ndarray, np.ndarray]:
    """Join the connected components that share a limit: for each row, and for each term."""
    of_row, of_term = components
    for allowance in allowances:
        joined = np.unique(of_term[allowance.terms])
        of_row = np.where(np.isin(of_row, joined), joined[0], of_row)
        of_term = np.where(np.isin(of_term, joined), joined[0], of_term)
    return of_row, of_term
