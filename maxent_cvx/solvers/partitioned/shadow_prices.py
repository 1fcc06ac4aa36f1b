"""Multipliers of the rows of knowledge as shadow prices: whether they belong to the answer.

The derivative of the maximum of sum x log(w / x) with respect to the side of a row is -m, if every term is
x = w exp(A' m - 1). That a term is zero, no multiplier tells. So what statements of 0 and the published rows determine
is left out first, which no other row can change; over the other terms, the multipliers have to give the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..parameters.dual_methods import PARTITIONED
from ..parameters.tolerances import MULTIPLIERS
from ..program.linear_form import LinearForm
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
    """Multipliers of the knowledge whose opposites are derivatives; None if some count is determined in another way.

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
        Infinite where a row says that a sum of terms is 0.
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
    if not off <= MULTIPLIERS.precise:
        return None
    return np.where(empty_above, -np.inf, np.where(empty_below, np.inf, multipliers))


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
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(np.log(implied) - np.log(point.counts[left.terms]))
    return float(np.where(np.isnan(off), np.inf, off).max())
