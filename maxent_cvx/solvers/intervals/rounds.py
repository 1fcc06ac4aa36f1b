"""The least and the largest values of many linear expressions over one feasible set.

Most ends of intervals are attained by changing the buckets that are asked about (:mod:`.attained_locally`). What is
left takes linear programs. Each round solves one, whose objective is the sum of one objective a component: components
are independent, so that the program answers a question of each. As long as that pays, the objective is a sum of many
expressions whose ends are open, weighted at random: the feasible point that is found attains, for many of them, what
bounds of terms have proved, and these are answered (filtering, in optimization-based bound tightening). What remains is
asked one by one, and proved by weak duality.

References
----------
Gleixner, A. M., Berthold, T., Mueller, B. and Weltge, S. (2017). Three enhancements for optimization-based bound
tightening. Journal of Global Optimization 67, 731-757.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible, SolverError
from ..linear.bounds import linear_bounds
from ..linear.entropic_penalty import optima
from ..linear.highs import Optimum
from ..parameters.tolerances import FEASIBILITY, LINEAR_PROGRAMS
from ..program.linear_form import LinearForm
from ..program.weak_duality import dual_bounds, error_of_sides
from .attained_locally import attain_locally
from .questions import Questions

__all__ = ["Ends", "many_bounds"]

#: Expressions of one component up to which they are asked one by one at once.
FEW = 2


class Ends(NamedTuple):
    """Ends of intervals, all of shape (2, expressions): the least and the largest values.

    Attributes
    ----------
    value : ndarray
        Proved bounds, from outside.
    is_exact : ndarray of bool
        Whether the value is attained.
    """

    value: np.ndarray
    is_exact: np.ndarray


def many_bounds(
    form: LinearForm,
    expressions: sp.csr_array,
    n_records: float,
    answered: Callable[[int], None],
    *,
    largest: float = math.inf,
) -> Ends:
    """Outer bounds of expressions @ x over x >= 0 with low <= A x <= high.

    Parameters
    ----------
    form : LinearForm
    expressions : csr_array, shape (expressions, terms)
    n_records : float
        An upper bound on every term.
    answered : callable
        Is told after each round how many ends of intervals are still open.
    largest : float
        Terms of a component up to which linear programs are solved, until all values are attained.

    Raises
    ------
    Infeasible
        If no x satisfies the rows.
    Inaccurate
        If a bound that is proved is not attained.
    SolverError
        If HiGHS fails.
    """
    asked = Questions(form, expressions, n_records)
    is_feasible = attain_locally(form, asked)
    is_small = np.bincount(asked.of_term, minlength=asked.n_components) <= largest
    if not is_feasible and (open_ := asked.open & ~is_small[asked.component]).any():
        # No linear program will tell that the rows of these components contradict each other: one is asked for that.
        of = np.unique(asked.component[open_.any(axis=0)])
        terms = np.flatnonzero(np.isin(asked.of_term, of))
        _feasible_optimum(form, np.isin(asked.of_row, of), terms, np.zeros(len(terms)))
    answered(int((asked.open & is_small[asked.component]).sum()))
    rng = np.random.default_rng(0)
    components = np.bincount(asked.component)
    pays = components > FEW
    while (open_ := asked.open & is_small[asked.component]).any():
        before = np.bincount(asked.component, open_.sum(axis=0), len(components))
        chosen, weights = _choose(asked, open_, pays, rng)
        terms = np.flatnonzero(np.isin(asked.of_term, asked.component[chosen[1]]))
        form = _round(form, asked, chosen, weights, terms, pays)
        after = np.bincount(asked.component, asked.open.sum(axis=0), len(components))
        pays &= (before == 0) | (before - after > 1)
        answered(int(after[is_small[: len(after)]].sum()))
    return Ends(asked.bounds(), asked.are_known())


def _choose(
    asked: Questions, open_: np.ndarray, pays: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Which ends, (side, part), are asked for in this round, and with what weights: of a component on one side.

    Where filtering pays all that are open on the side that has more of them, and else the first.
    """
    n = len(pays)
    more = np.argmax([np.bincount(asked.component, side, n) for side in open_], axis=0)
    side, part = np.nonzero(open_)
    kept = more[asked.component[part]] == side
    side, part = side[kept], part[kept]
    component = asked.component[part]
    first = np.zeros(len(part), dtype=bool)
    first[np.unique(component, return_index=True)[1]] = True
    kept = pays[component] | first
    side, part = side[kept], part[kept]
    weights = np.where(pays[asked.component[part]], rng.uniform(0.5, 1.0, len(part)), 1.0)
    return np.stack([side, part]), weights


def _round(
    form: LinearForm, asked: Questions, chosen: np.ndarray, weights: np.ndarray, terms: np.ndarray, pays: np.ndarray
) -> LinearForm:
    """Solve one linear program and take note of what it says; returns the rows, which may have been widened."""
    (side, part), n = chosen, asked.n_components
    sign = np.where(side == 0, 1.0, -1.0) * weights
    cost = np.asarray(asked.matrix[part].T @ sign)[terms]
    component = asked.of_term[terms]
    largest = np.zeros(n)
    np.maximum.at(largest, component, np.abs(cost))
    cost = cost / np.where(largest > 0, largest, 1.0)[component]
    rows = np.isin(asked.of_row, component)
    form, smaller, optimum = _feasible_optimum(form, rows, terms, cost)
    x, of_row = optimum.x, asked.of_row[rows]
    violated = np.bincount(of_row, smaller.residual(x) > FEASIBILITY.multiple * smaller.tolerance, n) > 0
    asked.attain(x, terms, (np.bincount(component, minlength=n) > 0) & ~violated)
    if (alone := np.flatnonzero(~pays[asked.component[part]])).size:
        of = asked.component[part[alone]]
        bound = dual_bounds(smaller, cost, optimum.multipliers, of_row, component, n)[of]
        is_proved = np.abs(np.bincount(component, cost * x, n)[of] - bound) <= LINEAR_PROGRAMS.gap
        proved = alone[is_proved]
        bound = bound - np.bincount(of_row, error_of_sides(smaller, optimum.multipliers), n)[of]
        asked.answer(side[proved], part[proved], bound[is_proved] * sign[proved])
        for i in alone[~is_proved]:
            _ask_alone(form, asked, int(part[i]))
    return form


def _feasible_optimum(
    form: LinearForm, rows: np.ndarray, terms: np.ndarray, cost: np.ndarray
) -> tuple[LinearForm, LinearForm, Optimum]:
    """Minimise over whole components; also return all rows, which may have been widened, and those of the components.

    Raises
    ------
    Infeasible
        If they contradict each other by more than the feasibility tolerance.
    """
    smaller = _restricted(form, rows, terms)
    try:
        return form, smaller, _optimum(smaller, cost)
    except Infeasible:  # bounds over widened rows are valid as well
        form = replace(form, low=form.low - form.tolerance, high=form.high + form.tolerance)
        smaller = _restricted(form, rows, terms)
        return form, smaller, _optimum(smaller, cost)


def _ask_alone(form: LinearForm, asked: Questions, part: int) -> None:
    """Bound one part by linear programs of its own; an error says that there is no precise answer."""
    terms = np.flatnonzero(asked.of_term == asked.component[part])
    rows = asked.of_row == asked.component[part]
    objective = asked.matrix[[part]].toarray().ravel()[terms]
    for side, value in enumerate(linear_bounds(_restricted(form, rows, terms), objective)):
        asked.answer(side, part, value)


def _restricted(form: LinearForm, rows: np.ndarray, terms: np.ndarray) -> LinearForm:
    """Whole components of a problem."""
    if rows.all() and len(terms) == form.shape[1]:
        return form
    return form.select(rows).select_terms(terms)


def _optimum(form: LinearForm, cost: np.ndarray) -> Optimum:
    """Minimise cost @ x, by the first method that finds something."""
    message = ""
    for optimum in optima(form, cost):
        if optimum.infeasible:
            raise Infeasible("the rows contradict each other")
        if optimum.found:
            return optimum
        message = optimum.message
    raise SolverError(f"HiGHS found no bound: {message}")
