"""Intervals beside estimates: what could be true at all, whatever anybody deems likely."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import from_on, label, percent, probability, share
from ..tables import group_cells, group_columns
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
    counted = counted_values(case)[s]
    order = np.flatnonzero(counted & (high - low > NEAR))
    order = order[np.argsort(-estimate[order], kind="stable")]
    index = view.quasi_identifiers
    rows = [
        [
            *group_cells(index, int(q[at])), Cell(label(view.sensitive_values[s[at]])),
            probability(estimate[at], case.exact),
            Cell(_ends(low[at], high[at]), estimate[at], low[at], high[at]),
        ]
        for at in order[: case.asked.rows]
    ]  # fmt: skip
    columns = [
        *group_columns(index), Column(case.sa), Column("Estimate", "number"), Column("What is possible", "range")
    ]  # fmt: skip
    table = Table("Estimates, and the interval that each lies in", columns, rows, len(order), "the largest estimates")
    fixed = int(counted.sum()) - len(order)
    return [*_sentences(case, low[counted], high[counted], q[counted]), _fixed(fixed, len(order)), table]


def _fixed(fixed: int, left: int) -> Paragraph:
    """Say of how many probabilities only one value is possible."""
    if not fixed:
        return Paragraph(f"Of each of the {left:,} probabilities more than one value is possible.")
    return Paragraph(
        f"Of {fixed:,} of {fixed + left:,} probabilities only one value is possible, mostly 0; the others are below."
    )


def _sentences(case: Case, low: np.ndarray, high: np.ndarray, q: np.ndarray) -> list[Block]:
    """How many people reach the threshold for sure, and how many could."""
    n_q, at = np.asarray(case.view.n_q), case.asked.threshold
    sure, could = (int(n_q[np.unique(q[ends >= at - case.exact])].sum()) for ends in (low, high))
    total = int(n_q.sum())
    words = (
        "An estimate is the adversary's best guess; the interval is what everything that is known permits. For "
        f"{share(sure, total)}, some value has a probability of {from_on(at)} in any case; for "
        f"{share(could, total)}, one could have it in the eyes of somebody who knows more. How usual the value is, is "
        "not considered here."
    )
    return [Paragraph(words)]


def _ends(low: float, high: float) -> str:
    """Write an interval."""
    one, other = percent(low), percent(high)
    return f"{one} to {other}" if one != other else f"about {one}"


def _positions(index: pd.Index, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the QI tuple and of the value of each row."""
    view, n = case.view, len(case.view.qi)
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    tuples = pd.MultiIndex.from_arrays(levels[:n])
    values = levels[n] if len(levels) == n + 1 else pd.MultiIndex.from_arrays(levels[n:])
    return view.quasi_identifiers.get_indexer(tuples), view.sensitive_values.get_indexer(values)
