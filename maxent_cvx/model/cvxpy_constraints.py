"""CVXPY constraints that a user wrote on the terms, read as rows where they are affine."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import StatementError
from ..solvers.backends.linearization import linearise
from ..terms.rows import Rows
from ..terms.space import Space
from .polyhedral import affine_pieces

__all__ = ["read_constraint"]


def read_constraint(constraint: Any, space: Space, label: str) -> Rows | Any:
    """Read a constraint on ``space.p``: rows if it is affine or polyhedral, itself if it is only convex.

    Raises
    ------
    StatementError
        If it is not a constraint, not convex, or involves other variables.
    """
    import cvxpy as cp

    if not isinstance(constraint, cp.Constraint):
        raise StatementError(
            f"{label!r} gives a {type(constraint).__name__}; rows, a statement, or a CVXPY constraint is expected, "
            "e.g. space.prob('HIV') <= 0.2"
        )
    if any(parameter.value is None for parameter in constraint.parameters()):
        raise StatementError(f"{label!r} has a CVXPY Parameter without a value; set its value first")
    if [variable.id for variable in constraint.variables()] != [space.counts.id]:
        raise StatementError(f"{label!r} must speak of this model's space.p, and of no other variable")
    if not constraint.is_dcp():
        raise StatementError(f"{label!r} is not convex by CVXPY's rules: {constraint}")
    equation = isinstance(constraint, cp.constraints.Equality | cp.constraints.Zero)
    inequality = isinstance(constraint, cp.constraints.Inequality | cp.constraints.NonNeg | cp.constraints.NonPos)
    if not (equation or inequality) or not constraint.expr.is_affine():
        if not isinstance(constraint, cp.constraints.Inequality):
            raise StatementError(
                f"{label!r} is a {type(constraint).__name__} constraint; "
                "write it as a comparison of a convex expression with a number"
            )
        pieces = affine_pieces(constraint.expr)
        if pieces is None:
            return constraint
        blocks = [linearise(cp.Constant(0) + piece, space.counts, np.zeros(len(space))) for piece in pieces]
        matrix = sp.csr_array(sp.vstack([block[0] for block in blocks], format="csr"))
        constant = np.concatenate([block[1] for block in blocks])
        return Rows(matrix * space.n_records, np.full(len(constant), -np.inf), -constant, label)
    at = np.zeros(len(space))
    matrix, constant = linearise(constraint.expr, space.counts, at)
    # In CVXPY, Inequality and NonPos mean expr <= 0, NonNeg means expr >= 0.
    low = -constant if equation or isinstance(constraint, cp.constraints.NonNeg) else np.full(len(constant), -np.inf)
    high = np.full(len(constant), np.inf) if isinstance(constraint, cp.constraints.NonNeg) else -constant
    return Rows(matrix * space.n_records, low, high, label)
