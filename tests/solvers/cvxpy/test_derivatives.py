"""Derivatives of solutions: those of closed forms and of central differences."""

from __future__ import annotations

import tracemalloc

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import maxent_cvx as mx
from maxent_cvx import SolverError
from maxent_cvx.solvers.cvxpy.solver import DualNewton

N = 6


def problems(seed: int) -> dict[str, tuple[cp.Variable, cp.Problem]]:
    """Problems of many kinds with parameters in costs, in rows and in their sides."""
    rng = np.random.default_rng(seed)
    x = cp.Variable(N, name="x")
    b, c, G = cp.Parameter(2, name="b"), cp.Parameter(N, name="c"), cp.Parameter((2, N), name="G")
    k = cp.Parameter(nonneg=True, name="k")
    B, at = rng.normal(size=(2, N)), rng.random(N) + 0.1
    at /= at.sum()
    c.value, G.value, k.value = rng.normal(size=N), rng.normal(size=(2, N)), 0.5
    b.value = B @ at
    entropy, one = cp.sum(cp.entr(x)), cp.sum(x) == 1
    at_most = G @ x <= b + (G.value - B) @ at + 0.02
    found = {
        "equations": cp.Problem(cp.Maximize(entropy + c @ x), [one, B @ x == b]),
        "inequalities": cp.Problem(cp.Maximize(entropy + c @ x), [one, at_most, x >= 0.02, x <= 0.6]),
        "factors": cp.Problem(cp.Maximize(k * entropy + c @ x), [one]),
        "norm1": cp.Problem(cp.Maximize(entropy + c @ x - 2 * cp.norm1(G @ x - b)), [one]),
        "sum_squares": cp.Problem(cp.Maximize(entropy + c @ x - cp.sum_squares(G @ x - b)), [one]),
        "huber": cp.Problem(cp.Maximize(entropy + c @ x - cp.sum(cp.huber(x))), [one]),
        "logarithms": cp.Problem(cp.Maximize(at @ cp.log(x) + k * cp.sum(x) - cp.sum_squares(x)), []),
        "a constraint": cp.Problem(cp.Maximize(c @ x), [one, cp.sum(cp.kl_div(x, at)) <= 0.1 * k]),
        "log_sum_exp": cp.Problem(cp.Minimize(cp.log_sum_exp(G @ x - b) + cp.sum_squares(x - c)), []),
    }
    return {name: (x, problem) for name, problem in found.items()}


@pytest.mark.parametrize("name", problems(0))
def test_differences(name: str):
    """In a random direction the Jacobian is that of central differences, whose own error is 1e-6, and 1e-3 with cones."""
    x, problem = problems(0)[name]
    moves = mx.solvers.derivatives(problem, tolerance=1e-10)
    is_precise = name in ("equations", "inequalities", "factors", "norm1", "sum_squares", "huber")
    h = 1e-3 if is_precise else 1e-2
    for parameter in problem.parameters():
        value, ends = np.array(parameter.value, dtype=float), []
        direction = np.random.default_rng(1).normal(size=value.shape)
        jacobian = moves.jacobian(x, parameter)
        for moved in (h, -h):
            parameter.value = value + moved * direction
            problem.solve(solver=DualNewton(), tolerance=1e-10)
            ends.append(x.value)
        parameter.value, difference = value, (ends[0] - ends[1]) / (2 * h)
        atol = (2e-5 if is_precise else 4e-3) * (1 + np.abs(jacobian).max())
        expected = jacobian.reshape(N, -1) @ direction.ravel()
        np.testing.assert_allclose(expected, difference, atol=atol, err_msg=parameter.name())


def test_die():
    """Of a given mean, d p_i / d mean = p_i (i - mean) / variance, as p is an exponential family."""
    x, mean, faces = cp.Variable(6), cp.Parameter(value=4.5), np.arange(1, 7)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, faces @ x == mean])
    moves = mx.solvers.derivatives(problem)
    expected = x.value * (faces - 4.5) / (x.value @ (faces - 4.5) ** 2)
    np.testing.assert_allclose(moves.jacobian(x, mean), expected, atol=1e-8)
    mean.delta, x.gradient = 2.0, faces**2
    moves.derivative()
    moves.backward()
    np.testing.assert_allclose(x.delta, 2 * expected, atol=1e-8)
    assert mean.gradient == pytest.approx(faces**2 @ expected, abs=1e-7)


def test_many_parameters():
    """Of groups whose shares sum to 1, dp_i / dc_j = p_i (1[i = j] - p_j): n parameters hold no n^2 numbers."""
    n, size = 3000, 10
    x, c = cp.Variable(n), cp.Parameter(n, value=np.linspace(0, 1, n))
    groups = sp.csr_array((np.ones(n), (np.arange(n) // size, np.arange(n))))
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + c @ x), [groups @ x == 1])
    x.gradient = np.eye(1, n)[0]
    tracemalloc.start()
    moves = mx.solvers.derivatives(problem)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 8 * n**2
    moves.backward()
    expected = x.value[0] * ((np.arange(size) == 0) - x.value[:size])
    np.testing.assert_allclose(c.gradient, np.pad(expected, (0, n - size)), atol=1e-8)


def test_shapes_and_attributes():
    """A Jacobian has the shapes of the variable and of the parameter; margins r, c give d (r c') / d r and d c."""
    x, r, c = cp.Variable((3, 2), nonneg=True), cp.Parameter(3), cp.Parameter(2, nonneg=True)
    r.value, c.value = np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.4])
    # Rows that repeat others are no obstacle, as long as parameters move with them.
    rows = [cp.sum(x, axis=1) == r, cp.sum(x, axis=0)[0] == c[0], cp.sum(x[:, 0]) == c[0]]
    moves = mx.solvers.derivatives(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows))
    found = moves.jacobian(x, r)
    assert found.shape == (3, 2, 3)
    # Of x[i, 0] = c[0] r[i] / sum r and x[i, 1] = r[i] - x[i, 0].
    first = 0.6 * (np.eye(3) - r.value[:, None])
    np.testing.assert_allclose(found[:, 0, :], first, atol=1e-7)
    np.testing.assert_allclose(found[:, 1, :], np.eye(3) - first, atol=1e-7)
    np.testing.assert_allclose(moves.jacobian(x, c)[:, :, 0], r.value[:, None] * [1.0, -1.0], atol=1e-7)


def test_no_derivative():
    """Where an inequality holds with the multiplier 0, the derivatives to the two sides differ: it is an error."""
    x, most = cp.Variable(4), cp.Parameter(value=0.25)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, x[0] <= most])
    with pytest.raises(SolverError, match="hold with equality and have the multiplier 0") as error:
        mx.solvers.derivatives(problem)
    assert isinstance(error.value, cp.error.SolverError)
    for most.value, expected in ((0.2, [1, -1 / 3, -1 / 3, -1 / 3]), (0.3, [0, 0, 0, 0])):
        np.testing.assert_allclose(mx.solvers.derivatives(problem).jacobian(x, most), expected, atol=1e-6)


def test_refusals():
    """A problem that is not DPP, lacks a solution, a value or the given variable, or contradicts itself if moved."""
    x, p, q = cp.Variable(3), cp.Parameter(value=1.0, nonneg=True, name="p"), cp.Parameter(value=1.0, nonneg=True)
    entropy = cp.sum(cp.entr(x))
    with pytest.raises(cp.error.SolverError, match="not DPP"):
        mx.solvers.derivatives(cp.Problem(cp.Maximize(entropy + p * q * cp.sum(x)), [cp.sum(x) == 1]))
    with pytest.raises(cp.error.SolverError, match="infeasible"):
        mx.solvers.derivatives(cp.Problem(cp.Maximize(entropy), [cp.sum(x) == -p]))
    twice = mx.solvers.derivatives(cp.Problem(cp.Maximize(entropy), [cp.sum(x) == 1, cp.sum(x) == p]))
    with pytest.raises(SolverError, match="no derivative"):
        twice.jacobian(x, p)
    for variable, parameter, says in [(cp.Variable(3), p, "variable"), (p, p, "variable"), (x, q, r"parameter .*\('p")]:
        with pytest.raises(cp.error.SolverError, match=f"{says}.*, got "):
            twice.jacobian(variable, parameter)
    p.value = None
    with pytest.raises(cp.error.SolverError, match="without a value: 'p'; set"):
        mx.solvers.derivatives(cp.Problem(cp.Maximize(entropy), [cp.sum(x) == p]))


@pytest.mark.parametrize("size", [1e-9, 1e-12, 1e-14])
def test_arguments_near_zero_are_named(size):
    """The error names an argument that is too close to 0 for derivatives, instead of blaming the constraints."""
    x, most = cp.Variable(3, name="x"), cp.Parameter(value=size)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, x[1] <= most])
    with pytest.raises(SolverError, match=r"x\[1\] is nearly 0"):
        mx.solvers.derivatives(problem, tolerance=1e-10).jacobian(x, most)
