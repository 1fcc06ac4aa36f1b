"""What multipliers prove of a linear program, whoever found them."""

from __future__ import annotations

import numpy as np

from .linear_form import LinearForm

__all__ = ["proved"]


def proved(form: LinearForm, cost: np.ndarray, multipliers: np.ndarray) -> float:
    """A value that cost @ x is never below, for x >= 0 with low <= A x <= high.

    Notes
    -----
    Any multipliers d of the rows prove cost @ x >= d' (sides) + sum_j min(0, (cost - A' d)_j) c_j, where no term
    holds more than c_j people. One that rounding makes press from an open side is left out.
    """
    d = form.project_to_dual_cone(multipliers)
    active = np.flatnonzero(d)
    side = np.where(d[active] > 0, form.low[active], form.high[active])
    rest = np.minimum(cost - form.matrix.T @ d, 0.0)
    short = np.flatnonzero(rest)
    return float(d[active] @ side + rest[short] @ form.upper_bound[short])
