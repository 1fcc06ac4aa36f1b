"""The multiplier of a budget: the root of a decreasing function, by the secant method inside a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["decreasing_root"]


def decreasing_root(
    function: Callable[[float], float], start: float, tolerance: float, width: float, largest: float, most: int
) -> tuple[float, float]:
    """Find t > 0 with abs(function(t)) <= tolerance for a decreasing function that is positive at 0.

    Parameters
    ----------
    function : callable
    start : float
        Where to begin, > 0.
    tolerance : float
        Of the value.
    width : float
        Of the interval that t lies in, relative.
    largest : float
        The largest t that is tried.
    most : int
        The largest number of evaluations.

    Returns
    -------
    t, value : float
        The point of the smallest absolute value that was found; value > tolerance if there is no root up to `largest`.
    """
    low, high, f_low, f_high = 0.0, math.inf, math.nan, math.nan
    t, best, moved = start, (start, math.inf), ""
    for _ in range(most):
        value = function(t)
        if abs(value) < abs(best[1]):
            best = t, value
        if abs(value) <= tolerance or (value > 0 and t >= largest):
            break
        if value > 0:
            f_high = f_high / 2 if moved == "low" else f_high  # Illinois: the same end moves twice
            low, f_low, moved = t, value, "low"
        else:
            f_low = f_low / 2 if moved == "high" else f_low
            high, f_high, moved = t, value, "high"
        if low > 0 and high - low <= width * low:
            break
        if math.isinf(high):
            t = min(8 * t, largest)
        elif low == 0:
            t = high / 8
        else:
            t = low + (high - low) * f_low / (f_low - f_high)
            if not low < t < high:
                break
    return best
