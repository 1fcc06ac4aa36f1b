"""Disclosure: the measures of the k-anonymity family, of what an adversary infers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

import maxent_cvx as mx
from maxent_cvx import P, StatementError
from maxent_cvx.measures.disclosure import disclosure
from support.helpers import refused
from support.posteriors import chosen, made

PROPERTY = settings(deadline=None, max_examples=30)


def overall(frame: pd.DataFrame) -> list[float]:
    """P(s), by counting."""
    return [(frame["S"] == s).mean() for s in sorted(frame["S"].unique())]


@PROPERTY
@given(chosen())
def test_people_and_largest_probability(drawn):
    """People with the tuple are k, their largest P(s | q) is alpha, r its reciprocal, and the value attains it."""
    p, people = drawn
    found = disclosure(made(p, people)[0])
    assert list(found.index) == [f"q{i}" for i in range(len(p))]
    assert found["people"].tolist() == people
    assert found["max_p"].tolist() == pytest.approx([max(row) for row in p])
    assert (found["max_p"] * found["r"]).tolist() == pytest.approx([1] * len(p))
    for row, value in zip(p, found["value"], strict=True):
        assert row[int(value[1:])] == max(row)


@PROPERTY
@given(chosen(), st.integers(1, 6))
def test_l_diversity(drawn, l):
    """Distinct, entropy and recursive (c, l)-diversity are those of P(s | q) (Machanavajjhala et al., 2006)."""
    p, people = drawn
    found = disclosure(made(p, people)[0], l=l)
    for row, (_, measured) in zip(p, found.iterrows(), strict=True):
        assert measured["distinct_l"] == sum(x > 0 for x in row)
        assert measured["entropy_l"] == pytest.approx(math.prod(x**-x for x in row if x > 0))
        first, *rest = sorted(row, reverse=True)
        tail = sum([first, *rest][l - 1 :])
        assert measured["recursive_c"] == (pytest.approx(first / tail) if tail else math.inf)


@PROPERTY
@given(chosen())
def test_t_closeness_with_equal_distance(drawn):
    """Where all values are equally far apart, t is the largest difference that any event's probability makes."""
    p, people = drawn
    post, frame = made(p, people)
    share = overall(frame)
    events = [event for n in range(len(share) + 1) for event in itertools.combinations(range(len(share)), n)]
    expected = [max(sum(row[j] - share[j] for j in event) for event in events) for row in p]
    assert disclosure(post, distance="equal")["t"].tolist() == pytest.approx(expected, abs=1e-12)
    assert disclosure(post)["t"].tolist() == pytest.approx(expected, abs=1e-12)  # text has no order


@PROPERTY
@given(chosen())
def test_t_closeness_with_ordered_distance(drawn):
    """Where values are ranked, t is the earth mover's distance between ranks, 1 from end to end (Li et al., 2007)."""
    p, people = drawn
    post, frame = made(p, people)
    ranks, share = np.arange(len(p[0])), overall(frame)
    expected = [wasserstein_distance(ranks, ranks, row, share) / (len(ranks) - 1) for row in p]
    assert disclosure(post, distance="ordered")["t"].tolist() == pytest.approx(expected, abs=1e-12)


def test_salaries_of_li_et_al():
    """The published example: {3k, 4k, 5k} is 0.375 and {6k, 8k, 11k} 0.167 from nine salaries (Li et al., 2007)."""
    salaries = {"low": [3, 4, 5], "wide": [6, 11, 8], "rest": [7, 9, 10]}
    frame = pd.DataFrame([(zone, k * 1000, zone) for zone, ks in salaries.items() for k in ks], columns=list("QSK"))
    found = disclosure(mx.MaxEnt(mx.Release.from_buckets(frame, qi="Q", sa="S", bucket="K")).solve())
    assert found.loc["low", "t"] == pytest.approx(0.375)
    assert found.loc["wide", "t"] == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        ([1, 2, 3], True),
        ([0.5, 1.5, 10.0], True),
        (["a", "b", "c"], False),
        (pd.Categorical(["low", "mid", "high"], categories=["low", "mid", "high"], ordered=True), True),
        (pd.Categorical(["low", "mid", "high"], categories=["low", "mid", "high"], ordered=False), False),
    ],
    ids=["whole", "real", "text", "ordered", "unordered"],
)
def test_which_values_are_ranked(values, ordered):
    """Numbers and ordered categories have ranks, other values are equally far apart, and either can be asked for."""
    post, _ = made([[1, 0, 0], [0, 1, 0]], [3, 3], values=values)
    by_rank = [(0 + 1 + 2) / 3 / 2, (1 + 0 + 1) / 3 / 2]  # from thirds, over the two steps from end to end
    equal = [2 / 3, 2 / 3]
    assert disclosure(post)["t"].tolist() == pytest.approx(by_rank if ordered else equal)
    assert disclosure(post, distance="ordered")["t"].tolist() == pytest.approx(by_rank)
    assert disclosure(post, distance="equal")["t"].tolist() == pytest.approx(equal)


def test_everything_known():
    """A certain inference: P = 1, one value possible, no diversity at all."""
    found = disclosure(made([[0, 1, 0]], [6])[0]).iloc[0]
    assert (found["max_p"], found["r"], found["value"]) == (1, 1, "s1")
    assert (found["distinct_l"], found["entropy_l"], found["recursive_c"]) == (1, 1, math.inf)
    assert found["t"] == pytest.approx(2 / 3)


def test_nothing_known():
    """As likely as in the whole population, and all values alike: as private as this table can be."""
    found = disclosure(made([[0.25] * 4], [8])[0], l=4).iloc[0]
    assert found["r"] == pytest.approx(4)
    assert found["entropy_l"] == pytest.approx(4)
    assert found["recursive_c"] == pytest.approx(1)
    assert found["t"] == pytest.approx(0, abs=1e-15)


def test_solver_noise_is_no_diversity():
    """A probability of 1e-12 is a solver's zero: it makes nobody more private."""
    found = disclosure(made([[1 - 1e-12, 1e-12], [0.999, 0.001]], [5, 5])[0])
    assert found["distinct_l"].tolist() == [1, 2]
    assert found["recursive_c"].tolist() == [math.inf, pytest.approx(999)]


def test_medicine(hospital, release):
    """Who knows that no man has Breast Cancer knows Grace's disease: she is the only woman of bucket 2 (section 1)."""
    post = mx.MaxEnt(release).add(P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    grace = disclosure(post).loc[("female", "junior")]
    assert (grace["people"], grace["value"], grace["distinct_l"]) == (1, "Breast Cancer", 1)
    assert grace["max_p"] == pytest.approx(1)
    assert disclosure(post, worst=True)["max_p"].item() == pytest.approx(1)


@PROPERTY
@given(chosen(), st.integers(1, 4))
def test_worst(drawn, l):
    """The worst row holds each measure at its most disclosing, over all tuples."""
    post, _ = made(*drawn)
    every, worst = disclosure(post, l=l), disclosure(post, l=l, worst=True)
    assert list(worst.columns) == list(every.columns)
    assert len(worst) == 1
    for column in ("people", "distinct_l", "entropy_l", "r"):
        assert worst[column].item() == min(every[column])
    for column in ("max_p", "recursive_c", "t"):
        assert worst[column].item() == max(every[column])
    assert (every["value"] == worst["value"].item())[every["max_p"] == max(every["max_p"])].any()


@pytest.mark.parametrize("l", [0, -1, 1.5])
def test_l_out_of_range(release, l):
    """The l of recursive (c, l)-diversity is a whole number from 1 on."""
    with refused(StatementError, f"l={l}"):
        disclosure(mx.MaxEnt(release).solve(), l=l)


def test_unknown_distance(release):
    """A distance that does not exist is refused, with the ones that do."""
    with refused(StatementError, "distance='euclid'", "auto", "equal", "ordered"):
        disclosure(mx.MaxEnt(release).solve(), distance="euclid")
