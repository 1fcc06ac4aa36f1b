"""Exact possible worlds and r-robustness (Probabilistic Inference Protection, section III)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import (
    BadProbability,
    GroupTooLarge,
    Infeasible,
    QIDistribution,
    StatementError,
    TableError,
    UnknownName,
)
from support.worlds import by_enumeration, random_group


def test_example_1():
    """Alan, a man, has lung cancer with probability 0.1 * 0.997 / (0.1 * 0.997 + 0.9 * 0.003), not 1/2."""
    group = pd.DataFrame({"yes": [0.1, 0.003], "no": [0.9, 0.997]}, index=["Alan", "Betty"])
    found = mx.worlds.posterior(group, ["yes", "no"])
    assert found.loc["Alan", "yes"] == pytest.approx(0.0997 / (0.0997 + 0.0027), rel=1e-14)
    assert found.loc["Betty", "yes"] == pytest.approx(0.0027 / (0.0997 + 0.0027), rel=1e-14)


def test_all_worlds():
    """The sum over states is the sum over worlds, on 150 random groups of up to 7, and impossible where that is."""
    rng = np.random.default_rng(0)
    impossible = 0
    for _ in range(150):
        group, values = random_group(rng)
        expected = by_enumeration(group.to_numpy(), values)
        if expected is None:
            impossible += 1
            with pytest.raises(Infeasible):
                mx.worlds.posterior(group, values)
        else:
            np.testing.assert_allclose(mx.worlds.posterior(group, values), expected, rtol=1e-12, atol=1e-15)
    assert 0 < impossible < 100


@pytest.mark.parametrize("small", [1e-9, 1e-300])
def test_nothing_underflows(small):
    """Odds are what counts: priors of 1e-9, or 1e-300, of 200 people change nothing that scaling does not."""
    f = np.random.default_rng(2).random((200, 3))
    values = list(np.arange(200) % 3)
    expected = mx.worlds.posterior(pd.DataFrame(f), values)
    np.testing.assert_allclose(mx.worlds.posterior(pd.DataFrame(f * small), values), expected, rtol=1e-9)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-11)


def test_shape_and_order():
    """The answer has the labels of the group; the order of values means nothing; what does not occur is 0."""
    rng = np.random.default_rng(3)
    group = pd.DataFrame(rng.random((4, 5)), index=list("abcd"), columns=list("vwxyz"))
    expected = mx.worlds.posterior(group, list("vvwx"))
    assert expected.index.equals(group.index)
    assert expected.columns.equals(group.columns)
    assert (expected[["y", "z"]] == 0).all(axis=None)
    for order in itertools.permutations("vvwx"):
        pd.testing.assert_frame_equal(mx.worlds.posterior(group, order), expected)


def test_too_large(release):
    """What would take too long is refused before it is begun, with its cost and a way out."""
    f = pd.DataFrame(np.random.default_rng(4).random((60, 60)))
    with pytest.raises(BadProbability):  # also where nothing is counted
        mx.worlds.linkage(release, limit="x")
    with pytest.raises(GroupTooLarge):
        mx.worlds.posterior(f, range(60))
    with pytest.raises(GroupTooLarge):
        mx.worlds.posterior(f.iloc[:3, :3], [0, 1, 2], limit=10)


def test_wrong_groups():
    """Groups and values that do not fit each other."""
    group = pd.DataFrame({"x": [0.5, 0.5], "y": [0.5, 0.5]})
    for error, wrong, values in [
        (TableError, group, ["x"]),
        (UnknownName, group, ["x", "z"]),
        (TableError, group, "xy"),
        (TableError, [[0.5]], ["x"]),
        (BadProbability, group * 3, ["x", "y"]),
        (BadProbability, group * np.nan, ["x", "y"]),
        (TableError, group.set_axis(["x", "x"], axis=1), ["x", "x"]),
        (TableError, group.iloc[:0], []),
    ]:
        with pytest.raises(error):
            mx.worlds.posterior(wrong, values)


# -- releases ------------------------------------------------------------------------------------


@pytest.fixture
def prior(hospital) -> QIDistribution:
    """Estimated from the hospital's own records."""
    return QIDistribution.estimate(hospital, qi=[["Gender"], ["Degree", "Gender"]], sa="Disease", smoothing=1)


def test_every_bucket_is_a_group(hospital, release, prior):
    """P(t : x) of a release is that of each of its buckets; r-robustness is the largest of it."""
    robust = mx.worlds.r_robustness(release, prior)
    assert len(robust) == len(hospital.groupby(["Bucket", "Disease"]))
    for name, bucket in hospital.groupby("Bucket"):
        largest = pd.Series(0.0, index=prior.values)
        for attributes in prior.attribute_sets:
            linkage = mx.worlds.linkage(release, prior, attributes).loc[name]
            alone = mx.worlds.posterior(prior.of(bucket, attributes), list(bucket["Disease"]))
            for (_, person), row in zip(bucket.iterrows(), alone.to_numpy(), strict=True):
                signature = tuple(person[a] for a in attributes)
                for value, p in zip(alone.columns, row, strict=True):
                    if value in set(bucket["Disease"]):
                        assert linkage[(*signature, value)] == pytest.approx(p, rel=1e-12)
            largest = largest.combine(alone.max(), max)
        for value, p in robust.loc[name, "largest"].items():
            assert p == pytest.approx(largest[value], rel=1e-12)
    np.testing.assert_allclose(robust["r"], 1 / robust["largest"])


def test_who_is_exposed(hospital, release, prior):
    """The attribute set and the signature that are named have the largest probability."""
    for (bucket, value), row in mx.worlds.r_robustness(release, prior).iterrows():
        linkage = mx.worlds.linkage(release, prior, row["attributes"].split(", "))
        assert linkage[(bucket, *row["signature"], value)] == pytest.approx(row["largest"], rel=1e-12)


def test_what_has_no_worlds(release, prior, hospital):
    """Only releases have buckets; a prior that rules out a bucket's worlds names it."""
    with pytest.raises(StatementError):
        mx.worlds.r_robustness(3, prior)
    table = mx.QITable(hospital, qi=["Gender"], sa="Disease", sa_values=list(prior.values))
    with pytest.raises(StatementError):
        mx.worlds.r_robustness(table, prior)
    nobody = dict.fromkeys(prior.values, 0.0) | {"Flu": 1.0}
    with pytest.raises(Infeasible):
        mx.worlds.r_robustness(release, QIDistribution({"Gender": {"male": nobody, "female": nobody}}))
