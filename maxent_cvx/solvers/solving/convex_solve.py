"""Solve a problem with convex constraints by problems of rows, each solved by Newton's method on the dual.

A constraint that is a sum of costs (:mod:`..convex.budget`) has one multiplier, which is found as the root of what is
spent less the limit, a decreasing function. Any other convex constraint g(x) <= 0 is replaced by cuts: affine functions
that are nowhere above g, each equal to g at an answer that violates it (Kelley, 1960).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import SolverError
from ..answer import Status
from ..backends.cvxpy_backend import least_violation
from ..backends.registry import SOLVERS
from ..certificate.certificate import Certificate, certify
from ..certificate.convex_terms import ConvexTerms
from ..convex.attainable import Priced, least_excess, unattainable
from ..convex.budget import Budget
from ..convex.cuts import cuts_at, exceeded, tangent
from ..convex.reading import read_budget
from ..convex.root import decreasing_root
from ..parameters.size_limits import ATTEMPT_SIZES
from ..parameters.tolerances import ATTEMPTS, CONVEX_CONSTRAINTS, FEASIBILITY
from ..program.extension import AddedRows
from ..program.problem import Problem
from .lagrangian import Lagrangian, together
from .request import Request
from .solution import Solution

__all__ = ["solve_convex"]

#: The conic solver that shows where the first cuts are made.
INTERIOR_POINT = SOLVERS["CLARABEL"]


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
    free = []
    for name, constraint in convex.by_name:
        budget = read_budget(constraint.expr, convex.variable, name)
        if budget is None:
            others.append((name, constraint))
            continue
        budget = budget.without_totals(problem.groups)
        if budget.is_free_only:
            free.append(budget.cost_free_rows)
        else:
            budgets.append(budget)
    lagrangian = Lagrangian(
        replace(problem, convex=None), budgets, request, convex.variable, dict(convex.by_name), free
    )
    multipliers = np.zeros(len(budgets))
    if len(budgets) > 1:
        _require_attainable_together(problem, budgets, request)
    if others:
        lagrangian.cuts = _first_cuts(problem, others, request)
    x = lagrangian.solve(multipliers)
    found: list[Solution] = []
    for resolved in CONVEX_CONSTRAINTS.resolved:  # the more exactly, the more cuts are alike
        x = _settled(lagrangian, multipliers, others, x, resolved * problem.n_records)
        found.append(_certified(copy.copy(lagrangian), multipliers, problem, others, request))
        if not others or found[-1].certificate.bound <= ATTEMPTS.precise:
            break
    return min(found, key=lambda one: one.certificate.bound)


def _require_attainable_together(problem: Problem, budgets: Sequence[Budget], request: Request) -> None:
    """Raise if several budgets contradict each other: the search for one multiplier after the other would not end soon.

    Raises
    ------
    Infeasible
    """
    convex, form = problem.convex, problem.form.hard
    assert convex is not None
    if form.shape[1] > ATTEMPT_SIZES.largest_conic or not INTERIOR_POINT.installed:
        return
    written, seconds = dict(convex.by_name), request.monitor.seconds_left
    _, x, prices = least_violation(form, convex, [written[one.name] for one in budgets], seconds)
    if x is None:
        return
    x, priced = np.maximum(x, CONVEX_CONSTRAINTS.smallest_count), []
    for budget, price in zip(budgets, prices, strict=True):
        if price <= CONVEX_CONSTRAINTS.settled:  # the prices add up to 1
            continue
        if budget.norm is not None:  # the derivative of the norm with respect to its square
            price *= budget.norm / (2 * math.sqrt(max(budget.spent(x), np.finfo(float).tiny)))
        slopes = -budget.penalties.multiplier(budget.low, budget.high, budget.matrix @ x)
        priced.append(Priced(budget, price, slopes))
    if priced and least_excess(form, priced) > 0:
        if len(priced) == 1:
            budget = priced[0].budget
            least = least_excess(form, [priced[0]._replace(price=1.0)])
            raise unattainable(budget.name, written[budget.name], budget.excess(budget.limit + least))
        raise together([one.budget.name for one in priced])


def _first_cuts(problem: Problem, others: Sequence[tuple[str, Any]], request: Request) -> list[AddedRows]:
    """Tangents where a conic solver finds the solution, or else the least violation: few further cuts are needed.

    Every tangent of a convex function is a valid cut, however inexact the point.
    """
    convex, form = problem.convex, problem.form
    assert convex is not None
    if form.shape[1] > ATTEMPT_SIZES.largest_conic or not INTERIOR_POINT.installed:
        return []
    monitor = request.monitor.quietly()
    x = INTERIOR_POINT.solve(form, convex=convex, monitor=monitor).counts
    if x is None or not np.isfinite(x).all():
        x = least_violation(form.hard, convex, [one for _, one in others], monitor.seconds_left)[1]
    if x is None:
        return []
    with suppress(SolverError):  # cuts at other points may have gradients
        return [tangent(one, convex.variable, np.maximum(x, 0.0), name) for name, one in others]
    return []


def _settled(
    lagrangian: Lagrangian,
    multipliers: np.ndarray,
    others: Sequence[tuple[str, Any]],
    x: np.ndarray,
    smallest: float,
) -> np.ndarray:
    """Spend one budget after the other and make cuts, until nothing changes; return the counts.

    Parameters
    ----------
    lagrangian : Lagrangian
    multipliers : ndarray, one a budget
        They are changed in place.
    others : sequence of (str, constraint)
        The constraints that are replaced by cuts.
    x : ndarray, one a term
        The last counts.
    smallest : float
        Records: a smaller violation of a cut is rounding.
    """
    assert lagrangian.variable is not None
    furthest = math.inf
    for _ in range(CONVEX_CONSTRAINTS.rounds):  # then the certificate says how good the last answer is
        before = multipliers.copy()
        for i, budget in enumerate(lagrangian.budgets):
            x = _spend(lagrangian, multipliers, i, budget, x)
        new = [cut for name, one in others for cut in cuts_at(one, lagrangian.variable, x, name, smallest)]
        settled = len(multipliers) < 2 or np.allclose(multipliers, before, rtol=CONVEX_CONSTRAINTS.settled, atol=0)
        last, furthest = furthest, max((cut.violation for cut in new), default=0.0)
        # Rounding prevents any progress.
        stalls = furthest > last / 2 and furthest <= CONVEX_CONSTRAINTS.stalled * lagrangian.problem.n_records
        if settled and (not new or stalls):
            break
        lagrangian.replace_cuts(new)
        x = lagrangian.solve(multipliers)
    return x


def _spend(lagrangian: Lagrangian, multipliers: np.ndarray, i: int, budget: Budget, x: np.ndarray) -> np.ndarray:
    """Find the multiplier of one budget, the others being held; it is changed in place. Return the counts."""
    tolerance, n = max(CONVEX_CONSTRAINTS.root * budget.magnitude, budget.rounding(x)), lagrangian.problem.n_records
    start = multipliers[i] or n / max(abs(budget.spent(x)), budget.magnitude) * CONVEX_CONSTRAINTS.first
    if multipliers[i]:  # what was found last for the others may keep it without a multiplier
        multipliers[i] = 0.0
        x = lagrangian.solve(multipliers)
    if budget.spent(x) <= budget.limit + tolerance:
        return x
    tried: dict[float, np.ndarray] = {}
    if budget.spent(x) - budget.limit <= FEASIBILITY.relative * budget.magnitude:
        # Perhaps the other rows determine what is spent, and the limit is that but for rounding.
        multipliers[i] = CONVEX_CONSTRAINTS.doubtful * start
        change = budget.spent(lagrangian.solve(multipliers)) - budget.spent(x)
        if abs(change) <= CONVEX_CONSTRAINTS.fixed * budget.magnitude:
            multipliers[i] = 0.0
            return lagrangian.solve(multipliers)

    def excess(t: float) -> float:
        multipliers[i] = t
        tried[t] = lagrangian.solve(multipliers)
        lagrangian.check_attainable(multipliers, thoroughly=t > CONVEX_CONSTRAINTS.doubtful * start)
        if abs(budget.spent(tried[t]) - budget.limit) <= CONVEX_CONSTRAINTS.near * budget.magnitude:
            tried[t] = lagrangian.projected(tried[t])  # where the certificate is about
        return budget.spent(tried[t]) - budget.limit

    t, value = decreasing_root(
        excess,
        start,
        tolerance,
        CONVEX_CONSTRAINTS.width,
        CONVEX_CONSTRAINTS.largest * n / budget.magnitude,
        CONVEX_CONSTRAINTS.evaluations,
    )
    if multipliers[i] != t:
        multipliers[i] = t
        tried[t] = lagrangian.solve(multipliers)
    if value > CONVEX_CONSTRAINTS.unattainable * budget.magnitude:
        lagrangian.check_attainable(multipliers, thoroughly=True)
        raise SolverError(
            f"{lagrangian.request.backend.name} found no multiplier of {budget.name!r}: at the largest that was tried "
            f"its left side still exceeds its right side by {budget.excess(budget.limit + value):.6g}, and that no "
            "distribution satisfies it was not proved; relax it a little, or use another solver"
        )
    return tried[t]


def _certified(
    lagrangian: Lagrangian,
    multipliers: np.ndarray,
    problem: Problem,
    others: Sequence[tuple[str, Any]],
    request: Request,
) -> Solution:
    """Certify the last answer, and give it the rows of the problem."""
    convex = problem.convex
    assert convex is not None
    certificate = _certificate(lagrangian, multipliers, problem, others)
    if lagrangian.cuts and not certificate.bound <= ATTEMPTS.precise and all(one.expr.size == 1 for _, one in others):
        assert lagrangian.answer is not None
        assert lagrangian.answer.counts is not None
        with_cuts = copy.copy(lagrangian)
        at = np.maximum(lagrangian.answer.counts, 0.0)
        active = set(lagrangian.cut_rows)
        tangents = [tangent(one, convex.variable, at, name) for name, one in others if name in active]
        lagrangian.at_tangents(multipliers, tangents)
        found = _certificate(lagrangian, multipliers, problem, others)
        lagrangian = lagrangian if found.bound < certificate.bound else with_cuts
        certificate = min(found, certificate, key=lambda one: one.bound)
    answer, extension = lagrangian.answer, lagrangian.extension
    assert answer is not None
    assert answer.multipliers is not None
    assert extension is not None
    own = replace(
        answer,
        multipliers=answer.multipliers[extension.original] * lagrangian.temperature(multipliers),
        proofs=[proof[extension.original] for proof in answer.proofs],
        iterations=lagrangian.iterations,
        log=lagrangian.log,
        status=Status.OPTIMAL if certificate.holds else answer.status,
    )
    return Solution(own, certificate, request.backend.name)


def _certificate(
    lagrangian: Lagrangian, multipliers: np.ndarray, problem: Problem, others: Sequence[tuple[str, Any]]
) -> Certificate:
    """Certify the last answer."""
    answer, extension, reduced = lagrangian.answer, lagrangian.extension, lagrangian.reduced
    assert answer is not None
    assert answer.counts is not None
    assert answer.multipliers is not None
    assert extension is not None
    assert reduced is not None
    assert problem.convex is not None
    return certify(
        extension.form, problem.groups, answer.counts, answer.multipliers, reduced.settled, answer.proofs,
        convex=ConvexTerms(
            lagrangian.allowances(multipliers),
            exceeded(others, problem.convex.variable, lagrangian.cut_rows),
            lagrangian.temperature(multipliers),
        ),
    )  # fmt: skip
