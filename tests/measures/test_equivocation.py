"""Equivocation of one number, and of everybody."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, GroupTooLarge, TableError
from maxent_cvx.measures.equivocation import equivocation, individual_equivocation
from support.posteriors import posterior_with

#: The appendix: values, probabilities, and H as it is printed for eps = 0, 1, ..., 8.
VALUES, PROBABILITIES = [1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05]

PRINTED = [1.319, 1.054, 0.811, 0.811, 0.811, 0.811, 0.61, 0.286, 0]


def bits(q):
    """The entropy of probabilities."""
    q = np.asarray(q)
    return float(-(q[q > 0] * np.log2(q[q > 0])).sum())


def over_runs(values, p, eps):
    """The least entropy over all partitions of sorted values into runs no wider than eps."""
    n, best = len(values), math.inf
    for cuts in itertools.product([False, True], repeat=n - 1):
        starts = [0, *(i for i, cut in enumerate(cuts, 1) if cut), n]
        runs = list(itertools.pairwise(starts))
        if all(values[b - 1] - values[a] <= eps for a, b in runs):
            best = min(best, bits([sum(p[a:b]) for a, b in runs]))
    return best


def test_the_appendix():
    """CAE, appendix: every step of the example agrees to the printed digits."""
    cae = equivocation(VALUES, PROBABILITIES)
    decimals = [len(str(h).partition(".")[2]) for h in PRINTED]
    assert [round(h, d) for h, d in zip(cae.at(range(9)), decimals, strict=True)] == PRINTED
    assert cae.eps_max == 8
    assert cae.exact
    expected = pd.DataFrame({"epsilon": [0.0, 1, 2, 6, 7, 8], "entropy": [1.319, 1.054, 0.811, 0.61, 0.286, 0]})
    pd.testing.assert_frame_equal(cae.curve.round(3), expected)
    assert cae.grouping(5)[["low", "high", "values"]].to_numpy().tolist() == [[1, 3, 2], [8, 9, 2]]
    assert cae.grouping(1)["middle"].tolist() == [1, 3, 8.5]  # "a combined value 8.5"
    assert cae.grouping(6)["probability"].round(12).tolist() == [0.15, 0.85]


def test_the_salaries():
    """CAE, Fig. 1: both have one bit, but areas of 57 and 3 bits x thousand, on the paper's grid, too."""
    for values, area in ([(50, 107), 57], [(77, 80), 3]):
        for step in (None, 1, 0.5):
            cae = equivocation(values, [0.5, 0.5], step=step)
            assert cae.initial == 1
            assert cae.area == area
            assert cae.disclosure_risk == 1
    assert equivocation([50_000, 107_000], [0.5, 0.5], step=1).area == 57_000  # in units, 57,000 of them


def test_every_partition():
    """The dynamic programme gives the least entropy over all partitions, which never rises with eps."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        n = int(rng.integers(1, 13))
        values = np.sort(rng.choice(60, n, replace=False)).tolist()
        p = rng.dirichlet(np.full(n, rng.choice([0.1, 1, 10])))
        p /= p.sum()
        cae = equivocation(values, p)
        eps = int(rng.integers(0, 61))
        assert cae.at(eps) == pytest.approx(over_runs(values, p, eps), abs=1e-12)
        assert bits(cae.grouping(eps)["probability"]) == pytest.approx(cae.at(eps), abs=1e-12)
        assert (np.diff(cae.curve["entropy"])[:-1] < 0).all()
        assert cae.curve["entropy"].iloc[-1] == 0
        assert (cae.grouping(eps)["high"] - cae.grouping(eps)["low"] <= eps).all()


@given(st.lists(st.integers(0, 40), min_size=2, max_size=9, unique=True), st.sampled_from([0.1, 0.01, 1e-7, 3e5]))
def test_units_do_not_matter(values, unit):
    """Another unit multiplies eps and the area, and leaves entropies as they are; decimals are exact."""
    p = np.full(len(values), 1 / len(values))
    whole = equivocation(values, p)
    scaled = equivocation([v * unit for v in values], p)
    np.testing.assert_allclose(scaled.curve["entropy"], whole.curve["entropy"], atol=1e-12)
    np.testing.assert_allclose(scaled.curve["epsilon"], whole.curve["epsilon"] * unit)
    assert scaled.area == pytest.approx(whole.area * unit)
    assert scaled.at(whole.curve["epsilon"] * unit) == pytest.approx(whole.curve["entropy"], abs=1e-12)


def test_long_whole_numbers():
    """Whole numbers are compared exactly, though a float cannot hold them."""
    for low in (-(2**62), 2**53, 2**62, 2**63 - 1):
        close = equivocation([low, low + 1], [0.5, 0.5])
        assert (close.initial, close.area, close.eps_max) == (1, 1, 1)
    assert equivocation([0, 2**53 + 1], [0.5, 0.5]).at(2**53) == 1
    assert equivocation([0, 2**60], [0.5, 0.5]).at([2**60 - 1, 2**60]).tolist() == [1, 0]
    assert equivocation([-4 * 10**18, 4 * 10**18], [0.5, 0.5]).at([7e18, 9e18]).tolist() == [1, 0]
    large = 2**60
    cae = equivocation([large, large + 1, large + 3], [0.2, 0.3, 0.5])
    assert len(cae.distribution) == 3
    assert list(cae.curve["epsilon"]) == [0, 1, 2, 3]
    assert cae.at([1.9, 2.9]) == pytest.approx([1, bits([0.2, 0.8])])


def test_the_grid_is_an_upper_sum():
    """On a grid of step h the area is at least the exact one, and at most h H(0) more: H never rises."""
    rng = np.random.default_rng(3)
    x, p = rng.normal(size=30), rng.dirichlet(np.ones(30))
    exact = equivocation(x, p)
    for step in (1.0, 0.3, 0.01):
        grid = equivocation(x, p, step=step)
        assert exact.area - 1e-9 <= grid.area <= exact.area + step * exact.initial + 1e-9
        low, high = grid.area_bounds
        assert low <= exact.area <= high == grid.area
        assert grid.curve["epsilon"].iloc[-1] >= exact.eps_max > grid.curve["epsilon"].iloc[-2]
        np.testing.assert_allclose(grid.curve["entropy"], exact.at(grid.curve["epsilon"]))
    bisected = equivocation(x, p, step=0.01, evaluations=1_000)
    np.testing.assert_allclose(bisected.curve["entropy"], grid.curve["entropy"])
    coarse = equivocation(x, p, step=1e6)
    assert coarse.curve["epsilon"].tolist() == [0, 1e6]
    assert coarse.area_bounds == (0, coarse.area)


def test_bisection():
    """With fewer evaluations than differences the curve is bisected, and the area is between its bounds."""
    rng = np.random.default_rng(4)
    x, p = rng.normal(size=60), rng.dirichlet(np.ones(60))
    exact = equivocation(x, p)
    width = np.inf
    assert exact.exact
    assert exact.area_bounds == (exact.area, exact.area)
    for evaluations in (2, 10, 100, 1_000):
        rough = equivocation(x, p, evaluations=evaluations)
        low, high = rough.area_bounds
        assert not rough.exact
        assert low <= exact.area <= high
        assert high - low < width
        assert len(rough.curve) <= evaluations
        np.testing.assert_allclose(rough.curve["entropy"], exact.at(rough.curve["epsilon"]))
        width = high - low
    assert width < 0.01


@pytest.mark.parametrize(
    ("error", "values", "p"),
    [
        (BadProbability, [1, 2], [0.5, 0.4]),
        (BadProbability, [1, 2], None),
        (TableError, [1, 2], [1]),
        (TableError, [], []),
        (TableError, ["low", "high"], [0.5, 0.5]),
        (TableError, [1, math.nan], [0.5, 0.5]),
        (TableError, [1, math.inf], [0.5, 0.5]),
        (TableError, [-1.7e308, 1.7e308], [0.5, 0.5]),
        (TableError, [0, 2**64], [0.5, 0.5]),
        (TableError, ["a", "b"], {"a": 1}),
        (TableError, pd.DataFrame({0: [1, 2]}), [0.5, 0.5]),
        (TableError, pd.MultiIndex.from_product([[1], [2, 3]]), [0.5, 0.5]),
        (TableError, pd.Series([1, 2], list("ab")), pd.Series([0.1, 0.9], list("ba"))),
    ],
)
def test_wrong_values(error, values, p):
    with pytest.raises(error):
        equivocation(values, p)


def test_wrong_distances():
    """Distances are from 0 to the largest float, and the grid and the values not too many."""
    cae = equivocation([0, 1], [0.5, 0.5])
    for eps in (-1, 10**400):
        for call in (cae.at, cae.grouping, lambda eps: equivocation([0, 1], [0.5, 0.5], step=eps)):
            with pytest.raises(BadProbability):
                call(eps)
    for values, step in [([0, 1], 1e-320), (np.arange(6_000), 1), (np.arange(100_000) ** 1.5, None)]:
        with pytest.raises(GroupTooLarge):
            equivocation(values, np.full(len(values), 1 / len(values)), step=step).area  # noqa: B018
    many = np.arange(2_000_000)
    with pytest.raises(GroupTooLarge):
        equivocation(many, np.full(len(many), 1 / len(many))).at(1_000_000)


@pytest.mark.parametrize(("n", "k"), [(6, 5), (210, 3)])
def test_everybody_one_by_one(n, k):
    """Whether all people are evaluated together, or each with the few values possible for this person."""
    rng = np.random.default_rng(0)
    values = np.arange(n) if n == 6 else rng.random(n)
    p = np.zeros((n // 3, n))
    for i, row in enumerate(p):
        row[np.arange(i * k, (i + 1) * k) % n] = rng.dirichlet(np.ones(k))
    post, _ = posterior_with(p.tolist(), [3] * len(p), values.tolist(), bound=1e-9)
    found = individual_equivocation(post, at=1.5).drop(columns="people")
    for i, row in enumerate(p):
        cae = equivocation(values, row)
        expected = [cae.initial, cae.area, cae.eps_max, cae.disclosure_risk, cae.at(1.5)]
        np.testing.assert_allclose(found.loc[f"q{i}"].to_numpy(float), expected, atol=1e-9)


def test_wrong_arguments_of_everybody(hospital, release):
    """Labels need one number each, and eps must not be negative."""
    numbers = pd.Series([1.5, 0.25, 9, 9, 0.3], index=sorted(hospital["Disease"].unique()))
    post = mx.MaxEnt(release).solve()
    for error, options in [
        (TableError, {}),
        (TableError, {"values": numbers.drop("Pneumonia").to_dict()}),
        (BadProbability, {"at": -2, "values": numbers}),
    ]:
        with pytest.raises(error):
            individual_equivocation(post, **options)
