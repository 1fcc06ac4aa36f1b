"""CVXPY expressions on the counts as linear rows: exact if they are affine, first-order expansions if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        value: Any = expression.value
    finally:
        variable.save_value(before)
    dense = np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
    return np.atleast_1d(dense).ravel(order="F")


def linearise(expression: cp.Expression, variable: cp.Variable, at: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """The first-order expansion of an expression at a point, ``matrix @ variable + constant``; exact if affine.

    Raises
    ------
    NotImplementedError
        If CVXPY has no finite gradient of the expression at this point.
    """
    if not any(one.id == variable.id for one in expression.variables()):
        value = value_at(expression, variable, at)
        return sp.csr_array((len(value), variable.size)), value
    gradient = _gradient(expression, variable, at)
    if gradient is None and expression.is_affine():  # that of the geometric mean of one number is not defined at 0
        at = np.ones(variable.size)
        gradient = _gradient(expression, variable, at)
    if gradient is None:
        raise NotImplementedError(f"no gradient of {expression}")
    value = value_at(expression, variable, at)
    matrix = sp.csr_array(sp.csc_array(np.atleast_2d(gradient) if np.ndim(gradient) == 0 else gradient).T)
    if not (np.isfinite(matrix.data).all() and np.isfinite(value).all()):
        raise NotImplementedError(f"no finite gradient of {expression}")
    return matrix, value - matrix @ at


def _gradient(expression: cp.Expression, variable: cp.Variable, at: np.ndarray) -> Any:
    """CVXPY's gradient at a point; None if it is not defined there."""
    before = variable.value
    variable.save_value(at)
    try:
        with np.errstate(all="ignore"):
            return expression.grad[variable]
    finally:
        variable.save_value(before)
