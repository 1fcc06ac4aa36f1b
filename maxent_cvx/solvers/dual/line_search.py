"""The line search: Armijo's rule along a projected Newton step, with kinks and with terms that tend to zero."""

from __future__ import annotations

import numpy as np

from ..parameters.dual_methods import LINE_SEARCH
from .dual import Dual, Point

__all__ = ["line_search"]


def line_search(dual: Dual, point: Point, step: np.ndarray) -> tuple[Point | None, float, bool]:
    """Backtrack along a step until the dual function decreases enough, or lengthen it while the function decreases.

    A term that is zero in every solution shrinks by a factor e in every Newton step, so that Newton's method never
    ends. The function then still decreases at the end of the step, which is doubled for as long as that is so.

    Returns
    -------
    trial : Point or None
        None if no multiple of the step decreases the function enough.
    length : float
        The multiple of the step that was taken.
    falls_beyond : bool
        Whether the function still decreased at the end of the whole step, so that a longer one was tried.
    """
    length, slope = 1.0, dual.directional_derivative(point, step)
    first = first_kink(dual, point, step)
    trial, cap = trial_point(dual, point, step, length), 1.0
    while not _decreases_enough(dual, point, trial):
        if length == 1:  # where a count is far too small, the Newton step is far too long
            cap = step_cap(dual, step)
        # The function is smooth up to the first kink. A step that ends there makes that inequality inactive.
        length = first if length / 2 < first < length else min(length / 2, cap)
        if length < LINE_SEARCH.shortest * cap or not slope < 0:
            return None, 0.0, False
        trial = trial_point(dual, point, step, length)
    is_flat = slope >= -LINE_SEARCH.flat * point.rounding
    if length < 1 or is_flat or slope_at_trial(dual, point, trial, step) >= LINE_SEARCH.steep * slope:
        return trial, length, False
    while length < LINE_SEARCH.longest:
        further = trial_point(dual, point, step, 2 * length)
        if not slope_at_trial(dual, point, further, step) < 0:
            break
        trial, length = further, 2 * length
    return trial, length, True


def _decreases_enough(dual: Dual, point: Point, trial: Point) -> bool:
    """Armijo's rule for a projected step (Bertsekas): the predicted decrease is that of the projected displacement."""
    predicted = min(dual.directional_derivative(point, trial.m - point.m), 0.0)
    return bool(trial.value <= point.value + LINE_SEARCH.armijo * predicted + point.rounding)


def step_cap(dual: Dual, step: np.ndarray) -> float:
    """The largest multiple of a step, at most 1, by which no count grows by more than a factor exp(largest_rise)."""
    rise = dual.largest_rise(step)
    return min(1.0, LINE_SEARCH.largest_rise / rise) if rise > 0 else 1.0


def trial_point(dual: Dual, point: Point, step: np.ndarray, length: float) -> Point:
    """The projected point m + length * step: a multiplier of an inequality that would change its sign becomes 0.

    One that would exceed the slope of the cost of a soft row becomes that slope.
    """
    m = point.m + length * step
    m[dual.inequalities[point.m[dual.inequalities] * m[dual.inequalities] < 0]] = 0.0
    if dual.has_soft_rows:
        m = np.clip(m, -dual.slope, dual.slope)
    return dual.at(m)


def first_kink(dual: Dual, point: Point, step: np.ndarray) -> float:
    """The multiple of a step just past where a first multiplier of an inequality reaches 0; infinite if none does."""
    crosses = dual.inequalities[point.m[dual.inequalities] * step[dual.inequalities] < 0]
    return float((1 + LINE_SEARCH.past_kink) * np.min(-point.m[crosses] / step[crosses], initial=np.inf))


def slope_at_trial(dual: Dual, point: Point, trial: Point, step: np.ndarray) -> float:
    """The directional derivative at a trial point, along the components of the step that were not projected."""
    projected = dual.is_inequality & (trial.m == 0) & (point.m != 0)
    if dual.has_soft_rows:
        projected |= np.abs(trial.m) >= dual.slope
    return dual.directional_derivative(trial, np.where(projected, 0.0, step))
