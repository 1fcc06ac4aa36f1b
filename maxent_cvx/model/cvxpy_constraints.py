"""CVXPY constraints that a user wrote on the terms, read as rows where they are affine or polyhedral."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadProbability, StatementError
from ..solvers.backends.linearization import linearise, value_at
from ..terms.rows import Rows
from ..terms.space import Space
from .parameters import Parametric, values_of
from .polyhedral import affine_pieces

__all__ = ["parametric_constraint", "read_constraint"]


def read_constraint(constraint: Any, space: Space, label: str) -> tuple[Any, Rows | None]:
    """Read a constraint on ``space.p``: rows if it is affine or polyhedral, else a convex constraint, or both.

    Raises
    ------
    StatementError
        If it is not a constraint, not convex, or involves other variables.
    BadProbability
        If it is not affine and holds a constant that is no finite number.
    """
    import cvxpy as cp

    if not isinstance(constraint, cp.Constraint):
        raise StatementError(
            f"{label!r} gives a {type(constraint).__name__}; rows, a statement, or a CVXPY constraint is expected, "
            "e.g. space.prob('HIV') <= 0.2"
        )
    values_of(constraint.parameters(), label)
    if [variable.id for variable in constraint.variables()] != [space.counts.id]:
        raise StatementError(f"{label!r} must speak of this model's space.p, and of no other variable")
    if not constraint.is_dcp():
        raise StatementError(f"{label!r} is not convex by CVXPY's rules: {constraint}")
    linear = cp.constraints.Equality | cp.constraints.Zero | cp.constraints.Inequality
    if not isinstance(constraint, linear | cp.constraints.NonNeg | cp.constraints.NonPos) or (
        not constraint.expr.is_affine()
    ):
        if not isinstance(constraint, cp.constraints.Inequality):
            raise StatementError(
                f"{label!r} is a {type(constraint).__name__} constraint; "
                "write it as a comparison of a convex expression with a number"
            )
        _check_finite(constraint, label)
        pieces = affine_pieces(constraint.expr)
        if pieces is None:
            return _without_zero_references(constraint, space, label)
        blocks = [linearise(cp.Constant(0) + piece, space.counts, np.zeros(len(space))) for piece in pieces]
        matrix = sp.csr_array(sp.vstack([block[0] for block in blocks], format="csr"))
        constant = np.concatenate([block[1] for block in blocks])
        return None, Rows(matrix * space.n_records, np.full(len(constant), -np.inf), -constant, label)
    matrix, constant = linearise(constraint.expr, space.counts, np.zeros(len(space)))
    return None, Rows(matrix * space.n_records, *_sides(constraint, constant), label)


def _without_zero_references(constraint: Any, space: Space, label: str) -> tuple[Any, Rows | None]:
    """Write divergences from 0 as rows, as they are infinite where their first argument is above 0.

    Returns
    -------
    constraint
        With the other entries of each ``kl_div`` or ``rel_entr``; the same if no reference holds a 0.
    Rows or None
        The arguments whose reference is 0, which must be 0.
    """
    import cvxpy as cp

    zeros: list[Any] = []

    def rewritten(e: Any) -> Any:
        if type(e).__name__ in ("kl_div", "rel_entr") and e.args[1].is_constant() and e.args[0].is_affine():
            reference = np.broadcast_to(np.asarray(e.args[1].value, dtype=float), e.shape).ravel(order="F")
            if (reference == 0).any():
                kept, left = np.flatnonzero(reference != 0), np.flatnonzero(reference == 0)
                value = cp.vec(e.args[0] if e.args[0].shape == e.shape else e.args[0] + np.zeros(e.shape), order="F")
                zeros.append(value[left])
                place = sp.csr_array((np.ones(len(kept)), (kept, np.arange(len(kept)))), shape=(e.size, len(kept)))
                entries = place @ type(e)(value[kept], reference[kept]) if len(kept) else cp.Constant(np.zeros(e.size))
                return cp.reshape(entries, e.shape, order="F")
        return e.copy([rewritten(one) for one in e.args]) if e.args else e

    left, right = (rewritten(side) for side in constraint.args)
    if not zeros:
        return constraint, None
    matrix, constant = linearise(cp.hstack(zeros), space.counts, np.zeros(len(space)))
    return left <= right, Rows(matrix * space.n_records, -constant, -constant, label)


def parametric_constraint(constraint: Any, space: Space, label: str, block: int) -> Parametric | None:
    """How the rows of a constraint that was read depend on its parameters; None if it has none.

    Parameters
    ----------
    constraint : cvxpy.Constraint
    space : Space
    label : str
        Of what holds it, for messages.
    block : int
        Which of the source's blocks its rows are.

    Notes
    -----
    Where the constraint is affine in terms and parameters together, the matrix of its rows is kept, and their sides are
    computed again: the expression at x = 0. Otherwise, as where a coefficient is a parameter, all of it is.
    """
    import cvxpy as cp

    if not (parameters := constraint.parameters()):
        return None
    values = values_of(parameters, label)
    if not constraint.expr.is_affine() and affine_pieces(constraint.expr) is None:
        return Parametric(label, parameters, values, None, block)
    as_variables = {id(one): cp.Variable(one.shape) for one in parameters}
    keeps_matrix = constraint.expr.tree_copy(id_objects=as_variables).is_affine()

    def at_values(rows: Rows) -> Rows:
        if keeps_matrix:
            low, high = _sides(constraint, value_at(constraint.expr, space.counts, np.zeros(len(space))))
            return replace(rows, low=low, high=high)
        _, now = read_constraint(constraint, space, rows.label)
        assert now is not None
        return now

    return Parametric(label, parameters, values, at_values, block)


def _check_finite(constraint: Any, label: str) -> None:
    """Check the constants of a convex constraint; comparisons with NaN are false, so that it would seem to hold."""
    for constant in constraint.constants():
        value = constant.value
        values = np.asarray(value.data if hasattr(value, "tocsr") else value)
        if bad := int(np.sum(~np.isfinite(values))):
            raise BadProbability(
                f"{label!r} holds NaN or infinity, in {bad} of the {values.size} entries of a constant; each must be a "
                "finite number (a Series has NaN where it was reindexed to labels that it lacks)"
            )


def _sides(constraint: Any, constant: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sides of A x, where a constraint is of A x + constant."""
    import cvxpy as cp

    # In CVXPY, Inequality and NonPos mean expr <= 0, NonNeg means expr >= 0.
    nothing = np.full(len(constant), np.inf)
    if isinstance(constraint, cp.constraints.Equality | cp.constraints.Zero):
        return -constant, -constant
    return (-constant, nothing) if isinstance(constraint, cp.constraints.NonNeg) else (-nothing, -constant)
