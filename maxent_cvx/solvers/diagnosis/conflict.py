"""Which rows of knowledge contradict each other: an irreducible set, and what each could be beside the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...errors import Infeasible, SolverError
from ..linear.bounds import linear_bounds
from ..linear.elastic import elastic_relaxation
from ..presolve.aggregation import aggregate
from ..presolve.reduce import reduce
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from ..tolerances import DIAGNOSIS, FEASIBILITY

__all__ = ["Conflict", "conflict", "irreducible"]

#: Statements that an error names.
MOST = 5


@dataclass(frozen=True, eq=False)
class Conflict:
    """Rows of knowledge that cannot hold together with the facts, while any of them can be spared.

    Attributes
    ----------
    rows : ndarray of int
    table : DataFrame
        A row each, by name: `low` and `high` as typed, `least` and `most` that it could be where the facts and
        the others hold, and the `move` that it would take, all in the unit of its value.
    is_published : bool
        Whether these are no knowledge, but published: releases that contradict each other.
    remedies : tuple of str
        What can be done about the rows, each once.
    """

    rows: np.ndarray
    table: pd.DataFrame
    is_published: bool = False
    remedies: tuple[str, ...] = ("correct it, or remove it",)

    @property
    def error(self) -> Infeasible:
        """Say it in one line; the error carries the table as its `conflict`."""
        moves = []
        for name, said in self.table.head(MOST).iterrows():
            if not said["move"] > 0:
                moves.append(repr(name))
                continue
            end = said["most"] if said["most"] < said["low"] else said["least"]
            digits = max(6, 4 - math.floor(math.log10(said["move"])))  # so that it can be told from what it was
            moves.append(f"{name!r} by {said['move']:.6g} to {end:.{digits}g}")
        n = len(self.table)
        what = "row" if self.is_published else "statement"
        who = f"one {what}" if n == 1 else f"of these {n} {what}s one"
        clash = "the knowledge contradicts the published data or itself"
        if self.is_published:
            clash = "what is published contradicts itself"
        remedy = "; or ".join(self.remedies)
        error = Infeasible(
            f"{clash}: {who} would have to move, {', or '.join(moves)}{f', ... ({n} in all)' * (n > MOST)}. "
            f"{remedy[0].upper()}{remedy[1:]}"
        )
        error.conflict = self.table
        return error


def conflict(problem: Problem, multiple: float = FEASIBILITY.multiple) -> Conflict | None:
    """Find an irreducible contradiction among the knowledge, and tell it; None if all rows can hold together.

    If what is published contradicts itself, as releases can, it is one among its rows.
    """
    form = problem.form
    try:
        rows = irreducible(problem, multiple)
    except Infeasible:  # that of facts
        rows = None
    if rows is not None:
        return _told(form, rows)
    if not np.isnan(problem.closed_form.counts).any():  # it satisfies what is published
        return None
    published = problem.with_rows(form.among(np.empty(0, dtype=int))).relax_published()
    rows = irreducible(published, multiple)
    return None if rows is None else replace(_told(published.form, rows), is_published=True)


def _told(form: LinearForm, rows: np.ndarray) -> Conflict:
    """Describe a contradiction; what can be done about a statement comes before what can be about a prior."""
    remedies = dict.fromkeys(form.remedy(row) for row in np.sort(rows)[::-1].tolist())
    return Conflict(rows, _table(form, rows), remedies=tuple(remedies))


def irreducible(problem: Problem, multiple: float = FEASIBILITY.multiple) -> np.ndarray | None:
    """Find rows of knowledge that cannot hold together, while any of them can be spared; None if all can hold.

    Facts, the published rows above all, are never to blame.

    Notes
    -----
    A linear program says which rows speak against each other, and how strongly. The strongest few that cannot
    hold together are taken, twice as many in each attempt, and from these those that are needed are found by
    halves (QuickXplain; Junker, 2004). Few rows tell few terms apart, so that these attempts cost little.
    """
    form = problem.form

    def contradictory(rows: np.ndarray) -> bool:
        return _contradictory(problem.with_rows(form.among(rows)), multiple)

    aggregation = aggregate(form)
    change = elastic_relaxation(aggregation.form)
    if not (change.off > multiple * aggregation.form.tolerance).any():
        return None
    speaks = np.abs(change.direction[aggregation.row])
    known = np.arange(form.n_facts, form.shape[0])
    order = known[np.argsort(-speaks[known], kind="stable")]
    n = 1
    while n < len(order) and not contradictory(order[:n]):
        n *= 2

    def needed(given: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Which of some rows are needed for a contradiction with given ones, which are none by themselves."""
        if len(rows) == 1:
            return rows
        first, last = np.array_split(rows, 2)
        more = np.append(given, first)
        of_last = last[:0] if contradictory(more) else needed(more, last)
        if len(of_last) and contradictory(with_last := np.append(given, of_last)):
            return of_last
        return np.append(needed(with_last if len(of_last) else given, first), of_last)

    return needed(order[:0], order[:n])


def _contradictory(problem: Problem, multiple: float) -> bool:
    """Whether no x satisfies the rows."""
    try:
        smaller = aggregate(reduce(problem).posed).form
        off = elastic_relaxation(smaller).off
        if not (off > DIAGNOSIS.clear * smaller.tolerance).any() and off.any():
            # What presolve has settled it has settled no more precisely than bounds are: the whole problem tells.
            smaller = aggregate(problem.form).form
            off = elastic_relaxation(smaller).off
    except Infeasible:
        return True
    return bool((off > multiple * smaller.tolerance).any())


def _table(form: LinearForm, rows: np.ndarray) -> pd.DataFrame:
    """What each row of a contradiction could be beside the others."""
    said = np.column_stack([form.low[rows], form.high[rows], [_range(form, row, rows[rows != row]) for row in rows]])
    said = (said + form.shift[rows, None]) / form.scale[rows, None] + 0.0
    table = pd.DataFrame(said, columns=["low", "high", "least", "most"])
    table["move"] = np.maximum(table["least"] - table["high"], table["low"] - table["most"])
    table.index = pd.Index([form.name(row) for row in rows], name="statement")
    return table.sort_values("move", ascending=False, kind="stable")


def _range(form: LinearForm, row: int, others: np.ndarray) -> tuple[float, float]:
    """The least and the largest value of a row, people, where the facts and the others hold; NaN if it is not found."""
    asked, place = form.among(np.append(others, row)), form.n_facts + int((others < row).sum())
    low, high = asked.low.copy(), asked.high.copy()
    low[place], high[place] = -np.inf, np.inf
    aggregation = aggregate(replace(asked, low=low, high=high))
    row = int(aggregation.row[place])
    objective = aggregation.form.matrix[[row]].toarray().ravel()
    try:
        return linear_bounds(aggregation.form.select(np.arange(aggregation.form.shape[0]) != row), objective)
    except (Infeasible, SolverError):  # where the contradiction is no larger than what rows are forgiven
        return np.nan, np.nan
