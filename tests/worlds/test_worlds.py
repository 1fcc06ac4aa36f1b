"""Exact and sampled possible worlds, ties, sentences and r-robustness (Probabilistic Inference Protection, section III)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import (
    BadProbability,
    GroupTooLarge,
    Inaccurate,
    Infeasible,
    QIDistribution,
    StatementError,
    TableError,
    UnknownName,
)
from maxent_cvx.worlds.conditioning import ResidualGroup
from maxent_cvx.worlds.sentences import exactly, has
from support.fig_4 import FIG_4
from support.sentences import Truth, people_by_enumeration, random_family, random_sentence, worlds_of_records
from support.worlds import by_enumeration, random_group

#: The rounding of a sum over all worlds.
EXACT = {"rtol": 1e-11, "atol": 1e-13}


def test_example_1():
    """Alan, a man, has lung cancer with probability 0.1 * 0.997 / (0.1 * 0.997 + 0.9 * 0.003), not 1/2."""
    group = pd.DataFrame({"yes": [0.1, 0.003], "no": [0.9, 0.997]}, index=["Alan", "Betty"])
    p = mx.worlds.posterior(group, ["yes", "no"])
    assert p["yes"].to_list() == pytest.approx([0.0997 / (0.0997 + 0.0027), 0.0027 / (0.0997 + 0.0027)], rel=1e-14)


def check_conflict(error: Infeasible, truths: dict[str, Truth], has_worlds) -> None:
    """The sentences of a conflict exclude every world, and all but any one of them do not."""
    if error.conflict is None:  # the priors alone exclude every world
        assert not has_worlds([])
        return
    conflict = [truths[sentence] for sentence in error.conflict.index]
    assert not has_worlds(conflict)
    for truth in conflict:
        assert has_worlds([other for other in conflict if other is not truth])


def check_group(seed: int, n_sentences: int) -> bool:
    """P(t : x) of a random group with random sentences is the sum over its worlds; return whether there are any."""
    rng = np.random.default_rng(seed)
    group, values = random_group(rng, most=6)
    group.index = [f"t{i}" for i in group.index]
    drawn = [random_sentence(rng, list(group.index), list(group.columns)) for _ in range(n_sentences)]
    knowledge, truths = [sentence for sentence, _ in drawn], [truth for _, truth in drawn]
    expected = by_enumeration(group.to_numpy(), values, truths=truths)
    if expected is None:
        with pytest.raises(Infeasible) as caught:
            mx.worlds.posterior(group, values, knowledge=knowledge)
        check_conflict(
            caught.value,
            {str(sentence): truth for sentence, truth in drawn},
            lambda some: by_enumeration(group.to_numpy(), values, truths=some) is not None,
        )
        return False
    np.testing.assert_allclose(mx.worlds.posterior(group, values, knowledge=knowledge), expected, **EXACT)
    return True


def check_family(seed: int) -> bool:
    """P(s | person) in random buckets with random sentences and priors is the sum over all worlds; the same."""
    records, people, f, drawn = random_family(np.random.default_rng(seed))
    release = mx.Release.from_buckets(records, qi="Q", sa="S", bucket="B")
    knowledge = {"people": {name: {"Q": q} for name, q in people.items()}, "knowledge": [one for one, _ in drawn]}
    prior = None if f is None else QIDistribution(f)
    expected = people_by_enumeration(records, people, f, [truth for _, truth in drawn])
    if expected is None:
        with pytest.raises(Infeasible) as caught:
            mx.worlds.linkage(release, prior, **knowledge)
        worlds = [world for world, _ in worlds_of_records(records, people, f)]
        check_conflict(
            caught.value,
            {str(sentence): truth for sentence, truth in drawn},
            lambda some: any(all(truth(world) for truth in some) for world in worlds),
        )
        return False
    p = mx.worlds.linkage(release, prior, **knowledge)
    assert p.index.to_list() == list(people)
    np.testing.assert_allclose(p, expected, **EXACT)
    return True


@pytest.mark.parametrize(("n_sentences", "n"), [(0, 100), (1, 20), (2, 20), (3, 20)])
def test_random_groups(n_sentences, n):
    """Exact probabilities are sums over all worlds; some groups have none."""
    assert n / 4 < sum(check_group(seed, n_sentences) for seed in range(n)) < n


def test_random_families():
    """The same holds of releases, in which people may be in several buckets."""
    assert 10 < sum(map(check_family, range(30))) < 30


@pytest.mark.parametrize("to_values", [True, False])
def test_the_order_of_assignment_changes_nothing(to_values, monkeypatch):
    """Whether tuples are assigned to values or values to tuples, the other tuples contribute the same."""
    monkeypatch.setattr(ResidualGroup, "_to_values", lambda *_: to_values)
    assert 2 < sum(check_group(seed, 2) for seed in range(2_000, 2_020)) < 20
    assert 2 < sum(map(check_family, range(2_000, 2_015))) < 15


@pytest.mark.parametrize("small", [1e-9, 1e-300])
def test_nothing_underflows(small):
    """Only odds count: the answer for 200 people does not change if all priors are multiplied by 1e-300."""
    f = np.random.default_rng(2).random((200, 3))
    values = list(np.arange(200) % 3)
    expected = mx.worlds.posterior(pd.DataFrame(f), values)
    np.testing.assert_allclose(mx.worlds.posterior(pd.DataFrame(f * small), values), expected, rtol=1e-9)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-11)


def test_a_large_bucket():
    """One of 100,000 people has another prior: the odds of the values are their numbers times the ratio of priors."""
    table = pd.DataFrame({"Q": list("aaab"), "S": list("xyzx"), "B": 1, "n": [40_000, 50_000, 9_999, 1]})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B", count="n")
    f = pd.DataFrame([[0.2, 0.4, 0.4], [0.3, 0.4, 0.3]], pd.Index(["a", "b"], name="Q"), list("xyz"))
    p = mx.worlds.linkage(release, QIDistribution(f)).unstack().loc[1]
    m = pd.Series([40_001, 50_000, 9_999], list("xyz"))
    odds = m * f.loc["b"] / f.loc["a"]
    np.testing.assert_allclose(p.loc["b"], odds / odds.sum(), **EXACT)
    np.testing.assert_allclose(p.loc["a"], (m - odds / odds.sum()) / 99_999, **EXACT)


# -- ties --------------------------------------------------------------------------------------------------------------


def test_a_sentence_that_is_always_true():
    """In a group of 1,100 people, each with another prior, it changes nothing."""
    group = pd.DataFrame({"a": np.linspace(0.1, 0.9, 1100), "b": 0.5})
    values = ["a", "b"] * 550
    known = mx.worlds.posterior(group, values, knowledge=["0=a or 0=b"])
    np.testing.assert_allclose(known, mx.worlds.posterior(group, values), **EXACT)


def test_ties():
    """With families of two and three, the answer is the sum over all worlds weighted by the joint priors."""
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
        p = mx.worlds.posterior(pd.DataFrame(f), values, ties=ties)
        np.testing.assert_allclose(p, expected, rtol=1e-11, atol=1e-14)


def test_joint():
    """Sums of a joint probability are the probabilities of each person, with ties and without; three are a Series."""
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
    pairs = [(value, 1) for value in "xyz"]  # values of two sensitive attributes
    both = mx.worlds.joint(group.set_axis(pd.MultiIndex.from_tuples(pairs), axis=1), [pairs[0]] * 5, ["d", "a"])
    assert both.index.to_list() == both.columns.to_list() == pairs[:1]


# -- sentences in closed form ------------------------------------------------------------------------------------------


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
    """Privacy-MaxEnt, section 6, on its own table: the worlds of sentences (2) and (3), and their constraints."""
    p = mx.worlds.linkage(release, people=FIG_4, knowledge=[sentence]).stack()
    p_of_rows = mx.MaxEnt(release, people=FIG_4).add(statement).solve().people().stack()
    assert p[list(exact)].to_dict() == pytest.approx(exact, abs=1e-12)
    assert p_of_rows[list(by_rows)].to_dict() == pytest.approx(by_rows, abs=5e-4)


def test_ten_thousand_records():
    """Five of 10,000 are named: exactly two of them have a value that m have, as drawn without replacement."""
    n, m = 10_000, 37
    table = pd.DataFrame({"Q": range(n), "S": ["x"] * m + ["y", "z"] * ((n - m) // 2) + ["w"] * ((n - m) % 2), "B": 0})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    people = {f"p{i}": {"Q": 17 * i} for i in range(5)}
    either = exactly(2, [has("p0", "x"), has("p1", "x")]) | exactly(1, [has(f"p{i}", "x") for i in range(5)])
    p = mx.worlds.linkage(release, people=people, knowledge=[either])
    ways = [math.comb(m, k) * math.comb(n - m, 5 - k) / math.comb(5, k) for k in range(6)]  # of any k of the five
    both = ways[2] + 3 * ways[3] + 3 * ways[4] + ways[5]
    total = both + 5 * ways[1]
    assert p["x"].to_list() == pytest.approx(
        [(both + ways[1]) / total] * 2 + [(ways[1] + ways[3] + 2 * ways[4] + ways[5]) / total] * 3, rel=1e-11
    )
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


def test_a_long_chain():
    """Along 300 buckets everybody has x if the person before has x, so that those with x are the last ones."""
    n = 300
    table = pd.DataFrame({"Q": range(3 * n), "S": ["x", "y", "z"] * n, "B": np.arange(3 * n) // 3})
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    people = {person: {"Q": 3 * person} for person in range(n)}
    knowledge = [has(i, "x").implies(has(i + 1, "x")) for i in range(n - 1)]
    p = mx.worlds.linkage(release, people=people, knowledge=knowledge)["x"].to_numpy()
    weight = 2.0 ** np.arange(-n, 1)  # the first k do not have x, in 2 of 3 places each
    np.testing.assert_allclose(p, np.cumsum(weight)[:-1] / weight.sum(), rtol=1e-10)


def test_several_sensitive_attributes():
    """A value is then one of each, in a text and in an object; a part of it is not a value."""
    table = pd.DataFrame({"Q": list("ab"), "S": ["flu", "flu"], "Pay": ["high", "low"], "B": 1})
    release = mx.Release.from_buckets(table, qi="Q", sa=["S", "Pay"], bucket="B")
    people = {"Ann": {"Q": "a"}}
    for known in (has("Ann", ("flu", "high")), "Ann=(flu, high)"):
        assert mx.worlds.linkage(release, people=people, knowledge=[known]).to_numpy().tolist() == [[1.0, 0.0]]
    with pytest.raises(StatementError):
        mx.worlds.linkage(release, people=people, knowledge=["Ann=flu"])


# -- sampled worlds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_sentences", "least"), [(0, 0.6), (2, 0.5)])
def test_samples_are_within_their_standard_errors(n_sentences, least):
    """Errors in units of their standard errors are those of a normal variable, or less, with rare sentences, too."""
    errors = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        group, values = random_group(rng, most=8)
        group.index = [f"t{i}" for i in group.index]
        knowledge = [random_sentence(rng, list(group.index), list(group.columns))[0] for _ in range(n_sentences)]
        try:
            exact = mx.worlds.posterior(group, values, knowledge=knowledge)
        except Infeasible:
            with pytest.raises((Inaccurate, Infeasible)):
                mx.worlds.sample(group, values, 500, knowledge=knowledge)
            continue
        sample = mx.worlds.sample(group, values, 2_000, seed=seed, knowledge=knowledge)
        error, standard_error = (sample.posterior - exact).to_numpy(), sample.standard_error.to_numpy()
        assert (np.abs(error)[standard_error == 0] < 1e-12).all()
        assert sample.effective <= 2_000 * (1 + 1e-9)
        errors.append(error[standard_error > 0] / standard_error[standard_error > 0])
    assert least < np.concatenate(errors).std() < 1.1
    assert np.abs(np.concatenate(errors)).max() < 5


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


def test_too_few_worlds_with_weight():
    """An estimate is refused if hardly any sampled world has a weight."""
    n = 60
    near = np.exp(-3.0 * np.abs(np.subtract.outer(np.arange(n), np.arange(n))) ** 1.5)
    with pytest.raises(Inaccurate):
        mx.worlds.sample(pd.DataFrame(near * np.random.default_rng(3).random((n, n)) ** 30), range(n), 200)


@pytest.mark.parametrize("tiny", [1e-100, 1e-300])
def test_samples_of_tiny_priors(tiny):
    """One of those who nearly certainly have y has x; who it is depends on ratios of tiny priors."""
    rare = np.array([1, 3, 1, 3]) * tiny
    group = pd.DataFrame({"x": [1, 1, 1, *rare], "y": [tiny, tiny, 0, 1, 1, 1, 1]})
    values = ["x"] * 4 + ["y"] * 3
    sampled = mx.worlds.sample(group, values, 2_000)
    exact = pd.DataFrame({"x": [1, 1, 1, 1 / 8, 3 / 8, 1 / 8, 3 / 8]})["x"]
    pd.testing.assert_series_equal(mx.worlds.posterior(group, values)["x"], exact)
    assert ((sampled.posterior["x"] - exact).abs() < 5 * sampled.standard_error["x"] + 1e-12).all()


def test_a_large_group_is_sampled():
    """A group of 300 people and 12 values is too large for exact worlds; its sample agrees with the sentences."""
    rng = np.random.default_rng(1)
    group, values = pd.DataFrame(rng.random((300, 12)) ** 3), [11, *(rng.integers(0, 11, 299))]
    knowledge = ["exactly 1 of (5=11, 7=11)", "5=11 -> 6=0"]
    with pytest.raises(GroupTooLarge):
        mx.worlds.posterior(group, values, knowledge=knowledge)
    p = mx.worlds.sample(group, values, 1_000, knowledge=knowledge).posterior
    assert p.loc[[5, 7], 11].sum() == pytest.approx(1)
    assert p.loc[6, 0] > p.loc[5, 11] - 1e-9


# -- wrong arguments ---------------------------------------------------------------------------------------------------

GROUP = pd.DataFrame({"HIV": 0.2, "Flu": 0.8}, index=["Ann", "Bob", "Eve"])
TWO = pd.DataFrame(0.25, index=["HIV", "Flu"], columns=["HIV", "Flu"])
KNOWN = {"knowledge": ["Ann=HIV"]}
#: As many values as people, of two signatures.
LONG = {"group": pd.DataFrame(np.repeat([[0.2], [0.8]], 550, axis=0) @ np.ones((1, 1100))), "values": range(1100)}
WIDE = {"group": pd.DataFrame(np.random.default_rng(4).random((60, 60))), "values": range(60)}


@pytest.mark.parametrize(
    ("error", "change"),
    [
        (TableError, {"values": ["HIV"]}),
        (UnknownName, {"values": ["HIV", "Flu", "Cold"]}),
        (TableError, {"values": "xyz"}),
        (TableError, {"values": {"HIV": 1, "Flu": 2, "Cold": 0}, "group": GROUP.assign(Cold=0.1)}),
        (TableError, {"group": [[0.5]], "values": ["x"]}),
        (BadProbability, {"group": GROUP * 1.5}),
        (BadProbability, {"group": GROUP * np.nan}),
        (TableError, {"group": GROUP.set_axis(["HIV", "HIV"], axis=1), "values": ["HIV"] * 3}),
        (TableError, {"group": GROUP.iloc[:0], "values": []}),
        (UnknownName, {"ties": {("Ann", "Dan"): TWO}}),
        (StatementError, {"ties": {("Ann", "Ann"): TWO}}),
        (StatementError, {"ties": {("Ann", "Bob"): TWO, ("Bob", "Eve"): TWO}}),
        (TableError, {"ties": {("Ann", "Bob"): 0.5}}),
        (TableError, {"ties": {("Ann", "Bob", "Eve"): TWO}}),
        (UnknownName, {"ties": {("Ann", "Bob"): TWO[["HIV"]]}}),
        (BadProbability, {"ties": {("Ann", "Bob"): TWO * np.nan}}),
        (StatementError, {"ties": [("Ann", "Bob")]}),
        (UnknownName, {"knowledge": ["Anne=HIV"]}),
        (UnknownName, {"knowledge": ["Ann=Flue"]}),
        (StatementError, {"group": GROUP.rename(index={"Eve": "Ann"}), **KNOWN}),
        (StatementError, {"ties": {("Ann", "Bob"): TWO}, **KNOWN}),
        (TableError, {"group": [[0.5]], "values": ["x"], **KNOWN}),
        (GroupTooLarge, WIDE),
        (GroupTooLarge, {**WIDE, "knowledge": ["0=1 or 1=2"]}),
        (GroupTooLarge, {**LONG, "knowledge": ["0=1 or 1=2"]}),
        (GroupTooLarge, {"limit": 1}),
        (GroupTooLarge, {"ties": {("Ann", "Bob"): TWO}, "limit": 5}),
    ],
)
def test_wrong_groups(error, change):
    arguments: dict[str, Any] = {"group": GROUP, "values": ["HIV", "Flu", "Flu"], **change}
    with pytest.raises(error):
        mx.worlds.posterior(**arguments)


@pytest.mark.parametrize(
    ("error", "group", "values", "who"),
    [
        (TableError, GROUP.set_axis(list("aab")), ["HIV", "Flu", "Flu"], ["a", "b"]),
        (GroupTooLarge, *LONG.values(), [0, 1]),
        (GroupTooLarge, pd.DataFrame(0.5, range(1100), ["a", "b"]), ["a", "b"] * 550, range(1100)),
    ],
)
def test_wrong_joint(error, group, values, who):
    """People must have different names, and the numbers of their worlds and combinations of values must be small."""
    with pytest.raises(error):
        mx.worlds.joint(group, values, who)


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (UnknownName, {"people": FIG_4, "knowledge": ["Eve=HIV"]}),
        (StatementError, {"knowledge": ["Eve=HIV"]}),
        (StatementError, {"attributes": "Gender"}),
        (BadProbability, {"limit": "x"}),
        (
            GroupTooLarge,
            {"people": FIG_4, "knowledge": ["exactly 2 of (Alice=HIV, Bob=HIV, Charlie=HIV)"], "limit": 50},
        ),
    ],
)
def test_wrong_linkage(release, error, options):
    with pytest.raises(error):
        mx.worlds.linkage(release, **options)


# -- releases ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def prior(hospital) -> QIDistribution:
    """Estimated from the hospital's own records."""
    return QIDistribution.estimate(hospital, qi=[["Gender"], ["Degree", "Gender"]], sa="Disease", smoothing=1)


def test_every_bucket_is_a_group(hospital, release, prior):
    """P(t : x) of a release is that of each of its buckets; r-robustness names where it is largest."""
    robust = mx.worlds.r_robustness(release, prior)
    assert len(robust) == len(hospital.groupby(["Bucket", "Disease"]))
    for name, bucket in hospital.groupby("Bucket"):
        largest = pd.Series(0.0, index=prior.values)
        for attributes in prior.attribute_sets:
            linkage = mx.worlds.linkage(release, prior, attributes).loc[name]
            alone = mx.worlds.posterior(prior.of(bucket, attributes), list(bucket["Disease"]))
            for (_, person), row in zip(bucket.iterrows(), alone.to_numpy(), strict=True):
                signature = tuple(person[a] for a in attributes)
                for value, p in zip(alone.columns, row, strict=True):
                    if value in set(bucket["Disease"]):
                        assert linkage[(*signature, value)] == pytest.approx(p, rel=1e-12)
            largest = largest.combine(alone.max(), max)
        for value, row in robust.loc[name].iterrows():
            assert row["largest"] == pytest.approx(largest[value], rel=1e-12)
            linkage = mx.worlds.linkage(release, prior, row["attributes"].split(", "))
            assert linkage[(name, *row["signature"], value)] == pytest.approx(row["largest"], rel=1e-12)
    np.testing.assert_allclose(robust["r"], 1 / robust["largest"])


def test_what_has_no_worlds(release, prior, hospital):
    """Only releases have buckets; a prior may exclude all worlds of one."""
    table = mx.QITable(hospital, qi=["Gender"], sa="Disease", sa_values=list(prior.values))
    for view in (3, table):
        with pytest.raises(StatementError):
            mx.worlds.r_robustness(view, prior)
    nobody = dict.fromkeys(prior.values, 0.0) | {"Flu": 1.0}
    with pytest.raises(Infeasible):
        mx.worlds.r_robustness(release, QIDistribution({"Gender": {"male": nobody, "female": nobody}}))
