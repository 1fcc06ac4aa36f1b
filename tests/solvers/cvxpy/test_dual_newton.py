"""DUAL_NEWTON called by CVXPY on general problems: answers, dual values and statuses."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import Infeasible, MaxEnt, SolverError
from maxent_cvx.solvers.cvxpy import solver as dual_newton
from maxent_cvx.solvers.cvxpy.reader import Distance
from maxent_cvx.solvers.cvxpy.solver import DualNewton
from support.depot import CUBE, SOLVABLE, Case, p, publish
from support.random_models import random_model

N = 12
TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
SEEDS = range(6)


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


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_random_problems(objective: str, seed: int):
    """For any sum of entropies, equations and inequalities, all values are those of another solver."""
    draw = Draw(seed)
    compare(cp.Problem(cp.Maximize(OBJECTIVES[objective](draw)), draw.rows))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_minimised(objective: str):
    """Minimising the negative objective has the same answer and the same dual values."""
    draw = Draw(0)
    x, found = draw.x, []
    for sense, sign in ((cp.Maximize, 1), (cp.Minimize, -1)):
        rows = [draw.A @ x == draw.A @ draw.at, draw.G @ x <= draw.side]
        value = solve(cp.Problem(sense(sign * OBJECTIVES[objective](draw)), rows))
        found.append(np.concatenate([[sign * value], x.value, *(row.dual_value for row in rows)]))
    np.testing.assert_allclose(*found, atol=1e-12)


def test_without_constraints():
    """-x log x is largest at 1/e, and x log(w / x) at w/e."""
    x, w = cp.Variable(3), np.array([1.0, 2.0, 1e-9])
    assert solve(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))))) == pytest.approx(3 / np.e, abs=1e-15)
    solve(cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(x, w)))))
    np.testing.assert_allclose(x.value, w / np.e, rtol=1e-14)


def test_die():
    """Jaynes' die: with a mean of 4.5, p_i is proportional to exp(-m i), and m is the dual value."""
    p, faces = cp.Variable(6, nonneg=True), np.arange(1, 7)
    one, mean = cp.sum(p) == 1, faces @ p == 4.5
    solve(cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [one, mean]))
    odds = np.exp(-mean.dual_value * faces)
    np.testing.assert_allclose(p.value, odds / odds.sum(), atol=1e-14)
    assert one.dual_value == pytest.approx(np.log(odds.sum()) - 1, abs=1e-10)
    np.testing.assert_allclose(p.value, [0.05435, 0.07877, 0.11416, 0.16545, 0.23977, 0.34749], atol=1e-5)


@pytest.mark.parametrize("bounds", [{"nonneg": True}, {"bounds": [0, 0.3]}, {"bounds": [0.02, None]}])
def test_bounds(bounds: dict):
    """Bounds in the declaration of a variable are constraints like others."""
    draw = Draw(1)
    x = cp.Variable(N, **bounds)
    compare(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, draw.A @ x <= draw.A.mean() * 0.9]))


def test_matrix():
    """A table with given margins: an outer product (Bartlett), whatever the order in which it is flattened."""
    x, r, c = cp.Variable((3, 4)), np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.3, 0.4])
    rows = [cp.sum(x, axis=1) == r, cp.sum(x, axis=0) == c]
    solve(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows))
    np.testing.assert_allclose(x.value, np.outer(r, c), atol=1e-14)
    np.testing.assert_allclose(-1 - rows[0].dual_value[:, None] - rows[1].dual_value, np.log(x.value), atol=1e-12)


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


@pytest.mark.parametrize("factor", [1.0, 1e-3, 1e4])
def test_probabilities(factor: float):
    """60,000 probabilities of 1e-5 are relatively as precise as counts, whatever the values of inactive rows."""
    n, rng = 60_000, np.random.default_rng(3)
    p, truth, B = cp.Variable(n), rng.random(n) ** 4, rng.random((5, n))
    truth /= truth.sum()
    rows = [cp.sum(p) == 1, B @ p == B @ truth, p <= 2e-5, cp.sum(p) <= 1e6]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p)) * factor), rows)
    solve(problem)
    linear_part = (rows[0].dual_value + B.T @ rows[1].dual_value + rows[2].dual_value + rows[3].dual_value) / factor
    np.testing.assert_allclose(np.log(p.value), -1 - linear_part, atol=1e-8)
    assert abs(p.value.sum() - 1) <= 1e-12
    assert np.abs(B @ p.value - B @ truth).max() <= 1e-12
    assert problem.solver_stats.num_iters < 60


@pytest.mark.parametrize("temperature", [1.0, 0.1, 2e-3])
def test_large_linear_part(temperature: float):
    """Entropic transport: problems with a linear part hundreds of times the entropy are solved."""
    rng = np.random.default_rng(4)
    cost, x = rng.random((10, 15)), cp.Variable((10, 15))
    rows = [cp.sum(x, axis=0) == 1 / 15, cp.sum(x, axis=1) == 1 / 10]
    solve(cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x)) - temperature * cp.sum(cp.entr(x))), rows))
    log_x = (-cost - rows[0].dual_value - rows[1].dual_value[:, None]) / temperature - 1
    np.testing.assert_allclose(x.value, np.exp(log_x), atol=1e-9)
    np.testing.assert_allclose(x.value.sum(axis=0), 1 / 15, atol=1e-9)


def test_forced_zeros():
    """If rows imply that a term is 0, dual values are large, and the answer is optimal nevertheless."""
    x = cp.Variable(6)
    zeros = [x[0] + x[1] == 0.5, x[2] + x[3] == 0.5, x[0] + x[2] == 1, x[4] == 0]
    solve(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [*zeros, cp.sum(x) == 2]))
    np.testing.assert_allclose(x.value, [0.5, 0, 0.5, 0, 0, 1], atol=1e-8)


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


@pytest.mark.parametrize("seed", range(20))
def test_random_models(seed: int):
    """The solution of a model's CVXPY problem is the posterior."""
    model, _ = random_model(seed)
    post = model.solve()
    assert solve(model.problem) == pytest.approx(post.entropy, abs=1e-8)
    np.testing.assert_allclose(model.space.counts.value, post.counts, atol=1e-5)


#: DUAL_NEWTON reads entropies from CVXPY, and no costs of soft rows.
INTERIOR = [case for case in SOLVABLE if case.interior and not case.needs_soft_rows]


@pytest.mark.parametrize("case", INTERIOR, ids=lambda case: case.name)
def test_models(case: Case):
    """The same for problems with known answers."""
    model = case.model()
    solve(model.problem)
    np.testing.assert_allclose(model.space.counts.value, case.expected(model.space), rtol=1e-7, atol=1e-7)


# -- statuses --------------------------------------------------------------------------------


def contradictions() -> list[list[cp.Constraint]]:
    x = cp.Variable(4)
    return [
        [x == x, cp.sum(x) == -1],
        [x >= 0.3, cp.sum(x) == 1],
        [cp.sum(x) == 1, cp.sum(x) == 1.001],
        [x <= 1, 0 * x[0] == 1],
    ]


@pytest.mark.parametrize("at", range(len(contradictions())))
def test_infeasible(at: int):
    """A problem is called infeasible if a linear program confirms it."""
    rows = contradictions()[at]
    x = rows[0].variables()[0]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows)
    assert problem.solve(solver=DualNewton()) == -np.inf
    assert problem.status == cp.INFEASIBLE
    assert x.value is None


def test_infeasible_model():
    """An infeasible model is infeasible by this package and by CVXPY."""
    model = MaxEnt(publish(CUBE)).add(p(["s1", "s2"], "q1") == 0.9, p("s3", "q1") >= 0.2)
    with pytest.raises(Infeasible):
        model.solve()
    model.problem.solve(solver=DualNewton())
    assert model.problem.status == cp.INFEASIBLE


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_limits():
    """When the iterations run out the status is not optimal."""
    draw = Draw(0)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(draw.x))), draw.rows)
    problem.solve(solver=DualNewton(), max_iterations=1)
    assert problem.status == cp.USER_LIMIT
    assert not problem.solver_stats.extra_stats.holds


def test_almost_is_never_optimal(monkeypatch: pytest.MonkeyPatch):
    """The methods' own status decides nothing: a wrong answer with the status optimal is replaced by Clarabel's."""
    exact = dual_newton.solve_separable

    def wrong(program, **options):
        answer = exact(program, **options)
        return answer._replace(multipliers=answer.multipliers + 0.01)

    draw = Draw(0)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(draw.x))), draw.rows)
    right = solve(problem)
    monkeypatch.setattr(dual_newton, "solve_separable", wrong)
    assert solve(problem, warm_start=False) == pytest.approx(right, abs=1e-8)
    monkeypatch.setattr(dual_newton, "_by_clarabel", lambda program, tolerance, options: None)
    with pytest.raises(SolverError, match="no answer"):
        problem.solve(solver=DualNewton(), warm_start=False)


def transport(cost: np.ndarray, temperature: float, *, scale: float = 1.0, mass: float = 1.0) -> tuple:
    """Entropic transport between uniform margins: its plan, and the problem."""
    n, k = cost.shape
    x = cp.Variable((n, k))
    objective = scale * (cp.sum(cp.multiply(cost, x)) - temperature * cp.sum(cp.entr(x)))
    return x, cp.Problem(cp.Minimize(objective), [cp.sum(x, axis=1) == mass / n, cp.sum(x, axis=0) == mass / k])


@pytest.mark.parametrize("constant", [1.0, -804.0, 1e4])
def test_constants_in_costs(constant: float):
    """A constant in all costs, or one for every row and column, changes neither the plan nor the iterations."""
    cost = np.random.default_rng(5).random((9, 11))
    x, problem = transport(cost, 0.02)
    solve(problem)
    for other in (cost + constant, cost + constant * np.arange(9)[:, None] - constant * np.arange(11)):
        y, again = transport(other, 0.02)
        solve(again)
        np.testing.assert_allclose(y.value, x.value, atol=1e-8)
        assert abs(again.solver_stats.num_iters - problem.solver_stats.num_iters) <= 1


@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1e6, 1e12])
@pytest.mark.parametrize("mass", [1e-10, 1.0, 1e12])
def test_scales(scale: float, mass: float):
    """The unit of the objective and that of the variables change neither the shares nor the iterations."""
    cost = np.random.default_rng(6).random((9, 11))
    x, problem = transport(cost, 0.02)
    solve(problem)
    y, again = transport(cost, 0.02, scale=scale, mass=mass)
    solve(again)
    np.testing.assert_allclose(y.value / mass, x.value, atol=1e-8)
    assert abs(again.solver_stats.num_iters - problem.solver_stats.num_iters) <= 1


@pytest.mark.parametrize("ratio", [50, 500, 5000])
def test_little_entropy(ratio: float):
    """With a temperature of a 5,000th of the largest cost, the plan is nearly that of least cost, found by HiGHS."""
    cost = np.random.default_rng(7).random((12, 12))
    x, problem = transport(cost, cost.max() / ratio)
    solve(problem)
    log_x = (
        -(cost + problem.constraints[0].dual_value[:, None] + problem.constraints[1].dual_value) * ratio / cost.max()
    )
    np.testing.assert_allclose(x.value, np.exp(log_x - 1), rtol=1e-6, atol=1e-9)
    least = cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x))), [*problem.constraints, x >= 0])
    value = float(np.sum(cost * x.value))
    least.solve(solver=cp.HIGHS)
    # The entropies of two plans differ by log n^2 at most, and each is optimal for its own objective.
    assert least.value - 1e-9 <= value <= least.value + cost.max() / ratio * np.log(144)


@pytest.mark.parametrize("seed", range(4))
def test_many_bounds(seed: int):
    """Capacities on every variable, below and above: the plan and the dual values are those of another solver."""
    rng = np.random.default_rng(seed)
    cost, x = rng.random((8, 9)), cp.Variable((8, 9))
    least, most = 0.3 / 72 * rng.random((8, 9)), (1.2 + rng.random((8, 9))) / 72
    rows = [cp.sum(x, axis=1) == 1 / 8, cp.sum(x, axis=0) <= 1 / 8, x >= least, x <= most, x <= 1, x >= 0]
    compare(cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x)) - 0.3 * cp.sum(cp.entr(x))), rows), 1e-4)


@pytest.mark.parametrize("mean", [3.5, 5.99])
def test_dense_moments(mean: float):
    """Dense rows, of which some are not active."""
    rng = np.random.default_rng(8)
    x, B = cp.Variable(400), rng.normal(size=(6, 400))
    at = rng.random(400)
    rows = [cp.sum(x) == at.sum(), B[:3] @ x == B[:3] @ at, B[3:] @ x <= B[3:] @ at + mean]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows)
    solve(problem)
    exponent = rows[0].dual_value + B[:3].T @ rows[1].dual_value + B[3:].T @ rows[2].dual_value
    np.testing.assert_allclose(np.log(x.value), -1 - exponent, atol=1e-9)
    assert max(row.violation().max() for row in rows) <= 1e-8
    assert (rows[2].dual_value >= 0).all()


def test_statistics(capsys: pytest.CaptureFixture):
    """The answer has iterations, time, residuals and gap, and with verbose=True a log is printed."""
    draw = Draw(0)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(draw.x))), draw.rows)
    solve(problem, verbose=True, tolerance=1e-10)
    stats = problem.solver_stats
    assert stats.solver_name == "DUAL_NEWTON"
    assert 0 < stats.num_iters < 30
    assert stats.solve_time > 0
    assert isinstance(stats.extra_stats, Distance)
    assert stats.extra_stats.holds
    assert "residual" in capsys.readouterr().out


def test_front_door():
    """The solver is an attribute of the room, and an unknown attribute is an error."""
    assert "DualNewton" in dir(mx.solvers)
    with pytest.raises(AttributeError, match="DualNewtons"):
        mx.solvers.DualNewtons  # noqa: B018
    assert DualNewton() == DualNewton() != mx.solvers.SOLVERS["DUAL_NEWTON"]
    assert "maxent" in DualNewton().cite({})


@pytest.mark.parametrize(("side", "status"), [(5e-17, cp.OPTIMAL), (-5e-17, cp.OPTIMAL), (1e-3, cp.INFEASIBLE)])
def test_a_row_without_variables_holds_up_to_rounding(side: float, status: str):
    """0 = 0.1 + 0.2 - 0.3 is what rounding leaves of a row, and no contradiction; 0 = 0.001 is one."""
    x, none = cp.Variable(3), cp.Parameter(value=0.0)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, none * x[0] == side])
    problem.solve(solver=DualNewton())
    assert problem.status == status
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == status


@pytest.mark.parametrize(("cost", "status"), [(0.1 + 0.2 - 0.3, cp.OPTIMAL), (1e-3, cp.UNBOUNDED)])
def test_a_cost_in_no_row_counts_beyond_rounding(cost: float, status: str):
    """What rounding leaves of a cost on a variable that nothing limits makes no problem unbounded."""
    x, free = cp.Variable(3), cp.Variable()
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + cost * free), [cp.sum(x) == 1])
    for solver in (DualNewton(), cp.CLARABEL):
        problem.solve(solver=solver)
        assert problem.status == status
