"""The error of random counts (Anatomy, section 7; Probabilistic Inference Protection, section II)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, P, StatementError, TableError
from maxent_cvx.measures.utility import query_error
from support.helpers import refused


def test_everything_known(hospital):
    """Buckets of one person answer every question exactly."""
    frame = hospital.assign(Bucket=range(len(hospital)))
    release = mx.Release.from_buckets(frame, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    found = query_error(release, frame, queries=300)
    assert len(found) == 300
    assert found["error"].max() < 1e-12
    assert (found["actual"] >= 1).all()


def test_one_bucket(hospital):
    """In one bucket the estimate is n(Q) n(S) / N."""
    frame = hospital.assign(Bucket=1)
    release = mx.Release.from_buckets(frame, qi=["Gender"], sa="Disease", bucket="Bucket")
    found = query_error(release, frame, queries=200, selectivity=0.3)
    n = pd.crosstab(frame["Gender"], frame["Disease"])
    possible = {
        (actual, n_q * n_s / len(frame))
        for q in [["male"], ["female"], ["male", "female"]]
        for size in range(1, 6)
        for s in map(list, itertools.combinations(n.columns, size))
        for actual, n_q, n_s in [(n.loc[q, s].to_numpy().sum(), n.loc[q].to_numpy().sum(), n[s].to_numpy().sum())]
    }
    for row in found.itertuples():
        assert any(row.actual == a and row.estimate == pytest.approx(e) for a, e in possible)


def test_release_and_posterior_agree(release, hospital):
    """A release is asked as its posterior without knowledge; knowledge that is true helps."""
    model = mx.MaxEnt(release)
    alone = query_error(release, hospital, queries=200, seed=1)
    pd.testing.assert_frame_equal(alone, query_error(model.solve(), hospital, queries=200, seed=1), rtol=1e-6)
    truth = hospital.groupby(["Gender", "Degree"])["Disease"].value_counts(normalize=True)
    model.add(*[P(d, given={"Gender": g, "Degree": e}) == p for (g, e, d), p in truth.items()])
    known = query_error(model.solve(), hospital, queries=200, seed=1)
    assert known["actual"].equals(alone["actual"])
    assert known["error"].mean() < alone["error"].mean()


def test_generalised_values():
    """A generalised value has the same share of each exact value that it covers; without need of it, it is exact."""
    frame = pd.DataFrame({"Age": [20, 21, 30, 31, 31], "Town": list("abcab"), "S": list("xyxyx")})
    wide = pd.DataFrame(
        {"Age": [pd.Interval(20, 31, closed="both")] * 5, "Town": [frozenset("ab")] * 2 + ["c"] + [frozenset("ab")] * 2}
    ).assign(S=frame["S"])
    release = mx.Release.from_generalized(wide, qi=["Age", "Town"], sa="S")
    found = query_error(release, frame, queries=400, attributes="Age", selectivity=0.2)
    named = found[found["attributes"] == "Age"]
    # Of four ages ceil(4 * 0.2 ** 0.5) = 2 are asked for, of two values 1: half of the people with x, or with y.
    assert set(named["estimate"]) == {1.5, 1.0}
    same = query_error(release, frame, queries=100, attributes="Town", selectivity=1.0)
    assert same["error"].max() < 1e-12


def test_mondrian_of_adult():
    """Texts of sets and intervals that Mondrian publishes are read back; finer groups answer better."""
    adult = mx.datasets.load_adult(complete=True).head(3_000)
    qi = ["age", "workclass", "education", "sex"]
    errors = [
        query_error(mx.anonymize.mondrian(adult, qi=qi, sa="occupation", k=k), adult, queries=400)["error"].mean()
        for k in (3, 30, 300)
    ]
    assert errors == sorted(errors)


def test_seed_and_dimensions(release, hospital):
    """One seed, one set of queries, of so many attributes as asked."""
    one, two = (query_error(release, hospital, queries=50, dimensions=2, seed=7) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert one["attributes"].str.count(",").max() <= 1


def test_wrong_arguments(release, hospital):
    """What cannot be asked is told."""
    with refused(StatementError, "a Release or a Posterior"):
        query_error(hospital, hospital)
    with refused(BadProbability, "selectivity=2"):
        query_error(release, hospital, selectivity=2)
    with refused(StatementError, "dimensions=3"):
        query_error(release, hospital, dimensions=3)
    with refused(TableError, "is of 10 people, and the original of 5"):
        query_error(release, hospital.head(5))
    with refused(StatementError, "'Bucket' is no quasi-identifier"):
        query_error(release, hospital, attributes="Bucket")
    with refused(TableError, "sensitive values"):
        query_error(
            release, hospital.assign(Disease=np.where(hospital["Disease"] == "Flu", "Gout", hospital["Disease"]))
        )
