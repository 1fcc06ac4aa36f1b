"""Convex constraints of one's own, in CVXPY: a backend gets them as ``convex=``."""

from __future__ import annotations

from collections.abc import Callable

from ...terms.space import Space
from .problem import Problem, into
from .published import SQUARE, SQUARE_ALONE, square

__all__ = [
    "CONVEX",
]

CONVEX: list[Problem] = []
known = into(CONVEX)


def near(value: float, eps: float) -> Callable[[Space], object]:
    """(P(s1 | q1) - value)^2 <= eps^2, whose tangent is flat at the value."""

    def parabola(space: Space) -> object:
        return (space.prob("s1", given={"Q": "q1"}) - value) ** 2 <= eps**2

    return parabola


@known
def within_a_parabola() -> Problem:
    """(P(s1 | q1) - 0.2)^2 <= 0.01 lowers P(s1 | q1) from 0.5 to 0.3, which is x = 1.2."""
    return Problem(SQUARE, [near(0.2, 0.1)], square(1.2))


@known
def within_a_wide_parabola() -> Problem:
    """(P(s1 | q1) - 0.2)^2 <= 0.16 allows 0.5, which Eq. (9) says: it does not bind."""
    return Problem(SQUARE, [near(0.2, 0.4)], SQUARE_ALONE)


@known
def beyond_a_parabola() -> Problem:
    """(P(s1 | q1) - 0.1)^2 <= 0.01 asks for 0.2 at the most, and 1 of 4 people is the least."""
    return Problem(SQUARE, [near(0.1, 0.1)], None)
