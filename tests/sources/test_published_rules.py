"""Inferences from published rules and from their absence (Published rules, sections I.A and V)."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import maxent_cvx as mx
from maxent_cvx import Infeasible, MaxEnt, P, PublishedRules, RuleSet, StatementError
from support.helpers import refused
from support.rules import EXAMPLE_1, EXAMPLE_2, QI, correlated_table, is_rule, patterns, people_of, random_table

seeds = st.integers(0, 10**6)
#: Thresholds as they are typed; many are hit exactly by small tables.
SHARES = ("0.1", "0.2", "0.25", "0.3", "0.5", "0.6", "0.75", "0.9", "1")


def mined(frame=EXAMPLE_1, support=0.3, confidence=0.8, strict=True) -> RuleSet:
    return mx.anonymize.mine_rules(frame, qi=QI, sa="Salary", support=support, confidence=confidence, strict=strict)


def random_rules(seed: int, s: str, c: str, *, strict: bool = False):
    """A random table, its rules, and its QI table."""
    frame = random_table(np.random.default_rng(seed))
    qi = [column for column in frame if column != "S"]
    rules = mx.anonymize.mine_rules(frame, qi=qi, sa="S", support=float(s), confidence=float(c), strict=strict)
    return frame, rules, people_of(frame, qi, "S")


def solve(rules: RuleSet, table: mx.QITable, **options) -> pd.DataFrame:
    return MaxEnt(table).add(PublishedRules(rules, **options)).solve().conditional()


def test_example_1():
    """One of two male doctorates earns more than 50K, and all female ones do: from scores, or thresholds (Example 1)."""
    for scores, non_rules in itertools.product([None, "confidence", "support"], [False, True]):
        p = solve(mined(), people_of(EXAMPLE_1), scores=scores, non_rules=non_rules)["50K+"]
        assert p["Doctorate", "Female"] == pytest.approx(1)
        assert p["Doctorate", "Male"] == pytest.approx(0.5)
    # The scores as Fig. 1(b) prints them, to two decimals, leave no other number of people either.
    said = {"scores": ["confidence", "support"], "decimals": 2, "non_rules": False}
    p = solve(mined().rounded(2), people_of(EXAMPLE_1), **said)["50K+"]
    assert p["Doctorate", "Male"] == pytest.approx(0.5)
    assert p["Masters", "Female"] == pytest.approx(0.8)


def test_example_2():
    """The third person earns 50K-, because Gender=Female => 50K+ is not published (Example 2)."""
    rules, table = mined(EXAMPLE_2, 0.6, 0.9, strict=False), people_of(EXAMPLE_2)
    post = MaxEnt(table).add(PublishedRules(rules)).solve()
    assert post.conditional()["50K+"].tolist() == pytest.approx([1, 1, 0])
    because = post.certain()["because"]["P(50K- | Education=Masters, Gender=Female)"]
    assert because == ["published rule: Education=Doctorate => 50K+", "no rule: Gender=Female => 50K+"]
    # From the rule alone, or if people may be divided, nothing is certain of the third person.
    assert solve(rules, table, non_rules=False).loc[("Masters", "Female"), "50K+"] == pytest.approx(0.5)
    divided = MaxEnt(table).add(PublishedRules(rules, integer=False))
    assert divided.bounds("P(50K+ | Education=Masters)")[1] > 0.7


@given(seed=seeds, s=st.sampled_from(SHARES), c=st.sampled_from(SHARES), strict=st.booleans())
def test_rows_are_those_of_every_table_with_these_rules(seed: int, s: str, c: str, strict: bool):
    """An assignment of values to people satisfies all rows if, and only if, it has the same rules.

    All assignments of six people are tried.
    """
    frame = random_table(np.random.default_rng(seed)).iloc[:6]
    qi, values = [column for column in frame if column != "S"], np.array(sorted(frame["S"].unique()))
    rules = mx.anonymize.mine_rules(frame, qi=qi, sa="S", support=float(s), confidence=float(c), strict=strict)
    model = MaxEnt(people_of(frame, qi, "S")).add(PublishedRules(rules))
    every = np.array(list(itertools.product(range(len(values)), repeat=len(frame))))

    described = {given_ for given_, _ in patterns(frame)}
    inside = np.array([np.logical_and.reduce([frame[name] == label for name, label in some]) for some in described])
    n_q = inside.sum(axis=1)
    decide = functools.cache(lambda n_q, n_qx: is_rule(n_q, n_qx, len(frame), s, c, strict=strict))
    is_one = np.vectorize(decide, otypes=[bool])
    results = [is_one(n_q, (every == x).astype(int) @ inside.T.astype(int)) for x in range(len(values))]
    truth = np.array([list(values).index(label) for label in frame["S"]])
    at = (every == truth).all(axis=1).argmax()
    same = np.logical_and.reduce([(flags == flags[at]).all(axis=1) for flags in results])

    q = model.view.quasi_identifiers.get_indexer(pd.MultiIndex.from_frame(frame[qi]))
    counts = np.zeros((len(every), len(model.space)))
    for person, tuple_ in enumerate(q):  # terms are sorted by QI tuple, then value
        np.add.at(counts, (np.arange(len(every)), tuple_ * len(values) + every[:, person]), 1)
    sums = counts @ model.form.matrix.toarray().T
    holds = ((sums >= model.form.low - 1e-9) & (sums <= model.form.high + 1e-9)).all(axis=1)
    assert np.array_equal(holds, same)


@given(
    seed=seeds,
    s=st.sampled_from(SHARES),
    c=st.sampled_from(SHARES),
    integer=st.booleans(),
    scores=st.sampled_from([None, "confidence", "support"]),
)
def test_pruning_changes_nothing(seed: int, s: str, c: str, integer: bool, scores: str | None):
    """Theorem 3: with all non-rules, and with those that pruning leaves, the posterior is the same."""
    frame, rules, table = random_rules(seed, s, c)
    pruned = PublishedRules(rules, scores=scores, integer=integer)
    every = PublishedRules(rules, scores=scores, integer=integer, prune=False)
    models = [MaxEnt(table).add(source) for source in (pruned, every)]
    post = [model.solve() for model in models]
    np.testing.assert_allclose(post[0].conditional(), post[1].conditional(), atol=2e-5)
    counts = pruned.counts
    assert counts.nar_binding <= counts.nar_pruned <= counts.nar
    assert counts.ar + counts.nar == len(patterns(frame))
    assert every.counts.nar == counts.nar
    assert every.counts.nar_pruned == counts.nar_pruned
    # Every row of the whole holds in all distributions that satisfy the pruned ones: the least and largest say so.
    rows = models[1].form
    assert rows.shape[0] >= models[0].form.shape[0]
    assert (rows.residual(post[0].counts) < 1e-6).all()


def test_pruning_by_hand():
    """Example 1 has nine patterns Q with two values each, and three rules, which leaves 15.

    Of Bachelors (1 of 12) and Male (3) c P(Q) <= s, so that Theorem 3 prunes Bachelors and Male, Doctorate and Male:
    11. Three or fewer people are below the bound of four in any case: 7. And all Masters are Female: 5.
    """
    source = PublishedRules(mined())
    MaxEnt(people_of(EXAMPLE_1)).add(source)
    assert source.counts.to_dict() == {"ar": 3, "nar": 15, "nar_pruned": 11, "nar_binding": 5}


def test_theorem_2():
    """If every combination occurs there are |SA| ((1 + k)^m - 1) patterns: Eq. (7), here with m = 3 and k = 2."""
    frame = pd.DataFrame(list(itertools.product("ab", "ab", "ab", "xy")), columns=["Q0", "Q1", "Q2", "S"])
    rules = mx.anonymize.mine_rules(frame, qi=["Q0", "Q1", "Q2"], sa="S", support=0.5, confidence=0.9)
    source = PublishedRules(rules)
    MaxEnt(people_of(frame, ["Q0", "Q1", "Q2"], "S")).add(source)
    assert source.counts.ar + source.counts.nar == 2 * (3**3 - 1)


@pytest.mark.parametrize("seed", [80, 158])
def test_hundreds_of_exact_scores(seed: int):
    """Exact scores are integers that imply each other: P is certified, and 0 only where a linear program allows no more."""
    frame = correlated_table(seed)
    qi = [column for column in frame if column != "S"]
    rules = mx.anonymize.mine_rules(frame, qi=qi, sa="S", support=0.03, confidence=0.6)
    model = MaxEnt(people_of(frame, qi, "S")).add(PublishedRules(rules, scores="confidence", non_rules=False))
    post, truth = model.solve(), model.space.count(frame)
    assert len(rules) > 150
    assert post.certificate.bound < 1e-6
    zero, rows = post.counts < 1e-9, model.form
    assert post.counts[truth > 0].min() > 0
    equations = rows.low == rows.high
    assert np.array_equal(rows.low[equations], np.rint(rows.low[equations]))
    inequalities = sp.vstack([rows.matrix[~equations], -rows.matrix[~equations]])
    sides = np.concatenate([rows.high[~equations], -rows.low[~equations]])
    at_most = linprog(
        -zero.astype(float), inequalities[np.isfinite(sides)], sides[np.isfinite(sides)], rows.matrix[equations],
        rows.low[equations],
    )  # fmt: skip
    assert zero.any()
    assert -at_most.fun < 1e-6


def test_rules_beside_other_sources():
    """Rules, a release of the same people, background knowledge and names hold together in one model (section II)."""
    frame = EXAMPLE_1.assign(Bucket=np.arange(12) % 3)
    release = mx.Release.from_buckets(frame, qi=QI, sa="Salary", bucket="Bucket")
    model = MaxEnt(release, people={"Ann": {"Education": "Masters", "Gender": "Female"}})
    entropy = [model.solve().entropy]
    for source in (PublishedRules(mined()), P("50K+", given={"Gender": "Male"}) <= 0.4, P("50K-", who="Ann") == 1):
        entropy.append(model.add(source).solve().entropy)
    assert (np.diff(entropy) < 1e-6).all()
    assert entropy[0] - entropy[1] > 0.2 < entropy[2] - entropy[3]
    truth = model.space.count(frame.assign(Name=["", "Ann", *map(str, range(10))]), id="Name")
    assert (model.form.residual(truth) < 1e-9).all()
    post = model.solve()
    assert post.people().loc["Ann", "50K-"] == pytest.approx(1)
    assert post.conditional().loc[("Doctorate", "Male"), "50K+"] == pytest.approx(0.5)


@given(seed=seeds, s=st.sampled_from(SHARES), c=st.sampled_from(SHARES), strict=st.booleans())
def test_one_convention_is_not_taken_for_the_other(seed: int, s: str, c: str, strict: bool):
    """Read under the other convention, a complete set with scores is refused only if it is not the set of that."""
    frame, rules, table = random_rules(seed, s, c, strict=strict)
    roles = {"qi": list(rules.qi), "sa": "S", "support": float(s), "confidence": float(c), "strict": not strict}
    other, wrong = mx.anonymize.mine_rules(frame, **roles), RuleSet(rules.table, **roles, complete=True)
    try:
        assert MaxEnt(table).add(PublishedRules(wrong, scores="confidence")).solve().certificate.holds
    except mx.MaxEntError:
        assert set(other.table.index) != set(rules.table.index)


def rule_set(table: pd.DataFrame, confidence: float = 0.8, **options) -> RuleSet:
    return RuleSet(table, qi=QI, sa="Salary", support=0.3, confidence=confidence, **options)


def test_rules_that_are_not_true_of_the_people():
    """Rules, scores and thresholds that contradict the people, or each other, are errors."""
    complete, printed = mined(confidence=0.4, strict=False).table, mined().rounded(2)
    holed = complete[complete.index != "Education=Doctorate => 50K+"]
    few = pd.DataFrame({"Education": ["Bachelors"], "Gender": [None], "Salary": ["50K-"]})
    by_at_least = rule_set(mined().table, complete=True)
    for error, rules, options in [
        # 4 of 5 Masters have the confidence 0.8: by >= that is a rule, and its absence would be false.
        (Infeasible, by_at_least, {}),
        (Infeasible, by_at_least, {"scores": "confidence"}),
        # One of twelve people has less support than 0.3.
        (Infeasible, rule_set(few, strict=True), {"non_rules": False}),
        # 8 of 9 is not 0.89 without decimals=2, nor is 0.9.
        (StatementError, printed, {"scores": "confidence"}),
        (StatementError, printed, {"scores": "confidence", "decimals": 1}),
        (Infeasible, rule_set(printed.table.assign(confidence=0.9)),
         {"scores": "confidence", "decimals": 2, "non_rules": False}),
        # If female doctorates have the support, all doctorates have, and a confidence of 0.4 needs no more.
        (StatementError, rule_set(holed, 0.4, complete=True), {}),
    ]:  # fmt: skip
        with refused(error):
            MaxEnt(people_of(EXAMPLE_1)).add(PublishedRules(rules, **options))
