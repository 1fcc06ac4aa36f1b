"""One attempt at an answer: the backend solves what presolve has left, and the whole answer is certified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..answer import Answer, Status
from ..backends.registry import Backend
from ..certificate.certificate import Certificate, certify, uncertified
from ..certificate.projection import project
from ..cvxpy.linearization import with_tangents
from ..decompose import solve_by_components
from ..diagnosis.failure import failure
from ..dual.starting import within_reach
from ..presolve.reduce import Reduced
from ..program.linear_form import LinearForm
from ..program.problem import Problem, Settled
from ..tolerances import CONVEX_CONSTRAINTS
from .presolving import NEWTON, presolved

__all__ = ["Attempt", "Request", "Solution", "attempt"]


@dataclass(frozen=True, eq=False)
class Solution:
    """An answer to the whole problem, with its certificate and the name of the solver.

    Attributes
    ----------
    answer : Answer
        Counts of all terms, records, and multipliers of all rows.
    certificate : Certificate
        How far any P(s | q) can be off.
    solver : str
        The solver's name.

    Examples
    --------
    >>> from maxent_cvx.solvers.solving.solve import solve
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)
    >>> solve(model.posed, mx.solvers.find("auto")).solver
    'DUAL_NEWTON'
    """

    answer: Answer
    certificate: Certificate
    solver: str


@dataclass(frozen=True, eq=False)
class Request:
    """How a problem is to be solved.

    Attributes
    ----------
    backend : Backend
    start : ndarray
        Multipliers to start from, one a row of the problem.
    presolve : bool
        Whether what needs no solver is taken out before.
    polish : bool
        Whether Newton's method goes on from the backend's answer.
    options : mapping
        The backend's.
    """

    backend: Backend
    start: np.ndarray
    presolve: bool = True
    polish: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def exactly(self) -> Request:
        """The same to the last places, unless another tolerance is asked for."""
        return replace(self, options={"tolerance": 0.0, **self.options})


@dataclass(frozen=True, eq=False)
class Attempt:
    """One way to an answer.

    Attributes
    ----------
    reduced : Reduced
        What presolve left of the problem.
    solved : Answer
        The answer to that.
    solution : Solution
        The answer to the whole problem.
    """

    reduced: Reduced
    solved: Answer
    solution: Solution

    @property
    def bound(self) -> float:
        """How far any P(s | q) can be off."""
        return self.solution.certificate.bound

    @property
    def holds(self) -> bool:
        """Whether the answer is certified."""
        return self.solution.certificate.holds


def attempt(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray | None = None) -> Attempt:
    """Solve what presolve has left, restore the whole answer, and certify it.

    Parameters
    ----------
    problem : Problem
    request : Request
    reduced : Reduced
    start : ndarray, optional
        Multipliers of the reduced problem to go on from; by default the request's.

    Raises
    ------
    Infeasible, SolverError
        If the backend has no answer.
    """
    if start is None:
        form = reduced.form
        start = within_reach(form, form.project_to_dual_cone(reduced.start(request.start)))
    solved, name = _solved(problem, request, reduced, start)
    if solved.counts is None or solved.multipliers is None:
        raise failure(problem, request.backend.name, solved, None)
    answer = _restored(problem.form, reduced, solved)
    certificate = _certified(problem, request.backend, reduced, answer)
    return Attempt(reduced, solved, Solution(replace(answer, corner=None), certificate, name))


def _solved(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray) -> tuple[Answer, str]:
    """Ask the backend; also say which solver it was in the end."""
    backend = request.backend
    if not reduced.terms.any():
        return Answer(
            Status.OPTIMAL, np.empty(0), np.empty(0), message="optimal: presolve found everything"
        ), "presolve"
    if problem.convex:
        return backend.solve(reduced.form, start, convex=problem.convex, **request.options), backend.name
    solved = solve_by_components(backend, reduced.form, start, **request.options)
    if request.polish and solved.multipliers is not None:
        return _polished(reduced.form, solved), f"{backend.name}, polished by {NEWTON.name}"
    return solved, backend.name


def _polished(form: LinearForm, answer: Answer) -> Answer:
    """Go on from a solver's multipliers with Newton's method on the dual."""
    assert answer.multipliers is not None
    final = solve_by_components(NEWTON, form, answer.multipliers)
    return replace(
        final,
        iterations=answer.iterations + final.iterations,
        compile_seconds=answer.compile_seconds + final.compile_seconds,
        solve_seconds=answer.solve_seconds + final.solve_seconds,
    )


def _restored(form: LinearForm, reduced: Reduced, solved: Answer) -> Answer:
    """Put the answer to what was left into the whole problem's."""
    assert solved.counts is not None
    assert solved.multipliers is not None
    counts, multipliers = reduced.restore(solved.counts, solved.multipliers)
    return replace(
        solved,
        counts=counts,
        # A conic solver's dual value of a row that is inactive may be 1e-19 on the side that is open: that is none.
        multipliers=form.project_to_dual_cone(multipliers),
        proofs=reduced.restore_directions(solved.proofs),
        corner=reduced.restore_schur(solved.corner),
    )


def _certified(problem: Problem, backend: Backend, reduced: Reduced, answer: Answer) -> Certificate:
    """Certify an answer to the whole problem."""
    assert answer.counts is not None
    certificate = _certificate(problem, reduced.settled, answer)
    if certificate.holds or reduced.fixed.any():
        return certificate
    # A solver without presolve has something left where rows leave nothing: what these force is known.
    forced = presolved(problem, backend)
    if not forced.fixed.any():
        return certificate
    told = _certificate(problem, forced.settled_beside(answer.counts), answer)
    return min(certificate, told, key=lambda one: one.bound)


def _certificate(problem: Problem, settled: Settled, answer: Answer) -> Certificate:
    """Certify an answer, given which terms are settled."""
    form, groups = problem.form, problem.groups
    counts, multipliers = answer.counts, answer.multipliers
    assert counts is not None
    assert multipliers is not None
    if not problem.convex:
        return certify(form, groups, counts, multipliers, settled, answer.proofs, answer.corner)
    posed = with_tangents(form, multipliers, problem.convex, counts)
    if posed is None:
        return uncertified(form, counts)
    # Where the tangents hold, the constraints are off by the square of the way there; tangents at that point by
    # that of a way that is no longer than rounding. What is left is no theorem of the constraints as written.
    near = project(posed[0], np.maximum(counts, 0.0), settled.fixed)
    if near is not None:
        posed = with_tangents(form, multipliers, problem.convex, near) or posed
    found = certify(posed[0], groups, counts, posed[1], settled)
    return replace(found, backward=max(found.backward, CONVEX_CONSTRAINTS.backward))
