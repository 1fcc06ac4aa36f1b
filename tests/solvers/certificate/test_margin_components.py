"""Components of published rows alone: what is proved of many at once is what the general proof finds of each."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.certificate.existence_proofs.active_rows import active_rows
from maxent_cvx.solvers.certificate.existence_proofs.existence import Component, relative_moves
from maxent_cvx.solvers.certificate.existence_proofs.margin_components import margin_components
from maxent_cvx.solvers.certificate.residuals import exact_residuals, residual_bounds
from maxent_cvx.solvers.program.linear_form import LinearForm
from support.solving import examples

seeds = st.integers(0, 10**6)


def buckets(rng: np.random.Generator, n: int) -> tuple[LinearForm, np.ndarray]:
    """Buckets of a few QI rows and value rows, every pair a term, and integer counts that satisfy the rows."""
    sizes = rng.integers(1, 6, (n, 2))
    first = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))])
    ends = np.array(
        [
            (start + q, start + a + s)
            for (a, b), start in zip(sizes, first, strict=False)
            for q in range(a)
            for s in range(b)
        ]
    )
    terms = np.arange(len(ends))
    shape = (int(first[-1]), len(ends))
    matrix = sp.csr_array((np.ones(2 * len(ends)), (ends.T.ravel(), np.tile(terms, 2))), shape=shape)
    counts = rng.integers(1, 9, len(ends)).astype(float)
    side = matrix @ counts
    form = replace(LinearForm.plain(matrix, side, side), n_published=shape[0], n_facts=shape[0])
    return form, counts


@examples(60)
@given(seed=seeds, off=st.sampled_from([0.0, 1e-12, 1e-6]))
def test_as_the_general_proof(seed: int, off: float):
    """Of every component of terms that are not fixed, the bounds are those of elimination and one inverse."""
    rng = np.random.default_rng(seed)
    form, counts = buckets(rng, int(rng.integers(1, 8)))
    free = rng.random(len(counts)) < 0.8
    x = counts * np.where(free, 1 + off * rng.uniform(-1, 1, len(counts)), 1.0)
    of_row, of_term = form.components(free)
    left = abs(form.matrix) @ free.astype(float) > 0
    active = active_rows(form, form.matrix @ x, np.zeros(len(left)), form.side_error, None)
    found = margin_components(form, x, active, free, left, of_row, of_term)
    moves = np.full(len(x), np.nan)
    moves[found.terms] = found.moves
    assert found.rows[left].all()  # small residuals: a point is proved to exist for all of them
    np.testing.assert_array_equal(np.sort(found.terms), np.flatnonzero(free))
    for number in np.unique(of_row[left]):
        rows, terms = np.flatnonzero(left & (of_row == number)), np.flatnonzero(free & (of_term == number))
        residual = np.abs(exact_residuals(form, x, rows, form.low[rows]))
        matrix = form.matrix[rows][:, terms]
        component = Component(matrix, x[terms], residual, len(rows), np.zeros(len(rows)), [None] * len(rows))
        np.testing.assert_allclose(moves[terms], relative_moves(component).moves, rtol=1e-3, atol=1e-14)


@examples(60)
@given(seed=seeds)
def test_what_else_restricts_terms_is_left_to_the_general_proof(seed: int):
    """A component with a row of knowledge, a coefficient other than 1 or an inequality is not chosen."""
    rng = np.random.default_rng(seed)
    form, x = buckets(rng, 3)
    n, free = form.n_published, np.ones(len(x), dtype=bool)
    term, kind = int(rng.integers(len(x))), rng.choice(["knowledge", "coefficient", "inequality"])
    if kind == "knowledge":
        row = sp.csr_array(([1.0], ([0], [term])), shape=(1, len(x)))
        sides = [np.append(side, x[term]) for side in (form.low, form.high)]
        form = replace(LinearForm.plain(sp.csr_array(sp.vstack([form.matrix, row])), *sides), n_published=n, n_facts=n)
    elif kind == "coefficient":
        matrix = form.matrix.copy()
        matrix.data[int(np.flatnonzero(matrix.indices == term)[0])] = 0.5
        form = replace(form, coefficients=matrix, low=matrix @ x, high=matrix @ x)
    else:
        own = int(np.flatnonzero(form.matrix[:, [term]].toarray()[:, 0])[0])
        form = replace(form, high=np.where(np.arange(n) == own, form.high + 1, form.high))
    of_row, of_term = form.components(free)
    active = active_rows(form, form.matrix @ x, np.zeros(form.shape[0]), form.side_error, None)
    found = margin_components(form, x, active, free, active.rows, of_row, of_term)
    np.testing.assert_array_equal(np.sort(found.terms), np.flatnonzero(of_term != of_term[term]))
    np.testing.assert_array_equal(found.rows, of_row != of_term[term])


@examples(60)
@given(seed=seeds, size=st.sampled_from([1.0, 1e-9, 1e6]))
def test_residual_bounds(seed: int, size: float):
    """They are at least the residuals in rational numbers, and hardly more."""
    rng = np.random.default_rng(seed)
    form, counts = buckets(rng, 2)
    x = counts + size * rng.uniform(0, 1, len(counts))
    rows = np.arange(form.shape[0])
    found = residual_bounds(form, x, rows, form.low)
    for row in rows:
        terms = form.matrix[[row]].indices
        exact = abs(sum((Fraction(count) for count in x[terms]), Fraction(0)) - Fraction(form.low[row]))
        assert exact <= Fraction(found[row]) <= exact * Fraction(1 + 1e-14) + Fraction(1e-20)
