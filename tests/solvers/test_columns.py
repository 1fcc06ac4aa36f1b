"""A matrix stored by its distinct columns, as a whole or in part, is the same matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.columns import SharedColumns, SplitMatrix, column_classes
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.sparse import condensed, with_ones_of

seeds, sizes = st.integers(0, 10**6), st.integers(0, 8)


def columns(seed: int, n_rows: int, n_columns: int, n_different: int) -> np.ndarray:
    """A matrix of few different columns, each repeated in random places; maybe none, maybe with rows of zeros."""
    rng = np.random.default_rng(seed)
    different = rng.choice([0.0, 0.0, 1.0, -0.5, 1 / 3], (n_rows, max(n_different, 1)))
    different[rng.random(n_rows) < 0.2] = 0.0
    return different[:, rng.integers(0, max(n_different, 1), n_columns)]


@given(seed=seeds, n_rows=sizes, n_columns=st.integers(0, 30), n_different=sizes)
def test_shared_columns(seed: int, n_rows: int, n_columns: int, n_different: int):
    """Products, transposed products, squares and non-zero columns are those of the plain matrix; equal columns are one."""
    plain = columns(seed, n_rows, n_columns, n_different)
    shared = SharedColumns(sp.csr_array(plain))
    rng = np.random.default_rng(seed)
    x, m = rng.normal(size=n_columns), rng.normal(size=n_rows)
    np.testing.assert_allclose(shared.matvec(x), plain @ x, atol=1e-12)
    np.testing.assert_allclose(shared.rmatvec(m), plain.T @ m, atol=1e-12)
    np.testing.assert_allclose(shared.squared @ shared.collect(x), plain**2 @ x, atol=1e-12)
    np.testing.assert_array_equal(shared.touched, (plain != 0).any(axis=0))
    np.testing.assert_array_equal(shared.distinct.toarray()[:, shared.of_term], plain)
    np.testing.assert_array_equal(shared.transposed.toarray(), shared.distinct.toarray().T)
    assert (
        shared.collect(np.zeros(n_columns, dtype=bool)).dtype
        == shared.matvec(np.ones(n_columns, dtype=int)).dtype
        == float
    )
    of_column, first, distinct = column_classes([sp.csr_array(plain[:1]), sp.csr_array(plain[1:])])
    assert len(first) == len({tuple(column) for column in plain.T})
    np.testing.assert_array_equal(plain[:, first[of_column]], plain)
    np.testing.assert_array_equal(distinct.toarray()[:, of_column], plain)


def test_the_order_of_entries_means_nothing():
    """Two columns with the same entries are the same, in whatever order a row lists its columns."""
    row, column = np.array([0, 0, 1, 1, 1]), np.array([1, 0, 2, 1, 0])
    matrix = sp.csr_array((np.array([1.0, 1.0, 1.0, 0.5, 0.5]), (row, column)), shape=(2, 3))
    assert SharedColumns(matrix).distinct.shape == (2, 2)


def test_columns_that_differ_by_less_than_rounding_are_told_apart():
    """Elimination leaves entries of 1e-17 beside others of 1: no sum of doubles tells such columns apart."""
    plain = np.array([[0.19, 0.19, 0.19, 0.0, 0.19], [2e-17, -2e-17, 0.0, 2e-17, 2e-17]])
    of_column, example, distinct = column_classes([sp.csr_array(plain[:1]), sp.csr_array(plain[1:])])
    assert len(example) == 4
    assert of_column[0] == of_column[4]
    assert np.array_equal(distinct.toarray()[:, of_column], plain)


def in_two_parts(rng: np.random.Generator) -> tuple[np.ndarray, LinearForm]:
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
def test_split_matrix(seed: int):
    """Rows and terms in any order, selected rows, and products are those of the dense matrix."""
    rng = np.random.default_rng(seed)
    plain, form = in_two_parts(rng)
    rows, terms = (rng.permutation(n)[: rng.integers(n + 1)] for n in plain.shape)
    np.testing.assert_array_equal(form.matrix.toarray(), plain)
    np.testing.assert_array_equal(form.rows(rows).toarray(), plain[rows])
    smaller = form.select(np.sort(rows)).select_terms(terms)
    np.testing.assert_array_equal(smaller.matrix.toarray(), plain[np.sort(rows)][:, terms])
    np.testing.assert_array_equal(smaller.low, form.low[np.sort(rows)])
    assert smaller.shape == (len(rows), len(terms))
    x, m = rng.normal(size=plain.shape[1]), rng.normal(size=len(plain))
    np.testing.assert_allclose(form.exact_matvec(x), plain @ x, atol=1e-12)
    np.testing.assert_allclose(form.absolute_matvec(x), np.abs(plain) @ x, atol=1e-12)
    np.testing.assert_allclose(form.rmatvec(m), plain.T @ m, atol=1e-12)
    np.testing.assert_allclose(form.absolute_rmatvec(m), np.abs(plain).T @ m, atol=1e-12)
    np.testing.assert_array_equal(form.entries, (plain != 0).sum(axis=1))


PLAIN = np.array([[0.0, 2.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 2.0]])


def test_condensed():
    """Rows and products are those of the matrix; indices have 32 bits, and equal coefficients are stored once."""
    for plain in (PLAIN, PLAIN * [[1], [1], [3]], np.zeros((0, 3)), np.eye(1)):
        before = sp.csr_array(plain)
        before.indices, before.indptr = before.indices.astype(np.int64), before.indptr.astype(np.int64)
        held = condensed(before)
        assert held.indices.dtype == held.indptr.dtype == np.int32
        if held.nnz > 1:
            assert (held.data.strides == (0,)) == (len(np.unique(held.data)) == 1)
        np.testing.assert_array_equal(held @ plain.T, plain @ plain.T)
        np.testing.assert_array_equal(held[::-1].toarray(), plain[::-1])
        assert before.data.flags.writeable


def test_ones_are_shared():
    """A smaller matrix of ones shares the coefficients of a larger one; other matrices keep their own."""
    ones, twos = sp.csr_array(np.ones((3, 2))), sp.csr_array(np.full((2, 2), 2.0))
    assert np.shares_memory(with_ones_of(sp.csr_array(np.ones((2, 2))), ones).data, ones.data)
    for matrix, other in ((twos.copy(), ones), (sp.csr_array(np.ones((1, 1))), twos)):
        before = matrix.toarray()
        np.testing.assert_array_equal(with_ones_of(matrix, other).toarray(), before)
