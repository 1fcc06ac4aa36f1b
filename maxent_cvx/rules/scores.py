"""Printed scores of rules, as numbers of people."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..errors import StatementError, whole
from ..views import RuleSet
from .patterns import Patterns

__all__ = ["score_bounds"]

#: How far a score may be from a whole number of people, for floating point, relative to their number.
WHOLE = 1e-9


def score_bounds(
    rules: RuleSet, found: Patterns, n: int, which: str, decimals: int | None, *, integer: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Read the published scores: the least and the most people n(Q, X) of each rule.

    Parameters
    ----------
    rules : RuleSet
    found : Patterns
        Whom of the view they speak of.
    n : int
        How many people there are.
    which : str
        "support" or "confidence".
    decimals : int or None
        To how many decimals they are printed; None is exactly.
    integer : bool
        Whether numbers of people are known to be whole.

    Raises
    ------
    StatementError
        If the rules have no such scores, or a score is of no whole number of people.
    """
    if which not in rules.table:
        raise StatementError(f"the rules have no column {which!r}: their scores are not published; pass scores=None")
    of = np.full(len(rules), n) if which == "support" else found.n_q
    score = rules.table[which].to_numpy(dtype=float)
    if decimals is None:
        people = score * of
        nearest = np.rint(people)
        off = np.abs(people - nearest) > WHOLE * np.maximum(of, 1)
        if integer and off.any():
            first = int(off.argmax())
            raise StatementError(
                f"the {which} {score[first]:.12g} of {found.names[first]!r} would be {people[first]:.6g} of "
                f"{of[first]} people, which is not whole: printed scores are rounded; say how, decimals=..."
            )
        return (nearest, nearest) if integer else (people, people)
    half = Fraction(1, 2 * 10 ** whole(decimals, "decimals", 0, 15))
    printed = [Fraction(round(value * 10**decimals), 10**decimals) for value in score]
    if unlike := [i for i, value in enumerate(printed) if abs(float(value) - score[i]) > 1e-12]:
        raise StatementError(
            f"the {which} {score[unlike[0]]:.12g} of {found.names[unlike[0]]!r} has more than {decimals} decimals; "
            "say to how many they were rounded, or round them first: rules.rounded(decimals)"
        )
    ends = [((value - half) * int(m), (value + half) * int(m)) for value, m in zip(printed, of, strict=True)]
    if not integer:
        low, high = (np.array([float(end[i]) for end in ends]) for i in (0, 1))
    else:
        low, high = np.array([float(-(-a // 1)) for a, _ in ends]), np.array([float(b // 1) for _, b in ends])
    low, high = np.maximum(low, 0), np.minimum(high, of)
    if (nobody := low > high).any():
        first = int(nobody.argmax())
        raise StatementError(
            f"no number of {of[first]} people has the {which} {score[first]:.12g} of {found.names[first]!r} "
            f"when rounded to {decimals} decimals; correct decimals=, or the people"
        )
    return low, high
