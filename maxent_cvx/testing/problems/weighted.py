"""Relative entropy to a prior: the weights w of sum x log(w / x) are not 1."""

from __future__ import annotations

import math

import pandas as pd

from ...priors import QIDistribution
from .problem import Problem, into
from .published import SQUARE, SQUARE_ALONE, TWIN, p, square, square_dual

__all__ = [
    "WEIGHTED",
]

WEIGHTED: list[Problem] = []
known = into(WEIGHTED)


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


@known
def believed_and_known() -> Problem:
    """`one equation` with a prior: the multiplier makes up for what the odds ratio differs from the prior's, 16."""
    dual = square_dual(1.6) - math.log(16)
    return Problem(SQUARE, [p("s1", "q1") == 0.4], square(1.6), [dual], prior=lambda: believed(0.8, 0.2))
