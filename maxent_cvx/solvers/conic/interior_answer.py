"""The answer to a cone program that is no entropy program: by the interior-point method, and judged from its own data.

Logarithms, exponentials, log_sum_exp, relative entropies of two variables, entropies in constraints, variables without
entropies, and quadratic objectives all come here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import cvxpy.settings as s
import numpy as np
import scipy.sparse as sp

from ...errors import SolverError
from ..answer import Status
from ..interior.interior_point import InteriorAnswer, solve_interior
from ..parameters.tolerances import CONIC_PROGRAM
from ..rows.sparse import most_by_row
from .cone_program import ConeProgram, Distance

__all__ = ["ConeAnswer", "refuse_rounding_errors", "solve_cone_program"]


class ConeAnswer(NamedTuple):
    """An answer to a cone program, and how far it is from optimal.

    Attributes
    ----------
    status : str
        In CVXPY's words.
    z : ndarray, one a column
    dual : ndarray, one a row
    distance : Distance
    iterations : int
    start : (ndarray, ndarray), optional
        Of an entropy program, which rows it has and their multipliers: where the next one can begin.
    """

    status: str
    z: np.ndarray
    dual: np.ndarray
    distance: Distance
    iterations: int
    start: tuple[np.ndarray, np.ndarray] | None = None


def solve_cone_program(program: ConeProgram, options: Mapping[str, Any]) -> ConeAnswer:
    """Solve by the interior-point method; a status is what the program's own data prove.

    Raises
    ------
    SolverError
        If the program is infeasible because of coefficients that look like rounding errors.
    """
    kept = np.isfinite(program.b)
    n_zero = program.n_zero
    n_nonneg = int(kept[n_zero : program.linear.stop].sum())
    A, b = sp.csc_array(program.A[np.flatnonzero(kept)]), program.b[kept]
    n = len(program.c)
    P = sp.csc_array((n, n)) if program.P is None else sp.csc_array(program.P)
    answer = solve_interior(P, program.c, A, b, (n_zero, n_nonneg), **options)
    dual = np.zeros(len(kept))
    if program.c.any() or program.P is not None or answer.status is Status.INFEASIBLE:
        dual[kept] = answer.dual
    # Without an objective every point that satisfies the rows is optimal, as dual values of 0 prove. Without right-hand
    # sides every multiple of a feasible point is feasible: the optimum is 0, at 0, if there is one.
    if not b.any() and program.P is None and answer.status is not Status.INFEASIBLE and not answer.is_unbounded:
        answer = answer._replace(x=np.zeros(n))
    answer, distance = _without_negative_arguments(program, answer, dual)
    status = _status(program, answer, dual, distance)
    if status == s.INFEASIBLE:
        refuse_rounding_errors(program)
    return ConeAnswer(status, answer.x, dual, distance, answer.iterations)


def _without_negative_arguments(
    program: ConeProgram, answer: InteriorAnswer, dual: np.ndarray
) -> tuple[InteriorAnswer, Distance]:
    """Set arguments of entropies that are -1e-12, say, to 0, as these have no entropy; kept only if no worse."""
    distance = program.distance(answer.x, dual)
    arguments, sides = program.triple(1)
    plain = np.flatnonzero((np.diff(arguments.indptr) == 1) & (sides == 0))
    column, sign = arguments.indices[arguments.indptr[plain]], -np.sign(arguments.data[arguments.indptr[plain]])
    negative = column[sign * answer.x[column] < 0]
    if not len(negative) or answer.status is Status.INFEASIBLE or answer.is_unbounded:
        return answer, distance
    z = answer.x.copy()
    z[negative] = 0.0
    moved = program.distance(z, dual)
    if distance.is_optimal and not moved.is_optimal:
        return answer, distance
    return answer._replace(x=z), moved


def _status(program: ConeProgram, answer: InteriorAnswer, dual: np.ndarray, distance: Distance) -> str:
    """The status in CVXPY's words."""
    if answer.status is Status.INFEASIBLE:
        return s.INFEASIBLE if _proves_infeasible(program, dual) else s.SOLVER_ERROR
    if answer.is_unbounded:
        return s.UNBOUNDED if _proves_unbounded(program, answer.x) else s.SOLVER_ERROR
    if distance.is_optimal:
        return s.OPTIMAL
    if answer.status is Status.LIMIT and np.isfinite(distance.primal):
        return s.USER_LIMIT
    is_near = max(distance.largest, distance.relative_gap) <= CONIC_PROGRAM.nearly
    return s.OPTIMAL_INACCURATE if is_near else s.SOLVER_ERROR


def _proves_infeasible(program: ConeProgram, dual: np.ndarray) -> bool:
    """Whether dual values are in the dual cone, A' dual = 0 and b' dual < 0: then b - A z in K has no solution.

    As z' A' dual <= b' dual for all solutions, a residual of A' dual refutes those that are not very large; the unit of
    a column is the largest right-hand side divided by the column's largest coefficient.
    """
    b = np.where(np.isfinite(program.b), program.b, 0.0)
    largest = np.zeros(program.A.shape[1])
    np.maximum.at(largest, program.A.indices, np.abs(program.A.data))
    units = np.abs(b).max(initial=0.0) / np.where(largest > 0, largest, np.inf)
    against = -float(b @ dual)
    is_zero = float(np.abs(program.A.T @ dual) @ units) <= CONIC_PROGRAM.proof * against
    outside = program.outside(dual).max(initial=0.0) / (np.abs(dual).max(initial=0.0) or 1.0)
    return bool(against > 0 and is_zero and outside <= CONIC_PROGRAM.residual)


def _proves_unbounded(program: ConeProgram, z: np.ndarray) -> bool:
    """Whether z is a direction in which the objective falls and all rows hold for ever."""
    fall = -float(program.c @ z)
    curved = 0.0 if program.P is None else float(np.abs(program.P @ z).max(initial=0.0))
    off = program.direction_violation(z)
    return bool(fall > 0 and curved <= CONIC_PROGRAM.residual * fall and off <= CONIC_PROGRAM.residual)


def refuse_rounding_errors(program: ConeProgram) -> None:
    """Refuse to call a program infeasible that has rows of coefficients like 1e-16 beside others like 1."""
    A = program.linear_rows
    size = np.abs(A.data)
    of_column = np.zeros(A.shape[1])
    np.maximum.at(of_column, program.A.indices, np.abs(program.A.data))
    relative = most_by_row(size / of_column[A.indices], A)
    row = np.flatnonzero((np.diff(A.indptr) > 0) & (relative <= CONIC_PROGRAM.rounding))
    if len(row):
        raise SolverError(
            f"{len(row)} rows of the problem, which would be infeasible, have coefficients of {relative[row[0]]:.0e} "
            "relative to others of the same variables, which look like rounding errors of 0; make them 0"
        )
