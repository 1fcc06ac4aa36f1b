"""Sampled worlds, and people who are tied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, GroupTooLarge, Inaccurate, Infeasible, StatementError, TableError, UnknownName
from support.worlds import by_enumeration, random_group


def test_samples_are_where_they_say():
    """Errors in units of their standard errors are those of a normal variable, or less, on 50 random groups."""
    rng = np.random.default_rng(0)
    errors = []
    for i in range(50):
        group, values = random_group(rng, most=9)
        try:
            exact = mx.worlds.posterior(group, values)
        except Infeasible:
            with pytest.raises(Infeasible):
                mx.worlds.sample(group, values)
            continue
        found = mx.worlds.sample(group, values, 2_000, seed=i)
        off = (found.posterior - exact).to_numpy()
        assert (np.abs(off)[found.standard_error == 0] < 1e-12).all()
        errors.append((off / found.standard_error.where(found.standard_error > 0)).to_numpy().ravel())
        assert found.effective <= 2_000 * (1 + 1e-9)
    errors = np.concatenate(errors)
    errors = errors[np.isfinite(errors)]
    assert 0.6 < errors.std() < 1.1
    assert np.abs(errors).max() < 5


def test_too_few_count():
    """Where hardly any sampled world counts, the estimate is not given."""
    n = 60
    near = np.exp(-3.0 * np.abs(np.subtract.outer(np.arange(n), np.arange(n))) ** 1.5)
    with pytest.raises(Inaccurate):
        mx.worlds.sample(pd.DataFrame(near * np.random.default_rng(3).random((n, n)) ** 30), range(n), 200)


def test_ties():
    """Families of two and of three: the sum over all worlds, each weighed by the joint priors."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        k, values = 3, list(rng.integers(0, 3, 6))
        f = rng.random((6, k))
        two, three = rng.random((k, k)), rng.random((k, k, k))
        two[rng.random(two.shape) < 0.2] = 0
        ties = {
            (0, 2): pd.DataFrame(two),
            (1, 3, 4): pd.Series(three.ravel(), pd.MultiIndex.from_product([range(k)] * 3)),
        }
        expected = by_enumeration(f, values, {(0, 2): two, (1, 3, 4): three})
        if expected is None:
            with pytest.raises(Infeasible):
                mx.worlds.posterior(pd.DataFrame(f), values, ties=ties)
            continue
        found = mx.worlds.posterior(pd.DataFrame(f), values, ties=ties)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


def test_joint():
    """What two have together: its sums are what each has, with ties and without; three are a Series."""
    rng = np.random.default_rng(6)
    group = pd.DataFrame(rng.random((5, 3)), index=list("abcde"), columns=list("xyz"))
    values = list("xxyzz")
    ties = {("a", "c"): pd.DataFrame(rng.random((3, 3)), index=list("xyz"), columns=list("xyz"))}
    for given in None, ties:
        alone = mx.worlds.posterior(group, values, ties=given)
        both = mx.worlds.joint(group, values, ["d", "a"], ties=given)
        assert (both.index.name, both.columns.name) == ("d", "a")
        np.testing.assert_allclose(both.sum(axis=1), alone.loc["d"], rtol=1e-12)
        np.testing.assert_allclose(both.sum(axis=0), alone.loc["a"], rtol=1e-12)
        three = mx.worlds.joint(group, values, ["d", "a", "c"], ties=given)
        np.testing.assert_allclose(three.groupby(level="c").sum(), alone.loc["c"], rtol=1e-12)
        np.testing.assert_allclose(three.groupby(level=["d", "a"]).sum().unstack(), both, rtol=1e-12)


def test_wrong_ties():
    """Names, shapes and numbers of ties that do not fit."""
    group = pd.DataFrame({"x": [0.5] * 3, "y": [0.5] * 3}, index=list("abc"))
    square, values = pd.DataFrame(0.25, index=list("xy"), columns=list("xy")), list("xxy")
    for error, ties in [
        (UnknownName, {("a", "d"): square}),
        (StatementError, {("a", "a"): square}),
        (StatementError, {("a", "b"): square, ("b", "c"): square}),
        (TableError, {("a", "b"): 0.5}),
        (TableError, {("a", "b", "c"): square}),
        (UnknownName, {("a", "b"): square[["x"]]}),
        (BadProbability, {("a", "b"): square * np.nan}),
        (StatementError, [("a", "b")]),
    ]:
        with pytest.raises(error):
            mx.worlds.posterior(group, values, ties=ties)
    with pytest.raises(GroupTooLarge):
        mx.worlds.posterior(group, values, ties={("a", "b"): square}, limit=5)
    with pytest.raises(TableError):
        mx.worlds.joint(group.set_axis(list("aab")), values, ["a", "b"])
