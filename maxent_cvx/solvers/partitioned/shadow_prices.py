"""Multipliers of the rows of knowledge as shadow prices: whether they belong to the answer.

The derivative of the maximum of sum x log(w / x) with respect to the side of a row is -m, if every term is
x = w exp(A' m - 1). That a term is zero, no multiplier tells. So what statements of 0 and the published rows determine
is left out first, which no other row can change; over the other terms, the multipliers have to give the answer. Where
they do not, or where other counts are nearly 0, so that rows may force them to be 0, the multipliers are recovered from
the counts of all partitions in memory, if these are few enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..explain import PRECISE_LOG, SMALL_COUNT, multipliers_beside
from ..parameters.dual_methods import PARTITIONED
from ..program.linear_form import LinearForm
from ..program.shared_columns import SharedColumns
from ..program.split_matrix import SplitMatrix
from ..rows.sparse import entry_rows
from .bucket_multipliers import first_state, minimised
from .executing import Executor
from .minimising import presolved
from .part import Part
from .projection import PointPart
from .reduction import ReducedPart

__all__ = ["price_multipliers"]


def price_multipliers(
    parts: Sequence[Any],
    points: Sequence[Any],
    shared: LinearForm,
    multipliers: np.ndarray,
    n_records: float,
    executor: Executor,
) -> np.ndarray | None:
    """Multipliers of the knowledge whose opposites are derivatives; None if there are too many counts to tell.

    Parameters
    ----------
    parts, points : sequence of handles of Part, and of PointPart
    shared : LinearForm
        The rows of knowledge without terms.
    multipliers : ndarray, one a row of knowledge
    n_records : float
    executor : Executor

    Returns
    -------
    ndarray, one a row of knowledge
        Infinite where a row forces terms to be 0.
    """
    signs = executor.reduce(either, executor.map(signs_of, parts))
    is_hard = np.arange(shared.shape[0]) < shared.n_hard
    empty_above = is_hard & signs[0] & ~signs[1] & (shared.high == 0)
    empty_below = is_hard & signs[1] & ~signs[0] & (shared.low == 0)
    empty = empty_above | empty_below
    alone = replace(
        shared, low=np.where(empty, shared.low, -np.inf), high=np.where(empty, shared.high, np.inf), penalties=None
    )
    left, _ = presolved(parts, alone, n_records, executor)
    off = executor.reduce(max, executor.map(difference, left, points, common=(np.where(empty, 0.0, multipliers),)))
    if not off <= PRECISE_LOG:
        sizes = executor.gather(executor.map(_size, points))
        if sum(sizes) > PARTITIONED.prices_in_memory:
            return None
        form, counts = _together(executor.gather(parts), executor.gather(points), shared)
        found = multipliers_beside(form, counts, multipliers[shared.n_hard :])[form.n_published :]
        return None if np.isnan(found).any() else found
    return np.where(empty_above, -np.inf, np.where(empty_below, np.inf, multipliers))


def _size(point: PointPart) -> int:
    """The number of terms of a partition."""
    return len(point.counts)


def _together(parts: Sequence[Part], points: Sequence[PointPart], shared: LinearForm) -> tuple[LinearForm, np.ndarray]:
    """The rows of all partitions, and the counts, as of a problem in memory; what is nearly 0 counts as 0."""
    forms = [part.form.select(np.arange(part.form.n_published)) for part in parts]
    known = [part.form.known.distinct[:, part.form.known.of_term] for part in parts]
    n = sum(form.n_published for form in forms)
    published = sp.csr_array(sp.block_diag([form.published for form in forms], format="csr"))
    rows: dict[str, Any] = {
        name: np.concatenate([*(getattr(form, name) for form in forms), getattr(shared, name)])
        for name in ("low", "high", "scale", "shift", "side_error", "coefficient_error")
    }
    form = replace(
        shared,
        coefficients=SplitMatrix(published, SharedColumns(sp.csr_array(sp.hstack(known)))),
        n_published=n,
        n_facts=n + shared.n_facts,
        weights=np.concatenate([part.form.weights for part in parts]),
        **rows,
    )
    counts = np.concatenate([point.counts for point in points])
    return form, np.where(counts <= form.zero_tolerance, 0.0, counts)


def signs_of(part: Part) -> np.ndarray:
    """Mark the rows of knowledge that have positive coefficients on terms of a partition, and negative ones."""
    distinct = part.form.known.distinct
    found = np.zeros((2, distinct.shape[0]), dtype=bool)
    for own, has in zip(found, (distinct.data > 0, distinct.data < 0), strict=True):
        own[entry_rows(distinct)[has]] = True
    return found


def either(some: Sequence[np.ndarray]) -> np.ndarray:
    """Mark what is marked in any partition."""
    return np.logical_or.reduce(list(some))


def difference(left: ReducedPart, point: PointPart, multipliers: np.ndarray) -> float:
    """The largest difference between the logarithm of a count and what multipliers of the knowledge imply."""
    if not len(left.terms):
        return 0.0
    implied = minimised(left, first_state(left), multipliers, PARTITIONED.tolerance).counts
    if (point.counts[left.terms] < SMALL_COUNT).any():
        return np.inf  # rows may force these to be 0
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(np.log(implied) - np.log(point.counts[left.terms]))
    return float(np.where(np.isnan(off), np.inf, off).max())
