"""Ends of intervals that one interior point shows to be attained: linear programs agree about each of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P
from maxent_cvx.model.intervals.asked import of_conditionals
from maxent_cvx.solvers.intervals.attained_locally import attain_locally
from maxent_cvx.solvers.intervals.extreme_buckets import ExtremeBuckets
from maxent_cvx.solvers.intervals.questions import Questions
from maxent_cvx.solvers.linear.bounds import linear_bounds
from support.solving import examples


def published(seed: int, people: int = 240, statements: int = 8, *, vague: bool = False) -> MaxEnt:
    """Buckets of some ten people, and what is true of groups that are in many of them."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.choice(list("uvw"), people),
            "b": rng.choice(list("xyz"), people),
            "c": rng.integers(0, people // 6, people),
            "s": rng.choice(list("12345"), people, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
            "bucket": rng.permutation(people) // 10,
        }
    )
    model = MaxEnt(mx.Release.from_buckets(table, qi=["a", "b", "c"], sa="s", bucket="bucket"))
    groups = [{"a": a} for a in "uvw"] + [{"a": a, "b": b} for a in "uvw" for b in "xyz"]
    for i in rng.permutation(5 * len(groups))[:statements]:
        group, value = groups[i // 5], "12345"[i % 5]
        found = table.query(" and ".join(f"{name} == {of!r}" for name, of in group.items()))
        share, said = float((found["s"] == value).mean()), P(value, given=group)
        model.add(said.about(share, eps=0.01) if vague and i % 2 else said == share)
    return model


def asked_of(model: MaxEnt) -> Questions:
    """Every P(s | q) of a model, over the rows before presolve."""
    return Questions(model.form, sp.csr_array(of_conditionals(model.space).matrix), float(model.space.n_records))


@examples(8)
@given(seed=st.integers(0, 10**6), vague=st.booleans())
def test_what_is_said_to_be_attained_is(seed: int, vague: bool):
    """An end that is noted is the value of its linear program; most are."""
    model = published(seed, people=600, vague=vague)
    asked = asked_of(model)
    open_before = asked.open
    attain_locally(model.form, asked)
    noted = open_before & ~asked.open
    assert noted.sum() > open_before.sum() / 2
    rng = np.random.default_rng(seed)
    for side, part in rng.permutation(np.argwhere(noted))[:12]:
        truth = linear_bounds(model.form, asked.matrix[[part]].toarray().ravel())[side]
        assert abs(truth - asked.proved[side, part]) <= 1e-6


@examples(5)
@given(seed=st.integers(0, 10**6))
def test_never_narrower_than_the_truth(seed: int):
    """Without linear programs no interval is narrower than with them, and exact ends are the same."""
    model = published(seed, people=120)
    quick, truth = model.bounds(exact=False), model.bounds(exact=True)
    assert (truth["exact"] == "both").all()
    assert (quick["low"] <= truth["low"] + 1e-6).all()
    assert (quick["high"] >= truth["high"] - 1e-6).all()
    for end, others in (("low", ["low", "both"]), ("high", ["high", "both"])):
        exact = quick["exact"].isin(others)
        np.testing.assert_allclose(quick.loc[exact, end], truth.loc[exact, end], atol=1e-6)


@examples(30)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
def test_a_bucket_with_one_count_given(seed: int, share: float):
    """The change of the knowledge is that of counts which satisfy all published rows, and none is negative."""
    model = published(seed)
    form, x = model.form, model.solve().counts
    extremes = ExtremeBuckets.of(form, x)
    assert extremes is not None
    rng = np.random.default_rng(seed)
    term = int(rng.integers(len(x)))
    row, column, bucket = extremes.row[term], extremes.column[term], extremes.bucket == extremes.bucket[term]
    n, n_row, n_column = x[bucket].sum(), extremes.in_row[row], extremes.in_row[column]
    least, most = max(0.0, n_row + n_column - n), min(n_row, n_column)
    value = least + share * (most - least)
    terms, values = np.array([term]), np.array([value])
    assert extremes.are_possible(terms, values).all() == extremes.is_complete[extremes.bucket[term]]
    if not extremes.is_complete[extremes.bucket[term]]:
        return
    changed = x.copy()
    for t in np.flatnonzero(bucket):
        same_row, same_column = extremes.row[t] == row, extremes.column[t] == column
        r, c = extremes.in_row[extremes.row[t]], extremes.in_row[extremes.column[t]]
        changed[t] = {
            (True, True): lambda r, c: value,
            (True, False): lambda r, c: (n_row - value) * c / (n - n_column),
            (False, True): lambda r, c: (n_column - value) * r / (n - n_row),
            (False, False): lambda r, c: (n - n_row - n_column + value) * r * c / (n - n_row) / (n - n_column),
        }[bool(same_row), bool(same_column)](r, c)
    assert changed.min() >= -1e-9
    np.testing.assert_allclose(form.published @ changed, form.published @ x, atol=1e-9)
    known = extremes.combinations(terms, values, np.zeros(1, dtype=int), 1) @ extremes.parts
    expected = form.matrix[form.n_published :] @ (changed - x)
    np.testing.assert_allclose(known.toarray().ravel(), expected, atol=1e-9)


def test_no_knowledge_and_other_published_rows(hospital: pd.DataFrame):
    """Nothing is noted where there is no knowledge, or where published rows are no buckets."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    table = mx.QITable(hospital, qi=["Gender", "Degree"], sa="Disease", sa_values=["Flu", "HIV"])
    for model in (MaxEnt(release), MaxEnt(table).add("P(Flu | Gender=male) = 0.3")):
        asked = asked_of(model)
        before = asked.open.sum()
        attain_locally(model.form, asked)
        assert asked.open.sum() == before


def test_a_contradiction_is_told_without_linear_programs_for_ends():
    """Where no end is asked by a linear program, contradictory knowledge is an error all the same."""
    model = published(0, people=600)
    model.add(P("1", given={"a": "u"}) >= 0.7, *(P("1", given={"a": "u", "b": b}) <= 0.2 for b in "xyz"))
    for exact in (None, False, True):
        with pytest.raises(mx.Infeasible):
            model.bounds(exact=exact)
