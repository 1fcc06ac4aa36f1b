"""The least and the largest value of a linear expression over everything that the rows allow: two linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Inaccurate, Infeasible, SolverError
from .linear_form import LinearForm
from .linear_program import linear_program

__all__ = ["extremes"]

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
    optimum = linear_program(objective, form.matrix, form.low, form.high)
    if optimum.infeasible:
        raise Infeasible("the rows contradict each other")
    if not optimum.found:
        raise SolverError(f"HiGHS found no bound: {optimum.message}")
    # A multiplier that rounding makes press from an open side is left out: the bound is one without it, too.
    d = np.clip(
        optimum.multipliers, np.where(np.isfinite(form.high), -np.inf, 0), np.where(np.isfinite(form.low), np.inf, 0)
    )
    pressed = np.flatnonzero(d)
    side = np.where(d[pressed] > 0, form.low[pressed], form.high[pressed])
    rest = np.minimum(objective - form.matrix.T @ d, 0.0)
    short = np.flatnonzero(rest)
    proved = float(d[pressed] @ side + rest[short] @ form.ceiling[short])
    attained = float(objective @ optimum.x)
    if not abs(attained - proved) <= GAP:
        raise Inaccurate(f"a bound of {attained:.9g} is attained, and only {proved:.9g} is proved; ask of fewer people")
    return proved
