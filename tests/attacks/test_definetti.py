"""The deFinetti attack: beside sums over all worlds, scikit-learn's models and iterative proportional fitting."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import maxent_cvx as mx
from maxent_cvx.attacks.definetti import (
    BucketWorlds,
    HeldOut,
    Logistic,
    NaiveBayes,
    _buckets_of,
    _evidence,
    _pairs_of_buckets,
    expected_records,
)
from support.helpers import refused

QI = ["A", "B"]


def random_people(rng: np.random.Generator) -> pd.DataFrame:
    """Buckets of one to five people, whose attributes and values repeat."""
    n = int(rng.integers(6, 16))
    size = rng.integers(1, 6, n).cumsum()
    return pd.DataFrame(
        {
            "A": rng.choice(["x", "y", "z"], n),
            "B": rng.integers(0, 2, n),
            "S": rng.choice(list("stuv"), n),
            "Bucket": np.searchsorted(size, np.arange(n), side="right"),
        }
    )


def drawn_people(rng: np.random.Generator, n: int, l: int, given: np.ndarray) -> pd.DataFrame:
    """Draw buckets of l different values, and attributes by P(1 | s): one row per attribute, one column per value."""
    s = np.array([rng.permutation(given.shape[1])[:l] for _ in range(n // l)]).ravel()
    attributes = {f"Q{a}": (rng.random(len(s)) < p[s]).astype(int) for a, p in enumerate(given)}
    return pd.DataFrame({**attributes, "S": s, "Bucket": np.arange(len(s)) // l})


def released(people: pd.DataFrame) -> mx.Release:
    """The people's release; all but S and Bucket are quasi-identifiers."""
    qi = [name for name in people if name not in ("S", "Bucket")]
    return mx.Release.from_buckets(people, qi=qi, sa="S", bucket="Bucket")


def by_all_worlds(
    people: pd.DataFrame, added: dict[int, list[str]], smoothing: float, iterations: int
) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """P(s) of everybody, and the log-likelihood and penalty of every iteration, from a list of all worlds.

    Counterfeits, `added` to a bucket, have no known quasi-identifiers.
    """
    held = {b: [*some["S"], *added.get(int(b), [])] for b, some in people.groupby("Bucket")}
    values = sorted(set(itertools.chain(*held.values())))
    n_s = {s: sum(bucket.count(s) for bucket in held.values()) for s in values}
    prior = {s: n_s[s] / sum(n_s.values()) for s in values}
    p = {t: {s: held[b].count(s) / len(held[b]) for s in values} for t, b in people["Bucket"].items()}
    log = []
    for _ in range(iterations):
        likelihood, penalty = {}, 0.0
        for name, s in itertools.product(QI, values):
            distinct = sorted(people[name].unique())
            for v in distinct:
                has = sum(p[t][s] for t in people.index if people[name][t] == v) + smoothing
                likelihood[name, v, s] = has / (sum(p[t][s] for t in people.index) + smoothing * len(distinct))
                penalty += smoothing * math.log(likelihood[name, v, s]) if smoothing else 0.0
        f = {(t, s): prior[s] * math.prod(likelihood[name, people[name][t], s] for name in QI)
             for t in people.index for s in values}  # fmt: skip
        weight_of, total = {(t, s): 0.0 for t in people.index for s in values}, dict.fromkeys(held, 0.0)
        for b, bucket in held.items():
            who = [*people.index[people["Bucket"] == b]]
            for world in set(itertools.permutations(bucket)):
                known, rest = world[: len(who)], world[len(who) :]
                weight = math.prod(f[t, s] for t, s in zip(who, known, strict=True)) * math.prod(prior[s] for s in rest)
                total[b] += weight
                for t, s in zip(who, known, strict=True):
                    weight_of[t, s] += weight
        p = {t: {s: weight_of[t, s] / total[b] for s in values} for t, b in people["Bucket"].items()}
        log.append((sum(map(math.log, total.values())), penalty))
    return np.array([[p[t][s] for s in values] for t in people.index]), log


@pytest.mark.parametrize("smoothing", [0.0, 1.0, 0.3])
def test_every_step_is_a_sum_over_all_worlds(smoothing: float) -> None:
    """Probabilities, likelihood and objective of three iterations, on 10 random releases, some with counterfeits."""
    rng = np.random.default_rng(round(10 * smoothing))
    with_counterfeits = 0
    for _ in range(10):
        people = random_people(rng)
        added = {int(people["Bucket"].iloc[0]): list(rng.choice(list("stuv"), rng.integers(0, 3)))}
        more = pd.DataFrame([(b, s) for b, some in added.items() for s in some], columns=["Bucket", "S"])
        release = mx.Release.from_tables(
            people[[*QI, "Bucket"]], pd.concat([people[["Bucket", "S"]], more.astype({"Bucket": int})]), qi=QI, sa="S",
            bucket="Bucket", counterfeits=True,
        )  # fmt: skip
        with_counterfeits += bool(release.with_counterfeits.any())
        result = mx.attacks.definetti(release, smoothing=smoothing, iterations=3, tolerance=0)
        p, log = by_all_worlds(people, added, smoothing, 3)
        rows = result.table.loc[list(people[["Bucket", *QI]].itertuples(index=False, name=None))]
        np.testing.assert_allclose(rows, p, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(result.log["log_likelihood"], [x for x, _ in log], rtol=1e-10)
        np.testing.assert_allclose(result.log["objective"], [x + y for x, y in log], rtol=1e-10)
        assert result.records.sum() == len(people)
    assert with_counterfeits > 3


def test_naive_bayes_is_that_of_scikit_learn() -> None:
    """CategoricalNB with the same smoothing, as the classifier: P(s | q) weighs worlds as P(q, s) does."""
    for seed in range(3):
        people = random_people(np.random.default_rng(seed))
        release = released(people)
        classifier = make_pipeline(OrdinalEncoder(), CategoricalNB(alpha=0.7))
        ours = mx.attacks.definetti(release, smoothing=0.7, iterations=5, tolerance=0)
        theirs = mx.attacks.definetti(release, classifier, iterations=5, tolerance=0)
        np.testing.assert_allclose(theirs.table, ours.table, rtol=1e-8)
        with pytest.raises(Exception, match="not fitted"):
            check_is_fitted(classifier[-1])


def test_a_naive_bayes_distribution_is_found_and_calibrated() -> None:
    """The attack on people drawn from a naive Bayes is as often right as the distribution itself, and calibrated."""
    rng = np.random.default_rng(7)
    given = np.array([[0.9, 0.5, 0.2, 0.1], [0.1, 0.8, 0.3, 0.6], [0.5, 0.1, 0.9, 0.4]])
    people = drawn_people(rng, 6000, 3, given)
    result = mx.attacks.definetti(released(people), iterations=200)
    judgement = result.judge(people)
    q = people[["Q0", "Q1", "Q2"]].to_numpy()
    f = np.prod(np.where(q[:, :, None] == 1, given, 1 - given), axis=1).reshape(-1, 3, 4)
    s = people["S"].to_numpy().reshape(-1, 3)
    weight = np.zeros((len(s), 3, 3))  # of each person and the first, second, third value of the bucket
    for world in itertools.permutations(range(3)):
        of_world = np.prod([f[np.arange(len(s)), t, s[:, v]] for t, v in enumerate(world)], axis=0)
        for t, v in enumerate(world):
            weight[:, t, v] += of_world
    knowing = (weight.argmax(axis=2) == np.arange(3)).mean()
    assert result.converged
    assert judgement.baseline == pytest.approx(1 / 3)
    assert knowing - 0.02 < judgement.right < knowing + 0.02
    assert judgement.right - judgement.baseline > 20 * judgement.standard_error
    often = judgement.calibration.query("records > 100")
    assert ((often["said"] - often["right"]).abs() < 4 * often["standard_error"]).all()


def test_scikit_learn_is_needed_for_its_classifiers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scikit-learn naive Bayes works, and a classifier is an error."""
    release = released(random_people(np.random.default_rng(4)))
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    assert mx.attacks.definetti(release, iterations=1).log.shape == (1, 3)
    with pytest.raises(mx.StatementError):
        mx.attacks.definetti(release, DummyClassifier())


# -- calibrated --------------------------------------------------------------------------------------------------------


def random_release(rng, n_buckets=6, size=3, leaks=True):
    """Buckets whose values depend on a quasi-identifier, or do not."""
    n = n_buckets * size
    age = rng.integers(0, 4, n)
    value = np.where(rng.random(n) < 0.7, age % 3, rng.integers(0, 3, n)) if leaks else rng.integers(0, 3, n)
    table = pd.DataFrame({"age": age, "s": np.array(list("abc"))[value], "bucket": np.arange(n) // size})
    return table, mx.Release.from_buckets(table, qi="age", sa="s", bucket="bucket")


def enumerated(people, values, p, t):
    """Sum over all assignments of values to people of prod P(s | q)^t."""
    return sum(np.prod(p[people, list(world)] ** t) for world in itertools.permutations(values))


@pytest.mark.parametrize(
    ("seed", "most_in_sets"),
    [
        *((seed, 12 * (seed % 2)) for seed in range(16)),
        *(pytest.param(seed, 12 * (seed % 2), marks=pytest.mark.slow) for seed in range(16, 200)),
    ],
)  # fmt: skip
def test_evidence_is_that_of_enumeration(seed, most_in_sets, monkeypatch):
    """The evidence is the mean over pairs of log2 of L_aa L_bb over the mean of it and L_ab L_ba, and t maximises it."""
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
    held_out = HeldOut(BucketWorlds(release), np.log(np.vstack([p, np.ones(p.shape[1])])))
    q = release.quasi_identifiers.get_indexer(pd.MultiIndex.from_arrays([table["age"]]))
    s = release.sensitive_values.get_indexer(table["s"])

    def bits(t):
        terms = []
        for a, b in itertools.combinations(range(len(sizes)), 2):
            if sizes[a] != sizes[b]:
                continue
            people, values = ([x[bucket == i] for i in (a, b)] for x in (q, s))
            L = [[enumerated(people[i], values[j], p, t) for j in (0, 1)] for i in (0, 1)]
            published, exchanged = L[0][0] * L[1][1], L[0][1] * L[1][0]
            terms.append(np.log2(published / ((published + exchanged) / 2)))
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


def test_p_values_of_noise_are_not_small():
    """Under the hypothesis that buckets may exchange their values, P(p <= .1) is about .1: of 30 some 3."""
    rng = np.random.default_rng(2)
    small = 0
    for _ in range(30):
        _, noise = random_release(rng, 30, 2, leaks=False)
        result = mx.attacks.definetti(noise, calibrate=True, folds=3, iterations=5, progress=False)
        small += result.p_value <= 0.1
    assert small <= 8  # P(X > 8) = .002 for a binomial of 30 and .1


def test_a_model_that_rules_out_the_published_values_is_not_believed():
    """A tree that fits other buckets exactly gives the values of held-out ones the probability 0: temperature 0."""
    _, release = random_release(np.random.default_rng(0), 20, 2, leaks=False)
    result = mx.attacks.definetti(release, DecisionTreeClassifier(random_state=0), calibrate=True, iterations=3)
    assert (result.temperature, result.evidence, result.p_value) == (0, 0, 1)


def test_a_bucket_does_not_change_its_own_model():
    """With one fold per bucket, each bucket is inferred by a model that has not seen it."""
    rng = np.random.default_rng(3)
    _, release = random_release(rng, 12)
    result = mx.attacks.definetti(release, folds=12, iterations=5, progress=False)
    for at in range(12):
        chosen = np.arange(12) == at
        others = _buckets_of(release, ~chosen)
        # The model of the last iteration is fitted to the probabilities of the last but one.
        inferred = mx.attacks.definetti(others, iterations=4, progress=False).table
        log_f, _ = NaiveBayes(release, 1.0).learnt(
            expected_records(BucketWorlds(others), len(others.quasi_identifiers), inferred.to_numpy())
        )
        log_f = np.vstack([log_f, np.zeros(log_f.shape[1])])
        expected, _ = BucketWorlds(_buckets_of(release, chosen)).posterior(log_f, 1e7)
        np.testing.assert_allclose(result.table.loc[[release.buckets[at]]].to_numpy(), expected, atol=1e-9)
    assert result.temperature == 1.0
    assert result.evidence is None


def test_logistic_regression_is_scikit_learns():
    """The coefficients minimise the loss of scikit-learn's LogisticRegression with C = 1 and no intercept."""
    rng = np.random.default_rng(4)
    _, release = random_release(rng, 60)
    model = Logistic(release)
    expected = rng.random((len(release.quasi_identifiers), len(release.sensitive_values))) * 10
    for _ in range(40):  # a few steps of L-BFGS each
        log_p, _ = model.learnt(expected)
    q, s = np.nonzero(expected)
    other = LogisticRegression(C=1.0, fit_intercept=False, max_iter=10_000, tol=1e-10)
    other.fit(model.features.toarray()[q], s, sample_weight=expected[q, s])
    np.testing.assert_allclose(np.exp(log_p), other.predict_proba(model.features.toarray()), atol=1e-4)


def test_tuples_that_other_folds_lack_have_no_numbers_without_smoothing():
    """A model without smoothing rules out what it has not seen: an error says so, and no probability is NaN."""
    table = pd.DataFrame(
        {"G": list("mmmffmfm"), "A": [1, 1, 1, 0, 0, 2, 1, 0], "S": list("baabacba"), "B": [0, 0, 1, 1, 2, 2, 3, 3]}
    )
    release = mx.Release.from_buckets(table, qi=["G", "A"], sa="S", bucket="B")
    with pytest.raises(mx.Infeasible):
        mx.attacks.definetti(release, smoothing=0.0, folds=2)
    assert mx.attacks.definetti(release, smoothing=0.1, folds=2).table.notna().all(axis=None)


# -- of a series -------------------------------------------------------------------------------------------------------


def made_series(
    people: pd.DataFrame, kind: np.ndarray, n_buckets: int, rng: np.random.Generator
) -> tuple[mx.ReleaseSeries, np.ndarray]:
    """Two releases with the same number of buckets per kind and the same mixture of values; one bucket's people leave.

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


def test_every_step_of_a_series_is_that_of_proportional_fitting():
    """Each step fits naive Bayes to the expected people, and then finds the nearest distribution with all buckets."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, smoothing = 24, 0.5
        people = pd.DataFrame({"Name": np.arange(n), "A": rng.integers(0, 2, n), "B": rng.integers(0, 3, n)})
        people["S"] = list("xxy") * 8
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


def test_a_series_reveals_more_than_its_releases():
    """If attributes depend on values, the attack on a series is more often right than that on each release."""
    rng = np.random.default_rng(2)
    kind, s = (part.ravel() for part in np.indices((4, 150)))  # each kind lacks one of four values
    s = (kind + 1 + s % 3) % 4
    attributes = [np.where(rng.random(600) < 0.65, (s + shift) % 4, rng.integers(0, 4, 600)) for shift in range(2)]
    people = pd.DataFrame(
        {"Name": np.arange(600), "A": attributes[0], "B": attributes[1], "S": np.array(list("wxyz"))[s]}
    )
    series, buckets = made_series(people, kind, 50, rng)
    judgement = mx.attacks.definetti(series).judge(people)
    each = [
        mx.attacks.definetti(release).judge(people.assign(Bucket=bucket)[bucket >= 0])
        for release, bucket in zip(series.releases, buckets, strict=True)
    ]
    assert judgement.right > max(other.right for other in each) + 0.05
    assert judgement.right > judgement.baseline + 0.1


# -- wrong arguments ---------------------------------------------------------------------------------------------------


def test_generalised_records_are_attacked_with_the_people_in_them() -> None:
    """A population of exactly the people in the records is attacked; the error about a larger one says so."""
    records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "Disease": ["Flu", "HIV"]})
    small, large = (
        mx.Release.from_generalized(records, qi="Age", sa="Disease", population=pd.DataFrame({"Age": ages}))
        for ages in ([21, 24], [21, 24, 28])
    )
    assert len(mx.attacks.definetti(small).table) == 2
    with refused(mx.StatementError, "population of the people", never="from_partitions"):
        mx.attacks.definetti(large)


class Wild(BaseEstimator):
    """A classifier whose predictions are no probabilities."""

    def fit(self, x, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, x):
        return np.full((len(x), len(self.classes_)), np.nan)


def test_wrong_arguments() -> None:
    """The release needs quasi-identifiers and small buckets, the classifier weights and probabilities, folds people."""
    release = released(random_people(np.random.default_rng(4)))
    table = mx.attacks.definetti(release, iterations=1).table
    one_bucket, two_buckets = (random_release(np.random.default_rng(5), n)[1] for n in (1, 2))
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
        for t in mx.datasets.load_patients()
    )
    for error, change in [
        (mx.StatementError, {"release": series}),
        (mx.StatementError, {"release": series, "calibrate": True}),
        (mx.StatementError, {"classifier": LogisticRegression}),
        (mx.StatementError, {"classifier": KNeighborsClassifier()}),
        (mx.StatementError, {"classifier": make_pipeline(OrdinalEncoder())}),
        (mx.StatementError, {"classifier": LogisticRegression(C=-1)}),
        (mx.StatementError, {"classifier": "trees"}),
        (mx.Infeasible, {"classifier": DummyClassifier(strategy="most_frequent")}),
        (mx.BadProbability, {"classifier": Wild()}),
        (mx.TableError, {"start": table.iloc[1:]}),
        (mx.BadProbability, {"start": 2 * table}),
        (mx.BadProbability, {"start": table.astype(object).assign(s="much")}),
        (mx.StatementError, {"start": table, "folds": 3}),
        (mx.StatementError, {"calibrate": True, "folds": len(release.buckets)}),
        (mx.StatementError, {"calibrate": True, "release": one_bucket}),
        (mx.StatementError, {"calibrate": True, "release": two_buckets}),
        (mx.GroupTooLarge, {"limit": 1}),
    ]:
        with pytest.raises(error):
            mx.attacks.definetti(**{"release": release, **change})
