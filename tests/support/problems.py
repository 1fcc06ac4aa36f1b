"""Small models whose answers are known exactly: by formulas, symmetries, or the worked examples of the papers.

None of the answers was found by a solver. Those that `check_backend` uses stand in :mod:`maxent_cvx.testing`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from maxent_cvx.priors import QIDistribution
from maxent_cvx.sources.soft import soft
from maxent_cvx.sources.statements import P
from maxent_cvx.terms.space import Space
from maxent_cvx.testing import CUBE, SQUARE, Buckets, Problem, Table, members, p, publish, square, square_dual
from maxent_cvx.testing import PROBLEMS as TEN

__all__ = [
    "CONTRADICTORY",
    "CUBE",
    "FIGURE_1C",
    "PROBLEMS",
    "SOLVABLE",
    "SQUARE",
    "Buckets",
    "Problem",
    "Table",
    "find",
    "members",
    "p",
    "publish",
    "square_dual",
]

#: Every problem by its name.
PROBLEMS: dict[str, Problem] = dict(TEN)
x = p("s1", "q1")


def known(make: Callable[[], Problem]) -> Callable[[], Problem]:
    """Add what a function returns to the problems, with its name and docstring."""
    name, origin = make.__name__.replace("_", " "), inspect.getdoc(make) or ""
    PROBLEMS[name] = replace(make(), name=name, origin=origin)
    return make


#: Privacy-MaxEnt, Fig. 1(c).
FIGURE_1C = (("q1*2 q2 q3", "s1 s2*2 s3"), ("q1 q3 q4", "s1 s3 s4"), ("q2 q5 q6", "s2 s4 s5"))
#: Eq. (9) on it: n(q, b) n(s, b) / n(b); every entry of buckets 2 and 3 is 1 * 1 / 3.
THIRDS = [[1 / 3] * 3] * 3
EQUATION_9 = ([[0.5, 1, 0.5], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]], THIRDS, THIRDS)

#: Eq. (9) on it: 4 * 3 / 6 and 2 * 3 / 6, so that P(s1 | q1) = 0.5.
SQUARE_ALONE = ([[2, 2], [1, 1]],)

#: Two people, two values.
TWIN = (("q1 q2", "s1 s2"),)
#: s1 and s2 have room for both of q1's people in bucket 1 (3 places) and for one of two in bucket 2 (1 place).
ROOMY = (("q1*2 q2*2", "s1 s2*2 s3"), ("q1*2 q2", "s1 s3*2"))


# Equations whose answer has no zeros.


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


# Inequalities: the multiplier of one that does not bind is zero.

#: Multipliers of rows that lower x from 2, its value without them, to 1.6, and raise it to 2.4: below and above zero.
DOWN, UP = square_dual(1.6), square_dual(2.4)


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


# A prior: the weights w of sum x log(w / x) are not 1.


def believed(first: float, second: float) -> QIDistribution:
    """P(s1 | q1) and P(s1 | q2), as they are believed before anything is published."""
    table = pd.DataFrame({"s1": [first, second], "s2": [1 - first, 1 - second]}, index=pd.Index(["q1", "q2"], name="Q"))
    return QIDistribution({"Q": table})


@known
def believed_to_be_different() -> Problem:
    """Margins scale rows and columns and leave the odds ratio of the prior, 16: x^2 / (1 - x)^2 = 16 (Bartlett)."""
    return Problem(TWIN, [], ([[0.8, 0.2], [0.2, 0.8]],), [], prior=lambda: believed(0.8, 0.2))


@known
def believed_to_be_alike() -> Problem:
    """A prior with the odds ratio 1 says nothing of who has what: Eq. (9)."""
    return Problem(SQUARE, [], SQUARE_ALONE, [], prior=lambda: believed(0.9, 0.9))


@known
def believed_and_published() -> Problem:
    """The odds ratio stays that of the prior, 16: x (x - 1) = 16 (4 - x)(3 - x), a quadratic equation."""
    return Problem(SQUARE, [], square((111 - math.sqrt(111**2 - 60 * 192)) / 30), [], prior=lambda: believed(0.8, 0.2))


# Soft statements: the multiplier is the slope of the cost at the answer, in records.

#: The multiplier of a row that lowers n(q1, s1) = 4 P(s1 | q1) from 2 to 1.6, so that P(s1 | q1) = 0.4: below zero.
#: The slope of the cost that does so, nats per unit of P(s1 | q1), of which one is four records.
SLOPE = -4 * DOWN
#: With this standard deviation a miss by 0.1 has that slope.
SD = math.sqrt(0.1 / SLOPE)


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


# Answers with zeros, where multipliers are infinite.

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


# Contradictory knowledge.


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


# Convex constraints.


def near(value: float, eps: float) -> Callable[[Space], object]:
    """(P(s1 | q1) - value)^2 <= eps^2, whose tangent is flat at the value."""

    def parabola(space: Space) -> object:
        return (space.prob("s1", given={"Q": "q1"}) - value) ** 2 <= eps**2

    return parabola


@known
def within_a_wide_parabola() -> Problem:
    """(P(s1 | q1) - 0.2)^2 <= 0.16 allows 0.5, which Eq. (9) says: it does not bind."""
    return Problem(SQUARE, [near(0.2, 0.4)], SQUARE_ALONE)


@known
def beyond_a_parabola() -> Problem:
    """(P(s1 | q1) - 0.1)^2 <= 0.01 asks for 0.2 at the most, and 1 of 4 people is the least."""
    return Problem(SQUARE, [near(0.1, 0.1)], None)


#: Problems of linear rows, which every solver takes.
SOLVABLE = tuple(one for one in PROBLEMS.values() if not one.needs_convex and one.feasible)
CONTRADICTORY = tuple(one for one in PROBLEMS.values() if not one.needs_convex and not one.feasible)


def find(name: str) -> Problem:
    """Look up a problem by its name."""
    return PROBLEMS[name]
