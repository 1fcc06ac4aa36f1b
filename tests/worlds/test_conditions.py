"""Conditions that imply r-robustness without possible worlds (Probabilistic Inference Protection, section IV)."""

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
    """P(t : x) if a world only decides which tuple of a group has x: in proportion to f / (1 - f)."""
    odds = f / (1 - f)
    return odds / odds.sum()


def test_table_5():
    """Delta_ceil agrees with every entry of Table V, for an array and for numbers."""
    n, r, f, expected = np.array(TABLE_V).T
    np.testing.assert_array_equal(np.round(delta_ceiling(n, r, f), 4), expected)
    assert round(delta_ceiling(3, 2, 0.1), 4) == 0.0474


def test_theorem_1_in_the_two_valued_model():
    """The condition is never wrong there, and tight: if all other priors are f_max - Delta_ceil, P is 1 / r."""
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


#: Three values, of which x is safe at r = 2 by Theorem 1, and in truth is not.
COUNTER = pd.DataFrame({"x": [0.3, 0.1765, 0.1765], "y": [0.1765, 0.3, 0.3], "z": [0.1765, 0.3, 0.3]})


def test_theorem_1_is_wrong_with_three_values():
    """The paper's condition is met for every value although P(t : x) = 0.591 > 1/2; the sound condition is not met."""
    assert delta_condition(COUNTER.to_numpy(), 2)
    exact = mx.worlds.posterior(COUNTER, list("xyz"))
    assert exact.max(axis=None) == pytest.approx(0.590921, abs=1e-6)
    sound = sound_condition(COUNTER, list("xyz"), 2)
    assert not sound
    assert (sound.kappa > sound.limit).all()
    assert "0.5909" in repr(sound)
    assert "0.5909" in sound._repr_html_()


def kappa(f: np.ndarray, values: list[int]) -> dict[int, float]:
    """The largest f_t(x) f_j(y) / (f_t(y) f_j(x)), by its definition."""
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
        sound = sound_condition(group, values, 2)
        assert dict(sound.kappa) == pytest.approx(kappa(group.to_numpy(), values), rel=1e-12)
        limit = {x: (len(values) - values.count(x)) / values.count(x) for x in set(values)}
        assert dict(sound.limit) == pytest.approx(limit)


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_sound(n):
    """A group that meets the condition is r-robust, and the condition is at least as sharp as that of kappa."""
    rng = np.random.default_rng(2)
    safe = holds = by_kappa = 0
    for _ in range(n):
        group, values = random_group(rng)
        r = float(rng.choice([1.2, 1.5, 2, 3]))
        try:
            exact = mx.worlds.posterior(group, values)
        except mx.Infeasible:
            continue
        sound = sound_condition(group, values, r)
        assert (exact <= sound.bounds + 1e-12).all(axis=None)
        is_safe = exact.max(axis=None) <= 1 / r * (1 + 1e-12)
        assert is_safe or not sound.holds
        of_kappa = (sound.kappa <= sound.limit).all()
        assert sound.holds or not of_kappa
        safe, holds, by_kappa = safe + is_safe, holds + sound.holds, by_kappa + of_kappa
    assert by_kappa < holds < safe
    assert holds > 0.8 * safe


def test_without_a_world():
    """A group with a value that nobody can have is refused, alone and in a release."""
    group = pd.DataFrame({"a": [0.0, 0.0], "b": [1.0, 1.0]})
    with pytest.raises(mx.Infeasible):
        sound_condition(group, ["a", "b"], 2)
    frame = pd.DataFrame({"G": ["m", "m", "f", "f"], "S": list("abab"), "B": [1, 1, 2, 2]})
    prior = mx.QIDistribution({"G": {"m": {"a": 0.0, "b": 1.0}, "f": {"a": 0.5, "b": 0.5}}})
    with pytest.raises(mx.Infeasible):
        mx.worlds.conditions(mx.Release.from_buckets(frame, qi="G", sa="S", bucket="B"), prior, 2)


def test_release(release, hospital):
    """The table of a release has the results of both conditions for the group of every bucket."""
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


PAIR = pd.DataFrame({"x": [0.5, 0.5], "y": [0.5, 0.5]})


@pytest.mark.parametrize(
    ("error", "condition", "arguments"),
    [
        *((StatementError, delta_condition, ([0.1], r)) for r in (0.5, "two", np.nan, np.inf, [2, 3])),
        (StatementError, sound_condition, (PAIR, ["x", "y"], 0.5)),
        *((BadProbability, delta_condition, (prior, 2)) for prior in ([1.5], ["a"], [np.nan])),
        (StatementError, delta_condition, ([], 2)),
        *((StatementError, delta_ceiling, (n, 2, 0.1)) for n in ("x", np.inf, 0, 2.5)),
        (StatementError, delta_ceiling, ([1, 2], [1, 2, 3], 0.1)),
    ],
)
def test_wrong_conditions(error, condition, arguments):
    with pytest.raises(error):
        condition(*arguments)
