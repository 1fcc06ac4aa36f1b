"""The distance of marginals, counted by hand, and of generalised and partly published tables."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError, UnknownName
from maxent_cvx.measures.utility import marginal_distance, query_error
from support.helpers import refused


def distances(p: dict, q: dict) -> tuple[float, float]:
    """Total variation and Hellinger distance of two distributions, term by term."""
    both = {*p, *q}
    squares = sum((math.sqrt(p.get(x, 0)) - math.sqrt(q.get(x, 0))) ** 2 for x in both)
    return sum(abs(p.get(x, 0) - q.get(x, 0)) for x in both) / 2, math.sqrt(squares / 2)


def test_by_hand(hospital, release):
    """Of the hospital in buckets, where everybody has each value of their bucket in shares."""
    found = marginal_distance(release, hospital)
    assert list(found.index) == ["Gender", "Degree", "Disease", "Gender, Disease", "Degree, Disease"]
    np.testing.assert_allclose(found.iloc[:3], 0, atol=1e-12)
    for name in ("Gender", "Degree"):
        truth: Counter = Counter()
        estimate: Counter = Counter()
        for _, one in hospital.iterrows():
            truth[one[name], one["Disease"]] += 1 / 10
            bucket = hospital.loc[hospital["Bucket"] == one["Bucket"], "Disease"]
            for s in bucket:
                estimate[one[name], s] += 1 / 10 / len(bucket)
        assert found.loc[f"{name}, Disease"].to_list() == pytest.approx(distances(truth, estimate))


def test_of_a_posterior(hospital, release):
    """Without knowledge a posterior is as far as its release; knowing everything, nothing is left."""
    model = mx.MaxEnt(release)
    pd.testing.assert_frame_equal(marginal_distance(model.solve(), hospital), marginal_distance(release, hospital))
    truth = hospital.groupby(["Gender", "Degree"])["Disease"].value_counts(normalize=True)
    for (g, e, d), p in truth.items():
        model.add(mx.P(d, given={"Gender": g, "Degree": e}) == p)
    np.testing.assert_allclose(marginal_distance(model.solve(), hospital), 0, atol=1e-4)


def test_generalised():
    """A generalised value is divided equally among the exact ones that it covers, by its hierarchy, too."""
    frame = pd.DataFrame({"Age": [20, 21, 30, 31, 31], "S": list("xyxyx")})
    wide = frame.assign(Age=["20-21", "20-21", "30-31", "30-31", "30-31"])
    release = mx.Release.from_generalized(wide, qi="Age", sa="S")
    found = marginal_distance(release, frame)
    truth = {20: 1 / 5, 21: 1 / 5, 30: 1 / 5, 31: 2 / 5}
    assert found.loc["Age"].to_list() == pytest.approx(distances(truth, {20: 0.2, 21: 0.2, 30: 0.3, 31: 0.3}))
    nodes = {"young": [20, 21], "old": [30, 31]}
    named = frame.assign(Age=["young", "young", "old", "old", "old"])
    release = mx.Release.from_generalized(named, qi="Age", sa="S", hierarchies={"Age": nodes})
    pd.testing.assert_frame_equal(marginal_distance(release, frame, hierarchies={"Age": nodes}), found)
    asked = query_error(release, frame, queries=50, hierarchies={"Age": nodes})
    assert np.isfinite(asked["error"]).all()


def test_of_a_population():
    """What is estimated of those who are in the release, of a list of more people, is compared with them."""
    frame = pd.DataFrame({"Age": [21, 24], "S": ["x", "y"]})
    records = frame.assign(Age="[20, 29]")
    voters = pd.DataFrame({"Age": [21, 24, 28, 45]})
    post = mx.MaxEnt(mx.Release.from_generalized(records, qi="Age", sa="S", population=voters)).solve()
    found = marginal_distance(post, frame)
    third = {(age, s): 1 / 6 for age in (21, 24, 28) for s in "xy"}
    expected = distances({(21, "x"): 0.5, (24, "y"): 0.5}, third)
    assert found.loc["Age, S"].to_list() == pytest.approx(expected, abs=1e-6)
    assert found.loc["S", "total_variation"] == pytest.approx(0, abs=1e-9)


def test_some_attributes(hospital, release):
    """Only attributes that are asked for."""
    found = marginal_distance(release, hospital, attributes="Gender")
    assert list(found.index) == ["Gender", "Disease", "Gender, Disease"]


def test_wrong_arguments(hospital, release):
    """What cannot be compared is told."""
    with refused(StatementError, "published must be a Release or a Posterior"):
        marginal_distance(hospital, hospital)
    with refused(TableError, "is of 10 people, and the original of 9"):
        marginal_distance(release, hospital.head(9))
    with refused(TableError, "the original has 'Gout', which the release has not"):
        marginal_distance(release, hospital.assign(Disease="Gout"))
    with refused(StatementError, "'Name' is no quasi-identifier"):
        marginal_distance(release, hospital, attributes="Name")
    with refused(UnknownName, "'Degree' is not a column"):
        marginal_distance(release, hospital.drop(columns="Degree"))
    with refused(TableError, "graduate of 'Degree' stands for none"):
        marginal_distance(release, hospital.assign(Degree="college"))
