"""Small models whose answers are known exactly: by formulas, symmetries, or the worked examples of the papers.

None of the answers was found by a solver. Those that `check_backend` uses stand in :mod:`maxent_cvx.testing`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from maxent_cvx.sources.soft import soft
from maxent_cvx.sources.statements import P
from maxent_cvx.terms.space import Space
from maxent_cvx.testing import CUBE, SQUARE, Buckets, Problem, Table, members, p, publish, square, square_dual
from maxent_cvx.testing import PROBLEMS as CONTRACT

__all__ = [
    "CONTRADICTORY", "CUBE", "FIGURE_1C", "PROBLEMS", "SOLVABLE", "SQUARE", "Buckets", "Problem", "Table", "members",
    "p", "publish", "square_dual",
]  # fmt: skip

#: Every problem by its name.
PROBLEMS: dict[str, Problem] = dict(CONTRACT)
x = p("s1", "q1")


def known(name: str, origin: str, *definition: Any, **more: Any) -> None:
    """Add a problem; `origin` says where its answer comes from."""
    PROBLEMS[name] = Problem(*definition, name=name, origin=origin, **more)


#: Privacy-MaxEnt, Fig. 1(c).
FIGURE_1C = (("q1*2 q2 q3", "s1 s2*2 s3"), ("q1 q3 q4", "s1 s3 s4"), ("q2 q5 q6", "s2 s4 s5"))
#: Eq. (9) on it: n(q, b) n(s, b) / n(b); every entry of buckets 2 and 3 is 1 * 1 / 3.
THIRDS = [[1 / 3] * 3] * 3
EQUATION_9 = ([[0.5, 1, 0.5], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]], THIRDS, THIRDS)
#: Eq. (9) on SQUARE: 4 * 3 / 6 and 2 * 3 / 6, so that P(s1 | q1) = 0.5.
SQUARE_ALONE = ([[2, 2], [1, 1]],)
#: Two people, two values.
TWIN = (("q1 q2", "s1 s2"),)
#: s1 and s2 have room for both of q1's people in bucket 1 (3 places) and for one of two in bucket 2 (1 place).
ROOMY = (("q1*2 q2*2", "s1 s2*2 s3"), ("q1*2 q2", "s1 s3*2"))

# Equations whose answer has no zeros.

known("nothing known", "Eq. (9): N P(q, s, b) = n(q, b) n(s, b) / n(b).", FIGURE_1C, [], EQUATION_9, [])
known("one person", "One person, one value, one term.", [("q1", "s1")], [], ([[1]],), [])
known(
    "q1 in two buckets", "Eq. (9) in each bucket: 1 * 1 / 2 in the first, 2 * 1 / 2 in the second.",
    [("q1 q2", "s1 s2"), ("q1*2", "s1 s3")], [], ([[0.5, 0.5]] * 2, [[1, 1]]), [],
)  # fmt: skip
known(
    "many people", "`one equation` with 10,000 times as many people: the odds ratio is the same.",
    [("q1*40000 q2*20000", "s1*30000 s2*30000")], [x == 0.4], ([[16e3, 24e3], [14e3, 6e3]],), [square_dual(1.6)],
)  # fmt: skip
known(
    "true anyway",
    "Eq. (9) gives P(s1 | q1) = 0.5 already: the multiplier is 0.",
    SQUARE,
    [x == 0.5],
    SQUARE_ALONE,
    [0.0],
)
known(
    "close to the largest value", "Three of four is the most; 0.7499 leaves 0.0004 people of q2 for s1.",
    SQUARE, [x == 0.7499], square(2.9996), [square_dual(2.9996)],
)  # fmt: skip
known(
    "one in a million", "1e-6 of 4 people is 4e-6 of the 2 in s1; the multiplier is the log odds ratio again.",
    [("q1*4 q2*4", "s1*2 s2*6")], [x == 1e-6], ([[4e-6, 4 - 4e-6], [2 - 4e-6, 2 + 4e-6]],),
    [math.log(4e-6 * (2 + 4e-6) / ((4 - 4e-6) * (2 - 4e-6)))],
)  # fmt: skip
known(
    "one certain bucket", "Bucket 2 holds s1 only, so of the 0.8 * 2 people bucket 1 has 0.6.",
    [*TWIN, ("q1 q3", "s1*2")], [x == 0.8], ([[0.6, 0.4], [0.4, 0.6]], [[1], [1]]), [2 * math.log(1.5)],
)  # fmt: skip
known(
    "twice as likely", "P(s1 | q1) = 2 P(s1 | q2) is x = 2 (1 - x).",
    TWIN, [x - 2 * p("s1", "q2") == 0], ([[2 / 3, 1 / 3], [1 / 3, 2 / 3]],), [math.log(4) / 1.5],
)  # fmt: skip
known(
    "three forms", "n(q1, s1) = 1.6 in three forms, of which any one is enough, so that multipliers are not unique.",
    SQUARE, [x == 0.4, p("s2", "q1") == 0.6, p("s1", "q2") == 0.7], square(1.6),
)  # fmt: skip
known(
    "a multiple and a bound", "n(q1, s1) = 1.6, twice that, and no more than that.",
    SQUARE, [x == 0.4, x + x == 0.8, x <= 0.4], square(1.6),
)  # fmt: skip
known("no such term is 0", "q5 and s1 share no bucket.", FIGURE_1C, [p("s1", "q5") == 0], EQUATION_9)

# Inequalities: the multiplier of one that does not bind is zero.

#: The multiplier of a row that lowers x from 2, its value without it, to 1.6.
DOWN = square_dual(1.6)

known("inactive between", "P(s1 | q1) is 0.5 by Eq. (9).", SQUARE, [x.between(0.3, 0.7)], SQUARE_ALONE, [0.0])
known("no such term at most", "q5 and s1 share no bucket.", FIGURE_1C, [p("s1", "q5") <= 0.1], EQUATION_9, [0.0])
known("active between, from above", "The nearer side binds.", SQUARE, [x.between(0.3, 0.4)], square(1.6), [DOWN])
known(
    "active and inactive", "n(q1, s1) = 1.6 leaves 1.4 of q2's 2 people for s1, more than the half of the second row.",
    SQUARE, [x <= 0.4, p("s1", "q2") >= 0.5], square(1.6), [DOWN, 0.0],
)  # fmt: skip
known(
    "at most half as likely", "n(q1, s1) = x <= (1 - x) / 2 is active at x = 1/3.",
    TWIN, [x - 0.5 * p("s1", "q2") <= 0], ([[1 / 3, 2 / 3], [2 / 3, 1 / 3]],), [-math.log(4) / 1.5],
)  # fmt: skip

# A prior: the weights w of sum x log(w / x) are not 1.


known(
    "believed to be different", "Margins leave the odds ratio of the prior, 16: x^2 / (1 - x)^2 = 16 (Bartlett).",
    TWIN, [], ([[0.8, 0.2], [0.2, 0.8]],), [], prior=PROBLEMS["believed and known"].prior,
)  # fmt: skip

# Soft statements: the multiplier is the slope of the cost at the answer, in records.

#: The slope of the cost that lowers P(s1 | q1) to 0.4, nats per unit of P(s1 | q1), of which one is four records.
SLOPE = -4 * DOWN
#: With this standard deviation a miss by 0.1 has that slope.
SD = math.sqrt(0.1 / SLOPE)

known(
    "met at a price below its weight", "An absolute cost twice as steep as the entropy at 0.4 is avoided.",
    SQUARE, [x.softly(0.4, weight=2 * SLOPE)], square(1.6), [DOWN],
)  # fmt: skip
known(
    "missed at a price of its weight", "An absolute cost pulls to 0.2 with its weight, the slope of the entropy at 0.4.",
    SQUARE, [x.softly(0.2, weight=SLOPE)], square(1.6), [DOWN],
)  # fmt: skip
known(
    "missed beyond delta", "Huber's cost is linear from a miss by 0.1 on, with the slope 0.1 / sd^2.",
    SQUARE, [x.softly(0.2, sd=SD, delta=0.1)], square(1.6), [DOWN],
)  # fmt: skip
known(
    "missed within delta", "Huber's cost is a square up to a miss by 0.15, and 0.3 is missed by 0.1.",
    SQUARE, [x.softly(0.3, sd=SD, delta=0.15)], square(1.6), [DOWN],
)  # fmt: skip
known(
    "softly at most, and it is", "0.5 by Eq. (9) costs nothing.", SQUARE, [soft(x <= 0.6, sd=SD)], SQUARE_ALONE, [0.0]
)
known("softly at most, and it is more", "As the equation.", SQUARE, [soft(x <= 0.3, sd=SD)], square(1.6), [DOWN])
known(
    "softly between",
    "The nearer side is missed by 0.1.",
    SQUARE,
    [soft(x.between(0.1, 0.3), sd=SD)],
    square(1.6),
    [DOWN],
)
known(
    "two that disagree", "Their slopes at 0.4 are -0.2 / sd^2 and 0.1 / sd^2, together that of the entropy.",
    SQUARE, [x.softly(0.2, sd=SD), x.softly(0.5, sd=SD)], square(1.6), [2 * DOWN, -DOWN],
)  # fmt: skip
known(
    "soft beside hard", "P(s1 | q1) = 0.4 stays; a slope of 2 / 4 per record is taken off its multiplier.",
    SQUARE, [x == 0.4, x.softly(0.1, weight=2)], square(1.6), [DOWN + 0.5, -0.5],
)  # fmt: skip

# Answers with zeros, where multipliers are infinite.

known(
    "two zeros", "Privacy-MaxEnt, section 3.1: in bucket 1 q3 can only be s3, q2 only s2, and q1 is s1 once and s2 once.",
    FIGURE_1C, [p("s1", "q2") == 0, p(["s1", "s2"], "q3") == 0],
    ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], [[0.5, 0.25, 0.25], [0, 0.5, 0.5], [0.5, 0.25, 0.25]], THIRDS),
)  # fmt: skip
known(
    "a rule without exception", "q1 has s1 for certain; two people and two values are left, which are alike.",
    CUBE, [x == 1], ([[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]],),
)  # fmt: skip
known("largest value", "n(q1, s1) is n(s1) = 3 of 4 people at the most.", SQUARE, [x == 0.75], ([[3, 1], [0, 2]],))
known("least value", "n(q1, s1) is 4 + 3 - 6 = 1 of 4 people at the least.", SQUARE, [x == 0.25], ([[1, 3], [2, 0]],))
known(
    "largest value, rounded up", "3 of 10 people is the most, written as a sum that rounds to 0.30000000000000004.",
    [("q1*10 q2*10", "s1*3 s2*17")], [x == 0.1 + 0.2], ([[3, 7], [0, 10]],),
)  # fmt: skip
known(
    "two values for certain", "Nothing is left of q1 for s3, which no row says by itself; the rest by symmetry.",
    CUBE, [p(["s1", "s2"], "q1") == 1], ([[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]],),
)  # fmt: skip
known(
    "largest value of a sum", "s1 and s2 have room for two of q1's people in bucket 1 and one in bucket 2: 3 of 4.",
    ROOMY, [p(["s1", "s2"], "q1") == 0.75], ([[2 / 3, 4 / 3, 0], [1 / 3, 2 / 3, 1]], [[1, 1], [0, 1]]),
)  # fmt: skip
known(
    "certain in two buckets", "Bucket 1: the two q1 take both s1. Bucket 2: they have 2 * (2/3, 1/3) of s1 and s2.",
    (("q1*2 q2", "s1*2 s3"), ("q1*2 q2*2", "s1*2 s2 s3")), [p(["s1", "s2"], "q1") == 1],
    ([[2, 0], [0, 1]], [[4 / 3, 2 / 3, 0], [2 / 3, 1 / 3, 1]]),
)  # fmt: skip
known(
    "crosswise", "All of q1 and q2 in s1 and s2 is 1 + 1 people: nothing is left of either for s3, and q3 is s3.",
    CUBE, [x + p("s2", "q2") == 1, p("s2", "q1") + p("s1", "q2") == 1], ([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]],),
)  # fmt: skip

# Contradictory knowledge.

known("more than the largest value", "n(q1, s1) is 3 of 4 people at the most.", SQUARE, [x == 0.7501], None)
known("no such term is a tenth", "q5 and s1 share no bucket.", FIGURE_1C, [p("s1", "q5") == 0.1], None)
known(
    "below and above",
    "s1 or s2 is 1, and these leave no more than 0.9.",
    SQUARE,
    [x <= 0.4, p("s2", "q1") <= 0.5],
    None,
)
known("not what is published", "Two of ten have s1.", FIGURE_1C, [P("s1") == 0.3], None)
known("two people one value", "There is one s1, and q1 has it.", CUBE, [x == 1, p("s1", "q2") >= 0.1], None)
known("nobody is left", "Somebody has s1.", CUBE, [p("s1", q) == 0 for q in ("q1", "q2", "q3")], None)
known(
    "more than the largest value of a sum", "Three places in bucket 1, one in bucket 2: q1 has 2 + 1 of 4.",
    ROOMY, [p(["s1", "s2"], "q1") == 0.7501], None,
)  # fmt: skip
known(
    "crosswise and more", "q1 and q2 hold 1.2 + 1 people in s1 and s2, of whom there are two. No row says so by itself.",
    CUBE, [x + p("s2", "q2") == 1.2, p("s2", "q1") + p("s1", "q2") == 1], None,
)  # fmt: skip

# Convex constraints.


def near(value: float, eps: float) -> Callable[[Space], object]:
    """(P(s1 | q1) - value)^2 <= eps^2, whose tangent is flat at the value."""

    def parabola(space: Space) -> object:
        return (space.prob("s1", given={"Q": "q1"}) - value) ** 2 <= eps**2

    return parabola


known("within a wide parabola", "It allows 0.5, which is Eq. (9).", SQUARE, [near(0.2, 0.4)], SQUARE_ALONE)
known("beyond a parabola", "It allows at most 0.2, and 1 of 4 people is the least.", SQUARE, [near(0.1, 0.1)], None)

#: Problems of linear rows, which every solver takes.
SOLVABLE = tuple(problem for problem in PROBLEMS.values() if not problem.needs_convex and problem.feasible)
CONTRADICTORY = tuple(problem for problem in PROBLEMS.values() if not problem.needs_convex and not problem.feasible)
