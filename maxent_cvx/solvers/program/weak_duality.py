"""Weak duality: a lower bound on a linear objective, from any multipliers."""

from __future__ import annotations

import numpy as np

from ..parameters.tolerances import EPS
from .linear_form import LinearForm
from .rounding_errors import rmatvec_coefficient_error, rmatvec_rounding

__all__ = ["dual_bound", "dual_bounds", "error_of_sides", "proved_violation"]


def dual_bound(form: LinearForm, cost: np.ndarray, multipliers: np.ndarray) -> float:
    """Bound cost @ x from below over all x >= 0 with low <= A x <= high.

    Notes
    -----
    For any multipliers d of the rows, cost @ x >= d' b + sum_j min(0, (cost - A' d)_j) c_j, where b_i is the low side
    of row i if d_i > 0 and the high side if d_i < 0, and c_j is an upper bound on x_j, records. d is projected to the
    dual cone first: roundoff may leave a row without that side with a multiplier that needs it.
    """
    of_rows, of_terms = _summands(form, cost, multipliers)
    return float(of_rows.sum() + of_terms.sum())


def dual_bounds(
    form: LinearForm, cost: np.ndarray, multipliers: np.ndarray, of_row: np.ndarray, of_term: np.ndarray, n: int
) -> np.ndarray:
    """Bound cost @ x over each of n independent components, given the component of every row and term."""
    of_rows, of_terms = _summands(form, cost, multipliers)
    return np.bincount(of_row, of_rows, n) + np.bincount(of_term, of_terms, n)


def error_of_sides(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """By how much the errors of the sides of each row change a dual bound at most."""
    return np.abs(form.project_to_dual_cone(multipliers)) * form.side_error


def proved_violation(form: LinearForm, multipliers: np.ndarray) -> float:
    """Bound sum |d_i| violation_i from below over all x >= 0: positive if the rows contradict each other (Farkas).

    Errors of the sides, and the roundoff of the bound, are subtracted.
    """
    of_rows, of_terms = _summands(form, np.zeros(form.shape[1]), multipliers)
    d = form.project_to_dual_cone(multipliers)
    roundoff = rmatvec_rounding(form, d) + rmatvec_coefficient_error(form, d)
    touched = form.absolute_rmatvec(np.abs(d)) > 0
    error = error_of_sides(form, multipliers).sum() + (roundoff[touched] @ form.upper_bound[touched])
    error += (len(of_rows) + len(of_terms)) * EPS * (np.abs(of_rows).sum() + np.abs(of_terms).sum())
    return float(of_rows.sum() + of_terms.sum() - error)


def _summands(form: LinearForm, cost: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What every row, and every term, contributes to the bound."""
    d = form.project_to_dual_cone(multipliers)
    of_rows, of_terms = np.zeros(form.shape[0]), np.zeros(form.shape[1])
    active = np.flatnonzero(d)
    of_rows[active] = d[active] * np.where(d[active] > 0, form.low[active], form.high[active])
    reduced_cost = np.minimum(cost - form.rmatvec(d), 0.0)
    negative = np.flatnonzero(reduced_cost)
    of_terms[negative] = reduced_cost[negative] * form.upper_bound[negative]
    return of_rows, of_terms
