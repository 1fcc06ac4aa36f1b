"""Intervals for numbers of records, which are integers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress

import numpy as np

from ...errors import StatementError, listing

__all__ = ["integer_counts"]

#: Roundoff in a side of an interval, records, within which it still reaches an integer.
ROUNDOFF = 1e-9


def integer_counts(
    low: np.ndarray, high: np.ndarray, names: Iterable[object], what: str
) -> tuple[np.ndarray, np.ndarray]:
    """Round each interval inwards to integers.

    Parameters
    ----------
    low, high : ndarray
        Records.
    names : iterable, one an interval
        What is counted.
    what : str
        What a number is of it, for the error: "an answer to".

    Raises
    ------
    StatementError
        If an interval holds no whole number.
    """
    low, high = np.ceil(low - ROUNDOFF), np.floor(high + ROUNDOFF)
    if (none := low > high).any():
        raise StatementError(
            f"no whole number of people is {what} {listing(compress(names, none))}; integer=False takes any number"
        )
    return low, high
