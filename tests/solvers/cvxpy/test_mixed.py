"""The primal-dual method and Newton's method from a start: answers satisfy the optimality conditions, which prove them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.cvxpy.mixed import MixedAnswer, MixedProgram, solve_from, solve_mixed
from maxent_cvx.solvers.monitor import Monitor

seeds = st.integers(0, 10**6)


def margins(n: int, k: int) -> sp.csr_array:
    """The sums of the rows and of the columns of an n x k table."""
    first, last = sp.kron(sp.eye_array(n), np.ones((1, k))), sp.kron(np.ones((1, n)), sp.eye_array(k))
    return sp.csr_array(sp.vstack([first, last], format="csr"))


def of_terms(
    matrix: sp.csr_array, right: np.ndarray, is_equation: np.ndarray, log_weights: np.ndarray, **bounds: np.ndarray
) -> MixedProgram:
    """A program without variables without entropy."""
    none = sp.csr_array((len(right), 0)), np.empty(0), sp.csc_array((0, 0))
    return MixedProgram(matrix, right, is_equation, log_weights, *none, **bounds)


def transport(seed: int, n: int, k: int, spread: float, most: float | None = None) -> MixedProgram:
    """Costs between 0 and a spread in units of the temperature, between uniform margins, perhaps with capacities."""
    rng = np.random.default_rng(seed)
    right = np.concatenate([np.full(n, float(k)), np.full(k, float(n))])
    bounds = {} if most is None else {"most": np.full(n * k, most)}
    return of_terms(margins(n, k), right, np.ones(n + k, bool), -spread * rng.random(n * k), **bounds)


def random_program(seed: int, n_rows: int = 6, n_terms: int = 20) -> MixedProgram:
    """Rows and bounds through a random point inside, some of them tight there."""
    rng = np.random.default_rng(seed)
    at = rng.uniform(0.3, 2.0, n_terms)
    matrix = rng.normal(size=(n_rows, n_terms)) * (rng.random((n_rows, n_terms)) < rng.choice([0.3, 1.0]))
    matrix[0] = 1.0
    is_equation = np.arange(n_rows) < n_rows // 2
    matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 0.01)
    right = matrix @ at + np.where(is_equation, 0.0, rng.choice([0.0, 0.1, 5.0], n_rows))
    least, most = at * rng.choice([0.0, 0.9], n_terms), at * rng.choice([1.1, np.inf], n_terms)
    weights = rng.normal(size=n_terms) * 3.0
    return of_terms(sp.csr_array(matrix), right, is_equation, weights, least=least, most=most)


def with_others(seed: int) -> MixedProgram:
    """A random program with three variables v, of which two have a quadratic cost, around a known v."""
    rng = np.random.default_rng(seed)
    terms = random_program(seed)
    others, v, half = rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=(2, 3))
    others[0] = 0.0
    multipliers = np.where(terms.is_equation, rng.normal(size=6), -rng.random(6))
    curvature = half.T @ half
    cost = others.T @ multipliers - curvature @ v  # so that the problem is bounded: some multipliers satisfy N' m = q
    right = terms.right + others @ v
    return replace(terms, right=right, others=sp.csr_array(others), cost=cost, curvature=sp.csc_array(curvature))


def assert_optimal(program: MixedProgram, answer: MixedAnswer, size: float = 1e-7) -> None:
    """Rows and bounds hold, multipliers have their sign, and neither another y nor another v is better."""
    assert answer.status is Status.OPTIMAL
    y, v, m = answer.y, answer.others, answer.multipliers
    excess, inequality = program.matrix @ y + program.others @ v - program.right, ~program.is_equation
    assert np.abs(excess[program.is_equation]).max(initial=0) <= size
    assert excess[inequality].max(initial=-1) <= size
    assert m[inequality].max(initial=-1) <= 0
    assert np.abs(excess * m)[inequality].max(initial=0) <= size
    with np.errstate(over="ignore"):
        expected = np.clip(np.exp(program.log_weights - 1 + program.matrix.T @ m), program.least, program.most)
    np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(program.others.T @ m, program.cost + program.curvature @ v, atol=size)


@given(seed=seeds)
def test_random_programs(seed: int):
    """Rows, inequalities and bounds, without other variables and with them; Newton's method from nearby multipliers."""
    for program in (random_program(seed), with_others(seed)):
        assert_optimal(program, solve_mixed(program))
    program = transport(seed, 6, 8, 20.0)
    answer = solve_mixed(program)
    start = answer.multipliers + 1e-2 * np.random.default_rng(seed).normal(size=14)
    again = solve_from(program, start, monitor=Monitor())
    assert_optimal(program, again, 1e-8)
    assert again.iterations <= 6
    np.testing.assert_allclose(again.y, answer.y, atol=1e-6)


@pytest.mark.parametrize("most", [None, 1.3, 1e6])
def test_low_temperatures_and_capacities(most: float | None):
    """Transport whose costs are up to 5,000 times the temperature, with capacities; those that cannot bind are idle."""
    for spread in (0.0, 30.0, 5000.0):
        program = transport(2, 12, 18, spread, most)
        answer = solve_mixed(program)
        assert_optimal(program, answer, 1e-6)
        assert answer.iterations <= 40
        if most == 1e6:
            np.testing.assert_allclose(answer.y, solve_mixed(replace(program, most=np.inf)).y, atol=1e-6)


def test_limits():
    """The method stops at its limit of iterations, and when the monitor says so; its last point is returned.

    Of rows that contradict each other, or capacities that cannot hold the margins, no answer is called optimal.
    """
    program = transport(4, 8, 8, 100.0, most=2.0)
    assert solve_mixed(program, max_iterations=2).status is Status.LIMIT
    stopped = solve_mixed(program, monitor=Monitor(callback=lambda iteration: iteration.iteration >= 3))
    assert (stopped.status, stopped.iterations) == (Status.LIMIT, 3)
    assert np.isfinite(stopped.y).all()
    for program in (replace(transport(5, 3, 3, 1.0), right=np.arange(6.0)), transport(5, 3, 3, 1.0, 0.9)):
        assert solve_mixed(program).status is not Status.OPTIMAL
        assert solve_from(program, np.zeros(6), monitor=Monitor()).status is not Status.OPTIMAL
