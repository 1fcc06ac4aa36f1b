"""Intervals beside estimates: what could be true at all, whatever anybody deems likely."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import percent, probability, share
from ..tables import group_cells, group_columns
from .published import people_in
from .values import counted_values

__all__ = ["intervals"]

#: Ends of an interval that are nearer to each other are one value.
NEAR = 1e-6


def intervals(case: Case) -> list[Block]:
    """Put P(s | q) between the least and the largest value that everything known permits."""
    if case.intervals.value is None:
        return [Paragraph(f"Intervals are not given: {case.intervals.why}.", "missing")]
    ends, view = case.intervals.value, case.view
    q, s = _positions(ends.index, case)
    estimate = np.nan_to_num(case.post.conditional().to_numpy()[q, s])  # type: ignore[call-arg]
    low, high = ends["low"].to_numpy(), ends["high"].to_numpy()
    kept = counted_values(case)[s] & (high > case.exact)
    order = np.flatnonzero(kept)
    order = order[np.argsort(-estimate[order], kind="stable")]
    index = view.quasi_identifiers
    rows = [
        [
            *group_cells(index, int(q[at])), Cell(_value(case, int(s[at]))), probability(estimate[at], case.exact),
            Cell(_ends(low[at], high[at]), estimate[at], low[at], high[at]),
        ]
        for at in order[: case.asked.rows]
    ]  # fmt: skip
    columns = [
        *group_columns(index), Column(case.sa), Column("Estimate", "number"), Column("What is possible", "range")
    ]  # fmt: skip
    table = Table("Estimates, and the interval that each lies in", columns, rows, len(order), "the largest estimates")
    return [*_sentences(case, low[kept], high[kept], q[kept]), table]


def _sentences(case: Case, low: np.ndarray, high: np.ndarray, q: np.ndarray) -> list[Block]:
    """How many people reach the threshold for sure, and how many could."""
    n_q, at = np.asarray(case.view.n_q), case.asked.threshold
    reach = [
        int(n_q[np.unique(q[ends >= at - case.exact])].sum()) for ends in (low, high)
    ]  # people with a QI tuple of whom some value does
    total = people_in(case.view)
    words = (
        f"An estimate is the adversary's best guess; the interval is what everything that is known permits. "
        f"Of {share(reach[0], total)} a value has a probability of at least {percent(at)} in any case; of "
        f"{share(reach[1], total)} it can have, for somebody who knows more. The usual frequency of values is not "
        "considered here."
    )
    return [Paragraph(words)]


def _ends(low: float, high: float) -> str:
    """Write an interval."""
    one, other = percent(low), percent(high)
    return f"{one} to {other}" if one != other else f"{one}, nothing else" if high - low < NEAR else f"about {one}"


def _value(case: Case, s: int) -> str:
    """The name of a sensitive value."""
    value = case.view.sensitive_values[s]
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _positions(index: pd.Index, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the QI tuple and of the value of each row."""
    view, n = case.view, len(case.view.qi)
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    tuples = pd.MultiIndex.from_arrays(levels[:n])
    values = levels[n] if len(levels) == n + 1 else pd.MultiIndex.from_arrays(levels[n:])
    return view.quasi_identifiers.get_indexer(tuples), view.sensitive_values.get_indexer(values)
