"""Linear programs over rows with two sides, by HiGHS through SciPy, with the multiplier of every row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ...errors import NotDecided
from ..monitoring.deadline import check_time, seconds_left
from ..parameters.tolerances import LINEAR_PROGRAMS

__all__ = ["Optimum", "linear_program"]


class Optimum(NamedTuple):
    """What HiGHS found.

    Attributes
    ----------
    found, infeasible : bool
        Whether it has an optimum, and whether it claims that the rows are infeasible.
    message : str
        The solver's own words.
    x : ndarray, one a term
        Empty if nothing was found, as `multipliers` are.
    multipliers : ndarray, one a row
        A dual solution d: A' d <= cost up to rounding, with equality where x > 0; d > 0 where a row is active at its
        low side, d < 0 where it is active at its high side.
    """

    found: bool
    infeasible: bool
    message: str
    x: np.ndarray
    multipliers: np.ndarray


def linear_program(
    cost: np.ndarray,
    matrix: sp.csr_array,
    low: np.ndarray,
    high: np.ndarray,
    *,
    upper: np.ndarray | float = np.inf,
    precision: float = LINEAR_PROGRAMS.precision,
) -> Optimum:
    """Minimise cost @ x over ``0 <= x <= upper`` and ``low <= matrix @ x <= high``.

    Parameters
    ----------
    cost : ndarray, one a term
    matrix : csr_array, shape (rows, terms)
    low, high : ndarray, one a row
    upper : float or ndarray
        Upper bounds of the terms.
    precision : float
        Largest violation of a row.

    Raises
    ------
    NotDecided
        If a time limit, as :func:`.within` sets it, is over.
    """
    check_time()
    exact = low == high
    above, below = np.isfinite(high) & ~exact, np.isfinite(low) & ~exact
    equal, most, least = (matrix[np.flatnonzero(rows)] for rows in (exact, above, below))
    problem: dict[str, Any] = {
        "A_eq": equal,
        "b_eq": low[exact],
        "A_ub": sp.vstack([most, -least]),
        "b_ub": np.concatenate([high[above], -low[below]]),
        "bounds": np.column_stack([np.zeros(len(cost)), np.broadcast_to(upper, len(cost))]),
    }
    options: Any = {"primal_feasibility_tolerance": precision, "dual_feasibility_tolerance": LINEAR_PROGRAMS.precision}
    if np.isfinite(left := seconds_left()):
        options["time_limit"] = left
    answer = linprog(cost, **problem, method="highs", options=options)
    if answer.status == 1 and np.isfinite(left):
        raise NotDecided(f"a linear program was not solved in the {left:.3g} seconds that were left; give more time")
    if not answer.success or answer.x is None:
        return Optimum(False, answer.status == 2, answer.message, np.empty(0), np.empty(0))
    multipliers = np.zeros(len(low))
    multipliers[exact] = answer.eqlin.marginals
    from_above, from_below = np.split(answer.ineqlin.marginals, [np.count_nonzero(above)])
    multipliers[above] += from_above
    multipliers[below] -= from_below
    return Optimum(True, False, answer.message, answer.x, multipliers)
