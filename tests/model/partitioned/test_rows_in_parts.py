"""Rows that are emitted partition by partition are the rows of the whole, term by term."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.stats

import maxent_cvx as mx
from maxent_cvx import E, P
from maxent_cvx.model.partitioned.published_part import own_space
from support.parts import in_memory, in_parts, published, random_records, some_people, whole_of

SCORES = {"flu": 1, "hiv": 3, "lung": 0.1, "cold": 2}
#: What an adversary may say of the records of `support.parts`, by kind.
SAID: dict[str, Callable[[pd.DataFrame], Any]] = {
    "statement": lambda t: P("flu", given={"g": "m"}) == 0.3,
    "of several groups": lambda t: P(["flu", "hiv"], given={"g": "m", "d": ["a", "b"]}) <= 0.3,
    "vague": lambda t: P("hiv", given={"age": pd.Interval(15, 35)}).about(0.2, eps=0.1),
    "combination": lambda t: P("hiv", given={"g": "m"}) - 3 * P("flu", given={"d": "a"}) <= 0.25,
    "text": lambda t: "P(cold) = 0.2",
    "soft": lambda t: (P("flu", given={"g": "f"}) - P("flu", given={"d": "b"})).softly(0.1, sd=0.2),
    "mean": lambda t: E("s", values=SCORES, given={"g": "m"}) <= 2,
    "mean of a quasi-identifier": lambda t: E("age", given={"s": "flu"}) == 33,
    "mean among those of a value": lambda t: E("age", given={"s": "hiv", "g": "m"}) <= 33,
    "conditional": lambda t: lambda space: space.conditional("s", given="g") <= 0.9,
    "differences": lambda t: lambda space: space.conditional("s", given="d").loc["flu"].diff("d") >= -0.7,
    "two blocks": lambda t: lambda space: (
        space.conditional("s", given="g")["flu"] - space.conditional("s", given="d")["flu"].xs("a", level="d") <= 0.8
    ),
    "absolute": lambda t: lambda space: (
        abs(space.marginal(["s", "g"]).xs("m", level="g") - space.marginal(["s", "g"]).xs("f", level="g")) <= 0.6
    ),
    "every tuple": lambda t: lambda space: space.conditional("s", given="q") <= 0.95,
    "constraints of CVXPY": lambda t: lambda space: [
        space.prob("flu", {"g": "m"}) <= 0.8, cp.abs(space.prob("hiv", {"d": "a"}) - 0.3) <= 0.8
    ],
    "a published table of shares": lambda t: lambda space: (
        space.conditional("s", given="g").softly(pd.crosstab(t.g, t.s, normalize="index").stack(), weight=3)
    ),
    "noisy counts": lambda t: mx.NoisyMarginal(
        t.groupby(["g", "s"]).size() + 0.3, scipy.stats.laplace(scale=2), confidence=0.9
    ),
    "likelihood of noise": lambda t: mx.NoisyMarginal(
        t.groupby(["g", "s"]).size() * 1.0, scipy.stats.norm(scale=2), how="likelihood"
    ),
    "counts": lambda t: mx.AnsweredQueries([{"g": "m", "s": "flu"}, {"age": pd.Interval(15, 35)}], [3, 4], eps=20),
    "means": lambda t: mx.AnsweredQueries([{"g": "m"}, {"d": "a"}], [1.5, 2], of="mean", values=SCORES, eps=2),
    "monotone": lambda t: mx.Monotone(P("flu"), along="age"),
    "associations": lambda t: mx.StrongestAssociations(t, positive=3, negative=3),
    "table": lambda t: mx.PublishedTable(t.groupby(["g", "s"]).size().rename("n").reset_index()),
    "rules": lambda t: mx.PublishedRules(
        mx.disguise.mine_rules(t, qi=["g", "d"], sa="s", support=0.05, confidence=0.3)
    ),
    "rule list": lambda t: mx.PublishedRuleList(
        [({"g": "m"}, "flu", (t[t.g == "m"].s == "flu").mean()), ({}, "cold", None)]
    ),
    "quantile": lambda t: mx.PublishedQuantile(
        float(np.median(t[t.g == "m"].s.map(SCORES))), of="s", given={"g": "m"}, values=SCORES
    ),
    "mean and deviation": lambda t: mx.PublishedMoments(
        round(t[t.g == "m"].s.map(SCORES).mean(), 2), of="s", given={"g": "m"}, values=SCORES, decimals=2
    ),
    "covariance": lambda t: mx.Covariance("age", {"flu": 1, "hiv": 0, "lung": 0, "cold": 0}) >= -10,
    "correlation": lambda t: mx.PublishedCorrelation(
        0.1, ("age", {"flu": 1, "hiv": 0, "lung": 0, "cold": 0}), sd=0.4
    ),
    "largest": lambda t: mx.AnsweredQueries([{"g": "m"}], [2.6], of="max", values=SCORES, eps=0.5),
}  # fmt: skip
#: And of named people, p0, p1, ...
OF_PEOPLE: dict[str, Any] = {
    "person": P("flu", who="p0") <= 0.4,
    "number": mx.Count("flu", who=["p0", "p1", "p2"]) >= 0.5,
    "alike": mx.SameValue("p0", "p1", at_least=0.3),
    "everybody with a name": lambda space: space.conditional("s", given="who") <= 0.9,
}


def check(records: pd.DataFrame, said: list[Any], n: int, people: Any = None) -> None:
    """Compare what partitions emit with the model in memory, every number of which must be the same."""
    release, whole = published(records), whole_of(published(records), n, people)
    posed, (model, form) = in_parts(whole, said), in_memory(release, said, people)
    first, k = form.n_published, form.shape[0] - form.n_published
    names = [posed.shared.name(i) for i in range(k)]
    assert names == [form.name(first + i) for i in range(k)]
    roles, found = list(model.space.codes), []
    place = {term: i for i, term in enumerate(zip(*(model.space.codes[role].tolist() for role in roles), strict=True))}
    columns, of_whole = form.known.rows(np.arange(k)).toarray(), form.published.toarray()
    for part, own in zip(posed.parts, whole.parts, strict=True):
        codes = dict(own_space(own, whole.surroundings(frozenset())).codes)
        codes["q"] = own.q_numbers[codes["q"]]
        codes["bucket"] = release.buckets.get_indexer(own.buckets)[codes["bucket"]]
        at = np.array([place[term] for term in zip(*(codes[role].tolist() for role in roles), strict=True)])
        found += at.tolist()
        m = part.form.n_published
        assert np.array_equal(part.form.known.rows(np.arange(k)).toarray(), columns[:, at])
        there = np.abs(of_whole[:, at]).sum(axis=1) > 0
        rows = np.column_stack([form.low[:first], of_whole[:, at]])[there]
        mine = np.column_stack([part.form.low[:m], part.form.published.toarray()])
        assert sorted(map(tuple, mine)) == sorted(map(tuple, rows))
        assert np.array_equal(part.form.high[:m], part.form.low[:m])
        for side in ("low", "high", "scale", "side_error", "coefficient_error"):
            assert np.array_equal(getattr(part.form, side)[m:], getattr(form, side)[first:]), side
            assert np.array_equal(getattr(posed.shared, side), getattr(form, side)[first:]), side
        assert not part.form.side_error[:m].any()
        assert not form.side_error[:first].any()
        assert part.form.n_facts - m == posed.shared.n_facts == form.n_facts - first
        assert part.form.n_hard - m == posed.shared.n_hard == form.n_hard - first
        if form.penalties is not None:
            for one in (part.form.penalties, posed.shared.penalties):
                assert np.array_equal(one.variance, form.penalties.variance)
                assert np.array_equal(one.slope, form.penalties.slope)
        assert np.array_equal(part.form.weights, form.weights[at])
        counts, multipliers = part.closed_form
        assert np.array_equal(counts, model.posed.closed_form.counts[at])
        assert counts == pytest.approx(np.exp(part.form.published.T @ multipliers - 1) * part.form.weights)
        groups = model.posed.groups
        assert np.array_equal(part.groups.records[part.groups.of_term], groups.records[groups.of_term][at])
    assert sorted(found) == list(range(form.shape[1]))


@pytest.mark.parametrize("kind", SAID)
def test_rows_of_every_kind_are_those_of_the_whole(kind: str) -> None:
    """Side by side, the columns of partitions are those of the model in memory, to the last digit."""
    for seed, n in ((0, 1), (1, 3), (2, 7)):
        records = random_records(np.random.default_rng(seed))
        check(records, [SAID[kind](records)], n)
        check(records, [SAID[kind](records)], n, some_people(records))


@pytest.mark.parametrize("kind", OF_PEOPLE)
def test_rows_of_named_people_are_those_of_the_whole(kind: str) -> None:
    """The terms of a person are in all buckets of their quasi-identifiers, in whatever partition."""
    for seed in range(4):
        records = random_records(np.random.default_rng(seed))
        check(records, [OF_PEOPLE[kind]], 1 + 2 * seed, some_people(records))


@pytest.mark.parametrize("seed", range(6))
def test_many_sources_together_are_in_the_order_of_the_model_in_memory(seed: int) -> None:
    """Facts come first, then hard rows by source, then soft ones."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    said = [SAID[kind](records) for kind in rng.permutation(list(SAID))[:8]]
    check(records, said, 1 + seed, some_people(records) if seed % 2 else None)
