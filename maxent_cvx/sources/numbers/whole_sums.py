"""Sums of whole numbers are whole: an interval about one is rounded inwards, and is an equation if it is narrow.

A statistic that is published as it was computed is known up to rounding errors. The sums behind it are not: of numbers
with few decimals, the sum is a multiple of the last one, and the only one in so small an interval. So the rows are
equations in whole numbers, which rounding cannot make contradict what is published.
"""

from __future__ import annotations

import numpy as np

__all__ = ["LARGEST", "whole_sums"]

#: The most decimals that are looked for.
DECIMALS = 4
#: A product of two numbers with few decimals is off by so many unit roundoffs at most.
ROUNDOFFS = 8 * np.finfo(float).eps
#: Whole numbers below this are doubles, and so are their products with numbers of people.
LARGEST = 2.0**40
#: Rounding of the sides, of their size; it widens.
SIDES = 1e-12


def whole_sums(weights: np.ndarray, low: float, high: float) -> tuple[np.ndarray, float, float, int | None]:
    """Round ``low <= sum weights <= high`` inwards, where all weights are multiples of a power of 1/10.

    Parameters
    ----------
    weights : ndarray
        What each person may add to the sum.
    low, high : float

    Returns
    -------
    weights, low, high
        Whole numbers, if the weights have few decimals and a whole number is in the interval; else as they were.
    int or None
        By which power of 10 they were multiplied to be whole; None if they are not.
    """
    for places in range(DECIMALS + 1):
        scaled = weights * 10.0**places
        nearest = np.rint(scaled)
        if (np.abs(scaled - nearest) <= ROUNDOFFS * np.abs(scaled)).all() and np.abs(nearest).max(initial=0) < LARGEST:
            sides = np.array([low, high]) * 10.0**places
            off = np.where(np.isfinite(sides), SIDES * np.abs(sides), 0.0)
            least, most = np.ceil(sides[0] - off[0]), np.floor(sides[1] + off[1])
            return (nearest, float(least), float(most), places) if least <= most else (weights, low, high, None)
    return weights, low, high, None
