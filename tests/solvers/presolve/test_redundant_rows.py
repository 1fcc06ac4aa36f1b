"""A row is marked redundant only if the rows that are left imply it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxent_cvx import MaxEnt
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.presolve import dependent, dependent_by_elimination, redundant
from support.depot import CUBE, FIGURE_1C, SQUARE, Buckets, p, publish
from support.random_models import random_model

seeds = st.integers(0, 10**6)


def marked(model: MaxEnt) -> np.ndarray:
    return redundant(model.form, model.view.n_records)


@given(seed=seeds)
def test_theorem_3(seed: int):
    """One published row a bucket is dependent (Privacy-MaxEnt, Theorem 3); the others have full rank."""
    model, _ = random_model(seed)
    found = dependent(model.form)
    assert found.sum() == len(model.view.buckets)
    dense = model.form.published.toarray()
    assert np.linalg.matrix_rank(dense[~found]) == (~found).sum() == np.linalg.matrix_rank(dense)


@given(seed=seeds)
def test_the_rows_of_two_kinds_as_by_elimination(seed: int):
    """What the graph of the rows says is what elimination finds, also where terms are removed."""
    form = random_model(seed)[0].form
    left = np.flatnonzero(np.random.default_rng(seed).random(form.shape[1]) < 0.7)
    form = form.select(np.arange(form.n_published))
    for some in (form, replace(form, coefficients=form.matrix[:, left], weights=form.weights[left])):
        np.testing.assert_array_equal(dependent(some), dependent_by_elimination(some))


@given(seed=seeds)
def test_dependent_where_terms_are_removed(seed: int):
    """Without some of the terms more rows are dependent: as many are marked as the rank is deficient."""
    model, _ = random_model(seed)
    rng = np.random.default_rng(seed)
    left = np.flatnonzero(rng.random(model.form.shape[1]) < 0.6)
    dense = model.form.published.toarray()[:, left]
    dense = dense[dense.any(axis=1)]
    rows = np.flatnonzero(model.form.published.toarray()[:, left].any(axis=1))
    form = model.form.select(rows)
    n, weights = len(rows), np.ones(len(left))
    form = LinearForm(form.matrix[:, left], form.low, form.high, form.scale, (), n, n, weights)
    found = dependent(form)
    assert (~found).sum() == np.linalg.matrix_rank(dense)
    assert np.linalg.matrix_rank(dense[~found]) == (~found).sum()


@given(seed=seeds)
def test_what_is_left_implies_the_rest(seed: int):
    """No x >= 0 that satisfies the remaining rows violates a redundant one, by linear programs."""
    model, _ = random_model(seed, statements=6)
    form, found = model.form, marked(model)
    left = form.select(~found)
    exact, upper, lower = left.is_equation, np.isfinite(left.high), np.isfinite(left.low)
    for row in np.flatnonzero(found):
        for sign, side in ((1, form.low[row]), (-1, form.high[row])):
            if np.isfinite(side):
                least = linprog(
                    sign * form.matrix[[row]].toarray().ravel(),
                    A_eq=left.matrix[exact].toarray(),
                    b_eq=left.low[exact],
                    A_ub=np.vstack([left.matrix[upper].toarray(), -left.matrix[lower].toarray()]),
                    b_ub=np.concatenate([left.high[upper], -left.low[lower]]),
                    method="highs",
                )
                assert least.success
                assert least.fun >= sign * side - 1e-6


@pytest.mark.parametrize(
    ("buckets", "s", "q", "bound"),
    [
        (CUBE, "s1", "q1", 0.2),  # 1/3 without it; the bound that it puts on its own term is no proof of it
        (SQUARE, "s1", "q1", 0.4),  # 0.5 without it
        (FIGURE_1C, ["s1", "s3"], "q1", 0.1),  # Eq. (9): s1 is 1/4 and s3 is 1/4 of bucket 1, s1 and s3 2/3 of bucket 2
    ],
)
def test_an_inequality_is_no_proof_of_itself(buckets: Buckets, s: str | list[str], q: str, bound: float):
    """An inequality that is implied only by a bound derived from itself is not redundant: it is active."""
    model = MaxEnt(publish(buckets)).add(p(s, q) <= bound)
    assert not marked(model)[-1]
    assert model.solve().prob(p(s, q)) == pytest.approx(bound, abs=1e-6)


def test_inequalities_that_hold_anyway():
    """Inequalities that published numbers imply are redundant: in the two by two, 1 to 3 of the 4 q1 are s1."""
    x = p("s1", "q1")
    for statement, implied in ((x <= 0.75, True), (x <= 0.7499, False), (x <= 1, True), (x >= 0, True)):
        assert marked(MaxEnt(publish(SQUARE)).add(statement))[-1] == implied, statement.label


def test_repeated():
    """Of statements with equal rows and sides all but one are redundant; with other sides none is."""
    x = p("s1", "q1")
    model = MaxEnt(publish(SQUARE)).add(x == 0.4, x + x == 0.8, x <= 0.4, x == 0.4 + 1e-12)
    # The row of x + x is scaled to that of x; the last value is another one, however little.
    np.testing.assert_array_equal(marked(model)[-4:], [False, True, False, False])
    # q1's s2 is not q1's s1, whatever the value.
    model = MaxEnt(publish(SQUARE)).add(x <= 0.6, p("s2", "q1") <= 0.6)
    assert not marked(model)[-2:].any()


def test_wide_buckets_are_left_alone(monkeypatch: pytest.MonkeyPatch):
    """Elimination leaves buckets alone that are too wide, as redundant rows do no harm; two kinds of rows need none."""
    monkeypatch.setattr("maxent_cvx.solvers.presolve.WIDEST_BLOCK", 3)
    model = MaxEnt(publish(CUBE))
    assert not dependent_by_elimination(model.form).any()
    np.testing.assert_array_equal(np.flatnonzero(dependent(model.form)), [model.form.n_published - 1])
    np.testing.assert_allclose(model.solve().counts, 1 / 3)
