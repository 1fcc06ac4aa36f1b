"""Divergences from the truth."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, MaxEnt, P, PublishedRules, StatementError, TableError, UnknownName
from maxent_cvx.measures.accuracy import (
    estimation_accuracy,
    individual_divergence,
    individual_entropy,
    overall_divergence,
    term_divergence,
    top_differences,
)
from support.rules import EXAMPLE_2, people_of
from support.rules import QI as RULE_QI
from support.series import patients
from support.strategies import microdata, publish, quasi, tally

QI = ["Gender", "Degree"]


def shares(frame: pd.DataFrame, post: mx.Posterior) -> list[tuple[dict, int, list[tuple[float, float]]]]:
    """Every QI tuple, its number of people, and (P, P*) for each of their sensitive values, counted by hand."""
    qi, sa = list(post.space.view.qi), post.space.view.sa
    joint = tally(frame, [*qi, sa])
    rows = []
    for q, people in sorted(tally(frame, qi).items(), key=str):
        given = dict(zip(qi, q, strict=True))
        pairs = [(n / people, post.prob(key[-1], given)) for key, n in joint.items() if key[:-1] == q]
        rows.append((given, people, pairs))
    return rows


def kullback_leibler(pairs: list[tuple[float, float]], base: float) -> float:
    return sum(p * math.log(p / inferred, base) for p, inferred in pairs)


@given(microdata(), st.sampled_from([2, math.e, 10]))
def test_divergences(frame, base):
    """The divergence of a QI tuple is sum P(s|q) log P(s|q) / P*(s|q), the overall one its mean over people.

    Privacy-MaxEnt, section 7.1.
    """
    post = mx.MaxEnt(publish(frame)).solve()
    divergence = individual_divergence(post, frame, base)
    assert divergence.index.equals(post.conditional().index)
    weighted = 0.0
    for q, people, pairs in shares(frame, post):
        label = tuple(q.values()) if len(q) > 1 else next(iter(q.values()))
        assert divergence.loc[label] == pytest.approx(kullback_leibler(pairs, base), abs=1e-12)
        weighted += divergence.loc[label] * people / len(frame)
    assert overall_divergence(post, frame, base) == pytest.approx(weighted, abs=1e-12)
    assert estimation_accuracy(post, frame) == overall_divergence(post, frame, 2)


def test_false_knowledge_has_an_infinite_divergence(hospital, release):
    """Section 3.1's knowledge is false of Cathy and David in Fig. 1(a): their divergence is infinite."""
    post = mx.MaxEnt(release).solve()
    assert np.isfinite(individual_divergence(post, hospital)).all()
    model = mx.MaxEnt(release)
    model.add(P("Breast Cancer", given={"Gender": "female", "Degree": "college"}) == 0)  # P(s1 | q2) = 0
    model.add(P(["Breast Cancer", "Flu"], given={"Gender": "male", "Degree": "high school"}) == 0)  # P(s1 or s2 | q3)
    post = model.solve()
    divergence = individual_divergence(post, hospital)
    assert set(divergence[np.isposinf(divergence)].index) == {("female", "college"), ("male", "high school")}
    assert not divergence.isna().any()
    assert overall_divergence(post, hospital) == math.inf
    assert term_divergence(post, hospital) == math.inf


@given(microdata(), st.integers(0, 6), st.integers(0, 6))
def test_term_divergence_is_a_difference_of_entropies(frame, positive, negative):
    """With true equations as knowledge, the divergence over the terms is H(P*) - H(truth)."""
    mined = mx.mine_associations(frame, qi=quasi(frame), sa="S", min_support=1)
    bounds = min(positive, len(mined.positive)), min(negative, len(mined.negative))
    post = mx.MaxEnt(publish(frame)).add(mx.StrongestAssociations(mined, *bounds)).solve()
    cells = tally(frame, [*quasi(frame), "S", "K"]).values()
    h_truth = -sum(n / len(frame) * math.log(n / len(frame)) for n in cells)
    assert term_divergence(post, frame, math.e) == pytest.approx(post.entropy - h_truth, abs=1e-6)
    assert term_divergence(post, frame) == pytest.approx((post.entropy - h_truth) / math.log(2), abs=1e-6)


def test_wrong_arguments(hospital, release):
    """The original is the table of the release, and the base of the logarithm is above 1."""
    post = mx.MaxEnt(release).solve()
    for column, value in [("Degree", "graduate"), ("Disease", "HIV"), ("Disease", "Gout")]:
        other = hospital.assign(**{column: hospital[column].where(hospital["Name"] != "Grace", value)})
        with pytest.raises(TableError):
            overall_divergence(post, other)
    with pytest.raises(UnknownName):
        overall_divergence(post, hospital.drop(columns="Gender"))
    for measure in (overall_divergence, individual_divergence, term_divergence):
        with pytest.raises(BadProbability):
            measure(post, hospital, 1)


@pytest.fixture
def inferred() -> list[mx.Posterior]:
    """Example 2 with non-rules, and without."""
    rules = mx.anonymize.mine_rules(EXAMPLE_2, qi=RULE_QI, sa="Salary", support=0.6, confidence=0.9)
    return [MaxEnt(people_of(EXAMPLE_2)).add(PublishedRules(rules, non_rules=n)).solve() for n in (True, False)]


def test_example_2(inferred):
    """Non-rules expose the third person, and nobody else: the divergence falls from log 2 to 0."""
    table = top_differences(*inferred, EXAMPLE_2, base=math.e)
    assert table.index[0] == ("Masters", "Female")
    assert table["divergence", "difference"].tolist() == pytest.approx([math.log(2), 0, 0])
    first = table.iloc[0]
    assert first["original", "50K-"] == first["first", "50K-"] == 1
    assert first["second", "50K-"] == pytest.approx(0.5)
    assert len(top_differences(*inferred, EXAMPLE_2, k=1)) == 1
    assert top_differences(*inferred, EXAMPLE_2, k=1)["divergence", "difference"].item() == pytest.approx(1)  # bits


def test_wrong_arguments_of_top_differences(inferred):
    """Both posteriors must be of the same people and values."""
    other = MaxEnt(people_of(pd.concat([EXAMPLE_2, EXAMPLE_2]))).solve()
    wider = MaxEnt(mx.QITable(EXAMPLE_2, qi=RULE_QI, sa="Salary", sa_values=["50K+", "50K-", "0"])).solve()
    for second, k in ((other, 3), (wider, 3), (inferred[1], 0)):
        with pytest.raises(StatementError):
            top_differences(inferred[0], second, EXAMPLE_2, k=k)


def test_individual_entropy(release):
    """H(S | q) of every QI tuple follows its definition, and its mean is H(S | Q) (Re-publishing, Eq. (1))."""
    post = mx.MaxEnt(release).solve()
    p = post.conditional()
    expected = -(p * np.log(p.where(p > 0, 1))).sum(axis=1)
    pd.testing.assert_series_equal(individual_entropy(post), expected, check_names=False)
    pd.testing.assert_series_equal(individual_entropy(post, base=2), expected / math.log(2), check_names=False)
    series = mx.MaxEnt(patients()).solve()  # of everybody, by pseudonym
    assert individual_entropy(series).mean() == pytest.approx(series.entropy)


def test_exact_records_of_a_generalised_release_are_found_in_their_cells():
    """Measures of the exact records are those of their cells; records in no cell, or in two, are refused."""
    exact = pd.DataFrame({"age": [20, 21, 25, 30, 31, 38], "zip": [1, 2, 2, 2, 1, 2], "s": list("xxyxyy")})
    cells = exact.assign(age=np.where(exact["age"] < 30, "20-29", "[30, 40)"), zip="*")
    release = mx.Release.from_generalized(cells, qi=["age", "zip"], sa="s")
    knows = mx.MaxEnt(release).solve()
    for measure in (overall_divergence, term_divergence):
        assert measure(knows, exact) == pytest.approx(measure(knows, cells)) == pytest.approx(0)
    assert mx.measures.exposed(knows, 0.6, exact).attack_success == pytest.approx(2 / 3)
    without_her = [mx.measures.exposed(knows, 0.6, table, baseline="without her") for table in (exact, cells)]
    assert without_her[0].people == without_her[1].people == 4
    mined = [mx.MaxEnt(release).add(mx.StrongestAssociations(table, 1, 0, min_support=1)) for table in (exact, cells)]
    assert [*mined[0].knowledge] == [*mined[1].knowledge]
    assert mined[0].solve().conditional().equals(mined[1].solve().conditional())
    for age in (19, 45):
        with pytest.raises(TableError):
            overall_divergence(knows, exact.assign(age=[age, *exact["age"][1:]]))
    overlapping = cells.assign(age=["20-31"] * 3 + ["30-40"] * 3)
    post = mx.MaxEnt(mx.Release.from_generalized(overlapping, qi=["age", "zip"], sa="s")).solve()
    with pytest.raises(TableError):  # 30 and 31 are in both cells
        overall_divergence(post, exact)


def test_records_of_a_population():
    """People who are not in the release have the value of that name; without them, the error says what to pass."""
    records = pd.DataFrame({"age": ["20-29"] * 2, "s": ["x", "y"]})
    voters = pd.DataFrame({"age": [20, 21, 25, 29]})
    post = mx.MaxEnt(mx.Release.from_generalized(records, qi="age", sa="s", population=voters)).solve()
    outside = "(not in the release)"
    everybody = pd.DataFrame({"age": [20, 21, 25, 29], "s": ["x", "y", outside, outside]})
    assert overall_divergence(post, everybody) == pytest.approx((2 + 2 + 1 + 1) / 4)  # P = 1/4, 1/4 and 1/2
    assert mx.measures.exposed(post, original=everybody).attack_success == pytest.approx(1 / 2)
    for measure in (overall_divergence, mx.measures.exposed):
        with pytest.raises(TableError, match=re.escape(outside)):
            measure(post, original=everybody.head(2))
