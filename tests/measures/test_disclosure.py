"""Disclosure: l-diversity, t-closeness and others, by definition and beside pyCANON."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

import maxent_cvx as mx
from maxent_cvx.measures.disclosure import disclosure
from support.posteriors import chosen, posterior_with


def overall(frame: pd.DataFrame) -> list[float]:
    """P(s), by counting."""
    return [(frame["S"] == s).mean() for s in sorted(frame["S"].unique())]


@given(chosen())
def test_people_and_largest_probability(drawn):
    """The table has the people with each tuple, their largest P(s | q), its reciprocal r, and a value that attains it."""
    p, people = drawn
    result = disclosure(posterior_with(p, people)[0])
    assert list(result.index) == [f"q{i}" for i in range(len(p))]
    assert result["people"].tolist() == people
    assert result["max_p"].tolist() == pytest.approx([max(row) for row in p])
    assert (result["max_p"] * result["r"]).tolist() == pytest.approx([1] * len(p))
    for row, value in zip(p, result["value"], strict=True):
        assert row[int(value[1:])] == max(row)


@given(chosen(), st.integers(1, 6))
def test_l_diversity(drawn, l):
    """Distinct, entropy and recursive (c, l)-diversity are those of P(s | q) (Machanavajjhala et al., 2006)."""
    p, people = drawn
    result = disclosure(posterior_with(p, people)[0], l=l)
    for row, (_, measured) in zip(p, result.iterrows(), strict=True):
        assert measured["distinct_l"] == sum(x > 0 for x in row)
        assert measured["entropy_l"] == pytest.approx(math.prod(x**-x for x in row if x > 0))
        first, *rest = sorted(row, reverse=True)
        tail = sum([first, *rest][l - 1 :])
        assert measured["recursive_c"] == (pytest.approx(first / tail) if tail else math.inf)


@given(chosen())
def test_t_closeness(drawn):
    """With equal distances t is the largest difference of an event's probability; with ranks, that of earth movers.

    The earth mover's distance from end to end is 1 (Li et al., 2007).
    """
    p, people = drawn
    post, frame = posterior_with(p, people)
    share, ranks = overall(frame), np.arange(len(p[0]))
    events = [event for n in range(len(share) + 1) for event in itertools.combinations(ranks, n)]
    equal = [max(sum(row[j] - share[j] for j in event) for event in events) for row in p]
    ordered = [wasserstein_distance(ranks, ranks, row, share) / (len(ranks) - 1) for row in p]
    assert disclosure(post, distance="equal")["t"].tolist() == pytest.approx(equal, abs=1e-12)
    assert disclosure(post, distance="ordered")["t"].tolist() == pytest.approx(ordered, abs=1e-12)


def test_salaries_of_li_et_al():
    """The published example: {3k, 4k, 5k} is 0.375 and {6k, 8k, 11k} 0.167 from nine salaries (Li et al., 2007)."""
    salaries = {"low": [3, 4, 5], "wide": [6, 11, 8], "rest": [7, 9, 10]}
    frame = pd.DataFrame([(zone, k * 1000, zone) for zone, ks in salaries.items() for k in ks], columns=list("QSK"))
    result = disclosure(mx.MaxEnt(mx.Release.from_buckets(frame, qi="Q", sa="S", bucket="K")).solve())
    assert result.loc["low", "t"] == pytest.approx(0.375)
    assert result.loc["wide", "t"] == pytest.approx(1 / 6)


@given(chosen(), st.integers(1, 4))
def test_worst(drawn, l):
    """The worst row has the most disclosing value of each measure over all tuples."""
    post, _ = posterior_with(*drawn)
    every, worst = disclosure(post, l=l), disclosure(post, l=l, worst=True)
    assert list(worst.columns) == list(every.columns)
    assert len(worst) == 1
    for column in ("people", "distinct_l", "entropy_l", "r"):
        assert worst[column].item() == min(every[column])
    for column in ("max_p", "recursive_c", "t"):
        assert worst[column].item() == max(every[column])
    assert (every["value"] == worst["value"].item())[every["max_p"] == max(every["max_p"])].any()


@pytest.mark.filterwarnings("ignore:In a future version, the keys of:Warning")  # pandas, to pycanon
def test_pycanon():
    """PyCANON finds the same on 300 people of Adult, in classes of sex and race."""
    anonymity = pytest.importorskip("pycanon.anonymity")
    adult = mx.datasets.load_adult().head(300)
    frame = adult[["education"]].rename(columns={"education": "S"}).assign(Zone=adult["sex"] + " " + adult["race"])
    release = mx.Release.from_buckets(frame.assign(Bucket=frame["Zone"]), qi="Zone", sa="S", bucket="Bucket")
    result = disclosure(mx.MaxEnt(release).solve(), worst=True).iloc[0]
    args = (frame, ["Zone"], ["S"])
    assert result["people"] == anonymity.k_anonymity(frame, ["Zone"])
    assert result["max_p"] == pytest.approx(anonymity.alpha_k_anonymity(*args)[0])
    assert result["distinct_l"] == anonymity.l_diversity(*args)
    assert np.floor(result["entropy_l"]) == anonymity.entropy_l_diversity(*args)
    assert result["t"] == pytest.approx(anonymity.t_closeness(*args))


@pytest.mark.parametrize("l", [0, 1.5])
def test_l_out_of_range(release, l):
    with pytest.raises(mx.StatementError):
        disclosure(mx.MaxEnt(release).solve(), l=l)


@pytest.mark.parametrize(
    "values",
    [[10, 11, 40, 41, 12, 90], pd.Categorical(list("aabcde"), categories=list("abcde"), ordered=True)],
    ids=["numbers", "ordered"],
)
def test_people_outside_leave_values_their_order(values):
    """A person of the population whom no group covers does not change measures of the people in the release."""
    records = pd.DataFrame({"Age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3, "S": values})
    people = pd.DataFrame({"Age": [20, 21, 22, 30, 31, 32]})
    results = []
    for population in (people, pd.concat([people, pd.DataFrame({"Age": [50]})])):
        view = mx.Release.from_generalized(records, qi="Age", sa="S", population=population)
        post = mx.MaxEnt(view).solve()
        exposed = mx.measures.exposed(post, 0.6, baseline="overall")
        t = mx.measures.leakage("overall", post)["value"]["t"]
        results.append([*disclosure(post)["t"], t, exposed.people, exposed.within])
    assert results[0] == pytest.approx(results[1])
