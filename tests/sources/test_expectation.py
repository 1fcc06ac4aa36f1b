"""E(...): what is stated of a mean is true of the answer, and of the original records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, E, LabelMismatch, P, StatementError, UnknownName
from support.helpers import refused
from support.strategies import publish, tables_and_assignments

WEEKS = {"Flu": 1, "Pneumonia": 3, "Breast Cancer": 20, "HIV": 50, "Lung Cancer": 30}


def mean_of(post, attribute, given):
    """The mean of a number by the answer's table."""
    table = post.joint().reset_index()
    for name, value in given.items():
        table = table[table[name] == value]
    return np.average(table[attribute].astype(float), weights=table.iloc[:, -1])


@pytest.fixture
def incomes():
    """Income by education, two buckets."""
    incomes = [20, 30, 45, 60, 20, 30, 80, 20, 30, 60, 45, 80]
    table = pd.DataFrame({"edu": ["college", "none"] * 6, "income": incomes, "b": [1] * 6 + [2] * 6})
    return mx.Release.from_buckets(table, qi="edu", sa="income", bucket="b")


def test_a_mean_of_numbers(incomes):
    """E(income | college) = 42.9 holds of the answer, and would not without being said."""
    said = E("income", given={"edu": "college"}) == 42.9
    without, post = mx.MaxEnt(incomes).solve(), mx.MaxEnt(incomes).add(said).solve()
    assert mean_of(without, "income", {"edu": "college"}) != pytest.approx(42.9, abs=0.1)
    assert mean_of(post, "income", {"edu": "college"}) == pytest.approx(42.9)
    assert post.prices().index.to_list() == ["E(income | edu=college) = 42.9"]


def test_bounds_of_a_mean(incomes):
    """A mean lies between the extremes that the buckets leave, and a statement beyond them contradicts."""
    model = mx.MaxEnt(incomes).add(E("income", given={"edu": "college"}) <= 35)
    assert mean_of(model.solve(), "income", {"edu": "college"}) == pytest.approx(35)
    with pytest.raises(mx.Infeasible, match="edu=college"):
        mx.MaxEnt(incomes).add(E("income", given={"edu": "college"}) >= 70).solve()


def test_arithmetic(incomes):
    """Means are added, multiplied and compared among each other and with probabilities."""
    college, none = (E("income", given={"edu": edu}) for edu in ("college", "none"))
    post = mx.MaxEnt(incomes).add(college - none == 5).add(college >= 100 * P(80, given={"edu": "college"})).solve()
    means = [mean_of(post, "income", {"edu": edu}) for edu in ("college", "none")]
    assert means[0] - means[1] == pytest.approx(5)
    assert str(2 * college - P(80) >= 3) == "2 E(income | edu=college) - P(80) >= 3"
    assert college.about(42, eps=1) == college.between(41, 43)


def test_twice_as_probable(incomes):
    """P(a) >= 2 P(b) holds of the answer."""
    low, high = P([20, 30], given={"edu": "none"}), P(80, given={"edu": "none"})
    post = mx.MaxEnt(incomes).add(high >= 2 * low).solve()
    assert post.prob(80, given={"edu": "none"}) >= 2 * post.prob([20, 30], given={"edu": "none"}) - 1e-9


@pytest.mark.parametrize("values", [WEEKS, pd.Series(WEEKS)], ids=["dict", "Series"])
def test_numbers_that_values_stand_for(release, values):
    """Names stand for numbers that are told; what no mean of them is, is refused at once."""
    mean = E("Disease", given={"Gender": "male"}, values=values)
    post = mx.MaxEnt(release).add(mean >= 20).solve()
    of_men = post.space.conditional("Disease", given="Gender").xs("male", level="Gender").value(post)
    assert (of_men * pd.Series(WEEKS)).sum() == pytest.approx(20)
    assert mean.attainable() == (1, 50)
    with refused(BadProbability, "E(Disease | Gender=male) cannot be 60", "between 1 and 50"):
        _ = mean == 60
    assert (mean - E("Disease", values=values)).attainable() == (-49, 49)


def test_the_mean_of_a_person(release):
    """Of a person who is named, the mean is over that person's values."""
    model = mx.MaxEnt(release, people={"Alice": {"Gender": "female", "Degree": "junior"}})
    post = model.add(E("Disease", who="Alice", values=WEEKS) == 25).solve()
    assert (post.people().loc["Alice"] * pd.Series(WEEKS)).sum() == pytest.approx(25)


@settings(max_examples=40)
@given(tables_and_assignments(palettes=("whole", "real")), st.sampled_from([None, "A"]))
def test_what_is_true_of_records(drawn, attribute):
    """At the original records the row's value is their mean; a mean is the weighted sum of its probabilities."""
    frame, other = drawn
    space = mx.Space.of(publish(frame))
    for one in frame["A"].unique() if attribute else [None]:
        chosen = None if attribute is None else {attribute: one}
        people = other if attribute is None else other[other[attribute] == one]
        (rows,) = (E("S", given=chosen) <= 1000).rows(space)
        p = space.count(other) / len(other)
        assert (rows.matrix @ p)[0] == pytest.approx(people["S"].mean())
        by_hand = sum(float(s) * P(s, given=chosen) for s in frame["S"].unique())
        (same,) = (by_hand <= by_hand.attainable()[1]).rows(space)
        np.testing.assert_allclose(rows.matrix.toarray(), same.matrix.toarray(), atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda r: E("Disease") == 3, StatementError, ["'Disease' are no numbers", "values={"]),
        (lambda r: E("Diseas", values=WEEKS) == 3, UnknownName, ["did you mean 'Disease'?"]),
        (lambda r: E("Disease", values={"Flu": 1.0}) <= 1, LabelMismatch, ["lack", "'HIV'"]),
        (lambda r: E("Disease", values={**WEEKS, "Fluu": 1.0}) <= 3, UnknownName, ["did you mean 'Flu'?"]),
        (lambda r: E("Disease", values={**WEEKS, "Flu": np.nan}) <= 3, BadProbability, ["Flu"]),
        (lambda r: E("Disease", values=[1, 2]) <= 3, StatementError, ["values must be"]),
        (lambda r: E("Disease", values={}) <= 3, StatementError, ["no number"]),
        (lambda r: E("Disease", given={"Gendr": "male"}, values=WEEKS) <= 3, UnknownName, ["'Gender'"]),
        (lambda r: E("Disease", values=WEEKS) * P("Flu") <= 3, StatementError, ["not linear"]),
    ],
)
def test_errors(release, wrong, error, says):
    """What is wrong is told, at the latest when a model gets the statement."""
    with refused(error, *says):
        mx.MaxEnt(release).add(wrong(release))
