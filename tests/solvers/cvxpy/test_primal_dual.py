"""The primal-dual method: its answers satisfy the conditions of optimality, with bounds and with variables v."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from test_separable_newton import margins, random_program, transport

from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.cvxpy.mixed import (
    MixedAnswer,
    MixedProgram,
    SeparableProgram,
    solve_mixed,
    solve_separable,
    step_system,
)
from maxent_cvx.solvers.monitor import Monitor
from support.solving import examples

seeds = st.integers(0, 10**6)


def without_others(program: SeparableProgram) -> MixedProgram:
    return MixedProgram(program, sp.csr_array((len(program.right), 0)), np.empty(0), sp.csc_array((0, 0)))


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
    return MixedProgram(replace(terms, right=right), sp.csr_array(others), cost, sp.csc_array(curvature))


def assert_optimal(program: MixedProgram, answer: MixedAnswer, size: float = 1e-7) -> None:
    """Rows and bounds hold, multipliers have their sign, and neither another y nor another v is better."""
    assert answer.status is Status.OPTIMAL
    terms, y, v, m = program.terms, answer.y, answer.others, answer.multipliers
    excess, inequality = terms.matrix @ y + program.others @ v - terms.right, ~terms.is_equation
    assert np.abs(excess[terms.is_equation]).max(initial=0) <= size
    assert excess[inequality].max(initial=-1) <= size
    assert m[inequality].max(initial=-1) <= 0
    assert np.abs(excess * m)[inequality].max(initial=0) <= size
    least = np.zeros(len(y)) if terms.least is None else terms.least
    most = np.full(len(y), np.inf) if terms.most is None else terms.most
    with np.errstate(over="ignore"):
        expected = np.clip(np.exp(terms.log_weights - 1 + terms.matrix.T @ m), least, most)
    np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(program.others.T @ m, program.cost + program.curvature @ v, atol=size)


@examples(60)
@given(seed=seeds)
def test_random_programs(seed: int):
    """Rows, inequalities and bounds of random programs, without other variables and with them."""
    for program in (without_others(random_program(seed)), with_others(seed)):
        assert_optimal(program, solve_mixed(program))


@pytest.mark.parametrize("spread", [1.0, 30.0, 300.0, 5000.0])
@pytest.mark.parametrize("most", [1.3, 2.7, 1e6])
def test_capacities(spread: float, most: float):
    """Transport with capacities; those that cannot bind change nothing."""
    free = transport(2, 15, 15, spread)
    program = without_others(replace(free, most=np.full(225, most)))
    answer = solve_mixed(program)
    assert_optimal(program, answer, 1e-6)
    assert answer.iterations <= 40
    if most > 100:
        np.testing.assert_allclose(answer.y, solve_separable(free).y, atol=1e-6)


@pytest.mark.parametrize("by", [1.0, -1e3, 1e5])
def test_constants_change_nothing(by: float):
    """What is added to all costs, or to those of a row, changes neither y and v nor the iterations."""
    terms = replace(transport(3, 10, 14, 50.0), most=np.full(140, 6.0))
    others = sp.csr_array(np.random.default_rng(0).normal(size=(24, 2)))
    program = MixedProgram(terms, others, np.zeros(2), sp.csc_array(np.eye(2)))
    first = solve_mixed(program)
    a = np.arange(24.0) * by
    moved = replace(terms, log_weights=terms.log_weights + terms.matrix.T @ a)
    other = solve_mixed(replace(program, terms=moved, cost=program.cost - others.T @ a))
    assert abs(first.iterations - other.iterations) <= 1
    np.testing.assert_allclose(other.y, first.y, atol=1e-5)
    np.testing.assert_allclose(other.others, first.others, atol=1e-5)


@examples(25)
@given(seed=seeds)
def test_systems(seed: int):
    """Systems of a step are solved to rounding, with rows that repeat others, and again for other diagonals."""
    rng = np.random.default_rng(seed)
    program = with_others(seed)
    twice = sp.csr_array(program.terms.matrix[[0, 0, 2, 3, 4, 5]])
    program = replace(program, terms=replace(program.terms, matrix=twice))
    M, N, P = twice.toarray(), program.others.toarray(), program.curvature.toarray()
    N[1], program = N[0], replace(program, others=sp.csr_array(np.vstack([N[0], N[0], N[2:]])))
    system = step_system(program)
    for _ in range(2):
        D, W = rng.uniform(0.1, 10, M.shape[1]), np.append(np.zeros(2), rng.uniform(0.1, 10, 4))
        system.update(D, W)
        y, v, rows = rng.normal(size=M.shape[1]), rng.normal(size=3), rng.normal(size=6)
        right = D * y + M.T @ rows, P @ v + N.T @ rows, M @ y + N @ v - W * rows
        y, v, rows = system.solve(*right)
        np.testing.assert_allclose(D * y + M.T @ rows, right[0], atol=1e-8)
        np.testing.assert_allclose(P @ v + N.T @ rows, right[1], atol=1e-8)
        np.testing.assert_allclose(M @ y + N @ v - W * rows, right[2], atol=1e-8)


def test_limits():
    """The method stops at its limit of iterations, and when the monitor says so; what it has is returned."""
    program = without_others(replace(transport(4, 8, 8, 100.0), most=np.full(64, 2.0)))
    assert solve_mixed(program, max_iterations=2).status is Status.LIMIT
    stopped = solve_mixed(program, monitor=Monitor(callback=lambda iteration: iteration.iteration >= 3))
    assert (stopped.status, stopped.iterations) == (Status.LIMIT, 3)
    assert np.isfinite(stopped.y).all()


def test_no_answer():
    """Of capacities that cannot hold the margins the method says that it failed, and not that it is optimal."""
    terms = SeparableProgram(
        margins(3, 3), np.full(6, 3.0), np.ones(6, bool), np.zeros(9), None, np.full(9, 0.9)
    )  # fmt: skip
    assert solve_mixed(without_others(terms)).status is Status.FAILED
