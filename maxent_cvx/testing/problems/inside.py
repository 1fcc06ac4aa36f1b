"""Equations whose answer has no zeros."""

from __future__ import annotations

import math

from ...sources.statements import P
from .problem import Problem, into
from .published import (
    CUBE,
    EQUATION_9,
    FIGURE_1C,
    SQUARE,
    SQUARE_ALONE,
    THIRDS,
    TWIN,
    p,
    people_only,
    square,
    square_dual,
)

__all__ = [
    "INSIDE",
]

INSIDE: list[Problem] = []
known = into(INSIDE)
x = p("s1", "q1")


@known
def nothing_known() -> Problem:
    """Privacy-MaxEnt, Fig. 1(c), and Eq. (9): N P(q, s, b) = n(q, b) n(s, b) / n(b)."""
    return Problem(FIGURE_1C, [], EQUATION_9, [])


@known
def uniform() -> Problem:
    """Three people and three values are alike: by symmetry every entry is 1/3."""
    return Problem(CUBE, [], (THIRDS,), [])


@known
def one_person() -> Problem:
    """One person, one value, one term: 1."""
    return Problem([("q1", "s1")], [], ([[1]],), [])


@known
def one_QI_tuple() -> Problem:
    """Of one QI tuple the table is the published counts of the values."""
    return Problem([("q1*3", "s1 s2*2")], [], ([[1, 2]],), [])


@known
def one_value() -> Problem:
    """Of one value the table is the published counts of the QI tuples."""
    return Problem([("q1 q2*2", "s1*3")], [], ([[1], [2]],), [])


@known
def q1_in_two_buckets() -> Problem:
    """Eq. (9) in each bucket: 1 * 1 / 2 in the first, 2 * 1 / 2 in the second."""
    return Problem([("q1 q2", "s1 s2"), ("q1*2", "s1 s3")], [], ([[0.5, 0.5]] * 2, [[1, 1]]), [])


@known
def one_equation() -> Problem:
    """P(s1 | q1) = 0.4 of 4 people is x = 1.6, and the rest follows from the margins."""
    return Problem(SQUARE, [x == 0.4], square(1.6), [square_dual(1.6)])


@known
def many_people() -> Problem:
    """`one equation` with 10,000 times as many people: counts are as many times larger, the odds ratio is the same."""
    many = [("q1*40000 q2*20000", "s1*30000 s2*30000")]
    return Problem(many, [x == 0.4], ([[16e3, 24e3], [14e3, 6e3]],), [square_dual(1.6)])


@known
def true_anyway() -> Problem:
    """Eq. (9) says P(s1 | q1) = 0.5 already: the multiplier is 0."""
    return Problem(SQUARE, [x == 0.5], SQUARE_ALONE, [0.0])


@known
def close_to_the_largest_value() -> Problem:
    """Three of four is the most; 0.7499 leaves 0.0004 people of q2 for s1. As `one equation`."""
    return Problem(SQUARE, [x == 0.7499], square(2.9996), [square_dual(2.9996)])


@known
def one_in_a_million() -> Problem:
    """1e-6 of 4 people is 4e-6 of the 2 in s1; the multiplier is the log odds ratio again."""
    table, odds = [[4e-6, 4 - 4e-6], [2 - 4e-6, 2 + 4e-6]], 4e-6 * (2 + 4e-6) / ((4 - 4e-6) * (2 - 4e-6))
    return Problem([("q1*4 q2*4", "s1*2 s2*6")], [x == 1e-6], (table,), [math.log(odds)])


@known
def one_value_or_another() -> Problem:
    """P(s1 or s2 | q1) = 0.9. s1 and s2 are alike, and so are q2 and q3: 0.9 = 0.45 + 0.45."""
    others, odds = [0.275, 0.275, 0.45], 0.45 * 0.45 / (0.1 * 0.275)
    return Problem(CUBE, [p(["s1", "s2"], "q1") == 0.9], ([[0.45, 0.45, 0.1], others, others],), [math.log(odds)])


@known
def two_equal_buckets() -> Problem:
    """Two equal buckets share evenly, because entropy is concave: 1.4 = 0.7 + 0.7."""
    return Problem(TWIN * 2, [x == 0.7], ([[0.7, 0.3], [0.3, 0.7]],) * 2, [2 * math.log(0.7 / 0.3)])


@known
def one_certain_bucket() -> Problem:
    """Bucket 2 holds s1 only, so of the 0.8 * 2 people bucket 1 has 0.6."""
    tables = ([[0.6, 0.4], [0.4, 0.6]], [[1], [1]])
    return Problem([*TWIN, ("q1 q3", "s1*2")], [x == 0.8], tables, [2 * math.log(1.5)])


@known
def twice_as_likely() -> Problem:
    """P(s1 | q1) = 2 P(s1 | q2) is x = 2 (1 - x)."""
    table = [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]
    return Problem(TWIN, [x - 2 * p("s1", "q2") == 0], (table,), [math.log(4) / 1.5])


@known
def three_forms() -> Problem:
    """n(q1, s1) = 1.6 in three forms, of which any one is enough, so that their multipliers are anybody's choice."""
    return Problem(SQUARE, [x == 0.4, p("s2", "q1") == 0.6, p("s1", "q2") == 0.7], square(1.6))


@known
def a_multiple_and_a_bound() -> Problem:
    """n(q1, s1) = 1.6, twice that, and no more than that: as `one equation`."""
    return Problem(SQUARE, [x == 0.4, x + x == 0.8, x <= 0.4], square(1.6))


@known
def what_is_published() -> Problem:
    """P(s1) = 2 of 10 is published: Eq. (9) as it was."""
    return Problem(FIGURE_1C, [P("s1") == 0.2], EQUATION_9)


@known
def every_value_of_q1() -> Problem:
    """Everybody has some value: Eq. (9) as it was."""
    return Problem(FIGURE_1C, [p(["s1", "s2", "s3", "s4", "s5"], "q1") == 1], EQUATION_9)


@known
def no_such_term_is_0() -> Problem:
    """q5 is in bucket 3 only, where s1 is not: P(s1 | q5) is 0 whatever the distribution."""
    return Problem(FIGURE_1C, [p("s1", "q5") == 0], EQUATION_9)


@known
def loaded_die() -> Problem:
    """Jaynes' Brandeis dice (1962): a die whose mean is 4.5 has P(i) = exp(a i) / sum exp(a j)."""
    faces, low, high = range(1, 7), 0.0, 1.0
    for _ in range(60):  # the sum grows with a: halve
        a = (low + high) / 2
        low, high = (low, a) if sum((j - 4.5) * math.exp(a * j) for j in faces) > 0 else (a, high)
    total = sum(math.exp(a * j) for j in faces)
    mean = sum((j * P(f"s{j}") for j in faces[1:]), P("s1"))
    table = [[math.exp(a * j) / total for j in faces]]
    return Problem([("q1", "s1 s2 s3 s4 s5 s6")], [mean == 4.5], (table,), [6 * a], view=people_only)
