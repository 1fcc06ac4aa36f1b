"""The Schur complement S = C - B D^-1 B' of the rows of knowledge, formed as a dense matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parameters.size_limits import NEWTON_COSTS
from ..program.shared_columns import SharedColumns
from .bucket_inverse import BucketInverse

__all__ = ["schur_complement"]


def schur_complement(
    inverse: BucketInverse, known: SharedColumns, across: sp.csr_array, by_class: np.ndarray, active: np.ndarray
) -> np.ndarray:
    """Form S over the active rows of knowledge.

    Parameters
    ----------
    inverse : BucketInverse
        D^-1.
    known : SharedColumns
        The rows of knowledge K.
    across : csr_array, shape (slots, classes)
        P diag(x), summed over terms with the same column of K: B' is that times the distinct columns.
    by_class : ndarray
        x, summed in the same way.
    active : ndarray of int
        The active rows of knowledge.

    Returns
    -------
    ndarray, shape (active, active)
    """
    blocks, k = inverse.blocks, len(active)
    distinct = known.distinct[active] if k < known.distinct.shape[0] else known.distinct
    columns = sp.csr_array(distinct.T)
    weighted = sp.csr_array(
        (distinct.data * by_class[distinct.indices], distinct.indices, distinct.indptr), distinct.shape
    )
    schur = (weighted @ columns).toarray()
    single, width, n = blocks.n_single, blocks.n_others, blocks.n_blocks
    # S is read and written once a batch, so that a batch has at least as many rows of blocks as S has rows.
    step = max(NEWTON_COSTS.batch // max((single + width) * k, 1), k // max(width, 1) + 1)
    slots, others = blocks.slots
    for low in range(0, n, step):
        batch = slice(low, min(low + step, n))
        own = slots[batch].ravel()
        first = (across[own] @ columns).toarray()
        second = (across[others[batch].ravel()] @ columns).toarray()
        m = batch.stop - batch.start
        half = inverse.halves(first.reshape(m, single, k), second.reshape(m, width, k), batch).reshape(m * width, k)
        schur -= half.T @ half
        first /= np.sqrt(inverse.single[own])[:, None]
        schur -= first.T @ first
    return schur
