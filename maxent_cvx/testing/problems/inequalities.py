"""Inequalities: complementary slackness makes the multiplier of one that does not bind zero."""

from __future__ import annotations

import math

from .problem import Problem, into
from .published import EQUATION_9, FIGURE_1C, SQUARE, SQUARE_ALONE, TWIN, p, square, square_dual

__all__ = [
    "INEQUALITIES",
]

INEQUALITIES: list[Problem] = []
known = into(INEQUALITIES)
x = p("s1", "q1")
#: Multipliers of rows that lower x from 2, its value without them, to 1.6, and raise it to 2.4: below and above zero.
DOWN, UP = square_dual(1.6), square_dual(2.4)


@known
def inactive_at_most() -> Problem:
    """P(s1 | q1) is 0.5 by Eq. (9), which is below 0.6 already."""
    return Problem(SQUARE, [x <= 0.6], SQUARE_ALONE, [0.0])


@known
def inactive_at_least() -> Problem:
    """P(s1 | q1) is 0.5 by Eq. (9), which is above 0.4 already."""
    return Problem(SQUARE, [x >= 0.4], SQUARE_ALONE, [0.0])


@known
def inactive_between() -> Problem:
    """P(s1 | q1) is 0.5 by Eq. (9), which is between 0.3 and 0.7 already."""
    return Problem(SQUARE, [x.between(0.3, 0.7)], SQUARE_ALONE, [0.0])


@known
def inactive_vague() -> Problem:
    """0.05 +- 0.6 is at most 0.65 (its lower side is below 0): 0.5 by Eq. (9) is."""
    return Problem(SQUARE, [x.about(0.05, eps=0.6)], SQUARE_ALONE, [0.0])


@known
def no_such_term_at_most() -> Problem:
    """q5 and s1 share no bucket: 0 is at most 0.1 whatever the distribution."""
    return Problem(FIGURE_1C, [p("s1", "q5") <= 0.1], EQUATION_9, [0.0])


@known
def no_such_term_about_0() -> Problem:
    """q5 and s1 share no bucket: 0 is 0 +- 0.2 whatever the distribution."""
    return Problem(FIGURE_1C, [p("s1", "q5").about(0, eps=0.2)], EQUATION_9, [0.0])


@known
def active_at_most() -> Problem:
    """0.5 by Eq. (9) is above 0.4: the row binds, and the answer is the equation's. Its upper side is active: m < 0."""
    return Problem(SQUARE, [x <= 0.4], square(1.6), [DOWN])


@known
def active_at_least() -> Problem:
    """0.5 by Eq. (9) is below 0.6: the row binds, and the answer is the equation's. Its lower side is active: m > 0."""
    return Problem(SQUARE, [x >= 0.6], square(2.4), [UP])


@known
def active_between_from_above() -> Problem:
    """Of 0.3 and 0.4 the nearer side binds, the upper one."""
    return Problem(SQUARE, [x.between(0.3, 0.4)], square(1.6), [DOWN])


@known
def active_between_from_below() -> Problem:
    """Of 0.6 and 0.7 the nearer side binds, the lower one."""
    return Problem(SQUARE, [x.between(0.6, 0.7)], square(2.4), [UP])


@known
def active_vague() -> Problem:
    """0.35 +- 0.05 is between 0.3 and 0.4."""
    return Problem(SQUARE, [x.about(0.35, eps=0.05)], square(1.6), [DOWN])


@known
def active_and_inactive() -> Problem:
    """n(q1, s1) = 1.6 leaves 1.4 of q2's 2 people for s1, which is more than the half that is asked for."""
    return Problem(SQUARE, [x <= 0.4, p("s1", "q2") >= 0.5], square(1.6), [DOWN, 0.0])


@known
def at_most_half_as_likely() -> Problem:
    """n(q1, s1) = x <= (1 - x) / 2 is active at x = 1/3."""
    half, table = x - 0.5 * p("s1", "q2") <= 0, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]]
    return Problem(TWIN, [half], (table,), [-math.log(4) / 1.5])
