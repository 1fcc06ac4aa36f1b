"""The answer to a cone program that is an entropy program: by DUAL_NEWTON, and judged by its residuals and gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import cvxpy.settings as s
import numpy as np

from ...errors import SolverError
from ..answer import Answer, Status
from ..backends.registry import SOLVERS
from ..certificate.projection import project
from ..linear.elastic import elastic_relaxation
from ..parameters.tolerances import CONIC_PROGRAM, FEASIBILITY
from ..presolve.zero_proofs import moved_along_recession
from ..program.linear_form import LinearForm
from .cone_program import Distance
from .entropy_program import EntropyProgram

__all__ = ["BACKEND", "ConeAnswer", "solve_entropy_program"]

#: The solver that CVXPY is offered.
BACKEND = SOLVERS["DUAL_NEWTON"]


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
    """

    status: str
    z: np.ndarray
    dual: np.ndarray
    distance: Distance
    iterations: int


def solve_entropy_program(entropy: EntropyProgram, options: Mapping[str, Any]) -> ConeAnswer:
    """Solve in units in which an average count is about 1, and measure how far the answer is from optimal."""
    answer, counts, m = _newton(entropy.form, None, **options)
    iterations = answer.iterations
    mean = float(counts.mean())
    if answer.status is Status.OPTIMAL and CONIC_PROGRAM.vanished_average < mean < CONIC_PROGRAM.small_average:
        entropy = entropy.scaled(1 / mean)
        answer, counts, m = _newton(entropy.form, m, **options)  # multipliers are the same in any unit
        iterations += answer.iterations
    z, dual = entropy.restore(counts, m)
    distance = entropy.program.distance(z, dual)
    if not distance.holds:
        # If rows imply zeros, multipliers tend to infinity, and residual times multiplier is a gap: remove residuals.
        exact = project(entropy.form, counts, np.zeros(len(counts), dtype=bool))
        z, dual = entropy.restore(counts if exact is None else exact, m)
        distance = entropy.program.distance(z, dual)
    return ConeAnswer(_status(entropy, answer, distance), z, dual, distance, iterations)


def _newton(form: LinearForm, start: np.ndarray | None, **options: Any) -> tuple[Answer, np.ndarray, np.ndarray]:
    """Newton's method, which returns y and multipliers whatever its status is."""
    answer = BACKEND.solve(form, start, **options)
    if answer.counts is None or answer.multipliers is None:
        raise SolverError(f"{BACKEND.name} gave no answer ({answer.message}); use another solver, such as cp.CLARABEL")
    return answer, answer.counts, moved_along_recession(form, answer.multipliers, answer.proofs)


def _status(entropy: EntropyProgram, answer: Answer, distance: Distance) -> str:
    """The status in CVXPY's words, from the residuals and the gap; the solver's own claim makes nothing optimal."""
    if distance.holds:
        return s.OPTIMAL
    try:
        violation = elastic_relaxation(entropy.form).off
        clash = violation > CONIC_PROGRAM.contradiction / FEASIBILITY.relative * entropy.form.tolerance
    except SolverError:  # HiGHS cannot decide either
        return s.SOLVER_ERROR
    if clash.any():
        return s.INFEASIBLE
    if answer.status is Status.LIMIT and np.isfinite(distance.primal):
        return s.USER_LIMIT
    return s.OPTIMAL_INACCURATE if distance.is_near else s.SOLVER_ERROR
