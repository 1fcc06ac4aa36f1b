"""Binomial noise: what an intruder infers is Bayes over all true tables, by enumeration."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import maxent_cvx as mx
from maxent_cvx import BadProbability, TableError, UnknownName, sdc
from maxent_cvx.sdc import techniques as linkage
from support.helpers import refused
from support.techniques import BOTH, people


def test_how_much_noise():
    """M is k % of |D| - 1, rounded to the nearest 2; the middle of two goes up (appendix)."""
    assert [sdc.noise_limit(percent, 25) for percent in (0, 4, 5, 10, 20, 50, 100)] == [0, 0, 2, 2, 4, 12, 24]
    assert sdc.noise_limit(10, 31) == 4  # 3 is between 2 and 4
    assert sdc.noise_limit(50, 3) == 2  # 1 is between 0 and 2
    assert [sdc.noise_limit(percent, 2) for percent in (99.9, 100)] == [0, 2]
    assert sdc.noise_limit(0.3, 1001) == sdc.noise_limit(0.7 - 0.4, 1001) == 4  # 3, though floats say less


@given(st.integers(1, 9), st.integers(0, 6))
def test_the_channel(places, half):
    """T(x, y) is what happens: every noise with its probability, moved to the end where it is outside."""
    channel = sdc.Channel(places, 2 * half)
    expected = np.zeros((places, places))
    for x, noise in itertools.product(range(places), range(2 * half + 1)):
        y = min(max(x + noise - half, 0), places - 1)
        expected[x, y] += binom.pmf(noise, 2 * half, 0.5)
    np.testing.assert_allclose(channel.matrix.toarray(), expected, atol=1e-12)
    x, y = map(np.ravel, np.indices((places, places)))
    np.testing.assert_allclose(channel.probability(x, y), expected.ravel(), atol=1e-12)


def test_noise_is_drawn_so():
    """Published values have the frequencies of the channel, of every attribute."""
    table = pd.DataFrame({"A": np.repeat([0, 1, 2, 3, 4], 4_000), "C": np.tile([10, 20, 30, 40], 5_000)})
    noisy = sdc.BinomialNoise(100, seed=1).publish(table, "C").table
    for name in ("A", "C"):
        domain = sorted(set(table[name]))
        channel = sdc.Channel(len(domain), 4)
        expected = channel.matrix.sum(axis=0) / len(domain)
        seen = noisy[name].value_counts(normalize=True).reindex(domain)
        assert abs(seen - expected).max() < 5 * np.sqrt(0.25 / 20_000)


def fits(value, known):
    """Whether a value is one of those that are known."""
    if isinstance(known, pd.Interval):
        return value in known
    return value in known if isinstance(known, list) else value == known


def by_enumeration(noisy, table, known, names):
    """P(d | Y, known) by summing over every true table of independent records, and every record as the person's."""
    domain = list(noisy.domain)
    tuples = table[names].value_counts(normalize=True)
    truths = [(x, d, share / len(domain)) for x, share in tuples.items() for d in range(len(domain))]
    places = {name: list(noisy.domains[name]) for name in [*names, noisy.confidential]}

    def said(truth, record):
        x, d, share = truth
        p = share
        for name, value in [*zip(names, x, strict=True), (noisy.confidential, domain[d])]:
            matrix = noisy.channels[name].matrix.toarray()
            p *= matrix[places[name].index(value), places[name].index(record[name])]
        return p

    records = noisy.table.to_dict("records")
    found = np.zeros(len(domain))
    for world in itertools.product(truths, repeat=len(records)):
        p = math.prod(said(truth, record) for truth, record in zip(world, records, strict=True))
        for x, d, _ in world:  # any of them is the person
            if all(fits(x[names.index(name)], value) for name, value in known.items()):
                found[d] += p
    return found / found.sum()


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
    """However many pairs are looked at at once, and attributes taken together, the answer is the same."""
    table = people(120, 7)
    technique = sdc.BinomialNoise(50)
    once = technique.infer(technique.publish(table, "Salary"), {"Education": [2, 3], "Sex": "F"}, table)
    for at_once, joint in ((1, 1), (50, 1), (50, 2**21)):
        monkeypatch.setattr(linkage, "AT_ONCE", at_once)
        monkeypatch.setattr(linkage, "JOINT", joint)
        again = technique.infer(technique.publish(table, "Salary"), {"Education": [2, 3], "Sex": "F"}, table)
        np.testing.assert_allclose(again, once, atol=1e-12)


def test_nothing_stale():
    """What was found for one table or population is not said of another."""
    table = people(60, 8)
    technique = sdc.BinomialNoise(100)
    noisy = technique.publish(table, "Salary")
    first = technique.infer(noisy, {"Age": 20}, table)
    turned = replace(noisy, table=noisy.table.assign(Age=noisy.table["Age"].to_numpy()[::-1]))
    assert not np.allclose(technique.infer(turned, {"Age": 20}, table), first)
    noisy.table["Age"] = noisy.table["Age"].to_numpy()[::-1].copy()
    np.testing.assert_allclose(technique.infer(noisy, {"Age": 20}, table), technique.infer(turned, {"Age": 20}, table))
    codes = pd.DataFrame({"a": [0, 1], "b": pd.Categorical([0, 1], categories=[0, 1, 2]), "C": [1, 2]})
    noisy = sdc.BinomialNoise(100, seed=8).publish(codes, "C")
    technique.infer(noisy, {"a": 0}, codes[["a"]])
    after = technique.infer(noisy, {"b": 0}, codes[["b"]])
    fresh = technique.infer(sdc.BinomialNoise(100, seed=8).publish(codes, "C"), {"b": 0}, codes[["b"]])
    pd.testing.assert_series_equal(after, fresh)
    other = table.assign(Age=table["Age"].iloc[::-1].to_numpy())
    assert not np.allclose(technique.infer(turned, {"Age": 20}, other), technique.infer(turned, {"Age": 20}, table))


def test_no_noise():
    """Without noise the intruder knows the frequencies among those who match."""
    table = people()
    technique = sdc.BinomialNoise(0)
    noisy = technique.publish(table, "Salary")
    known = {"Sex": "M", "Education": [1, 2]}
    mo = table[(table["Sex"] == "M") & table["Education"].isin([1, 2])]
    expected = mo["Salary"].value_counts(normalize=True).reindex(noisy.domain).fillna(0)
    np.testing.assert_allclose(technique.infer(noisy, known, table), expected, atol=1e-12)
    view = mx.QITable(table, qi=["Sex", "Education"], sa="Salary", sa_values=noisy.domain)
    np.testing.assert_allclose(technique.infer(noisy, known, view), expected, atol=1e-12)


def test_noise_is_calibrated():
    """Of all people, those who are told a probability near p have the value about p of the time."""
    rng = np.random.default_rng(0)
    told, truth = [], []
    for seed in range(60):
        n = 60
        table = pd.DataFrame({"A": rng.integers(0, 12, n), "B": rng.integers(0, 5, n), "C": rng.integers(0, 6, n)})
        technique = sdc.BinomialNoise(40, seed)
        noisy = technique.publish(table, "C")
        for person in rng.choice(n, 20, replace=False):
            p = technique.infer(noisy, table[["A", "B"]].iloc[person].to_dict(), table)
            told.append(p)
            truth.append(np.eye(6)[table["C"].iloc[person]][noisy.domain])
    told, truth = np.ravel(told), np.ravel(truth)
    for low, high in itertools.pairwise([0, 0.1, 0.2, 0.3, 0.5]):
        some = (told >= low) & (told < high)
        assert abs(told[some].mean() - truth[some].mean()) < 5 * np.sqrt(0.25 / some.sum())


def test_a_prior_of_the_values():
    """A better prior than the uniform one gives the truth more probability on average."""
    table = people(300, 2)
    prior = table["Salary"].value_counts(normalize=True)
    plain, better = sdc.BinomialNoise(60), sdc.BinomialNoise(60, prior=prior)
    noisy = plain.publish(table, "Salary")
    p, q = (technique.infer(noisy, {"Sex": "F"}, table) for technique in (plain, better))
    share = table.loc[table["Sex"] == "F", "Salary"].value_counts(normalize=True).reindex(p.index).fillna(0)
    assert (q - share).abs().sum() < (p - share).abs().sum()
    with refused(UnknownName, "prior has no probability of"):
        sdc.BinomialNoise(60, prior=prior.iloc[1:]).infer(noisy, {}, table)
    for wrong, error, says in [
        (pd.Series([0.5, 0.5], [1, 1]), TableError, "more than one"),
        (pd.Series(["a"]), TableError, "real numbers"),
        (pd.Series([1.5, -0.5]), BadProbability, "none below 0"),
        (pd.Series([np.nan]), TableError, "missing"),
    ]:
        with refused(error, says):
            sdc.BinomialNoise(60, prior=wrong)
    with refused(BadProbability, "sum to 1"):
        sdc.BinomialNoise(60, prior=prior * 2).infer(noisy, {}, table)
    with refused(BadProbability, "impossible"):
        sdc.BinomialNoise(0, prior=(prior * 0).where(prior < prior.max(), 1.0)).infer(
            sdc.BinomialNoise(0).publish(table, "Salary"), {}, table
        )
