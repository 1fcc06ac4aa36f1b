"""Presolve removes only implied terms and redundant rows, and postsolve restores all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxent_cvx import Infeasible, MaxEnt
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.presolve import Reduced, reduce, term_bounds
from support.depot import CONTRADICTORY, FIGURE_1C, SOLVABLE, Case, members, p, publish
from support.random_models import random_model

seeds = st.integers(0, 10**6)


def assignments(model: MaxEnt) -> Iterator[np.ndarray]:
    """Every way to give a bucket's values to its people that satisfies the rows, as counts of the terms (Def. 5.3)."""
    view, terms = model.view, model.space.index
    per_bucket = []
    for b, bucket in enumerate(view.buckets):
        qs = np.repeat(np.arange(len(view.n_q)), view.n_qb[:, [b]].toarray().ravel())
        ss = np.repeat(np.arange(len(view.sensitive_values)), view.n_sb[:, [b]].toarray().ravel())
        at = {(q, s): i for i, (q, s, c) in enumerate(zip(*model.space.codes.values(), strict=True)) if c == b}
        assert (terms[list(at.values())].get_level_values(-1) == bucket).all()
        ways = {tuple(sorted(at[q, s] for q, s in zip(qs, order, strict=True))) for order in set(permutations(ss))}
        per_bucket.append(sorted(ways))
    for ways in product(*per_bucket):
        counts = np.bincount(np.concatenate(ways), minlength=len(terms)).astype(float)
        if (model.form.residual(counts) <= model.form.tolerance).all():
            yield counts


def exact_range(form: LinearForm, term: int) -> tuple[float, float]:
    """The least and the largest value of a term over everything that satisfies the rows, by two linear programs."""
    exact, upper, lower = form.is_equation, np.isfinite(form.high), np.isfinite(form.low)
    inequalities = np.vstack([form.matrix[upper].toarray(), -form.matrix[lower].toarray()])
    sides = np.concatenate([form.high[upper], -form.low[lower]])
    equations, values = form.matrix[exact].toarray(), form.low[exact]
    ends = []
    for sign in (1, -1):
        cost = np.zeros(form.shape[1])
        cost[term] = sign
        found = linprog(cost, A_ub=inequalities, b_ub=sides, A_eq=equations, b_eq=values, method="highs")
        assert found.success, found.message
        ends.append(sign * found.fun)
    return ends[0], ends[1]


def reduced(model: MaxEnt) -> Reduced:
    return reduce(model.posed)


@given(seed=seeds)
def test_bounds_hold_for_every_assignment(seed: int):
    """In every assignment of values to people in which the knowledge is true, every count lies within its bounds."""
    model, records = random_model(seed, statements=4, buckets=(1, 2), size=5)
    lower, upper = term_bounds(model.form, model.view.n_records)
    truth = model.space.count(records)
    found = 0
    for counts in assignments(model):
        assert (lower <= counts + 1e-7).all()
        assert (counts <= upper + 1e-7).all()
        found += np.array_equal(counts, truth)
    assert found == 1, "the hidden assignment is one of them"


@given(seed=seeds)
def test_bounds_hold_for_every_distribution(seed: int):
    """No distribution that satisfies the rows is outside the bounds, and a fixed term has the one value they allow."""
    model, _ = random_model(seed, statements=4, buckets=(1, 2))
    lower, upper = term_bounds(model.form, model.view.n_records)
    smaller = reduced(model)
    for term in range(len(model.space)):
        least, most = exact_range(model.form, term)
        assert lower[term] <= least + 1e-6
        assert most <= upper[term] + 1e-6
        if smaller.fixed[term]:
            assert most - least <= 1e-6
            assert smaller.counts[term] == pytest.approx(least, abs=1e-6)


def test_what_zeros_force_in_turn_is_found():
    """Section 3.1: two zeros on Fig. 1(c) decide all of bucket 1."""
    case = next(case for case in SOLVABLE if case.name == "two zeros")
    model = case.model()
    smaller = reduced(model)
    first = model.space.index.get_level_values("B") == 1
    assert smaller.fixed[first].all()
    np.testing.assert_array_equal(smaller.counts[first], case.expected(model.space)[first])


@pytest.mark.parametrize("case", [case for case in CONTRADICTORY if len(case.knowledge) == 1], ids=lambda c: c.name)
def test_largest_value_is_the_limit(case: Case):
    """A statement beyond the largest attainable value is refused by presolve, or left infeasible by it."""
    model = case.model()
    try:
        smaller = reduced(model)
    except Infeasible:
        return  # seen at once
    with pytest.raises(AssertionError):  # or left to the solver, still infeasible
        exact_range(smaller.form, 0)


def test_irrelevant_buckets_keep_equation_9():
    """A bucket without knowledge keeps n(q, b) n(s, b) / n(b) to the last digit (Prop. 1, Theorem 5)."""
    # q4 is in bucket 2 only, and so is s4 among its values.
    model = MaxEnt(publish(FIGURE_1C)).add(p("s4", "q4") == 0.6)
    smaller = reduced(model)
    bucket = np.asarray(model.space.index.get_level_values("B"))
    assert (smaller.terms | smaller.fixed)[bucket == 2].all()
    assert not (smaller.terms | smaller.fixed)[bucket != 2].any()
    counts = model.solve().counts
    for i, (q, s, b) in enumerate(model.space.index):
        if b != 2:
            qs, ss = members(FIGURE_1C[b - 1][0]), members(FIGURE_1C[b - 1][1])
            assert counts[i] == qs.count(q) * ss.count(s) / len(qs)
    assert counts[bucket == 2] == pytest.approx([0.4, 0.4, 0.2] * 2 + [0.2, 0.2, 0.6])


@given(seed=seeds)
def test_restore(seed: int):
    """Postsolve restores what was removed, and divides an aggregated count among its terms."""
    model, _ = random_model(seed)
    smaller = reduced(model)
    n_rows, n_terms = smaller.form.shape
    aggregated = np.arange(n_terms) + 1000.0
    counts, multipliers = smaller.restore(aggregated, np.arange(n_rows) + 2000.0)
    assert (len(multipliers), len(counts)) == model.form.shape
    assert len(smaller.aggregation.term) == smaller.terms.sum()
    np.testing.assert_allclose(np.bincount(smaller.aggregation.term, counts[smaller.terms], n_terms), aggregated)
    np.testing.assert_array_equal(counts[~smaller.terms], smaller.counts[~smaller.terms])
    others = np.setdiff1d(np.arange(len(multipliers)), smaller.rows)
    np.testing.assert_array_equal(multipliers[others], smaller.multipliers[others])
    assert not (smaller.terms & smaller.fixed).any()


@given(seed=seeds)
def test_the_smaller_problem_is_the_same_problem(seed: int):
    """The true counts, restricted to the reduced problem, satisfy it; restored, they satisfy the original problem."""
    model, records = random_model(seed)
    truth = model.space.count(records).astype(float)
    smaller = reduced(model)
    cut = np.bincount(smaller.aggregation.term, truth[smaller.terms], smaller.form.shape[1])
    assert (smaller.form.residual(cut) <= 1e-7).all()
    back, _ = smaller.restore(cut, np.zeros(smaller.form.shape[0]))
    np.testing.assert_allclose(back[smaller.fixed], truth[smaller.fixed], atol=1e-7)
    assert (model.form.residual(back) <= 1e-7).all()
