"""Sparse matrices in less memory are the same matrices."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from maxent_cvx.solvers.sparse import condensed, with_ones_of

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
