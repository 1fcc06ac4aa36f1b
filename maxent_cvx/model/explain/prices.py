"""Shadow prices of statements, from their multipliers, and what changes without each of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...errors import Inaccurate, SolverError, StatementError, arguments
from ...solvers.explain import multipliers_beside, multipliers_from_counts
from ...solvers.program.linear_form import LinearForm
from ..measure import Measure, Measures
from ..solved_rows import solved_rows
from .solved import Solved, model_of, solved_without

__all__ = ["largest_first", "price_table", "prices_of"]


def price_table(
    post: Solved,
    leave_one_out: bool,
    measure: Measure | None,
    time_limit: float = math.inf,
    progress: bool | None = None,
) -> pd.DataFrame:
    """List the statements with their prices, see :meth:`maxent_cvx.Posterior.prices`."""
    arguments.flag(leave_one_out, "leave_one_out")
    arguments.seconds(time_limit, "time_limit")
    arguments.optional_flag(progress, "progress")
    entropy = Measures({"entropy": lambda posterior: posterior.entropy}, is_one=True)
    measures = entropy if measure is None else Measures.of(measure)
    model = model_of(post)
    if measure is not None and not leave_one_out:
        raise StatementError("measure= is what is measured without each statement: leave_one_out=True")
    if model.convex:
        raise SolverError("prices are of linear knowledge, and the model holds a convex constraint of your own")
    form = model.form
    multipliers = _multipliers(post, form)
    if np.isnan(multipliers[form.n_facts :]).any():
        raise Inaccurate(
            "the posterior has no multipliers to the precision that prices need; solve it with DUAL_NEWTON, "
            "or with polish=True"
        )
    table = prices_of(form, multipliers, post.space.n_records)
    if leave_one_out:
        known = np.arange(form.n_facts, form.shape[0])
        table = table.assign(**_left_out(post, known, table.index.to_list(), measures, time_limit, progress))
    return largest_first(table)


def prices_of(form: LinearForm, multipliers: np.ndarray, n_records: float) -> pd.DataFrame:
    """The prices of rows of knowledge, in their order, from the multipliers of all rows."""
    known = np.arange(form.n_facts, form.shape[0])
    price = -multipliers[known] * form.scale[known] / n_records + 0.0
    side = np.where(form.is_equation[known], "=", np.where(price < 0, ">=", np.where(price > 0, "<=", "")))
    side[form.n_hard - form.n_facts :] = "~"
    names = [form.name(row) for row in known.tolist()]
    return pd.DataFrame({"side": side, "price": price}, index=pd.Index(names, name="statement", dtype=object))


def largest_first(table: pd.DataFrame) -> pd.DataFrame:
    """The largest price first."""
    return table.iloc[np.argsort(-np.abs(table["price"].to_numpy()), kind="stable")]


def _multipliers(post: Solved, form: LinearForm) -> np.ndarray:
    """Multipliers of all rows: of soft rows the solver's, of hard rows those that belong to the counts beside them."""
    if form.penalties is None:
        return multipliers_from_counts(form, post.counts)
    found = form.transformed_multipliers(np.concatenate(list(post.multipliers.values())))
    return multipliers_beside(form, post.counts, found[form.n_hard :])


@dataclass(frozen=True)
class _Without:
    """What is solved again, by the number of the row that is left out."""

    post: Solved
    names: dict[int, str]
    measures: Measures
    time_limit: float

    def about(self, i: int) -> dict[str, Any]:
        """The statement."""
        return {"statement": self.names[i]}

    def solved(self, i: int, before: Any) -> Any:
        """What is inferred without it, begun with what is inferred with it."""
        return solved_without(self.post, i, self.time_limit)

    def measured(self, i: int, post: Any) -> dict[str, Any]:
        """Measure it."""
        return {"found": self.measures(post, f"without {self.names[i]!r}")}


def _left_out(
    post: Solved,
    known: np.ndarray,
    names: list[str],
    measures: Measures,
    time_limit: float,
    progress: bool | None,
) -> dict[str, np.ndarray]:
    """Measure without each statement in turn, and how that differs from with it; say where it could not be solved."""
    held, ruled_out = measures(post, "of all that is known"), model_of(post).ruled_out
    of_row = dict(zip(known.tolist(), names, strict=True))
    asked = [row for row in of_row if row not in ruled_out]  # what a prior rules out cannot be left out
    cases = _Without(post, of_row, measures, time_limit)
    solved = dict(zip(asked, solved_rows(cases, [[row] for row in asked], "without", progress=progress), strict=True))
    left = [solved.get(row, {}).get("found", {}) for row in of_row]
    columns = {}
    for key in dict.fromkeys([*held, *itertools.chain(*left)]):
        without = np.array([found.get(key, np.nan) for found in left])
        columns[measures.heading(key, "without")] = without
        with np.errstate(invalid="ignore"):  # what is infinite with and without a statement has not changed by a number
            columns[measures.heading(key, "change")] = without - held.get(key, np.nan)
    columns["message"] = np.array([solved.get(row, {}).get("message", "") for row in of_row], dtype=object)
    return columns
