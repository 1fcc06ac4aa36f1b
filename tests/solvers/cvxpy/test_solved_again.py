"""A problem with parameters is solved again from its last multipliers: sooner, and with the same answer."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from maxent_cvx.solvers.cvxpy.solver import WARM, DualNewton


def transport(most: float | None) -> tuple[cp.Problem, cp.Parameter]:
    """Entropic transport from margins that are a parameter, perhaps with capacities."""
    cost = np.random.default_rng(0).random((12, 15))
    x, margin = cp.Variable((12, 15)), cp.Parameter(12, value=np.full(12, 1 / 12))
    rows = [cp.sum(x, axis=1) == margin, cp.sum(x, axis=0) == 1 / 15]
    rows += [] if most is None else [x <= most / 180]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x)) - 0.01 * cp.sum(cp.entr(x))), rows), margin


def move(margin: cp.Parameter, by: float) -> None:
    """Move the margin by about a share of itself."""
    value = margin.value * (1 + by * np.linspace(-1, 1, 12))
    margin.value = value / value.sum()


@pytest.mark.parametrize("most", [None, 3.0])
@pytest.mark.parametrize("by", [0.0, 1e-4, 1e-2, 0.5])
def test_the_same_sooner(most: float | None, by: float):
    """After a small move, without bounds, fewer than half the iterations; the answer is that of a new problem."""
    problem, margin = transport(most)
    problem.solve(solver=DualNewton())
    first = problem.solver_stats.num_iters
    move(margin, by)
    value = problem.solve(solver=DualNewton(), warm_start=True)
    taken, found = problem.solver_stats.num_iters, problem.variables()[0].value
    assert problem.status == cp.OPTIMAL
    again = cp.Problem(problem.objective, problem.constraints)
    assert again.solve(solver=DualNewton()) == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(found, again.variables()[0].value, atol=1e-8)
    assert taken <= again.solver_stats.num_iters + WARM
    if by <= 1e-2 and most is None:
        assert taken < first / 2


def test_cold():
    """Without a warm start the iterations are those of a new problem."""
    problem, _ = transport(None)
    problem.solve(solver=DualNewton())
    first = problem.solver_stats.num_iters
    problem.solve(solver=DualNewton(), warm_start=False)
    assert problem.solver_stats.num_iters == first
    problem.solve(solver=DualNewton(), warm_start=True)
    assert problem.solver_stats.num_iters <= 1


def test_statuses():
    """Infeasible values of parameters are infeasible after a solution, too, and a solution is found after them."""
    x, side = cp.Variable(3), cp.Parameter(value=1.0)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == side, x <= 0.5])
    for value, status in ((1.0, cp.OPTIMAL), (2.0, cp.INFEASIBLE), (1.2, cp.OPTIMAL), (-1.0, cp.INFEASIBLE)):
        side.value = value
        problem.solve(solver=DualNewton())
        assert problem.status == status
        if status == cp.OPTIMAL:
            np.testing.assert_allclose(x.value, value / 3, atol=1e-9)


def test_another_scale():
    """From multipliers of a problem of another scale the answer is right all the same."""
    x, factor, cost = cp.Variable(5), cp.Parameter(nonneg=True, value=1.0), cp.Parameter(5, value=np.zeros(5))
    problem = cp.Problem(cp.Minimize(cost @ x - factor * cp.sum(cp.entr(x))), [cp.sum(x) == 1])
    for scale in (1.0, 1e-6, 1e6, 1e-3):
        factor.value, cost.value = scale, scale * np.arange(5.0)
        problem.solve(solver=DualNewton())
        expected = np.exp(-np.arange(5.0))
        np.testing.assert_allclose(x.value, expected / expected.sum(), atol=1e-10)
    cost.value = 1e4 * np.arange(5.0)
    problem.solve(solver=DualNewton())
    np.testing.assert_allclose(x.value, np.eye(5)[0], atol=1e-9)
