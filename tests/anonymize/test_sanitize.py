"""Sanitized rules: the rules that are withheld so that a limit is met (Published rules, section VII, future work)."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, PublishedRules, StatementError
from maxent_cvx.anonymize import rules as module
from maxent_cvx.anonymize.rules import sanitize
from support.rules import EXAMPLE_1, QI, people_of, random_table
from support.solving import examples

seeds = st.integers(0, 10**6)


def mined(frame=EXAMPLE_1, support=0.3, confidence=0.8) -> mx.RuleSet:
    qi = [column for column in frame if column not in ("S", "Salary")]
    return mx.anonymize.mine_rules(frame, qi=qi, sa=frame.columns[-1], support=support, confidence=confidence)


def surest(post: mx.Posterior) -> float:
    return post.conditional().to_numpy().max()


def test_example_1():
    """With a limit of 0.9, 'all female doctorates earn more' is withheld."""
    table = people_of(EXAMPLE_1)
    sanitized = sanitize(mined(), table, max_p=0.9)
    assert "Education=Doctorate, Gender=Female => 50K+" in sanitized.withheld.index
    assert not sanitized.rules.complete
    assert sanitized.measure == pytest.approx(surest(sanitized.posterior))
    assert sanitized.measure <= 0.9 + 1e-6
    again = MaxEnt(table).add(PublishedRules(sanitized.rules, non_rules=False)).solve()
    pd.testing.assert_frame_equal(again.conditional(), sanitized.posterior.conditional(), atol=1e-5)
    assert f"{len(sanitized.rules)} of 5 rules" in repr(sanitized)


@given(
    seed=seeds,
    limit=st.sampled_from([0.5, 0.7, 0.9]),
    step=st.integers(1, 3),
    scores=st.sampled_from([None, "support"]),
)
def test_the_limit_is_met(seed: int, limit: float, step: int, scores: str | None):
    """The published rules meet the limit, and not with the first rule that is withheld."""
    frame = random_table(np.random.default_rng(seed))
    assume(frame["S"].nunique() > 1)  # a value that everybody has needs no rule to be sure of
    qi = [column for column in frame if column != "S"]
    rules = mx.anonymize.mine_rules(frame, qi=qi, sa="S", support=0.2, confidence=0.5)
    table = people_of(frame, qi, "S")
    sanitized = sanitize(rules, table, max_p=limit, scores=scores, step=step, progress=False)

    def measured(kept: set[str]) -> float:
        some = rules.at(rules.table.index.isin(kept)).incomplete()
        return surest(MaxEnt(table).add(PublishedRules(some, scores, non_rules=False)).solve())

    assert set(sanitized.rules.table.index) | set(sanitized.withheld.index) == set(rules.table.index)
    if sanitized.rules.complete:
        return
    kept = set(sanitized.rules.table.index)
    assert measured(kept) <= limit + 2e-6
    if len(sanitized.withheld):
        assert measured(kept | {sanitized.withheld.index[0]}) > limit


@examples(6)
@given(seed=seeds, share=st.floats(0.1, 0.9))
def test_divergence_is_reached(seed: int, share: float):
    """Any divergence between those of all rules and of no rules is reached."""
    frame = random_table(np.random.default_rng(seed))
    qi = [column for column in frame if column != "S"]
    rules, table = mx.anonymize.mine_rules(frame, qi=qi, sa="S", support=0.2, confidence=0.5), people_of(frame, qi, "S")
    ends = [
        mx.measures.overall_divergence(model.solve(), frame)
        for model in (MaxEnt(table).add(PublishedRules(rules, scores="confidence")), MaxEnt(table))
    ]
    limit = (1 - share) * ends[0] + share * ends[1]
    sanitized = sanitize(rules, table, divergence=limit, original=frame, scores="confidence", progress=False)
    assert sanitized.measure >= limit - 1e-6


def test_gains_are_derivatives():
    """The pull of a row is the derivative of log P(x | q) by its multiplier, as a finite difference."""
    table, rules = people_of(EXAMPLE_1), mined(support=0.1, confidence=0.4)
    post = MaxEnt(table).add(PublishedRules(rules, scores="confidence", non_rules=False, integer=False)).solve()
    table_ = post.table + 0.1  # somewhere inside, where nobody is certain
    people = table_.sum(axis=1)
    inside = mx.Posterior(
        post.space, (table_ * (table.n_q / people)[:, None]).ravel(), post.certificate, post.status, "", 0, 0.0, 0.0
    )
    rows = post.model.blocks.by_label["published rule"]
    for limit in (0.4, 0.6):
        p = inside.conditional().to_numpy()
        above = p > limit
        result = module.pull(inside, rows, np.ones(len(rows)), limit)
        for i in range(len(rows)):
            step = 1e-6 * rows.matrix[[i]].toarray().ravel()
            moved = (inside.counts * np.exp(step)).reshape(p.shape)
            log = np.log(moved / moved.sum(axis=1, keepdims=True)) - np.log(p)
            assert result[i] == pytest.approx((table.n_q[:, None] * log)[above].sum() / 1e-6, abs=1e-4)


@pytest.mark.parametrize(
    "change",
    [
        {"divergence": 0.1},
        {"max_p": None, "divergence": 0.1},
        {"step": 0},
        {"max_p": 0},
        {"view": EXAMPLE_1},
        {"rules": mined().table},
    ],
    ids=str,
)
def test_wrong_arguments(change):
    arguments = {"rules": mined(), "view": people_of(EXAMPLE_1), "max_p": 0.9, **change}
    with pytest.raises(StatementError):
        sanitize(arguments.pop("rules"), arguments.pop("view"), **arguments)


@pytest.mark.parametrize("scores", [[], ["support"], ["confidence"], ["support", "confidence"]])
def test_only_the_given_scores_are_published(scores):
    """Scores are published only if the limit was met with them."""
    frame = pd.DataFrame({"A": ["a"] * 10 + ["b"] * 10, "S": ["y"] * 15 + ["n"] * 5})
    table = people_of(frame, "A", "S")
    sanitized = sanitize(mx.anonymize.mine_rules(frame, qi="A", sa="S", support=0.3, confidence=0.6), table, max_p=0.8)
    assert "confidence" not in sanitized.rules.table
    published = sanitize(mined(), people_of(EXAMPLE_1), max_p=0.99, scores=scores).rules.table
    assert set(published) == {*QI, "Salary", *scores}
    both = sanitize(mined(), people_of(EXAMPLE_1), max_p=0.99, scores="confidence", decimals=1).rules.table
    assert set(both) == {*QI, "Salary", "confidence"}
    assert (both["confidence"] == both["confidence"].round(1)).all()


def test_convex_knowledge():
    """Multipliers of a model with a convex constraint are refused."""
    model = MaxEnt(people_of(EXAMPLE_1)).add(lambda space: [cp.sum_squares(space.counts) <= 1e6])
    post = model.add(PublishedRules(mined(), non_rules=False), label=module.LABEL).solve(allow_inaccurate=True)
    with pytest.raises(mx.SolverError):
        module.multipliers_of(post, module.LABEL)
