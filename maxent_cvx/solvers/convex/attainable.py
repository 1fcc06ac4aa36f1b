"""The least value that the left side of a budget can have over the rows of a problem, by an interior-point method."""

from __future__ import annotations

import warnings

import numpy as np

from ...errors import Infeasible
from ..backends.cvxpy_problem import constraints, soft_rows
from ..parameters.tolerances import CONVEX_CONSTRAINTS
from ..program.extension import AddedRows, extended
from ..program.linear_form import LinearForm
from .budget import Budget

__all__ = ["require_attainable"]


def require_attainable(form: LinearForm, budget: Budget, size: float) -> None:
    """Raise if the least value of a budget over the hard rows is above its limit.

    Parameters
    ----------
    form : LinearForm
    budget : Budget
    size : float
        What is spent at the answer without the budget, which the precision of a conic solver is relative to.

    Raises
    ------
    Infeasible
    """
    least = least_value(form, budget)
    if least > budget.limit + CONVEX_CONSTRAINTS.unattainable * max(budget.magnitude, abs(least), abs(size)):
        raise Infeasible(
            f"{budget.name!r} cannot hold: with everything else {budget.what} is at least about {least:.6g}, and "
            f"{budget.limit:.6g} is allowed; relax it, or remove it"
        )


def least_value(form: LinearForm, budget: Budget) -> float:
    """Minimise the costs of a budget over the hard rows; minus infinity if no solver finds the minimum."""
    import cvxpy as cp

    own = AddedRows(budget.matrix, budget.low, budget.high, budget.name, budget.penalties)
    posed = extended(form.hard, {"costs": own}, form.weights).form
    counts = cp.Variable(form.shape[1], nonneg=True)
    missed, cost = soft_rows(posed)
    problem = cp.Problem(
        cp.Minimize(cost + budget.linear @ counts), [block.constraint for block in constraints(posed, counts, missed)]
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver="CLARABEL")
    except cp.error.SolverError:
        return -np.inf
    return float(problem.value) if problem.status == "optimal" else -np.inf
