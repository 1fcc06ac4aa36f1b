"""Sparse matrices in less memory are the same matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxent_cvx.solvers.sparse import absolute, canonical, condensed, with_ones_of

PLAIN = np.array([[0.0, 2.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 2.0]])


@pytest.mark.parametrize("plain", [PLAIN, PLAIN * [[1], [1], [3]], np.zeros((2, 3)), np.zeros((0, 3)), np.eye(1)])
def test_condensed(plain: np.ndarray):
    """Rows, products and sums are those of the matrix, whose own numbers stay as they are; indices have 32 bits."""
    before = sp.csr_array(plain)
    before.indices, before.indptr = before.indices.astype(np.int64), before.indptr.astype(np.int64)
    held = condensed(before)
    assert held.indices.dtype == held.indptr.dtype == np.int32
    np.testing.assert_array_equal(held.toarray(), plain)
    np.testing.assert_array_equal(held @ plain.T, plain @ plain.T)
    np.testing.assert_array_equal(held[::-1].toarray(), plain[::-1])
    np.testing.assert_array_equal(sp.vstack([held, held], format="csr").toarray(), np.vstack([plain, plain]))
    np.testing.assert_array_equal(before.toarray(), plain)
    assert before.data.flags.writeable


def test_equal_coefficients_are_held_once():
    """A matrix of many equal coefficients takes the memory of its indices."""
    assert condensed(sp.csr_array(PLAIN)).data.strides == (0,)
    assert condensed(sp.csr_array(PLAIN * [[1], [1], [3]])).data.strides != (0,)


def test_entries_in_any_order():
    """A matrix whose entries SciPy will sort, or add up, can still be written to."""
    for columns in ([2, 1], [1, 1]):
        messy = condensed(sp.csr_array((np.ones(2), np.array(columns), np.array([0, 2])), shape=(1, 3)))
        assert abs(messy).sum() == 2


def test_ones_are_shared_where_all_are_ones():
    """Of matrices of ones the smaller takes the numbers of the larger; others keep their own."""
    ones, twos = sp.csr_array(np.ones((3, 2))), sp.csr_array(np.full((2, 2), 2.0))
    assert np.shares_memory(with_ones_of(sp.csr_array(np.ones((2, 2))), ones).data, ones.data)
    for matrix, other in ((twos.copy(), ones), (sp.csr_array(np.ones((1, 1))), twos)):
        before = matrix.toarray()
        assert not np.shares_memory(with_ones_of(matrix, other).data, other.data)
        np.testing.assert_array_equal(matrix.toarray(), before)


def test_canonical_and_absolute():
    """Entries in any order, zeros and repeated entries are put in order; signs are left out."""
    messy = sp.csr_array((np.array([1.0, -2.0, 0.0, 1.0]), np.array([2, 0, 1, 0]), np.array([0, 4])), shape=(1, 3))
    found = canonical(messy)
    assert (found.indices.tolist(), found.data.tolist()) == ([0, 2], [-1.0, 1.0])
    assert messy.nnz == 4
    assert absolute(found).data.tolist() == [1.0, 1.0]
