"""The terms of a model, and the two verbs of a space: sums and probabilities, as pandas would count them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError, UnknownName
from maxent_cvx.terms.people import People, count_pairs
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
        result, expected = (space.row(frame["S"][0], {"A": chosen}) for chosen in (interval, inside))
        assert abs(result - expected).max() == 0
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


#: What is no description of people of the hospital: ambiguous, empty, missing, unknown or of nobody.
UNREADABLE = [
    (UnknownName, "Fluu", None),
    (UnknownName, ["Flu", "HVI"], None),
    (UnknownName, "Flu", {"Gendr": "male"}),
    (UnknownName, "Flu", {"Bucket": 1}),
    (UnknownName, "Flu", {"Gender": "mail"}),
    (UnknownName, {"Diseese": "Flu"}, None),
    (StatementError, ("Flu", "HIV"), None),
    (StatementError, "Flu", {"Gender": ("male", "female")}),
    (StatementError, "Flu", {"Gender": "male", "Degree": "junior"}),
    (StatementError, [], None),
    (StatementError, "Flu", {"Gender": []}),
    (StatementError, np.nan, None),
    (StatementError, "Flu", {"Gender": pd.NA}),
    (StatementError, "Flu", {"Gender": {"male": 1}}),
    (StatementError, "Flu", {"Gender": pd.Interval(0, 1)}),
    (StatementError, "Flu", "male"),
    (StatementError, [["Flu"]], None),
    (StatementError, {}, None),
]


def test_what_cannot_be_read(space):
    """A wrong description is refused, and so are conditions whose probability is not known (section 4.1)."""
    for error, value, who in UNREADABLE:
        with refused(error):
            space.prob(value, given=who)
    for condition in ("s", "Disease", "bucket"):
        with refused(UnknownName):
            space.conditional("s", condition)


# -- the original records -------------------------------------------------------------------------------------------


@given(tables_and_assignments())
def test_count(tables):
    """The records of every term, in the order of the terms' labels (Definition 5.1); n(q, s) is their sum over buckets."""
    frame, other = tables
    view, space = publish(frame), space_of(frame)
    records = tally(other, [*quasi(frame), "S", "K"])
    assert space.count(other).tolist() == [records.get(label, 0) for label in space.index]
    pairs = count_pairs(view, frame)
    at = space.codes["q"] * len(view.sensitive_values) + space.codes["s"]
    assert np.bincount(at, space.count(frame), pairs.size).tolist() == pairs.ravel().tolist()
    tallied = frame.groupby([*quasi(frame), "S"], observed=True).size()
    for i, j in zip(*np.nonzero(pairs), strict=True):
        assert tallied[(*view.quasi_identifiers[i], view.sensitive_values[j])] == pairs[i, j]


def test_records_that_were_not_published(release, hospital):
    """The truth is the table that was published: the same people and values, for terms in the same buckets."""
    post = mx.MaxEnt(release).solve()
    measures = [partial(measure, post) for measure in (mx.measures.overall_divergence, mx.measures.term_divergence)]
    for wrong in (
        hospital.head(9),
        pd.concat([hospital, hospital.head(3)]),
        hospital.replace("junior", "senior"),
        hospital.replace("HIV", "Gout"),
    ):
        for count in (post.space.count, *measures):
            with refused(TableError):
                count(wrong)
    for wrong in (
        hospital.assign(Bucket=1),
        hospital.assign(Disease=["Pneumonia", *hospital["Disease"][1:]]),  # a term, but two Flus were published
    ):
        with refused(TableError):
            post.space.count(wrong)
    without = hospital.drop(columns="Bucket")
    assert count_pairs(release, without).sum() == 10
    with refused(UnknownName):
        post.space.count(without)


def test_prior(hospital, release):
    """The prior of a term is that of its value, given the signature of its QI tuple; where it is 0, rows say so."""
    G = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease")
    space = mx.Space.of(release, prior=G)
    gender = space.index.get_level_values("Gender")
    expected = [G["Gender"].loc[g, s] for g, s in zip(gender, space.index.get_level_values("Disease"), strict=True)]
    assert space.prior == pytest.approx(expected)
    assert (space.prior == 0).any()
    assert np.array_equal(space.prior_density, np.where(space.prior > 0, space.prior, 1))


@pytest.mark.parametrize(("earlier", "name"), [("pseudonyms", "multiplicities"), ("believed", "prior_density")])
def test_earlier_names(release, earlier, name):
    """Earlier names of the weights remain, with a warning that has the name to use instead."""
    people = {"Alice": {"Gender": "female", "Degree": "college"}, "Bob": {"Gender": "male", "Degree": "college"}}
    space = mx.Space.of(release, People.of(people, release))
    with pytest.warns(DeprecationWarning, match=f"use Space.{name}"):
        assert getattr(space, earlier) is getattr(space, name)
