"""Knowledge that cannot be true: a solve ends in Infeasible."""

from __future__ import annotations

from ...sources.statements import P
from .problem import Problem, into
from .published import CUBE, FIGURE_1C, ROOMY, SQUARE, p

__all__ = [
    "CONTRADICTIONS",
]

CONTRADICTIONS: list[Problem] = []
known = into(CONTRADICTIONS)
x = p("s1", "q1")


@known
def more_than_the_largest_value() -> Problem:
    """n(q1, s1) is n(s1) = 3 of 4 people at the most."""
    return Problem(SQUARE, [x == 0.7501], None)


@known
def at_least_more_than_the_largest_value() -> Problem:
    """n(q1, s1) is n(s1) = 3 of 4 people at the most."""
    return Problem(SQUARE, [x >= 0.7501], None)


@known
def less_than_the_least_value() -> Problem:
    """n(q1, s1) is 4 + 3 - 6 = 1 of 4 people at the least."""
    return Problem(SQUARE, [x == 0.2499], None)


@known
def no_such_term_is_a_tenth() -> Problem:
    """q5 and s1 share no bucket: P(s1 | q5) is 0 whatever the distribution."""
    return Problem(FIGURE_1C, [p("s1", "q5") == 0.1], None)


@known
def no_such_term_at_least() -> Problem:
    """q5 and s1 share no bucket: P(s1 | q5) is 0 whatever the distribution."""
    return Problem(FIGURE_1C, [p("s1", "q5") >= 0.1], None)


@known
def two_values() -> Problem:
    """n(q1, s1) = 1.6 leaves 1.4 of q2's 2 people for s1, which is 0.7."""
    return Problem(SQUARE, [x == 0.4, p("s1", "q2") == 0.5], None)


@known
def below_and_above() -> Problem:
    """s1 or s2 is 1, and these leave no more than 0.9."""
    return Problem(SQUARE, [x <= 0.4, p("s2", "q1") <= 0.5], None)


@known
def not_what_is_published() -> Problem:
    """Two of ten have s1."""
    return Problem(FIGURE_1C, [P("s1") == 0.3], None)


@known
def two_people_one_value() -> Problem:
    """There is one s1, and q1 has it."""
    return Problem(CUBE, [x == 1, p("s1", "q2") >= 0.1], None)


@known
def nobody_is_left() -> Problem:
    """Somebody has s1."""
    return Problem(CUBE, [p("s1", q) == 0 for q in ("q1", "q2", "q3")], None)


@known
def more_than_the_largest_value_of_a_sum() -> Problem:
    """Three places for s1 and s2 in bucket 1, one in bucket 2: q1 has 2 + 1 of 4, see `largest value of a sum`."""
    return Problem(ROOMY, [p(["s1", "s2"], "q1") == 0.7501], None)


@known
def crosswise_and_more() -> Problem:
    """q1 and q2 hold 1.2 + 1 people in s1 and s2, and there are two of them. No row says so by itself."""
    return Problem(CUBE, [x + p("s2", "q2") == 1.2, p("s2", "q1") + p("s1", "q2") == 1], None)
