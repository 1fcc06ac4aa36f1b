"""The calibrated deFinetti attack: temperature and evidence are those of enumeration, and nothing is found in noise."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks.definetti import BucketWorlds as Worlds
from maxent_cvx.attacks.definetti import HeldOut, Logistic, NaiveBayes, _buckets_of, _evidence, _pairs_of_buckets


def random_release(rng, n_buckets=6, size=3, leaks=True):
    """Buckets whose values depend on a quasi-identifier, or do not."""
    n = n_buckets * size
    age = rng.integers(0, 4, n)
    value = np.where(rng.random(n) < 0.7, age % 3, rng.integers(0, 3, n)) if leaks else rng.integers(0, 3, n)
    table = pd.DataFrame({"age": age, "s": np.array(list("abc"))[value], "bucket": np.arange(n) // size})
    return table, mx.Release.from_buckets(table, qi="age", sa="s", bucket="bucket")


def enumerated(people, values, p, t):
    """Sum over all ways to deal values to people of prod P(s | q)^t."""
    return sum(
        np.prod([p[q, s] ** t for q, s in zip(people, dealt, strict=True)]) for dealt in itertools.permutations(values)
    )


@pytest.mark.parametrize(
    ("seed", "most_in_sets"),
    [
        *((seed, 12 * (seed % 2)) for seed in range(16)),
        *(pytest.param(seed, 12 * (seed % 2), marks=pytest.mark.slow) for seed in range(16, 200)),
    ],
)  # fmt: skip
def test_evidence_is_that_of_enumeration(seed, most_in_sets, monkeypatch):
    """Mean over pairs of log2 of L_aa L_bb over the mean of it and L_ab L_ba, and t is where that is largest."""
    # Larger buckets are summed in another way.
    monkeypatch.setattr(sys.modules[HeldOut.__module__], "MOST_IN_SETS", most_in_sets)
    rng = np.random.default_rng(seed)
    sizes = [2, 3, 3, 2, 3]
    bucket = np.repeat(np.arange(len(sizes)), sizes)
    table = pd.DataFrame(
        {"age": rng.integers(0, 4, len(bucket)), "s": rng.choice(list("abc"), len(bucket)), "bucket": bucket}
    )
    release = mx.Release.from_buckets(table, qi="age", sa="s", bucket="bucket")
    p = rng.dirichlet(np.ones(len(release.sensitive_values)), len(release.quasi_identifiers))
    held_out = HeldOut(Worlds(release), np.log(np.vstack([p, np.ones(p.shape[1])])))
    q = release.quasi_identifiers.get_indexer(pd.MultiIndex.from_arrays([table["age"]]))
    s = release.sensitive_values.get_indexer(table["s"])

    def bits(t):
        terms = []
        for a, b in itertools.combinations(range(len(sizes)), 2):
            if sizes[a] != sizes[b]:
                continue
            people, values = ([x[bucket == i] for i in (a, b)] for x in (q, s))
            L = [[enumerated(people[i], values[j], p, t) for j in (0, 1)] for i in (0, 1)]
            own, other = L[0][0] * L[1][1], L[0][1] * L[1][0]
            terms.append(np.log2(own / ((own + other) / 2)))
        return np.mean(terms)

    temperature, evidence, p_value = _evidence([held_out], 0)
    assert evidence == pytest.approx(bits(temperature), abs=1e-9)
    assert evidence >= max(bits(t) for t in np.linspace(0, 4, 81)) - 1e-4
    assert 0 < p_value <= 1


def test_pairs_of_buckets_are_unordered_and_different():
    rng = np.random.default_rng(0)
    first, second = _pairs_of_buckets(5, rng)
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == list(itertools.combinations(range(5), 2))
    first, second = _pairs_of_buckets(2000, rng)  # too many for all
    assert (first != second).all()


def test_a_leak_is_found_and_noise_is_not():
    """Evidence is positive and significant where the values depend on quasi-identifiers, and 0 where they do not."""
    rng = np.random.default_rng(1)
    table, release = random_release(rng, 400)
    result = mx.attacks.definetti(release, classifier="logistic", calibrate=True, folds=5, progress=False)
    assert result.evidence > 0.05
    assert result.p_value <= 0.002
    score = result.judge(table)
    assert score.right > score.baseline + 0.1
    _, noise = random_release(rng, 400, leaks=False)
    result = mx.attacks.definetti(noise, classifier="logistic", calibrate=True, folds=5, progress=False)
    assert result.evidence < 0.01
    assert result.p_value > 0.01


def test_p_values_of_noise_are_not_small():
    """Under the hypothesis that buckets may exchange their values, P(p <= .1) is about .1: of 60 some 6."""
    rng = np.random.default_rng(2)
    small = 0
    for _ in range(60):
        _, noise = random_release(rng, 30, 2, leaks=False)
        result = mx.attacks.definetti(noise, calibrate=True, folds=3, iterations=5, progress=False)
        small += result.p_value <= 0.1
    assert small <= 13  # P(X > 13) = .002 for a binomial of 60 and .1


def test_a_bucket_does_not_change_its_own_model():
    """With a fold for each bucket, that of one is what its model infers that has not seen it."""
    rng = np.random.default_rng(3)
    _, release = random_release(rng, 12)
    result = mx.attacks.definetti(release, folds=12, iterations=5, progress=False)
    for at in range(12):
        chosen = np.arange(12) == at
        one = HeldOut(Worlds(_buckets_of(release, chosen)), np.zeros(0))
        learnt = NaiveBayes(release, 1.0)
        # The model of the last iteration is fitted to the probabilities of the last but one.
        before = mx.attacks.definetti(_buckets_of(release, ~chosen), iterations=4, progress=False)
        log_f, _ = learnt.learnt(Worlds(_buckets_of(release, ~chosen)).expected(before.table.to_numpy()))
        log_f = np.vstack([log_f, np.zeros(log_f.shape[1])])
        expected, _ = one.worlds.posterior(log_f, 1e7)
        np.testing.assert_allclose(result.table.loc[[release.buckets[at]]].to_numpy(), expected, atol=1e-9)
    assert result.temperature == 1.0
    assert result.evidence is None


def test_logistic_regression_is_scikit_learns():
    """The coefficients minimise the loss of scikit-learn's LogisticRegression with C = 1, intercepts apart."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(4)
    _, release = random_release(rng, 60)
    model = Logistic(release)
    expected = rng.random((len(release.quasi_identifiers), len(release.sensitive_values))) * 10
    for _ in range(40):  # a few steps of L-BFGS each
        log_p, _ = model.learnt(expected)
    q, s = np.nonzero(expected)
    other = linear_model.LogisticRegression(C=1.0, fit_intercept=False, max_iter=10_000, tol=1e-10)
    other.fit(model.features.toarray()[q], s, sample_weight=expected[q, s])
    np.testing.assert_allclose(np.exp(log_p), other.predict_proba(model.features.toarray()), atol=1e-4)


def test_wrong_arguments():
    _, release = random_release(np.random.default_rng(5), 12)
    start = mx.attacks.definetti(release, iterations=1).table
    for change in [
        {"calibrate": True, "folds": 12},
        {"folds": 3, "start": start},
        {"classifier": "trees"},
        {"release": random_release(np.random.default_rng(5), 1)[1], "calibrate": True},
        {"release": random_release(np.random.default_rng(5), 2)[1], "calibrate": True},
    ]:
        with pytest.raises(mx.StatementError):
            mx.attacks.definetti(**{"release": release, **change})


def test_a_model_that_is_sure_of_the_truth():
    """Worlds whose weight is below the smallest double have no weight; the p-value is still that of a perfect model."""
    size, n_buckets = 6, 40
    value = np.random.default_rng(7).integers(0, 3, size * n_buckets)
    table = pd.DataFrame({"age": value, "s": np.array(list("abc"))[value], "bucket": np.arange(len(value)) // size})
    release = mx.Release.from_buckets(table, qi="age", sa="s", bucket="bucket")
    log_f = np.where(np.eye(4, 3) > 0, 0.0, -60.0)
    log_f[3] = -1.0
    temperature, evidence, p_value = _evidence([HeldOut(Worlds(release), log_f)], 0)
    assert temperature > 0
    assert evidence > 0.9
    assert p_value == 0.002  # twice the least p-value of a fold


def test_tuples_that_other_folds_lack_have_no_numbers_without_smoothing():
    """A model without smoothing rules out what it has not seen: an error says so, and no probability is NaN."""
    table = pd.DataFrame(
        {"G": list("mmmffmfm"), "A": [1, 1, 1, 0, 0, 2, 1, 0], "S": list("baabacba"), "B": [0, 0, 1, 1, 2, 2, 3, 3]}
    )
    release = mx.Release.from_buckets(table, qi=["G", "A"], sa="S", bucket="B")
    with pytest.raises(mx.Infeasible):
        mx.attacks.definetti(release, smoothing=0.0, folds=2)
    assert mx.attacks.definetti(release, smoothing=0.1, folds=2).table.notna().all(axis=None)
