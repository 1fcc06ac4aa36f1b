"""The interior-point method: programs whose solutions are known because they were made around them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.interior.equilibration import equilibrated
from maxent_cvx.solvers.interior.exponential_cone import dual_gradient
from maxent_cvx.solvers.interior.interior_point import solve_interior
from maxent_cvx.solvers.interior.kkt_system import KktSystem
from maxent_cvx.solvers.monitoring.monitor import Monitor
from support.solving import examples

seeds = st.integers(0, 10**6)
CONES = (2, 6)
N_EXP = 4


def program(seed: int, curved: bool) -> tuple:
    """A program with a solution that is strictly complementary: slack and dual value of a cone lie on a line."""
    rng = np.random.default_rng(seed)
    n, m = 8, sum(CONES) + 3 * N_EXP
    A, x = rng.normal(size=(m, n)), rng.normal(size=n)
    half = rng.normal(size=(3, n))
    P = sp.csc_array(half.T @ half if curved else np.zeros((n, n)))
    s, z = np.zeros(m), rng.normal(size=m)
    active = rng.random(CONES[1]) < 0.4
    s[2:8], z[2:8] = np.where(active, 0, rng.uniform(0.5, 2, 6)), np.where(active, rng.uniform(0.5, 2, 6), 0)
    # On the boundary of the cone, and the normal there: t = u log(w / u) and a (-1, log(w / u) - 1, u / w).
    u, w, a = rng.uniform(0.5, 2, (3, N_EXP))
    s[8:] = np.stack([u * np.log(w / u), u, w], axis=1).ravel()
    z[8:] = (a * np.stack([-np.ones(N_EXP), np.log(w / u) - 1, u / w])).T.ravel()
    return P, -(P @ x + A.T @ z), sp.csc_array(A), A @ x + s, x, z


@pytest.mark.parametrize("curved", [False, True])
@examples(25)
@given(seed=seeds)
def test_known_optimum(curved: bool, seed: int):
    """The value is that of the solution the program was made around, and the answer is feasible."""
    P, q, A, b, x, z = program(seed, curved)
    answer = solve_interior(P, q, A, b, CONES)
    assert answer.status is Status.OPTIMAL
    value = float(x @ (P @ x)) / 2 + float(q @ x)
    found = float(answer.x @ (P @ answer.x)) / 2 + float(q @ answer.x)
    assert found == pytest.approx(value, abs=1e-6 * (1 + abs(value) + np.abs(q) @ np.abs(x)))
    slack = b - A @ answer.x
    assert np.abs(slack[:2]).max() <= 1e-6
    assert slack[2:8].min() >= -1e-6
    t, u, w = slack[8:].reshape(-1, 3).T
    assert (t <= u * np.log(w / u) + 1e-6).all()
    assert np.abs(P @ answer.x + q + A.T @ answer.dual).max() <= 1e-6 * (1 + np.abs(z).max())


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
def test_units(scale: float):
    """In other units of the objective, and of the variables, the solution is the same."""
    P, q, A, b, x, _ = program(3, False)
    other = solve_interior(P, q * scale, A, b, CONES)
    np.testing.assert_allclose(other.x, x, atol=1e-5)
    larger = solve_interior(P, q, sp.csc_array(A / scale), b, CONES)
    np.testing.assert_allclose(larger.x / scale, x, atol=1e-4)


def test_infeasible():
    """That x >= 1 and x <= 0 is no solution, the dual values prove."""
    A, b = sp.csc_array(np.array([[-1.0], [1.0]])), np.array([-1.0, 0.0])
    answer = solve_interior(sp.csc_array((1, 1)), np.ones(1), A, b, (0, 2))
    assert answer.status is Status.INFEASIBLE
    assert not answer.is_unbounded
    assert b @ answer.dual < 0
    assert np.abs(A.T @ answer.dual).max() <= 1e-6 * -(b @ answer.dual)


def test_unbounded():
    """Least -x with x >= 0: the direction proves it."""
    answer = solve_interior(sp.csc_array((1, 1)), -np.ones(1), sp.csc_array([[-1.0]]), np.zeros(1), (0, 1))
    assert answer.is_unbounded
    assert answer.x[0] > 0


def test_limits():
    """The method stops at its limit, and when the monitor says so."""
    P, q, A, b, _, _ = program(4, True)
    assert solve_interior(P, q, A, b, CONES, max_iterations=2).status is Status.LIMIT
    monitor = Monitor(callback=lambda iteration: iteration.iteration >= 3)
    assert solve_interior(P, q, A, b, CONES, monitor=monitor).iterations == 3


@examples(25)
@given(seed=seeds)
def test_systems(seed: int):
    """Systems are solved to rounding, with rows that repeat others, and again for another scaling."""
    rng = np.random.default_rng(seed)
    P, _, A, _, _, _ = program(seed, True)
    A = sp.csc_array(np.vstack([A.toarray()[:1], A.toarray()[:1], A.toarray()[2:]]))
    system = KktSystem(P, A, 8)
    for _ in range(2):
        diagonal = np.concatenate([np.zeros(2), rng.uniform(0.1, 10, 6)])
        blocks = np.stack([half @ half.T + 0.1 * np.eye(3) for half in rng.normal(size=(N_EXP, 3, 3))])
        system.update(diagonal, blocks)
        W = np.zeros((20, 20))
        W[:8, :8] = np.diag(diagonal)
        for k in range(N_EXP):
            W[8 + 3 * k : 11 + 3 * k, 8 + 3 * k : 11 + 3 * k] = blocks[k]
        x, z = rng.normal(size=8), rng.normal(size=20)
        f, g = P @ x + A.T @ z, A @ x - W @ z
        np.testing.assert_allclose(system.scaled(z), W @ z, atol=1e-12)
        found_x, found_z = system.solve(f, g)
        np.testing.assert_allclose(P @ found_x + A.T @ found_z, f, atol=1e-9)
        np.testing.assert_allclose(A @ found_x - W @ found_z, g, atol=1e-9)


@examples(25)
@given(seed=seeds)
def test_equilibration(seed: int):
    """The scaled program is the same one in other units; a cone has one factor, and entries are about 1."""
    rng = np.random.default_rng(seed)
    P, q, A, b, _, _ = program(seed, True)
    wild = sp.csc_array(sp.diags_array(10.0 ** rng.integers(-4, 4, 8)))
    rows = np.concatenate([10.0 ** rng.integers(-4, 4, 8), np.repeat(10.0 ** rng.integers(-4, 4, N_EXP), 3)])
    A, P, q, b = sp.csc_array(sp.diags_array(rows) @ A @ wild), sp.csc_array(wild @ P @ wild), wild @ q, rows * b
    found = equilibrated(P, q, A, b, 8)
    D, E = sp.diags_array(found.columns), sp.diags_array(found.rows)
    np.testing.assert_allclose(found.A.toarray(), (E @ A @ D).toarray(), rtol=1e-9)
    np.testing.assert_allclose(found.P.toarray(), found.cost * (D @ P @ D).toarray(), rtol=1e-9)
    np.testing.assert_allclose(found.q, found.cost * (D @ q), rtol=1e-9)
    np.testing.assert_allclose(found.b, E @ b, rtol=1e-9)
    threes = found.rows[8:].reshape(-1, 3)
    np.testing.assert_array_equal(threes, np.tile(threes[:, :1], 3))
    assert abs(found.A).max(axis=0).toarray().min() > 0.1
    assert abs(found.A).max() < 10


def test_gradient_at_the_start():
    """The first point is on the central path: s is minus the gradient at z."""
    z = np.array([[-1.051383945322714, 0.556409619469370, 1.258967884768947]])
    np.testing.assert_allclose(-dual_gradient(z), z, atol=1e-12)
