"""Find the buckets of a problem that names none: rows that fall into many small groups once long rows are set aside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..size_limits import BLOCK_DETECTION
from .components import components
from .linear_form import LinearForm

__all__ = ["detect_blocks"]


def detect_blocks(form: LinearForm) -> tuple[LinearForm, np.ndarray]:
    """Put the equations of buckets first, as if they were published.

    Returns
    -------
    form : LinearForm
    order : ndarray of int
        Which of the original rows each row is.
    """
    every = np.arange(form.shape[0])
    published = every < form.n_published
    if not form.is_equation[published].all():  # an inequality takes part or not: it cannot be eliminated for good
        chosen = published & form.is_equation
        order = np.argsort(~chosen, kind="stable")
        return replace(form.select(order), n_published=int(chosen.sum())), order
    if form.n_published or form.shape[0] < BLOCK_DETECTION.fewest:
        return form, every
    length = np.diff(form.matrix.indptr)
    chosen = np.flatnonzero(form.is_equation & (length > 0))
    for longest in BLOCK_DETECTION.lengths:
        bucket = components(form.matrix[chosen])[0]
        wide = (np.bincount(bucket) > BLOCK_DETECTION.widest)[bucket]
        if not wide.any():
            break
        chosen = chosen[~wide | (length[chosen] <= longest)]
    else:
        return form, every
    if len(chosen) < BLOCK_DETECTION.fewest:
        return form, every
    order = np.concatenate([chosen, np.setdiff1d(every, chosen)])
    return replace(form.select(order), n_published=len(chosen)), order
