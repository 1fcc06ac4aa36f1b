"""Cuts: affine functions that are nowhere above a convex function, and equal to it at one point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...errors import SolverError
from ..backends.linearization import linearise, value_at
from ..certificate.convex_terms import Excess
from ..parameters.tolerances import CONVEX_CONSTRAINTS
from ..program.extension import AddedRows
from ..rows.sparse import entry_rows, most_by_row

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["about", "cuts_at", "exceeded", "tangent", "violation"]


def violation(constraint: Any, variable: cp.Variable, x: np.ndarray) -> np.ndarray:
    """The left sides of ``expression <= 0`` at x."""
    return value_at(constraint.expr, variable, np.maximum(x, CONVEX_CONSTRAINTS.smallest_count))


def cuts_at(constraint: Any, variable: cp.Variable, x: np.ndarray, name: str, smallest: float) -> list[AddedRows]:
    """The first-order expansions of those parts of a constraint ``expression <= 0`` that are violated at x.

    Parameters
    ----------
    constraint : CVXPY constraint
    variable : Variable
    x : ndarray, one a term
        Counts, records.
    name : str
    smallest : float
        Records: rows are solved no more exactly than that, and a smaller violation is rounding.

    Raises
    ------
    SolverError
        If CVXPY has no gradient of the expression.
    """
    value = violation(constraint, variable, x)
    if not (value > 0).any():
        return []
    cut = tangent(constraint, variable, x, name)
    assert cut.scale is not None
    records = value * cut.scale
    violated = np.flatnonzero(records > smallest)
    if not len(violated):
        return []
    matrix, furthest = sp.csr_array(cut.matrix[violated]), float(records[violated].max())
    return [
        AddedRows(matrix, cut.low[violated], cut.high[violated], name, scale=cut.scale[violated], violation=furthest)
    ]


def tangent(constraint: Any, variable: cp.Variable, x: np.ndarray, name: str) -> AddedRows:
    """The first-order expansion of a constraint ``expression <= 0`` at a point, a row an entry.

    Raises
    ------
    SolverError
        If CVXPY has no gradient of the expression.
    """
    at = np.maximum(x, CONVEX_CONSTRAINTS.smallest_count)
    try:
        matrix, constant = linearise(constraint.expr, variable, at)
    except (NotImplementedError, AttributeError, TypeError, ValueError):  # ValueError: CVXPY's of cummax
        raise SolverError(
            f"CVXPY has no gradient of {name!r}, {constraint}; solve the model by solver='CLARABEL', or write the "
            "constraint in other words"
        ) from None
    largest = most_by_row(np.abs(matrix.data), matrix)
    by = np.where(largest > 0, largest, 1.0)
    matrix.data = matrix.data / by[entry_rows(matrix)]
    matrix.eliminate_zeros()
    return AddedRows(sp.csr_array(matrix), np.full(len(by), -np.inf), -constant / by, name, scale=1 / by)


def about(expression: Any, variable: cp.Variable) -> np.ndarray:
    """Which terms an expression is about: those with a coefficient in one of its affine parts."""
    found = np.zeros(variable.size, dtype=bool)
    if expression.is_affine():
        found[linearise(expression, variable, np.zeros(variable.size))[0].indices] = True
        return found
    return np.logical_or.reduce([about(part, variable) for part in expression.args])


def exceeded(
    others: Sequence[tuple[str, Any]], variable: cp.Variable, rows: Mapping[str, np.ndarray]
) -> Callable[[np.ndarray], list[Excess]]:
    """A function of x for the certificate: by how much x violates each constraint, and the rows that stand for it.

    Parameters
    ----------
    others : sequence of (str, constraint)
    variable : Variable
    rows : mapping of str to ndarray of int
        The cuts of each constraint, by its name.
    """
    terms = [about(constraint.expr, variable) for _, constraint in others]

    def at(x: np.ndarray) -> list[Excess]:
        found = []
        for (name, constraint), own in zip(others, terms, strict=True):
            value = np.maximum(violation(constraint, variable, x), 0.0)
            value, backward = np.where(np.isnan(value), np.inf, value), 0.0
            if value.any():
                cut = tangent(constraint, variable, x, name)
                # In records, relative to the side of the cut.
                backward = float((value * cut.scale / np.maximum(np.abs(cut.high), 1.0)).max())
            cuts = rows.get(name, np.empty(0, dtype=np.int64))
            found.append(Excess(cuts, own, float(value.max(initial=0.0)), backward))
        return found

    return at
