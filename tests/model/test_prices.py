"""Prices: what a unit of each statement's value is worth, checked by moving it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import E, Infeasible, MaxEnt, P, Posterior, Statement, StatementError
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused
from support.random_models import random_model

MEN = {"Gender": "male"}
#: How far a value is moved.
STEP = 1e-4


def moved(model: MaxEnt, label: str, low: float, high: float) -> float:
    """The entropy with one statement's sides moved; -inf if that contradicts the rest."""
    said = model.knowledge[label]
    assert isinstance(said, Statement)
    other = model.copy().remove(label)
    other.add(Statement(said.terms, said.low + low, said.high + high))
    try:
        return other.solve(allow_inaccurate=True).entropy
    except Infeasible:
        return -math.inf


@given(seed=st.integers(0, 10_000))
def test_finite_differences(seed: int):
    """A finite price is the slope of H; an infinite one is steeper than any, in the only direction that can be gone."""
    model, _ = random_model(seed, statements=4)
    assume(model.knowledge)
    post = model.solve()
    prices = post.prices()
    assert sorted(prices.index) == sorted(model.knowledge)
    for label, said in prices.iterrows():
        low = STEP if said["side"] in ("=", ">=") else 0.0
        high = STEP if said["side"] in ("=", "<=") else 0.0
        up, down = moved(model, str(label), low, high), moved(model, str(label), -low, -high)
        if math.isinf(said["price"]):  # steeper the less it is moved, by log(1 / step)
            towards = 1 if said["price"] > 0 else -1
            rise = max(up if towards > 0 else down, -math.inf) - post.entropy
            less = moved(model, str(label), towards * low / 100, towards * high / 100) - post.entropy
            another = rise == pytest.approx(0, abs=1e-9) and np.isinf(prices["price"]).sum() > 1  # forces the same
            assert math.isinf(rise) or another or less * 100 > rise * 1.2 > 0
        elif not math.isinf(up) and not math.isinf(down):
            size = 1 + abs(said["price"])
            assert (up - down) / (2 * STEP) == pytest.approx(said["price"], abs=2e-2 * size)


@given(seed=st.integers(0, 10_000))
def test_leave_one_out(seed: int):
    """Without a statement H is what the model without it has, never lower."""
    model, _ = random_model(seed)
    assume(model.knowledge)
    post = model.solve()
    prices = post.prices(leave_one_out=True)
    for label, said in prices.iterrows():
        other = model.copy().remove(str(label)).solve()
        assert said["without"] == pytest.approx(other.entropy, abs=1e-6)
        assert said["change"] == pytest.approx(other.entropy - post.entropy, abs=1e-6)
    assert (prices["change"] >= -1e-9).all()
    assert (prices["price"].abs().diff().dropna() <= 0).all()


@pytest.fixture
def post(release) -> Posterior:
    model = MaxEnt(release).add("P(Flu | Gender=male) = 0.4", "P(Breast Cancer | Gender=male) = 0")
    return model.add("P(HIV | Gender=male) <= 0.18", "P(Flu) <= 0.9").solve()


def test_table(post):
    """Sorted by price: certain knowledge is beyond price, what has room is worth nothing."""
    prices = post.prices()
    assert prices.index.name == "statement"
    assert prices.index[0] == "P(Breast Cancer | Gender=male) = 0"
    assert prices["price"].iloc[0] == math.inf
    assert prices.loc["P(Flu) <= 0.9"].tolist() == ["", 0]
    assert prices.loc["P(HIV | Gender=male) <= 0.18", "side"] == "<="
    assert prices.loc["P(HIV | Gender=male) <= 0.18", "price"] > 0


def test_rows_that_presolve_decides(release):
    """A value that settles its term by itself has a price, too: one term is all that P(HIV | Degree=junior) is."""
    model = MaxEnt(release).add("P(HIV | Degree=junior) = 0.25")
    post = model.solve()
    assert post.certificate.forced > 0
    price = post.prices()["price"].iloc[0]
    up, down = (moved(model, "P(HIV | Degree=junior) = 0.25", d, d) for d in (STEP, -STEP))
    assert price == pytest.approx((up - down) / (2 * STEP), rel=1e-3)
    assert price != 0


def test_measure(post):
    """Something else than the entropy can be measured."""
    prices = post.prices(leave_one_out=True, measure=lambda p: p.prob("Flu", MEN))
    assert prices.loc["P(Flu) <= 0.9", "without"] == pytest.approx(0.4)
    assert prices.loc["P(Flu | Gender=male) = 0.4", "change"] != pytest.approx(0)
    with refused(StatementError):
        post.prices(measure=lambda p: p.entropy)


def test_rows_of_a_source_are_left_out_one_by_one(release):
    """Of a source with many rows one is left out at a time, and the others stay."""
    model = MaxEnt(release).add(lambda space: space.conditional("Disease", given="Gender") <= 0.3)
    post = model.solve()
    without = post.prices(leave_one_out=True)
    assert len(without) == model.form.shape[0] - model.form.n_facts
    assert (without["change"] >= -1e-9).all()
    assert (without["change"] > 1e-6).any()
    first = model.without_row(model.form.n_facts)
    assert first.form.shape[0] == model.form.shape[0] - 1
    assert list(first.knowledge) == list(model.knowledge)


def test_functions_without_names_are_told_apart(release):
    """Rows that would be called as others are get the label under which the model holds their source; others do not."""
    model = mx.MaxEnt(release)
    for limit in (0.305, 0.304):
        model.add(lambda space, limit=limit: space.prob("Flu", {"Gender": "male"}) <= limit)
    model.add(lambda space: space.p[0] <= 0.02, lambda space: space.p[1] <= 0.04)
    model.add(lambda space: space.conditional("s", given="Gender") <= 0.4)
    model.add(lambda space: space.conditional("s", given="Gender") <= 0.39)
    names = model.solve().prices().index
    assert not names.has_duplicates
    assert list(model.knowledge) == ["your own", *(f"your own ({i})" for i in range(2, 7))]
    assert set(list(model.knowledge)[:4]) <= set(names)
    assert {"P(Disease | Gender): Flu, male", "your own (6): Flu, male"} <= set(names)


def test_what_the_release_says_already_has_no_price():
    """A statement whose value the published data fix tells nothing: its price is 0, whatever is known besides."""
    table = pd.DataFrame({"Sex": list("mmmff"), "S": list("aabab"), "B": [1, 1, 1, 2, 2], "Q": list("xyyxy")})
    release = mx.Release.from_buckets(table, qi=["Sex", "Q"], sa="S", bucket="B")
    known, told = P("a", given={"Sex": "m", "Q": "x"}) == 0.5, P("a", given={"Sex": "m"}) == 2 / 3
    alone = mx.MaxEnt(release).add(known).solve().prices()["price"]
    both = mx.MaxEnt(release).add(told, known, P("b", given={"Sex": "f"}) >= 0.5, P(["a", "b"]) == 1).solve().prices()
    assert both["price"][str(known)] == pytest.approx(alone[str(known)], abs=1e-9)
    assert (both["price"].drop(str(known)) == 0).all()
    assert alone[str(known)] != 0


A = {"Q": "a"}


def test_what_forces_zeros_with_unlike_coefficients():
    """However unlike the coefficients of the terms that a statement forces to zero, its price is infinite."""
    table = pd.DataFrame({"Q": list("aabbcc") * 2, "S": [10, 20, 1000, 10, 20, 10] * 2, "B": [1] * 6 + [2] * 6})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    several = [P(20, given=A) + factor * P(1000, given=A) <= 0 for factor in (2, 20, 1e4)]
    for said in (E("S", given=A) == 10, E("S", given=A) <= 10, *several):
        for view in (release, divided(release, 2)):
            prices = mx.MaxEnt(view).add(said, P(10, given={"Q": "b"}) == 0.3).solve().prices()["price"]
            assert np.isinf(prices).tolist() == [True, False]
            assert prices.index[0] == str(said)
