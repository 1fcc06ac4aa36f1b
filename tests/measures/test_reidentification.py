"""Re-identification: classes counted one by one, and estimates of the population beside sums."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError, UnknownName
from maxent_cvx.measures.reidentification import (
    expected_risk,
    individual_risk,
    log_likelihood,
    reidentification,
    share_unique,
    still_unique,
)
from maxent_cvx.releases.partitioned import divided
from support.series import patients

PEOPLE = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=40)


def table(people: list[tuple[str, int]]) -> pd.DataFrame:
    return pd.DataFrame(people, columns=["sex", "age"])


@given(PEOPLE, st.integers(1, 6))
def test_of_a_sample(people, k):
    """All risks of a sample are those of counting the records that are alike, record by record."""
    alike = Counter(people)
    f = [alike[person] for person in people]
    result = reidentification(table(people), qi=["sex", "age"], k=k)
    value = result.measures["value"]
    assert value["classes"] == len(alike)
    assert value["k"] == min(f)
    assert value["records below k"] == sum(n < k for n in f)
    assert value["sample uniques"] == f.count(1)
    assert value["highest prosecutor risk"] == 1 / min(f)
    mean = float(sum(Fraction(1, n) for n in f) / len(f))
    assert value["prosecutor risk"] == pytest.approx(mean)
    assert value["marketer risk"] == pytest.approx(mean)
    assert result.classes["records"].to_dict() == dict(alike)
    assert result.classes["risk"].is_monotonic_decreasing


@given(PEOPLE, PEOPLE, st.integers(1, 6))
def test_of_a_population(people, others, k):
    """With a list of everybody, the risks are those of counting the people whom each record may belong to."""
    everybody = Counter(people + others)
    population = [everybody[person] for person in people]
    value = reidentification(table(people), ["sex", "age"], population=table(people + others), k=k).measures["value"]
    assert value["population k"] == min(population)
    assert value["records below k in the population"] == sum(n < k for n in population)
    assert value["population uniques"] == population.count(1)
    assert value["highest journalist risk"] == 1 / min(population)
    mean = float(sum(Fraction(1, n) for n in population) / len(population))
    assert value["journalist risk"] == pytest.approx(mean)
    # A marketer who links a class of f records at random to its F people has f / F of one right.
    pairs = sum(Fraction(n, everybody[person]) for person, n in Counter(people).items())
    assert value["marketer risk"] == pytest.approx(float(pairs / len(people)))
    assert value["journalist risk"] <= value["prosecutor risk"] + 1e-12


def test_whatever_has_classes(hospital, release):
    """A release, a table of quasi-identifiers, a release in partitions and posteriors have the classes of the table."""
    qi = ["Gender", "Degree"]
    expected = reidentification(hospital, qi)
    census = mx.QITable(hospital, qi=qi, sa="Disease", sa_values=["Flu", "HIV"])
    parts = divided(release, 2)
    for published in (release, census, parts, mx.MaxEnt(release).solve(), mx.MaxEnt(parts).solve()):
        result = reidentification(published)
        pd.testing.assert_frame_equal(result.measures, expected.measures)
        pd.testing.assert_frame_equal(result.classes.sort_index(), expected.classes.sort_index())
    for population in (hospital, census):
        assert reidentification(release, population=population).measures["value"]["population k"] == 1
    one = mx.Release.from_buckets(hospital, qi="Gender", sa="Disease", bucket="Bucket")
    assert reidentification(one).classes["records"].to_dict() == {"female": 4, "male": 6}


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.99, 1.0])
def test_individual_risk(p):
    """E[1 / F | f] is the sum over the negative binomial distribution; of a census it is 1 / f."""
    for f in (1, 2, 7, 60):
        h, term, total = f, p**f, 0.0
        while term > 0 and h < 40 * f / p:
            total += term / h
            h, term = h + 1, term * h / (h - f + 1) * (1 - p)
        assert individual_risk(np.array([f]), p)[0] == pytest.approx(total, rel=1e-9)
    if p < 1:  # Benedetti and Franconi's own formula for sample uniques
        assert individual_risk(np.array([1]), p)[0] == pytest.approx(p / (1 - p) * math.log(1 / p), rel=1e-9)


def seated(rng: np.random.Generator, n: int, alpha: float, theta: float) -> np.ndarray:
    """Draw the classes of n people one by one: a new one, or one of m people with a weight of m - alpha."""
    sizes: list[int] = []
    result = np.empty(n, dtype=int)
    for i in range(n):
        is_new = rng.random() * (theta + i) < theta + alpha * len(sizes)
        while not is_new:
            one = result[rng.integers(i)]
            if rng.random() < 1 - alpha / sizes[one]:
                break
        result[i] = len(sizes) if is_new else one
        if is_new:
            sizes.append(0)
        sizes[result[i]] += 1
    return result


def test_likelihood():
    """Pitman's formula is the product of the probabilities of the classes of people one by one, in any order."""
    rng = np.random.default_rng(0)
    classes = seated(rng, 60, 0.4, 3.0)
    records = np.bincount(classes)
    points = [(0.1, 2.0), (0.5, 0.7), (0.9, 30.0), (0.0, 5.0)]

    def one_by_one(alpha: float, theta: float, order: np.ndarray) -> float:
        sizes: Counter[int] = Counter()
        total = 0.0
        for i, number in enumerate(order.tolist()):
            weight = sizes[number] - alpha if sizes[number] else theta + alpha * len(sizes)
            total += math.log(weight / (theta + i))
            sizes[number] += 1
        return total

    sizes, number = np.unique(records, return_counts=True)
    ours = [log_likelihood(*point, sizes, number) for point in points]
    for order in (classes, rng.permutation(classes)):
        theirs = [one_by_one(*point, order) for point in points]
        for (a, b), (c, d) in zip(pairwise(ours), pairwise(theirs), strict=True):
            assert b - a == pytest.approx(d - c, abs=1e-9)


def test_pitman_by_hand():
    """A unique record stays unique if nobody joins it; the expected risk is the sum over the people who join."""
    alpha, theta, n, n_population = 0.3, 4.0, 50, 400
    product = math.prod((theta + alpha + i - 1) / (theta + i) for i in range(n, n_population))
    assert still_unique(alpha, theta, n, n_population) == pytest.approx(product, rel=1e-9)
    for f in (1, 3, 20):
        chance = {f: 1.0}
        for i in range(n, n_population):
            after: Counter[int] = Counter()
            for m, p in chance.items():
                join = (m - alpha) / (theta + i)
                after[m + 1] += p * join
                after[m] += p * (1 - join)
            chance = dict(after)
        mean = sum(p / m for m, p in chance.items())
        assert expected_risk(alpha, theta, np.array([f]), n, n_population)[0] == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("f", [1, 2, 30, 300, 1_000, 1_001, 7_000])
def test_large_populations_are_integrated(f):
    """The approximation for large populations is right to five digits."""
    alpha, theta, n, others = 0.6, 40.0, 10_000, 300_000
    a, b = f - alpha, theta + n - f + alpha
    x = np.arange(others)
    ratio = (others - x) / (x + 1) * (x + a) / (others - x - 1 + b)
    log_p = np.concatenate([[0.0], np.cumsum(np.log(ratio))])
    p = np.exp(log_p - log_p.max())
    mean = (p / (f + np.arange(others + 1))).sum() / p.sum()
    assert expected_risk(alpha, theta, np.array([f]), n, n + others)[0] == pytest.approx(mean, rel=1e-5)


@pytest.mark.parametrize(("alpha", "theta"), [(0.3, 20.0), (0.7, 5.0)])
def test_pitman_is_simulated(alpha, theta):
    """For simulated populations, the estimates are right on average, and that of Zayatz is not lower."""
    rng, n, n_population, repeats = np.random.default_rng(1), 300, 1_500, 15
    true, pitman, zayatz = (np.empty((repeats, 2)) for _ in range(3))
    for i in range(repeats):
        everybody = seated(rng, n_population, alpha, theta)
        sample, people = everybody[:n], np.bincount(everybody)
        records = np.bincount(sample, minlength=len(people))
        true[i] = ((people == 1) & (records == 1)).sum(), (1 / people[sample]).mean()
        frame = pd.DataFrame({"q": sample})
        value = reidentification(frame, "q", population=n_population).measures["value"]
        pitman[i] = value["population uniques (Pitman)"], value["individual risk (Pitman)"]
        zayatz[i] = value["population uniques (Zayatz)"], value["marketer risk"]
    error = (pitman - true).std(axis=0) / math.sqrt(repeats)
    assert (np.abs((pitman - true).mean(axis=0)) < 4 * error).all()
    assert zayatz[:, 0].mean() > true[:, 0].mean() - 4 * error[0]
    np.testing.assert_array_equal(zayatz[:, 1], pitman[:, 1])


@given(st.lists(st.integers(1, 8), min_size=1, max_size=15), st.integers(0, 60))
def test_zayatz(records, others):
    """The estimate of Zayatz is Bayes' rule with hypergeometric probabilities."""
    records = [1, *records]
    n, n_population = sum(records), sum(records) + others
    share = {size: Fraction(number, len(records)) for size, number in Counter(records).items()}

    def one(size: int) -> Fraction:
        ways = size * math.comb(n_population - size, n - 1)
        return Fraction(ways, math.comb(n_population, n))

    expected = share[1] * one(1) / sum(share[size] * one(size) for size in share)
    assert share_unique(np.array(records), n_population) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("people", [[("a", i) for i in range(5)], [("a", 1)]])
def test_pitman_without_an_estimate(people):
    """Classes of one record each do not determine Pitman's parameters: the estimate is NaN, with a reason."""
    result = reidentification(table(people), ["sex", "age"], population=100)
    row = result.measures.loc["population uniques (Pitman)"]
    assert math.isnan(row["value"])
    assert "not available" in row["says"]
    assert result.measures["value"]["marketer risk"] == result.measures["value"]["individual risk (Benedetti-Franconi)"]


def test_wrong_arguments(hospital, release):
    """Classes need quasi-identifiers, and the population all records."""
    qi = ["Gender", "Degree"]
    census = mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])
    for error, change in [
        (StatementError, {"published": patients(), "qi": None}),
        (StatementError, {"published": release}),
        (StatementError, {"qi": None}),
        (UnknownName, {"qi": ["Sex"]}),
        (TableError, {"published": hospital.assign(Gender=None)}),
        (TableError, {"published": hospital.assign(count=3)}),
        (TableError, {"population": hospital[hospital["Degree"] != "graduate"]}),
        (UnknownName, {"population": hospital[["Gender"]]}),
        (StatementError, {"population": census}),
        (StatementError, {"population": 100.5}),
        (StatementError, {"k": 0}),
    ]:
        with pytest.raises(error):
            reidentification(**{"published": hospital, "qi": qi, **change})


def test_a_generalised_release_of_a_whole_population():
    """Only the marketer risk changes if the population has people who are not in the release."""
    records = pd.DataFrame({"age": ["[20, 29]"] * 3 + ["[30, 39]"] * 2, "disease": list("abcab")})
    people = pd.DataFrame({"age": [21, 22, 23, 34, 35]})
    whole, larger = (
        mx.Release.from_generalized(records, qi="age", sa="disease", population=population)
        for population in (people, pd.concat([people, pd.DataFrame({"age": [24]})]))
    )
    alone = mx.Release.from_generalized(records, qi="age", sa="disease")
    for name in ("k", "sample uniques", "prosecutor risk", "marketer risk"):
        results = [reidentification(release).measures["value"][name] for release in (alone, whole, larger)]
        assert results[0] == pytest.approx(results[1])
        assert results[2] == pytest.approx(results[1] if name != "marketer risk" else (3 / 4 + 2 / 2) / 5)
    with pytest.raises(StatementError):
        reidentification(whole, population=people)
    again = mx.Release.from_frames(whole.to_frames())
    assert reidentification(again).measures.equals(reidentification(whole).measures)
    assert (mx.attacks.membership(whole).table[True] == 1).all()
