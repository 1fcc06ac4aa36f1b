"""CVXPY expressions on the counts as linear rows: exact if they are affine, first-order expansions if not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["linearise", "value_at"]


def value_at(expression: cp.Expression, variable: cp.Variable, at: np.ndarray) -> np.ndarray:
    """The value of an expression where its variable is so, as a vector."""
    before = variable.value
    variable.save_value(at)
    try:
        return np.atleast_1d(np.asarray(expression.value, dtype=float)).ravel(order="F")
    finally:
        variable.save_value(before)


def linearise(expression: cp.Expression, variable: cp.Variable, at: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """The first-order expansion of an expression at a point, ``matrix @ variable + constant``; exact if affine."""
    if not any(one.id == variable.id for one in expression.variables()):
        value = np.atleast_1d(np.asarray(expression.value, dtype=float)).ravel(order="F")
        return sp.csr_array((len(value), variable.size)), value
    before = variable.value
    variable.save_value(at)
    try:
        gradient = expression.grad[variable]
    finally:
        variable.save_value(before)
    value = value_at(expression, variable, at)
    matrix = sp.csr_array(sp.csc_array(np.atleast_2d(gradient) if np.isscalar(gradient) else gradient).T)
    return matrix, value - matrix @ at
