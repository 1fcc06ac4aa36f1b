"""Shadow prices of statements, from their multipliers, and what changes without each of them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from ...errors import Inaccurate, SolverError, StatementError, arguments
from ...solvers.diagnosis.multipliers import multipliers_from_counts
from ...solvers.program.linear_form import LinearForm
from ...system.progress import progress_bar
from ..measure import Measure, Measures
from .solved import Solved, model_of, solved_without

__all__ = ["price_table"]


def price_table(post: Solved, leave_one_out: bool, measure: Measure | None) -> pd.DataFrame:
    """List the statements with their prices, see :meth:`maxent_cvx.Posterior.prices`."""
    arguments.flag(leave_one_out, "leave_one_out")
    entropy = Measures({"entropy": lambda posterior: posterior.entropy}, is_one=True)
    measures = entropy if measure is None else Measures.of(measure)
    model = model_of(post)
    if measure is not None and not leave_one_out:
        raise StatementError("measure= is what is measured without each statement: leave_one_out=True")
    if model.convex:
        raise SolverError("prices are of linear knowledge, and the model holds a convex constraint of your own")
    form = model.form
    known = np.arange(form.n_facts, form.shape[0])
    multipliers = _multipliers(post, form)[known]
    if np.isnan(multipliers).any():
        raise Inaccurate(
            "the posterior has no multipliers to the precision that prices need; solve it with DUAL_NEWTON, "
            "or with polish=True"
        )
    price = -multipliers * form.scale[known] / post.space.n_records + 0.0
    side = np.where(form.is_equation[known], "=", np.where(price < 0, ">=", np.where(price > 0, "<=", "")))
    side[form.n_hard - form.n_facts :] = "~"
    names = [form.name(row) for row in known.tolist()]
    table = pd.DataFrame({"side": side, "price": price}, index=pd.Index(names, name="statement", dtype=object))
    if leave_one_out:
        table = table.assign(**_left_out(post, known, names, measures))
    order = np.argsort(-np.abs(price), kind="stable")
    return table.iloc[order]


def _multipliers(post: Solved, form: LinearForm) -> np.ndarray:
    """Multipliers of all rows: of soft rows the solver's, of hard rows those that belong to the counts beside them."""
    if form.penalties is None:
        return multipliers_from_counts(form, post.counts)
    soft = form.transformed_multipliers(np.concatenate(list(post.multipliers.values())))
    soft[: form.n_hard] = 0.0
    with np.errstate(under="ignore", over="ignore"):
        hard = replace(form.hard, weights=form.weights * np.exp(form.rmatvec(soft)))
    soft[: form.n_hard] = multipliers_from_counts(hard, post.counts)
    return soft


def _left_out(post: Solved, known: np.ndarray, names: list[str], measures: Measures) -> dict[str, np.ndarray]:
    """Measure without each statement in turn, and how that differs from with it."""
    held, ruled_out = measures(post, "of all that is known"), model_of(post).ruled_out
    left = [
        {}  # what a prior rules out is no statement that can be left out
        if row in ruled_out
        else measures(solved_without(post, int(row)), f"without {name!r}")
        for row, name in zip(progress_bar(known, "without"), names, strict=True)
    ]
    columns = {}
    for key in dict.fromkeys([*held, *itertools.chain(*left)]):
        without = np.array([found.get(key, np.nan) for found in left])
        columns[measures.heading(key, "without")] = without
        with np.errstate(invalid="ignore"):  # what is infinite with and without a statement has not changed by a number
            columns[measures.heading(key, "change")] = without - held.get(key, np.nan)
    return columns
