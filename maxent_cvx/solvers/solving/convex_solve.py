"""Solve a problem with convex constraints by problems of rows, each solved by Newton's method on the dual.

A constraint that is a sum of costs (:mod:`..convex.budget`) has one multiplier, which is found as the root of what is
spent less the limit, a decreasing function. Any other convex constraint g(x) <= 0 is replaced by cuts: affine functions
that are nowhere above g, each equal to g at an answer that violates it (Kelley, 1960).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import Infeasible
from ..answer import Status
from ..certificate.certificate import certify
from ..convex.attainable import least_value
from ..convex.budget import Budget
from ..convex.cuts import cuts_at, exceeded
from ..convex.reading import read_budget
from ..convex.root import decreasing_root
from ..parameters.tolerances import CONVEX_CONSTRAINTS
from ..program.problem import Problem
from .lagrangian import Lagrangian
from .presolving import presolved
from .request import Request
from .solution import Solution

__all__ = ["solve_convex"]


def solve_convex(problem: Problem, request: Request) -> Solution:
    """Solve a problem with convex constraints.

    Raises
    ------
    Infeasible
        If no distribution satisfies the rows and the constraints.
    SolverError
        If a problem of rows has no answer.
    """
    convex = problem.convex
    assert convex is not None
    budgets, others = [], []
    for name, constraint in convex.by_name:
        budget = read_budget(constraint.expr, convex.variable, name)
        if budget is None:
            others.append((name, constraint))
        else:
            budgets.append(budget)
    lagrangian = Lagrangian(replace(problem, convex=None), budgets, request)
    multipliers = np.zeros(len(budgets))
    x = lagrangian.solve(multipliers)
    for _ in range(CONVEX_CONSTRAINTS.rounds):  # one more than converges: the certificate says how good the last is
        before = multipliers.copy()
        for i, budget in enumerate(budgets):
            x = _spend(lagrangian, multipliers, i, budget, x)
        new = [cut for name, constraint in others for cut in cuts_at(constraint, convex.variable, x, name)]
        lagrangian.cuts += new
        if not new and (len(budgets) < 2 or np.allclose(multipliers, before, rtol=CONVEX_CONSTRAINTS.settled, atol=0)):
            break
        x = lagrangian.solve(multipliers)
    return _certified(lagrangian, multipliers, problem, others, request)


def _spend(lagrangian: Lagrangian, multipliers: np.ndarray, i: int, budget: Budget, x: np.ndarray) -> np.ndarray:
    """Find the multiplier of one budget, the others being held; it is changed in place. Return the counts."""
    tolerance = CONVEX_CONSTRAINTS.root * budget.magnitude
    if multipliers[i] == 0 and budget.spent(x) <= budget.limit + tolerance:
        return x
    tried: dict[float, np.ndarray] = {}
    checked: list[float] = []

    def excess(t: float) -> float:
        if t > CONVEX_CONSTRAINTS.doubtful * start and not checked:
            checked.append(t)
            least = least_value(lagrangian.problem.form, budget)
            if least > budget.limit + CONVEX_CONSTRAINTS.unattainable * max(budget.magnitude, abs(least)):
                raise cannot_hold(budget.name, least, budget.limit)
        multipliers[i] = t
        tried[t] = lagrangian.solve(multipliers)
        return budget.spent(tried[t]) - budget.limit

    n = float(lagrangian.problem.n_records)
    start = multipliers[i] or n / max(abs(budget.spent(x)), budget.magnitude) * CONVEX_CONSTRAINTS.first
    t, value = decreasing_root(
        excess, start, tolerance, CONVEX_CONSTRAINTS.largest * n / budget.magnitude, CONVEX_CONSTRAINTS.evaluations
    )
    if multipliers[i] != t:
        multipliers[i] = t
        tried[t] = lagrangian.solve(multipliers)
    if value > CONVEX_CONSTRAINTS.unattainable * budget.magnitude:
        raise cannot_hold(budget.name, value + budget.limit, budget.limit)
    return tried[t]


def cannot_hold(name: str, least: float, limit: float) -> Infeasible:
    """The error for a constraint that no distribution satisfies with everything else."""
    return Infeasible(
        f"{name!r} cannot hold: with everything else its left side is at least about {least:.6g}, and {limit:.6g} is "
        "allowed; relax it, or remove it"
    )


def _certified(
    lagrangian: Lagrangian,
    multipliers: np.ndarray,
    problem: Problem,
    others: Sequence[tuple[str, Any]],
    request: Request,
) -> Solution:
    """Certify the last answer, and give it the rows of the problem."""
    last, extension = lagrangian.last, lagrangian.extension
    assert last is not None
    assert extension is not None
    assert problem.convex is not None
    answer = last.solution.answer
    assert answer.counts is not None
    assert answer.multipliers is not None
    posed = problem.with_rows(extension.form)
    settled = presolved(replace(posed, convex=None)).settled_for(np.maximum(answer.counts, 0.0))
    certificate = certify(
        extension.form, problem.groups, answer.counts, answer.multipliers, settled, answer.proofs,
        allowances=lagrangian.allowances(multipliers),
        exceeded=exceeded(others, problem.convex.variable, lagrangian.cut_rows),
    )  # fmt: skip
    own = replace(
        answer,
        multipliers=answer.multipliers[extension.original],
        proofs=[proof[extension.original] for proof in answer.proofs],
        iterations=lagrangian.iterations,
        status=Status.OPTIMAL if certificate.holds else answer.status,
    )
    return Solution(own, certificate, request.backend.name)
