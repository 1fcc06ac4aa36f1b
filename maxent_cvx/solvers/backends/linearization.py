"""CVXPY constraints on the counts as linear rows: exact if they are affine, tangents at the solution if convex."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import CONVEX_CONSTRAINTS
from ..program.linear_form import LinearForm
from ..program.problem import Convex

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["linearise", "value_at", "with_tangents"]


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


def with_tangents(
    form: LinearForm, multipliers: np.ndarray, convex: Convex, at: np.ndarray
) -> tuple[LinearForm, np.ndarray] | None:
    """Add to a linear form the tangents of constraints g(x) <= 0 at a solution, with their multipliers.

    A convex set lies inside its tangent half-spaces, and at the solution these have the multipliers of the constraint.
    A certificate for the tangents is therefore one for the convex problem.

    Returns
    -------
    form, multipliers : LinearForm, ndarray
        None instead if CVXPY has no gradient of a constraint; norm_inf(x) <= c, for example, can be written as -c <= x
        and x <= c.
    """
    blocks, lows, highs, duals = [form.matrix], [form.low], [form.high], [multipliers]
    for constraint in convex.constraints:
        try:
            matrix, constant = linearise(
                constraint.expr, convex.variable, np.maximum(at, CONVEX_CONSTRAINTS.smallest_count)
            )
        except (NotImplementedError, AttributeError):  # some of CVXPY's functions have no gradient
            return None
        blocks.append(matrix)
        lows.append(np.full(len(constant), -np.inf))
        highs.append(-constant)
        duals.append(-np.atleast_1d(np.asarray(constraint.dual_value, dtype=float)).ravel(order="F"))
    matrix = sp.csr_array(sp.vstack(blocks, format="csr"))
    more = matrix.shape[0] - form.shape[0]
    scale = np.concatenate([form.scale, np.ones(more)])
    shift, side_error, coefficient_error = (
        np.concatenate([side, np.zeros(more)]) for side in (form.shift, form.side_error, form.coefficient_error)
    )
    low, high = np.concatenate(lows), np.concatenate(highs)
    wider = replace(
        form,
        matrix=matrix,
        low=low,
        high=high,
        scale=scale,
        shift=shift,
        side_error=side_error,
        coefficient_error=coefficient_error,
    )
    return wider, np.concatenate(duals)
