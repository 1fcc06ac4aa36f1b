"""How far to go along a step: Armijo's rule, made for kinks and for cells that vanish."""

from __future__ import annotations

import numpy as np

from .dual import Dual, Point

__all__ = ["descend"]

#: A step is lengthened if the function falls at its end by this share of its first slope, or more.
STILL_FALLING = 0.2
#: Shortest and longest multiple of a Newton step.
SHORTEST, LONGEST = 1e-6, 64.0
#: No count rises by more than e to this power in a step that had to be shortened.
LEAP = 30.0


def descend(dual: Dual, point: Point, step: np.ndarray) -> tuple[Point | None, bool]:
    """Go along a step, shortening it until the dual function falls enough; None if it does not.

    A cell that must vanish shrinks by a factor e a Newton step, for ever: then the function keeps
    falling along the step, which is lengthened as long as it does.

    Returns
    -------
    point : Point or None
    lengthened : bool
    """
    length, slope = 1.0, dual.slope(point, step)
    rounding = point.rounding
    first = first_kink(dual, point, step)
    there, most = go(dual, point, step, length), 1.0
    # What is expected is what the way really gone promises (Bertsekas): multipliers that stop at 0 go less far.
    while not there.value <= point.value + 1e-4 * min(dual.slope(point, there.m - point.m), 0.0) + rounding:
        if length == 1:  # a cell that has become far too small has a Newton step that is far too long
            most = leap(dual, step)
        # Up to the first kink the function is smooth; there the inequality leaves, and the next step is free of it.
        length = first if length / 2 < first < length else min(length / 2, most)
        if length < SHORTEST * most or not slope < 0:
            return None, False
        there = go(dual, point, step, length)
    if length < 1 or slope >= -10 * rounding or still_falls(dual, point, there, step) >= STILL_FALLING * slope:
        return there, False
    while length < LONGEST:
        further = go(dual, point, step, 2 * length)
        if not still_falls(dual, point, further, step) < 0:
            break
        there, length = further, 2 * length
    return there, True


def leap(dual: Dual, step: np.ndarray) -> float:
    """The multiple of a step, at most 1, with which the count that rises most does so by e to the power of LEAP."""
    rise = float(np.max(dual.form.spread(step), initial=0.0, where=~dual.dropped))
    return min(1.0, LEAP / rise) if rise > 0 else 1.0


def go(dual: Dual, point: Point, step: np.ndarray, length: float) -> Point:
    """Go so far along a step; the multiplier of an inequality stops where it would change its sign."""
    m = point.m + length * step
    m[dual.ranges[point.m[dual.ranges] * m[dual.ranges] < 0]] = 0.0
    return dual.at(m)


def first_kink(dual: Dual, point: Point, step: np.ndarray) -> float:
    """Multiple of a step, and a hair more, at which a first multiplier of an inequality reaches 0; or infinity."""
    crosses = dual.ranges[point.m[dual.ranges] * step[dual.ranges] < 0]
    return float((1 + 1e-12) * np.min(-point.m[crosses] / step[crosses], initial=np.inf))


def still_falls(dual: Dual, point: Point, there: Point, step: np.ndarray) -> float:
    """Slope at a point reached along a step, of what has not been stopped on the way."""
    stopped = dual.is_range & (there.m == 0) & (point.m != 0)
    return dual.slope(there, np.where(stopped, 0.0, step))
