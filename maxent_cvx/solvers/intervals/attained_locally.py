"""Ends of intervals that are attained where only the buckets asked about are changed, and all others make up for it."""

from __future__ import annotations

import numpy as np

from ..answer import Status
from ..dual.newton import newton
from ..monitoring.deadline import check_time, seconds_left
from ..monitoring.monitor import Monitor
from ..parameters.size_limits import COMPENSATION_SIZES
from ..parameters.tolerances import FEASIBILITY
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from .compensation import Compensation
from .extreme_buckets import ExtremeBuckets
from .questions import Questions

__all__ = ["attain_locally"]


def attain_locally(form: LinearForm, asked: Questions) -> bool:
    """Take note of all ends that are shown to be attained from one interior point, the maximum-entropy one.

    These are ends of sums of counts, at most one a bucket, at which each count has the bound that is proved of it.

    Returns
    -------
    bool
        Whether a point was found that satisfies the rows.
    """
    n_known = form.shape[0] - form.n_published
    if not 0 < n_known <= COMPENSATION_SIZES.most_rows or asked.open.sum() < COMPENSATION_SIZES.fewest_ends:
        return False
    answer = newton(form, monitor=Monitor(time_limit=seconds_left()))
    check_time()
    x = answer.counts
    if answer.status is not Status.OPTIMAL or x is None:
        return False
    if (form.residual(x) > FEASIBILITY.multiple * form.tolerance).any():
        return False
    extremes = ExtremeBuckets.of(form, x)
    if extremes is None:
        return True
    compensation = Compensation.at(form, x)
    sums = _sums_of_counts(asked, form.bucket[1])
    for side in range(2):
        parts = np.flatnonzero(asked.open[side] & sums)
        for some in np.array_split(parts, len(parts) // COMPENSATION_SIZES.batch + 1):
            found = _attained(asked, extremes, compensation, side, some)
            asked.attained[side, some[found]] = asked.proved[side, some[found]]
            check_time()
    return True


def _sums_of_counts(asked: Questions, bucket: np.ndarray) -> np.ndarray:
    """Which parts are sums of counts of different buckets."""
    matrix = asked.matrix
    part = entry_rows(matrix)
    pair = part * np.int64(bucket.max(initial=0) + 1) + bucket[matrix.indices]
    _, first, number = np.unique(pair, return_index=True, return_counts=True)
    n = matrix.shape[0]
    others = np.bincount(part[first], number > 1, n) + np.bincount(part, matrix.data != 1, n)
    return others == 0


def _attained(
    asked: Questions, extremes: ExtremeBuckets, compensation: Compensation, side: int, some: np.ndarray
) -> np.ndarray:
    """Which parts attain what is proved of one of their sides."""
    matrix = asked.matrix[some]
    end, terms, n = entry_rows(matrix), matrix.indices, len(some)
    value = asked.of_terms[side, terms]
    possible = np.bincount(end, ~extremes.are_possible(terms, value), n) == 0
    combinations = extremes.combinations(terms, value, end, n)
    used = np.unique(combinations.indices)
    change = combinations[:, used] @ extremes.parts[used].toarray()
    leverage = np.bincount(end, compensation.leverage[extremes.bucket[terms]], n)
    return possible & compensation.suffices(change @ compensation.root, change @ compensation.outside, leverage)
