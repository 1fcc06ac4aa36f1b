"""Whom two inferences tell apart most (Published rules, section VI.C, Fig. 7(a))."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, PublishedRules, StatementError
from maxent_cvx.measures.accuracy import top_differences
from support.helpers import refused
from support.rules import EXAMPLE_2, QI, people_of


@pytest.fixture
def inferred() -> list[mx.Posterior]:
    """Example 2 with non-rules, and without."""
    rules = mx.anonymize.mine_rules(EXAMPLE_2, qi=QI, sa="Salary", support=0.6, confidence=0.9)
    return [MaxEnt(people_of(EXAMPLE_2)).add(PublishedRules(rules, non_rules=n)).solve() for n in (True, False)]


def test_example_2(inferred):
    """What is not published exposes the third person, and nobody else: from log 2 to 0."""
    table = top_differences(*inferred, EXAMPLE_2, base=math.e)
    assert table.index[0] == ("Masters", "Female")
    assert table["divergence", "difference"].tolist() == pytest.approx([math.log(2), 0, 0])
    first = table.iloc[0]
    assert first["original", "50K-"] == first["first", "50K-"] == 1
    assert first["second", "50K-"] == pytest.approx(0.5)
    assert len(top_differences(*inferred, EXAMPLE_2, k=1)) == 1
    assert top_differences(*inferred, EXAMPLE_2, k=1)["divergence", "difference"].item() == pytest.approx(1)  # bits


def test_two_ways_to_be_wrong(inferred):
    """Two infinite divergences do not differ; one that becomes finite differs by all there is."""
    table = people_of(EXAMPLE_2)
    wrong = MaxEnt(table).add("P(50K+ | Education=Masters) = 1").solve()
    found = top_differences(inferred[0], wrong, EXAMPLE_2)
    assert found["divergence", "difference"].iloc[0] == math.inf
    assert top_differences(wrong, wrong, EXAMPLE_2)["divergence", "difference"].eq(0).all()


def test_other_people(inferred):
    """Posteriors of other people, or other values, are not compared."""
    other = MaxEnt(people_of(pd.concat([EXAMPLE_2, EXAMPLE_2]))).solve()
    with refused(StatementError, "different people"):
        top_differences(inferred[0], other, EXAMPLE_2)
    wider = MaxEnt(mx.QITable(EXAMPLE_2, qi=QI, sa="Salary", sa_values=["50K+", "50K-", "0"])).solve()
    with refused(StatementError, "sensitive values"):
        top_differences(inferred[0], wider, EXAMPLE_2)
    with refused(StatementError, "k=0"):
        top_differences(*inferred, EXAMPLE_2, k=0)
