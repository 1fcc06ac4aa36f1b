"""Convex constraints, as a sequence of problems of rows that Newton's method on the dual solves.

A budget is a constraint whose left side is a sum of costs of soft rows and a linear expression, at most a limit. It has
one multiplier t. At a given t the problem has these costs, times t, in its objective; what its answer spends falls with
t, so that t is the root of a decreasing function (Illinois method of false position). Several budgets are settled in turn.

Any other convex constraint g(x) <= 0 is replaced by cuts: affine functions that are nowhere above g, each equal to g at
an answer that violates it (Kelley, J. E. (1960). The cutting-plane method for solving convex programs. Journal of the
Society for Industrial and Applied Mathematics 8, 703-712). A contradiction is claimed with a proof by weak duality only.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import Infeasible, NotDecided, SolverError
from .answer import Answer, ConvexMultipliers, Status
from .attempts import LARGEST_CONIC, NEWTON, Attempt, Request, answered, attempts, presolved
from .backends import RELATE, SOLVERS, CvxpyBackend, by_relation, least_violation, limited
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
from .form import Convex, LinearForm, Problem
from .monitor import check_time, seconds_left
from .parameters import FEASIBLE
from .presolve import Reduced

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["ConvexRelaxation", "conflict_table", "elastic_convex_relaxation", "refuted", "solve_convex"]

#: Rounds of cuts, and of budgets one after the other.
ROUNDS = 100
#: Relative to the number of records: smaller violations of cuts stay; the second where the first is too little.
RESOLVED = (1e-14, 1e-15)
#: Relative to the number of records: a violation that the last cuts have not halved, and is no larger, stays.
STALLED = 1e-9
#: Relative: the multipliers of several budgets have settled if a round changes none by more.
SETTLED = 1e-9
#: Relative to the limit: how exactly a budget is spent.
ROOT = 4e-15
#: Relative: how exactly the multiplier of a budget is found.
WIDTH = 1e-12
#: Nats per record: what the costs of a budget are worth where the search for its multiplier begins.
FIRST = 0.01
#: Nats per record: the largest multiplier of a budget, relative to its limit.
LARGEST = 1e12
#: Problems that are solved to find the multiplier of a budget.
EVALUATIONS = 100
#: Relative to the limit: a budget that a large multiplier does not change by more is determined by other rows.
FIXED = 1e-11
#: Relative to the limit: how nearly a budget is spent where what rows lack to hold exactly matters, too.
NEAR = 1e-7
#: Multiple of the first multiplier, beyond which it is asked whether the budget can be kept at all.
DOUBTFUL = 500.0
#: Further problems that are solved to say how far a limit that cannot be kept is from one that can.
SHARPER = 8
#: By how much the multiplier grows from one of these problems to the next.
STEEPER = 64.0
#: Relative to the limit: how exactly that is said.
SHARP = 1e-6
#: Records: a row of absolute costs that is so near to its side is at the kink of its cost.
KINK = 1e-6
#: Relative to the limit: what a budget lacks at the largest multiplier if no distribution satisfies it.
UNATTAINABLE = 1e-7


@dataclass
class Lagrangian:
    """The problem whose objective holds the costs of budgets at given multipliers, and whose rows hold all cuts."""

    problem: Problem  # without its convex constraints
    budgets: Sequence[Budget]
    request: Request
    variable: cp.Variable | None = None  # all counts, which the convex constraints are on
    written: Mapping[str, Any] = field(default_factory=dict)  # every convex constraint by its name, as written
    free: Sequence[Budget] = ()  # budgets of nothing, in place of which there are hard rows
    cuts: list[AddedRows] = field(default_factory=list)  # hard rows that every feasible point satisfies
    answer: Answer | None = None  # of the problem that was solved last
    extension: Extension | None = None
    reduced: Reduced | None = None
    iterations: int = 0  # of all problems together
    log: list[dict[str, Any]] = field(default_factory=list)  # a line a problem of rows that was solved

    def solve(self, multipliers: np.ndarray) -> np.ndarray:
        """Solve at some multipliers of the budgets, one each, beginning with the last answer; return the counts."""
        monitor = self.request.monitor
        if monitor.stopped:
            raise SolverError(
                f"{self.request.backend.name} was stopped {monitor.stopped} before it had an answer to the convex "
                "constraints; give it more time"
            )
        extension = self._extended(multipliers)
        posed = self.problem.with_rows(extension.form)
        quiet = replace(self.request, start=self._start(extension), monitor=monitor.quietly())
        request = quiet.at_full_precision()
        try:
            reduced = self._reduced(posed, extension)
            solved, answer, _ = answered(posed, request, reduced)
            if solved.status is not Status.OPTIMAL:
                answer = self._best(posed, request)
        except Infeasible as error:
            raise self._in_the_users_words(error) from None
        self.answer, self.extension, self.reduced = answer, extension, reduced
        self.iterations += answer.iterations
        assert answer.counts is not None
        counts = np.maximum(answer.counts, 0.0)
        residual = float(extension.form.residual(counts).max(initial=0.0))
        self.log.append({"iteration": len(self.log), "residual": residual, "seconds": monitor.seconds})
        monitor.tell(self.log[-1])
        return counts

    def _best(self, posed: Problem, request: Request) -> Answer:
        """The first certified answer of all attempts, or the best."""
        tried: list[Attempt] = []
        for attempt in attempts(posed, request):
            tried.append(attempt)
            if attempt.bound <= PRECISE:
                break
        return min(tried, key=lambda attempt: attempt.bound).solution.answer

    def check_attainable(self, multipliers: np.ndarray, *, thoroughly: bool) -> None:
        """Raise if the last answer proves that no x keeps the budgets that have multipliers."""
        answer, extension = self.answer, self.extension
        if answer is None or extension is None or not multipliers.any():
            return
        assert answer.multipliers is not None
        hard, temperature = extension.form.hard, self.temperature(multipliers)
        of_hard = answer.multipliers[: extension.form.n_hard] * temperature
        priced = self._priced(multipliers)
        least = least_excess(hard, priced, hard.project_to_dual_cone(of_hard))
        if not least > 0 and thoroughly:
            least = least_excess(hard, priced)
        if least > 0:
            raise self._contradiction(multipliers, least)

    @property
    def _counts(self) -> np.ndarray:
        """The counts of the last answer, as the solver returned them."""
        assert self.answer is not None
        assert self.answer.counts is not None
        return self.answer.counts

    def _priced(self, multipliers: np.ndarray) -> list[Priced]:
        """The budgets that have multipliers, each with its slopes at the last answer."""
        assert self.answer is not None
        assert self.answer.multipliers is not None
        assert self.extension is not None
        x, priced = np.maximum(self._counts, 0.0), []
        for number, (budget, t) in enumerate(zip(self.budgets, multipliers.tolist(), strict=True)):
            if t == 0:
                continue
            places = self.extension.added.get(("costs", number))
            if places is None:
                slopes = -budget.penalties.multiplier(budget.low, budget.high, budget.matrix @ x)
            else:
                slopes = -self.answer.multipliers[places] * self.temperature(multipliers) / t
            priced.append(Priced(budget, t, slopes))
        return priced

    def _contradiction(self, multipliers: np.ndarray, least: float) -> Infeasible:
        """The error of budgets that cannot be kept, with the largest excess of a single one that is quickly proved."""
        used = np.flatnonzero(multipliers).tolist()
        assert self.answer is not None
        assert self.answer.multipliers is not None
        assert self.extension is not None
        m = self.answer.multipliers
        cuts = {name for name, rows in self.cut_rows.items() if m[rows].any()}
        names = sorted({self.budgets[i].name for i in used} | cuts)
        if len(names) > 1:
            return together(names)
        (i,) = used
        budget, least = self.budgets[i], least / float(multipliers[i])
        with suppress(SolverError, Infeasible):
            for _ in range(SHARPER):
                (priced,) = self._priced(multipliers)
                least = max(least, least_excess(self.extension.form.hard, [priced._replace(price=1.0)]))
                excess = budget.spent(np.maximum(self._counts, 0.0)) - budget.limit
                if excess - least <= SHARP * (least + budget.magnitude):
                    break
                multipliers = multipliers * STEEPER
                self.solve(multipliers)
        return unattainable(budget.name, self.written[budget.name], budget.excess(budget.limit + least))

    def replace_cuts(self, new: Sequence[AddedRows]) -> None:
        """Add cuts, and leave out inactive ones: the entropy falls with every round, so that none comes back."""
        if self.answer is not None and self.answer.multipliers is not None and self.extension is not None:
            m, places = self.answer.multipliers, self.extension.added
            self.cuts = [cut for cut in self.cuts if m[places["cut", cut]].any()]
        self.cuts = [*self.cuts, *new]

    def projected(self, x: np.ndarray) -> np.ndarray:
        """The point near x that satisfies the hard rows of the last problem up to their last places; x if none does.

        Rows at the kinks of their costs are met, too: there what is spent is known up to rounding only.
        """
        assert self.extension is not None
        assert self.reduced is not None
        form = self.extension.form
        low, high = form.low, form.high
        if form.penalties is not None:
            value, is_soft = form.matvec(x), np.arange(form.shape[0]) >= form.n_hard
            is_absolute = is_soft.copy()
            is_absolute[form.n_hard :] = (form.penalties.variance == 0) & ~form.penalties.is_divergence
            side = np.where(np.abs(value - form.low) <= np.abs(value - form.high), form.low, form.high)
            at_kink = is_absolute & (np.abs(value - side) <= KINK)
            low = np.where(at_kink, side, np.where(is_soft, -np.inf, form.low))
            high = np.where(at_kink, side, np.where(is_soft, np.inf, form.high))
        near = project(replace(form, low=low, high=high, penalties=None), x, self.reduced.fixed)
        return x if near is None else near

    def _reduced(self, posed: Problem, extension: Extension) -> Reduced:
        """Presolve; where only the costs of soft rows differ from the last problem, its reduction serves again."""
        before, form = self.extension, extension.form
        if self.reduced is None or before is None or before.form.shape != form.shape or form.penalties is None:
            return presolved(posed, self.request.backend)
        same = before.form.n_hard == form.n_hard and np.array_equal(before.form.weights, form.weights)
        if not same or [*before.added] != [*extension.added]:
            return presolved(posed, self.request.backend)
        return self.reduced.with_penalties(form.penalties, form.n_hard)

    def _start(self, extension: Extension) -> np.ndarray:
        """Multipliers to start from: those of the last answer, and 0 for new rows."""
        start = np.zeros(extension.form.shape[0])
        if self.answer is None or self.extension is None or self.answer.multipliers is None:
            start[extension.original] = self.request.start
            return start
        start[extension.original] = self.answer.multipliers[self.extension.original]
        before = self.extension.added
        for key in before.keys() & extension.added.keys():
            start[extension.added[key]] = self.answer.multipliers[before[key]]
        return start

    def _in_the_users_words(self, error: Infeasible) -> Infeasible:
        """A contradiction between cuts as one between the constraints that they are of."""
        cut = sorted({row.name for row in self.cuts if repr(row.name) in str(error)})
        if not cut:
            return error
        return together(cut)

    def temperature(self, multipliers: np.ndarray) -> float:
        """1 and the temperatures of all divergences that are about every term, by which the objective is divided."""
        balls = [(budget.ball, t) for budget, t in zip(self.budgets, multipliers.tolist(), strict=True)]
        return 1 + sum(t * ball[0] for ball, t in balls if ball is not None)

    def _extended(self, multipliers: np.ndarray) -> Extension:
        """The rows of the problem, the cuts, and the costs of the budgets, all divided by the temperature.

        A divergence of every term, t sum (x log(x / T) - x + T), changes the weights of the objective: with the
        temperature 1 + t it is (1 + t) sum x log(w' / x), where log w' - 1 = (log w - 1 + t log T) / (1 + t).
        """
        form, temperature = self.problem.form, self.temperature(multipliers)
        added: dict[Hashable, AddedRows] = {("free", i): budget.cost_free_rows for i, budget in enumerate(self.free)}
        log_weights = np.log(form.weights) - 1
        for number, (budget, t) in enumerate(zip(self.budgets, multipliers.tolist(), strict=True)):
            if budget.zeros.shape[0]:
                none = np.zeros(budget.zeros.shape[0])
                added["zeros", number] = AddedRows(budget.zeros, none, none.copy(), budget.name)
            if t == 0:
                continue
            log_weights = log_weights - t * budget.linear
            if budget.ball is not None:
                log_weights = log_weights + t * budget.ball[0] * np.log(budget.ball[1])
                continue
            costs = budget.penalties.times(t / temperature)
            added["costs", number] = AddedRows(budget.matrix, budget.low, budget.high, budget.name, costs)
        added.update({("cut", cut): cut for cut in self.cuts})
        weights = form.weights
        if any(
            t > 0 and (priced_budget.ball or priced_budget.linear.any())
            for priced_budget, t in zip(self.budgets, multipliers, strict=True)
        ):
            weights = np.exp(log_weights / temperature + 1)
        if form.penalties is not None and temperature != 1:
            form = replace(form, penalties=form.penalties.times(1 / temperature))
        return extended(form, added, weights)

    @property
    def cut_rows(self) -> dict[str, np.ndarray]:
        """The rows of the last problem that are cuts of each constraint, by its name."""
        assert self.extension is not None
        rows: dict[str, np.ndarray] = {}
        for cut in self.cuts:
            added = self.extension.added["cut", cut]
            rows[cut.name] = np.concatenate([rows.get(cut.name, added[:0]), added])
        return rows

    def at_tangents(self, multipliers: np.ndarray, tangents: Sequence[AddedRows]) -> None:
        """Replace all cuts of the last problem by one tangent a constraint, which takes the multipliers of its cuts.

        Near the answer the tangent of a smooth constraint is the same as its cuts to first order, and is not violated
        to second order where they are.
        """
        assert self.answer is not None
        assert self.answer.multipliers is not None
        assert self.extension is not None
        before, m = self.extension, self.answer.multipliers
        total = {name: float(m[rows] @ before.form.scale[rows]) for name, rows in self.cut_rows.items()}
        self.cuts = list(tangents)
        self.extension = after = self._extended(multipliers)
        moved = np.zeros(after.form.shape[0])
        moved[after.original] = m[before.original]
        for key in before.added.keys() & after.added.keys():
            moved[after.added[key]] = m[before.added[key]]
        for cut in self.cuts:
            rows = after.added["cut", cut]
            moved[rows] = total.get(cut.name, 0.0) / after.form.scale[rows]
        self.answer = replace(self.answer, multipliers=moved, proofs=())

    def convex_multipliers(self, multipliers: np.ndarray) -> dict[str, ConvexMultipliers]:
        """The multipliers of all convex constraints at the last answer, and subgradients.

        At a kink of the left side not any subgradient will do. That of a budget is made of the multipliers of its
        rows, that of another constraint of the multipliers of its cuts.
        """
        assert self.answer is not None
        assert self.answer.multipliers is not None
        assert self.extension is not None
        m = self.answer.multipliers * self.temperature(multipliers)
        by_name, added, n_terms = {}, self.extension.added, len(self.problem.form.weights)
        for priced in self._priced(multipliers):
            # The price of the norm is that of its square times the derivative of the square.
            by = 1.0 if priced.budget.norm is None else 2 * math.sqrt(priced.budget.limit) / priced.budget.norm
            gradient = (priced.budget.matrix.T @ priced.slopes + priced.budget.linear) / by
            by_name[priced.budget.name] = ConvexMultipliers(np.array([priced.price * by]), sp.csr_array(gradient[None]))
        for budget in self.free:
            t = np.array([budget.multiplier_of_nothing])
            by_name[budget.name] = ConvexMultipliers(t, budget.cost_free_rows.matrix)
        for name in dict.fromkeys(cut.name for cut in self.cuts):
            cuts = [cut for cut in self.cuts if cut.name == name]
            places = np.concatenate([added["cut", cut] for cut in cuts])
            entries = np.concatenate([cut.entries for cut in cuts if cut.entries is not None])
            n_entries = self.written[name].expr.size
            t = np.bincount(entries, -m[places] * self.extension.form.scale[places], n_entries)
            sums = sp.csr_array((-m[places], (entries, np.arange(len(entries)))), shape=(n_entries, len(entries)))
            total = sums @ sp.csr_array(sp.vstack([cut.matrix for cut in cuts], format="csr"))
            by_name[name] = ConvexMultipliers(t, sp.csr_array(sp.diags_array(1 / np.where(t > 0, t, 1.0)) @ total))
        for name in self.written.keys() - by_name.keys():
            n_entries = self.written[name].expr.size
            by_name[name] = ConvexMultipliers(np.zeros(n_entries), sp.csr_array((n_entries, n_terms)))
        return by_name

    def allowances(self, multipliers: np.ndarray) -> list[Allowance]:
        """The budgets for the certificate of the last answer."""
        assert self.extension is not None
        places = self.extension.added
        return [
            Allowance(
                replace(LinearForm.plain(budget.matrix, budget.low, budget.high), penalties=budget.penalties),
                budget.linear, budget.limit, budget.magnitude, t, places.get(("costs", number), np.empty(0, dtype=np.int64)),
                budget.error,
            )
            for number, (budget, t) in enumerate(zip(self.budgets, multipliers.tolist(), strict=True))
        ]  # fmt: skip


def together(names: Sequence[str]) -> Infeasible:
    """The error of constraints that cannot hold with everything else."""
    return Infeasible(
        f"no distribution satisfies {' and '.join(map(repr, names))} together with everything else that is known; "
        f"relax {'it' if len(names) == 1 else 'one of them'}, or remove it"
    )


#: The conic solver that shows where the first cuts are made.
INTERIOR_POINT = SOLVERS["CLARABEL"]


def solve_convex(problem: Problem, request: Request) -> Solution:
    """Solve a problem with convex constraints."""
    convex = problem.convex
    assert convex is not None
    budgets, others, free = [], [], []
    for name, constraint in convex.by_name:
        budget = read_budget(constraint.expr, convex.variable, name)
        if budget is None:
            others.append((name, constraint))
            continue
        budget = budget.without_totals(problem.groups)
        if budget.is_free_only:
            free.append(budget)
        else:
            budgets.append(budget)
    if len(budgets) > 1:
        _require_attainable_together(problem, budgets, request)
        if problem.form.shape[1] <= LARGEST_CONIC:
            # Budgets that oppose each other are settled slowly one after the other; tangents settle them at once.
            names = {budget.name for budget in free}
            with suppress(SolverError, Infeasible):
                all_others = [(name, one) for name, one in convex.by_name if name not in names]
                solution = _solved(problem, request, [], free, all_others)
                if solution.certificate.bound <= PRECISE:
                    return solution
    return _solved(problem, request, budgets, free, others)


def _solved(
    problem: Problem,
    request: Request,
    budgets: Sequence[Budget],
    free: Sequence[Budget],
    others: Sequence[tuple[str, Any]],
) -> Solution:
    """Solve a problem by the multipliers of budgets, and by cuts in place of all other constraints."""
    convex = problem.convex
    assert convex is not None
    lagrangian = Lagrangian(
        replace(problem, convex=None), budgets, request, convex.variable, dict(convex.by_name), free
    )
    multipliers = np.zeros(len(budgets))
    if others:
        lagrangian.cuts = _first_cuts(problem, others, request)
    x = lagrangian.solve(multipliers)
    solutions: list[Solution] = []
    for resolved in RESOLVED:  # the more exactly, the more cuts are alike
        x = _settled(lagrangian, multipliers, others, x, resolved * problem.n_records)
        solutions.append(_certified(copy.copy(lagrangian), multipliers, problem, others, request))
        if not others or solutions[-1].certificate.bound <= PRECISE:
            break
    return min(solutions, key=lambda solution: solution.certificate.bound)


def _require_attainable_together(problem: Problem, budgets: Sequence[Budget], request: Request) -> None:
    """Raise if several budgets contradict each other: the search for one multiplier after the other would not end soon."""
    convex, form = problem.convex, problem.form.hard
    assert convex is not None
    if form.shape[1] > LARGEST_CONIC or not INTERIOR_POINT.installed:
        return
    written, seconds = dict(convex.by_name), request.monitor.seconds_left
    _, x, prices = least_violation(form, convex, [written[other.name] for other in budgets], seconds)
    if x is None:
        return
    x, priced = np.maximum(x, SMALLEST_COUNT), []
    for budget, price in zip(budgets, prices, strict=True):
        if price <= SETTLED:  # the prices add up to 1
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
        raise together([other.budget.name for other in priced])


def _first_cuts(problem: Problem, others: Sequence[tuple[str, Any]], request: Request) -> list[AddedRows]:
    """Tangents where a conic solver finds the solution, or else the least violation: few further cuts are needed.

    Every tangent of a convex function is a valid cut, however inexact the point.
    """
    convex, form = problem.convex, problem.form
    assert convex is not None
    if form.shape[1] > LARGEST_CONIC or not INTERIOR_POINT.installed:
        return []
    monitor = request.monitor.quietly()
    x = INTERIOR_POINT.solve(form, convex=convex, monitor=monitor).counts
    if x is None or not np.isfinite(x).all():
        x = least_violation(form.hard, convex, [constraint for _, constraint in others], monitor.seconds_left)[1]
    if x is None:
        return []
    with suppress(SolverError):  # cuts at other points may have gradients
        return [tangent(constraint, convex.variable, np.maximum(x, 0.0), name) for name, constraint in others]
    return []


def _settled(
    lagrangian: Lagrangian,
    multipliers: np.ndarray,
    others: Sequence[tuple[str, Any]],
    x: np.ndarray,
    smallest: float,
) -> np.ndarray:
    """Spend one budget after the other and make cuts, until nothing changes; return the counts."""
    assert lagrangian.variable is not None
    furthest = math.inf
    for _ in range(ROUNDS):  # then the certificate says how good the last answer is
        before = multipliers.copy()
        for i, budget in enumerate(lagrangian.budgets):
            x = _spend(lagrangian, multipliers, i, budget, x)
        new = [
            cut for name, constraint in others for cut in cuts_at(constraint, lagrangian.variable, x, name, smallest)
        ]
        settled = len(multipliers) < 2 or np.allclose(multipliers, before, rtol=SETTLED, atol=0)
        last, furthest = furthest, max((cut.violation for cut in new), default=0.0)
        # Rounding prevents any progress.
        stalls = furthest > last / 2 and furthest <= STALLED * lagrangian.problem.n_records
        if settled and (not new or stalls):
            break
        lagrangian.replace_cuts(new)
        x = lagrangian.solve(multipliers)
    return x


def _spend(lagrangian: Lagrangian, multipliers: np.ndarray, i: int, budget: Budget, x: np.ndarray) -> np.ndarray:
    """Find the multiplier of one budget, the others being held; it is changed in place. Return the counts."""
    tolerance, n = max(ROOT * budget.magnitude, budget.rounding(x)), lagrangian.problem.n_records
    start = multipliers[i] or n / max(abs(budget.spent(x)), budget.magnitude) * FIRST
    if multipliers[i]:  # what was found last for the others may keep it without a multiplier
        multipliers[i] = 0.0
        x = lagrangian.solve(multipliers)
    if budget.spent(x) <= budget.limit + tolerance:
        return x
    tried: dict[float, np.ndarray] = {}
    if budget.spent(x) - budget.limit <= FEASIBLE * budget.magnitude:
        # Perhaps the other rows determine what is spent, and the limit is that but for rounding.
        multipliers[i] = DOUBTFUL * start
        change = budget.spent(lagrangian.solve(multipliers)) - budget.spent(x)
        if abs(change) <= FIXED * budget.magnitude:
            multipliers[i] = 0.0
            return lagrangian.solve(multipliers)

    def excess(t: float) -> float:
        multipliers[i] = t
        tried[t] = lagrangian.solve(multipliers)
        lagrangian.check_attainable(multipliers, thoroughly=t > DOUBTFUL * start)
        if abs(budget.spent(tried[t]) - budget.limit) <= NEAR * budget.magnitude:
            tried[t] = lagrangian.projected(tried[t])  # where the certificate is about
        return budget.spent(tried[t]) - budget.limit

    t, value = decreasing_root(
        excess,
        start,
        tolerance,
        WIDTH,
        LARGEST * n / budget.magnitude,
        EVALUATIONS,
    )
    if multipliers[i] != t:
        multipliers[i] = t
        tried[t] = lagrangian.solve(multipliers)
    if value > UNATTAINABLE * budget.magnitude:
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
    if not certificate.bound <= PRECISE and multipliers.any():
        before = lagrangian.answer
        assert before is not None
        assert before.counts is not None
        lagrangian.answer = replace(before, counts=lagrangian.projected(np.maximum(before.counts, 0.0)))
        nearer = _certificate(lagrangian, multipliers, problem, others)
        if nearer.bound < certificate.bound:
            certificate = nearer
        else:
            lagrangian.answer = before
    if (
        lagrangian.cuts
        and not certificate.bound <= PRECISE
        and all(constraint.expr.size == 1 for _, constraint in others)
    ):
        assert lagrangian.answer is not None
        assert lagrangian.answer.counts is not None
        with_cuts = copy.copy(lagrangian)
        at = np.maximum(lagrangian.answer.counts, 0.0)
        active = set(lagrangian.cut_rows)
        tangents = [tangent(constraint, convex.variable, at, name) for name, constraint in others if name in active]
        lagrangian.at_tangents(multipliers, tangents)
        at_tangents = _certificate(lagrangian, multipliers, problem, others)
        lagrangian = lagrangian if at_tangents.bound < certificate.bound else with_cuts
        certificate = min(at_tangents, certificate, key=lambda candidate: candidate.bound)
    answer, extension = lagrangian.answer, lagrangian.extension
    assert answer is not None
    assert answer.multipliers is not None
    assert extension is not None
    of_problem = replace(
        answer,
        multipliers=answer.multipliers[extension.original] * lagrangian.temperature(multipliers),
        proofs=[proof[extension.original] for proof in answer.proofs],
        iterations=lagrangian.iterations,
        log=lagrangian.log,
        convex=lagrangian.convex_multipliers(multipliers),
        status=Status.OPTIMAL if certificate.holds else answer.status,
    )
    return Solution(of_problem, certificate, request.backend.name)


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


# The elastic relaxation of rows and convex constraints.


#: Relative to a move: by how much more a side is moved than the least, so that some distribution satisfies all strictly.
MARGIN = 1e-4
#: Records: a smaller violation of a row by a conic solver's answer is its rounding error, and the least margin.
MOVED = 1e-6


class ConvexRelaxation(NamedTuple):
    """By how much each row is lowered and raised, records, and each entry of each convex constraint, in its unit."""

    below: np.ndarray
    above: np.ndarray
    convex: list[np.ndarray]


def elastic_convex_relaxation(problem: Problem, of_rows: np.ndarray, of_convex: np.ndarray) -> ConvexRelaxation:
    """Minimise the weighted sum of violations of knowledge and convex constraints, subject to the hard constraints.

    `of_rows` are the weights of a record for each row of knowledge, `of_convex` those of a unit for each convex
    constraint; what has an infinite weight is kept. A conic program by CLARABEL; what moves is moved by a margin more.
    """
    import cvxpy as cp

    form, convex = problem.hard.form, problem.convex
    assert convex is not None
    unit, n_known = form.count_scale, form.shape[0] - form.n_facts
    counts = cp.multiply(unit, cp.Variable(form.shape[1], nonneg=True))
    sides = [cp.Variable(n_known, nonneg=True) for _ in range(2)]
    firm = np.isinf(of_rows)
    place = sp.csr_array(
        (np.ones(n_known), (np.arange(form.n_facts, form.shape[0]), np.arange(n_known))), (form.shape[0], n_known)
    )
    value = form.matrix @ counts + place @ (sides[0] - sides[1])
    rows = [
        RELATE[relation](value[at], (form.high if relation == "<=" else form.low)[at])
        for relation, at in by_relation(form.low, form.high)
    ]
    rows += [side[np.flatnonzero(firm)] == 0 for side in sides if firm.any()]
    slacks = [cp.Variable(constraint.expr.size, nonneg=True) for constraint in convex.constraints]
    for constraint, slack, weight in zip(convex.constraints, slacks, of_convex, strict=True):
        expression = cp.vec(constraint.expr.tree_copy({id(convex.variable): counts}), order="F")
        rows.append(expression <= (slack if math.isfinite(weight) else 0))
    largest = max([1.0, *of_rows[~firm], *of_convex[np.isfinite(of_convex)]])
    cost = (np.where(firm, 0.0, of_rows) / largest) @ (sides[0] + sides[1])
    cost += sum(w / largest * cp.sum(s) for w, s in zip(of_convex, slacks, strict=True) if math.isfinite(w))
    conic = cp.Problem(cp.Minimize(cost), rows)
    backend = CvxpyBackend("CLARABEL", {}, ("time_limit",))
    options = limited(backend.options_with({}), backend.seconds, seconds_left())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            conic.solve(solver=backend.name, **options)
        except cp.error.SolverError as error:
            raise SolverError(f"CLARABEL did not relax the convex constraints: {error}") from None
    check_time()
    if conic.status == "infeasible":
        raise Infeasible("what must not move contradicts itself")
    if conic.status not in ("optimal", "optimal_inaccurate"):
        raise SolverError(f"CLARABEL did not relax the convex constraints: its status is {conic.status}")

    def with_margin(moves: Any, least: Any) -> np.ndarray:
        moves = np.atleast_1d(np.asarray(moves, dtype=float))
        return np.where(moves > least, moves * (1 + MARGIN) + least, 0.0)

    below, above = (np.zeros(form.shape[0]) for _ in range(2))
    for moved, side in zip((below, above), sides, strict=True):
        moved[form.n_facts :] = np.where(firm, 0.0, with_margin(side.value, MOVED))
    return ConvexRelaxation(
        below, above,
        [
            with_margin(slack.value, MOVED / problem.n_records) if math.isfinite(weight) else np.zeros(slack.size)
            for slack, weight in zip(slacks, of_convex, strict=True)
        ],
    )  # fmt: skip


# Contradictions that involve convex constraints: an irreducible set, and by how far each statement is missed.


def conflict_table(problem: Problem) -> pd.DataFrame | None:
    """Tabulate an irreducible contradiction of the hard rows and convex constraints, as :class:`.Conflict` has it.

    Of a convex constraint the table has the side as typed, and the least value of its left side (the largest one of its
    right side, if that is the expression) where the others hold. None if no contradiction is proved.
    """
    of_rows_alone, convex = conflict(problem.hard), problem.convex
    if of_rows_alone is not None:
        return of_rows_alone.table
    if convex is None:
        return None
    hard, n = problem.hard, problem.form.n_hard
    items = np.arange(hard.form.n_facts, n + len(convex.constraints))

    def infeasible(subset: np.ndarray) -> bool:
        return _is_infeasible(_with_items(hard, subset))

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
    """Keep some rows of knowledge and convex constraints; these are numbered after the rows."""
    n, convex = problem.form.shape[0], problem.convex
    assert convex is not None
    constraints = [convex.by_name[item - n] for item in np.sort(items[items >= n]).tolist()]
    remaining = (
        Convex(convex.variable, [constraint for _, constraint in constraints], [name for name, _ in constraints])
        if constraints
        else None
    )
    rows = problem.form.select_knowledge(np.sort(items[items < n]))
    return Problem(rows, problem.closed_form, problem.groups, remaining)


def _is_infeasible(problem: Problem) -> bool:
    """Whether a contradiction is proved."""
    return conflict(problem) is not None if problem.convex is None else refuted(problem) is not None


def refuted(problem: Problem) -> Infeasible | None:
    """The error of constraints that no point satisfies; None if there is no proof."""
    if problem.convex is None:
        return contradiction(problem)
    try:
        solve_convex(problem.hard, Request(NEWTON, problem.hard.start))
    except Infeasible as error:
        return error
    except NotDecided:  # the time is over
        raise
    except SolverError:
        return None
    return None


def _line(problem: Problem, others: np.ndarray, item: int) -> tuple[str, float, float, float, float]:
    """The name of a row or constraint, its sides as typed, and its least and largest value where the others hold."""
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
    ends = (
        least_violation(rest.form, constraints, [value <= 0])[0],
        -least_violation(rest.form, constraints, [-value <= 0])[0],
    )
    sides = np.array([form.low[item], form.high[item], *ends])
    low, high, least, most = ((sides + form.shift[item]) / form.scale[item] + 0.0).tolist()
    return form.name(item), low, high, least, most
