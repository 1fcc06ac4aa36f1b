"""Soft statements: the multiplier is the slope of the cost at the answer, divided by what a unit is in records."""

from __future__ import annotations

import math

from ...sources.soft import soft
from .problem import Problem, into
from .published import SQUARE, SQUARE_ALONE, p, square, square_dual

__all__ = [
    "SOFT",
]

SOFT: list[Problem] = []
known = into(SOFT)
x = p("s1", "q1")
#: The multiplier of a row that lowers n(q1, s1) = 4 P(s1 | q1) from 2 to 1.6, so that P(s1 | q1) = 0.4: below zero.
DOWN = square_dual(1.6)
#: The slope of the cost that does so, nats per unit of P(s1 | q1), of which one is four records.
SLOPE = -4 * DOWN
#: With this standard deviation a miss by 0.1 has that slope.
SD = math.sqrt(0.1 / SLOPE)


@known
def missed_by_its_variance_times_the_slope() -> Problem:
    """P(s1 | q1) ~ 0.3 is missed by 0.1, as (0.4 - 0.3) / sd^2 is the slope of the entropy at 0.4."""
    return Problem(SQUARE, [x.softly(0.3, sd=SD)], square(1.6), [DOWN])


@known
def met_at_a_price_below_its_weight() -> Problem:
    """An absolute cost twice as steep as the entropy at 0.4 is avoided: the answer is that of the equation."""
    return Problem(SQUARE, [x.softly(0.4, weight=2 * SLOPE)], square(1.6), [DOWN])


@known
def missed_at_a_price_of_its_weight() -> Problem:
    """An absolute cost pulls towards 0.2 with its weight, which is the slope of the entropy at 0.4."""
    return Problem(SQUARE, [x.softly(0.2, weight=SLOPE)], square(1.6), [DOWN])


@known
def missed_beyond_delta() -> Problem:
    """Huber's cost is linear from a miss by 0.1 on, with the slope 0.1 / sd^2, and 0.2 is missed by 0.2."""
    return Problem(SQUARE, [x.softly(0.2, sd=SD, delta=0.1)], square(1.6), [DOWN])


@known
def missed_within_delta() -> Problem:
    """Huber's cost is a square up to a miss by 0.15, and 0.3 is missed by 0.1."""
    return Problem(SQUARE, [x.softly(0.3, sd=SD, delta=0.15)], square(1.6), [DOWN])


@known
def softly_at_most_and_it_is() -> Problem:
    """P(s1 | q1) is 0.5 by Eq. (9), which is below 0.6 already, and costs nothing."""
    return Problem(SQUARE, [soft(x <= 0.6, sd=SD)], SQUARE_ALONE, [0.0])


@known
def softly_at_most_and_it_is_more() -> Problem:
    """An inequality that is missed costs what the equation costs."""
    return Problem(SQUARE, [soft(x <= 0.3, sd=SD)], square(1.6), [DOWN])


@known
def softly_between() -> Problem:
    """Of 0.1 and 0.3 the nearer side is missed by 0.1."""
    return Problem(SQUARE, [soft(x.between(0.1, 0.3), sd=SD)], square(1.6), [DOWN])


@known
def two_that_disagree() -> Problem:
    """0.2 and 0.5 with one sd: their slopes at 0.4 are -0.2 / sd^2 and 0.1 / sd^2, together that of the entropy."""
    return Problem(SQUARE, [x.softly(0.2, sd=SD), x.softly(0.5, sd=SD)], square(1.6), [2 * DOWN, -DOWN])


@known
def soft_beside_hard() -> Problem:
    """P(s1 | q1) = 0.4 stays; what pulls at it with a slope of 2 / 4 a record is taken off its multiplier."""
    return Problem(SQUARE, [x == 0.4, x.softly(0.1, weight=2)], square(1.6), [DOWN + 0.5, -0.5])
