"""Statements: knowledge written as the paper writes it, and what it says about any assignment."""

from __future__ import annotations

import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import P, Statement, UnknownName
from support.helpers import refused
from support.strategies import publish, quasi, tables_and_assignments

FLU = P("Flu", given={"Gender": "male"})
HIV = P("HIV")
COMPARISONS = [operator.eq, operator.le, operator.ge]


@st.composite
def knowledge(draw):
    """A table, an assignment, and up to three events (values, conditions, coefficient) that somebody is like."""
    frame, other = draw(tables_and_assignments())
    events = {}
    for _ in range(draw(st.integers(1, 3))):
        values = draw(st.lists(st.sampled_from(list(frame["S"])), min_size=1, max_size=2))
        person = draw(st.sampled_from(range(len(frame))))  # conditions that describe somebody, so that P(given) > 0
        columns = draw(st.lists(st.sampled_from(quasi(frame)), unique=True))
        conditions = {column: frame[column].iloc[person] for column in columns}
        key = (frozenset(values), frozenset(conditions.items()))
        events[key] = (values, conditions, draw(st.sampled_from([-2, -1, -0.5, 0.25, 1, 3])))
    return frame, other, list(events.values())


def share(frame, values, conditions):
    """P(values | conditions) among the records, counted one by one."""
    people = [i for i in range(len(frame)) if all(frame[c].iloc[i] == v for c, v in conditions.items())]
    return sum(frame["S"].iloc[i] in values for i in people) / len(people)


@given(knowledge(), st.sampled_from(COMPARISONS), st.floats(0, 1))
def test_rows_at_any_assignment(drawn, compare, where):
    """A statement's row is sum_k a_k P(value_k | given_k), with P(given) of the release (section 4.1)."""
    frame, other, events = drawn
    expression = sum((a * P(values, given=conditions) for values, conditions, a in events), start=0.125)
    low, high = (0.125 + sum(bound([a, 0]) for *_, a in events) for bound in (min, max))
    value = low + where * (high - low)
    space = mx.Space.of(publish(frame))
    (row,) = compare(expression, value).rows(space)
    expected = sum(a * share(other, values, conditions) for values, conditions, a in events)
    assert row.matrix @ (space.count(other) / len(frame)) == pytest.approx([expected])
    bounds = {operator.eq: (value, value), operator.le: (-np.inf, value), operator.ge: (value, np.inf)}[compare]
    assert (row.low[0], row.high[0]) == pytest.approx([bound - 0.125 for bound in bounds])
    assert row.label == str(compare(expression, value))


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (FLU == 0.3, "P(Flu | Gender=male) = 0.3"),
        (operator.ge(0.3, FLU), "P(Flu | Gender=male) <= 0.3"),
        (np.float64(0.3) <= FLU, "P(Flu | Gender=male) >= 0.3"),
        (P(["HIV", "Flu"], given={"Gender": "male", "Degree": ["junior", "college"]}) >= 0.1,
         "P(Flu or HIV | Degree=college or junior, Gender=male) >= 0.1"),
        (P("Flu", given={"Age": pd.Interval(20, 30)}) == 0.5, "P(Flu | Age in (20, 30]) = 0.5"),
        (P({"Disease": "Flu"}) <= 0.25, "P(Disease=Flu) <= 0.25"),
        (HIV <= 2 * FLU, "P(HIV) <= 2 P(Flu | Gender=male)"),
        (2 * FLU + HIV / 2 - 0.1 <= 0.4, "2 P(Flu | Gender=male) + 0.5 P(HIV) <= 0.5"),
        (1 - FLU >= 0.25, "-P(Flu | Gender=male) >= -0.75"),
        (FLU - HIV == 0.2, "P(Flu | Gender=male) - P(HIV) = 0.2"),
        (sum([FLU, HIV]) <= 0.5, "P(Flu | Gender=male) + P(HIV) <= 0.5"),
        (FLU + FLU == 0.5, "2 P(Flu | Gender=male) = 0.5"),
        (FLU.between(0.2, 0.4), "0.2 <= P(Flu | Gender=male) <= 0.4"),
        (FLU.about(0.3, eps=0.05), "0.25 <= P(Flu | Gender=male) <= 0.35"),
        (FLU.about(0.02, eps=0.05), "P(Flu | Gender=male) <= 0.07"),
        (FLU.about(0.98, eps=0.05), "P(Flu | Gender=male) >= 0.93"),
    ],
)  # fmt: skip
def test_text(statement, text):
    """A statement reads like the paper's notation, and its text is its label (sections 4.1 and 4.5)."""
    assert str(statement) == statement.label == text
    assert repr(statement) == f"<Statement: {text}>"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FLU == 0.3, P("Flu", given={"Gender": "male"}) == 0.3),
        (operator.eq(0.3, FLU), FLU == 0.3),
        (P(["Flu", "HIV"]) <= 0.3, P({"HIV", "Flu"}) <= 0.3),
        (P(["Flu"]) <= 0.3, P("Flu") <= 0.3),
        (P("Flu", given={"A": 1, "B": 2}) <= 0.3, P("Flu", given={"B": 2, "A": 1}) <= 0.3),
        (FLU + HIV <= 0.5, HIV + FLU <= 0.5),
        (FLU.between(0.3, 0.3), FLU == 0.3),
        (FLU.about(0.5, 0.25), FLU.between(0.25, 0.75)),
        (FLU + 0.5 <= 0.75, FLU <= 0.25),
        ((FLU + 0.25).between(0.5, 0.75), FLU.between(0.25, 0.5)),
        ((FLU + 0.25).about(0.5, 0.125), FLU.about(0.25, 0.125)),
        (FLU <= HIV, FLU - HIV <= 0),
        (FLU <= HIV, HIV >= FLU),
        (FLU == HIV, HIV == FLU),
    ],
)
def test_equal_statements(one, other):
    """Statements that say the same, in whatever order, are equal and have one hash, so that a set holds them once."""
    assert isinstance(one, Statement)
    assert one == other
    assert one.same_as(other)
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    "other",
    [FLU == 0.4, FLU <= 0.3, HIV == 0.3, P("Flu", given={"Gender": "female"}) == 0.3, P("Flu") == 0.3, 0.3, None],
)
def test_different_statements(other):
    """Another value, relation, event or condition is another statement."""
    assert (FLU == 0.3) != other
    assert not (FLU == 0.3).same_as(other)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (P("Fluu") <= 0.3, "did you mean 'Flu'?"),
        (P("Flu", given={"Gendr": "male"}) <= 0.3, "did you mean 'Gender'?"),
        (P({"Gender": "Flu"}) <= 0.3, "'Gender' is not a sensitive attribute"),
    ],
)
def test_names_are_checked_by_the_release(space, statement, says):
    """Which values and attributes exist only the release knows: a model that gets the statement says so."""
    with refused(UnknownName, says):
        list(statement.rows(space))
