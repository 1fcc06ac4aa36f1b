"""Convex constraints: what cannot hold is refused as Infeasible, and nothing else is; budgets are read as written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxent_cvx import Infeasible, MaxEnt, P, QITable, Release, SolverError
from maxent_cvx.solvers.convex import decreasing_root, read_budget

TARGET = np.array([0.35, 0.58, 0.07])
METRIC = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 3.0]])
THIRD = np.full(3, 1 / 3)

#: Convex functions of three probabilities, and where each is least.
ATOMS: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "sum_squares": (lambda p: cp.sum_squares(p - TARGET), TARGET),
    "norm2": (lambda p: cp.norm2(p - TARGET), TARGET),
    "huber": (lambda p: cp.sum(cp.huber(p - TARGET, 0.1)), TARGET),
    "quad_form": (lambda p: cp.quad_form(p - TARGET, METRIC), TARGET),
    "norm1": (lambda p: cp.norm1(p - TARGET), TARGET),
    "norm_inf": (lambda p: cp.norm_inf(p - TARGET), TARGET),
    "kl_div": (lambda p: cp.sum(cp.kl_div(p, TARGET)), TARGET),
    "rel_entr": (lambda p: cp.sum(cp.rel_entr(p, TARGET)), TARGET),
    "reversed rel_entr": (lambda p: cp.sum(cp.rel_entr(TARGET, p)), TARGET),
    "entr": (lambda p: -cp.sum(cp.entr(p)), THIRD),
    "power": (lambda p: cp.sum(cp.power(p, 3)), THIRD),
    "pnorm": (lambda p: cp.pnorm(p, 3), THIRD),
    "exp": (lambda p: cp.sum(cp.exp(p)), THIRD),
    "log_sum_exp": (lambda p: cp.log_sum_exp(5 * p), THIRD),
    "logistic": (lambda p: cp.sum(cp.logistic(p)), THIRD),
    "inv_pos": (lambda p: cp.sum(cp.inv_pos(p)), THIRD),
    "geo_mean": (lambda p: -cp.geo_mean(p), THIRD),
    "log": (lambda p: -cp.sum(cp.log(p)), THIRD),
    "max": (lambda p: cp.max(cp.square(p)), THIRD),
    "sum_largest": (lambda p: cp.sum_largest(p, 2), THIRD),
    "quad_over_lin": (lambda p: cp.quad_over_lin(p[:2] - 1, p[2] + 1), np.array([0.5, 0.5, 0.0])),
}


def answer(sizes: list[int], function: Callable[[Any], Any], limit: float) -> np.ndarray | None:
    """P(s) in the answer to one constraint on it; None if it is called infeasible."""
    table = pd.DataFrame({"q": range(len(sizes)), "n": sizes})
    view = QITable(table, qi="q", sa="s", sa_values=["a", "b", "c"], count="n")
    model = MaxEnt(view).add(lambda space: function(space.marginal("s").expr) <= limit)
    try:
        post = model.solve()
    except Infeasible:
        return None
    return np.asarray(post.counts).reshape(-1, 3).sum(axis=0) / sum(sizes)


@pytest.mark.parametrize("name", ATOMS)
def test_what_can_hold_is_answered(name: str):
    """A limit above the least value is kept by the answer, whatever the sizes of the groups; one below it is refused.

    At the least value itself, which is attained, the answer may be too inexact to be certified.
    """
    rng, (function, at) = np.random.default_rng(list(ATOMS).index(name)), ATOMS[name]
    corner = np.array([0.9, 0.05, 0.05])
    least, uniform, far = (float(function(cp.Constant(p)).value) for p in (at, THIRD, corner))
    for share, short in ((0.5, 1e-3), (0.03, 0.3)):
        sizes = [10 ** int(k) for k in rng.integers(0, 7, rng.integers(1, 5))]
        limit = least + share * (max(uniform, far) - least)
        p = answer(sizes, function, limit)
        assert p is not None
        assert float(function(cp.Constant(p)).value) <= limit + 1e-6 * max(1.0, abs(limit))
        below = 0.0 if name == "quad_over_lin" else least  # least at an inner point, not above this bound
        assert answer(sizes, function, below - short * abs(far - below)) is None
    if name in ("norm2", "kl_div", "entr", "max", "log_sum_exp", "geo_mean"):
        with contextlib.suppress(SolverError):
            assert answer([300_000, 30_000, 3], function, least + 1e-14 * max(1.0, abs(least))) is not None


FOUR = pd.DataFrame({"g": ["a"] * 50 + ["b"] * 50})


def near_uniform(space: Any) -> Any:
    """The divergence of P(g, s) from 1/4 each is .35 log(.35/.25) 2 + .15 log(.15/.25) 2 at P(y | a) = .7."""
    return cp.sum(cp.rel_entr(space.marginal(["g", "s"]).expr, np.full(4, 0.25))) <= 0.01


def model(*said: Any) -> MaxEnt:
    view = QITable(FOUR, qi="g", sa="s", sa_distribution=pd.Series({"y": 50, "n": 50}))
    return MaxEnt(view).add(*said)


def test_two_constraints_that_contradict_each_other():
    """Each of them can hold alone; the error names both."""

    def far_from_uniform(space: Any) -> Any:
        return cp.sum_squares(space.marginal(["g", "s"]).expr - [0.4, 0.1, 0.1, 0.4]) <= 0.001

    for one in (near_uniform, far_from_uniform):
        assert model(one).solve().certificate.holds
    with pytest.raises(Infeasible) as caught:
        model(near_uniform, far_from_uniform).solve()
    assert all(constraint.__name__ in str(caught.value) for constraint in (near_uniform, far_from_uniform))


def test_diagnosis_of_convex_constraints():
    """The contradiction is of the two that clash, and of no third; without one of them there is none."""
    clash = P("y", given={"g": "a"}) >= 0.7
    table = model(P("y", given={"g": "b"}) <= 0.9, near_uniform, clash).diagnose()
    least = 0.7 * np.log(0.7 / 0.5) + 0.3 * np.log(0.3 / 0.5)
    assert set(table.index) == {"near_uniform", "P(y | g=a) >= 0.7"}
    assert table.loc["near_uniform", "least"] == pytest.approx(least, abs=1e-6)
    p = table.loc["P(y | g=a) >= 0.7", "most"]
    assert p * np.log(2 * p) + (1 - p) * np.log(2 - 2 * p) == pytest.approx(0.01, abs=1e-6)
    assert model(near_uniform).diagnose().empty


def test_a_reference_of_zero():
    """A divergence from 0 is finite at 0 only."""
    view = QITable(pd.DataFrame({"q": ["a"] * 6 + ["b"] * 3}), qi="q", sa="s", sa_values=["x", "y", "z"])
    reference = np.array([0.5, 0.5, 0.0])
    for divergence, solver in ((cp.kl_div, "auto"), (cp.rel_entr, "auto"), (cp.kl_div, "SCS")):

        def ball(space: Any, divergence: Any = divergence) -> Any:
            return cp.sum(divergence(space.marginal("s").expr, reference)) <= 0.01

        post = MaxEnt(view).add(ball).solve(solver)
        assert post.certificate.holds
        np.testing.assert_allclose(np.asarray(post.counts), [3, 3, 0, 1.5, 1.5, 0], atol=1e-3)


# -- budgets: sums of convex costs as they are read from CVXPY, and the multiplier at which they are spent ----------

N = 5
A = np.array([[1.0, 2.0, 0.0, -1.0, 0.0], [0.0, 0.5, 3.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
B = np.array([0.5, -1.0, 2.0])
BELIEVED = np.array([0.5, 1.0, 2.0, 0.1, 0.7])

#: What is a sum of costs, as users write it in CVXPY.
SUMS: dict[str, Callable[[cp.Variable], Any]] = {
    "sum of squares": lambda x: cp.sum_squares(A @ x - B) - 3,
    "weighted squares": lambda x: np.array([1.0, 0.5, 2.0]) @ cp.square(A @ x - B) - 3,
    "a matrix of squares": lambda x: np.ones(3) @ (np.diag([1.0, 0.5, 2.0]) @ cp.square(A @ x - B)) - 3,
    "a matrix that mixes squares": lambda x: (
        np.array([1.0, 2.0]) @ (np.array([[1, 0, 2], [0, 3, 1]]) @ cp.square(A @ x))
    ),
    "a constant at the right": lambda x: cp.square(A @ x - B) @ np.array([1.0, 0.5, 2.0]) - 3,
    "one square": lambda x: 2 * cp.square(x[0] - 1) + x[1] - 1,
    "norm": lambda x: 2 * cp.norm(A @ x - B) - 3,
    "absolute": lambda x: cp.norm1(A @ x - B) - 2,
    "sum of absolute values": lambda x: cp.sum(cp.multiply(np.array([1.0, 2.0, 3.0]), cp.abs(A @ x - B))) / 2 - 2,
    "Huber": lambda x: cp.sum(cp.huber(A @ x - B, 0.7)) - 2,
    "positive part": lambda x: cp.pos(x[0] - 1) + 3 * cp.neg(x[1] - 2) - 1,
    "quadratic form": lambda x: cp.quad_form(A @ x - B, np.diag([1.0, 2.0, 0.0]) + 0.1) - 2,
    "divergence": lambda x: cp.sum(cp.kl_div(x, BELIEVED)) - 2,
    "relative entropy": lambda x: cp.sum(cp.rel_entr(x[:3], BELIEVED[:3])) - 2,
    "entropy": lambda x: 1 - cp.sum(cp.entr(x)),
    "everything": lambda x: cp.sum_squares(x[:2]) + cp.norm1(x[2:]) - cp.sum(cp.entr(x)) + 2 * cp.sum(x) - 9,
}
#: Convex, and no sum of costs that one multiplier settles.
OTHERS: dict[str, Callable[[cp.Variable], Any]] = {
    "the largest two": lambda x: cp.sum_largest(x, 2) - 1,
    "exponential": lambda x: cp.sum(cp.exp(x)) - 9,
    "a divergence from what is unknown": lambda x: cp.sum(cp.rel_entr(BELIEVED, x)) - 1,
    "a norm and a square": lambda x: cp.norm(x) + cp.sum_squares(x) - 2,
    "a fourth power": lambda x: cp.sum(cp.power(x, 4)) - 2,
}


@given(name=st.sampled_from(list(SUMS)), values=st.lists(st.floats(0.01, 3), min_size=N, max_size=N))
@settings(max_examples=100)
def test_what_is_read_is_what_was_written(name: str, values: list[float]):
    """A budget is kept where the CVXPY constraint holds, by as much (a norm by the difference of squares)."""
    x = cp.Variable(N, nonneg=True)
    expression = SUMS[name](x)
    budget = read_budget(expression, x, name)
    assert budget is not None
    x.value = np.array(values)
    written, read = float(expression.value), budget.spent(x.value) - budget.limit
    if name == "norm":  # 2 |y| <= 3 is |y|^2 <= 2.25
        written = ((written + 3) / 2) ** 2 - 2.25
    assert read == pytest.approx(written, rel=1e-9, abs=1e-9)


def test_other_functions_are_left_to_cuts():
    """Without a budget the reader returns None; nothing is read in part."""
    x = cp.Variable(N, nonneg=True)
    for name, other in OTHERS.items():
        assert read_budget(other(x), x, name) is None, name


def test_a_target_of_zero_makes_a_zero():
    """As y log(y / 0) is infinite for y > 0, y must be 0."""
    x = cp.Variable(N, nonneg=True)
    budget = read_budget(cp.sum(cp.kl_div(x, np.array([1.0, 0.0, 2.0, 0.0, 1.0]))) - 1, x, "ball")
    assert budget is not None
    assert budget.zeros.toarray().tolist() == np.eye(N)[[1, 3]].tolist()
    assert budget.matrix.shape[0] == 3


def test_a_ball_of_all_terms_is_known_as_one():
    """A divergence of every term with one factor changes the weights; one of some terms, or of sums, does not."""
    x = cp.Variable(N, nonneg=True)
    ball = read_budget(3 * cp.sum(cp.kl_div(x, BELIEVED)) - 1, x, "ball")
    some = read_budget(cp.sum(cp.kl_div(x[1:], BELIEVED[1:])) - 1, x, "some")
    sums = read_budget(cp.sum(cp.kl_div(np.abs(A) @ x, B + 2)) - 1, x, "sums")
    assert ball.ball[0] == 3
    np.testing.assert_array_equal(ball.ball[1], BELIEVED)
    assert some.ball is None
    assert sums.ball is None


@given(st.floats(0.1, 10), st.floats(-6, 6), st.floats(-3, 3), st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_the_root_of_a_decreasing_function(scale: float, log_root: float, log_start: float, power: float):
    """Whatever the scale of the function and of its root, and wherever the search begins."""
    root = 10.0**log_root

    def function(t: float) -> float:
        return scale * (1 / (1 + (t / root) ** power) - 0.5)

    found, value = decreasing_root(function, 10.0**log_start, 0.0, 1e-14, 1e12, 200)
    assert found == pytest.approx(root, rel=1e-9)
    assert abs(value) <= 1e-9 * scale


def test_the_bound_covers_the_rounding_of_a_curve():
    """Sum p^3 <= L moves p by the root of a rounding error of the sum; 50 digits of the optimality conditions show it."""
    n, values, limit = 3, (1, 4, 5), 0.119  # the people of x, and everybody with each value
    records = pd.DataFrame({"g": ["x"] * n + ["y"] * 7, "s": np.repeat(list("abc"), values), "b": 1})
    model = MaxEnt(Release.from_buckets(records, qi="g", sa="s", bucket="b"))
    post = model.add(
        lambda space: cp.sum(cp.power(space.conditional("s", given="g").xs("x", level="g").expr, 3)) <= limit
    ).solve()
    found = [post.prob(value, given={"g": "x"}) for value in "abc"]

    def conditions(a: mp.mpf, b: mp.mpf, t: mp.mpf) -> tuple[mp.mpf, ...]:
        p = [a, b, 1 - a - b]
        slope = [mp.log(n * q / (m - n * q)) + t * q**2 for q, m in zip(p, values, strict=True)]
        return slope[0] - slope[2], slope[1] - slope[2], mp.fsum(q**3 for q in p) - mp.mpf(limit)

    with mp.workdps(50):
        exact = mp.findroot(conditions, (found[0], found[1], 50), tol=1e-60, maxsteps=50, verify=False)
        off = max(abs(exact[0] - found[0]), abs(exact[1] - found[1]))
    assert off <= post.certificate.bound < 1e-6
