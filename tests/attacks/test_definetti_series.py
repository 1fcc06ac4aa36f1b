"""The deFinetti attack on a series: against iterative proportional fitting, and what two releases tell together."""

from __future__ import annotations

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx import StatementError
from support.helpers import refused


def made_series(
    people: pd.DataFrame, kind: np.ndarray, n_buckets: int, rng: np.random.Generator
) -> tuple[mx.ReleaseSeries, np.ndarray]:
    """Two releases of as many buckets of each kind, with the same mixture of values; one bucket's people leave.

    Also everybody's bucket in each release, -1 for people who are not in it.
    """
    buckets, releases = np.full((2, len(people)), -1), []
    for release in range(2):
        for (number, _), who in people.groupby([kind, "S"]).indices.items():
            place = np.arange(len(who)) % n_buckets - release
            buckets[release, rng.permutation(who)] = np.where(place < 0, -1, number * n_buckets + place)
        table = people.assign(Bucket=buckets[release])[buckets[release] >= 0]
        releases.append(mx.Release.from_buckets(table, qi=["A", "B"], sa="S", bucket="Bucket", id="Name"))
    return mx.ReleaseSeries(releases), buckets


def fitted(f: np.ndarray, truth: np.ndarray, buckets: np.ndarray) -> np.ndarray:
    """The distribution nearest to f with the values of each bucket, by iterative proportional fitting."""
    p = f / f.sum(axis=1, keepdims=True)
    for _ in range(20_000):
        before = p.copy()
        for release in buckets:
            for bucket in range(release.max() + 1):
                inside = release == bucket
                total = p[inside].sum(axis=0)
                p[inside] *= np.divide(truth[inside].sum(axis=0), total, out=np.zeros_like(total), where=total > 0)
        p /= p.sum(axis=1, keepdims=True)
        if np.abs(p - before).max() < 1e-13:
            return p
    raise AssertionError("the fitting did not converge")


def test_every_step_is_that_of_proportional_fitting():
    """Naive Bayes from expected people, then the nearest distribution with the values of all buckets of both releases."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, smoothing = 24, 0.5
        people = pd.DataFrame(
            {
                "Name": np.arange(n),
                "A": rng.integers(0, 2, n),
                "B": rng.integers(0, 3, n),
                "S": list("xxy") * 8,
            }
        )
        series, buckets = made_series(people, np.zeros(n, dtype=int), 4, rng)
        truth = np.array(people["S"].to_numpy()[:, None] == np.array(list("xy")), dtype=float)
        p = fitted(np.ones((n, 2)), truth, buckets)
        prior = p.mean(axis=0)
        result = mx.attacks.definetti(series, smoothing=smoothing, iterations=2, tolerance=0)
        np.testing.assert_allclose(result.baseline, p, atol=1e-6)
        for iteration in (1, 2):
            f, penalty = np.tile(prior, (n, 1)), 0.0
            for name in ("A", "B"):
                has = (people[name].to_numpy() == np.unique(people[name])[:, None]).astype(float)
                given = (has @ p + smoothing) / (p.sum(axis=0) + smoothing * len(has))
                penalty += smoothing * np.log(given).sum()
                f *= has.T @ given
            p = fitted(f, truth, buckets)
            at_least = np.maximum(p, 1e-300)
            log_likelihood = (p * np.log(np.maximum(f, 1e-300) / at_least)).sum()
            assert abs(result.log["log_likelihood"][iteration] - log_likelihood) < 1e-4
            assert abs(result.log["objective"][iteration] - log_likelihood - penalty) < 1e-4
        np.testing.assert_allclose(result.table, p, atol=1e-5)
        assert result.error < 1e-6


def test_releases_of_a_series_tell_more_together():
    """Values that attributes tell: the attack on the series is right more often than on each release, and than without it."""
    rng = np.random.default_rng(2)
    kind, s = (part.ravel() for part in np.indices((4, 150)))  # each kind lacks one of four values
    s = (kind + 1 + s % 3) % 4
    told = [np.where(rng.random(600) < 0.65, (s + shift) % 4, rng.integers(0, 4, 600)) for shift in range(2)]
    people = pd.DataFrame({"Name": np.arange(600), "A": told[0], "B": told[1], "S": np.array(list("wxyz"))[s]})
    series, buckets = made_series(people, kind, 50, rng)
    judgement = mx.attacks.definetti(series).judge(people)
    each = [
        mx.attacks.definetti(release).judge(people.assign(Bucket=bucket)[bucket >= 0])
        for release, bucket in zip(series.releases, buckets, strict=True)
    ]
    assert judgement.right > max(other.right for other in each) + 0.05
    assert judgement.right > judgement.baseline + 0.1


def test_a_series_without_quasi_identifiers_is_refused():
    """Nothing can be learnt from pseudonyms alone, and folds need buckets without common people."""
    tables = mx.datasets.load_patients()
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables
    )
    with refused(StatementError, "qi="):
        mx.attacks.definetti(series)
    with refused(StatementError, "each release"):
        mx.attacks.definetti(series, calibrate=True)
