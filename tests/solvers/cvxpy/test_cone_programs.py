"""Problems with more than entropies: answers, dual values and statuses, checked against another solver and by proof."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import clarabel
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from test_dual_newton import compare

from maxent_cvx import SolverError
from maxent_cvx.solvers.cvxpy.reader import ConeProgram
from maxent_cvx.solvers.cvxpy.solver import DualNewton, solve_program
from maxent_cvx.solvers.monitor import Monitor
from support.solving import examples


def problems(seed: int) -> dict[str, cp.Problem]:
    """Problems of many kinds, each with a solution, and dual values, that are unique."""
    rng = np.random.default_rng(seed)
    x, y, s = cp.Variable(6, name="x"), cp.Variable(6, name="y"), cp.Variable(name="s")
    A, c, w = rng.random((2, 6)), rng.normal(size=6), rng.random(6) + 0.1
    at = rng.random(6) + 0.1
    at /= at.sum()
    B = rng.normal(size=(3, 6))
    entropy, one = cp.sum(cp.entr(x)), cp.sum(x) == 1
    low, high = cp.Minimize, cp.Maximize
    return {
        "logarithms": cp.Problem(high(w @ cp.log(x)), [A @ x <= 1]),
        "exponentials": cp.Problem(low(cp.sum(cp.exp(B @ x - 1)) + cp.sum_squares(x))),
        "log_sum_exp": cp.Problem(low(cp.log_sum_exp(B.T @ y[:3] + c) + 0.1 * cp.sum_squares(y[:3]))),
        "logistic": cp.Problem(low(cp.sum(cp.logistic(B @ x)) + cp.norm1(x) / 3)),
        "norm1": cp.Problem(high(entropy - 2 * cp.norm1(B @ x - B @ at)), [one]),
        "max": cp.Problem(high(entropy - cp.max(cp.multiply(c, x))), [one]),
        "hinge": cp.Problem(high(entropy - 3 * cp.sum(cp.pos(B @ x))), [one]),
        "sum_squares": cp.Problem(high(entropy - 5 * cp.sum_squares(B @ x - 1)), [one]),
        "huber": cp.Problem(high(entropy - cp.sum(cp.huber(B @ x - 1, 0.3))), [one]),
        "free": cp.Problem(high(entropy - cp.square(s)), [one, c @ x + s == 2]),
        "conditional value at risk": cp.Problem(high(entropy - s - 2 * cp.sum(cp.pos(c - s)) / 6), [one, s >= c @ x]),
        "entropy constraint": cp.Problem(high(c @ x), [one, entropy >= np.log(6) - 0.2]),
        "relative entropy constraint": cp.Problem(high(c @ x), [one, cp.sum(cp.kl_div(x, at)) <= 0.1]),
        "of two variables": cp.Problem(low(cp.sum(cp.kl_div(x, y))), [one, cp.sum(y) == 1, x[0] >= 0.5, y[0] <= 0.2]),
        "perspective": cp.Problem(low(cp.sum(cp.rel_entr(y, x))), [one, A @ y == A @ at]),
    }


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", problems(0))
def test_random_problems(name: str, seed: int):
    """The same optimum as another solver finds; the status is optimal, and rows hold."""
    problem = problems(seed)[name]
    value = problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    assert max((np.max(c.violation(), initial=0.0) for c in problem.constraints), default=0.0) <= 1e-6
    assert problem.solve(solver=cp.CLARABEL) == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", ["norm1", "sum_squares", "entropy constraint", "relative entropy constraint", "max"])
def test_duals(name: str):
    """Variables and dual values, signs included."""
    compare(problems(1)[name], 1e-4)


def test_unbounded():
    """A problem without an end is unbounded, which a direction proves."""
    x, s = cp.Variable(3), cp.Variable()
    for problem in (
        cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + s), [cp.sum(x) == 1]),
        cp.Problem(cp.Minimize(cp.log_sum_exp(x))),
    ):
        problem.solve(solver=DualNewton())
        assert problem.status == cp.UNBOUNDED
        assert abs(problem.value) == np.inf


def test_infeasible():
    """Contradictory rows, without and with a cone between them, are infeasible, which dual values prove."""
    x = cp.Variable(3)
    for rows in ([x >= 1, x[0] <= 0], [cp.sum(cp.exp(x)) <= 1, x >= 0.1], [cp.sum(cp.entr(x)) >= 2, cp.sum(x) == 1]):
        problem = cp.Problem(cp.Minimize(cp.sum(cp.exp(x))), rows)
        problem.solve(solver=DualNewton())
        assert problem.status == cp.INFEASIBLE
        assert problem.value == np.inf


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("unit", [1e8, 1e10, 1e12])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["soft", "log", "exp", "constraint"])
def test_large_units_are_not_infeasible(name: str, seed: int, unit: float):
    """A problem with a feasible point is not infeasible in other units; if it is optimal, the optimum is the same."""
    rng = np.random.default_rng(seed)
    at, c, w = rng.random(5), rng.normal(size=5), rng.random(5) + 0.1
    found = []
    for by in (1.0, unit):
        x, s = cp.Variable(5), cp.Variable()
        of_sum = cp.sum(cp.rel_entr(x, cp.sum(x) * np.ones(5))) / by
        objective, row = {
            "soft": (cp.sum(cp.rel_entr(x, by * w)) / by + 2 * cp.sum(cp.pos(cp.multiply(c, x) - s)) / by + s / by, []),
            "log": (w.sum() * np.log(by) - w @ cp.log(x) + cp.abs(s) / by, [x[1] == by * at[1]]),
            "exp": (cp.sum(cp.exp(cp.multiply(c, x) / by)) + cp.abs(s) / by, []),
            "constraint": (of_sum + s / by, [cp.sum(cp.kl_div(x, by * (at + 1e-3))) <= 0.1 * by, s >= -by]),
        }[name]
        problem = cp.Problem(cp.Minimize(objective), [cp.sum(x) == by * at.sum(), c @ x + s == 2 * by, *row])
        with suppress(SolverError):  # that it finds no answer it may say
            found.append(problem.solve(solver=DualNewton()))
            assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
    assert found == pytest.approx([found[0]] * len(found), rel=1e-5 if problem.status == cp.OPTIMAL else 0.1, abs=1e-5)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("n", [1, 3])
def test_nothing_is_left(n: int):
    """If rows force all variables to be 0, the optimum is 0."""
    x = cp.Variable(n)
    for rows in ([cp.sum(x) == 0], [cp.sum(x) == 0, x <= 1.5]):
        problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows)
        assert problem.solve(solver=DualNewton()) == pytest.approx(0, abs=1e-8)
        assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)  # dual values tend to infinity
        np.testing.assert_allclose(x.value, 0, atol=1e-9)


def test_row_without_variables():
    """0 = 1 is infeasible also beside rows of 1e12."""
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.exp(x / 1e12))), [cp.sum(x) == 1e12, 0 * x[0] == 1])
    problem.solve(solver=DualNewton())
    assert problem.status == cp.INFEASIBLE


def test_a_variable_without_limit():
    """What has a cost and is in no constraint makes a problem unbounded, unless the constraints are contradictory."""
    x, s = cp.Variable(3, bounds=[0, None]), cp.Variable()
    for rows, status in (([cp.sum(x) == 1], cp.UNBOUNDED), ([cp.sum(x) == 1, x <= 0.1], cp.INFEASIBLE)):
        for objective in (cp.sum(cp.entr(x)), cp.sum(cp.entr(x)) - cp.sum_squares(x), -cp.sum(cp.exp(x))):
            problem = cp.Problem(cp.Maximize(objective + 1e-3 * s), rows)
            problem.solve(solver=DualNewton())
            assert problem.status == status


def test_rounding_errors():
    """A row of coefficients that are rounding errors of 0 changes nothing."""
    x = cp.Variable(3)
    noise = np.array([3e-17, 2e-17, 1e-17])
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, noise @ x == 0])
    problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    np.testing.assert_allclose(x.value, 1 / 3, atol=1e-5)


def test_no_objective_and_no_sides():
    """A problem of feasibility alone, and one whose optimum is at 0."""
    x, y = cp.Variable(2), cp.Variable(3)
    feasible = cp.Problem(cp.Minimize(0), [cp.sum(cp.exp(x)) <= 1])
    assert feasible.solve(solver=DualNewton()) == 0
    assert np.exp(x.value).sum() <= 1 + 1e-8
    at_zero = cp.Problem(cp.Minimize(-y[0] + y[1] + y[2]), [cp.ExpCone(y[0], y[1], y[2])])
    assert at_zero.solve(solver=DualNewton()) == pytest.approx(0, abs=1e-9)
    assert at_zero.status == cp.OPTIMAL


@pytest.mark.parametrize("by", [1 + 1e-6, 2.0, np.nan])
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_almost_is_never_optimal(monkeypatch: pytest.MonkeyPatch, by: float):
    """Clarabel's own status decides nothing: a wrong answer with the status optimal is detected."""
    exact = clarabel.DefaultSolver

    class Wrong:
        def __init__(self, *data: object) -> None:
            self.exact = exact(*data)
            self.set_termination_callback = self.exact.set_termination_callback

        def solve(self) -> SimpleNamespace:
            found = self.exact.solve()
            x = by * np.array(found.x)
            return SimpleNamespace(status=found.status, x=x, z=found.z, iterations=found.iterations)

    monkeypatch.setattr(clarabel, "DefaultSolver", Wrong)
    problem = problems(0)["log_sum_exp"]
    if by < 1.1:
        problem.solve(solver=DualNewton())
        assert problem.status == cp.OPTIMAL_INACCURATE
        return
    with pytest.raises(SolverError, match="no answer"):
        problem.solve(solver=DualNewton())


def known(seed: int, curved: bool) -> tuple[ConeProgram, np.ndarray]:
    """A cone program and its solution, which is strictly complementary: it is made around it."""
    rng = np.random.default_rng(seed)
    n, n_exp = 8, 4
    A, x, half = rng.normal(size=(8 + 3 * n_exp, n)), rng.normal(size=n), rng.normal(size=(3, n))
    P = sp.csc_array(half.T @ half) if curved else None
    s, z = np.zeros(len(A)), rng.normal(size=len(A))
    active = rng.random(6) < 0.4
    s[2:8], z[2:8] = np.where(active, 0, rng.uniform(0.5, 2, 6)), np.where(active, rng.uniform(0.5, 2, 6), 0)
    # On the boundary of the cone, and the normal there: t = u log(w / u) and a (-1, log(w / u) - 1, u / w).
    u, w, a = rng.uniform(0.5, 2, (3, n_exp))
    s[8:] = np.stack([u * np.log(w / u), u, w], axis=1).ravel()
    z[8:] = (a * np.stack([-np.ones(n_exp), np.log(w / u) - 1, u / w])).T.ravel()
    c = -((P @ x if curved else 0) + A.T @ z)
    return ConeProgram(c, sp.csr_array(A), A @ x + s, 2, 6, n_exp, str, P), x


units = st.sampled_from([1e-12, 1e-6, 1.0, 1e6, 1e12])


@examples(25)
@given(seed=st.integers(0, 10**6), curved=st.booleans(), cost=units, side=units)
def test_known_solutions(seed: int, curved: bool, cost: float, side: float):
    """The value is that of the solution that a program was made around, in any units of objective and variables."""
    program, x = known(seed, curved)
    P = None if program.P is None else cost / side * program.P
    scaled = replace(program, c=cost * program.c, P=P, b=side * program.b)
    answer = solve_program(scaled, {"monitor": Monitor()})
    assert answer.status == cp.OPTIMAL
    size = 1 + abs(program.value(x)) + np.abs(program.c) @ np.abs(x)
    assert scaled.value(answer.z) / (cost * side) == pytest.approx(program.value(x), abs=1e-6 * size)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_limits(capsys: pytest.CaptureFixture):
    """When iterations or time run out the status is not optimal; a line is printed for each iteration."""
    for option in ({"max_iterations": 2}, {"time_limit": 0}):
        problem = problems(0)["logistic"]
        problem.solve(solver=DualNewton(), **option)
        assert problem.status == cp.USER_LIMIT
    assert not capsys.readouterr().out
    problem.solve(solver=DualNewton(), verbose=True)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.split()[:1] and line.split()[0].isdigit()]
    assert len(lines) == problem.solver_stats.num_iters + 1


def test_an_interruption_is_not_lost(monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C, and any other error while an iteration is reported, ends the solve."""

    def interrupt(self: Monitor, line: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Monitor, "tell", interrupt)
    with pytest.raises(KeyboardInterrupt):
        problems(0)["logistic"].solve(solver=DualNewton())


@pytest.mark.parametrize("price", [1e2, 1e5, 1e8])
@pytest.mark.parametrize("seed", range(3))
def test_large_prices_of_slack_variables(seed: int, price: float):
    """Rows that may be missed at a price above their multipliers are met: the answer is that of the hard rows."""
    rng = np.random.default_rng(seed)
    n, k = 400, 4
    x = rng.standard_t(4, size=(n, k)) * 0.02
    moments = np.hstack([x, x**2])
    moments /= np.linalg.norm(moments, axis=0)
    views = rng.dirichlet(np.ones(n)) @ moments
    p, slack = cp.Variable(n), cp.Variable(2 * k)
    divergence = cp.sum(cp.kl_div(p, np.full(n, 1 / n)))
    priced = cp.Problem(
        cp.Minimize(divergence + price * cp.norm1(slack)), [p >= 0, cp.sum(p) == 1, p @ moments - views == slack]
    )
    priced.solve(solver=DualNewton())
    assert priced.status == cp.OPTIMAL
    found = p.value.copy()
    cp.Problem(cp.Minimize(divergence), [p >= 0, cp.sum(p) == 1, p @ moments == views]).solve(solver=DualNewton())
    np.testing.assert_allclose(found, p.value, atol=max(1e-9, 1e-15 * price) * p.value.max())


@pytest.mark.parametrize("seed", range(3))
def test_large_prices_that_are_paid(seed: int):
    """A mean that no weights have: they are softmax(price a), among outcomes that are nearly the largest."""
    a = 1 - np.random.default_rng(seed).random(60) ** 6
    p = cp.Variable(60)
    divergence = cp.sum(cp.kl_div(p, np.full(60, 1 / 60)))
    priced = cp.Problem(cp.Minimize(divergence + 1e5 * cp.abs(a @ p - 2)), [cp.sum(p) == 1])
    priced.solve(solver=DualNewton())
    assert priced.status == cp.OPTIMAL
    np.testing.assert_allclose(p.value, softmax(1e5 * a), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_costs_of_many_variables(seed: int):
    """A quantile beside an entropy, with as many variables without entropy as with it, takes few steps."""
    rng = np.random.default_rng(seed)
    n = 1_000
    c, x, s = rng.normal(size=n), cp.Variable(n), cp.Variable()
    shortfall = s + 2 * cp.sum(cp.pos(c - s)) / n
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) - shortfall), [cp.sum(x) == 1])
    problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    assert problem.solver_stats.num_iters <= 30
    largest_half = np.sort(c)[n // 2 :]
    assert problem.value == pytest.approx(np.log(n) - largest_half.mean(), abs=1e-9)


@pytest.mark.parametrize("exponential", [lambda x: -cp.entr(x), cp.exp, lambda x: -cp.log(x)])
def test_a_contradiction_with_an_improving_direction_is_infeasible(exponential):
    """The objective falls along y, but no x satisfies the rows: the problem has no value to fall."""
    x, y = cp.Variable(), cp.Variable()
    for rows in ([y >= 0, x >= 3, x <= 2], [y >= x, x + y == 1, x >= 2]):
        problem = cp.Problem(cp.Minimize(exponential(x) - y), rows)
        problem.solve(solver=DualNewton())
        assert problem.status == "infeasible"
    problem = cp.Problem(cp.Minimize(exponential(x) - y), [y >= 0, x >= 1, x <= 2])
    problem.solve(solver=DualNewton())
    assert problem.status == "unbounded"
