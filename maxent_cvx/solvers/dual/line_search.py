"""The line search: Armijo's rule along a projected Newton step, for kinks and for terms that vanish."""

from __future__ import annotations

import numpy as np

from ..tolerances import LINE_SEARCH
from .dual import Dual, Point

__all__ = ["line_search"]


def line_search(dual: Dual, point: Point, step: np.ndarray) -> tuple[Point | None, bool]:
    """Go along a step, shortened until the dual function decreases enough; None if it does not.

    A term that is zero in every solution shrinks by a factor e a Newton step, for ever: then the function keeps
    decreasing along the step, which is lengthened as long as it does.

    Returns
    -------
    trial : Point or None
    lengthened : bool
    """
    length, slope = 1.0, dual.slope(point, step)
    first = first_kink(dual, point, step)
    trial, cap = trial_point(dual, point, step, length), 1.0
    while not _decreases_enough(dual, point, trial):
        if length == 1:  # a term that has become far too small has a Newton step that is far too long
            cap = step_cap(dual, step)
        # Up to the first kink the function is smooth; there the inequality leaves, and the next step is free of it.
        length = first if length / 2 < first < length else min(length / 2, cap)
        if length < LINE_SEARCH.shortest * cap or not slope < 0:
            return None, False
        trial = trial_point(dual, point, step, length)
    is_flat = slope >= -LINE_SEARCH.flat * point.rounding
    if length < 1 or is_flat or slope_beyond(dual, point, trial, step) >= LINE_SEARCH.steep * slope:
        return trial, False
    while length < LINE_SEARCH.longest:
        further = trial_point(dual, point, step, 2 * length)
        if not slope_beyond(dual, point, further, step) < 0:
            break
        trial, length = further, 2 * length
    return trial, True


def _decreases_enough(dual: Dual, point: Point, trial: Point) -> bool:
    """Armijo's rule. The promise is that of the way gone (Bertsekas): multipliers that stop at 0 go less far."""
    promised = min(dual.slope(point, trial.m - point.m), 0.0)
    return bool(trial.value <= point.value + LINE_SEARCH.armijo * promised + point.rounding)


def step_cap(dual: Dual, step: np.ndarray) -> float:
    """The multiple of a step, at most 1, with which no count rises by more than the largest rise that is allowed."""
    rise = float(np.max(dual.form.rmatvec(step), initial=0.0, where=~dual.removed))
    return min(1.0, LINE_SEARCH.largest_rise / rise) if rise > 0 else 1.0


def trial_point(dual: Dual, point: Point, step: np.ndarray, length: float) -> Point:
    """The point so far along a step; the multiplier of an inequality stops where it would change its sign."""
    m = point.m + length * step
    m[dual.ranges[point.m[dual.ranges] * m[dual.ranges] < 0]] = 0.0
    return dual.at(m)


def first_kink(dual: Dual, point: Point, step: np.ndarray) -> float:
    """The multiple of a step just past where a first multiplier of an inequality reaches 0; infinite if none does."""
    crosses = dual.ranges[point.m[dual.ranges] * step[dual.ranges] < 0]
    return float((1 + LINE_SEARCH.past_kink) * np.min(-point.m[crosses] / step[crosses], initial=np.inf))


def slope_beyond(dual: Dual, point: Point, trial: Point, step: np.ndarray) -> float:
    """The slope at a trial point, of what has not been stopped on the way there."""
    stopped = dual.is_range & (trial.m == 0) & (point.m != 0)
    return dual.slope(trial, np.where(stopped, 0.0, step))
