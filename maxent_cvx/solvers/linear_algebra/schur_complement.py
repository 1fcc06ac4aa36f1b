"""The Schur complement S = C - B D^-1 B' of the rows of knowledge, formed as a dense matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parameters.size_limits import NEWTON_COSTS
from ..program.bucket_blocks import BucketBlocks
from ..program.shared_columns import SharedColumns

__all__ = ["schur_complement"]


def schur_complement(
    buckets: BucketBlocks, known: SharedColumns, inverse: np.ndarray, x: np.ndarray, active: np.ndarray
) -> np.ndarray:
    """Form S over the active rows of knowledge.

    Parameters
    ----------
    buckets : BucketBlocks
        The published rows P.
    known : SharedColumns
        The rows of knowledge K.
    inverse : ndarray, shape (blocks, width, width)
        L^-1 for the Cholesky factors D = L L' of the blocks, so that S = C - (L^-1 B')' (L^-1 B').
    x : ndarray, one a term
    active : ndarray of int
        The active rows of knowledge.

    Returns
    -------
    ndarray, shape (active, active)
    """
    width, rows = buckets.width, buckets.rows
    distinct = known.distinct[active]
    schur = (distinct @ (sp.diags_array(known.collect(x)) @ distinct.T)).toarray()
    # P diag(x), summed over terms with the same column of K: B' is that times the distinct columns.
    shape = (rows.shape[0], distinct.shape[1])
    by_class = sp.csr_array((rows.data * x[rows.indices], known.of_term[rows.indices], rows.indptr), shape=shape)
    classes = distinct.T.toarray()
    # S is read and written once a batch, so that a batch has at least as many rows of blocks as S has rows.
    step = max(NEWTON_COSTS.batch // max(width * len(active), 1), len(active) // max(width, 1) + 1)
    for low in range(0, buckets.n_blocks, step):
        batch = inverse[low : low + step]
        across = (by_class[low * width : (low + len(batch)) * width] @ classes).reshape(len(batch), width, len(active))
        half = (batch @ across).reshape(-1, len(active))
        schur -= half.T @ half
    return schur
