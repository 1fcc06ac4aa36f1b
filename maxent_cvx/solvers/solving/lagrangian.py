"""A problem with convex constraints as problems of rows: budgets by their multipliers, other constraints by cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import Infeasible
from ..answer import Answer, Status
from ..certificate.allowance import Allowance
from ..convex.budget import Budget
from ..program.extension import AddedRows, Extension, extended
from ..program.problem import Problem
from .attempt import Attempt
from .attempts import attempts
from .request import Request

__all__ = ["Lagrangian"]


@dataclass
class Lagrangian:
    """The problem whose objective holds the costs of budgets at given multipliers, and whose rows hold all cuts.

    Attributes
    ----------
    problem : Problem
        Without its convex constraints.
    budgets : sequence of Budget
    request : Request
    cuts : list of AddedRows
        Hard rows that every feasible point satisfies.
    """

    problem: Problem
    budgets: Sequence[Budget]
    request: Request
    cuts: list[AddedRows] = field(default_factory=list)
    last: Attempt | None = None
    extension: Extension | None = None
    iterations: int = 0

    def solve(self, multipliers: np.ndarray) -> np.ndarray:
        """Solve at some multipliers of the budgets, one each, beginning with the last answer; return the counts."""
        extension = self._extended(multipliers)
        posed = self.problem.with_rows(extension.form)
        start = np.zeros(extension.form.shape[0])
        if self.last is None or self.extension is None:
            start[extension.original] = self.request.start
        else:
            known = min(len(self.extension.form.low), len(start))
            start[extension.original] = self._own(self.last.solution.answer)[self.extension.original]
            for now, before in zip(extension.added, self.extension.added, strict=False):
                if len(now) == len(before) and known:
                    start[now] = self._own(self.last.solution.answer)[before]
        request = replace(self.request, start=start)
        best = None
        try:
            for found in attempts(posed, request.at_full_precision()):
                best = found if best is None or found.bound <= best.bound else best
                if found.solved.status is Status.OPTIMAL or found.holds:
                    break
        except Infeasible as error:
            raise self._in_the_users_words(error) from None
        assert best is not None
        self.last, self.extension = best, extension
        self.iterations += best.solution.answer.iterations
        counts = best.solution.answer.counts
        assert counts is not None
        return np.maximum(counts, 0.0)

    def _in_the_users_words(self, error: Infeasible) -> Infeasible:
        """A contradiction between cuts as one between the constraints that they are of."""
        cut = sorted({repr(one.name) for one in self.cuts if repr(one.name) in str(error)})
        if not cut:
            return error
        return Infeasible(
            f"no distribution satisfies {' and '.join(cut)} together with everything else that is known; relax "
            f"{'it' if len(cut) == 1 else 'one of them'}, or remove it"
        )

    @staticmethod
    def _own(answer: Answer) -> np.ndarray:
        assert answer.multipliers is not None
        return answer.multipliers

    def _extended(self, multipliers: np.ndarray) -> Extension:
        """The rows of the problem, the cuts, and the costs of the budgets."""
        form, weights = self.problem.form, self.problem.form.weights
        added = []
        for budget, t in zip(self.budgets, multipliers.tolist(), strict=True):
            if budget.zeros.shape[0]:
                none = np.zeros(budget.zeros.shape[0])
                added.append(AddedRows(budget.zeros, none, none.copy(), budget.name))
            if t > 0:
                weights = weights * np.exp(-t * budget.linear) if budget.linear.any() else weights
                added.append(AddedRows(budget.matrix, budget.low, budget.high, budget.name, budget.penalties.times(t)))
        return extended(form, [*added, *self.cuts], weights)

    @property
    def cut_rows(self) -> dict[str, np.ndarray]:
        """The rows of the last problem that are cuts of each constraint, by its name."""
        assert self.extension is not None
        rows: dict[str, np.ndarray] = {}
        places = self.extension.added[len(self.extension.added) - len(self.cuts) :]
        for cut, own in zip(self.cuts, places, strict=True):
            rows[cut.name] = np.concatenate([rows.get(cut.name, own[:0]), own])
        return rows

    def allowances(self, multipliers: np.ndarray) -> list[Allowance]:
        """The budgets for the certificate of the last answer."""
        assert self.extension is not None
        soft = [rows for rows in self.extension.added if len(rows) and rows[0] >= self.extension.form.n_hard]
        active = [(budget, t) for budget, t in zip(self.budgets, multipliers.tolist(), strict=True) if t > 0]
        return [
            Allowance(rows, t * budget.linear, t * budget.limit, t * budget.magnitude)
            for rows, (budget, t) in zip(soft, active, strict=True)
        ]
