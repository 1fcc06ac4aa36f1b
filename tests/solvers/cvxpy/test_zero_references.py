"""Entropies relative to 0 force what they are of to be 0, as kl_div(x, 0) is infinite for x > 0."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from maxent_cvx.solvers.cvxpy.solver import DualNewton

W = np.array([0.2, 0.3, 0.0, 0.5, 0.0, 0.1])


def solved(problem: cp.Problem) -> float:
    value = problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    return float(value)


@pytest.mark.parametrize("divergence", [cp.kl_div, cp.rel_entr])
@pytest.mark.parametrize("side", ["equation", "inequality", "soft", "constraint"])
def test_the_same_without_these_variables(divergence, side: str):
    """The others, the optimum and dual values are those of the problem without the variables that are 0."""

    def posed(x: cp.Variable, w: np.ndarray) -> cp.Problem:
        of_all, one = cp.sum(divergence(x, w)), cp.sum(x) == 1
        if side == "constraint":
            return cp.Problem(cp.Maximize(x[0]), [one, of_all <= 0.1])
        cost = cp.abs(x[0] - 0.6) if side == "soft" else 0
        rows = {"equation": [x[0] == 0.3], "inequality": [x[0] <= 0.1], "soft": []}[side]
        return cp.Problem(cp.Minimize(of_all + cost), [one, *rows])

    x, y = cp.Variable(6), cp.Variable(4)
    full, less = posed(x, W), posed(y, W[W > 0])
    assert solved(full) == pytest.approx(solved(less), abs=1e-9)
    assert (x.value[W == 0] == 0).all()
    atol = 1e-4 if side == "constraint" else 1e-8  # the interior-point method's, by the gap's square root
    np.testing.assert_allclose(x.value[W > 0], y.value, atol=atol)
    for of_full, of_less in zip(full.constraints, less.constraints, strict=True):
        np.testing.assert_allclose(of_full.dual_value, of_less.dual_value, atol=max(1e-6, atol))


@pytest.mark.parametrize("seed", range(3))
def test_raking_a_table_with_empty_cells(seed: int):
    """Cells that are empty stay so, and the others are of the form a_i A_ij b_j, with the margins asked for."""
    rng = np.random.default_rng(seed)
    A = rng.random((12, 9)) * (rng.random((12, 9)) < 0.6) + 0.1 * np.eye(12, 9)
    A[9:, 0] += 0.1
    a, b = np.exp(rng.normal(size=12)), np.exp(rng.normal(size=9))
    table, X = A * np.outer(a, b), cp.Variable((12, 9))
    margins = [cp.sum(X, axis=1) == table.sum(axis=1), cp.sum(X, axis=0) == table.sum(axis=0)]
    assert np.isfinite(solved(cp.Problem(cp.Minimize(cp.sum(cp.kl_div(X, A))), margins)))
    assert (X.value[A == 0] == 0).all()
    np.testing.assert_allclose(X.value, table, rtol=1e-7)


def test_arguments_that_are_no_variables():
    """An affine argument of an entropy relative to 0 is an equation."""
    y = cp.Variable(3)
    argument = cp.hstack([y[0], y[1] - 2 * y[2], y[2]])
    solved(cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(argument, [0.2, 0, 0.4]))), [cp.sum(y) == 7]))
    # With y = (u, 2 v, v): u log(u / 0.2) + v log(v / 0.4) at u + 3 v = 7, so that v / 0.4 = (u / 0.2)^3 e^2.
    u, v = y.value[0], y.value[2]
    assert y.value[1] == pytest.approx(2 * v, rel=1e-12)
    assert u + 3 * v == pytest.approx(7, rel=1e-9)
    assert v / 0.4 == pytest.approx((u / 0.2) ** 3 * np.exp(2), rel=1e-6)


def test_what_is_demanded_of_them_is_infeasible():
    """Nothing above 0 can be demanded of a term whose reference is 0."""
    x = cp.Variable(6)
    for row in (x[2] >= 0.1, x[2] + x[4] == 0.1):
        problem = cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, W))), [cp.sum(x) == 1, row])
        problem.solve(solver=DualNewton())
        assert problem.status == cp.INFEASIBLE


def test_a_reference_that_becomes_0():
    """A parameter may be 0 in one solve and not in the next, which begins where the last ended."""
    x, w = cp.Variable(6), cp.Parameter(6, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, w))), [cp.sum(x) == 1])
    for reference in (W, W + 0.1, W[::-1]):
        w.value = reference
        solved(problem)
        np.testing.assert_allclose(x.value, reference / reference.sum(), atol=1e-9)


@pytest.mark.parametrize(
    "other", [lambda y: y[0] + 2 * y[1], lambda y: cp.abs(y[0] - 0.25) + y[1], lambda y: cp.max(y)]
)
def test_a_reference_of_0_beside_terms_without_entropy(other):
    """X = 0 is all that kl_div(x, 0) means, so that the other terms are least under x = 0."""
    x, y = cp.Variable(), cp.Variable(2, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.kl_div(x, 0) + other(y)), [x + cp.sum(y) == 1])
    problem.solve(solver=DualNewton())
    alone = cp.Problem(cp.Minimize(other(y)), [cp.sum(y) == 1])
    alone.solve(solver="CLARABEL")
    assert problem.status == "optimal"
    assert x.value == 0
    assert problem.value == pytest.approx(alone.value, abs=1e-6)
