"""The block-diagonal part D = P diag(x) P' of a Newton system, P being the published rows.

Published rows of different buckets have no term in common, so that each bucket is a block, of a few dozen rows at
most. All blocks are assembled, factored and applied in batches.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..parameters.dual_methods import NEWTON_SYSTEM

__all__ = ["BucketBlocks"]


class BucketBlocks:
    """Published rows in slots: block after block, every block padded to the size of the largest.

    Parameters
    ----------
    published : csr_array, shape (rows, terms)
    by_term : csr_array
        The transposed matrix.
    bucket : ndarray of int, one a row
        The bucket of each row.
    """

    def __init__(self, published: sp.csr_array, by_term: sp.csr_array, bucket: np.ndarray) -> None:
        n = published.shape[0]
        block, used = pd.factorize(bucket)
        size = np.bincount(block, minlength=len(used))
        order = np.argsort(block, kind="stable")
        first = np.cumsum(size) - size
        self.n_blocks, self.width = len(used), int(size.max(initial=0))
        self.slot = np.empty(n, dtype=np.int64)
        self.slot[order] = block[order] * self.width + np.arange(n) - first[block[order]]
        row = np.repeat(self.slot, np.diff(published.indptr))
        shape = (self.n_slots, published.shape[1])
        self.rows = sp.csr_array((published.data, (row, published.indices)), shape=shape)
        slots = self.slot[by_term.indices].astype(by_term.indices.dtype)
        self.by_term = sp.csr_array((by_term.data, slots, by_term.indptr), shape=self.rows.shape[::-1])
        padding = np.ones(self.n_slots)
        padding[self.slot] = 0.0
        self._padding = padding.reshape(self.n_blocks, self.width)
        self._squared = self.rows.power(2)
        self._index_products()

    @property
    def n_slots(self) -> int:
        """The number of rows, padding included."""
        return self.n_blocks * self.width

    def _index_products(self) -> None:
        """Find, for every pair of distinct entries of a column of P, where its product is added below the diagonal."""
        by_term = self.by_term
        entries = np.diff(by_term.indptr)
        first = np.repeat(by_term.indptr[:-1].astype(np.int64), entries)  # for each entry, the first one of its column
        before = np.arange(by_term.nnz) - first
        i = np.repeat(np.arange(by_term.nnz), before)
        j = first[i] + np.arange(len(i)) - (np.cumsum(before) - before)[i]
        low, high = (
            np.minimum(by_term.indices[i], by_term.indices[j]),
            np.maximum(by_term.indices[i], by_term.indices[j]),
        )
        self._term = np.repeat(np.repeat(np.arange(len(entries)), entries), before)
        self._product = by_term.data[i] * by_term.data[j]
        self._position = high.astype(np.int64) * self.width + low % self.width

    def matrices(self, x: np.ndarray) -> np.ndarray:
        """The lower triangles of the blocks of P diag(x) P', shape (blocks, width, width); padding is 1."""
        entries = np.bincount(self._position, self._product * x[self._term], self.n_slots * self.width)
        entries = entries.astype(float, copy=False)  # bincount of nothing has an integer type
        blocks = entries.reshape(self.n_blocks, self.width, self.width)
        np.einsum("bii->bi", blocks)[...] = (self._squared @ x).reshape(self._padding.shape) + self._padding
        return blocks

    def factor(self, x: np.ndarray, ridge: float) -> np.ndarray:
        """Invert the Cholesky factors L of all blocks, after adding a relative ridge to their diagonals."""
        blocks = self.matrices(x)
        diagonal = np.einsum("bii->bi", blocks)  # a view: writing to it writes to the blocks
        diagonal += ridge * np.maximum(diagonal, NEWTON_SYSTEM.smallest_diagonal)
        try:
            return np.linalg.inv(np.linalg.cholesky(blocks))
        except np.linalg.LinAlgError:  # roundoff exceeded the ridge
            return self.factor(x, 100 * ridge)

    def apply(self, inverse: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Compute D^-1 right from the inverse Cholesky factors; one number a slot."""
        half = inverse @ right.reshape(self.n_blocks, self.width, 1)
        return (inverse.transpose(0, 2, 1) @ half).ravel()
