"""Intervals of numbers of people, which are whole."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress

import numpy as np

from ...errors import StatementError, listing

__all__ = ["whole_counts"]

#: People that a side of an interval may be off by rounding, and still reach a whole number.
ROUNDING = 1e-9


def whole_counts(
    low: np.ndarray, high: np.ndarray, names: Iterable[object], what: str
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest whole number of each interval.

    Parameters
    ----------
    low, high : ndarray
        People.
    names : iterable, one an interval
        What is counted.
    what : str
        What a number is of it, for the error: "an answer to".

    Raises
    ------
    StatementError
        If an interval holds no whole number.
    """
    low, high = np.ceil(low - ROUNDING), np.floor(high + ROUNDING)
    if (none := low > high).any():
        raise StatementError(
            f"no whole number of people is {what} {listing(compress(names, none))}; integer=False takes any number"
        )
    return low, high
