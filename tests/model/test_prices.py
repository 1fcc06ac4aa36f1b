"""Prices: the effect of each statement's value on the entropy, checked by moving it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import (
    E,
    Inaccurate,
    Infeasible,
    MaxEnt,
    NotDecided,
    P,
    Posterior,
    SolverError,
    Statement,
    StatementError,
)
from maxent_cvx._utils.parallel import Workers
from maxent_cvx.model.explain import solved_rows
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused
from support.random_models import random_model

MEN = {"Gender": "male"}
#: How far a value is moved.
STEP = 1e-4


def moved(model: MaxEnt, label: str, low: float, high: float) -> float:
    """The entropy with one statement's sides moved; -inf if that contradicts the rest."""
    statement = model.knowledge[label]
    assert isinstance(statement, Statement)
    other = model.copy().remove(label)
    other.add(Statement(statement.terms, statement.low + low, statement.high + high))
    try:
        return other.solve(allow_inaccurate=True).entropy
    except Infeasible:
        return -math.inf


@given(seed=st.integers(0, 10_000))
def test_finite_differences(seed: int):
    """A finite price is the slope of H; an infinite one is steeper than any, in the only possible direction."""
    model, _ = random_model(seed, statements=4)
    assume(model.knowledge)
    post = model.solve()
    prices = post.prices()
    assert sorted(prices.index) == sorted(model.knowledge)
    for label, side, price in prices[["side", "price"]].itertuples(name=None):
        low, high = (STEP if side in ("=", end) else 0.0 for end in (">=", "<="))
        up, down = moved(model, label, low, high), moved(model, label, -low, -high)
        if math.isinf(price):  # steeper the less it is moved, by log(1 / step)
            sign = 1 if price > 0 else -1
            rise = (up if sign > 0 else down) - post.entropy
            less = moved(model, label, sign * low / 100, sign * high / 100) - post.entropy
            another = rise == pytest.approx(0, abs=1e-9) and np.isinf(prices["price"]).sum() > 1  # forces the same
            assert math.isinf(rise) or another or less * 100 > rise * 1.2 > 0
        elif not math.isinf(up) and not math.isinf(down):
            assert (up - down) / (2 * STEP) == pytest.approx(price, abs=2e-2 * (1 + abs(price)))


@given(seed=st.integers(0, 10_000))
def test_leave_one_out(seed: int):
    """Without a statement H is that of the model without it, and never lower."""
    model, _ = random_model(seed)
    assume(model.knowledge)
    post = model.solve()
    prices = post.prices(leave_one_out=True)
    without = [model.copy().remove(label).solve().entropy for label in prices.index]
    np.testing.assert_allclose(prices["without"], without, atol=1e-6)
    np.testing.assert_allclose(prices["change"], np.array(without) - post.entropy, atol=1e-6)
    assert (prices["change"] >= -1e-9).all()
    assert (prices["price"].abs().diff().dropna() <= 0).all()


@pytest.fixture
def post(release) -> Posterior:
    model = MaxEnt(release).add("P(Flu | Gender=male) = 0.4", "P(Breast Cancer | Gender=male) = 0")
    return model.add("P(HIV | Gender=male) <= 0.18", "P(Flu) <= 0.9").solve()


def test_measure(post):
    """The change may be that of another measure than the entropy."""
    prices = post.prices(leave_one_out=True, measure=lambda p: p.prob("Flu", MEN))
    assert prices.loc["P(Flu) <= 0.9", "without"] == pytest.approx(0.4)
    assert prices.loc["P(Flu | Gender=male) = 0.4", "change"] != pytest.approx(0)
    with refused(StatementError):
        post.prices(measure=lambda p: p.entropy)


def test_rows_of_a_source_are_left_out_one_by_one(release):
    """The rows of a source are left out one at a time, while its other rows stay."""
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
    """Rows with the name of others get the label of their source in the model; others do not."""
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


def test_a_soft_statement_of_any_weight(release):
    """A value that the release does not permit has the price -weight / N, also where exp(weight) overflows."""
    for weight in (1e3, 1e5):
        post = MaxEnt(release).add(P("Flu", given=MEN).softly(0.9, weight=weight)).solve()
        assert post.prices()["price"].iloc[0] == pytest.approx(-weight / 10, rel=1e-6)


def test_a_statement_that_the_release_implies_has_the_price_zero():
    """If a bucket contains all people of a kind, a statement about their shares has the price 0, whatever is known."""
    records = pd.DataFrame(
        {"who": list("aaabbb"), "r": [1, 0, 0, 0, 0, 1], "s": list("xyzxzz"), "t": [0, 0, 0, 1, 1, 1]}
    )
    release = mx.Release.from_buckets(records, qi=["who", "r"], sa="s", bucket="t")
    known = "P(x | r=0) = 0.4"
    implied = [*(f"P({value} | who=a) <= 1/3" for value in "xyz"), "P(z | who=b) = 2/3", "P(x or y or z) = 1"]
    for view in (release, divided(release, 2)):
        alone, prices = (mx.MaxEnt(view).add(*said, known).solve().prices()["price"] for said in ([], implied))
        assert prices.drop(known).abs().max() <= 1e-12
        assert prices[known] == pytest.approx(alone[known], abs=1e-9)
        assert abs(prices[known]) > 0.1


def test_a_statement_that_forces_zeros_has_an_infinite_price():
    """Its price is infinite however unlike the coefficients of its terms are, also in partitions."""
    table = pd.DataFrame({"Q": list("aabbcc") * 2, "S": [10, 20, 1000, 10, 20, 10] * 2, "B": [1] * 6 + [2] * 6})
    release, a = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B"), {"Q": "a"}
    several = [P(20, given=a) + factor * P(1000, given=a) <= 0 for factor in (2, 20, 1e4)]
    for statement in (E("S", given=a) == 10, E("S", given=a) <= 10, *several):
        for view in (release, divided(release, 2)):
            prices = mx.MaxEnt(view).add(statement, P(10, given={"Q": "b"}) == 0.3).solve().prices()["price"]
            assert np.isinf(prices).tolist() == [True, False]
            assert prices.index[0] == str(statement)


def test_a_statement_and_its_complement_share_a_price():
    """Statements that imply each other, given the release, have prices of the same size, in memory and in partitions."""
    records = pd.DataFrame({"age": [30, 20, 30, 40, 20, 30, 40, 40], "S": list("xyxzyxzy"), "B": [1] * 6 + [2] * 2})
    release = mx.Release.from_buckets(records, qi="age", sa="S", bucket="B")
    alone = mx.MaxEnt(release).add("P(x | age=20) = 0.3").solve().prices()["price"].iloc[0]
    for first, second in (
        ("P(x | age=20) = 0.3", "P(y or z | age=20) = 0.7"),
        ("P(x | age=20) <= 0.3", "1000 P(y or z | age=20) >= 700"),
    ):
        for view in (release, divided(release, 2)):
            prices = mx.MaxEnt(view).add(first, second).solve().prices()["price"]
            factor = -1000 if "1000" in second else -1
            assert prices[first] == pytest.approx(factor * prices.drop(first).iloc[0])
            assert prices[first] == pytest.approx(alone / 2, abs=1e-6)


def test_the_sign_of_an_infinite_price():
    """The entropy rises with a mean at its least possible value, whatever other statements imply it."""
    records = pd.DataFrame({"age": [40, 20, 30, 20, 40, 40], "S": [40, 100, 40, 100, 100, 40], "B": [2, 1, 1, 3, 3, 1]})
    release, people = mx.Release.from_buckets(records, qi="age", sa="S", bucket="B"), {"Ann": {"age": 30}}
    both = 2 * E("S", given={"age": [20, 30]}) + 0.5 * P(100) + P(40, who="Ann") == 121.25
    for view in (release, divided(release, 2)):
        model = mx.MaxEnt(view, people=people).add(P(100, who="Ann") == 0, E("S", who="Ann") == 40, both)
        assert (model.solve().prices()["price"] == np.inf).all()


# -- tables of many solves --------------------------------------------------------------------------------------------


@dataclass
class Answer:
    """A stand-in for a posterior, with the number of the answer it started from."""

    number: int
    began: int | None
    status: str = "optimal"


class Cases:
    """Cases of which some fail."""

    def __init__(self, **failing: Exception | type[BaseException]) -> None:
        self.failing = {int(number.removeprefix("case")): error for number, error in failing.items()}

    def about(self, i):
        return {"case": i}

    def solved(self, i, before):
        if i in self.failing:
            raise self.failing[i]
        return Answer(i, None if before is None else before.number)

    def measured(self, i, post):
        return {"began": post.began}


def test_along_chains():
    """Each case starts from the answer before it in its chain; rows are in the order of their numbers."""
    for n_jobs in (1, 2):
        with joblib.parallel_config(backend="threading"):
            rows = solved_rows(Cases(), [[0, 2, 4], [3, 1]], "cases", Workers(n_jobs))
        assert [row["case"] for row in rows] == [0, 1, 2, 3, 4]
        assert [row["began"] for row in rows] == [None, 3, 0, None, 2]
        assert [(row["status"], row["message"]) for row in rows] == [("optimal", "")] * 5


def test_rows_that_fail():
    """A failed row has the message of its error, and the next one starts from the last answer.

    If all rows fail there is no table, but the first error; infeasible is an answer.
    """
    cases = Cases(case1=mx.Infeasible("cannot be"), case2=Inaccurate("not certified"))
    rows = solved_rows(cases, [[0, 1, 2, 3]], "cases")
    assert [row["status"] for row in rows] == ["optimal", "infeasible", "failed", "optimal"]
    assert [row["message"] for row in rows] == ["", "cannot be", "not certified", ""]
    assert rows[3]["began"] == 0
    assert "began" not in rows[1]
    with refused(NotDecided):
        solved_rows(Cases(case0=NotDecided("late"), case1=SolverError("other")), [[0, 1]], "cases")
    rows = solved_rows(Cases(case0=mx.Infeasible("no"), case1=SolverError("other")), [[0, 1]], "cases")
    assert [row["status"] for row in rows] == ["infeasible", "failed"]
    assert solved_rows(Cases(), [], "cases") == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StatementError("wrong")])
def test_an_interrupt(error):
    """An error that ends a table early has the finished rows, if there are any."""
    with pytest.raises(type(error)) as raised:
        solved_rows(Cases(case2=error), [[1], [0], [2, 3]], "cases")
    pd.testing.assert_frame_equal(
        raised.value.finished, pd.DataFrame(solved_rows(Cases(), [[0], [1]], "cases")), check_dtype=False
    )
    with pytest.raises(type(error)) as raised:
        solved_rows(Cases(case0=type(error)()), [[0]], "cases")
    assert not hasattr(raised.value, "finished")


#: As quantify's associations, each curve is a chain.
BOUNDS = [(0, 0), (0, 3), (1, 1), (2, 0), (0, 5), (2, 3), (4, 1)]


def test_two_processes(hospital, release):
    """Scores and sweeps of one process and of two are the same to the last digit."""
    score = lambda post: 2 * post.entropy  # noqa: E731
    tables = [
        mx.quantify(release, hospital, BOUNDS, min_support=1, measure=score, n_jobs=n).drop(columns="seconds")
        for n in (None, 2)
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert (tables[0]["status"] == "optimal").all()
    values = [0.0, 0.1, 0.2, 0.3, 0.9, 0.4]
    tables = [
        mx.sweep(MaxEnt(release), "P(HIV | Gender=male)", value=values, eps=[0, 0.05], measure=score, n_jobs=n)
        for n in (1, 2)
    ]
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert tables[0]["status"].tolist().count("infeasible") == 4  # two of six men have HIV
    for wrong in (0, "two", 1.5):
        with refused(StatementError):
            mx.quantify(release, hospital, BOUNDS, n_jobs=wrong)
        with refused(StatementError):
            mx.sweep(MaxEnt(release), "P(Flu)", value=0.3, n_jobs=wrong)


def test_without_a_statement_that_is_needed(release, monkeypatch):
    """A solve without a statement that fails is NaN in that row, with the reason."""
    post = MaxEnt(release).add("P(HIV | Gender=male) = 0.2", "P(Flu | Gender=male) = 0.35").solve()
    whole = post.prices(leave_one_out=True)
    assert (whole["message"] == "").all()
    right = MaxEnt.solve

    def solve(self, *given, **options):
        if list(self.knowledge) == ["P(Flu | Gender=male) = 0.35"]:
            raise Inaccurate("not certified")
        return right(self, *given, **options)

    monkeypatch.setattr(MaxEnt, "solve", solve)
    prices = post.prices(leave_one_out=True)
    failed = "P(HIV | Gender=male) = 0.2"
    assert prices.loc[failed, ["without", "change"]].isna().all()
    assert prices.loc[failed, "message"] == "not certified"
    pd.testing.assert_frame_equal(prices.drop(failed), whole.drop(failed))
