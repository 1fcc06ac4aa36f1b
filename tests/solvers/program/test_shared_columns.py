"""A matrix stored by its distinct columns is the same matrix."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.columns import SharedColumns, column_classes

#: A matrix of few different columns, each repeated in random places; maybe none, maybe with rows of zeros.
seeds, sizes = st.integers(0, 10**6), st.integers(0, 8)


def draw(seed: int, n_rows: int, n_columns: int, n_different: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    different = rng.choice([0.0, 0.0, 1.0, -0.5, 1 / 3], (n_rows, max(n_different, 1)))
    different[rng.random(n_rows) < 0.2] = 0.0
    return different[:, rng.integers(0, max(n_different, 1), n_columns)]


@given(seed=seeds, n_rows=sizes, n_columns=st.integers(0, 30), n_different=sizes)
def test_products(seed: int, n_rows: int, n_columns: int, n_different: int):
    """Products, transposed products, squares and non-zero columns are those of the plain matrix."""
    plain = draw(seed, n_rows, n_columns, n_different)
    shared = SharedColumns(sp.csr_array(plain))
    rng = np.random.default_rng(seed)
    x, m = rng.normal(size=n_columns), rng.normal(size=n_rows)
    np.testing.assert_allclose(shared.matvec(x), plain @ x, atol=1e-12)
    np.testing.assert_allclose(shared.rmatvec(m), plain.T @ m, atol=1e-12)
    np.testing.assert_allclose(shared.squared @ shared.collect(x), plain**2 @ x, atol=1e-12)
    np.testing.assert_array_equal(shared.touched, (plain != 0).any(axis=0))
    np.testing.assert_array_equal(shared.distinct.toarray()[:, shared.of_term], plain)
    np.testing.assert_array_equal(shared.transposed.toarray(), shared.distinct.toarray().T)


@given(seed=seeds, n_rows=sizes, n_columns=st.integers(0, 30), n_different=sizes)
def test_as_many_classes_as_different_columns(seed: int, n_rows: int, n_columns: int, n_different: int):
    """Equal columns are in one class, and different ones never are."""
    plain = draw(seed, n_rows, n_columns, n_different)
    of_column, example, distinct = column_classes([sp.csr_array(plain[:1]), sp.csr_array(plain[1:])])
    assert len(example) == len({tuple(column) for column in plain.T})
    np.testing.assert_array_equal(plain[:, example[of_column]], plain)
    np.testing.assert_array_equal(distinct.toarray()[:, of_column], plain)


def test_columns_with_the_same_product_are_told_apart():
    """Where two different columns have the same product with the first random vector, another vector is taken."""

    class Ones:
        def uniform(self, low: float, high: float, size: int) -> np.ndarray:
            return np.ones(size)

    usual, plain = np.random.default_rng, np.array([[1.0, 0.0, 1.0, 0.5], [0.0, 1.0, 0.0, 0.5], [1.0, 1.0, 1.0, 1.0]])
    with mock.patch.object(np.random, "default_rng", lambda seed: usual(seed) if seed else Ones()):
        for blocks in (sp.csr_array(plain), [sp.csr_array(plain[:1]), sp.csr_array(plain[1:])]):
            shared = SharedColumns(blocks)
            np.testing.assert_array_equal(shared.rows(np.arange(3)).toarray(), plain)
            assert shared.distinct.shape == (3, 3)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_order_of_entries_means_nothing(order: list[int]):
    """Two columns with the same entries are the same, in whatever order a row lists its columns."""
    plain = np.array([[1.0, 1.0, 0.0], [0.5, 0.5, 1.0]])
    row = np.array([0, 0, 1, 1, 1])
    column = np.array([*order, 2, *order])
    matrix = sp.csr_array((plain[row, column], (row, column)), shape=plain.shape)
    assert len(SharedColumns(matrix).distinct.toarray().T) == 2


@pytest.mark.parametrize("x", [np.zeros(3), np.zeros(3, dtype=bool), np.ones(3, dtype=np.int64)])
def test_sums_are_floating_point(x: np.ndarray):
    """Sums of zeros, booleans and integers are floating-point numbers, which can be added to in place."""
    for n_rows in (0, 2):
        shared = SharedColumns(sp.csr_array((n_rows, 3)))
        assert shared.collect(x).dtype == shared.matvec(x).dtype == float


def test_columns_that_differ_by_less_than_rounding_are_told_apart():
    """Elimination leaves entries of 1e-17 beside others of 1: no sum of doubles tells such columns apart."""
    plain = np.array([[0.19, 0.19, 0.19, 0.0, 0.19], [2e-17, -2e-17, 0.0, 2e-17, 2e-17]])
    of_column, example, distinct = column_classes([sp.csr_array(plain[:1]), sp.csr_array(plain[1:])])
    assert len(example) == 4
    assert of_column[0] == of_column[4]
    assert np.array_equal(distinct.toarray()[:, of_column], plain)
