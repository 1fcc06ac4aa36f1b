"""The deFinetti attack: against sums over all worlds, and against what is there to be found."""

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
from sklearn.utils.validation import check_is_fitted

import maxent_cvx as mx

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
    """Buckets of l different values; attributes that are drawn by P(1 | s), a row an attribute, a column a value."""
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
    """The same, world by world and person by person: P(s) of everybody, and both sums of every iteration.

    Of counterfeits, `added` to a bucket, nobody knows the quasi-identifiers.
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
    """Probabilities, likelihood and objective of three iterations, on 20 random releases, some with counterfeits."""
    rng = np.random.default_rng(round(10 * smoothing))
    with_counterfeits = 0
    for _ in range(20):
        people = random_people(rng)
        added = {int(people["Bucket"].iloc[0]): list(rng.choice(list("stuv"), rng.integers(0, 3)))}
        more = pd.DataFrame([(b, s) for b, some in added.items() for s in some], columns=["Bucket", "S"])
        release = mx.Release.from_tables(
            people[[*QI, "Bucket"]], pd.concat([people[["Bucket", "S"]], more.astype({"Bucket": int})]), qi=QI, sa="S",
            bucket="Bucket", counterfeits=True,
        )  # fmt: skip
        with_counterfeits += bool(release.with_counterfeits.any())
        found = mx.attacks.definetti(release, smoothing=smoothing, iterations=3, tolerance=0)
        p, log = by_all_worlds(people, added, smoothing, 3)
        rows = found.table.loc[list(people[["Bucket", *QI]].itertuples(index=False, name=None))]
        np.testing.assert_allclose(rows, p, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(found.log["log_likelihood"], [x for x, _ in log], rtol=1e-10)
        np.testing.assert_allclose(found.log["objective"], [x + y for x, y in log], rtol=1e-10)
        assert found.records.sum() == len(people)
    assert 10 < with_counterfeits < 40


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


def test_what_is_there_is_found_and_calibrated() -> None:
    """Of people drawn from a naive Bayes it guesses as many as who knows the distribution, and means what it says."""
    rng = np.random.default_rng(7)
    given = np.array([[0.9, 0.5, 0.2, 0.1], [0.1, 0.8, 0.3, 0.6], [0.5, 0.1, 0.9, 0.4]])
    people = drawn_people(rng, 6000, 3, given)
    found = mx.attacks.definetti(released(people), iterations=200)
    judgement = found.judge(people)
    q = people[["Q0", "Q1", "Q2"]].to_numpy()
    f = np.prod(np.where(q[:, :, None] == 1, given, 1 - given), axis=1).reshape(-1, 3, 4)
    s = people["S"].to_numpy().reshape(-1, 3)
    weight = np.zeros((len(s), 3, 3))  # of each person and the first, second, third value of the bucket
    for world in itertools.permutations(range(3)):
        of_world = np.prod([f[np.arange(len(s)), t, s[:, v]] for t, v in enumerate(world)], axis=0)
        for t, v in enumerate(world):
            weight[:, t, v] += of_world
    knowing = (weight.argmax(axis=2) == np.arange(3)).mean()
    assert found.converged
    assert judgement.baseline == pytest.approx(1 / 3)
    assert knowing - 0.02 < judgement.right < knowing + 0.02
    assert judgement.right - judgement.baseline > 20 * judgement.standard_error
    often = judgement.calibration.query("records > 100")
    assert ((often["said"] - often["right"]).abs() < 4 * often["standard_error"]).all()


def test_who_is_alike_stays_alike() -> None:
    """A generalised table publishes the people of a bucket as alike: the baseline. Its population tells them apart."""
    adult = mx.datasets.load_adult().head(600)[["age", "sex", "occupation"]]
    table = mx.anonymize.mondrian_table(adult, qi=["age", "sex"], sa="occupation", k=4)
    found = mx.attacks.definetti(mx.Release.from_generalized(table, qi=["age", "sex"], sa="occupation"))
    np.testing.assert_allclose(found.table, found.baseline, atol=1e-12)
    listed = mx.Release.from_generalized(table, qi=["age", "sex"], sa="occupation", population=adult[["age", "sex"]])
    known = mx.attacks.definetti(listed)
    assert np.abs(known.table - known.baseline).to_numpy().max() > 0.1


class Wild(BaseEstimator):
    """A classifier whose predictions are no probabilities."""

    def fit(self, x, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, x):
        return np.full((len(x), len(self.classes_)), np.nan)


def test_wrong_arguments() -> None:
    """Other views, classifiers that cannot, starts of something else, buckets that are too large."""
    release = released(random_people(np.random.default_rng(4)))
    table = mx.attacks.definetti(release, iterations=1).table
    two = pd.DataFrame({"i": [1, 2], "S": ["a", "b"], "Bucket": 1})
    series = mx.ReleaseSeries([mx.Release.from_buckets(two, qi=[], sa="S", bucket="Bucket", id="i")])
    for error, change in [
        (mx.StatementError, {"release": series}),
        (mx.StatementError, {"classifier": LogisticRegression}),
        (mx.StatementError, {"classifier": KNeighborsClassifier()}),
        (mx.StatementError, {"classifier": make_pipeline(OrdinalEncoder())}),
        (mx.StatementError, {"classifier": LogisticRegression(C=-1)}),
        (mx.Infeasible, {"classifier": DummyClassifier(strategy="most_frequent")}),
        (mx.BadProbability, {"classifier": Wild()}),
        (mx.TableError, {"start": table.iloc[1:]}),
        (mx.BadProbability, {"start": 2 * table}),
        (mx.BadProbability, {"start": table.astype(object).assign(s="much")}),
        (mx.GroupTooLarge, {"limit": 1}),
    ]:
        with pytest.raises(error):
            mx.attacks.definetti(**{"release": release, **change})


def test_scikit_learn_is_needed_for_its_classifiers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it naive Bayes works, and a classifier is an error that says what to install."""
    release = released(random_people(np.random.default_rng(4)))
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    assert mx.attacks.definetti(release, iterations=1).log.shape == (1, 3)
    with pytest.raises(mx.StatementError):
        mx.attacks.definetti(release, DummyClassifier())
