"""Binomial noise: what an intruder infers is Bayes over all true tables, by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from maxent_cvx import sdc
from maxent_cvx.sdc import techniques as linkage
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
