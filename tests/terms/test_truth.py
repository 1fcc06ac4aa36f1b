"""The original records, counted over terms and over pairs, and what is no original of a view."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import maxent_cvx as mx
from maxent_cvx import MaxEnt, TableError, UnknownName
from maxent_cvx.terms.people import count_pairs
from support.helpers import refused
from support.strategies import microdata, publish, quasi

PUBLISHED = "pass the table that was published"


@given(microdata())
def test_pairs_are_sums_of_terms(frame):
    """n(q, s) is the sum of the counts of the terms over buckets, and how often the pair is in the table."""
    view = publish(frame)
    space = MaxEnt(view).space
    pairs = count_pairs(view, frame)
    at = space.codes["q"] * len(view.sensitive_values) + space.codes["s"]
    assert np.bincount(at, space.count(frame), pairs.size).tolist() == pairs.ravel().tolist()
    tallied = frame.groupby([*quasi(frame), "S"], observed=True).size()
    for i, j in zip(*np.nonzero(pairs), strict=True):
        assert tallied[(*view.quasi_identifiers[i], view.sensitive_values[j])] == pairs[i, j]


#: What is no original of the hospital's release, and what is said of it in both ways to count.
WRONG = [
    (lambda table: table.head(9), "the 9 original records are 1 fewer than the 10 people of the release"),
    (lambda table: table.head(1), "the 1 original records are 9 fewer than the 10 people"),
    (lambda table: pd.concat([table, table.head(3)]), "the 13 original records are 3 more than the 10 people"),
    (lambda table: pd.concat([table] * 2).replace("junior", "senior"), "the 20 original records are 10 more"),
    (lambda table: table.replace("junior", "senior"), "are not in the release of 10 people"),
    (lambda table: table.replace("HIV", "Gout"), "are not in the release of 10 people"),
]


@pytest.mark.parametrize(("change", "says"), WRONG)
@pytest.mark.parametrize("measure", ["overall_divergence", "term_divergence"])
def test_other_records(release, hospital, change, says, measure):
    """Too few, too many and unknown records are each told as what they are, with and without buckets."""
    with refused(TableError, says, PUBLISHED):
        getattr(mx.measures, measure)(MaxEnt(release).solve(), change(hospital))


def test_only_terms_need_buckets(release, hospital):
    """Pairs are counted without the column of buckets, which terms need."""
    without = hospital.drop(columns="Bucket")
    assert count_pairs(release, without).sum() == 10
    with refused(UnknownName, "'Bucket'"):
        MaxEnt(release).space.count(without)
