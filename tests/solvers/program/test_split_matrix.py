"""A matrix of which knowledge is kept by its distinct columns is the same matrix, and its parts are the same parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.columns import SharedColumns, SplitMatrix
from maxent_cvx.solvers.form import LinearForm

seeds = st.integers(0, 10**6)


def draw(rng: np.random.Generator) -> tuple[np.ndarray, LinearForm]:
    """A dense matrix, of which some leading rows are published, and the form of it in two parts; maybe without rows."""
    n_published, n_known, n_terms = rng.integers(0, 5, 3)
    different = rng.choice([0.0, 1.0, -1.0, 1 / 3], (n_known, 3))
    known = different[:, rng.integers(0, 3, n_terms)]
    published = rng.choice([0.0, 1.0], (n_published, n_terms))
    plain = np.concatenate([published, known])
    sides = rng.integers(0, 5, len(plain)).astype(float)
    form = LinearForm.plain(sp.csr_array(plain), sides, sides)
    split = SplitMatrix(sp.csr_array(published), SharedColumns(sp.csr_array(known)))
    return plain, replace(form, coefficients=split, n_published=int(n_published), n_facts=int(n_published))


@given(seed=seeds)
def test_parts(seed: int):
    """Rows in any order, and terms in any order, are those of the dense matrix; so are rows that are selected."""
    rng = np.random.default_rng(seed)
    plain, form = draw(rng)
    rows, terms = (rng.permutation(n)[: rng.integers(n + 1)] for n in plain.shape)
    np.testing.assert_array_equal(form.matrix.toarray(), plain)
    np.testing.assert_array_equal(form.rows(rows).toarray(), plain[rows])
    smaller = form.select(np.sort(rows)).select_terms(terms)
    np.testing.assert_array_equal(smaller.matrix.toarray(), plain[np.sort(rows)][:, terms])
    np.testing.assert_array_equal(smaller.low, form.low[np.sort(rows)])
    assert smaller.shape == (len(rows), len(terms))


@given(seed=seeds)
def test_products(seed: int):
    """Products with the matrix, its absolute values and its transpose are those of the dense matrix."""
    rng = np.random.default_rng(seed)
    plain, form = draw(rng)
    x, m = rng.normal(size=plain.shape[1]), rng.normal(size=len(plain))
    np.testing.assert_allclose(form.exact_matvec(x), plain @ x, atol=1e-12)
    np.testing.assert_allclose(form.absolute_matvec(x), np.abs(plain) @ x, atol=1e-12)
    np.testing.assert_allclose(form.rmatvec(m), plain.T @ m, atol=1e-12)
    np.testing.assert_allclose(form.absolute_rmatvec(m), np.abs(plain).T @ m, atol=1e-12)
    np.testing.assert_array_equal(form.entries, (plain != 0).sum(axis=1))
