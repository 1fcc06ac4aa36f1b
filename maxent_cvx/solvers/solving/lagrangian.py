"""A problem with convex constraints as problems of rows: budgets by their multipliers, other constraints by cuts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Infeasible, SolverError
from ..answer import Answer, Status
from ..certificate.allowance import Allowance
from ..certificate.projection import project
from ..convex.attainable import Priced, least_excess, unattainable
from ..convex.budget import Budget
from ..parameters.tolerances import ATTEMPTS, CONVEX_CONSTRAINTS
from ..presolve.reduced import Reduced
from ..program.extension import AddedRows, Extension, extended
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from .attempt import Attempt, answered
from .attempts import attempts
from .presolving import presolved
from .request import Request

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Lagrangian", "together"]


@dataclass
class Lagrangian:
    """The problem whose objective holds the costs of budgets at given multipliers, and whose rows hold all cuts.

    Attributes
    ----------
    problem : Problem
        Without its convex constraints.
    budgets : sequence of Budget
    request : Request
    variable : Variable, optional
        All counts, which the convex constraints are on.
    written : mapping of str to constraint
        Every convex constraint by its name, as written.
    free : sequence of AddedRows
        Hard rows in place of budgets of nothing.
    cuts : list of AddedRows
        Hard rows that every feasible point satisfies.
    answer, extension, reduced : Answer, Extension, Reduced or None
        Of the problem that was solved last.
    iterations : int
        Of all problems together.
    log : list of dict
        A line a problem of rows that was solved.
    """

    problem: Problem
    budgets: Sequence[Budget]
    request: Request
    variable: cp.Variable | None = None
    written: Mapping[str, Any] = field(default_factory=dict)
    free: Sequence[AddedRows] = ()
    cuts: list[AddedRows] = field(default_factory=list)
    answer: Answer | None = None
    extension: Extension | None = None
    reduced: Reduced | None = None
    iterations: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)

    def solve(self, multipliers: np.ndarray) -> np.ndarray:
        """Solve at some multipliers of the budgets, one each, beginning with the last answer; return the counts.

        Raises
        ------
        Infeasible
            If the rows and cuts contradict each other.
        SolverError
            If there is no answer.
        """
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
        found: list[Attempt] = []
        for one in attempts(posed, request):
            found.append(one)
            if one.bound <= ATTEMPTS.precise:
                break
        return min(found, key=lambda one: one.bound).solution.answer

    def check_attainable(self, multipliers: np.ndarray, *, thoroughly: bool) -> None:
        """Raise if the last answer proves that no x keeps the budgets that have multipliers.

        Parameters
        ----------
        multipliers : ndarray, one a budget
            Those of the last answer.
        thoroughly : bool
            Whether to solve a linear program where the multipliers of the answer prove nothing.

        Raises
        ------
        Infeasible
        """
        answer, extension = self.answer, self.extension
        if answer is None or extension is None or not multipliers.any():
            return
        assert answer.multipliers is not None
        hard, temperature = extension.form.hard, self.temperature(multipliers)
        own = answer.multipliers[: extension.form.n_hard] * temperature
        priced = self._priced(multipliers)
        least = least_excess(hard, priced, hard.project_to_dual_cone(own))
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
        x, found = np.maximum(self._counts, 0.0), []
        for number, (budget, t) in enumerate(zip(self.budgets, multipliers.tolist(), strict=True)):
            if t == 0:
                continue
            places = self.extension.added.get(("costs", number))
            if places is None:
                slopes = -budget.penalties.multiplier(budget.low, budget.high, budget.matrix @ x)
            else:
                slopes = -self.answer.multipliers[places] * self.temperature(multipliers) / t
            found.append(Priced(budget, t, slopes))
        return found

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
            for _ in range(CONVEX_CONSTRAINTS.sharper):
                (one,) = self._priced(multipliers)
                least = max(least, least_excess(self.extension.form.hard, [one._replace(price=1.0)]))
                excess = budget.spent(np.maximum(self._counts, 0.0)) - budget.limit
                if excess - least <= CONVEX_CONSTRAINTS.sharp * (least + budget.magnitude):
                    break
                multipliers = multipliers * CONVEX_CONSTRAINTS.steeper
                self.solve(multipliers)
        return unattainable(budget.name, self.written[budget.name], budget.excess(budget.limit + least))

    def replace_cuts(self, new: Sequence[AddedRows]) -> None:
        """Add cuts, and leave out inactive ones: the entropy falls with every round, so that none comes back."""
        if self.answer is not None and self.answer.multipliers is not None and self.extension is not None:
            m, places = self.answer.multipliers, self.extension.added
            self.cuts = [cut for cut in self.cuts if m[places["cut", cut]].any()]
        self.cuts = [*self.cuts, *new]

    def projected(self, x: np.ndarray) -> np.ndarray:
        """The point near x that satisfies the hard rows of the last problem up to their last places; x if none does."""
        assert self.extension is not None
        assert self.reduced is not None
        near = project(self.extension.form.hard, x, self.reduced.fixed)
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
        cut = sorted({one.name for one in self.cuts if repr(one.name) in str(error)})
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
        added: dict[Hashable, AddedRows] = {("free", number): rows for number, rows in enumerate(self.free)}
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
        if any(t > 0 and (one.ball or one.linear.any()) for one, t in zip(self.budgets, multipliers, strict=True)):
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
            own = self.extension.added["cut", cut]
            rows[cut.name] = np.concatenate([rows.get(cut.name, own[:0]), own])
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
        found = np.zeros(after.form.shape[0])
        found[after.original] = m[before.original]
        for key in before.added.keys() & after.added.keys():
            found[after.added[key]] = m[before.added[key]]
        for cut in self.cuts:
            rows = after.added["cut", cut]
            found[rows] = total.get(cut.name, 0.0) / after.form.scale[rows]
        self.answer = replace(self.answer, multipliers=found, proofs=())

    def allowances(self, multipliers: np.ndarray) -> list[Allowance]:
        """The budgets for the certificate of the last answer."""
        assert self.extension is not None
        places = self.extension.added
        return [
            Allowance(
                replace(LinearForm.plain(one.matrix, one.low, one.high), penalties=one.penalties),
                one.linear, one.limit, one.magnitude, t, places.get(("costs", number), np.empty(0, dtype=np.int64)),
                one.error,
            )
            for number, (one, t) in enumerate(zip(self.budgets, multipliers.tolist(), strict=True))
        ]  # fmt: skip


def together(names: Sequence[str]) -> Infeasible:
    """The error of constraints that cannot hold with everything else."""
    return Infeasible(
        f"no distribution satisfies {' and '.join(map(repr, names))} together with everything else that is known; "
        f"relax {'it' if len(names) == 1 else 'one of them'}, or remove it"
    )
