"""Cuts: affine functions that are nowhere above a convex function, and equal to it at one point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...errors import SolverError
from ..backends.linearization import linearise
from ..parameters.tolerances import CONVEX_CONSTRAINTS
from ..program.extension import AddedRows
from ..rows.sparse import entry_rows, most_by_row

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["cuts_at", "exceeded", "violation"]


def violation(constraint: Any, variable: cp.Variable, x: np.ndarray) -> np.ndarray:
    """The left sides of ``expression <= 0`` at x."""
    before = variable.value
    variable.save_value(np.maximum(x, CONVEX_CONSTRAINTS.smallest_count))
    try:
        return np.atleast_1d(np.asarray(constraint.expr.value, dtype=float)).ravel(order="F")
    finally:
        variable.save_value(before)


def cuts_at(constraint: Any, variable: cp.Variable, x: np.ndarray, name: str) -> list[AddedRows]:
    """The first-order expansions of those parts of a constraint ``expression <= 0`` that are violated at x.

    Raises
    ------
    SolverError
        If CVXPY has no gradient of the expression.
    """
    value = violation(constraint, variable, x)
    at = np.maximum(x, CONVEX_CONSTRAINTS.smallest_count)
    if not (value > 0).any():
        return []
    try:
        matrix, constant = linearise(constraint.expr, variable, at)
    except (NotImplementedError, AttributeError, TypeError):
        raise SolverError(
            f"CVXPY has no gradient of {name!r}, {constraint}; solve the model by solver='CLARABEL', or write the "
            "constraint in other words"
        ) from None
    violated = np.flatnonzero(value > CONVEX_CONSTRAINTS.feasible * (1 + np.abs(constant)))
    matrix, constant = sp.csr_array(matrix[violated]), constant[violated]
    if not len(violated):
        return []
    largest = most_by_row(np.abs(matrix.data), matrix)
    by = np.where(largest > 0, largest, 1.0)
    matrix.data = matrix.data / by[entry_rows(matrix)]
    matrix.eliminate_zeros()
    return [AddedRows(matrix, np.full(len(by), -np.inf), -constant / by, name, scale=1 / by)]


def exceeded(
    others: Sequence[tuple[str, Any]], variable: cp.Variable, rows: Mapping[str, np.ndarray]
) -> Callable[[np.ndarray], list[tuple[np.ndarray, float]]]:
    """A function of x for the certificate: the rows that stand for each constraint, and by how much x violates it.

    Parameters
    ----------
    others : sequence of (str, constraint)
    variable : Variable
    rows : mapping of str to ndarray of int
        The cuts of each constraint, by its name.
    """

    def at(x: np.ndarray) -> list[tuple[np.ndarray, float]]:
        found = []
        for name, constraint in others:
            value = violation(constraint, variable, x)
            found.append((rows.get(name, np.empty(0, dtype=np.int64)), max(float(value.max(initial=0.0)), 0.0)))
        return found

    return at
