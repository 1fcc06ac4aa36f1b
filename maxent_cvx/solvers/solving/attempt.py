"""One attempt: a backend solves the reduced problem, postsolve restores the solution, and it is certified."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...errors import NotDecided, SolverError
from ..answer import Answer, Status
from ..certificate.certificate import Certificate, certify, uncertified
from ..certificate.convex_terms import ConvexTerms
from ..certificate.projection import project
from ..convex.cuts import exceeded, tangent
from ..dual.starting import within_reach
from ..explain import failure
from ..monitoring.monitor import Monitor
from ..presolve.reduced import Reduced
from ..program.extension import AddedRows, extended
from ..program.linear_form import LinearForm
from ..program.problem import Convex, Problem, Settled
from .decompose import in_one_call, solve_by_components
from .presolving import NEWTON, presolved
from .request import Request
from .solution import Solution

__all__ = ["Attempt", "answered", "attempt"]


@dataclass(frozen=True, eq=False)
class Attempt:
    """The result of one attempt.

    Attributes
    ----------
    reduced : Reduced
        The reduced problem.
    solved : Answer
        The answer to the reduced problem.
    solution : Solution
        The answer to the original problem.
    """

    reduced: Reduced
    solved: Answer
    solution: Solution

    @property
    def bound(self) -> float:
        """The certified bound on the error of every P(s | q)."""
        return self.solution.certificate.bound

    @property
    def holds(self) -> bool:
        """Whether the answer is certified."""
        return self.solution.certificate.holds


def attempt(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray | None = None) -> Attempt:
    """Solve the reduced problem, restore the solution of the original problem, and certify it.

    Parameters
    ----------
    problem : Problem
    request : Request
    reduced : Reduced
    start : ndarray, optional
        Multipliers of the reduced problem to start from; by default those of the request.

    Raises
    ------
    Infeasible, SolverError
        If the backend returns no answer.
    """
    solved, answer, name = answered(problem, request, reduced, start)
    if reduced.form is not problem.form:
        reduced.form.forget()  # the certificate is of the problem as posed, and needs memory of its own
    assert answer.counts is not None
    try:
        certificate = _certified(problem, request, reduced, answer)
    except NotDecided:  # the time is over, and the answer is there
        certificate = uncertified(problem.form, answer.counts)
    return Attempt(reduced, solved, Solution(replace(answer, corner=None), certificate, name))


def answered(
    problem: Problem, request: Request, reduced: Reduced, start: np.ndarray | None = None
) -> tuple[Answer, Answer, str]:
    """The answer to the reduced problem, that to the original problem, and the name of what solved it.

    Raises
    ------
    Infeasible, SolverError
        If the backend returns no answer.
    """
    if start is None:
        form = reduced.form
        start = within_reach(form, form.project_to_dual_cone(reduced.start(request.start)))
    solved, name = _solved(problem, request, reduced, start)
    if solved.counts is None or solved.multipliers is None:
        raise failure(problem, request.backend.name, solved, None, request.monitor.stopped)
    return solved, _restored(problem.form, reduced, solved), name


def _solved(problem: Problem, request: Request, reduced: Reduced, start: np.ndarray) -> tuple[Answer, str]:
    """Solve the reduced problem with the backend; also return the name of what solved it."""
    backend = request.backend
    if not reduced.terms.any():
        return Answer(
            Status.OPTIMAL, np.empty(0), np.empty(0), message="optimal: presolve found everything"
        ), "presolve"
    if problem.convex:
        options = {**request.options, "convex": problem.convex}
        return in_one_call(backend, reduced.form, start, request.monitor, **options), backend.name
    solved = solve_by_components(backend, reduced.form, start, request.monitor, **request.options)
    if request.polish and solved.multipliers is not None and not request.monitor.stopped:
        return _polished(reduced.form, solved, request.monitor), f"{backend.name}, polished by {NEWTON.name}"
    return solved, backend.name


def _polished(form: LinearForm, answer: Answer, monitor: Monitor) -> Answer:
    """Continue from a solver's multipliers with Newton's method on the dual."""
    assert answer.multipliers is not None
    monitor.say(f"going on with {NEWTON.name}")
    final = solve_by_components(NEWTON, form, answer.multipliers, monitor)
    return replace(
        final,
        iterations=answer.iterations + final.iterations,
        compile_seconds=answer.compile_seconds + final.compile_seconds,
        solve_seconds=answer.solve_seconds + final.solve_seconds,
    )


def _restored(form: LinearForm, reduced: Reduced, solved: Answer) -> Answer:
    """Postsolve: the answer to the original problem, from that to the reduced problem."""
    assert solved.counts is not None
    assert solved.multipliers is not None
    counts, multipliers = reduced.restore(solved.counts, solved.multipliers)
    return replace(
        solved,
        counts=counts,
        # A conic solver's multiplier of an inactive row may be 1e-19, with the sign of a side that the row lacks.
        multipliers=form.project_to_dual_cone(multipliers),
        proofs=reduced.restore_directions(solved.proofs),
        corner=reduced.restore_schur(solved.corner),
    )


def _certified(problem: Problem, request: Request, reduced: Reduced, answer: Answer) -> Certificate:
    """Certify an answer to the original problem."""
    assert answer.counts is not None
    certificate = _certificate(problem, reduced.settled, answer)
    if certificate.holds or reduced.fixed.any() or request.monitor.stopped:
        return certificate
    # Without presolve, terms that are forced to zero are positive in the answer; presolve tells the certificate which.
    try:
        reduced = presolved(problem, request.backend, monitor=request.monitor.quietly())
    except NotDecided:  # the time is over
        return certificate
    if not reduced.fixed.any():
        return certificate
    with_zeros = _certificate(problem, reduced.settled_for(answer.counts), answer)
    return min(certificate, with_zeros, key=lambda one: one.bound)


def _certificate(problem: Problem, settled: Settled, answer: Answer) -> Certificate:
    """Certify an answer, given the terms that are fixed."""
    form, groups = problem.form, problem.groups
    counts, multipliers = answer.counts, answer.multipliers
    assert counts is not None
    assert multipliers is not None
    if not problem.convex:
        return certify(form, groups, counts, multipliers, settled, answer.proofs, answer.corner)
    try:
        posed = _at_tangents(problem.form, problem.convex, counts, multipliers)
        # Where the tangents hold, the constraints are violated to second order in the distance to the point that they
        # are made at. At the projection that distance is of the order of roundoff.
        near = project(posed.form, np.maximum(counts, 0.0), settled.fixed)
        if near is not None:
            posed = _at_tangents(problem.form, problem.convex, near, multipliers)
    except SolverError:  # some of CVXPY's functions have no gradient
        return uncertified(form, counts)
    return certify(
        posed.form, groups, counts, posed.multipliers, settled, convex=ConvexTerms(
            exceeded=exceeded(problem.convex.by_name, problem.convex.variable, posed.rows)
        ),
    )  # fmt: skip


class _Tangents(NamedTuple):
    """Rows with the tangents of convex constraints, the multipliers of all, and which rows are those of a constraint.

    A convex set lies inside its tangent half-spaces, and at the solution these have the multipliers of the constraint.
    """

    form: LinearForm
    multipliers: np.ndarray
    rows: dict[str, np.ndarray]


def _at_tangents(form: LinearForm, convex: Convex, at: np.ndarray, multipliers: np.ndarray) -> _Tangents:
    """Add the tangents of all convex constraints at a point.

    Raises
    ------
    SolverError
        If CVXPY has no gradient of a constraint; norm_inf(x) <= c, for example, can be written as -c <= x and x <= c.
    """
    tangents: dict[Hashable, AddedRows] = {
        name: tangent(one, convex.variable, at, name) for name, one in convex.by_name
    }
    extension = extended(form, tangents, form.weights)
    found = np.zeros(extension.form.shape[0])
    found[extension.original] = multipliers
    for name, one in convex.by_name:
        rows = extension.added[name]
        dual = np.atleast_1d(np.asarray(one.dual_value, dtype=float)).ravel(order="F")
        found[rows] = -dual / extension.form.scale[rows]
    return _Tangents(extension.form, found, {name: extension.added[name] for name, _ in convex.by_name})
