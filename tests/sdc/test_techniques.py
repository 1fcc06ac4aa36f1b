"""Techniques of disclosure control: what an intruder infers, by hand and by enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import maxent_cvx as mx
from maxent_cvx import BadProbability, GroupTooLarge, StatementError, TableError, UnknownName, sdc
from maxent_cvx.sdc import techniques
from maxent_cvx.testing import check_technique
from support.techniques import BOTH, Rounded, people


@given(st.integers(1, 30), st.floats(0.05, 1), st.integers(0, 99))
def test_sampling_counts(n, factor, seed):
    """p_i is f_i/|Mo| + (|Mo| - |Ms|)/(|Mo| |D|), counted by hand (CAE, "Details of experiments")."""
    table = people(n, seed)
    size = round(Fraction(f"{factor:.15g}") * n)
    if not size:
        return
    technique = sdc.Sampling(factor, seed)
    sample = technique.publish(table, "Salary")
    assert len(sample) == size
    known = {"Sex": table["Sex"].iloc[0], "Age": pd.Interval(16, table["Age"].iloc[0], **BOTH)}
    mo = table[(table["Sex"] == known["Sex"]) & (table["Age"] <= table["Age"].iloc[0])]
    ms = sample.table[(sample.table["Sex"] == known["Sex"]) & (sample.table["Age"] <= table["Age"].iloc[0])]
    domain = sorted(set(table["Salary"]))
    expected = [(ms["Salary"] == d).sum() / len(mo) + (len(mo) - len(ms)) / len(mo) / len(domain) for d in domain]
    p = technique.infer(sample, known, table.drop(columns="Salary"))
    assert list(p.index) == domain
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert p.sum() == pytest.approx(1)
    view = mx.QITable(table, qi=["Age", "Sex"], sa="Salary", sa_values=domain)
    pd.testing.assert_series_equal(technique.infer(sample, known, view), p)


def test_sampling_is_without_replacement():
    """Every record is in a sample at most once, all equally often, and larger samples contain smaller ones."""
    table = people(50).assign(Id=range(50))
    seen = np.zeros(50)
    for seed in range(100):
        sample = sdc.Sampling(0.2, seed).publish(table, "Salary").table
        assert sample["Id"].is_unique
        assert set(sample["Id"]) <= set(sdc.Sampling(0.5, seed).publish(table, "Salary").table["Id"])
        seen[sample["Id"]] += 1
    assert abs(seen - 20).max() < 5 * math.sqrt(100 * 0.2 * 0.8)


def test_how_much_noise():
    """M is k % of |D| - 1, rounded to the nearest even number, and the middle of two up (appendix)."""
    assert [sdc.noise_limit(percent, 25) for percent in (0, 4, 5, 10, 20, 50, 100)] == [0, 0, 2, 2, 4, 12, 24]
    assert sdc.noise_limit(10, 31) == 4  # 3 is between 2 and 4
    assert sdc.noise_limit(50, 3) == 2  # 1 is between 0 and 2
    assert [sdc.noise_limit(percent, 2) for percent in (99.9, 100)] == [0, 2]
    assert sdc.noise_limit(0.3, 1001) == sdc.noise_limit(0.7 - 0.4, 1001) == 4  # 3, though floats say less


@given(st.integers(1, 9), st.integers(0, 6))
def test_the_channel(places, half):
    """T(x, y) is the sum of the probabilities of the noises from x to y, where values outside move to the end."""
    channel = sdc.Channel(places, 2 * half)
    expected = np.zeros((places, places))
    for x, noise in itertools.product(range(places), range(2 * half + 1)):
        y = min(max(x + noise - half, 0), places - 1)
        expected[x, y] += binom.pmf(noise, 2 * half, 0.5)
    np.testing.assert_allclose(channel.matrix.toarray(), expected, atol=1e-12)
    x, y = map(np.ravel, np.indices((places, places)))
    np.testing.assert_allclose(channel.probability(x, y), expected.ravel(), atol=1e-12)


def fits(value, known):
    """Return whether a value is a known one."""
    if isinstance(known, pd.Interval):
        return value in known
    return value in known if isinstance(known, list) else value == known


def by_enumeration(noisy, table, known, names):
    """P(d | Y, known) by summing over every true table of independent records, and every record as the person's."""
    domain = list(noisy.domain)
    tuples = table[names].value_counts(normalize=True)
    truths = [(x, d, share / len(domain)) for x, share in tuples.items() for d in range(len(domain))]
    places = {name: list(noisy.domains[name]) for name in [*names, noisy.confidential]}

    def likelihood(truth, record):
        x, d, share = truth
        p = share
        for name, value in [*zip(names, x, strict=True), (noisy.confidential, domain[d])]:
            matrix = noisy.channels[name].matrix.toarray()
            p *= matrix[places[name].index(value), places[name].index(record[name])]
        return p

    records = noisy.table.to_dict("records")
    result = np.zeros(len(domain))
    for world in itertools.product(truths, repeat=len(records)):
        p = math.prod(likelihood(truth, record) for truth, record in zip(world, records, strict=True))
        for x, d, _ in world:  # any of them is the person
            if all(fits(x[names.index(name)], value) for name, value in known.items()):
                result[d] += p
    return result / result.sum()


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (["A"], {"A": 1}),
        (["A"], {"A": 3}),
        (["A", "B"], {"A": 2, "B": "y"}),
        (["A", "B"], {"B": "x"}),  # what is published of A tells whose record it is
        (["A", "B"], {"A": [1, 3]}),
        (["B", "A"], {"A": pd.Interval(2, 3, **BOTH)}),
        (["A"], {}),
    ],
)
def test_noise_by_enumeration(names, known):
    """The derivation of BinomialNoise is Bayes' rule over all true tables (the paper's algorithm 3 is missing)."""
    table = pd.DataFrame({"A": [1, 2, 3], "B": ["x", "y", "y"], "C": [10, 20, 30]})
    technique = sdc.BinomialNoise(100, seed=4)
    noisy = technique.publish(table, "C")
    expected = by_enumeration(noisy, table, known, names)
    np.testing.assert_allclose(technique.infer(noisy, known, table[names]), expected, atol=1e-12)


def test_chunks_are_together(monkeypatch):
    """The answer does not depend on how many pairs are computed at once, or attributes taken together."""
    table = people(120, 7)
    technique = sdc.BinomialNoise(50)
    once = technique.infer(technique.publish(table, "Salary"), {"Education": [2, 3], "Sex": "F"}, table)
    for at_once, joint in ((1, 1), (50, 1), (50, 2**21)):
        monkeypatch.setattr(techniques, "AT_ONCE", at_once)
        monkeypatch.setattr(techniques, "JOINT", joint)
        again = technique.infer(technique.publish(table, "Salary"), {"Education": [2, 3], "Sex": "F"}, table)
        np.testing.assert_allclose(again, once, atol=1e-12)


def test_noise_is_calibrated():
    """A share of about p of the people with an inferred probability near p have the value."""
    rng = np.random.default_rng(0)
    inferred, truth = [], []
    for seed in range(30):
        n = 60
        table = pd.DataFrame({"A": rng.integers(0, 12, n), "B": rng.integers(0, 5, n), "C": rng.integers(0, 6, n)})
        technique = sdc.BinomialNoise(40, seed)
        noisy = technique.publish(table, "C")
        for person in rng.choice(n, 20, replace=False):
            p = technique.infer(noisy, table[["A", "B"]].iloc[person].to_dict(), table)
            inferred.append(p)
            truth.append(np.eye(6)[table["C"].iloc[person]][noisy.domain])
    inferred, truth = np.ravel(inferred), np.ravel(truth)
    for low, high in itertools.pairwise([0, 0.1, 0.2, 0.3, 0.5]):
        some = (inferred >= low) & (inferred < high)
        assert abs(inferred[some].mean() - truth[some].mean()) < 5 * np.sqrt(0.25 / some.sum())


TECHNIQUES = [
    sdc.Sampling(0.3),
    sdc.Sampling(1),
    sdc.RangeQueries(2),
    sdc.RangeQueries(6),
    sdc.RangeQueries(6, distribution="maxent"),
    sdc.BinomialNoise(0),
    sdc.BinomialNoise(30),
    sdc.BinomialNoise(100),
    Rounded("Sex"),
]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=repr)
def test_techniques_keep_the_contract(technique):
    """All techniques, also one that a user writes, infer probabilities over the domain."""
    check_technique(technique, people(), "Salary")
    assert isinstance(technique, sdc.Technique)


def broken(name, change):
    """A technique that changes what is inferred, or its arguments."""

    def infer(self, published, known, population):
        return change(super(technique, self).infer(published, known, population), population)

    technique = type(name, (Rounded,), {"infer": infer})
    return technique("Age")


def zeroed(p, population):
    population.iloc[:, 0] = 0
    return p


class Mute:
    """It publishes, and infers nothing."""

    def publish(self, table, confidential):
        return table


class OneValue(Rounded):
    """It takes one value of an attribute, and no list."""

    def infer(self, published, known, population):
        hash(tuple(known.values()))
        return super().infer(published, known, population)


@pytest.mark.parametrize(
    "technique",
    [
        broken("Half", lambda p, _: p / 2),
        broken("Nothing", lambda p, _: p * np.nan),
        broken("Careless", zeroed),
        broken("Levels", lambda p, _: p.set_axis(pd.MultiIndex.from_arrays([p.index]))),
        OneValue("Age"),
        Mute(),
        sdc.Sampling,
    ],
    ids=lambda technique: getattr(technique, "__name__", type(technique).__name__),
)
def test_what_breaks_the_contract(technique):
    """A table with one other attribute suffices to find it, and an error of the technique is a violation, too."""
    with pytest.raises(AssertionError):
        check_technique(technique, people()[["Age", "Salary"]], "Salary")


def wide():
    """Sums of many different values."""
    return sdc.RangeQueries(2).publish(pd.DataFrame({"C": range(12_000)}), "C")


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (BadProbability, lambda: sdc.Sampling(0)),
        (BadProbability, lambda: sdc.Sampling(2)),
        (StatementError, lambda: sdc.Sampling(0.5, seed=-1)),
        (StatementError, lambda: sdc.RangeQueries(3)),
        (StatementError, lambda: sdc.RangeQueries(0)),
        (StatementError, lambda: sdc.RangeQueries(2, distribution="normal")),
        (BadProbability, lambda: sdc.BinomialNoise(101)),
        (StatementError, lambda: sdc.BinomialNoise(10, prior={1: 1})),
        (BadProbability, lambda: sdc.noise_limit("a", 10)),
        (StatementError, lambda: sdc.Channel(5, 3)),
        (StatementError, lambda: sdc.Channel(5, -2)),
        (GroupTooLarge, lambda: sdc.Channel(100_000, 10_000).matrix),
        (GroupTooLarge, lambda: wide().maxent),
    ],
)
def test_wrong_strengths(error, make):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("technique", [sdc.Sampling(0.5), sdc.RangeQueries(4), sdc.BinomialNoise(20)], ids=repr)
def test_wrong_knowledge(technique):
    """Known attributes and values are those of somebody, and not the confidential one; outputs are the technique's."""
    table = people()
    published = technique.publish(table, "Salary")
    present = set(table[["Age", "Sex"]].itertuples(index=False, name=None))
    nobody = next({"Age": a, "Sex": s} for a in set(table["Age"]) for s in "FM" if (a, s) not in present)
    for error, output, known, population in [
        (UnknownName, published, {"Agee": 20}, table),
        (UnknownName, published, {"Age": 99}, table),
        (StatementError, published, {"Salary": 50}, table),
        (StatementError, published, ["Age"], table),
        (StatementError, published, nobody, table),
        (TableError, published, {}, table.head(0)),
        (TableError, published, {"Age": 20}, None),
        (StatementError, table, {}, table),
    ]:
        with pytest.raises(error):
            technique.infer(output, known, population)
    with pytest.raises(TableError):
        technique.publish(table.assign(Age=np.nan), "Salary")
    with pytest.raises(UnknownName):
        technique.publish(table, "Salery")
