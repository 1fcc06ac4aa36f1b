"""What no distribution can satisfy is refused as Infeasible, and nothing else is, whatever the sizes of the groups."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxent_cvx import Infeasible, MaxEnt, P, QITable, SolverError

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
SIZES = st.lists(st.integers(0, 6).map(lambda k: 10**k), min_size=1, max_size=4)


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
@settings(max_examples=3)
@given(sizes=SIZES, share=st.sampled_from([0.5, 0.03]))
def test_what_can_hold_is_answered(name: str, sizes: list[int], share: float):
    """A limit above the least value is kept by the answer, to which uniform probabilities move no nearer."""
    function, at = ATOMS[name]
    least, uniform = (float(function(cp.Constant(p)).value) for p in (at, THIRD))
    corner = float(function(cp.Constant(np.array([0.9, 0.05, 0.05]))).value)
    limit = least + share * (max(uniform, corner) - least)
    p = answer(sizes, function, limit)
    assert p is not None
    assert float(function(cp.Constant(p)).value) <= limit + 1e-6 * max(1.0, abs(limit))


@pytest.mark.parametrize("name", ATOMS)
@settings(max_examples=3)
@given(sizes=SIZES, short=st.sampled_from([1e-3, 0.3]))
def test_what_cannot_hold_is_infeasible(name: str, sizes: list[int], short: float):
    """A limit below the least value is refused by a proof."""
    function, at = ATOMS[name]
    values = [float(function(cp.Constant(p)).value) for p in (at, np.array([0.9, 0.05, 0.05]))]
    if name == "quad_over_lin":  # least at an inner point, not above this bound
        values[0] = 0.0
    assert answer(sizes, function, values[0] - short * abs(values[1] - values[0])) is None


@pytest.mark.parametrize("name", ["sum_squares", "norm2", "huber", "kl_div", "entr", "max", "log_sum_exp", "geo_mean"])
@pytest.mark.parametrize("sizes", [[300_000, 30_000, 3]])
def test_the_least_value_itself_is_not_called_infeasible(name: str, sizes: list[int]):
    """It is attained, so that the answer may only be too inexact to be certified."""
    function, at = ATOMS[name]
    limit = float(function(cp.Constant(at)).value)
    with contextlib.suppress(SolverError):
        assert answer(sizes, function, limit + 1e-14 * max(1.0, abs(limit))) is not None


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
    with pytest.raises(
        Infeasible, match=r"'far_from_uniform' and 'near_uniform'|'near_uniform' and 'far_from_uniform'"
    ):
        model(near_uniform, far_from_uniform).solve()


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


@pytest.mark.parametrize(("divergence", "solver"), [(cp.kl_div, "auto"), (cp.rel_entr, "auto"), (cp.kl_div, "SCS")])
def test_a_reference_of_zero(divergence: Any, solver: str):
    """A divergence from 0 is finite at 0 only."""
    view = QITable(pd.DataFrame({"q": ["a"] * 6 + ["b"] * 3}), qi="q", sa="s", sa_values=["x", "y", "z"])
    ball = MaxEnt(view).add(
        lambda space: cp.sum(divergence(space.marginal("s").expr, np.array([0.5, 0.5, 0.0]))) <= 0.01
    )
    post = ball.solve(solver)
    assert post.certificate.holds
    np.testing.assert_allclose(np.asarray(post.counts), [3, 3, 0, 1.5, 1.5, 0], atol=1e-3)
