"""A convex constraint in the certificate, where its Lagrangian is a cost of soft rows.

Let the constraint be C(x) + g x <= limit, and t its multiplier. The costs t C are those of soft rows, and the weights
of the objective are w exp(-t g). By weak duality the entropy of the exact solution is at most the dual value of that
problem plus t limit. So the gap at a point x'' that satisfies the constraint is that of the soft problem plus

    t (limit - C(x'') - g x'').

A constraint with t = 0 adds nothing. If it holds wherever the exact solution without it can be, that is the exact
solution with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..parameters.tolerances import CONVEX_CONSTRAINTS, EPS
from ..program.linear_form import LinearForm
from .residuals import exact_residuals

__all__ = ["Allowance"]


@dataclass(frozen=True, eq=False)
class Allowance:
    """The costs of missing rows and a linear expression are at most a limit.

    Attributes
    ----------
    rows : LinearForm
        The rows, which are soft.
    linear : ndarray, one a term
        g, in the unit of the constraint per record.
    limit : float
        In the unit of the constraint.
    magnitude : float
        The size that a violation is relative to.
    multiplier : float
        t, nats per unit of the constraint.
    places : ndarray of int
        The numbers of the rows among all rows of the certificate; empty where its costs are not those of soft rows.
    error : float
        A bound on the rounding error of the limit.
    """

    rows: LinearForm
    linear: np.ndarray
    limit: float
    magnitude: float
    multiplier: float
    places: np.ndarray
    error: float = 0.0

    @property
    def terms(self) -> np.ndarray:
        """Which terms it is about."""
        found = self.linear != 0
        found[self.rows.matrix.indices] = True
        return found

    def met(self, is_exact: np.ndarray) -> np.ndarray:
        """Which of its rows are met, and cost nothing, where x'' satisfies some of all rows exactly."""
        penalties = self.rows.penalties
        assert penalties is not None
        found = (penalties.variance == 0) & ~penalties.is_divergence
        return found & is_exact[self.places] if len(self.places) else np.zeros_like(found)

    def left(self, x: np.ndarray, moves: np.ndarray, met: np.ndarray, *, is_movable: bool) -> tuple[float, float]:
        """What x'' leaves of the limit, nats, bounded above, and by how much it exceeds the limit, relative.

        Parameters
        ----------
        x : ndarray, one a term
            Counts, records.
        moves : ndarray, one a term
            A bound on the distance of each count from x''.
        met : ndarray of bool, one of its rows
            Which of its rows x'' meets exactly.
        is_movable : bool
            Whether a limit that is kept but for rounding may be moved to what x'' spends, which leaves nothing. Near
            the least attainable limit t is so large that rounding of t limit alone is a considerable gap.
        """
        least, most, rounding = self._spent(x, moves, met)
        left, beyond = max(self.limit - least, 0.0) + rounding, max(most - self.limit, 0.0)
        if is_movable and max(left, beyond) <= CONVEX_CONSTRAINTS.kept * self.magnitude:
            return 0.0, (max(left, beyond) + rounding) / self.magnitude
        return self.multiplier * left, beyond / self.magnitude

    def _spent(self, x: np.ndarray, moves: np.ndarray, met: np.ndarray) -> tuple[float, float, float]:
        """Bounds on what x'' spends, from below and above, and how exactly they are known."""
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
        missed = np.where(met, 0.0, np.maximum(np.maximum(below, above), 0.0))
        error = np.where(met, 0.0, abs(self.rows.matrix) @ moves + EPS * missed)
        ends = [penalties.cost(np.maximum(missed + shift, 0.0)) for shift in (-error, 0.0 * error, error)]
        linear, spread = math.fsum(self.linear * x), float(np.abs(self.linear) @ moves)
        least = math.fsum(np.minimum.reduce(ends)) + linear - spread
        most = math.fsum(np.maximum.reduce(ends)) + linear + spread
        # Sums are rounded once; each cost is a product and quotient of a few numbers, and its logarithm is off by EPS.
        rounding = self.error + EPS * (abs(self.limit) + 4 * math.fsum(ends[1]) + 4 * float(np.abs(self.linear) @ x))
        return least, most, rounding
