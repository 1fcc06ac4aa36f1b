"""Constants and units change neither answers nor iterations, with bounds and soft terms, too."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from maxent_cvx.solvers.cvxpy.solver import DualNewton


def solved(kind: str, constant: float = 0.0, scale: float = 1.0, mass: float = 1.0) -> tuple[np.ndarray, int]:
    """Entropic transport with capacities or with a soft margin: shares of the plan, and iterations."""
    rng = np.random.default_rng(1)
    cost, x, soft = rng.random((9, 11)) + constant, cp.Variable((9, 11)), rng.random(9) / 4
    objective, rows = cp.sum(cp.multiply(cost, x)) - 0.02 * cp.sum(cp.entr(x)), [cp.sum(x, axis=0) == mass / 11]
    if kind == "capacities":
        rows += [cp.sum(x, axis=1) == mass / 9, x <= 3 * mass / 99]
    elif kind == "norm1":
        objective += 0.3 * cp.norm1(cp.sum(x, axis=1) - soft * mass)
    else:
        objective += 2 / mass * cp.sum_squares(cp.sum(x, axis=1) - soft * mass)
    problem = cp.Problem(cp.Minimize(scale * objective), rows)
    problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    return x.value / mass, problem.solver_stats.num_iters


KINDS = ["capacities", "norm1", "sum_squares"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constant", [1.0, -100.0, 1e3])
def test_constants(kind: str, constant: float):
    """A constant in all costs changes neither the plan nor, by more than one, the iterations."""
    (plan, taken), (first, iterations) = solved(kind, constant), solved(kind)
    np.testing.assert_allclose(plan, first, atol=1e-7)
    assert abs(taken - iterations) <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1e6, 1e12])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_scales(kind: str, scale: float, mass: float):
    """Nor do the unit of the objective and that of the variables."""
    (plan, taken), (first, iterations) = solved(kind, 0.0, scale, mass), solved(kind)
    np.testing.assert_allclose(plan, first, atol=1e-7)
    assert abs(taken - iterations) <= 1
