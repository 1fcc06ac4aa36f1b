"""Contradictory knowledge: an irreducible infeasible subsystem (IIS), and the range of each row beside the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...errors import Infeasible, NotDecided, SolverError
from ..linear.bounds import linear_bounds
from ..linear.elastic import elastic_relaxation
from ..linear_algebra.single_thread import single_thread
from ..parameters.tolerances import DIAGNOSIS, FEASIBILITY
from ..presolve.aggregation import aggregate
from ..presolve.reduce import reduce
from ..program.linear_form import LinearForm
from ..program.problem import Problem
from ..program.weak_duality import proved_violation

__all__ = ["Conflict", "conflict", "find_iis", "irreducible"]

#: The number of statements that an error names.
MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Conflict:
    """An IIS: rows of knowledge that, with the hard constraints, are infeasible, and feasible without any one of them.

    Attributes
    ----------
    rows : ndarray of int
    table : DataFrame
        A line for each row, by name: its sides `low` and `high` as typed, the `least` and the `most` value that it can
        have where the hard constraints and the other rows hold, and the distance `move` between the two ranges, all in
        the unit of the row as typed.
    is_published : bool
        Whether these are published rows, of releases that contradict each other, and not knowledge.
    remedies : tuple of str
        What a user can do about the rows, each remedy once.
    """

    rows: np.ndarray
    table: pd.DataFrame
    is_published: bool = False
    remedies: tuple[str, ...] = ("correct it, or remove it",)

    @property
    def error(self) -> Infeasible:
        """The error to raise, in one sentence; it carries the table as its `conflict`."""
        moves = []
        for name, said in self.table.head(MOST_NAMED).iterrows():
            if not said["move"] > 0:
                moves.append(repr(name))
                continue
            end = said["most"] if said["most"] < said["low"] else said["least"]
            digits = max(
                6, 4 - math.floor(math.log10(said["move"]))
            )  # enough for the new value to differ visibly from the old one
            moves.append(f"{name!r} by {said['move']:.6g} to {end:.{digits}g}")
        n = len(self.table)
        what = "row" if self.is_published else "statement"
        who = f"one {what}" if n == 1 else f"of these {n} {what}s one"
        clash = "the knowledge contradicts the published data or itself"
        if self.is_published:
            clash = "what is published contradicts itself"
        remedy = "; or ".join(self.remedies)
        error = Infeasible(
            f"{clash}: {who} would have to move, {', or '.join(moves)}{f', ... ({n} in all)' * (n > MOST_NAMED)}. "
            f"{remedy[0].upper()}{remedy[1:]}"
        )
        error.conflict = self.table
        return error


@single_thread
def conflict(problem: Problem, multiple: float = FEASIBILITY.multiple) -> Conflict | None:
    """Find an IIS among the rows of knowledge; None if all rows can hold together.

    Rows that contradict each other by no more than rounding of their numbers explains can hold together. If the
    published rows contradict each other, as those of several releases can, the IIS is among them.

    Parameters
    ----------
    problem : Problem
    multiple : float
        By how many feasibility tolerances a row may be violated.
    """
    form = problem.form
    try:
        rows = find_iis(problem.with_rows(form.within_rounding), multiple)
    except Infeasible:  # the hard constraints contradict each other
        rows = None
    if rows is not None:
        return _described(form, rows)
    if not np.isnan(problem.closed_form.counts).any():  # it satisfies the published rows
        return None
    published = problem.with_rows(form.select_knowledge(np.empty(0, dtype=int))).relax_published()
    rows = find_iis(published, multiple)
    return None if rows is None else replace(_described(published.form, rows), is_published=True)


def _described(form: LinearForm, rows: np.ndarray) -> Conflict:
    """Describe an IIS; remedies are ordered such that those of statements come before those of a prior."""
    remedies = dict.fromkeys(form.remedy(row) for row in np.sort(rows)[::-1].tolist())
    return Conflict(rows, _table(form, rows), remedies=tuple(remedies))


def find_iis(problem: Problem, multiple: float = FEASIBILITY.multiple) -> np.ndarray | None:
    """Find an irreducible infeasible subsystem among the rows of knowledge; None if all rows can hold together.

    Hard constraints are never part of it.

    Parameters
    ----------
    problem : Problem
    multiple : float
        By how many feasibility tolerances a row may be violated.

    Notes
    -----
    The Farkas certificate of the elastic relaxation ranks the rows by the size of their multipliers. The first 1, 2, 4,
    ... rows are tried until they are infeasible, and reduced to an irreducible subsystem by bisection (QuickXplain;
    Junker, 2004). With few rows of knowledge most terms are interchangeable, so that each trial is a small problem
    after aggregation.
    """
    form = problem.form

    def infeasible(rows: np.ndarray) -> bool:
        return _infeasible(problem.with_rows(form.select_knowledge(rows)), multiple)

    aggregation = aggregate(form)
    relaxation = elastic_relaxation(aggregation.form)
    if not (relaxation.off > multiple * aggregation.form.tolerance).any():
        return None
    if not proved_violation(aggregation.form, relaxation.direction) > 0:  # what HiGHS's tolerances allow proves nothing
        return None
    strength = np.abs(relaxation.direction[aggregation.row])
    known = np.arange(form.n_facts, form.shape[0])
    order = known[np.argsort(-strength[known], kind="stable")]
    n = 1
    while n < len(order) and not infeasible(order[:n]):
        n *= 2

    return irreducible(infeasible, order[:0], order[:n])


def irreducible(infeasible: Callable[[np.ndarray], bool], given: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Reduce items to those needed for infeasibility with the given items, which are feasible by themselves."""
    if len(items) == 1:
        return items
    first, last = np.array_split(items, 2)
    more = np.append(given, first)
    of_last = last[:0] if infeasible(more) else irreducible(infeasible, more, last)
    if len(of_last) and infeasible(with_last := np.append(given, of_last)):
        return of_last
    return np.append(irreducible(infeasible, with_last if len(of_last) else given, first), of_last)


def _infeasible(problem: Problem, multiple: float) -> bool:
    """Whether no x >= 0 satisfies the rows up to their tolerances."""
    try:
        smaller = aggregate(reduce(problem).restricted).form
        off = elastic_relaxation(smaller).off
        if not (off > DIAGNOSIS.clear * smaller.tolerance).any() and off.any():
            # Terms fixed by presolve are only as precise as their bounds: decide by the problem without presolve.
            smaller = aggregate(problem.form).form
            off = elastic_relaxation(smaller).off
    except Infeasible:
        return True
    return bool((off > multiple * smaller.tolerance).any())


def _table(form: LinearForm, rows: np.ndarray) -> pd.DataFrame:
    """Tabulate the sides of each row of an IIS, and its range where the other rows hold."""
    said = np.column_stack([form.low[rows], form.high[rows], [_range(form, row, rows[rows != row]) for row in rows]])
    said = (said + form.shift[rows, None]) / form.scale[rows, None] + 0.0
    table = pd.DataFrame(said, columns=["low", "high", "least", "most"])
    table["move"] = np.maximum(table["least"] - table["high"], table["low"] - table["most"])
    table.index = pd.Index([form.name(row) for row in rows], name="statement")
    return table.sort_values("move", ascending=False, kind="stable")


def _range(form: LinearForm, row: int, others: np.ndarray) -> tuple[float, float]:
    """The least and the largest value of a row, records, where hard and other rows hold; NaN if not found."""
    asked, place = form.select_knowledge(np.append(others, row)), form.n_facts + int((others < row).sum())
    low, high = asked.low.copy(), asked.high.copy()
    low[place], high[place] = -np.inf, np.inf
    aggregation = aggregate(replace(asked, low=low, high=high))
    row = int(aggregation.row[place])
    objective = aggregation.form.rows(np.array([row])).toarray().ravel()
    try:
        return linear_bounds(aggregation.form.select(np.arange(aggregation.form.shape[0]) != row), objective)
    except NotDecided:  # the time is over
        raise
    except (Infeasible, SolverError):  # the other rows are infeasible as well, within tolerances
        return np.nan, np.nan
