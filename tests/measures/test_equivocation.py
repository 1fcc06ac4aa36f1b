"""Confidential attribute equivocation: the paper's examples, every partition, and numbers as they are written."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, GroupTooLarge, StatementError, TableError
from maxent_cvx.measures.equivocation import equivocation
from support.helpers import refused

#: The appendix: values, probabilities, and H as it is printed for eps = 0, 1, ..., 8.
VALUES, PROBABILITIES = [1, 3, 8, 9], [0.15, 0.1, 0.7, 0.05]
PRINTED = [1.319, 1.054, 0.811, 0.811, 0.811, 0.811, 0.61, 0.286, 0]


def bits(q):
    """The entropy of probabilities."""
    q = np.asarray(q)
    return float(-(q[q > 0] * np.log2(q[q > 0])).sum())


def set_partitions(items):
    """Every way to put items into sets."""
    if not items:
        yield []
        return
    first, *rest = items
    for partition in set_partitions(rest):
        yield [[first], *partition]
        for i, some in enumerate(partition):
            yield [*partition[:i], [first, *some], *partition[i + 1 :]]


def by_enumeration(values, p, eps):
    """The least entropy over all partitions into sets no wider than eps, runs or not."""
    return min(
        bits([sum(p[i] for i in some) for some in partition])
        for partition in set_partitions(list(range(len(values))))
        if all(max(values[i] for i in some) - min(values[i] for i in some) <= eps for some in partition)
    )


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
    """CAE, appendix: every step of the example, to the digits that are printed."""
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
    """CAE, Fig. 1: one bit each, but areas of 57 and 3 bits x thousand; on the paper's grid, too."""
    for values, area in ([(50, 107), 57], [(77, 80), 3]):
        for step in (None, 1, 0.5):
            cae = equivocation(values, [0.5, 0.5], step=step)
            assert cae.initial == 1
            assert cae.area == area
            assert cae.disclosure_risk == 1
    assert equivocation([50_000, 107_000], [0.5, 0.5], step=1).area == 57_000  # in units, 57,000 of them


def test_every_partition():
    """The dynamic programme is brute force over all partitions, on 500 inputs of up to 12 values; H never rises."""
    rng = np.random.default_rng(1)
    for _ in range(500):
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


def test_runs_lose_nothing():
    """Sets that are no runs of consecutive values never do better (section 3 defines runs only)."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        n = int(rng.integers(1, 8))
        values = np.sort(rng.choice(20, n, replace=False)).tolist()
        p = rng.dirichlet(np.full(n, 0.5))
        cae = equivocation(values, p / p.sum())
        for eps in range(0, 20, 3):
            assert cae.at(eps) == pytest.approx(by_enumeration(values, p, eps), abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 9)), min_size=1, max_size=12).filter(
        lambda pairs: sum(weight for _, weight in pairs) > 0
    ),
    st.permutations(range(12)),
)
def test_order_and_repeats_mean_nothing(pairs, order):
    """Values come in any order, equal ones are one, and impossible ones are none; all else follows."""
    total = sum(weight for _, weight in pairs)
    shuffled = [pairs[i] for i in order if i < len(pairs)]
    merged = {v: sum(w for u, w in pairs if u == v) for v, w in pairs if w}
    one, two, three = (
        equivocation([v for v, _ in some], [w / total for _, w in some])
        for some in (pairs, shuffled, sorted((v, sum(w for u, w in pairs if u == v)) for v in merged))
    )
    pd.testing.assert_frame_equal(one.curve, two.curve, atol=1e-12)
    pd.testing.assert_frame_equal(one.curve, three.curve, atol=1e-12)
    possible = [v for v, w in pairs if w]
    assert one.eps_max == max(possible) - min(possible)
    assert one.at(one.eps_max) == 0
    assert one.area >= 0
    assert one.initial == pytest.approx(bits([w / total for w in merged.values()]), abs=1e-12)


@given(st.lists(st.integers(0, 40), min_size=2, max_size=9, unique=True), st.sampled_from([0.1, 0.01, 1e-7, 3e5]))
def test_units_mean_nothing(values, unit):
    """Changing dollars to cents changes eps, and the area, and no entropy; nor do floats lose what decimals say."""
    p = np.full(len(values), 1 / len(values))
    whole = equivocation(values, p)
    scaled = equivocation([v * unit for v in values], p)
    np.testing.assert_allclose(scaled.curve["entropy"], whole.curve["entropy"], atol=1e-12)
    np.testing.assert_allclose(scaled.curve["epsilon"], whole.curve["epsilon"] * unit)
    assert scaled.area == pytest.approx(whole.area * unit)
    assert scaled.at(whole.curve["epsilon"] * unit) == pytest.approx(whole.curve["entropy"], abs=1e-12)


def test_floats_as_written():
    """0.8 - 0.5 <= 0.3, though floats say that it is not; and 0.1 + 0.2 is 0.3."""
    assert not 0.8 - 0.5 <= 0.3
    cae = equivocation([0.8, 0.5, 0.1], [0.4, 0.3, 0.3])
    assert cae.at(0.3) == pytest.approx(bits([0.7, 0.3]))
    assert cae.at(0.8 - 0.5) == cae.at(0.3) < cae.at(0.29999)
    assert list(cae.curve["epsilon"]) == [0, 0.3, 0.7]
    assert len(equivocation([0.1 + 0.2, 0.3, 1], [0.3, 0.3, 0.4]).distribution) == 2
    assert equivocation([1, 4], [0.5, 0.5]).at(np.nextafter(3, 0)) == 0
    assert equivocation([1, 4], [0.5, 0.5]).at(2.99) == 1


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
    grid = equivocation(x, p, step=0.01)
    np.testing.assert_allclose(bisected.curve["entropy"], grid.curve["entropy"])
    coarse = equivocation(x, p, step=1e6)
    assert coarse.curve["epsilon"].tolist() == [0, 1e6]
    assert coarse.area_bounds == (0, coarse.area)


def test_bisection():
    """With fewer evaluations than differences the curve is bisected: the area lies between its bounds."""
    rng = np.random.default_rng(4)
    x, p = rng.normal(size=60), rng.dirichlet(np.ones(60))
    exact = equivocation(x, p)
    before = np.inf
    assert exact.exact
    assert exact.area_bounds == (exact.area, exact.area)
    for evaluations in (2, 10, 100, 1_000):
        rough = equivocation(x, p, evaluations=evaluations)
        low, high = rough.area_bounds
        assert not rough.exact
        assert low <= exact.area <= high
        assert high - low < before
        assert len(rough.curve) <= evaluations
        np.testing.assert_allclose(rough.curve["entropy"], exact.at(rough.curve["epsilon"]))
        before = high - low
    assert before < 0.01


def test_bisection_ends():
    """Where H has few steps, bisection finds them all, among more differences than it evaluates."""
    values = np.concatenate([np.linspace(0, 1, 40), np.linspace(0, 1, 40) ** 2 + 1000])
    few = equivocation([0, 10**9], [0.5, 0.5], evaluations=2)
    assert few.exact
    p = np.full(80, 1e-13)
    p[[0, 79]] = (1 - p[1:79].sum()) / 2
    assert equivocation(values, p, evaluations=300).area == pytest.approx(1001, rel=1e-6)


def test_one_value():
    """Who is certain has no entropy, and an infinite risk."""
    for cae in (equivocation([7], [1]), equivocation([7, 8], [1, 0]), equivocation([7, 7], [0.5, 0.5])):
        assert (cae.initial, cae.area, cae.eps_max, cae.at(0)) == (0, 0, 0, 0)
        assert cae.disclosure_risk == math.inf
        assert len(cae.curve) == 1
        assert len(cae.grouping(3)) == 1


def test_what_is_impossible_decides_nothing():
    """Values with a probability of 0 are out of the way: of the unit, of eps_max and of everything else."""
    cae = equivocation([0.01, 0.02, 1e14], [0.5, 0.5, 0])
    assert (cae.initial, cae.eps_max) == (1, 0.01)


def test_numbers_of_any_type():
    """Small integers, decimals, fractions, categories and nullable numbers are numbers; p sums to 1 afterwards."""
    for values in (
        np.array([-100, 100], dtype=np.int8),
        [Decimal(-100), Fraction(100)],
        pd.Categorical([-100, 100]),
        pd.array([-100, 100], dtype="Int64"),
        pd.Series([-100, 100], dtype=object),
    ):
        cae = equivocation(values, [0.5, 0.5])
        assert (cae.area, cae.grouping(200)["middle"].tolist()) == (200, [0])
    assert equivocation({77: 0.5, 80: 0.5}).area == 3
    assert equivocation([1, 2, 3], np.full(3, 1 / 3, dtype=np.float32)).initial == pytest.approx(math.log2(3))
    almost = equivocation([1, 2], [1 + 1e-10 - 1e-14, 1e-14])
    assert almost.initial > 0
    assert almost.disclosure_risk < math.inf


def test_a_series_by_value():
    """A Series of probabilities by value is enough; its name stays."""
    known = pd.Series([0.5, 0.5], pd.Index([77, 80], name="Salary"))
    cae = equivocation(known)
    assert cae.area == 3
    assert cae.distribution.index.name == "Salary"
    assert "2 values" in repr(cae)


def test_what_is_refused():
    """Each error says what was found and what to do."""
    with refused(BadProbability, "sum to 0.9", "divide by the sum"):
        equivocation([1, 2], [0.5, 0.4])
    with refused(BadProbability, "smallest is -0.1"):
        equivocation([1, 2], [1.1, -0.1])
    with refused(TableError, "2 values and 1 prob"):
        equivocation([1, 2], [1])
    with refused(TableError, "must be real numbers"):
        equivocation(["low", "high"], [0.5, 0.5])
    with refused(TableError, "missing value"):
        equivocation([1, math.nan], [0.5, 0.5])
    with refused(TableError, "finite number", "inf"):
        equivocation([1, math.inf], [0.5, 0.5])
    with refused(TableError, "at least one number"):
        equivocation([], [])
    with refused(BadProbability, "probabilities are missing"):
        equivocation([1, 2])
    with refused(BadProbability, "eps=-1"):
        equivocation([1, 2], [0.5, 0.5]).at(-1)
    with refused(BadProbability, "step=0"):
        equivocation([1, 2], [0.5, 0.5], step=0)
    with refused(GroupTooLarge, "longer step"):
        equivocation([0, 1e6], [0.5, 0.5], step=1).area  # noqa: B018
    with refused(GroupTooLarge, "and 5000 are allowed"):
        equivocation(np.arange(6_000), np.full(6_000, 1 / 6_000), step=1).area  # noqa: B018
    for values, p, says in [
        (["a", "b"], {"a": 1}, "not a dict"),
        (pd.DataFrame({0: [1, 2]}), [0.5, 0.5], "not a DataFrame"),
        ([1 + 2j, 3], [0.5, 0.5], "complex"),
        (pd.MultiIndex.from_product([[1], [2, 3]]), [0.5, 0.5], "list of numbers"),
        ([1e-320, 3e-320], [0.5, 0.5], "another unit"),
        ([-1.7e308, 1.7e308], [0.5, 0.5], "another unit"),
        ([0, 2**64], [0.5, 0.5], "too far"),
        (pd.Series([1, 2], list("ab")), pd.Series([0.1, 0.9], list("ba")), "different labels"),
    ]:
        with refused(TableError, says):
            equivocation(values, p)
    cae = equivocation([0, 1], [0.5, 0.5])
    for ask in (cae.at, cae.grouping, lambda eps: equivocation([0, 1], [0.5, 0.5], step=eps)):
        with refused(BadProbability, "finite number"):
            ask(10**400)
    with refused(GroupTooLarge, "longer step"):
        equivocation([0, 1], [0.5, 0.5], step=1e-320).area  # noqa: B018
    with refused(GroupTooLarge, "whole curve"):
        equivocation(np.arange(100_000) ** 1.5, np.full(100_000, 1e-5)).area  # noqa: B018
    with refused(GroupTooLarge, "round the values"):
        many = np.arange(2_000_000)
        equivocation(many, np.full(len(many), 1 / len(many))).at(1_000_000)


def test_the_plot():
    """The area is shaded, and every curve is named with its area."""
    import matplotlib.pyplot as plt

    curves = {"Layla": equivocation([50, 107], [0.5, 0.5]), "Qays": equivocation([77, 80], [0.5, 0.5])}
    ax = mx.plots.equivocation(curves)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Layla: area 57", "Qays: area 3"]
    assert len(ax.collections) == 2
    assert mx.plots.equivocation(curves["Qays"], ax=ax) is ax
    x = np.random.default_rng(0).normal(size=50)
    rough = mx.plots.equivocation(equivocation(x, np.full(50, 0.02), evaluations=10))
    assert "±" in rough.get_legend().get_texts()[0].get_text()
    for nothing in ({}, None, [1], {"a": 3}):
        with refused(StatementError, "no curve"):
            mx.plots.equivocation(nothing)
    plt.close("all")


@pytest.mark.slow
def test_a_long_curve():
    """5,000 values have an exact curve in a minute: as many differences as are allowed."""
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(5_000))
    cae = equivocation(np.arange(5_000), p)
    assert cae.exact
    some = rng.integers(0, 5_000, 5)
    np.testing.assert_allclose(
        cae.at(some), [cae.curve["entropy"][cae.curve["epsilon"] <= eps].iloc[-1] for eps in some]
    )
