"""DUAL_NEWTON called by CVXPY: answers, dual values and statuses, beside other solvers and by proof."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import clarabel
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from cvxpy.reductions.solvers import defines
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import SolverError, UnknownName
from maxent_cvx.solvers.cvxpy.mixed import WARM
from maxent_cvx.solvers.cvxpy.reader import ConeProgram, Distance
from maxent_cvx.solvers.cvxpy.solver import LISTS, DualNewton, solve_program
from maxent_cvx.solvers.monitor import Monitor

N = 12
TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def solve(problem: cp.Problem, **options) -> float:
    value = problem.solve(solver=DualNewton(), **options)
    assert problem.status == cp.OPTIMAL
    return float(value)


def flat(values: object) -> np.ndarray:
    """A dual value as one vector; that of an exponential cone is a list of three."""
    parts = values if isinstance(values, list) else [values]
    return np.concatenate([np.ravel(part) for part in parts])


def compare(problem: cp.Problem, atol: float = 1e-5) -> None:
    """The same value, variables and dual values, signs included, as Clarabel finds at its tightest."""
    value = solve(problem)
    found = [flat(v.value) for v in problem.variables()], [flat(c.dual_value) for c in problem.constraints]
    residual = max((np.max(c.violation(), initial=0.0) for c in problem.constraints), default=0.0)
    assert residual <= 1e-7
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # Clarabel's status at such tolerances
        assert problem.solve(solver=cp.CLARABEL, **TIGHT) == pytest.approx(value, abs=1e-8)
    for got, variable in zip(found[0], problem.variables(), strict=True):
        np.testing.assert_allclose(got, flat(variable.value), atol=atol, err_msg=variable.name())
    for got, constraint in zip(found[1], problem.constraints, strict=True):
        np.testing.assert_allclose(got, flat(constraint.dual_value), atol=atol, err_msg=str(constraint))


class Draw:
    """Random rows through a random point, and the variable that they are on."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.x = cp.Variable(N, name="x")
        self.at = rng.random(N) + 0.05
        self.A, self.G = rng.random((2, N)), rng.normal(size=(3, N))
        self.w, self.a, self.c = rng.random(N) + 0.1, rng.random(N) + 0.2, rng.normal(size=N)
        self.side = self.G @ self.at + np.array([0.0, 0.05, 3.0])  # tight, nearly so, and slack
        self.rows = [self.A @ self.x == self.A @ self.at, self.G @ self.x <= self.side]


OBJECTIVES: dict[str, Callable[[Draw], cp.Expression]] = {
    "entr": lambda d: cp.sum(cp.entr(d.x)),
    "mean": lambda d: cp.sum(cp.entr(d.x)) / N + 3,
    "factors": lambda d: d.a @ cp.entr(d.x),
    "linear": lambda d: 2 * cp.sum(cp.entr(d.x)) + d.c @ d.x,
    "arguments": lambda d: cp.sum(cp.entr(d.x / 7)) + d.a @ cp.entr(3 * d.x),
    "rel_entr": lambda d: -cp.sum(cp.rel_entr(d.x, d.w)),
    "kl_div": lambda d: -d.a @ cp.kl_div(d.x, d.w) + d.c @ d.x,
    "two references": lambda d: -cp.sum(cp.kl_div(d.x, d.w) + cp.rel_entr(d.x, d.a)),
    "of two values": lambda d: cp.sum(cp.entr(d.x) + cp.entr(2 - d.x)),
    "shifted": lambda d: cp.sum(cp.entr(d.x + 0.5)),
    "of sums": lambda d: cp.sum(cp.entr(d.x)) + cp.sum(cp.entr(d.A @ d.x)),
}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_random_problems(objective: str):
    """For any sum of entropies, equations and inequalities, all values are those of another solver."""
    draw = Draw(0)
    compare(cp.Problem(cp.Maximize(OBJECTIVES[objective](draw)), draw.rows))


def test_without_constraints():
    """-x log x is largest at 1/e, and x log(w / x) at w/e."""
    x, w = cp.Variable(3), np.array([1.0, 2.0, 1e-9])
    assert solve(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))))) == pytest.approx(3 / np.e, abs=1e-15)
    solve(cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(x, w)))))
    np.testing.assert_allclose(x.value, w / np.e, rtol=1e-14)


def with_other_variables() -> dict[str, tuple[cp.Expression, list[cp.Constraint]]]:
    """Problems with variables that have no entropy and that constraints determine."""
    d = Draw(2)
    x, y, t, s = d.x, cp.Variable(2, name="y"), cp.Variable(N, name="t"), cp.Variable(name="s")
    one, near = cp.sum(x) == 1, d.A @ x - d.A.mean() * 0.8
    entropy = cp.sum(cp.entr(x))
    return {
        "a slack": (entropy, [one, d.A @ x + y == 0.4, y >= 0]),
        "a name": (entropy + cp.sum(y), [one, d.A @ x == y, y[0] + 2 * y[1] <= 1.2]),
        "a chain": (entropy - s, [one, d.A @ x == y, y[0] - y[1] == 2 * s]),
        "an epigraph": (cp.sum(t), [t <= cp.entr(x), one, d.A @ x <= 0.4]),
        "one epigraph": (s, [s <= entropy, one, d.A @ x <= 0.4]),
        "abs": (entropy, [one, cp.abs(near) <= 0.01]),
        "norm_inf": (entropy, [one, cp.norm_inf(near) <= 0.01]),
        "a cone": (cp.sum(t), [cp.ExpCone(t, x, d.w), one, d.A @ x <= 0.4]),
    }


@pytest.mark.parametrize("name", with_other_variables())
def test_other_variables(name: str):
    """A variable without entropy is eliminated by the row that determines it, whose dual value is found too."""
    objective, rows = with_other_variables()[name]
    compare(cp.Problem(cp.Maximize(objective), rows))


def test_probabilities():
    """60,000 probabilities of 1e-5 are relatively as precise as counts, whatever the values of inactive rows."""
    n, rng = 60_000, np.random.default_rng(3)
    p, truth, B = cp.Variable(n), rng.random(n) ** 4, rng.random((5, n))
    truth /= truth.sum()
    rows = [cp.sum(p) == 1, B @ p == B @ truth, p <= 2e-5, cp.sum(p) <= 1e6]
    for factor in (1e-3, 1e4):
        problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p)) * factor), rows)
        solve(problem)
        linear_part = (rows[0].dual_value + B.T @ rows[1].dual_value + rows[2].dual_value + rows[3].dual_value) / factor
        np.testing.assert_allclose(np.log(p.value), -1 - linear_part, atol=1e-8)
        assert abs(p.value.sum() - 1) <= 1e-12
        assert np.abs(B @ p.value - B @ truth).max() <= 1e-12
        assert problem.solver_stats.num_iters < 60


def test_parameters():
    """A compiled problem is solved again with other values, also if the solver is a new object."""
    draw = Draw(5)
    side, factor = cp.Parameter(2), cp.Parameter(nonneg=True)
    problem = cp.Problem(
        cp.Maximize(factor * cp.sum(cp.entr(draw.x)) + draw.c @ draw.x), [draw.A @ draw.x == side, draw.x <= 2]
    )
    for scale, value in itertools.product((0.5, 1.0), (1.0, 4.0)):
        side.value, factor.value = scale * draw.A @ draw.at, value
        compare(problem)
    solve(problem)
    chain = problem._cache.solving_chain
    solve(problem)
    assert problem._cache.solving_chain is chain


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_statuses():
    """Contradictions, with cones and without, are infeasible; what has a cost and no limit makes others unbounded."""
    x, y, s = cp.Variable(3), cp.Variable(), cp.Variable()
    entropy, exponentials = -cp.sum(cp.entr(x)), cp.sum(cp.exp(x))
    none = cp.Parameter(value=0.0)
    infeasible = [
        (entropy, [cp.sum(x) == -1]),
        (entropy, [x >= 0.4, cp.sum(x) == 1]),
        (entropy, [cp.sum(x) == 1, cp.sum(x) == 1.001]),
        (entropy, [x <= 1, none * x[0] == 1]),
        (exponentials, [x >= 1, x[0] <= 0]),
        (exponentials, [exponentials <= 1, x >= 0.1]),
        (exponentials, [entropy <= -2, cp.sum(x) == 1]),
        (entropy - 1e-3 * s, [x >= 0, cp.sum(x) == 1, x <= 0.1]),
        # Values of 1 to 3 have no mean of 3.1. The columns of huber may become 1e10.
        (entropy + 0.01 * cp.sum(cp.huber(x - 1 / 3)), [cp.sum(x) == 1, [1, 2, 3] @ x == 3.1]),
    ]
    unbounded = [
        (convex - 1e-3 * s, [x >= 0, cp.sum(x) == 1]) for convex in (entropy, entropy + cp.sum_squares(x), exponentials)
    ]
    for cone in (-cp.entr(x[0]), cp.exp(x[0]), -cp.log(x[0])):  # the objective falls along y
        infeasible += [(cone - y, [y >= 0, x[0] >= 3, x[0] <= 2]), (cone - y, [y >= x[0], x[0] + y == 1, x[0] >= 2])]
        unbounded += [(cone - y, [y >= 0, x[0] >= 1, x[0] <= 2]), (cone - y, [y >= 0, x[0] <= 1])]
    # 0 = 0.1 + 0.2 - 0.3 is what rounding leaves of a row, and no contradiction; 0 = 0.001 is one.
    infeasible += [(entropy, [cp.sum(x) == 1, none * x[0] == 1e-3])]
    optimal = [(entropy, [cp.sum(x) == 1, none * x[0] == side]) for side in (5e-17, -5e-17)]
    for cases, status in ((infeasible, cp.INFEASIBLE), (unbounded, cp.UNBOUNDED), (optimal, cp.OPTIMAL)):
        for objective, rows in cases:
            problem = cp.Problem(cp.Minimize(objective), rows)
            problem.solve(solver=DualNewton())
            assert problem.status == status, problem
            assert (problem.value == np.inf) == (status == cp.INFEASIBLE)


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_a_minimum_of_zero(unit: float):
    """Where a quadratic cost is 0, as in consistent least squares, all derivatives are, and the answer is optimal."""
    x, lam = cp.Variable(4), cp.Parameter(nonneg=True)
    matrix = np.array([[1.0, 0, 1, 0], [0, 0, 1, 1]])
    cost = cp.sum_squares(matrix @ x - matrix @ np.array([0.3, 0.2, 0.4, 0.1]) * unit)
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(x) == unit, cp.sum(cp.entr(x / unit)) >= 1])
    assert solve(problem) == pytest.approx(0, abs=1e-5 * unit**2)
    problem = cp.Problem(cp.Minimize(cost - lam * cp.sum(cp.entr(x))), [cp.sum(x) == unit])
    for lam.value in (1.0, 0.0):
        solve(problem)
        assert problem.status == cp.OPTIMAL


def test_recursions():
    """Each sum of a cumulative distribution is defined by the one before; such chains are not substituted to their end."""
    x = cp.Variable(300)
    rows = [cp.sum(x) == 1, cp.cumsum(x) <= np.linspace(0.01, 1.2, 300)]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows)
    assert solve(problem) == pytest.approx(problem.solve(solver=cp.CLARABEL), rel=1e-7)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_limits(capsys: pytest.CaptureFixture):
    """Statistics of answers; if iterations or time run out the status is not optimal; iterations are printed."""
    draw = Draw(0)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(draw.x))), draw.rows)
    problem.solve(solver=DualNewton(), max_iterations=1)
    assert problem.status == cp.USER_LIMIT
    assert not problem.solver_stats.extra_stats.holds
    solve(problem, verbose=True, tolerance=1e-10)
    stats = problem.solver_stats
    assert (stats.solver_name, stats.extra_stats.holds) == ("DUAL_NEWTON", True)
    assert 0 < stats.num_iters < 30
    assert stats.solve_time > 0
    assert isinstance(stats.extra_stats, Distance)
    assert "residual" in capsys.readouterr().out
    problem = problems(0)["logistic"]
    for option in ({"max_iterations": 2}, {"time_limit": 0}):
        problem.solve(solver=DualNewton(), **option)
        assert problem.status == cp.USER_LIMIT
    assert not capsys.readouterr().out
    problem.solve(solver=DualNewton(), verbose=True)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.split()[:1] and line.split()[0].isdigit()]
    assert len(lines) == problem.solver_stats.num_iters + 1


# -- other exponential cones ----------------------------------------------------------------------------------------


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
@pytest.mark.parametrize("name", problems(0))
def test_other_problems(name: str):
    """The same optimum as another solver finds, and where they are precise the same dual values; rows hold."""
    if name in ("norm1", "sum_squares", "entropy constraint", "max"):
        compare(problems(1)[name], 1e-4)
    problem = problems(0)[name]
    value = problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    assert max((np.max(c.violation(), initial=0.0) for c in problem.constraints), default=0.0) <= 1e-6
    assert problem.solve(solver=cp.CLARABEL) == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_a_cone_beyond_which_the_exponential_vanishes():
    """Exponentials of -30 and less are 0 up to rounding; an answer is not refused for the logarithm of such a number."""
    for seed in (1, 3):
        rng = np.random.default_rng(seed)
        x, a, B = cp.Variable(6), rng.normal(size=6), rng.normal(size=(6, 6))
        problem = cp.Problem(cp.Minimize(cp.log_sum_exp(B @ x)), [a @ x == 1, x <= 10, x >= -10])
        assert problem.solve(solver=DualNewton()) == pytest.approx(problem.solve(solver=cp.CLARABEL), abs=1e-7)


def test_no_objective_and_no_sides():
    """A problem of feasibility alone, and one whose optimum is at 0."""
    x, y = cp.Variable(2), cp.Variable(3)
    feasible = cp.Problem(cp.Minimize(0), [cp.sum(cp.exp(x)) <= 1])
    assert feasible.solve(solver=DualNewton()) == 0
    assert np.exp(x.value).sum() <= 1 + 1e-8
    at_zero = cp.Problem(cp.Minimize(-y[0] + y[1] + y[2]), [cp.ExpCone(y[0], y[1], y[2])])
    assert at_zero.solve(solver=DualNewton()) == pytest.approx(0, abs=1e-9)
    assert at_zero.status == cp.OPTIMAL


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_no_solver_is_believed(monkeypatch: pytest.MonkeyPatch):
    """Clarabel's own status decides nothing: a wrong answer with the status optimal is detected."""
    exact = clarabel.DefaultSolver

    class Wrong:
        by = 1 + 1e-6

        def __init__(self, *data: object) -> None:
            self.exact = exact(*data)
            self.set_termination_callback = self.exact.set_termination_callback

        def solve(self) -> SimpleNamespace:
            found = self.exact.solve()
            x = Wrong.by * np.array(found.x)
            return SimpleNamespace(status=found.status, x=x, z=found.z, iterations=found.iterations)

    monkeypatch.setattr(clarabel, "DefaultSolver", Wrong)
    problem = problems(0)["log_sum_exp"]
    problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL_INACCURATE
    for Wrong.by in (2.0, np.nan):
        with pytest.raises(SolverError):
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


def test_an_interruption_is_not_lost(monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C, and any other error while an iteration is reported, ends the solve."""

    def interrupt(self: Monitor, line: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Monitor, "tell", interrupt)
    with pytest.raises(KeyboardInterrupt):
        problems(0)["logistic"].solve(solver=DualNewton())


def test_large_prices_of_slack_variables():
    """Rows that may be missed at a price above their multipliers are met: the answer is that of the hard rows."""
    rng = np.random.default_rng(0)
    n, k = 400, 4
    x = rng.standard_t(4, size=(n, k)) * 0.02
    moments = np.hstack([x, x**2])
    moments /= np.linalg.norm(moments, axis=0)
    views = rng.dirichlet(np.ones(n)) @ moments
    p, slack = cp.Variable(n), cp.Variable(2 * k)
    divergence = cp.sum(cp.kl_div(p, np.full(n, 1 / n)))
    cp.Problem(cp.Minimize(divergence), [p >= 0, cp.sum(p) == 1, p @ moments == views]).solve(solver=DualNewton())
    hard = p.value.copy()
    for price in (1e2, 1e5, 1e8):
        rows = [p >= 0, cp.sum(p) == 1, p @ moments - views == slack]
        solve(cp.Problem(cp.Minimize(divergence + price * cp.norm1(slack)), rows))
        np.testing.assert_allclose(p.value, hard, atol=max(1e-9, 1e-15 * price) * hard.max())


@pytest.mark.parametrize(
    ("arguments", "sides", "cost"),
    [
        ([[0, 1, 1], [0, 1, 0], [1, 0, 0]], [0.3, 0.3, 0], [30, -60, -90]),
        ([[2, 2, 0], [0, 1, 2], [0, 2, 1]], [0.3, 0, 0.3], [30, -90, -90]),
        ([[1, 1, 1], [2, 1, 0], [1, 1, 1], [2, 1, 2]], [0, 0.3, 0.3, 0], [-30, 90, 0]),
    ],
)
def test_arguments_of_entropies_are_not_negative(arguments: list[list[int]], sides: list[float], cost: list[float]):
    """Large costs decide: the optimum is at a vertex, where an argument of -1e-16 would have no entropy."""
    x, A, b = cp.Variable(3), np.array(arguments), np.array(sides)
    rows = [cp.sum(x) <= 10, x >= -10]
    value = solve(cp.Problem(cp.Maximize(1e-3 * cp.sum(cp.entr(A @ x + b)) + cost @ x), rows))
    cp.Problem(cp.Maximize(cost @ x), [*rows, A @ x + b >= 0]).solve(solver=cp.HIGHS)
    vertex = np.maximum(A @ x.value + b, 0)
    assert value == pytest.approx(cost @ x.value + 1e-3 * cp.sum(cp.entr(vertex)).value, abs=1e-6)


# -- refusals and registration ------------------------------------------------------------------------------------------


def test_a_single_solution():
    """All products of the barriers become 0, in double precision, where rows determine all terms, most of them as 0."""
    x, unit = cp.Variable((4, 4)), 1e4
    masks = [
        np.array([list(map(int, row)) for row in text.split()])
        for text in ("1100 0101 1001 1000", "0001 0001 0100 1001")
    ]
    rows = [cp.sum(x, 1) == unit * np.array([1, 3, 1, 2]), cp.sum(x, 0) == unit * np.array([1, 1, 0, 5])]
    rows += [cp.sum(cp.multiply(mask, x)) == side * unit for mask, side in zip(masks, (4, 6), strict=True)]
    rows += [x[0, 2] + x[0, 3] + x[1, 3] + x[3, 0] + x[3, 1] + x[3, 3] <= 5 * unit]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) - cp.sum_squares(x) / unit), rows)
    problem.solve(solver=DualNewton())
    assert problem.status == cp.OPTIMAL
    expected = [[1, 0, 0, 0], [0, 0, 0, 3], [0, 1, 0, 0], [0, 0, 0, 2]]
    np.testing.assert_allclose(x.value / unit, expected, atol=1e-6)


def test_infinite_sides():
    """What is below infinity is always true; what no finite number satisfies is refused, in rows and in cones."""
    x, limit = cp.Variable(3), cp.Parameter(value=np.inf)
    entropy = cp.Maximize(cp.sum(cp.entr(x)))
    problem = cp.Problem(entropy, [cp.sum(x) == 1, x[0] <= limit])
    assert problem.solve(solver=DualNewton()) == pytest.approx(np.log(3), abs=1e-9)
    limit.value = -np.inf
    from_infinity = cp.Problem(cp.Minimize(cp.sum(cp.kl_div(x, np.array([1, 2, np.inf])))), [cp.sum(x) == 1])
    for wrong in (problem, cp.Problem(entropy, [cp.sum(x) == np.inf]), from_infinity):
        with pytest.raises(SolverError, match="infinite"):
            wrong.solve(solver=DualNewton())


def test_refused_problems():
    """Problems without exponential cones, and other cones, are refused by an error of CVXPY's and of this package."""
    x = cp.Variable(4, name="x")
    for objective in (cp.Maximize(x[0]), cp.Minimize(cp.sum_squares(x))):
        with pytest.raises(SolverError, match="CLARABEL") as caught:
            cp.Problem(objective, [cp.sum(x) == 1, x >= 0]).solve(solver=DualNewton())
        assert isinstance(caught.value, cp.error.SolverError)
    integer = cp.Variable(4, integer=True)
    for y, rows in ((x, [cp.norm(x) <= 1]), (x, [cp.diag(x) >> 0.1 * np.eye(4)]), (integer, [])):
        with pytest.raises(
            (SolverError, cp.error.SolverError), match=r"DUAL_NEWTON|no conic solvers|integer variables"
        ):
            cp.Problem(cp.Maximize(cp.sum(cp.entr(y))), [cp.sum(y) == 1, *rows]).solve(solver=DualNewton())
    y = cp.Variable(4, nonneg=True)  # CVXPY compiles xexp to second-order cones without announcing them
    for objective in (cp.sum(cp.entr(y) - cp.xexp(y)), -cp.sum(cp.xexp(y))):
        with pytest.raises(SolverError, match="xexp") as caught:
            cp.Problem(cp.Maximize(objective), [cp.sum(y) == 1]).solve(solver=DualNewton())
        assert isinstance(caught.value, cp.error.SolverError)
    with pytest.raises(UnknownName, match="max_iterations") as unknown:
        cp.Problem(cp.Maximize(cp.sum(cp.entr(x)))).solve(solver=DualNewton(), max_iter=3)
    assert isinstance(unknown.value, cp.error.SolverError)


@pytest.fixture
def lists() -> Iterator[dict[str, list[str]]]:
    """CVXPY's lists of solvers without DUAL_NEWTON, which are put back at the end."""
    names_of = {which: getattr(defines, which) for which in LISTS if hasattr(defines, which)}
    kept, solvers = {which: list(names) for which, names in names_of.items()}, dict(defines.SOLVER_MAP_CONIC)
    defines.SOLVER_MAP_CONIC.pop("DUAL_NEWTON", None)
    for names in names_of.values():
        names[:] = [name for name in names if name != "DUAL_NEWTON"]
    yield {which: list(names) for which, names in names_of.items()}
    defines.SOLVER_MAP_CONIC.clear()
    defines.SOLVER_MAP_CONIC.update(solvers)
    for which, names in names_of.items():
        names[:] = kept[which]


def test_registration(lists: dict[str, list[str]]):
    """CVXPY finds the solver by name after it is registered, however often, and its own default stays the same."""
    x = cp.Variable(6)
    die = [cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, np.arange(1, 7) @ x == 4.5]) for _ in "123"]
    with pytest.raises(cp.error.SolverError, match="not installed"):
        die[0].solve(solver="DUAL_NEWTON")
    die[0].solve()
    for _ in range(2):
        assert mx.solvers.register_with_cvxpy() == "DUAL_NEWTON"
        for which, names in lists.items():
            assert getattr(defines, which) == [*names, "DUAL_NEWTON"]
    die[1].solve()
    assert die[0].solver_stats.solver_name == die[1].solver_stats.solver_name != "DUAL_NEWTON"
    die[2].solve(solver="dual_newton")
    assert die[2].solver_stats.solver_name == "DUAL_NEWTON"
    # In a list of solvers, a problem that it refuses goes to the next one.
    for objective, by in ((cp.Maximize(cp.sum(cp.entr(x))), "DUAL_NEWTON"), (cp.Minimize(cp.norm(x - 1)), "CLARABEL")):
        problem = cp.Problem(objective, [cp.sum(x) == 1])
        problem.solve(solver_path=["DUAL_NEWTON", "CLARABEL"])
        assert problem.solver_stats.solver_name == by
        np.testing.assert_allclose(x.value, 1 / 6, atol=1e-5)


# -- problems that are solved again -------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [None, 3.0])
def test_warm_starts(most: float | None):
    """After a small move of a parameter, without bounds, fewer than half the steps; the answer is that of a new problem."""
    cost = np.random.default_rng(0).random((12, 15))
    x, margin = cp.Variable((12, 15)), cp.Parameter(12, value=np.full(12, 1 / 12))
    rows = [cp.sum(x, axis=1) == margin, cp.sum(x, axis=0) == 1 / 15]
    rows += [] if most is None else [x <= most / 180]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x)) - 0.01 * cp.sum(cp.entr(x))), rows)
    solve(problem)
    first, margins = problem.solver_stats.num_iters, margin.value
    for by in (1e-4, 1e-2, 0.5):
        margin.value = margins
        solve(problem)
        moved = margins * (1 + by * np.linspace(-1, 1, 12))
        margin.value = moved / moved.sum()
        value, taken, plan = solve(problem), problem.solver_stats.num_iters, x.value
        assert solve(problem, warm_start=False) == pytest.approx(value, abs=1e-9)
        np.testing.assert_allclose(plan, x.value, atol=1e-8)
        assert taken <= problem.solver_stats.num_iters + WARM
        if by <= 1e-2 and most is None:
            assert taken < first / 2


def test_warm_starts_of_other_statuses_and_scales():
    """Infeasible values of parameters, and ones of other scales, are recognised and solved after a solution, too."""
    x, side, factor = cp.Variable(3), cp.Parameter(value=1.0), cp.Parameter(nonneg=True, value=1.0)
    problem = cp.Problem(cp.Maximize(factor * cp.sum(cp.entr(x)) + factor * x[0]), [cp.sum(x) == side, x <= 0.5])
    cases = ((1.0, 1.0, True), (2.0, 1.0, False), (1.2, 1e-6, True), (-1.0, 1.0, False), (0.9, 1e6, True))
    for side.value, factor.value, is_feasible in cases:
        problem.solve(solver=DualNewton())
        assert problem.status == (cp.OPTIMAL if is_feasible else cp.INFEASIBLE)
        if is_feasible:
            first = min(side.value * np.e / (np.e + 2), 0.5)
            np.testing.assert_allclose(x.value, [first, *[(side.value - first) / 2] * 2], atol=1e-9)
