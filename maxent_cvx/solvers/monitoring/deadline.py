"""A time limit for everything inside a block: whatever may take long asks how much is left.

Questions such as bounds and contradictions end in many linear programs, several calls below the one that was given the
limit; each asks here, and none need hand it on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...errors import NotDecided

__all__ = ["check_time", "seconds_left", "within"]

#: When the time is over, by the clock of :func:`time.perf_counter`, and the seconds that were given.
_UNTIL: ContextVar[tuple[float, float]] = ContextVar("until", default=(math.inf, math.inf))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let what is done inside end after so many seconds, or earlier if an outer limit says so.

    Parameters
    ----------
    seconds : float
        Infinity is no limit.
    """
    until = (time.perf_counter() + seconds, seconds)
    token = _UNTIL.set(min(until, _UNTIL.get()))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def seconds_left() -> float:
    """How many seconds are left, 0 or more; infinity without a limit."""
    return max(_UNTIL.get()[0] - time.perf_counter(), 0.0)


def check_time() -> None:
    """Stop if the time is over.

    Raises
    ------
    NotDecided
    """
    if seconds_left() <= 0:
        raise NotDecided(f"not decided in {_UNTIL.get()[1]:.3g} seconds; give more time, time_limit=..., or ask less")
