"""Linear programs over the rows of a form, by SciPy: an oracle of bounds and of feasibility."""

from __future__ import annotations

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from maxent_cvx.solvers.form import LinearForm


def extreme(form: LinearForm, cost: np.ndarray, most: float | None = None) -> OptimizeResult:
    """The least cost' x over all x from 0 to the most that satisfy the rows."""
    a, upper, lower = form.matrix.toarray(), np.isfinite(form.high), np.isfinite(form.low)
    sides = np.concatenate([form.high[upper], -form.low[lower]])
    return linprog(cost, np.vstack([a[upper], -a[lower]]), sides, bounds=(0, most), method="highs")


def ranges(form: LinearForm, most: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of each term; the largest is infinite where the program is unbounded."""
    ends = []
    for sign in (1, -1):
        results = [extreme(form, sign * unit, most) for unit in np.eye(form.shape[1])]
        assert all(result.success or (result.status == 3 and sign == -1) for result in results)
        ends.append(np.array([sign * result.fun if result.success else np.inf for result in results]))
    return ends[0], ends[1]
