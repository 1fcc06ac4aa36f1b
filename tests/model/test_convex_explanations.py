"""Prices, bounds, contradictions and certainties of models with convex statements."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from tests.benchmarks.convex_prices import KINDS, drawn, missed

TARGET = np.array([0.1, 0.2, 0.2, 0.1, 0.2, 0.2])


@pytest.fixture
def view():
    """Fifty people in each of two groups, of whom nothing else is known."""
    people = pd.DataFrame({"g": ["a"] * 50 + ["b"] * 50})
    return mx.QITable(people, qi="g", sa="s", sa_values=["x", "y", "z"])


def near(side, of=cp.sum_squares):
    """The joint distribution is near a target."""
    return lambda space: of(space.marginal(["g", "s"]).expr - TARGET) <= side


@pytest.mark.parametrize("kind", KINDS)
def test_prices_are_derivatives_of_the_entropy(kind):
    """They are dH / d(right-hand side), of the convex statement and of the linear one beside it."""
    table = missed(drawn(list(KINDS).index(kind), [kind]))
    assert table["close"].all(), table
    price = table["price"].iloc[0]
    assert price < 0 if kind == "entropy" else price > 0


@pytest.mark.parametrize("seed", [40, 44, 59])
def test_prices_of_two_convex_statements(seed):
    """The same with two of them."""
    table = missed(drawn(seed))
    assert table["close"].all(), table


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_prices_of_conic_solvers(view, solver):
    """The dual values of a conic solver give the same prices."""
    model = mx.MaxEnt(view).add(near(0.1), P("x", given={"g": "a"}) >= 0.7)
    pd.testing.assert_frame_equal(model.solve(solver).prices(), model.solve().prices(), atol=1e-5)


def test_prices_of_a_solved_program(view):
    """A program that CVXPY has solved has dual values of its own."""
    model = mx.MaxEnt(view).add(near(0.1), P("x", given={"g": "a"}) >= 0.7)
    model.problem.solve("CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    pd.testing.assert_frame_equal(model.read(model.problem).prices(), model.solve().prices(), atol=1e-5)


def test_what_does_not_bind_has_no_price(view):
    """A price of 0 says that a statement follows from the others."""
    prices = mx.MaxEnt(view).add(near(1.0), P("x", given={"g": "a"}) >= 0.1, label=None).solve().prices()
    assert (prices["price"] == 0).all()
    assert (prices["side"] == "").all()


def test_prices_of_each_entry(view):
    """A constraint on a vector has a price for each entry."""

    def each(space):
        return cp.kl_div(space.marginal(["g", "s"]).expr, TARGET) <= 0.004

    model = mx.MaxEnt(view).add(each)
    post = model.solve()
    prices = post.prices(leave_one_out=True)
    assert len(prices) == 6
    assert (prices["price"] > 0).sum() == 2
    assert np.allclose(prices["change"], math.log(6) - post.entropy)
    wider = mx.MaxEnt(view).add(lambda space: cp.kl_div(space.marginal(["g", "s"]).expr, TARGET) <= 0.004 + 1e-6)
    assert np.isclose((wider.solve().entropy - post.entropy) / 1e-6, prices["price"].sum(), rtol=1e-3)


@pytest.mark.parametrize(("of", "price"), [(cp.sum_squares, math.inf), (cp.norm1, math.nan), (cp.norm2, math.nan)])
def test_prices_where_nothing_is_left(view, of, price):
    """Where the left side must be 0, a square has an infinite price, and that of a norm is said to be unknown."""
    counts = np.array([5.0, 10.0, 35.0, 25.0, 15.0, 10.0])
    model = mx.MaxEnt(view).add(lambda space: of(space.counts / 100 - counts / 100) <= 0, label="near")
    prices = model.add(P("z", given={"g": "b"}) <= 0.9).solve().prices()["price"]
    assert np.array_equal(prices.loc["near"], price, equal_nan=True)
    assert prices.loc["P(z | g=b) <= 0.9"] == 0
    uniform = mx.MaxEnt(view).add(lambda space: of(space.counts - 100 / 6) <= 0)
    assert uniform.solve().prices()["price"].item() == 0


def test_leave_one_out(view):
    """Without a convex statement, the others remain."""
    model = mx.MaxEnt(view).add(near(0.1), P("x", given={"g": "a"}) >= 0.7)
    table = model.solve().prices(leave_one_out=True)
    alone = {
        "near": mx.MaxEnt(view).add(P("x", given={"g": "a"}) >= 0.7).solve().entropy,
        "P(x | g=a) >= 0.7": mx.MaxEnt(view).add(near(0.1)).solve().entropy,
    }
    label = next(name for name in model.knowledge if name != "P(x | g=a) >= 0.7")
    assert np.isclose(table.loc[label, "without"], alone["near"])
    assert np.isclose(table.loc["P(x | g=a) >= 0.7", "without"], alone["P(x | g=a) >= 0.7"])
