"""Prices: what each statement is worth, from its multiplier, and from doing without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ... import arguments
from ...errors import Inaccurate, SolverError
from ...solvers.diagnosis.multipliers import pricing
from ...system.progress import progress_bar
from .solved import Solved

__all__ = ["price_table"]


def price_table(post: Solved, leave_one_out: bool, measure: Callable[[Any], float] | None) -> pd.DataFrame:
    """List the statements with their prices, see :meth:`maxent_cvx.Posterior.prices`."""
    model = post.model
    if model.convex:
        raise SolverError("prices are of linear knowledge, and the model holds a convex constraint of your own")
    form = model.form
    known = np.arange(form.n_facts, form.shape[0])
    multipliers = pricing(form, post.counts)[known]
    if np.isnan(multipliers).any():
        raise Inaccurate(
            "the posterior has no multipliers to the precision that prices need; solve it with DUAL_NEWTON, "
            "or with polish=True"
        )
    price = -multipliers * form.scale[known] / post.space.n_records + 0.0
    side = np.where(form.is_equation[known], "=", np.where(price < 0, ">=", np.where(price > 0, "<=", "")))
    names = pd.Index([form.name(row) for row in known], name="statement")
    table = pd.DataFrame({"side": side, "price": price}, index=names)
    if leave_one_out:
        measured = _measured(measure)
        bar = progress_bar(known, "without")
        table["without"] = [
            np.nan if row in model.ruled_out else measured(model.without_row(int(row)).solve(warm_start=post))
            for row in bar
        ]
        table["change"] = table["without"] - measured(post)
    order = np.argsort(-np.abs(price), kind="stable")
    return table.iloc[order]


def _measured(measure: Callable[[Any], float] | None) -> Callable[[Any], float]:
    """What is measured; by default the entropy."""
    if measure is None:
        return lambda posterior: posterior.entropy
    return lambda posterior: arguments.measured(measure(posterior), "measure")
