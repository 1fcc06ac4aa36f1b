"""Proofs that budgets cannot be kept: lower bounds on what is spent, from any slopes and multipliers.

A cost c(v) of a row v = a x has c(v) >= y v - c*(y) for any slope y, where c* is the conjugate of the cost. For prices
t >= 0 of the budgets, one each, the sum of t (spent - limit) is therefore at least a linear function of x, which weak
duality bounds over the hard rows. If that bound is positive, no x keeps all the budgets. The numbers t, y and the
multipliers of the rows may come from any method, however inexact: the bound includes all rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...errors import Infeasible, NotDecided
from ..linear import optima
from ..parameters.tolerances import EPS
from ..presolve.zero_proofs import consequence
from ..program.linear_form import LinearForm
from ..program.rounding_errors import exact_rmatvec
from .budget import Budget

__all__ = ["Priced", "least_excess", "unattainable"]


class Priced(NamedTuple):
    """A budget with its price.

    Attributes
    ----------
    budget : Budget
    price : float
        t >= 0.
    slopes : ndarray, one a row of costs
        y, where the derivatives of the costs are best.
    """

    budget: Budget
    price: float
    slopes: np.ndarray


@np.errstate(over="ignore", invalid="ignore")
def least_excess(form: LinearForm, priced: Sequence[Priced], multipliers: np.ndarray | None = None) -> float:
    """Bound the sum of t (spent - limit) from below over the hard rows of a form.

    Parameters
    ----------
    form : LinearForm
        Of hard rows.
    priced : sequence of Priced
    multipliers : ndarray, one a row, optional
        By default those of a linear program.

    Returns
    -------
    float
        Minus infinity if nothing was found.
    """
    cost, cost_error = np.zeros(form.shape[1]), np.zeros(form.shape[1])
    constants: list[float] = []
    for budget, price, slopes in priced:
        slopes = np.clip(slopes, -budget.penalties.slope, budget.penalties.slope)
        side = np.where(slopes > 0, budget.high, budget.low)
        slopes = np.where(np.isfinite(side), slopes, 0.0)
        of_side = slopes * np.where(np.isfinite(side), side, 0.0)
        conjugate = budget.penalties.conjugates(-slopes)
        constants += [-price * budget.limit, *(-price * of_side), *(-price * conjugate)]
        constants.append(-price * budget.error)
        cost += price * (budget.matrix.T @ slopes + budget.linear)
        n_products = np.bincount(budget.matrix.indices, minlength=form.shape[1]) + 4
        cost_error += EPS * n_products * price * (abs(budget.matrix).T @ np.abs(slopes) + np.abs(budget.linear))
    size = float(np.abs(cost).max(initial=0.0))
    if not np.isfinite(size) or not np.isfinite(constants).all():
        return -math.inf
    if multipliers is None:
        multipliers = np.zeros(form.shape[0])
        if size > 0:
            with suppress(NotDecided):
                found = next(optima(form, cost / size))
                if found.found:
                    multipliers = form.project_to_dual_cone(found.multipliers * size)
    change, error = exact_rmatvec(form, multipliers)
    nothing = np.zeros(form.shape[1])
    least = consequence(form, multipliers, change - cost, error + cost_error, nothing > 0, nothing)
    constants += [least.beta, -least.error, -least.risen]
    # The conjugates are products of a few numbers and an exponential; the sum is rounded once.
    return math.fsum(constants) - 16 * EPS * math.fsum(map(abs, constants))


def unattainable(name: str, constraint: Any, least: float) -> Infeasible:
    """The error of a constraint whose left side exceeds its right side by at least so much, in its own numbers."""
    left, right = constraint.args if len(constraint.args) == 2 else (None, None)
    if right is not None and right.is_constant() and right.size == 1:
        limit = float(right.value)
        what = f"its left side is at least about {_beside(limit + least, limit)}, and {limit:.6g} is allowed"
    elif left is not None and left.is_constant() and left.size == 1:
        limit = float(left.value)
        what = f"its right side is at most about {_beside(limit - least, limit)}, and {limit:.6g} is required"
    else:
        what = f"its left side exceeds its right side by at least about {least:.6g}"
    return Infeasible(f"{name!r} cannot hold: with everything else {what}; relax it, or remove it")


def _beside(value: float, limit: float) -> str:
    """A number with as many digits as make it differ from another, six at least."""
    differ = abs(value - limit)
    digits = 6 if differ == 0 else max(6, 2 + math.ceil(math.log10(max(abs(value), abs(limit)) / differ)))
    return f"{value:.{min(digits, 17)}g}"
