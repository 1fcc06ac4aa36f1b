"""Why there is no certified answer: contradictory knowledge, or a solver that failed, and what would help."""

from __future__ import annotations

import numpy as np

from ...errors import Inaccurate, Infeasible, SolverError
from ..answer import Answer, Status
from ..certificate.certificate import Certificate
from ..program.problem import Problem
from .conflict import conflict

__all__ = ["contradiction", "failure"]

#: The most precise solver.
NEWTON = "DUAL_NEWTON"


def contradiction(problem: Problem) -> Infeasible | None:
    """Describe an irreducible contradiction of the knowledge as an error; None if the knowledge is consistent."""
    found = conflict(problem.hard, multiple=1)  # strictly: what is usually tolerated has made the solve fail
    return None if found is None else found.error


def failure(
    problem: Problem, name: str, answer: Answer, certificate: Certificate | None, stopped: str = ""
) -> SolverError | Infeasible:
    """The error that explains why there is no certified answer: contradictory knowledge, or a solver that failed.

    Parameters
    ----------
    problem : Problem
    name : str
        The solver that the user asked for.
    answer : Answer
    certificate : Certificate or None
        None if there is no answer.
    stopped : str
        What has stopped the solve, if it was not the solver itself; then nobody asks whether the knowledge is
        contradictory, which may take longer than the solve.
    """
    if stopped:
        return _interrupted(name, answer, certificate, stopped)
    # If no feasible point was found near the answer, the rows may be infeasible.
    maybe_infeasible = certificate is None or not np.isfinite(certificate.bound)
    if maybe_infeasible and (found := contradiction(problem)) is not None:
        return found
    if certificate is None and answer.status is Status.INFEASIBLE and problem.convex:
        return SolverError(
            f"{name} reports that no distribution satisfies the convex constraints together with the rest, but this "
            "was not proved, and the linear rows alone are consistent; relax a constraint, or use another solver"
        )
    if certificate is None:
        return SolverError(
            f"{name} gave no answer ({answer.message}), and the knowledge is consistent; give the solver more time "
            "and iterations, or use another (see maxent_cvx.solvers.available())"
        )
    remedy = "say it in numbers of like size, change its tolerances"
    if not np.isfinite(certificate.bound):
        remedy = (
            "statements may depend on each other nearly, or contradict each other in late digits: remove one of them, "
            f"{remedy}"
        )
    if problem.convex:
        remedy = "write what is linear as linear rows, change its tolerances"
    elif name != NEWTON:
        remedy = f"use {NEWTON}, which is more precise, or polish=True, change its tolerances"
    elif answer.status is Status.LIMIT:
        remedy = "give it more iterations"
    return Inaccurate(
        f"{name} stopped with {answer.message!r}, and the answer is not certified: {certificate}. "
        f"{remedy[0].upper()}{remedy[1:]}, or pass allow_inaccurate=True"
    )


def _interrupted(name: str, answer: Answer, certificate: Certificate | None, stopped: str) -> SolverError:
    """The error of a solve that was stopped from outside."""
    if certificate is None:
        return SolverError(
            f"{name} was stopped {stopped} before it had an answer ({answer.message}); give it more time, or use "
            f"{NEWTON}, which has one at any time"
        )
    unknown = "" if np.isfinite(certificate.bound) else "; whether the knowledge is consistent was not examined"
    return Inaccurate(
        f"{name} was stopped {stopped}, after {answer.iterations} iterations, and the answer is not certified: "
        f"{certificate}{unknown}. Give it more time, or pass allow_inaccurate=True"
    )
