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

__all__ = ["DIAGNOSIS", "check_step", "check_time", "diagnosing", "seconds_left", "within"]

#: Seconds that the search for a contradiction may take after an uncertified answer, and so each search for zeros.
DIAGNOSIS = 60.0

#: Steps of a solve that are not its solver's may take this share of the time more, and at least so many seconds: small
#: models are presolved and certified whatever the limit is.
GRACE, LEAST_GRACE = 0.1, 1.0
#: Seconds by which two limits differ that are the same: what is left of the outer one, handed on.
ALIKE = 0.01
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
    outer, until = _UNTIL.get(), time.perf_counter() + seconds
    token = _UNTIL.set((until, seconds) if until < outer[0] - ALIKE else outer)
    try:
        yield
    finally:
        _UNTIL.reset(token)


@contextmanager
def diagnosing() -> Iterator[list[NotDecided]]:
    """Let a search inside end after :data:`DIAGNOSIS` seconds; if it did, the list that is given holds the error.

    Raises
    ------
    NotDecided
        If an outer limit is over.
    """
    undecided: list[NotDecided] = []
    try:
        with within(DIAGNOSIS):
            yield undecided
    except NotDecided as error:
        check_time()
        undecided.append(error)


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


def check_step() -> None:
    """Stop between two steps of a solve, such as those of presolve, if the time has been over for a while.

    Raises
    ------
    NotDecided
    """
    until, seconds = _UNTIL.get()
    if time.perf_counter() > until + max(GRACE * seconds, LEAST_GRACE):
        raise NotDecided(
            f"the model was not presolved and certified in {seconds:.3g} seconds; give more time, time_limit=..., or "
            "make it smaller"
        )
