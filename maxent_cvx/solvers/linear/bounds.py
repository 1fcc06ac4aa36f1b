"""The least and the largest value of a linear expression over the feasible set: two linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import Inaccurate, Infeasible, SolverError
from ..parameters.tolerances import LINEAR_PROGRAMS
from ..program.linear_form import LinearForm
from ..program.weak_duality import dual_bound, error_of_sides
from .entropic_penalty import optima

__all__ = ["linear_bounds"]


def linear_bounds(form: LinearForm, objective: np.ndarray) -> tuple[float, float]:
    """Outer bounds of objective @ x over x >= 0 with low <= A x <= high, proved by weak duality.

    Returns
    -------
    low, high : float
        Attained to within ``LINEAR_PROGRAMS.gap``.

    Raises
    ------
    Infeasible
        If no x satisfies the rows.
    Inaccurate
        If a bound that is proved is not attained.
    SolverError
        If HiGHS fails.
    """
    size = np.abs(objective).max(initial=0.0)
    if size == 0:
        return 0.0, 0.0
    directions = (objective / size, -objective / size)
    try:
        least, most = (_least(form, direction) for direction in directions)
    except Infeasible:  # perhaps by less than the feasibility tolerance: bounds over widened rows are valid as well
        wider = replace(form, low=form.low - form.tolerance, high=form.high + form.tolerance)
        least, most = (_least(wider, direction) for direction in directions)
    return least * size, -most * size


def _least(form: LinearForm, objective: np.ndarray) -> float:
    """The least value of an expression whose largest coefficient is 1."""
    for optimum in optima(form, objective):
        if optimum.infeasible:
            raise Infeasible("the rows contradict each other")
        if not optimum.found:
            raise SolverError(f"HiGHS found no bound: {optimum.message}")
        attained, bound = float(objective @ optimum.x), dual_bound(form, objective, optimum.multipliers)
        if abs(attained - bound) <= LINEAR_PROGRAMS.gap:
            return bound - float(error_of_sides(form, optimum.multipliers).sum())
    raise Inaccurate(f"a bound of {attained:.9g} is attained, and only {bound:.9g} is proved; ask of fewer people")
