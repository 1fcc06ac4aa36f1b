"""Answers with zeros, where multipliers are infinite."""

from __future__ import annotations

from .problem import Problem, into
from .published import CUBE, FIGURE_1C, ROOMY, SQUARE, THIRDS, p

__all__ = [
    "BOUNDARY",
]

BOUNDARY: list[Problem] = []
known = into(BOUNDARY)
x = p("s1", "q1")
#: Privacy-MaxEnt, section 3.1: q2 has not s1, q3 neither s1 nor s2.
BREAST_CANCER = [p("s1", "q2") == 0, p(["s1", "s2"], "q3") == 0]
#: In bucket 1, q3 can then only be s3, q2 only s2, and one of the two q1 is s1, the other s2.
CERTAIN = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
#: x is n(s1) = 3 of 4 people at the most, and 4 + 3 - 6 = 1 at the least.
MOST, LEAST = ([[3, 1], [0, 2]],), ([[1, 3], [2, 0]],)


@known
def two_zeros_decide_a_bucket() -> Problem:
    """Privacy-MaxEnt, section 3.1, bucket 1: q3 can only be s3, q2 then only s2, and q1 is s1 once and s2 once."""
    return Problem(FIGURE_1C[:1], BREAST_CANCER, (CERTAIN,))


@known
def two_zeros() -> Problem:
    """Privacy-MaxEnt, section 3.1, all three buckets."""
    second = [[0.5, 0.25, 0.25], [0, 0.5, 0.5], [0.5, 0.25, 0.25]]
    return Problem(FIGURE_1C, BREAST_CANCER, (CERTAIN, second, THIRDS))


@known
def a_rule_without_exception() -> Problem:
    """q1 has s1 for certain; two people and two values are left, which are alike."""
    return Problem(CUBE, [x == 1], ([[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]],))


@known
def a_zero() -> Problem:
    """q1 has s2 or s3, which are alike; q2 and q3, who are alike, share s1 and what is left."""
    return Problem(CUBE, [x == 0], ([[0, 0.5, 0.5], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]],))


@known
def largest_value() -> Problem:
    """n(q1, s1) is n(s1) = 3 of 4 people at the most, and then all else is decided."""
    return Problem(SQUARE, [x == 0.75], MOST)


@known
def at_least_the_largest_value() -> Problem:
    """As `largest value`, by an inequality."""
    return Problem(SQUARE, [x >= 0.75], MOST)


@known
def least_value() -> Problem:
    """n(q1, s1) is 4 + 3 - 6 = 1 of 4 people at the least, and then all else is decided."""
    return Problem(SQUARE, [x == 0.25], LEAST)


@known
def at_most_the_least_value() -> Problem:
    """As `least value`, by an inequality."""
    return Problem(SQUARE, [x <= 0.25], LEAST)


@known
def largest_value_rounded_up() -> Problem:
    """3 of 10 people is the most, written as a sum that rounds to 0.30000000000000004."""
    return Problem([("q1*10 q2*10", "s1*3 s2*17")], [x == 0.1 + 0.2], ([[3, 7], [0, 10]],))


@known
def two_values_for_certain() -> Problem:
    """Nothing is left of q1 for s3, which no row says by itself; the rest by symmetry."""
    table = [[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]]
    return Problem(CUBE, [p(["s1", "s2"], "q1") == 1], (table,))


@known
def largest_value_of_a_sum() -> Problem:
    """s1 and s2 have room for two of q1's people in bucket 1 and for one in bucket 2: 3 of 4 is the most."""
    first = [[2 / 3, 4 / 3, 0], [1 / 3, 2 / 3, 1]]
    return Problem(ROOMY, [p(["s1", "s2"], "q1") == 0.75], (first, [[1, 1], [0, 1]]))


@known
def certain_in_two_buckets() -> Problem:
    """In bucket 1 the two q1 take both s1, and q2 is s3; in bucket 2 the q1 have 2 * (2/3, 1/3) of s1 and s2."""
    split, second = (("q1*2 q2", "s1*2 s3"), ("q1*2 q2*2", "s1*2 s2 s3")), [[4 / 3, 2 / 3, 0], [2 / 3, 1 / 3, 1]]
    return Problem(split, [p(["s1", "s2"], "q1") == 1], ([[2, 0], [0, 1]], second))


@known
def crosswise() -> Problem:
    """All of q1 and q2 in s1 and s2 is 1 + 1 people: nothing is left of either for s3, and q3 is s3."""
    both = [x + p("s2", "q2") == 1, p("s2", "q1") + p("s1", "q2") == 1]
    return Problem(CUBE, both, ([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]],))
