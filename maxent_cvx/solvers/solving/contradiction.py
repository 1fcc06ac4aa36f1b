"""Contradictions that involve convex constraints: an irreducible set, and by how far each statement is missed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...errors import Infeasible, NotDecided, SolverError
from ..backends.cvxpy_backend import least_violation
from ..explain import conflict, irreducible
from ..program.problem import Convex, Problem
from .convex_solve import solve_convex
from .presolving import NEWTON
from .request import Request

__all__ = ["conflict_table"]


def conflict_table(problem: Problem) -> pd.DataFrame | None:
    """Tabulate an irreducible contradiction of the hard rows and convex constraints, as :class:`.Conflict` has it.

    Of a convex constraint the table has the side as typed, and the least value of its left side (the largest one of its
    right side, if that is the expression) where the others hold. None if no contradiction is proved.
    """
    found, convex = conflict(problem.hard), problem.convex
    if found is not None:
        return found.table
    if convex is None:
        return None
    hard, n = problem.hard, problem.form.n_hard
    items = np.arange(hard.form.n_facts, n + len(convex.constraints))

    def infeasible(some: np.ndarray) -> bool:
        return _is_infeasible(_with_items(hard, some))

    if not infeasible(items):
        return None
    chosen = irreducible(infeasible, items[:0], items)
    rows = {}
    for item in chosen:
        name, low, high, least, most = _line(hard, chosen[chosen != item], int(item))
        rows[name] = (low, high, least, most, np.fmax(least - high, low - most))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["low", "high", "least", "most", "move"])
    return table.rename_axis("statement").sort_values("move", ascending=False, kind="stable")


def _with_items(problem: Problem, items: np.ndarray) -> Problem:
    """Keep some rows of knowledge and convex constraints; these are numbered after the rows."""
    n, convex = problem.form.shape[0], problem.convex
    assert convex is not None
    some = [convex.by_name[item - n] for item in np.sort(items[items >= n]).tolist()]
    left = Convex(convex.variable, [one for _, one in some], [name for name, _ in some]) if some else None
    rows = problem.form.select_knowledge(np.sort(items[items < n]))
    return Problem(rows, problem.closed_form, problem.groups, left)


def _is_infeasible(problem: Problem) -> bool:
    """Whether a contradiction is proved."""
    if problem.convex is None:
        return conflict(problem) is not None
    try:
        solve_convex(problem, Request(NEWTON, problem.start))
    except Infeasible:
        return True
    except NotDecided:  # the time is over
        raise
    except SolverError:
        return False
    return False


def _line(problem: Problem, others: np.ndarray, item: int) -> tuple[str, float, float, float, float]:
    """The name of a row or constraint, its sides as typed, and its least and largest value where the others hold."""
    form, convex = problem.form, problem.convex
    assert convex is not None
    rest = _with_items(problem, others)
    given = rest.convex or Convex(convex.variable, [])
    if item >= form.shape[0]:
        name, one = convex.by_name[item - form.shape[0]]
        excess, *_ = least_violation(rest.form, given, [one])
        left, right = one.args
        if left.is_constant() and left.size == 1:
            return name, float(left.value), np.inf, np.nan, float(left.value) - excess
        limit = float(right.value) if right.is_constant() and right.size == 1 else 0.0
        return name, -np.inf, limit, limit + excess, np.nan
    value = form.rows(np.array([item])) @ convex.variable
    ends = least_violation(rest.form, given, [value <= 0])[0], -least_violation(rest.form, given, [-value <= 0])[0]
    sides = np.array([form.low[item], form.high[item], *ends])
    low, high, least, most = ((sides + form.shift[item]) / form.scale[item] + 0.0).tolist()
    return form.name(item), low, high, least, most
