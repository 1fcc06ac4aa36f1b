"""Noisy counts: the posterior is that of all worlds, and Bayes factors are at most those of differential privacy."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.special import logsumexp

import maxent_cvx as mx
from support.helpers import refused
from support.sentences import random_sentence

NAMES, VALUES = list("abcde"), ["x", "y", "z"]
#: A noise of each kind and its log-density.
NOISES = {
    "laplace": (scipy.stats.laplace(scale=0.7), lambda miss: -np.abs(miss) / 0.7),
    "geometric": (scipy.stats.dlaplace(0.9), lambda miss: -0.9 * np.abs(miss)),
    "gaussian": (scipy.stats.norm(scale=1.3), lambda miss: -(miss**2) / (2 * 1.3**2)),
}


def enumerated(answers, names, prior, log_density, truths):
    """P(s | person) and the largest ln P(answers | s) - ln P(answers | s') over all worlds; None if there are none."""
    logs = {(i, v, given): [] for i in names for v in VALUES for given in (False, True)}
    for dealt in itertools.product(VALUES, repeat=len(names)):
        world = dict(zip(names, dealt, strict=True))
        weight = np.prod([prior.loc[who, v] for who, v in world.items()])
        if weight == 0 or not all(truth(world) for truth in truths):
            continue
        density = 0.0
        for who, values, answer in answers.itertuples(index=False):
            density += log_density(answer - sum(world[person] in values for person in who))
        for who, v in world.items():
            logs[who, v, False].append(np.log(weight))
            logs[who, v, True].append(np.log(weight) + density)
    before, after = (
        pd.DataFrame(
            {v: {i: logsumexp(logs[i, v, given]) if logs[i, v, given] else -np.inf for i in names} for v in VALUES}
        )
        for given in (False, True)
    )
    if np.isinf(before).all(axis=None):
        return None
    gain = (after - before).where(np.isfinite(before))
    table = np.exp(after.sub(logsumexp(after, axis=1), axis=0))
    return table, gain.max(axis=1) - gain.min(axis=1)


def drawn(rng, kind):
    """Draw answers, some nested or equal, a prior with zeros and equal people, and sentences."""
    n = int(rng.integers(2, 6))
    names = NAMES[:n]
    sizes = rng.integers(0, n + 1, rng.integers(1, 6))
    answers = pd.DataFrame(
        {
            "who": [list(rng.permutation(names)[:size]) for size in sizes],
            "values": [list(rng.permutation(VALUES)[: rng.integers(0, 4)]) for _ in sizes],
            "answer": np.round(rng.normal(n / 2, 3, len(sizes)), 0 if kind == "geometric" else 2),
        }
    )
    rows = rng.dirichlet(np.ones(3), 2) * (rng.random((2, 3)) < 0.85)
    rows = np.where(rows.sum(axis=1, keepdims=True) > 0, rows, 1.0)
    rows /= rows.sum(axis=1, keepdims=True)
    prior = pd.DataFrame(rows[rng.integers(0, 2, n)], names, VALUES)
    pairs = [random_sentence(rng, names, VALUES) for _ in range(rng.integers(0, 3))]
    return names, answers, prior, [sentence for sentence, _ in pairs], [truth for _, truth in pairs]


@pytest.mark.parametrize("seed", range(28, 52))
def test_equals_enumeration(seed):
    """The posterior and the Bayes factors are those of all worlds, and epsilon bounds the latter."""
    rng = np.random.default_rng(seed)
    kind = list(NOISES)[seed % 3]
    noise, log_density = NOISES[kind]
    names, answers, prior, sentences, truths = drawn(rng, kind)
    if seed % 4 == 0:
        prior = pd.DataFrame(1 / 3, names, VALUES)
    expected = enumerated(answers, names, prior, log_density, truths)
    if expected is None:
        with pytest.raises(mx.Infeasible):
            mx.attacks.noisy(answers, names, noise=noise, prior=prior, knowledge=sentences)
        return
    people = dict.fromkeys(names, VALUES) if seed % 4 == 0 else names
    given = None if seed % 4 == 0 else prior
    result = mx.attacks.noisy(answers, people, noise=noise, prior=given, knowledge=sentences)
    np.testing.assert_allclose(result.table, expected[0], atol=1e-10)
    np.testing.assert_allclose(result.bayes_factors, expected[1], atol=1e-9)
    if kind != "gaussian":
        assert result.bayes_factors.max() <= (len(names) if sentences else 1) * result.epsilon + 1e-9


@pytest.mark.parametrize("tied", [1, 2, 5])
@pytest.mark.parametrize("noise", [scipy.stats.laplace(scale=1 / 0.3), scipy.stats.dlaplace(0.3)])
def test_tied_people(tied, noise):
    """The Bayes factor of c people with the same value is c epsilon (Kifer and Machanavajjhala, 2011)."""
    names = [f"p{i}" for i in range(8)]
    same = [f"p{i}=HIV -> p{(i + 1) % tied}=HIV" for i in range(tied)]
    answers = pd.DataFrame({"who": [names], "values": [["HIV"]], "answer": [20]})
    result = mx.attacks.noisy(answers, {name: ["HIV", "Flu"] for name in names}, noise=noise, knowledge=same)
    assert result.epsilon == pytest.approx(0.3)
    assert result.bayes_factors.iloc[:tied].to_numpy() == pytest.approx(np.full(tied, tied * 0.3))
    assert result.bayes_factors.iloc[tied:].to_numpy() == pytest.approx(np.full(8 - tied, 0.3))


def test_answers_far_from_all_counts():
    """Answers that are a million scales away from all counts do not overflow or underflow."""
    names = [f"p{i}" for i in range(40)]
    answers = pd.DataFrame({"who": [names, names[:20]], "values": [["x"]] * 2, "answer": [1e6, 30.0]})
    result = mx.attacks.noisy(answers, {name: ["x", "y"] for name in names}, noise=scipy.stats.laplace(scale=1e-3))
    assert result.bayes_factors.to_numpy() == pytest.approx(np.repeat([2000.0, 1000.0], 20), rel=1e-9)
    assert result.table["x"].to_numpy() == pytest.approx(np.ones(40))
    assert np.isfinite(result.bayes_factors).all()
    for sign in (1, -1):  # one person more or less cannot be seen in a double of 1e300
        far = mx.attacks.noisy(
            answers[:1].assign(answer=sign * 1e300),
            names,
            scipy.stats.laplace(scale=2),
            pd.Series({"x": 0.5, "y": 0.5}),
        )
        assert far.bayes_factors.to_numpy() == pytest.approx(np.full(40, 0.5))
        far = mx.attacks.noisy(
            answers[:1].assign(answer=sign * 1e308), names, scipy.stats.norm(scale=2), pd.Series({"x": 0.5, "y": 0.5})
        )
        assert (far.table["x"] == (sign > 0)).all()


@pytest.mark.parametrize("scale", [1e-3, 1e-12, 1e-30])
@pytest.mark.parametrize("law", [scipy.stats.laplace, scipy.stats.norm])
def test_noise_far_smaller_than_one_person(law, scale):
    """Halfway between two counts both are equally likely, with any noise; contradictory answers are refused if tiny."""
    prior = pd.DataFrame({"x": [0.9, 0.2], "y": [0.1, 0.8]}, index=["a", "b"])
    answers = pd.DataFrame({"who": [["a", "b"]], "values": [["x"]], "answer": [1.5]})
    result = mx.attacks.noisy(answers, ["a", "b"], law(scale=scale), prior)
    assert result.table["x"].to_numpy() == pytest.approx([0.9 / 0.92, 0.2 / 0.92], rel=1e-9)
    twice = pd.concat([answers.assign(answer=1.0), answers.assign(answer=2.0)])
    result = mx.attacks.noisy(twice, ["a", "b"], law(scale=scale), prior)
    assert result.table["x"].to_numpy() == pytest.approx([0.9 / 0.92, 0.2 / 0.92], rel=1e-9)
    other = pd.DataFrame({"who": [["a"]], "values": [["x"]], "answer": [0.0]})
    both = pd.concat([answers.assign(answer=2.0), other])  # a has x, or only b has
    if scale == 1e-3:
        result = mx.attacks.noisy(both, ["a", "b"], law(scale=scale), prior)
        assert result.table["x"].to_numpy() == pytest.approx([0.18 / 0.2, 1.0])
    else:
        with pytest.raises(mx.StatementError, match="the answers contradict each other"):
            mx.attacks.noisy(both, ["a", "b"], law(scale=scale), prior)


def test_many_people_in_a_hierarchy():
    """The answer for 2,000 people in 20 cities is that of independent binomials, as the total has too much noise."""
    names = np.arange(2_000)
    cities = np.split(names, 20)
    rng = np.random.default_rng(0)
    counted = rng.integers(20, 60, 20) + 0.25
    answers = pd.DataFrame(
        {"who": [*map(list, cities), names.tolist()], "values": [["x"]] * 21, "answer": [*counted, 900.0]}
    )
    noise = [scipy.stats.laplace(scale=2.0)] * 20 + [scipy.stats.norm(scale=1e6)]
    result = mx.attacks.noisy(answers, {name: ["x", "y"] for name in names.tolist()}, noise=noise)
    k = np.arange(101)
    for city, answer in zip(cities, counted, strict=True):
        weight = scipy.stats.binom(100, 0.5).pmf(k) * np.exp(-np.abs(answer - k) / 2)
        assert result.table.loc[city[0], "x"] == pytest.approx(weight @ k / weight.sum() / 100, abs=1e-7)


def test_too_large():
    """Answers about overlapping groups of many people are refused."""
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(60)]
    answers = pd.DataFrame(
        {"who": [list(rng.permutation(names)[:30]) for _ in range(30)], "values": [["x"]] * 30, "answer": 15.0}
    )
    with pytest.raises(mx.GroupTooLarge):
        mx.attacks.noisy(answers, {name: ["x", "y"] for name in names}, noise=scipy.stats.laplace(scale=1))


def test_trade_off():
    """The Gaussian curve is that of the best test of the count; that of Laplace is at most that of any threshold."""
    answers = pd.DataFrame({"who": [["a", "b"]] * 2, "values": [["x"], ["y"]], "answer": [1.0, 1.0]})
    level = np.linspace(0, 1, 11)
    gaussian = mx.attacks.noisy(answers, ["a", "b"], noise=scipy.stats.norm(scale=3))
    # Between x and y both counts move by 1: their difference by 2, with a standard deviation of 3 sqrt(2).
    normal = scipy.stats.norm
    np.testing.assert_allclose(
        gaussian.trade_off(level), normal.cdf(normal.isf(level) - 2 / (3 * np.sqrt(2))), atol=1e-12
    )
    laplace = mx.attacks.noisy(answers.iloc[:1], {"a": ["x", "y"], "b": ["x", "y"]}, noise=scipy.stats.laplace(scale=3))
    threshold = scipy.stats.laplace(scale=3).isf(level)
    second = scipy.stats.laplace(loc=1, scale=3).cdf(threshold)
    assert (laplace.trade_off(level) <= second + 1e-12).all()
    assert laplace.trade_off([0.9])[0] == pytest.approx(second[9])
    assert gaussian.epsilon is None


def test_answers_name_values_as_sentences_do():
    """Among numbers of 32 bits, 0.1 is the nearest of these, in answers as in sentences."""
    answers = pd.DataFrame({"who": ["Ann"], "values": [0.1], "answer": [1]})
    doses = np.array([0.1, 0.3], "float32")
    noise = scipy.stats.dlaplace(1.0)
    result = mx.attacks.noisy(answers, {"Ann": list(doses), "Bob": list(doses)}, noise, knowledge=["Bob=0.1"])
    np.testing.assert_allclose(result.table, [[1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))], [1, 0]])


def test_wrong_arguments():
    """Answers are about people and values of the data, with a known noise, and integers with discrete noise."""
    answers = pd.DataFrame({"who": [["a", "b"]], "values": [["x"]], "answer": [1]})
    people = {name: ["x", "y"] for name in ["a", "b"]}
    prior = pd.Series({"x": 0.5, "y": 0.5})
    for error, change in [
        (mx.UnknownName, {"answers": answers.assign(who=[["a", "c"]])}),
        (mx.UnknownName, {"answers": answers.assign(values=[["w"]])}),
        (mx.BadProbability, {"answers": answers.assign(answer=1.5)}),
        (mx.StatementError, {"noise": scipy.stats.uniform(scale=2)}),
        (mx.StatementError, {"people": ["a", "b"]}),
        (mx.UnknownName, {"people": people | {"a": ["x", "w"]}, "prior": prior}),
    ]:
        with refused(error, never="how="):  # an argument of NoisyMarginal
            mx.attacks.noisy(**{"answers": answers, "people": people, "noise": scipy.stats.dlaplace(1.0), **change})


def test_memory_is_linear_in_equal_people():
    """The answer for 5,000 people with one prior is a weighted binomial, in memory that is linear in people."""
    n, prior = 5_000, pd.Series({"x": 0.3, "y": 0.7})
    answers = pd.DataFrame({"who": [list(range(n))], "values": [["x"]], "answer": [1_600.0]})
    tracemalloc.start()
    result = mx.attacks.noisy(answers, list(range(n)), noise=scipy.stats.norm(scale=30), prior=prior)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    k = np.arange(n + 1)
    weight = scipy.stats.binom(n, 0.3).pmf(k) * np.exp(-((k - 1_600) ** 2) / (2 * 30**2))
    assert result.table["x"].to_numpy() == pytest.approx(np.full(n, weight @ k / weight.sum() / n), rel=1e-9)
    assert peak < 4_000 * n
