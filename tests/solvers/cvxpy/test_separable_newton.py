"""Newton's method in the logarithmic domain: its answers satisfy the conditions of optimality, which prove them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.cvxpy.mixed import (
    LONG_PATIENCE,
    Arrow,
    Dense,
    SeparableAnswer,
    SeparableProgram,
    Sparse,
    disjoint_rows,
    normal_matrix,
    solve_separable,
)
from maxent_cvx.solvers.monitor import Monitor
from support.solving import examples

seeds = st.integers(0, 10**6)


def margins(n: int, k: int) -> sp.csr_array:
    """The sums of the rows and of the columns of an n x k table."""
    first, last = sp.kron(sp.eye_array(n), np.ones((1, k))), sp.kron(np.ones((1, n)), sp.eye_array(k))
    return sp.csr_array(sp.vstack([first, last], format="csr"))


def transport(seed: int, n: int, k: int, spread: float) -> SeparableProgram:
    """Costs between 0 and a spread in units of the temperature, between uniform margins."""
    rng = np.random.default_rng(seed)
    right = np.concatenate([np.full(n, float(k)), np.full(k, float(n))])
    return SeparableProgram(margins(n, k), right, np.ones(n + k, bool), -spread * rng.random(n * k))


def random_program(seed: int, n_rows: int = 6, n_terms: int = 20, spread: float = 3.0) -> SeparableProgram:
    """Rows and bounds through a random point inside, some of them tight there."""
    rng = np.random.default_rng(seed)
    at = rng.uniform(0.3, 2.0, n_terms)
    matrix = rng.normal(size=(n_rows, n_terms)) * (rng.random((n_rows, n_terms)) < rng.choice([0.3, 1.0]))
    matrix[0] = 1.0
    is_equation = np.arange(n_rows) < n_rows // 2
    matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 0.01)
    right = matrix @ at + np.where(is_equation, 0.0, rng.choice([0.0, 0.1, 5.0], n_rows))
    least, most = at * rng.choice([0.0, 0.9], n_terms), at * rng.choice([1.1, np.inf], n_terms)
    weights = rng.normal(size=n_terms) * spread
    return SeparableProgram(sp.csr_array(matrix), right, is_equation, weights, least, most)


def assert_optimal(program: SeparableProgram, answer: SeparableAnswer, size: float = 1e-8) -> None:
    """Rows and bounds hold, multipliers have their sign, and y maximises the Lagrangian: no other y is better."""
    assert answer.status is Status.OPTIMAL
    y, m, inequality = answer.y, answer.multipliers, ~program.is_equation
    excess = program.matrix @ y - program.right
    assert np.abs(excess[program.is_equation]).max(initial=0) <= size
    assert excess[inequality].max(initial=-1) <= size
    assert m[inequality].max(initial=-1) <= 0
    assert np.abs(excess * m)[inequality].max(initial=0) <= size
    least = np.zeros(len(y)) if program.least is None else program.least
    most = np.full(len(y), np.inf) if program.most is None else program.most
    expected = np.clip(np.exp(program.log_weights - 1 + program.matrix.T @ m), least, most)
    np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-300)


@examples(60)
@given(seed=seeds)
def test_random_programs(seed: int):
    """Rows, inequalities and bounds of random programs."""
    program = random_program(seed)
    assert_optimal(program, solve_separable(program))


@pytest.mark.parametrize("spread", [0.0, 10.0, 100.0, 1000.0, 5000.0])
@pytest.mark.parametrize("shape", [(12, 12), (5, 30), (30, 5)])
def test_low_temperatures(spread: float, shape: tuple[int, int]):
    """Transport whose costs are up to 5,000 times the temperature."""
    program = transport(1, *shape, spread)
    assert_optimal(program, solve_separable(program), 1e-6)


@pytest.mark.parametrize("by", [1.0, -1e3, 1e6])
def test_constants_change_nothing(by: float):
    """What is added to all costs, or to those of a row, is taken up by multipliers: neither y nor iterations change."""
    program = transport(3, 10, 14, 50.0)
    first = solve_separable(program)
    potential = program.matrix.T @ (np.arange(24.0) * by)
    other = solve_separable(replace(program, log_weights=program.log_weights + potential))
    assert abs(first.iterations - other.iterations) <= 1
    np.testing.assert_allclose(other.y, first.y, atol=1e-6)


@examples(30)
@given(seed=seeds)
def test_structures_agree(seed: int):
    """A dense, an arrow-shaped and a sparse matrix have the same products, and solve the same systems."""
    rng = np.random.default_rng(seed)
    matrix = sp.csr_array(sp.vstack([margins(4, 6)[:9], sp.random_array((3, 24), density=0.4, rng=rng)], format="csr"))
    apart = disjoint_rows(matrix, np.arange(12) < 9)
    ways = [Dense(matrix), Arrow(matrix, apart), Sparse(matrix)]
    x, m, right = rng.uniform(0.1, 2, 24), rng.normal(size=12), rng.normal(size=12)
    some = np.union1d(np.arange(9), rng.choice(12, 5))
    a = matrix.toarray()
    for way in ways:
        np.testing.assert_allclose(way.matvec(x), a @ x, atol=1e-12)
        np.testing.assert_allclose(way.rmatvec(m), a.T @ m, atol=1e-12)
        normal = (a[some] * x) @ a[some].T
        normal += 1e-3 * np.diag(normal.diagonal())
        found = way.factor(x, some, 1e-3)(right[some])
        np.testing.assert_allclose(normal @ found, right[some], atol=1e-7)


@examples(30)
@given(seed=seeds)
def test_rows_apart(seed: int):
    """Chosen rows share no term, and are equations; of a table's margins one side is chosen, the one with more rows."""
    rng = np.random.default_rng(seed)
    matrix = sp.csr_array(sp.random_array((15, 30), density=0.1, rng=rng))
    allowed = rng.random(15) < 0.7
    chosen = disjoint_rows(matrix, allowed)
    assert allowed[chosen].all()
    assert np.bincount(matrix[chosen].indices, minlength=1).max(initial=0) <= 1
    n, k = sorted(rng.integers(2, 9, 2))
    assert len(disjoint_rows(margins(n, k), np.ones(n + k, bool))) == k


def test_which_structure():
    """Moments are dense, margins an arrow, and rows that all share terms are neither."""
    rng = np.random.default_rng(0)
    everything = np.ones(60, bool)
    assert isinstance(normal_matrix(sp.csr_array(rng.normal(size=(5, 100))), everything[:5]), Dense)
    assert isinstance(normal_matrix(margins(20, 40), everything), Arrow)
    overlapping = sp.csr_array(sp.diags_array(np.ones((3, 60)), offsets=(0, 1, 2), shape=(60, 62)))
    assert isinstance(normal_matrix(overlapping, ~everything), Sparse)


def test_limits():
    """The method stops at its limit of iterations, and when the monitor says so; what it has is returned."""
    program = transport(4, 8, 8, 100.0)
    assert solve_separable(program, max_iterations=2).status is Status.LIMIT
    stopped = solve_separable(program, monitor=Monitor(callback=lambda iteration: iteration.iteration >= 3))
    assert (stopped.status, stopped.iterations) == (Status.LIMIT, 3)
    assert np.isfinite(stopped.y).all()


def test_no_answer():
    """Of rows that contradict each other the method says that it failed, and not that it is optimal."""
    matrix = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0]]))
    program = SeparableProgram(matrix, np.array([1.0, 2.0]), np.ones(2, bool), np.zeros(2))
    answer = solve_separable(program, max_iterations=LONG_PATIENCE * 3)
    assert answer.status in (Status.FAILED, Status.LIMIT)
