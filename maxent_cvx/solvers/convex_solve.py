"""Convex constraints, solved by Newton's method on the dual as a sequence of problems with rows only.

A budget limits a sum of costs of soft rows and a linear expression. It has one multiplier t. At a given t the objective
of the problem contains these costs times t; the left side at its solution decreases with t, so that t is the root of a
decreasing function (Brent's method). Several budgets are solved in turn.

Any other convex constraint g(x) <= 0 is replaced by cuts: affine functions that are nowhere above g, each equal to g at
an answer that violates it (Kelley, J. E. (1960). The cutting-plane method for solving convex programs. Journal of the
Society for Industrial and Applied Mathematics 8, 703-712). Contradictions are reported only with a weak-duality proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Infeasible, NotDecided, SolverError
from .answer import Answer, ConvexMultipliers, Status, point_of
from .attempts import NEWTON, Attempt, Request, answered, attempts, presolved
from .backends import SOLVERS, constraints, least_violation, solve_by_clarabel
from .certificate import PRECISE, Allowance, Certificate, ConvexTerms, Solution, certify, project
from .convex import (
    SMALLEST_COUNT,
    Budget,
    Priced,
    cuts_at,
    decreasing_root,
    exceeded,
    least_excess,
    read_budget,
    tangent,
    unattainable,
)
from .explain import conflict, contradiction, irreducible
from .extension import AddedRows, Extension, extended
from .form import Convex, Problem
from .monitor import check_time, seconds_left
from .presolve import Reduced

#: The largest number of rounds of cuts, and of rounds over all budgets.
ROUNDS = 100
#: Relative to the number of records: smaller violations of cuts are ignored.
RESOLVED = 1e-14
#: Relative to the number of records: smaller violations that the last cuts have not halved are rounding errors.
STALLED = 1e-9
#: Relative: several budgets have converged if a round changes no multiplier by more.
SETTLED = 1e-9
#: Relative to the limit: the precision with which a budget is spent.
ROOT = 4e-15
#: Relative: the precision of the multiplier of a budget.
WIDTH = 1e-12
#: Nats per record: the value of a budget's costs at the start of the search for its multiplier.
FIRST = 0.01
#: Nats per record: the largest multiplier of a budget, relative to its limit.
LARGEST = 1e12
#: The largest number of problems solved to find the multiplier of a budget.
EVALUATIONS = 100
#: Relative to the limit: closer to it, the residual of the hard rows matters, too.
NEAR = 1e-7
#: The number of further problems solved to determine how far an unattainable limit is from an attainable one.
SHARPER = 8
#: The factor of the multiplier from one of these problems to the next.
STEEPER = 64.0
#: Relative to the limit: the precision of that distance.
SHARP = 1e-6
#: Records: a row of absolute costs this close to its side is at the kink of its cost.
KINK = 1e-6
#: Relative to the limit: the excess of a budget at the largest multiplier if no distribution satisfies it.
UNATTAINABLE = 1e-7


@dataclass(frozen=True, eq=False)
class Step:
    """The answer to the problem of rows at given multipliers of the budgets, with the cuts so far."""

    multipliers: np.ndarray  # t, one per budget
    temperature: float  # the divisor of the objective
    cuts: Sequence[AddedRows]
    extension: Extension
    reduced: Reduced
    answer: Answer
    x: np.ndarray  # counts
    m: np.ndarray  # multipliers of all rows

    @property
    def cut_rows(self) -> dict[str, np.ndarray]:
        """Rows that are cuts of each constraint, by its name."""
        rows: dict[str, np.ndarray] = {}
        for cut in self.cuts:
            added = self.extension.added["cut", cut]
            rows[cut.name] = np.concatenate([rows.get(cut.name, added[:0]), added])
        return rows

    @property
    def active_cuts(self) -> list[AddedRows]:
        """Cuts with nonzero multipliers; as the entropy falls in every round, no other cut becomes active again."""
        return [cut for cut in self.cuts if self.m[self.extension.added["cut", cut]].any()]

    def projected(self) -> np.ndarray:
        """Return the point near x that satisfies the hard rows up to their last places; x if there is none.

        Rows at the kinks of their costs are satisfied, too, because costs at kinks are known only up to rounding.
        """
        form, penalties = self.extension.form, self.extension.form.penalties
        low, high = form.low.copy(), form.high.copy()
        if penalties is not None:
            soft = slice(form.n_hard, None)
            value = form.matvec(self.x)[soft]
            side = np.where(np.abs(value - low[soft]) <= np.abs(value - high[soft]), low[soft], high[soft])
            is_absolute = (penalties.variance == 0) & ~penalties.is_divergence
            at_kink = is_absolute & (np.abs(value - side) <= KINK)
            low[soft], high[soft] = np.where(at_kink, side, -np.inf), np.where(at_kink, side, np.inf)
        near = project(replace(form, low=low, high=high, penalties=None), self.x, self.reduced.fixed)
        return self.x if near is None else near


@dataclass(eq=False)
class Lagrangian:
    """Problems whose objective contains the budgets' costs at given multipliers, and whose rows contain the cuts."""

    problem: Problem
    convex: Convex  # the convex constraints of the problem
    request: Request
    budgets: Sequence[Budget]
    free: Sequence[Budget]  # budgets of zero, which are replaced by hard rows
    others: Sequence[tuple[str, Any]]  # constraints that are replaced by cuts
    cuts: list[AddedRows] = field(default_factory=list)  # hard rows that every feasible point satisfies
    last: Step | None = None
    iterations: int = 0  # summed over all problems
    log: list[dict[str, Any]] = field(default_factory=list)  # one line per solved problem of rows

    def solve(self, multipliers: np.ndarray) -> Step:
        """Solve at given multipliers of the budgets, starting from the last answer."""
        monitor = self.request.monitor
        if monitor.stopped:
            raise SolverError(
                f"{self.request.backend.name} was stopped {monitor.stopped} before it had an answer to the convex "
                "constraints; allow more time"
            )
        extension = self._extended(multipliers)
        posed = replace(self.problem, convex=None).with_rows(extension.form)
        quiet = replace(self.request, start=self._start(extension), monitor=monitor.quietly())
        request = quiet.at_full_precision()
        try:
            reduced = self._reduced(posed, extension)
            _, solved, answer, _ = answered(posed, request, reduced)
            if solved.status is not Status.OPTIMAL:
                answer = _best(posed, request)
        except Infeasible as error:
            raise self._in_the_users_words(error) from None
        counts, m = point_of(answer)
        self.iterations += answer.iterations
        self.last = step = Step(
            multipliers.copy(), self.temperature(multipliers), tuple(self.cuts), extension, reduced, answer,
            np.maximum(counts, 0.0), m,
        )  # fmt: skip
        residual = float(extension.form.residual(step.x).max(initial=0.0))
        self.log.append({"iteration": len(self.log), "residual": residual, "seconds": monitor.seconds})
        monitor.tell(self.log[-1])
        return step

    def check_attainable(self, step: Step, *, thoroughly: bool) -> None:
        """Raise Infeasible if an answer proves that no x satisfies the budgets that have multipliers."""
        if not step.multipliers.any():
            return
        hard = step.extension.form.hard
        priced = self._priced(step)
        multipliers = hard.project_to_dual_cone(step.m[: hard.shape[0]] * step.temperature)
        least = least_excess(hard, priced, step.reduced, multipliers)
        if not least > 0 and thoroughly:
            least = least_excess(hard, priced, step.reduced)
        if least > 0:
            raise self._contradiction(step, least)

    def _priced(self, step: Step) -> list[Priced]:
        """Return the budgets that have multipliers, each with its slopes at an answer."""
        priced = []
        for number in np.flatnonzero(step.multipliers).tolist():
            budget, t = self.budgets[number], float(step.multipliers[number])
            places = step.extension.added.get(("costs", number))
            if places is None:
                slopes = -budget.penalties.multiplier(budget.low, budget.high, budget.matrix @ step.x)
            else:
                slopes = -step.m[places] * step.temperature / t
            priced.append(Priced(budget, t, slopes))
        return priced

    def _contradiction(self, step: Step, least: float) -> Infeasible:
        """Return the error of unattainable budgets, with the largest quickly proved excess of a single budget."""
        used = np.flatnonzero(step.multipliers).tolist()
        names = sorted({self.budgets[i].name for i in used} | {cut.name for cut in step.active_cuts})
        if len(names) > 1:
            return together(names)
        (i,) = used
        budget, least = self.budgets[i], least / float(step.multipliers[i])
        with suppress(SolverError, Infeasible):
            for _ in range(SHARPER):
                (priced,) = self._priced(step)
                sharper = least_excess(step.extension.form.hard, [priced._replace(price=1.0)], step.reduced)
                least = max(least, sharper)
                if budget.spent(step.x) - budget.limit - least <= SHARP * (least + budget.magnitude):
                    break
                step = self.solve(step.multipliers * STEEPER)
        typed = dict(self.convex.by_name)[budget.name]
        return unattainable(budget.name, typed, budget.excess(budget.limit + least))

    def _reduced(self, posed: Problem, extension: Extension) -> Reduced:
        """Presolve, or reuse the last reduction if only the costs of soft rows have changed."""
        last, form = self.last, extension.form
        if last is not None and form.penalties is not None and [*last.extension.added] == [*extension.added]:
            before = last.extension.form
            if before.n_hard == form.n_hard and np.array_equal(before.weights, form.weights):
                return last.reduced.with_penalties_of(form)
        return presolved(posed, self.request.backend)

    def _start(self, extension: Extension) -> np.ndarray:
        """Return initial multipliers: those of the last answer, and 0 for new rows."""
        start, last = np.zeros(extension.form.shape[0]), self.last
        if last is None:
            start[extension.original] = self.request.start
            return start
        start[extension.original] = last.m[last.extension.original]
        for key in last.extension.added.keys() & extension.added.keys():
            start[extension.added[key]] = last.m[last.extension.added[key]]
        return start

    def _in_the_users_words(self, error: Infeasible) -> Infeasible:
        """Return a contradiction between cuts in terms of the constraints that they belong to."""
        names = sorted({row.name for row in self.cuts if repr(row.name) in str(error)})
        return together(names) if names else error

    def temperature(self, multipliers: np.ndarray) -> float:
        """Return the divisor of the objective: 1 plus the temperatures of all divergences that involve every term."""
        balls = [(budget.ball, t) for budget, t in zip(self.budgets, multipliers.tolist(), strict=True)]
        return 1 + sum(t * ball[0] for ball, t in balls if ball is not None)

    def _extended(self, multipliers: np.ndarray) -> Extension:
        """Return the rows of the problem, the cuts, and the costs of the budgets, all divided by the temperature.

        A divergence of every term, t sum (x log(x / T) - x + T), changes the weights of the objective: with the
        temperature 1 + t it is (1 + t) sum x log(w' / x), where log w' - 1 = (log w - 1 + t log T) / (1 + t).
        """
        form, temperature = self.problem.form, self.temperature(multipliers)
        added: dict[Any, AddedRows] = {("free", i): budget.cost_free_rows for i, budget in enumerate(self.free)}
        log_weights, weights = np.log(form.weights) - 1, form.weights
        for number, (budget, t) in enumerate(zip(self.budgets, multipliers.tolist(), strict=True)):
            if budget.zeros.shape[0]:
                none = np.zeros(budget.zeros.shape[0])
                added["zeros", number] = AddedRows(budget.zeros, none, none.copy(), budget.name)
            if t == 0:
                continue
            log_weights = log_weights - t * budget.linear
            if budget.ball is None:
                costs = budget.penalties.times(t / temperature)
                added["costs", number] = AddedRows(budget.matrix, budget.low, budget.high, budget.name, costs)
            else:
                log_weights = log_weights + t * budget.ball[0] * np.log(budget.ball[1])
        priced = (budget for budget, t in zip(self.budgets, multipliers, strict=True) if t > 0)
        if any(budget.ball or budget.linear.any() for budget in priced):
            weights = np.exp(log_weights / temperature + 1)
        added.update({("cut", cut): cut for cut in self.cuts})
        if form.penalties is not None and temperature != 1:
            form = replace(form, penalties=form.penalties.times(1 / temperature))
        return extended(form, added, weights)

    def convex_multipliers(self, step: Step) -> dict[str, ConvexMultipliers]:
        """Return the multipliers and subgradients of all convex constraints at an answer.

        At a kink of the left side the subgradient is not arbitrary: that of a budget is computed from the multipliers
        of its rows, and that of another constraint from the multipliers of its cuts.
        """
        m, scale = step.m * step.temperature, step.extension.form.scale
        by_name = {
            name: ConvexMultipliers(np.zeros(one.expr.size), sp.csr_array((one.expr.size, self.problem.form.shape[1])))
            for name, one in self.convex.by_name
        }
        for budget, price, slopes in self._priced(step):
            # The price of the norm is that of its square times the derivative of the square.
            by = 1.0 if budget.norm is None else 2 * math.sqrt(budget.limit) / budget.norm
            gradient = (budget.matrix.T @ slopes + budget.linear) / by
            by_name[budget.name] = ConvexMultipliers(np.array([price * by]), sp.csr_array(gradient[None]))
        for budget in self.free:
            t = np.array([budget.multiplier_of_nothing])
            by_name[budget.name] = ConvexMultipliers(t, budget.cost_free_rows.matrix)
        for name, rows in step.cut_rows.items():
            entries = np.concatenate([cut.entries for cut in step.cuts if cut.name == name and cut.entries is not None])
            n_entries = len(by_name[name].values)
            t = np.bincount(entries, -m[rows] * scale[rows], n_entries)
            sums = sp.csr_array((-m[rows], (entries, np.arange(len(entries)))), shape=(n_entries, len(entries)))
            total = sums @ step.extension.form.rows(rows)
            by_name[name] = ConvexMultipliers(t, sp.csr_array(sp.diags_array(1 / np.where(t > 0, t, 1.0)) @ total))
        return by_name

    def certificate(self, step: Step) -> Certificate:
        """Return the certificate of an answer."""
        allowances = [
            Allowance(
                budget.rows, budget.linear, budget.limit, budget.magnitude, t,
                step.extension.added.get(("costs", number), np.empty(0, dtype=np.int64)), budget.error,
            )
            for number, (budget, t) in enumerate(zip(self.budgets, step.multipliers.tolist(), strict=True))
        ]  # fmt: skip
        terms = ConvexTerms(allowances, exceeded(self.others, self.convex.variable, step.cut_rows), step.temperature)
        return certify(
            step.extension.form,
            self.problem.groups,
            step.x,
            step.m,
            step.reduced.settled,
            step.answer.proofs,
            convex=terms,
        )


def _best(posed: Problem, request: Request) -> Answer:
    """Return the first certified answer of all attempts, or the best one; raise Infeasible if rows contradict each other."""
    tried: list[Attempt] = []
    for attempt in attempts(posed, request):
        tried.append(attempt)
        if attempt.bound <= PRECISE:
            break
    best = min(tried, key=lambda attempt: attempt.bound)
    if not best.holds and (error := contradiction(posed)) is not None:
        raise error
    return best.solution.answer


def together(names: Sequence[str]) -> Infeasible:
    """Return the error of constraints that contradict everything else."""
    return Infeasible(
        f"no distribution satisfies {' and '.join(map(repr, names))} together with all other constraints; "
        f"relax {'it' if len(names) == 1 else 'one of them'}, or remove it"
    )


#: The conic solver that provides the points of the first cuts, and the largest number of terms for which it takes seconds.
INTERIOR_POINT, LARGEST_CONIC = SOLVERS["CLARABEL"], 20_000


def solve_convex(problem: Problem, request: Request) -> Solution:
    """Solve a problem with convex constraints."""
    convex = problem.convex
    assert convex is not None
    budgets, free, others = list[Budget](), list[Budget](), []
    for name, constraint in convex.by_name:
        budget = read_budget(constraint.expr, convex.variable, name)
        if budget is None:
            others.append((name, constraint))
            continue
        budget = budget.without_totals(problem.groups)
        # A limit that is the smallest possible cost requires that every row has a value without cost.
        (free if budget.limit == 0 and not budget.linear.any() else budgets).append(budget)
    if len(budgets) > 1 and problem.form.shape[1] <= LARGEST_CONIC:
        _require_attainable_together(problem, budgets, request)
        # Budgets that oppose each other converge slowly if solved in turn; tangents solve them simultaneously.
        names = {budget.name for budget in free}
        with suppress(SolverError, Infeasible):
            all_others = [(name, constraint) for name, constraint in convex.by_name if name not in names]
            solution = _solved(Lagrangian(problem, convex, request, [], free, all_others))
            if solution.certificate.bound <= PRECISE:
                return solution
    return _solved(Lagrangian(problem, convex, request, budgets, free, others))


def _solved(lagrangian: Lagrangian) -> Solution:
    """Solve a problem with multipliers for budgets, and cuts for all other constraints."""
    if lagrangian.others:
        lagrangian.cuts = _first_cuts(lagrangian)
    step = lagrangian.solve(np.zeros(len(lagrangian.budgets)))
    return _certified(lagrangian, _settled(lagrangian, step))


def _settled(lagrangian: Lagrangian, step: Step) -> Step:
    """Solve for each budget in turn and add cuts, until nothing changes."""
    variable, n, furthest = lagrangian.convex.variable, lagrangian.problem.n_records, math.inf
    for _ in range(ROUNDS):  # afterwards the certificate bounds the error of the last answer
        before = step.multipliers
        for i in range(len(lagrangian.budgets)):
            step = _spend(lagrangian, step, i)
        cuts = [
            cut
            for name, constraint in lagrangian.others
            for cut in cuts_at(constraint, variable, step.x, name, RESOLVED * n)
        ]
        last, furthest = furthest, max((cut.violation for cut in cuts), default=0.0)
        stalls = furthest > last / 2 and furthest <= STALLED * n  # rounding prevents any progress
        is_settled = len(before) < 2 or np.allclose(step.multipliers, before, rtol=SETTLED, atol=0)
        if is_settled and (not cuts or stalls):
            break
        lagrangian.cuts = [*step.active_cuts, *cuts]
        step = lagrangian.solve(step.multipliers)
    return step


def _spend(lagrangian: Lagrangian, step: Step, i: int) -> Step:
    """Find the multiplier of one budget, with the others fixed."""
    budget, n, others = lagrangian.budgets[i], lagrangian.problem.n_records, step.multipliers

    def at(t: float) -> Step:
        return lagrangian.solve(np.where(np.arange(len(others)) == i, t, others))

    tolerance, last = max(ROOT * budget.magnitude, budget.rounding(step.x)), float(others[i])
    start = last or FIRST * n / max(abs(budget.spent(step.x)), budget.magnitude)
    # With the last multipliers of the others, the budget may hold without a multiplier.
    without = at(0.0) if last else step
    if budget.spent(without.x) - budget.limit <= tolerance:
        return without

    def excess(t: float) -> float:
        step = at(t)
        lagrangian.check_attainable(step, thoroughly=False)
        value = budget.spent(step.x) - budget.limit
        # Near the limit, use the value at the projection, since that is the point that is certified.
        return value if abs(value) > NEAR * budget.magnitude else budget.spent(step.projected()) - budget.limit

    t, value = decreasing_root(excess, start, tolerance, WIDTH, LARGEST * n / budget.magnitude, EVALUATIONS)
    step = lagrangian.last if lagrangian.last is not None and lagrangian.last.multipliers[i] == t else at(t)
    if value > UNATTAINABLE * budget.magnitude:
        lagrangian.check_attainable(step, thoroughly=True)
        raise SolverError(
            f"{lagrangian.request.backend.name} found no multiplier of {budget.name!r}: at the largest one tried, its "
            f"left side still exceeds its right side by {budget.excess(budget.limit + value):.6g}, but it was not "
            "proved that no distribution satisfies it; relax it a little, or use another solver"
        )
    return step


def _certified(lagrangian: Lagrangian, step: Step) -> Solution:
    """Certify an answer, or the nearby point that satisfies all hard rows, and restore the rows of the problem."""
    certificate = lagrangian.certificate(step)
    if not certificate.bound <= PRECISE and step.multipliers.any():
        nearer = replace(step, x=step.projected())
        of_nearer = lagrangian.certificate(nearer)
        if of_nearer.bound < certificate.bound:
            step, certificate = nearer, of_nearer
    original = step.extension.original
    answer = replace(
        step.answer,
        counts=step.x,
        multipliers=step.m[original] * step.temperature,
        proofs=[proof[original] for proof in step.answer.proofs],
        iterations=lagrangian.iterations,
        log=lagrangian.log,
        convex=lagrangian.convex_multipliers(step),
        status=Status.OPTIMAL if certificate.holds else step.answer.status,
    )
    return Solution(answer, certificate, lagrangian.request.backend.name)


def _require_attainable_together(problem: Problem, budgets: Sequence[Budget], request: Request) -> None:
    """Raise Infeasible if budgets contradict each other, as the search for their multipliers would take too long."""
    convex, form = problem.convex, problem.form.hard
    assert convex is not None
    written, seconds = dict(convex.by_name), request.monitor.seconds_left
    _, x, prices = least_violation(form, convex, [written[other.name] for other in budgets], seconds)
    if x is None:
        return
    x, priced = np.maximum(x, SMALLEST_COUNT), []
    for budget, price in zip(budgets, prices, strict=True):
        if price <= SETTLED:  # the prices sum to 1
            continue
        if budget.norm is not None:  # divide by the derivative of the square
            price *= budget.norm / (2 * math.sqrt(max(budget.spent(x), np.finfo(float).tiny)))
        slopes = -budget.penalties.multiplier(budget.low, budget.high, budget.matrix @ x)
        priced.append(Priced(budget, price, slopes))
    if priced and least_excess(form, priced) > 0:
        if len(priced) == 1:
            budget = priced[0].budget
            least = least_excess(form, [priced[0]._replace(price=1.0)])
            raise unattainable(budget.name, written[budget.name], budget.excess(budget.limit + least))
        raise together([other.budget.name for other in priced])


def _first_cuts(lagrangian: Lagrangian) -> list[AddedRows]:
    """Return tangents at a conic solver's solution, or at the least violation, so that few further cuts are needed.

    Every tangent of a convex function is a valid cut, even at an inexact point.
    """
    form, convex, others = lagrangian.problem.form, lagrangian.convex, lagrangian.others
    if form.shape[1] > LARGEST_CONIC:
        return []
    monitor = lagrangian.request.monitor.quietly()
    x = INTERIOR_POINT.solve(form, convex=convex, monitor=monitor).counts
    if x is None or not np.isfinite(x).all():
        x = least_violation(form.hard, convex, [constraint for _, constraint in others], monitor.seconds_left)[1]
    if x is not None:
        with suppress(SolverError):  # cuts at other points may have gradients
            return [tangent(constraint, convex.variable, np.maximum(x, 0.0), name) for name, constraint in others]
    return []


# The elastic relaxation of rows and convex constraints.


#: Relative to a move: the additional move of a side that makes some distribution satisfy all constraints strictly.
MARGIN = 1e-4
#: Records: the largest rounding error of a conic solver's answer, and the smallest margin.
MOVED = 1e-6


def elastic_convex_relaxation(
    problem: Problem, of_rows: np.ndarray, of_convex: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Minimise the weighted sum of violations of knowledge and convex constraints, subject to the hard constraints.

    Return the moves of each row down and up, in records, and of each entry of each convex constraint, in its unit.
    `of_rows` are the weights per record for each row of knowledge, `of_convex` the weights per unit for each convex
    constraint; infinite weights mean no move. A conic program, solved by CLARABEL; moves are increased by a margin.
    """
    import cvxpy as cp

    form, convex = problem.hard.form, problem.convex
    assert convex is not None
    unit, n_known = form.count_scale, form.shape[0] - form.n_facts
    counts = cp.multiply(unit, cp.Variable(form.shape[1], nonneg=True))
    sides = [cp.Variable(n_known, nonneg=True) for _ in range(2)]
    firm = np.isinf(of_rows)
    place = sp.eye_array(form.shape[0], format="csc")[:, form.n_facts :]  # of the knowledge among all rows
    rows = [block[2] for block in constraints(form, counts, place @ (sides[0] - sides[1]))]
    rows += [side[np.flatnonzero(firm)] == 0 for side in sides if firm.any()]
    slacks = [cp.Variable(constraint.expr.size, nonneg=True) for constraint in convex.constraints]
    for constraint, slack, weight in zip(convex.constraints, slacks, of_convex, strict=True):
        expression = cp.vec(constraint.expr.tree_copy({id(convex.variable): counts}), order="F")
        rows.append(expression <= (slack if math.isfinite(weight) else 0))
    largest = max([1.0, *of_rows[~firm], *of_convex[np.isfinite(of_convex)]])
    cost = (np.where(firm, 0.0, of_rows) / largest) @ (sides[0] + sides[1])
    cost += sum(w / largest * cp.sum(s) for w, s in zip(of_convex, slacks, strict=True) if math.isfinite(w))
    conic = cp.Problem(cp.Minimize(cost), rows)
    status = solve_by_clarabel(conic, seconds_left())
    check_time()
    if status == "infeasible":
        raise Infeasible("the constraints that must not move contradict each other")
    if status != "optimal":
        raise SolverError(f"CLARABEL did not relax the convex constraints: {status}")

    def with_margin(moves: Any, least: Any) -> np.ndarray:
        moves = np.atleast_1d(np.asarray(moves, dtype=float))
        return np.where(moves > least, moves * (1 + MARGIN) + least, 0.0)

    below, above = (place @ np.where(firm, 0.0, with_margin(side.value, MOVED)) for side in sides)
    return below, above, [
        with_margin(slack.value, MOVED / problem.n_records) if math.isfinite(weight) else np.zeros(slack.size)
        for slack, weight in zip(slacks, of_convex, strict=True)
    ]  # fmt: skip


# Contradictions that involve convex constraints: an irreducible set, and the distance of each statement from the rest.


def conflict_table(problem: Problem) -> pd.DataFrame | None:
    """Tabulate an irreducible contradiction of the hard rows and convex constraints, in the format of `Conflict`.

    For a convex constraint the table contains the side as typed, and the least value of its left side (or the largest
    value of its right side, if that is the expression) subject to the others. None if no contradiction is proved.
    """
    of_rows_alone, convex = conflict(problem.hard), problem.convex
    if of_rows_alone is not None:
        return of_rows_alone.table
    if convex is None:
        return None
    hard, n = problem.hard, problem.form.n_hard
    items = np.arange(hard.form.n_facts, n + len(convex.constraints))

    def infeasible(subset: np.ndarray) -> bool:
        chosen = _with_items(hard, subset)
        return (conflict(chosen) if chosen.convex is None else refuted(chosen)) is not None  # a proof

    if not infeasible(items):
        return None
    chosen = irreducible(infeasible, items[:0], items)
    rows = {}
    for item in chosen:
        name, low, high, least, most = _line(hard, chosen[chosen != item], int(item))
        rows[name] = (low, high, least, most, np.fmax(least - high, low - most))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["low", "high", "least", "most", "move"])
    return table.rename_axis("statement").sort_values("move", ascending=False, kind="stable")


def _with_items(problem: Problem, items: np.ndarray) -> Problem:
    """Keep some rows of knowledge and convex constraints; constraints are numbered after the rows."""
    n, convex = problem.form.shape[0], problem.convex
    assert convex is not None
    rows = problem.form.select_knowledge(np.sort(items[items < n]))
    return Problem(rows, problem.closed_form, problem.groups, convex.select(np.sort(items[items >= n]) - n))


def refuted(problem: Problem) -> Infeasible | None:
    """Return the error of constraints that no point satisfies; None if there is no proof."""
    if problem.convex is None:
        return contradiction(problem)
    try:
        solve_convex(problem.hard, Request(NEWTON, problem.hard.start))
    except Infeasible as error:
        return error
    except NotDecided:  # the time limit was reached
        raise
    except SolverError:
        return None
    return None


def _line(problem: Problem, others: np.ndarray, item: int) -> tuple[str, float, float, float, float]:
    """Return the name of a row or constraint, its sides as typed, and its least and largest value given the others."""
    form, convex = problem.form, problem.convex
    assert convex is not None
    rest = _with_items(problem, others)
    constraints = rest.convex or Convex(convex.variable, [])
    if item >= form.shape[0]:
        name, constraint = convex.by_name[item - form.shape[0]]
        excess, *_ = least_violation(rest.form, constraints, [constraint])
        lhs, rhs = constraint.args
        if lhs.is_constant() and lhs.size == 1:
            return name, float(lhs.value), np.inf, np.nan, float(lhs.value) - excess
        limit = float(rhs.value) if rhs.is_constant() and rhs.size == 1 else 0.0
        return name, -np.inf, limit, limit + excess, np.nan
    value = form.rows(np.array([item])) @ convex.variable
    ends = [sign * least_violation(rest.form, constraints, [sign * value <= 0])[0] for sign in (1, -1)]
    sides = np.array([form.low[item], form.high[item], *ends])
    low, high, least, most = ((sides + form.shift[item]) / form.scale[item] + 0.0).tolist()
    return form.name(item), low, high, least, most
