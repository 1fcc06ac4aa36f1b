"""What the problems are about: a few small tables, written in a shorthand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from ...releases.qi_table import QITable
from ...releases.release import Release
from ...sources.statements import P, Probability

__all__ = [
    "CUBE",
    "EQUATION_9",
    "FIGURE_1C",
    "ROOMY",
    "SQUARE",
    "SQUARE_ALONE",
    "THIRDS",
    "TWIN",
    "Buckets",
    "Table",
    "members",
    "p",
    "people_only",
    "publish",
    "square",
    "square_dual",
]

Table = Sequence[Sequence[float]]
Buckets = Sequence[tuple[str, str]]

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

#: Two people, two values.
TWIN = (("q1 q2", "s1 s2"),)
#: Three people, three values: a doubly stochastic table.
CUBE = (("q1 q2 q3", "s1 s2 s3"),)
#: s1 and s2 have room for both of q1's people in bucket 1 (3 places) and for one of two in bucket 2 (1 place).
ROOMY = (("q1*2 q2*2", "s1 s2*2 s3"), ("q1*2 q2", "s1 s3*2"))


def square(x: float) -> tuple[Table]:
    """The table of SQUARE in which n(q1, s1) is x."""
    return ([[x, 4 - x], [3 - x, x - 1]],)


def square_dual(x: float) -> float:
    """The log odds ratio of that table: the multiplier of a row that says n(q1, s1) = x."""
    return math.log(x * (x - 1) / ((4 - x) * (3 - x)))


def members(text: str) -> list[str]:
    """Read "q1*2 q2" as q1, q1, q2."""
    pairs = [token.partition("*") for token in text.split()]
    return [name for name, _, times in pairs for _ in range(int(times or 1))]


def publish(buckets: Buckets) -> Release:
    """Publish buckets, numbered from 1."""
    frames = [pd.DataFrame({"Q": members(q), "S": members(s), "B": b}) for b, (q, s) in enumerate(buckets, start=1)]
    return Release.from_buckets(pd.concat(frames), qi="Q", sa="S", bucket="B")


def people_only(buckets: Buckets) -> QITable:
    """Of a single bucket, publish who is in it and which values there are, but not how frequent these are."""
    ((qs, ss),) = buckets
    return QITable(pd.DataFrame({"Q": members(qs)}), qi="Q", sa="S", sa_values=members(ss))


def p(s: str | list[str], q: str) -> Probability:
    """P(s | q)."""
    return P(s, {"Q": q})
