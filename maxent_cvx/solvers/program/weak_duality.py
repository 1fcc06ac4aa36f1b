"""Weak duality: a lower bound on a linear objective, from any multipliers."""

from __future__ import annotations

import numpy as np

from .linear_form import LinearForm

__all__ = ["dual_bound", "dual_bounds", "error_of_sides"]


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
