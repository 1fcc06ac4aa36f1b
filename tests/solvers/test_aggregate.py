"""Aggregation changes the size of a problem, and neither its answer nor its multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import MaxEnt, Statement
from maxent_cvx.solvers.aggregate import Aggregation, aggregate
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.newton import newton
from maxent_cvx.solvers.presolve import reduce
from support.problems import p, publish
from support.random_models import publish as publish_records
from support.random_models import random_records, true_statements

seeds = st.integers(0, 10**6)


def repetitive(seed: int, statements: int = 3) -> tuple[MaxEnt, pd.DataFrame]:
    """Draw a model with many interchangeable terms: buckets published up to five times, repeated records."""
    rng = np.random.default_rng(seed)
    records = random_records(rng, buckets=(1, 3))
    copies = [records.assign(Bucket=records["Bucket"] + 10 * i) for i in range(int(rng.integers(1, 6)))]
    every = pd.concat([pd.concat(copies)] * int(rng.integers(1, 3)), ignore_index=True)
    model = MaxEnt(publish_records(every))
    for statement in true_statements(rng, every, int(rng.integers(1, statements + 1))):
        if statement.label not in model.knowledge:
            model.add(statement)
    return model, every


def weigh(form: LinearForm, seed: int) -> LinearForm:
    """Draw weights from a few values, so that some terms have equal weights and others have not."""
    rng = np.random.default_rng(seed)
    return replace(form, weights=rng.choice([0.5, 1.0, 3.0], form.shape[1], p=[0.1, 0.8, 0.1]))


def is_the_same(form: LinearForm, aggregation: Aggregation, seed: int) -> None:
    """For any multipliers of the aggregated rows: counts, row activities, and the maps between both problems."""
    rng = np.random.default_rng(seed)
    smaller = aggregation.form
    m = rng.normal(size=smaller.shape[0])
    aggregated, all_m = np.exp(smaller.exponent(m)), aggregation.multipliers(m)
    counts = aggregation.counts(aggregated)
    # Each term is what the restored multipliers say it is: x = w exp(A' m - 1) in the original problem.
    np.testing.assert_allclose(counts, np.exp(form.exponent(all_m)), rtol=1e-9)
    np.testing.assert_allclose(np.bincount(aggregation.term, counts), aggregated, rtol=1e-9)
    # Activities and sides of an aggregated row are the sums over its rows; knowledge is unchanged.
    value, n_rows = form.matrix @ counts, smaller.shape[0]
    np.testing.assert_allclose(np.bincount(aggregation.row, value, n_rows), smaller.matrix @ aggregated, atol=1e-9)
    for side in ("low", "high"):
        np.testing.assert_allclose(np.bincount(aggregation.row, getattr(form, side), n_rows), getattr(smaller, side))
    np.testing.assert_allclose(aggregation.aggregated_multipliers(all_m), m, atol=1e-12)
    np.testing.assert_allclose(np.bincount(aggregation.term, aggregation.share), 1)


@given(seed=seeds, weighted=st.booleans())
def test_disaggregation(seed: int, weighted: bool):
    """For any multipliers, disaggregated counts are those of the restored multipliers in the original problem."""
    model, _ = repetitive(seed)
    form = weigh(model.form, seed) if weighted else model.form
    is_the_same(form, aggregate(form), seed)
    restricted = reduce(model.posed).restricted
    is_the_same(restricted, aggregate(restricted), seed)


def copies(k: int, knowledge: Sequence[Statement]) -> MaxEnt:
    """Publish one bucket of the paper's k times."""
    return MaxEnt(publish([("q1*2 q2 q3 q4", "s1 s2*2 s3 s4")] * k)).add(*knowledge)


def test_copies_collapse():
    """Copies of one bucket are one bucket with a weight: neither size nor answer depends on their number.

    Equal statements about q1 and q2 have two multipliers, which another statement about q1 makes different.
    """
    for knowledge in ([p("s1", "q1") == 0.3], [p("s1", "q1") <= 0.05, p(["s2", "s3"], "q2") == 0.9]):
        assert len({aggregate(copies(k, knowledge).form).form.shape for k in (1, 2, 10, 100)}) == 1
        # Presolve leaves out a row of each bucket first, so that one bucket is aggregated differently from several.
        assert len({reduce(copies(k, knowledge).posed).form.shape for k in (2, 3, 10, 100)}) == 1
        one, many = copies(1, knowledge).solve(), copies(10, knowledge).solve()
        allowed = one.certificate.bound + many.certificate.bound + 1e-9
        assert np.abs(one.conditional() - many.conditional()).to_numpy().max() <= allowed
    model = copies(1, [p("s1", "q1") <= 0.1, p("s1", "q2") <= 0.1, p("s2", "q1") == 0.7])
    table = model.solve().conditional()
    np.testing.assert_allclose(table, model.solve(presolve=False).conditional(), atol=1e-5)
    assert table.loc["q1", "s2"] == pytest.approx(0.7)
    assert table.loc["q2", "s2"] < 0.6


def test_weights_distinguish():
    """Terms of different weight are not aggregated; those of equal weight are, and their weights add up."""
    form = MaxEnt(publish([("q1*4 q2*2 q3*2", "s1*4 s2*4")])).form
    assert aggregate(form).form.shape[1] == 1  # without knowledge all are interchangeable
    s1 = form.matrix.toarray()[:3].argmax(axis=0)  # rows come in the order q1, q2, q3, s1, s2
    weights = np.where(s1 == 0, 2.0, 1.0)  # q1's terms weigh more
    aggregation = aggregate(replace(form, weights=weights))
    is_the_same(replace(form, weights=weights), aggregation, 0)
    # One weight a QI value: then each is a factor of its row's multiplier, and the answer is that of no weights.
    answer = newton(aggregation.form)
    np.testing.assert_allclose(aggregation.counts(answer.counts), [2, 2, 1, 1, 1, 1], atol=1e-8)
    odd = np.ones(6)
    odd[0] = 2.0  # one term that is interchangeable with no other
    aggregation = aggregate(replace(form, weights=odd))
    assert (np.bincount(aggregation.term)[aggregation.term[0]]) == 1


def test_small_savings_are_declined():
    """Where less than a tenth of the terms is saved, the form is left as it is."""
    # Of these only q2 and s2 have the same number of records, and different statements are about them.
    knowledge = [p("s1", "q1") == 0.1, p("s2", "q2") <= 0.5, p("s3", "q2") <= 0.8]
    form = MaxEnt(publish([("q1*2 q2*3 q3*4", "s1 s2*3 s3*5")])).add(*knowledge).form
    aggregation = aggregate(form)
    assert aggregation.form is form
    np.testing.assert_array_equal(aggregation.counts(np.arange(9.0)), np.arange(9.0))
