"""Sparse matrices in less memory are the same matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxent_cvx.solvers.sparse import absolute, canonical, condensed, with_ones_of

PLAIN = np.array([[0.0, 2.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 2.0]])


@pytest.mark.parametrize("plain", [PLAIN, PLAIN * [[1], [1], [3]], np.zeros((0, 3)), np.eye(1)])
def test_condensed(plain: np.ndarray):
    """Rows and products are those of the matrix; indices have 32 bits, and equal coefficients are stored once."""
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


def test_canonical_and_absolute():
    """Entries in any order, zeros and repeated entries are put in order; absolute values have no signs."""
    messy = sp.csr_array((np.array([1.0, -2.0, 0.0, 1.0]), np.array([2, 0, 1, 0]), np.array([0, 4])), shape=(1, 3))
    ordered = canonical(messy)
    assert (ordered.indices.tolist(), ordered.data.tolist()) == ([0, 2], [-1.0, 1.0])
    assert messy.nnz == 4
    assert absolute(ordered).data.tolist() == [1.0, 1.0]
