"""The two verbs of a space: sums of terms, and probabilities, as pandas would count them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError, UnknownName
from support.helpers import refused
from support.strategies import (
    expand,
    microdata,
    possible,
    project,
    publish,
    quasi,
    rank,
    tables_and_assignments,
    tally,
    tuples,
)

MALES_WITH_FLU = [("male", "college", "Flu", 1), ("male", "high school", "Flu", 1), ("male", "graduate", "Flu", 3)]


def space_of(frame):
    """The space of what is published of a drawn table."""
    return mx.Space.of(publish(frame))


@given(tables_and_assignments(), st.data())
def test_marginal(tables, data):
    """P(by) sums the terms over everything else, for any columns and roles: at any assignment, the share of records."""
    frame, other = tables
    names = ["q", "s", "bucket", *quasi(frame), "S", "K"]
    by = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    columns, space = expand(by, frame), space_of(frame)
    block = space.marginal(by)
    labels = tuples(block.index)
    assert list(block.index.names) == columns
    assert set(labels) == project(possible(frame), columns, frame)
    order = [rank(frame[column]) for column in columns]
    assert labels == sorted(set(labels), key=lambda label: [r[v] for r, v in zip(order, label, strict=True)])
    records = tally(other, columns)
    expected = [records.get(label, 0) / len(frame) for label in labels]
    p = space.count(other) / len(frame)
    assert block.matrix @ p == pytest.approx(expected)
    space.counts.value = p * len(frame)
    assert np.atleast_1d(block.expr.value) == pytest.approx(expected)


@given(tables_and_assignments(), st.data())
def test_conditional(tables, data):
    """P(of | given) = n(of, given) / n(given) at any assignment; P(given) is that of the release (section 4.1)."""
    frame, other = tables
    of = data.draw(st.lists(st.sampled_from(["s", "bucket", *quasi(frame)]), min_size=1, max_size=3, unique=True))
    condition = data.draw(st.lists(st.sampled_from(["q", *quasi(frame)]), min_size=1, max_size=2, unique=True))
    columns, given_columns = expand([*of, *condition], frame), expand(condition, frame)
    space = space_of(frame)
    block = space.conditional(of, condition)
    joint, known = tally(other, columns), tally(frame, given_columns)
    at = [columns.index(column) for column in given_columns]
    labels = tuples(block.index)
    expected = [joint.get(label, 0) / known[tuple(label[i] for i in at)] for label in labels]
    assert list(block.index.names) == columns
    assert set(labels) == project(possible(frame), columns, frame)
    assert block.matrix @ (space.count(other) / len(frame)) == pytest.approx(expected)


@given(tables_and_assignments(), st.data())
def test_prob(tables, data):
    """P(values | given) is the share, among the people as described, of those who have one of the values."""
    frame, other = tables
    space = space_of(frame)

    def some(column):
        return data.draw(st.lists(st.sampled_from(list(frame[column])), min_size=1, max_size=3))

    values = some("S")
    conditions = {column: some(column) for column in data.draw(st.lists(st.sampled_from(quasi(frame)), unique=True))}
    people = np.ones(len(frame), dtype=bool)
    for column, chosen in conditions.items():
        people &= [value in chosen for value in frame[column]]
    written = {column: chosen[0] if len(chosen) == 1 else chosen for column, chosen in conditions.items()}
    if not people.any():
        with refused(StatementError, "0/0"):
            space.prob(values, given=written)
        return
    having = np.array([value in values for value in other["S"]])
    space.counts.value = space.count(other)
    expression = space.prob(values[0] if len(values) == 1 else values, given=written)
    assert expression.is_affine()
    assert float(expression.value) == pytest.approx((having & people).sum() / people.sum())


@given(microdata(palettes=("whole", "real")), st.data())
def test_interval(frame, data):
    """A pandas Interval chooses the numbers inside it, closed ends included; one without any is refused."""
    low, high = sorted(data.draw(st.lists(st.sampled_from([-2, -1.0, 0.5, 1, 2.0, 3, 20, 30]), min_size=2, max_size=2)))
    interval = pd.Interval(low, high, closed=data.draw(st.sampled_from(["left", "right", "both", "neither"])))
    inside = [value for value in frame["A"].unique() if value in interval]
    space = space_of(frame)
    if inside:
        found, expected = (space.row(frame["S"][0], {"A": chosen}) for chosen in (interval, inside))
        assert abs(found - expected).max() == 0
    else:
        with refused(StatementError, str(interval), str(frame["A"].max())):
            space.row(frame["S"][0], {"A": interval})


def test_worked_example(space):
    """P(Flu | male) = 0.3 puts 0.3 * 6/10 = 0.18 on the terms of males with Flu (section 4.1).

    The paper lists a fourth term, ({male, college}, Flu, 3), which is a zero-invariant: no such record can exist.
    """
    on_p = pd.Series(space.row("Flu", {"Gender": "male"}).toarray()[0], index=space.index)
    assert set(on_p.index[on_p != 0]) == set(MALES_WITH_FLU)
    assert on_p[MALES_WITH_FLU].to_numpy() * 0.6 == pytest.approx([1, 1, 1])
    assert 0.3 / on_p[MALES_WITH_FLU[0]] == pytest.approx(0.18)
    assert ("male", "college", "Flu", 3) not in space.index


@pytest.mark.parametrize(
    ("value", "given", "says"),
    [
        ("Fluu", None, ["'Fluu' is not a value of 'Disease'", "did you mean 'Flu'?"]),
        (["Flu", "HVI"], None, ["'HVI' is not a value of 'Disease'", "did you mean 'HIV'?"]),
        (3, None, ["3 is not a value of 'Disease'", "expected one of 'Breast Cancer'"]),
        ("Flu", {"Gendr": "male"}, ["'Gendr' is not a quasi-identifier of the release", "did you mean 'Gender'?"]),
        ("Flu", {"Bucket": 1}, ["'Bucket' is not a quasi-identifier", "'Gender', 'Degree'"]),
        ("Flu", {"Gender": "mail"}, ["'mail' is not a value of 'Gender'", "did you mean 'male'"]),
        ({"Diseese": "Flu"}, None, ["'Diseese' is not a sensitive attribute", "did you mean 'Disease'?"]),
        ({"Gender": "male"}, None, ["'Gender' is not a sensitive attribute", "'Disease'"]),
    ],
)
def test_unknown_names(space, value, given, says):
    """What does not exist is named, with what was meant or what there is."""
    with refused(UnknownName, *says):
        space.prob(value, given=given)


@pytest.mark.parametrize(
    ("value", "given", "says"),
    [
        (("Flu", "HIV"), None, ["Disease = ('Flu', 'HIV')", "['Flu', 'HIV']", "pandas.Interval"]),
        ("Flu", {"Gender": ("male", "female")}, ["Gender = ('male', 'female')", "['male', 'female']"]),
        ("Flu", {"Gender": "male", "Degree": "junior"}, ["nobody in the release has Gender=male, Degree=junior"]),
        ([], None, ["Disease = []", "at least one"]),
        ("Flu", {"Gender": []}, ["Gender = []"]),
        (np.nan, None, ["Disease = nan contains a missing value"]),
        (["Flu", None], None, ["Disease = ['Flu', None] contains a missing value"]),
        ("Flu", {"Gender": pd.NA}, ["Gender = <NA> contains a missing value"]),
        ("Flu", {"Gender": {"male": 1}}, ["Gender must be a value or a list", "{'male': 1}"]),
        ("Flu", {"Gender": pd.Interval(0, 1)}, ["'Gender' is not numeric", "(0, 1]", "'female', 'male'"]),
        ("Flu", "male", ["given", "dictionary", "'male'"]),
        ([["Flu"]], None, ["Disease", "[['Flu']]"]),
        ({}, None, ["sensitive attribute"]),
    ],
)
def test_what_cannot_be_read(space, value, given, says):
    """A description that is ambiguous, empty, missing or of nobody is refused, naming attribute and value."""
    with refused(StatementError, *says):
        space.prob(value, given=given)


@pytest.mark.parametrize("given", ["s", "Disease", "bucket"])
def test_only_quasi_identifiers_are_known(space, given):
    """P(given) is known of QI attributes only, so only they may be given: else the row is not linear (section 4.1)."""
    with refused(UnknownName, "'q', 'Gender', 'Degree'"):
        space.conditional("s", given)


@given(tables_and_assignments())
def test_count(tables):
    """The records of every term, in the order of the terms' labels (Definition 5.1)."""
    frame, other = tables
    space = space_of(frame)
    records = tally(other, [*quasi(frame), "S", "K"])
    assert space.count(other).tolist() == [records.get(label, 0) for label in space.index]


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.head(9),
        lambda table: table.assign(Bucket=[1] * 10),
        lambda table: table.replace("junior", "senior"),
        lambda table: table.assign(Disease=["Pneumonia", *table["Disease"][1:]]),  # a term, but two Flus were published
    ],
)
def test_records_that_were_not_published(space, hospital, change):
    """The truth of a model is the table that was published: the same people and values in the same buckets."""
    with refused(TableError, "10 people"):
        space.count(change(hospital))
