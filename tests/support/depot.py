"""A depot of small problems whose answers are known by hand, for any test and any solver."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from maxent_cvx import MaxEnt, P, Release, Space, Statement
from maxent_cvx.sources import Probability

Table = Sequence[Sequence[float]]
Buckets = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Case:
    """A release, what is known about it, and the answer derived by hand.

    Attributes
    ----------
    name : str
    buckets : sequence of (str, str)
        QI tuples and sensitive values of each bucket, "q1*3 q2" being q1 three times and q2 once.
    knowledge : sequence of Statement
    joint : sequence of tables, or None
        N P(q, s, b) in people, a table a bucket, a row a q and a column an s in order of name. None:
        the knowledge is contradictory.
    dual : sequence of float, or None
        The multipliers m of the statements' rows, each scaled so that its largest coefficient on the
        counts is 1, where x = exp(A' m - 1). None: there is none (a forced zero), or more than one.
    """

    name: str
    buckets: Buckets
    knowledge: Sequence[Statement]
    joint: Sequence[Table] | None
    dual: Sequence[float] | None = None

    def model(self) -> MaxEnt:
        """Make the model."""
        return MaxEnt(publish(self.buckets)).add(*self.knowledge)

    @property
    def interior(self) -> bool:
        """Whether no term of the answer is zero."""
        return self.joint is not None and min(min(map(min, table)) for table in self.joint) > 0

    def expected(self, space: Space) -> np.ndarray:
        """The answer in people, found for each term by its labels."""
        assert self.joint is not None
        people = {}
        for b, ((qs, ss), table) in enumerate(zip(self.buckets, self.joint, strict=True), start=1):
            for q, row in zip(sorted(set(members(qs))), table, strict=True):
                people |= {(q, s, b): count for s, count in zip(sorted(set(members(ss))), row, strict=True)}
        assert len(people) == len(space)
        return np.array([people[term] for term in space.index], dtype=float)


def members(text: str) -> list[str]:
    """Read "q1*2 q2" as q1, q1, q2."""
    pairs = [token.partition("*") for token in text.split()]
    return [name for name, _, times in pairs for _ in range(int(times or 1))]


def publish(buckets: Buckets) -> Release:
    """Publish buckets, numbered from 1."""
    frames = [pd.DataFrame({"Q": members(q), "S": members(s), "B": b}) for b, (q, s) in enumerate(buckets, start=1)]
    return Release.from_buckets(pd.concat(frames), qi="Q", sa="S", bucket="B")


def p(s: str | list[str], q: str) -> Probability:
    """P(s | q)."""
    return P(s, {"Q": q})


#: Privacy-MaxEnt, Fig. 1(c).
FIGURE_1C = (("q1*2 q2 q3", "s1 s2*2 s3"), ("q1 q3 q4", "s1 s3 s4"), ("q2 q5 q6", "s2 s4 s5"))
#: Eq. (9) on it: n(q, b) n(s, b) / n(b); every entry of buckets 2 and 3 is 1 * 1 / 3.
THIRDS = [[1 / 3] * 3] * 3
EQUATION_9 = ([[0.5, 1, 0.5], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]], THIRDS, THIRDS)

#: Two by two: with x = n(q1, s1), n(q1, s2) = 4 - x, n(q2, s1) = 3 - x, n(q2, s2) = x - 1. One number says
#: everything, and the multiplier of a row x = c is the log odds ratio, log x (x - 1) / ((4 - x)(3 - x)):
#: log n(q, s) = a(q) + b(s) + m [q1, s1], so a and b cancel in log n(q1,s1) n(q2,s2) / (n(q1,s2) n(q2,s1)).
SQUARE = (("q1*4 q2*2", "s1*3 s2*3"),)
#: Eq. (9) on it: 4 * 3 / 6 and 2 * 3 / 6, so that P(s1 | q1) = 0.5.
SQUARE_ALONE = ([[2, 2], [1, 1]],)

#: Three people, three values: a doubly stochastic table.
CUBE = (("q1 q2 q3", "s1 s2 s3"),)


def square(x: float) -> tuple[Table]:
    return ([[x, 4 - x], [3 - x, x - 1]],)


def square_dual(x: float) -> float:
    return math.log(x * (x - 1) / ((4 - x) * (3 - x)))


def inside() -> Iterator[Case]:
    """Equations with an answer without zeros."""
    x = p("s1", "q1")
    yield Case("nothing known", FIGURE_1C, [], EQUATION_9, [])
    yield Case("uniform", CUBE, [], (THIRDS,), [])
    yield Case("one person", [("q1", "s1")], [], ([[1]],), [])
    yield Case("one QI tuple", [("q1*3", "s1 s2*2")], [], ([[1, 2]],), [])
    yield Case("one value", [("q1 q2*2", "s1*3")], [], ([[1], [2]],), [])
    yield Case("q1 in two buckets", [("q1 q2", "s1 s2"), ("q1*2", "s1 s3")], [], ([[0.5, 0.5]] * 2, [[1, 1]]), [])
    # P(s1 | q1) = 0.4 of 4 people is x = 1.6; with 10,000 times as many the odds ratio does not change.
    yield Case("one equation", SQUARE, [x == 0.4], square(1.6), [square_dual(1.6)])
    many = [("q1*40000 q2*20000", "s1*30000 s2*30000")]
    yield Case("many people", many, [x == 0.4], ([[16e3, 24e3], [14e3, 6e3]],), [square_dual(1.6)])
    yield Case("true anyway", SQUARE, [x == 0.5], SQUARE_ALONE, [0.0])
    yield Case("close to the largest value", SQUARE, [x == 0.7499], square(2.9996), [square_dual(2.9996)])
    # 1e-6 of 4 people is 4e-6 of the 2 in s1; the multiplier is the log odds ratio again.
    table, odds = [[4e-6, 4 - 4e-6], [2 - 4e-6, 2 + 4e-6]], 4e-6 * (2 + 4e-6) / ((4 - 4e-6) * (2 - 4e-6))
    yield Case("one in a million", [("q1*4 q2*4", "s1*2 s2*6")], [x == 1e-6], (table,), [math.log(odds)])
    # s1 and s2 are alike, and so are q2 and q3: 0.9 = 0.45 + 0.45 leaves 0.1 for s3, and (1 - 0.45) / 2
    # for the others. m = log n(q1,s1) n(q2,s3) / (n(q1,s3) n(q2,s1)).
    others, odds = [0.275, 0.275, 0.45], 0.45 * 0.45 / (0.1 * 0.275)
    table = [[0.45, 0.45, 0.1], others, others]
    yield Case("one value or another", CUBE, [p(["s1", "s2"], "q1") == 0.9], (table,), [math.log(odds)])
    # Two equal buckets share evenly, because entropy is concave: 1.4 = 0.7 + 0.7.
    twins = [("q1 q2", "s1 s2")] * 2
    yield Case("two equal buckets", twins, [x == 0.7], ([[0.7, 0.3], [0.3, 0.7]],) * 2, [2 * math.log(0.7 / 0.3)])
    # Bucket 2 holds s1 only, so of the 0.8 * 2 people bucket 1 has 0.6.
    tables = ([[0.6, 0.4], [0.4, 0.6]], [[1], [1]])
    yield Case("one certain bucket", [("q1 q2", "s1 s2"), ("q1 q3", "s1*2")], [x == 0.8], tables, [2 * math.log(1.5)])
    # x = 2 (1 - x). The row is n(q1,s1) / 2 - n(q2,s1) = 0, so that the log odds ratio, log 4, is m / 2 + m.
    table = [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]
    yield Case("twice as likely", twins[:1], [x - 2 * p("s1", "q2") == 0], (table,), [math.log(4) / 1.5])
    # x = 1.6 in several forms, of which any one is enough, so that their multipliers are anybody's choice.
    yield Case("three forms", SQUARE, [x == 0.4, p("s2", "q1") == 0.6, p("s1", "q2") == 0.7], square(1.6))
    yield Case("a multiple and a bound", SQUARE, [x == 0.4, x + x == 0.8, x <= 0.4], square(1.6))
    yield Case("what is published", FIGURE_1C, [P("s1") == 0.2], EQUATION_9)
    yield Case("every value of q1", FIGURE_1C, [p(["s1", "s2", "s3", "s4", "s5"], "q1") == 1], EQUATION_9)
    # q5 is in bucket 3 only, where s1 is not: P(s1 | q5) is 0 whatever the distribution.
    yield Case("no such term: is 0", FIGURE_1C, [p("s1", "q5") == 0], EQUATION_9)


def inequalities() -> Iterator[Case]:
    """Inequalities: complementary slackness makes the multiplier of one that does not bind zero."""
    x = p("s1", "q1")
    yield Case("inactive: at most", SQUARE, [x <= 0.6], SQUARE_ALONE, [0.0])
    yield Case("inactive: at least", SQUARE, [x >= 0.4], SQUARE_ALONE, [0.0])
    yield Case("inactive: between", SQUARE, [x.between(0.3, 0.7)], SQUARE_ALONE, [0.0])
    yield Case("inactive: vague, one side", SQUARE, [x.about(0.05, eps=0.6)], SQUARE_ALONE, [0.0])
    yield Case("no such term: at most 0.1", FIGURE_1C, [p("s1", "q5") <= 0.1], EQUATION_9, [0.0])
    yield Case("no such term: about 0", FIGURE_1C, [p("s1", "q5").about(0, eps=0.2)], EQUATION_9, [0.0])
    # One that 0.5 violates binds, and the answer is the equation's.
    low, high = square_dual(1.6), square_dual(2.4)  # negative, positive
    yield Case("active: at most", SQUARE, [x <= 0.4], square(1.6), [low])
    yield Case("active: at least", SQUARE, [x >= 0.6], square(2.4), [high])
    yield Case("active: between, below", SQUARE, [x.between(0.3, 0.4)], square(1.6), [low])
    yield Case("active: between, above", SQUARE, [x.between(0.6, 0.7)], square(2.4), [high])
    yield Case("active: vague", SQUARE, [x.about(0.35, eps=0.05)], square(1.6), [low])
    yield Case("active and inactive", SQUARE, [x <= 0.4, p("s1", "q2") >= 0.5], square(1.6), [low, 0.0])
    # x <= (1 - x) / 2 presses down to x = 1/3; the row is n(q1,s1) - n(q2,s1) / 2, and log 1/4 = m + m / 2.
    half, table = x - 0.5 * p("s1", "q2") <= 0, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]]
    yield Case("at most half as likely", [("q1 q2", "s1 s2")], [half], (table,), [-math.log(4) / 1.5])


def at_the_edge() -> Iterator[Case]:
    """Answers with zeros, where multipliers are infinite."""
    x = p("s1", "q1")
    # Section 3.1: in bucket 1, q3 can only be s3, q2 then only s2, and one of the q1 is s1, the other s2. In
    # bucket 2, n(q3, s1) = 0 too; q1 and q4 are alike, s3 and s4 are alike, so rows and columns add up to 1
    # with (0.5, 0.25, 0.25) twice and (0, 0.5, 0.5), which is of the form a(q) b(s) off the zero.
    known, certain = [p("s1", "q2") == 0, p(["s1", "s2"], "q3") == 0], [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    yield Case("section 3.1, bucket 1", FIGURE_1C[:1], known, (certain,))
    second = [[0.5, 0.25, 0.25], [0, 0.5, 0.5], [0.5, 0.25, 0.25]]
    yield Case("section 3.1", FIGURE_1C, known, (certain, second, THIRDS))
    yield Case("a rule without exception", CUBE, [x == 1], ([[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]],))
    yield Case("a zero", CUBE, [x == 0], ([[0, 0.5, 0.5], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]],))
    # The largest x is n(s1) = 3 of 4 people, the least 4 + 3 - 6 = 1 of 4.
    most, least = ([[3, 1], [0, 2]],), ([[1, 3], [2, 0]],)
    yield Case("largest value", SQUARE, [x == 0.75], most)
    yield Case("at least the largest value", SQUARE, [x >= 0.75], most)
    yield Case("least value", SQUARE, [x == 0.25], least)
    yield Case("at most the least value", SQUARE, [x <= 0.25], least)
    # 3 of 10 people, written as a sum that rounds to 0.30000000000000004.
    ten = [("q1*10 q2*10", "s1*3 s2*17")]
    yield Case("largest value, rounded up", ten, [x == 0.1 + 0.2], ([[3, 7], [0, 10]],))
    # Nothing is left of q1 for s3, which no row says by itself.
    table = [[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]]
    yield Case("two values for certain", CUBE, [p(["s1", "s2"], "q1") == 1], (table,))
    # s1 and s2 have room for both of q1's people in bucket 1 (3 places) and for one of two in bucket 2 (1 place):
    # 3 of 4 is the most. In bucket 1, q1 has 2 * (1/3, 2/3) of the places and q2 what is left; in bucket 2,
    # q1 has the s1 and an s3.
    roomy, tables = (("q1*2 q2*2", "s1 s2*2 s3"), ("q1*2 q2", "s1 s3*2")), [[2 / 3, 4 / 3, 0], [1 / 3, 2 / 3, 1]]
    yield Case("largest value of a sum", roomy, [p(["s1", "s2"], "q1") == 0.75], (tables, [[1, 1], [0, 1]]))
    # In bucket 1 the two q1 take both s1, and q2 is s3; in bucket 2 the q1 have 2 * (2/3, 1/3) of s1 and s2.
    split, tables = (("q1*2 q2", "s1*2 s3"), ("q1*2 q2*2", "s1*2 s2 s3")), [[4 / 3, 2 / 3, 0], [2 / 3, 1 / 3, 1]]
    yield Case("certain in two buckets", split, [p(["s1", "s2"], "q1") == 1], ([[2, 0], [0, 1]], tables))
    # All of q1 and q2 in s1 and s2 is 1 + 1 people: nothing is left of either for s3, and q3 is s3.
    crosswise = [x + p("s2", "q2") == 1, p("s2", "q1") + p("s1", "q2") == 1]
    yield Case("crosswise", CUBE, crosswise, ([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]],))


def contradictions() -> Iterator[Case]:
    """Knowledge that cannot be true."""
    x = p("s1", "q1")
    yield Case("more than the largest value", SQUARE, [x == 0.7501], None)
    yield Case("at least more than the largest value", SQUARE, [x >= 0.7501], None)
    yield Case("less than the least value", SQUARE, [x == 0.2499], None)
    yield Case("no such term: is 0.1", FIGURE_1C, [p("s1", "q5") == 0.1], None)
    yield Case("no such term: at least 0.1", FIGURE_1C, [p("s1", "q5") >= 0.1], None)
    yield Case("two values", SQUARE, [x == 0.4, p("s1", "q2") == 0.5], None)  # x = 0.4 implies 0.7
    yield Case("below and above", SQUARE, [x <= 0.4, p("s2", "q1") <= 0.5], None)  # s1 or s2 is 1
    yield Case("not what is published", FIGURE_1C, [P("s1") == 0.3], None)
    yield Case("two people, one value", CUBE, [x == 1, p("s1", "q2") >= 0.1], None)
    yield Case("nobody is left", CUBE, [p("s1", q) == 0 for q in ("q1", "q2", "q3")], None)
    # Three places for s1 and s2 in bucket 1, one in bucket 2: q1 has 2 + 1 of 4, see "largest value of a sum".
    roomy = (("q1*2 q2*2", "s1 s2*2 s3"), ("q1*2 q2", "s1 s3*2"))
    yield Case("more than the largest value of a sum", roomy, [p(["s1", "s2"], "q1") == 0.7501], None)
    # q1 and q2 hold 1.2 + 1 people in s1 and s2, and there are two of them. No row says so by itself.
    yield Case("crosswise", CUBE, [x + p("s2", "q2") == 1.2, p("s2", "q1") + p("s1", "q2") == 1], None)


SOLVABLE = (*inside(), *inequalities(), *at_the_edge())
CONTRADICTORY = tuple(contradictions())
