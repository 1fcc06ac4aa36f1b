"""How long a question about a model may take."""

from __future__ import annotations

import math

from ..errors import arguments

__all__ = ["seconds_for"]

#: Seconds for a question about whole assignments, an integer program, unless the user says otherwise.
WHOLE_ASSIGNMENTS = 60.0


def seconds_for(time_limit: float | None, integer: bool = False) -> float:
    """Read a time limit; by default there is none, but for whole assignments."""
    if time_limit is None:
        return WHOLE_ASSIGNMENTS if integer else math.inf
    return arguments.seconds(time_limit, "time_limit")
