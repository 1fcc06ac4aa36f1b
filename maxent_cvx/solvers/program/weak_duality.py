"""Weak duality: a lower bound on a linear objective, from any multipliers."""

from __future__ import annotations

import numpy as np

from .linear_form import LinearForm

__all__ = ["dual_bound"]


def dual_bound(form: LinearForm, cost: np.ndarray, multipliers: np.ndarray) -> float:
    """Bound cost @ x from below over all x >= 0 with low <= A x <= high.

    Notes
    -----
    For any multipliers d of the rows, cost @ x >= d' b + sum_j min(0, (cost - A' d)_j) c_j, where b_i is the low side
    of row i if d_i > 0 and the high side if d_i < 0, and c_j is an upper bound on x_j, records. d is projected to the
    dual cone first: roundoff may leave a row without that side with a multiplier that needs it.
    """
    d = form.project_to_dual_cone(multipliers)
    active = np.flatnonzero(d)
    side = np.where(d[active] > 0, form.low[active], form.high[active])
    reduced_cost = np.minimum(cost - form.matrix.T @ d, 0.0)
    negative = np.flatnonzero(reduced_cost)
    return float(d[active] @ side + reduced_cost[negative] @ form.upper_bound[negative])
