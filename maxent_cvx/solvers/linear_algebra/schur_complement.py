"""The Schur complement S = C - B D^-1 B' of the rows of knowledge, formed as a dense matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parameters.size_limits import NEWTON_COSTS
from ..program.bucket_blocks import BucketBlocks
from ..program.shared_columns import SharedColumns
from .bucket_inverse import BucketInverse

__all__ = ["forming_cost", "schur_complement"]


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
    distinct = known.distinct[active] if len(active) < known.distinct.shape[0] else known.distinct
    is_sparse = cost_by_classes(inverse.blocks, distinct, across) < cost_by_blocks(inverse.blocks, len(active))
    return (_by_classes if is_sparse else _by_blocks)(inverse, distinct, across, by_class)


def forming_cost(blocks: BucketBlocks, distinct: sp.csr_array, across: sp.csr_array) -> float:
    """What forming S costs, in multiplications of a dense product, in the cheaper way."""
    return min(cost_by_classes(blocks, distinct, across), cost_by_blocks(blocks, distinct.shape[0]))


def cost_by_blocks(blocks: BucketBlocks, k: int) -> float:
    """What :func:`_by_blocks` costs for k rows of knowledge."""
    return float(blocks.n_slots) * k * (k + NEWTON_COSTS.forming_overhead)


def cost_by_classes(blocks: BucketBlocks, distinct: sp.csr_array, across: sp.csr_array) -> float:
    """What :func:`_by_classes` costs: sparse products, which are bound by memory; infinite where G would be large."""
    terms = np.diff(across.indptr)[blocks.slots[0]].sum(axis=1).astype(float)  # of every block
    (k, classes), cost = distinct.shape, NEWTON_COSTS
    pairs = float(terms @ terms)
    if pairs > cost.most_pairs_of_terms * k:
        return np.inf
    times = blocks.n_others + distinct.nnz / max(classes, 1)
    return cost.per_pair_of_terms * times * pairs + cost.per_sparse_product * distinct.nnz * k


def _by_classes(
    inverse: BucketInverse, distinct: sp.csr_array, across: sp.csr_array, by_class: np.ndarray
) -> np.ndarray:
    """S = K G K', where G = X - X P' D^-1 P X with X = diag(x) is sparse, as it relates terms of one block only.

    G is summed over terms with the same column of K. Where blocks are narrow and rows of knowledge many, that takes a
    small share of the multiplications of :func:`_by_blocks`.
    """
    root = inverse.root(across)
    middle = sp.csr_array(sp.diags_array(by_class) - sp.csr_array(root.T) @ root)
    k, classes = distinct.shape
    schur = np.empty((k, k))
    step = max(NEWTON_COSTS.batch // max(classes, 1), NEWTON_COSTS.fewest_columns)
    for low in range(0, k, step):
        batch = slice(low, min(low + step, k))
        columns = np.ascontiguousarray((distinct[batch] @ middle).toarray().T)
        schur[low:, batch] = distinct[low:] @ columns
        schur[batch, batch.stop :] = schur[batch.stop :, batch].T
    return schur


def _by_blocks(
    inverse: BucketInverse, distinct: sp.csr_array, across: sp.csr_array, by_class: np.ndarray
) -> np.ndarray:
    """S = C - B D^-1 B', where dense squares of L^-1 B' are subtracted from C, a batch of blocks at a time."""
    blocks, columns, k = inverse.blocks, sp.csr_array(distinct.T), distinct.shape[0]
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
