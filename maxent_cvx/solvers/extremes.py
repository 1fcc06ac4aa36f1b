"""The least and the largest value of a linear expression over everything that the rows allow: two linear programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..errors import Inaccurate, Infeasible, SolverError
from .linear_form import LinearForm

__all__ = ["extremes"]

#: Feasibility that is asked of HiGHS, the tightest there is.
PRECISION = 1e-10
#: What is proved and what is attained may differ by so many people, relative to the largest coefficient.
GAP = 1e-6


def extremes(form: LinearForm, objective: np.ndarray) -> tuple[float, float]:
    """Bound objective @ x over x >= 0 with low <= A x <= high, from outside.

    Any multipliers d of the rows prove objective @ x >= d' (sides) + sum_j min(0, (objective - A' d)_j) c_j, where
    no term holds more than c_j people. HiGHS' d is taken, whatever it says of itself.

    Returns
    -------
    low, high : float
        What is proved; it is attained, but for :data:`GAP`.

    Raises
    ------
    Infeasible
        If no x satisfies the rows.
    Inaccurate
        If what is proved is not attained.
    SolverError
        If HiGHS does not come to an end.
    """
    size = np.abs(objective).max(initial=0.0)
    if size == 0:
        return 0.0, 0.0
    ways = (objective / size, -objective / size)
    try:
        least, most = (_least(form, way) for way in ways)
    except Infeasible:  # by less than what a row is forgiven, maybe: wider rows bound from outside as well
        wider = replace(form, low=form.low - form.tolerance, high=form.high + form.tolerance)
        least, most = (_least(wider, way) for way in ways)
    return least * size, -most * size


def _least(form: LinearForm, objective: np.ndarray) -> float:
    """The least value of an expression whose largest coefficient is 1."""
    exact = form.is_equation
    upper, lower = np.isfinite(form.high) & ~exact, np.isfinite(form.low) & ~exact
    above_and_below: Any = sp.vstack([form.matrix[np.flatnonzero(upper)], -form.matrix[np.flatnonzero(lower)]])
    found = linprog(
        objective,
        A_eq=cast(Any, form.matrix[np.flatnonzero(exact)]),
        b_eq=form.low[exact],
        A_ub=above_and_below,
        b_ub=np.concatenate([form.high[upper], -form.low[lower]]),
        method="highs",
        options={"primal_feasibility_tolerance": PRECISION, "dual_feasibility_tolerance": PRECISION},
    )
    if found.status == 2:
        raise Infeasible("the rows contradict each other")
    if not found.success or found.x is None:
        raise SolverError(f"HiGHS found no bound: {found.message}")
    d = np.zeros(form.shape[0])
    d[exact] = found.eqlin.marginals
    above, below = np.split(found.ineqlin.marginals, [np.count_nonzero(upper)])
    d[upper] += np.minimum(above, 0.0)
    d[lower] += np.maximum(-below, 0.0)
    pressed = np.flatnonzero(d)
    side = np.where(d[pressed] > 0, form.low[pressed], form.high[pressed])
    rest = np.minimum(objective - form.matrix.T @ d, 0.0)
    short = np.flatnonzero(rest)
    proved = float(d[pressed] @ side + rest[short] @ form.ceiling[short])
    attained = float(objective @ found.x)
    if not abs(attained - proved) <= GAP:
        raise Inaccurate(f"a bound of {attained:.9g} is attained, and only {proved:.9g} is proved; ask of fewer people")
    return proved
