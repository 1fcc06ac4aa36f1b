"""Bound propagation over partitions: activity bounds of the rows of knowledge are sums over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..parameters.tolerances import EPS, PRESOLVE
from ..presolve.bound_propagation import Propagation, largest_activity, power_of_two_unit, row_rounding, slacks
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from .executing import Executor
from .part import Part

__all__ = ["Bounds", "propagated"]


class Bounds(NamedTuple):
    """Bounds on the terms of one partition, records, and whether the last round has changed any."""

    lower: np.ndarray
    upper: np.ndarray
    changed: bool = True


class Activity(NamedTuple):
    """What one partition, or some together, contribute to the rows of knowledge.

    Attributes
    ----------
    low, high : ndarray, one a row of knowledge
        The least and the largest value, records.
    size : ndarray, one a row of knowledge
        The largest value with all coefficients taken for positive, records.
    products : ndarray of int
        The number of products that were added up, 0 where all coefficients are 1 or -1.
    largest : float
        The largest value of a published row, records.
    changed : bool
        Whether bounds have changed.
    """

    low: np.ndarray
    high: np.ndarray
    size: np.ndarray
    products: np.ndarray
    largest: float
    changed: bool

    @staticmethod
    def added(some: Sequence[Activity]) -> Activity:
        """The contribution of some partitions together."""
        return Activity(
            np.sum([one.low for one in some], axis=0),
            np.sum([one.high for one in some], axis=0),
            np.sum([one.size for one in some], axis=0),
            np.sum([one.products for one in some], axis=0),
            max(one.largest for one in some),
            any(one.changed for one in some),
        )


def propagated(parts: Sequence[Any], shared: LinearForm, n_records: float, executor: Executor) -> list[Any]:
    """Handles of the :class:`Bounds` of every partition, as :func:`..presolve.bound_propagation.term_bounds` has them.

    Parameters
    ----------
    parts : sequence of handles of Part
    shared : LinearForm
        The rows of knowledge without terms.
    n_records : float
    executor : Executor

    Raises
    ------
    Infeasible
        If some row cannot hold within the bounds.
    """
    first = executor.reduce(Activity.added, executor.map(first_activity, parts, common=(n_records,)))
    unit = power_of_two_unit(max(first.largest, float(first.size.max(initial=0.0))))
    propagations = executor.map(propagation_of, parts, common=(n_records, unit))
    bounds = executor.map(first_bounds, propagations)
    of_sides = row_rounding(shared, unit)(np.zeros(0), np.zeros(0))
    for _ in range(PRESOLVE.propagation_rounds):
        found = executor.reduce(Activity.added, executor.map(activity_within, propagations, bounds))
        if not found.changed:
            break
        error = of_sides + np.where(found.products > 0, EPS * (found.products + 2) * found.size, 0.0)
        slack = slacks(shared, found.low, found.high, error)
        bounds = executor.map(tightened, propagations, bounds, common=slack)
    return bounds


def first_activity(part: Part, n_records: float) -> Activity:
    """The largest values that rows can have before anything is propagated."""
    form, none = part.form, np.zeros(part.form.shape[0] - part.form.n_published)
    published = form.select(np.arange(form.n_published))
    upper = np.minimum(form.upper_bound, n_records)
    size = abs(form.known.distinct) @ form.known.collect(upper)
    return Activity(none, none, size, none, largest_activity(published, n_records), True)


def propagation_of(part: Part, n_records: float, unit: float) -> Propagation:
    """What does not change from round to round."""
    return Propagation(part.form, n_records, unit)


def first_bounds(propagation: Propagation) -> Bounds:
    """The bounds that single published rows imply."""
    return Bounds(*propagation.start)


def activity_within(propagation: Propagation, bounds: Bounds) -> Activity:
    """Activity bounds of the rows of knowledge."""
    form, n = propagation.form, propagation.form.n_published
    low, high = (side[n:] for side in propagation.activity(bounds.lower, bounds.upper))
    distinct = form.known.distinct
    size = abs(distinct) @ form.known.collect(bounds.upper)
    mixed = np.bincount(entry_rows(distinct), np.abs(distinct.data) != 1, distinct.shape[0]) > 0
    return Activity(low, high, size, np.where(mixed, np.diff(distinct.indptr) + 1, 0), 0.0, bounds.changed)


def tightened(propagation: Propagation, bounds: Bounds, to_high: np.ndarray, to_low: np.ndarray) -> Bounds:
    """One round: the slack of its own published rows is found here, that of the rows of knowledge is given."""
    form, n = propagation.form, propagation.form.n_published
    within = bounds.lower, bounds.upper
    low, high = (side[:n] for side in propagation.activity(*within))
    error = row_rounding(form, propagation.unit)(*within)[:n]
    own = slacks(form.select(np.arange(n)), low, high, error)
    both = (np.concatenate(pair) for pair in zip(own, (to_high, to_low), strict=True))
    lower, upper = propagation.tightened(*within, *both)
    return Bounds(lower, upper, not (np.array_equal(lower, within[0]) and np.array_equal(upper, within[1])))
