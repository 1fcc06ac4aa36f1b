"""Sentences about people, on exact worlds: by enumeration, by closed forms, and beside what their rows say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import GroupTooLarge, Inaccurate, Infeasible, QIDistribution, StatementError, TableError, UnknownName
from maxent_cvx.worlds.conditioning import ResidualGroup
from maxent_cvx.worlds.sentences import exactly, has
from support.fig_4 import FIG_4
from support.sentences import group_by_enumeration, people_by_enumeration, random_family, random_sentence
from support.worlds import random_group

#: What is allowed to differ from a sum over all worlds.
EXACT = {"rtol": 1e-11, "atol": 1e-13}


def random_named(rng: np.random.Generator, most: int) -> tuple[pd.DataFrame, list[str]]:
    """A random group whose tuples and values have names."""
    group, values = random_group(rng, most)
    group = group.set_axis([f"t{i}" for i in group.index]).set_axis([f"v{x}" for x in group.columns], axis=1)
    return group, [f"v{x}" for x in values]


def check_group(seed: int) -> bool:
    """P(t : x) of a random group with random sentences is the sum over its worlds; whether there are any.

    Where there are none, the sentences that are named clash, and without any one of them there are some.
    """
    rng = np.random.default_rng(seed)
    group, values = random_named(rng, most=6)
    drawn = [random_sentence(rng, list(group.index), list(group.columns)) for _ in range(rng.integers(1, 4))]
    sentences, truths = zip(*drawn, strict=True)
    expected = group_by_enumeration(group, values, truths)
    if expected is None:
        with pytest.raises(Infeasible) as caught:
            mx.worlds.posterior(group, values, knowledge=sentences)
        if caught.value.conflict is not None:  # else the priors alone rule out every world
            clash = {str(one): truth for one, truth in drawn if str(one) in caught.value.conflict.index}
            assert group_by_enumeration(group, values, list(clash.values())) is None
            for spared in clash:
                others = [truth for said, truth in clash.items() if said != spared]
                assert group_by_enumeration(group, values, others) is not None
        return False
    np.testing.assert_allclose(mx.worlds.posterior(group, values, knowledge=sentences), expected, **EXACT)
    return True


def check_family(seed: int) -> bool:
    """P(s | person) of people in random buckets, with random sentences and priors; whether there are any worlds."""
    records, people, f, drawn = random_family(np.random.default_rng(seed))
    release = mx.Release.from_buckets(records, qi="Q", sa="S", bucket="B")
    prior = None if f is None else QIDistribution(f)
    described = {name: {"Q": q} for name, q in people.items()}
    sentences = [sentence for sentence, _ in drawn]
    expected = people_by_enumeration(records, people, f, [truth for _, truth in drawn])
    if expected is None:
        with pytest.raises(Infeasible):
            mx.worlds.linkage(release, prior, people=described, knowledge=sentences)
        return False
    found = mx.worlds.linkage(release, prior, people=described, knowledge=sentences)
    assert found.index.to_list() == list(people)
    np.testing.assert_allclose(found, expected, **EXACT)
    return True


def test_random_groups():
    """Fifty groups, of which some have worlds and some none."""
    assert 10 < sum(map(check_group, range(50))) < 40


def test_random_families():
    """Thirty releases, in which people may be in several buckets."""
    assert 10 < sum(map(check_family, range(30))) < 30


@pytest.mark.parametrize("to_values", [True, False])
def test_dealt_either_way(to_values, monkeypatch):
    """What others count is the same, whether tuples are dealt to values or values to tuples."""
    monkeypatch.setattr(ResidualGroup, "_to_values", lambda *_: to_values)
    assert 2 < sum(map(check_group, range(2_000, 2_020))) < 18
    assert 2 < sum(map(check_family, range(2_000, 2_015))) < 15


# -- the figures of section 6 --------------------------------------------------------------------


def two_buckets(six: str = "xuvwyz") -> mx.Release:
    """Ann is in a bucket of three with one x, Bob in one of six."""
    table = pd.DataFrame([(value, bucket) for bucket, held in (("A", "xyz"), ("B", six)) for value in held])
    table = table.set_axis(["S", "Bucket"], axis=1).assign(Q=[f"q{n}" for n in range(9)])
    return mx.Release.from_buckets(table, qi="Q", sa="S", bucket="Bucket")


@pytest.mark.parametrize(
    ("sentence", "row", "exact"),
    [
        ("(Ann=x or Bob=x) and not (Ann=x and Bob=x)", lambda count: count == 1, (5 / 7, 2 / 7)),
        ("exactly 1 of (Ann=x, Bob=x)", lambda count: count == 1, (5 / 7, 2 / 7)),
        ("Ann=x or Bob=x", lambda count: count >= 1, (3 / 4, 3 / 8)),
    ],
)
@pytest.mark.parametrize("six", ["xuvwyz", "xyyyyy"])
def test_one_of_two(six, sentence, row, exact):
    """Rows are necessary and not sufficient: "but not both" and "at least one" are one row, with .585 and .415."""
    people = {"Ann": {"Q": "q0"}, "Bob": {"Q": "q3"}}
    release = two_buckets(six)
    found = mx.worlds.linkage(release, people=people, knowledge=[sentence])
    assert found["x"].to_list() == pytest.approx(exact, rel=1e-13)
    by_rows = mx.MaxEnt(release, people=people).add(row(mx.Count("x", who=["Ann", "Bob"]))).solve().people()
    assert by_rows["x"].to_list() == pytest.approx([0.5846, 0.4154], abs=5e-5)


@pytest.mark.parametrize(
    ("sentence", "statement", "exact", "by_rows"),
    [
        (
            "exactly 2 of (Alice=HIV, Bob=HIV, Charlie=HIV)",
            mx.Count("HIV", who=list(FIG_4)) == 2,
            {("Alice", "HIV"): 1, ("Bob", "HIV"): 1 / 3, ("Charlie", "HIV"): 2 / 3},
            {("Alice", "HIV"): 1, ("Bob", "HIV"): 0.382, ("Charlie", "HIV"): 0.618},
        ),
        (
            "Alice=Breast Cancer or Alice=HIV",
            mx.P(["Breast Cancer", "HIV"], who="Alice") == 1,
            {("Alice", "Breast Cancer"): 5 / 7, ("Alice", "HIV"): 2 / 7},
            {("Alice", "Breast Cancer"): 0.731, ("Alice", "HIV"): 0.269},
        ),
    ],
)
def test_fig_4(release, sentence, statement, exact, by_rows):
    """Privacy-MaxEnt, section 6, on its own table: what (2) and (3) say, and what their constraints give."""
    found = mx.worlds.linkage(release, people=FIG_4, knowledge=[sentence])
    rows = mx.MaxEnt(release, people=FIG_4).add(statement).solve().people()
    for at, p in exact.items():
        assert found.loc[at] == pytest.approx(p, abs=1e-12)
        assert rows.loc[at] == pytest.approx(by_rows[at], abs=5e-4)


# -- large ones ----------------------------------------------------------------------------------


def test_ten_thousand_records():
    """Five of 10,000 are named: exactly two of them have a value that m have, as drawn without replacement."""
    n, m = 10_000, 37
    table = pd.DataFrame({"Q": range(n), "S": ["x"] * m + ["y", "z"] * ((n - m) // 2) + ["w"] * ((n - m) % 2), "B": 0})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    people = {f"p{i}": {"Q": 17 * i} for i in range(5)}
    either = exactly(2, [has("p0", "x"), has("p1", "x")]) | exactly(1, [has(f"p{i}", "x") for i in range(5)])
    found = mx.worlds.linkage(release, people=people, knowledge=[either])
    ways = [math.comb(m, k) * math.comb(n - m, 5 - k) / math.comb(5, k) for k in range(6)]  # of any k of the five
    both = ways[2] + 3 * ways[3] + 3 * ways[4] + ways[5]
    total = both + 5 * ways[1]
    assert found["x"].to_list() == pytest.approx(
        [(both + ways[1]) / total] * 2 + [(ways[1] + ways[3] + 2 * ways[4] + ways[5]) / total] * 3, rel=1e-11
    )
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


def test_a_long_chain():
    """A rumour along 300 buckets: everybody has x if the one before has, so that those who have are a tail of them."""
    n = 300
    table = pd.DataFrame({"Q": range(3 * n), "S": ["x", "y", "z"] * n, "B": np.arange(3 * n) // 3})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    people = {n_: {"Q": 3 * n_} for n_ in range(n)}
    known = [has(i, "x").implies(has(i + 1, "x")) for i in range(n - 1)]
    found = mx.worlds.linkage(release, people=people, knowledge=known)["x"].to_numpy()
    weight = 2.0 ** -np.arange(n + 1)  # the first k have it not, in 2 of 3 places each, the others have
    weight = weight[::-1]
    expected = np.cumsum(weight)[:-1] / weight.sum()
    np.testing.assert_allclose(found, expected, rtol=1e-10)


# -- what cannot be ------------------------------------------------------------------------------


@pytest.fixture
def group() -> pd.DataFrame:
    return pd.DataFrame({"HIV": 0.2, "Flu": 0.8}, index=["Ann", "Bob", "Eve"])


def test_contradictions_are_named(group, release):
    """Sentences that clash are told, as few as do; what is true without them is not mentioned."""
    values = ["HIV", "Flu", "Flu"]
    known = ["Ann=HIV -> Bob=Flu", "Bob=HIV", "Ann=HIV or Eve=HIV", "Eve=Flu or Ann=Flu"]
    with pytest.raises(Infeasible) as caught:
        mx.worlds.posterior(group, values, knowledge=known)
    assert caught.value.conflict.index.to_list() == ["Bob=HIV", "Ann=HIV or Eve=HIV"]
    with pytest.raises(Infeasible):
        mx.worlds.posterior(group, values, knowledge=["at least 2 of (Ann=HIV, Bob=HIV, Eve=HIV)"])
    known = ["Alice=HIV or Alice=Flu", "Bob=Flu", "not (Bob=HIV or Bob=Flu)", "Charlie=HIV"]
    with pytest.raises(Infeasible) as caught:
        mx.worlds.linkage(release, people=FIG_4, knowledge=known)
    assert caught.value.conflict.index.to_list() == ["Bob=Flu", "not (Bob=HIV or Bob=Flu)"]


def test_wrong_arguments(group, release):
    """Who or what a sentence names and there is not, ties beside sentences, attributes without a prior."""
    square = pd.DataFrame(0.25, index=["HIV", "Flu"], columns=["HIV", "Flu"])
    for error, change in [
        (UnknownName, {"knowledge": ["Anne=HIV"]}),
        (UnknownName, {"knowledge": ["Ann=Flue"]}),
        (StatementError, {"group": group.rename(index={"Eve": "Ann"})}),
        (StatementError, {"ties": {("Ann", "Bob"): square}}),
        (TableError, {"group": [[0.5]], "values": ["x"]}),
    ]:
        with pytest.raises(error):
            mx.worlds.posterior(**{"group": group, "values": ["HIV", "Flu", "Flu"], "knowledge": ["Ann=HIV"], **change})
    for error, options in [
        (UnknownName, {"people": FIG_4, "knowledge": ["Eve=HIV"]}),
        (StatementError, {"knowledge": ["Eve=HIV"]}),
        (StatementError, {"attributes": "Gender"}),
    ]:
        with pytest.raises(error):
            mx.worlds.linkage(release, **options)


def test_several_sensitive_attributes():
    """A value is then one of each; a text cannot say which, and an object can."""
    table = pd.DataFrame({"Q": list("ab"), "S": ["flu", "flu"], "Pay": ["high", "low"], "B": 1})
    release = mx.Release.from_buckets(table, qi="Q", sa=["S", "Pay"], bucket="B")
    people = {"Ann": {"Q": "a"}}
    assert mx.worlds.linkage(release, people=people, knowledge=[has("Ann", ("flu", "high"))]).to_numpy().tolist() == [
        [1.0, 0.0]
    ]
    with pytest.raises(StatementError):
        mx.worlds.linkage(release, people=people, knowledge=["Ann=flu"])


def test_too_much(release):
    """What takes too long is refused, with its cost, before it is done."""
    with pytest.raises(GroupTooLarge):
        mx.worlds.linkage(release, people=FIG_4, knowledge=["exactly 2 of (Alice=HIV, Bob=HIV, Charlie=HIV)"], limit=50)
    wide = pd.DataFrame(np.random.default_rng(0).random((60, 60)))
    with pytest.raises(GroupTooLarge):
        mx.worlds.posterior(wide, range(60), knowledge=["0=1 or 1=2"])


# -- without people, and sampled -----------------------------------------------------------------


def test_samples_with_sentences():
    """Sampled worlds with sentences are the exact ones within standard errors, also where the sentences are rare."""
    errors = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        group, values = random_named(rng, most=8)
        drawn = [random_sentence(rng, list(group.index), list(group.columns))[0] for _ in range(2)]
        try:
            exact = mx.worlds.posterior(group, values, knowledge=drawn)
        except Infeasible:
            with pytest.raises((Inaccurate, Infeasible)):
                mx.worlds.sample(group, values, 500, knowledge=drawn)
            continue
        found = mx.worlds.sample(group, values, 4_000, seed=seed, knowledge=drawn)
        off = (found.posterior - exact).to_numpy()
        error = found.standard_error.to_numpy()
        assert (np.abs(off)[error == 0] < 1e-12).all()
        errors.append((off / np.where(error > 0, error, np.inf)).ravel())
    errors = np.concatenate(errors)
    assert np.abs(errors).max() < 5
    assert errors.std() < 1.1


@pytest.mark.parametrize(
    ("powers", "values", "sentence"),
    [
        (
            [[-1, -4, -3, -1], [0, -2, -1, -2], [-4, -4, -4, -3], [-3, -3, 0, 0], [-2, -3, -1, 0]],
            [1, 3, 0, 2, 2],
            "2=3 -> 0=0",
        ),
        ([[-1, -2, -3], [-3, -2, -1], [-4, -3, -3], [-2, -3, -4]], [1, 2, 1, 0], "3=0 or 1=1"),
        ([[-2, -3, -4], [-2, -2, -4], [-4, -2, -3], [-3, -2, 0]], [2, 0, 2, 0], "1=0 -> 1=1"),
    ],
    ids=["five people", "four people, or", "four people, ->"],
)
def test_samples_if_sentences_make_rare_values_probable(powers, values, sentence):
    """Priors that differ by powers of ten hide no worlds: samples agree with exact sums within standard errors."""
    prior = 10.0 ** np.array(powers)
    group = pd.DataFrame(prior / prior.sum(axis=1, keepdims=True))
    exact = mx.worlds.posterior(group, values, knowledge=[sentence])
    sampled = mx.worlds.sample(group, values, 1_000, knowledge=[sentence])
    assert (np.abs(sampled.posterior - exact) < 5 * sampled.standard_error + 1e-12).all(axis=None)


def test_a_large_group_is_sampled():
    """300 people, 12 values: what is refused exactly has standard errors, and is as the sentence says."""
    rng = np.random.default_rng(1)
    group, values = pd.DataFrame(rng.random((300, 12)) ** 3), [11, *(rng.integers(0, 11, 299))]
    known = ["exactly 1 of (5=11, 7=11)", "5=11 -> 6=0"]
    with pytest.raises(GroupTooLarge):
        mx.worlds.posterior(group, values, knowledge=known)
    found = mx.worlds.sample(group, values, 1_000, knowledge=known)
    assert found.posterior.loc[[5, 7], 11].sum() == pytest.approx(1)
    assert found.posterior.loc[6, 0] > found.posterior.loc[5, 11] - 1e-9
