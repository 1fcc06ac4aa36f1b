"""Block-structure detection: a permutation of rows after which a block-diagonal part comes first.

Newton's method eliminates the published rows bucket by bucket. For a problem that does not say which rows are
published, equations are sought that fall into many small components once the longest rows are set aside.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..parameters.size_limits import BLOCK_DETECTION
from ..rows.components import components
from .linear_form import LinearForm

__all__ = ["detect_blocks"]


def detect_blocks(form: LinearForm) -> tuple[LinearForm, np.ndarray]:
    """Put equations first that form a block-diagonal matrix, and take them for the published rows.

    Published inequalities are moved behind the published equations: whether one is active changes during a solve, so
    that it cannot be eliminated once and for all. Where no blocks are found the form is returned unchanged.

    Returns
    -------
    form : LinearForm
    order : ndarray of int
        The original row at each position.
    """
    every = np.arange(form.shape[0])
    published = every < form.n_published
    if not form.is_equation[published].all():
        chosen = published & form.is_equation
        order = np.argsort(~chosen, kind="stable")
        return replace(form.select(order), n_published=int(chosen.sum())), order
    if form.n_published or form.shape[0] < BLOCK_DETECTION.fewest:
        return form, every
    matrix = form.matrix
    length = np.diff(matrix.indptr)
    chosen = np.flatnonzero(form.is_equation & (length > 0) & (every < form.n_hard))
    for longest in BLOCK_DETECTION.lengths:
        block = components(matrix[chosen])[0]
        wide = (np.bincount(block) > BLOCK_DETECTION.widest)[block]
        if not wide.any():
            break
        chosen = chosen[~wide | (length[chosen] <= longest)]
    else:
        return form, every
    if len(chosen) < BLOCK_DETECTION.fewest:
        return form, every
    order = np.concatenate([chosen, np.setdiff1d(every, chosen)])
    return replace(form.select(order), n_published=len(chosen)), order
