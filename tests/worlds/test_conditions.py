"""Conditions that promise r-robustness without any world (Probabilistic Inference Protection, section IV)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, StatementError
from maxent_cvx.worlds.conditions import delta_ceiling, delta_condition, sound_condition
from support.worlds import random_group

#: Table V: N, r, f_max, Delta_ceil.
TABLE_V = [
    (3, 2, 0.1, 0.0474),
    (3, 2, 0.3, 0.1235),
    (3, 2, 0.5, 0.1667),
    (3, 2, 0.9, 0.0818),
    (4, 2, 0.3, 0.1750),
    (6, 2, 0.3, 0.2211),
    (6, 3, 0.3, 0.1537),
    (6, 4, 0.3, 0.0955),
]


def two_valued(f: np.ndarray) -> np.ndarray:
    """P(t : x) where a world says who of a group has x, and nothing else: in proportion to f / (1 - f)."""
    odds = f / (1 - f)
    return odds / odds.sum()


def test_table_5():
    """Every entry, to the digits printed, one by one and all at once."""
    n, r, f, expected = np.array(TABLE_V).T
    np.testing.assert_array_equal(np.round(delta_ceiling(n, r, f), 4), expected)
    assert round(delta_ceiling(3, 2, 0.1), 4) == 0.0474


def test_ends():
    """At f_max = 0 and 1, and at N = r, all priors must be equal; fewer tuples than r never hold."""
    assert delta_ceiling(5, 2, [0.0, 1.0]).tolist() == [0.0, 0.0]
    assert delta_ceiling(3, 3, 0.4) == 0.0
    assert delta_condition([1.0, 1.0, 1.0], 2).holds
    assert not delta_condition([1.0, 0.999, 1.0], 2).holds
    assert not delta_condition([0.2], 2).holds
    assert delta_condition([0.3], 1).holds
    assert delta_ceiling(1, 1, 1.0) == 1.0
    assert delta_condition([1.0, 0.5], 1).holds


def test_theorem_1_in_the_two_valued_model():
    """There it is never wrong, and tight: with all others at f_max - Delta_ceil, P is 1 / r."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(1_000):
        f = rng.random(rng.integers(2, 8)) * rng.choice([1, 0.2])
        f = f if rng.random() < 0.3 else 0.9 * f.max() + 0.1 * f
        r = rng.choice([1.5, 2, 3])
        if delta_condition(f, r).holds:
            held += 1
            assert two_valued(f).max() <= 1 / r * (1 + 1e-12)
    assert held > 500
    for n, r, f, _ in TABLE_V:
        others = np.full(n - 1, f - delta_ceiling(n, r, f))
        assert two_valued(np.append(others, f)).max() == pytest.approx(1 / r, rel=1e-12)


#: Theorem 1 says that x is safe at r = 2; three values, and it is not.
COUNTER = pd.DataFrame({"x": [0.3, 0.1765, 0.1765], "y": [0.1765, 0.3, 0.3], "z": [0.1765, 0.3, 0.3]})


def test_theorem_1_is_wrong_with_three_values():
    """The paper's condition holds for every value, and P(t : x) = 0.591 > 1/2; the sound condition is not deceived."""
    assert delta_condition(COUNTER.to_numpy(), 2)
    exact = mx.worlds.posterior(COUNTER, list("xyz"))
    assert exact.max(axis=None) == pytest.approx(0.590921, abs=1e-6)
    found = sound_condition(COUNTER, list("xyz"), 2)
    assert not found
    assert (found.kappa > found.limit).all()
    assert "0.5909" in repr(found)
    assert "0.5909" in found._repr_html_()


def kappa(f: np.ndarray, values: list[int]) -> dict[int, float]:
    """The largest f_t(x) f_j(y) / (f_t(y) f_j(x)), by its words."""
    tuples = range(len(f))
    return {
        x: max(
            (
                f[t, x] * f[j, y] / (f[t, y] * f[j, x])
                for t, j, y in itertools.product(tuples, tuples, set(values) - {x})
            ),
            default=1.0,
        )
        for x in set(values)
    }


def test_kappa():
    """Kappa and its limit are those of the definition."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        group, values = random_group(rng, zeros=False)
        found = sound_condition(group, values, 2)
        expected = kappa(group.to_numpy(), values)
        assert dict(found.kappa) == pytest.approx(expected, rel=1e-12)
        assert dict(found.limit) == pytest.approx(
            {x: (len(values) - values.count(x)) / values.count(x) for x in set(values)}
        )


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_sound(n):
    """On random groups, with repeated values and priors of 0: no exception; at least as sharp as kappa."""
    rng = np.random.default_rng(2)
    safe = said = by_kappa = 0
    for _ in range(n):
        group, values = random_group(rng)
        r = float(rng.choice([1.2, 1.5, 2, 3]))
        try:
            exact = mx.worlds.posterior(group, values)
        except mx.Infeasible:
            continue
        found = sound_condition(group, values, r)
        assert (exact <= found.bounds + 1e-12).all(axis=None)
        is_safe = exact.max(axis=None) <= 1 / r * (1 + 1e-12)
        assert is_safe or not found.holds
        of_kappa = (found.kappa <= found.limit).all()
        assert found.holds or not of_kappa
        safe, said, by_kappa = safe + is_safe, said + found.holds, by_kappa + of_kappa
    assert by_kappa < said < safe
    assert said > 0.8 * safe


def test_tight():
    """Where all priors are equal, and for two values of two kinds of tuples, the bound is the answer."""
    same = pd.DataFrame(0.25, index=range(5), columns=list("abcd"))
    for values in "abcda", "aabbc", "aaaab":
        np.testing.assert_allclose(
            sound_condition(same, list(values), 2).bounds, mx.worlds.posterior(same, list(values)), rtol=1e-12
        )
    two = pd.DataFrame([[0.1, 0.9], [0.003, 0.997]], columns=["yes", "no"])
    np.testing.assert_allclose(
        sound_condition(two, ["yes", "no"], 2).bounds, mx.worlds.posterior(two, ["yes", "no"]), rtol=1e-12
    )


def test_without_a_world():
    """What nobody can have is not safe: the group is refused, as its exact answer is; a release names the bucket."""
    group = pd.DataFrame({"a": [0.0, 0.0], "b": [1.0, 1.0]})
    with pytest.raises(mx.Infeasible):
        sound_condition(group, ["a", "b"], 2)
    frame = pd.DataFrame({"G": ["m", "m", "f", "f"], "S": list("abab"), "B": [1, 1, 2, 2]})
    prior = mx.QIDistribution({"G": {"m": {"a": 0.0, "b": 1.0}, "f": {"a": 0.5, "b": 0.5}}})
    with pytest.raises(mx.Infeasible):
        mx.worlds.conditions(mx.Release.from_buckets(frame, qi="G", sa="S", bucket="B"), prior, 2)


def test_release(release, hospital):
    """The table of a release says of every bucket what both conditions say of its group."""
    prior = mx.QIDistribution.estimate(hospital, qi=[["Gender"], ["Degree"]], sa="Disease", smoothing=1)
    table = mx.worlds.conditions(release, prior, 1.5)
    for (attributes, name, value), row in table.iterrows():
        bucket = hospital[hospital["Bucket"] == name]
        group, values = prior.of(bucket, attributes), list(bucket["Disease"])
        delta = delta_condition(group[value], 1.5)
        assert (row["deviation"], row["ceiling"]) == pytest.approx((delta.deviation, delta.ceiling), rel=1e-12)
        assert row["delta_holds"] == (delta.holds and values.count(value) == 1)
        sound = sound_condition(group, values, 1.5)
        assert (row["kappa"], row["limit"]) == pytest.approx((sound.kappa[value], sound.limit[value]), rel=1e-12)
        assert row["bound"] == pytest.approx(sound.bounds[value].max(), rel=1e-12)
        assert row["sound_holds"] == (sound.bounds[value].max() <= 1 / 1.5)


@pytest.mark.parametrize("r", [0.5, "two", np.nan, np.inf, [2, 3]], ids=str)
def test_wrong_r(r):
    group = pd.DataFrame({"x": [0.5, 0.5], "y": [0.5, 0.5]})
    for question in (lambda: delta_condition([0.1], r), lambda: sound_condition(group, ["x", "y"], r)):
        with pytest.raises(StatementError):
            question()


@pytest.mark.parametrize("prior", [[1.5], ["a"], [np.nan]], ids=str)
def test_wrong_priors(prior):
    with pytest.raises(BadProbability):
        delta_condition(prior, 2)


def test_wrong_groups():
    for n, r in (("x", 2), (np.inf, 2), (0, 2), (2.5, 2), ([1, 2], [1, 2, 3])):
        with pytest.raises(StatementError):
            delta_ceiling(n, r, 0.1)
    with pytest.raises(StatementError):
        delta_condition([], 2)
