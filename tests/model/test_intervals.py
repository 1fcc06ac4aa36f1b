"""Bounds over all distributions that are consistent with the knowledge, of one probability and of all at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P
from support.helpers import refused
from support.random_models import random_model

seeds = st.integers(0, 10**6)


def by_linear_programs(model: MaxEnt, probability: mx.sources.Probability) -> tuple[float, float]:
    """Bound a combination by linear programs over all terms and all rows."""
    form, n = model.form, model.space.n_records
    weight = sum(a * event.row(model.space).toarray().ravel() for event, a in probability.terms.items()) / n
    rows, answers = LinearConstraint(form.matrix, form.low, form.high), []
    for sign in (1, -1):
        answer = milp(sign * weight, constraints=rows, bounds=Bounds(0, np.inf))
        assert answer.success
        answers.append(sign * answer.fun + probability.constant)
    return answers[0], answers[1]


def test_what_cannot_be_bounded(release):
    """Contradictions, integer programs beside a curve, and objects that are no probability are refused."""
    model = MaxEnt(release)
    assert model.bounds("P(Flu | Gender=male)") == model.bounds(P("Flu", given={"Gender": "male"}))
    for strange in ([P("Flu") <= 0.3], P("Flu") <= 0.3, "P(Flu) = 0.3", 3, np.array(1.0), np.array("Flu")):
        with refused(mx.StatementError):
            model.bounds(strange)
    with refused(mx.UnknownName):
        model.bounds("P(Fluu)")
    with refused(mx.Infeasible):
        model.copy().add(P("Flu", given={"Gender": "male"}) == 0.9).bounds("P(HIV)")
    with refused(mx.SolverError):
        model.add(lambda space: sum(space.p**2) <= 1).bounds("P(HIV)", integer=True)


def test_rounding_is_no_contradiction(hospital, release):
    """Two statements that contradict each other by less than rounding have bounds, and the posterior within them."""
    others = [s for s in hospital["Disease"].unique() if s != "Flu"]
    for off in (1e-15, 2e-15):
        model = MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
        model.add(P(others, given={"Gender": "male"}) == 0.7 + off / 6)
        low, high = model.bounds("P(Flu | Gender=female)")
        assert low - 1e-6 <= model.solve().prob("Flu", given={"Gender": "female"}) <= high + 1e-6


# Of every P(s | q).


def probability_of(model: MaxEnt, label: tuple) -> mx.sources.Probability:
    """The probability that a row of bounds() is about."""
    view = model.view
    value = dict(zip(view.sensitive, label[len(view.qi) :], strict=True))
    return P(value, given=dict(zip(view.qi, label, strict=False)))


@given(seed=st.integers(0, 10**6), statements=st.integers(0, 6))
def test_all_at_once_is_one_by_one(seed: int, statements: int):
    """Shared programs, filtering and closed forms change nothing; the posterior lies inside."""
    model = random_model(seed, statements=statements)[0]
    every = model.bounds()
    post = model.solve().conditional()
    view = model.view
    positive = post.stack().loc[lambda share: share > 1e-6].index
    assert set(positive) <= set(every.index)  # only impossible values are left out
    assert (every["exact"] == "both").all()
    every = every[["low", "high"]]
    for label, (low, high) in zip(every.index, every.to_numpy(), strict=True):
        assert (low, high) == pytest.approx(by_linear_programs(model, probability_of(model, label)), abs=1e-6)
        q, s = label[: len(view.qi)], label[len(view.qi) :]
        expected = post.loc[q if len(q) > 1 else q[0], s if len(s) > 1 else s[0]]
        assert low - 1e-6 <= expected <= high + 1e-6
    one_by_one = model.bounds([probability_of(model, label) for label in every.index])
    np.testing.assert_allclose(every, one_by_one, atol=1e-6)


@given(seed=st.integers(0, 10**6))
def test_integer_bounds_at_once(seed: int):
    """With integer=True all bounds are those one by one, and within the linear ones, wherever there is an assignment."""
    model = random_model(seed, statements=1)[0]
    linear = model.bounds()
    try:
        integer = model.bounds(integer=True)
    except mx.Infeasible:
        return
    one_by_one = model.bounds([probability_of(model, label) for label in integer.index], integer=True)
    np.testing.assert_allclose(integer[["low", "high"]], one_by_one, atol=1e-9)
    assert (integer["low"] >= linear["low"] - 1e-6).all()
    assert (integer["high"] <= linear["high"] + 1e-6).all()


def test_views_of_every_kind(hospital, release):
    """QI tables, populations, series, several sensitive attributes and named people: as one by one."""
    records = pd.DataFrame({"Age": ["*", "*", 45, 30], "Sex": list("FFMM"), "Salary": [30, 80, 40, 50]})
    everybody = pd.DataFrame({"Age": [21, 25, 30, 45, 50, 45, 30, 45], "Sex": list("FFFMMMMF")})
    frame, people = hospital.assign(Ward=["a", "b"] * 5), {"Iris": {"Gender": "female", "Degree": "graduate"}}
    table = mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])
    for model in (
        MaxEnt(table).add("P(Flu) = 0.3"),
        MaxEnt(table),
        MaxEnt(mx.Release.from_generalized(records, qi=["Age", "Sex"], sa="Salary", population=everybody)),
        MaxEnt(mx.Release.from_buckets(frame, qi="Gender", sa=["Disease", "Ward"], bucket="Bucket")),
        MaxEnt(release, people=people).add("P(HIV | Iris) <= 0.2"),
        MaxEnt(release, people=people),
    ):
        every = model.bounds()
        for label, ends in zip(every.index, every[["low", "high"]].to_numpy(), strict=True):
            assert ends == pytest.approx(by_linear_programs(model, probability_of(model, label)), abs=1e-6), label


def test_a_view_of_ones_own_has_its_own_closed_bounds(release):
    """Closed bounds that a subclass writes are those that are used, of one probability and of all."""
    model = MaxEnt(release)
    at = np.arange(len(model.space))
    codes, number = np.unique(model.space.cells, return_inverse=True)
    fast = model.invariants.closed_bounds_of_each(model.space, at, number, len(codes))

    class Halved(mx.BucketInvariants):
        """Half of what is true."""

        def closed_bounds(self, space, at):
            low, high = super().closed_bounds(space, at)
            return low / 2, high / 2

    slow = Halved(release).closed_bounds_of_each(model.space, at, number, len(codes))
    np.testing.assert_allclose(np.array(slow) * 2, fast)
    for source in (model.invariants, Halved(release)):  # groups without terms
        assert np.array_equal(source.closed_bounds_of_each(model.space, at[:0], number[:0], 2), np.zeros((2, 2)))


# Under sources that are disjunctions.


class OneOrTheOther(mx.Source):
    """P(s) = 0 or P(s) = 1: nobody has the value, or everybody."""

    def __init__(self, value):
        self.value = value

    def rows(self, space):
        """All that is linear of it: nothing but that it is a probability."""
        yield space.marginal("s").loc[[self.value]] <= 1

    def alternatives(self, space):
        """Nobody, or everybody."""
        return [[space.marginal("s").loc[[self.value]] == share] for share in (0, 1)]


def test_own_disjunction():
    """With at least one of a, all have a, and nobody b; of two disjunctions every combination is tried."""
    view = mx.QITable(pd.DataFrame({"q": [1, 2, 3]}), qi="q", sa="s", sa_values=["a", "b", "c"])
    model = MaxEnt(view).add(OneOrTheOther("a"))
    assert model.bounds(P("a"), integer=True) == (0, 1)
    model.add(P("a") >= 1 / 3)
    assert model.bounds([P("a"), P("b")], integer=True).to_numpy().tolist() == [[1, 1], [0, 0]]
    assert model.bounds(P("b"))[1] == pytest.approx(2 / 3, abs=1e-6)  # of distributions, its rows say less
    assert len(model.knowledge) == 2  # asking leaves the model as it was
    with refused(mx.Infeasible):
        model.add(P("a") <= 0.5).bounds(P("b"), integer=True)
    two = MaxEnt(view).add(OneOrTheOther("a"), OneOrTheOther("b"), P("c") <= 0.5)
    table = two.bounds([P("a"), P("b"), P("a") + P("b"), P("c")], integer=True)
    np.testing.assert_array_equal(table.to_numpy(), [[0, 1], [0, 1], [1, 1], [0, 0]])


def test_too_many_alternatives():
    """There is a limit to the combinations that are tried."""
    people = pd.DataFrame({"x": np.arange(40), "group": np.repeat(np.arange(10), 4)})
    many = mx.QITable(people, qi=["x", "group"], sa="s", sa_values=[1, 2, 3])
    model = MaxEnt(many).add(*(mx.PublishedQuantile(2, given={"group": i}) for i in range(10)))
    with refused(mx.NotDecided):
        model.bounds(P(2), integer=True)
