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
    words = [*_sentences(case, low[counted], high[counted], q[counted]), _fixed(low[counted], high[counted])]
    if len(ends) < len(index) * len(view.sensitive_values):
        words.append(Paragraph("Values that nobody of a group can have by the release alone are left out.", "note"))
    if not rows:
        return words
    columns = [
        *group_columns(index), Column(case.sa), Column("Estimate", "number"), Column("What is possible", "range")
    ]  # fmt: skip
    table = Table("Estimates, and the interval that each lies in", columns, rows, len(order), "the largest estimates")
    return [*words, table]


def _fixed(low: np.ndarray, high: np.ndarray) -> Paragraph:
    """Say how many probabilities have one possible value, and how many of them are 0."""
    is_fixed = high - low <= NEAR
    n, fixed, zeros = len(low), int(is_fixed.sum()), int((is_fixed & (high <= NEAR)).sum())
    if not fixed:
        return Paragraph(f"Of each of the {n:,} probabilities more than one value is possible.")
    which = f"{zeros:,} of them {'is' if zeros == 1 else 'are'} 0" if zeros else "none of them is 0"
    others = f"; the table is about the other {n - fixed:,}" if fixed < n else ""
    return Paragraph(f"Of {fixed:,} of {n:,} probabilities only one value is possible ({which}){others}.")


def _sentences(case: Case, low: np.ndarray, high: np.ndarray, q: np.ndarray) -> list[Block]:
    """How many people reach the threshold for sure, and how many could."""
    n_q, at = np.asarray(case.view.n_q), case.asked.threshold
    sure, could = (int(n_q[np.unique(q[ends >= at - NEAR])].sum()) for ends in (low, high))
    total = int(n_q.sum())
    words = (
        "An estimate is the adversary's best guess for somebody who is known by the quasi-identifiers only. The "
        "interval contains every probability that the release and the statements permit. For "
        f"{share(sure, total)}, the smallest possible probability of some value is {from_on(at)}; for "
        f"{share(could, total)}, the largest possible probability of some value is {from_on(at)}. The baseline is not "
        "considered here."
    )
    more = (
        "Intervals do not bound what somebody infers who can tell people with the same quasi-identifiers apart, or who "
        "knows how the values of different people depend on each other: see the worst-case attack."
    )
    return [Paragraph(words), Paragraph(more, "note")]


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
