"""Printed scores: how they are rounded, and the numbers of records that they say."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import Infeasible, StatementError, whole

__all__ = ["SCORES", "decimals_of", "records_of_scores", "rounding"]

#: The columns of a rule's published scores.
SCORES = ("support", "confidence")

#: How far a score may be from an integer number of records, for floating point, relative to their number.
NEAR_INTEGER = 1e-9


def records_of_scores(
    score: np.ndarray, of: np.ndarray, names: Sequence[str], what: str, decimals: int | None, *, integer: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Read shares of records: the least and the most records that each says.

    Parameters
    ----------
    score : ndarray
        Shares, as they are printed.
    of : ndarray of int
        Of how many records each is a share.
    names : sequence of str
        What each is about, for errors.
    what : str
        What the scores are: "confidence", say.
    decimals : int or None
        To how many decimals they are printed; None is exactly.
    integer : bool
        Whether numbers of records are known to be integers.

    Raises
    ------
    StatementError
        If a score is of no integer number of records, or not written with so many decimals.
    Infeasible
        If no number of records has a score: the rules are of other people.
    """
    if decimals is None:
        records = score * of
        nearest = np.rint(records)
        off = np.abs(records - nearest) > NEAR_INTEGER * np.maximum(of, 1)
        if integer and off.any():
            first = int(off.argmax())
            raise StatementError(
                f"the {what} {score[first]:.12g} of {names[first]!r} would be {records[first]:.6g} of {of[first]} "
                "people, which is not whole: printed scores are rounded; say how, decimals=..."
            )
        return (nearest, nearest) if integer else (records, records)
    half = Fraction(1, 2 * 10 ** whole(decimals, "decimals", 0, 15))
    printed = [Fraction(round(value * 10**decimals), 10**decimals) for value in score]
    if unlike := [i for i, value in enumerate(printed) if abs(float(value) - score[i]) > 1e-12]:
        raise StatementError(
            f"the {what} {score[unlike[0]]:.12g} of {names[unlike[0]]!r} has more than {decimals} decimals; say to how "
            "many they were rounded, or round them first"
        )
    ends = [((value - half) * int(m), (value + half) * int(m)) for value, m in zip(printed, of, strict=True)]
    if not integer:
        low, high = (np.array([float(end[i]) for end in ends]) for i in (0, 1))
    else:
        low, high = np.array([float(-(-a // 1)) for a, _ in ends]), np.array([float(b // 1) for _, b in ends])
    low, high = np.maximum(low, 0), np.minimum(high, of)
    if (nobody := low > high).any():
        first = int(nobody.argmax())
        raise Infeasible(
            f"no number of {of[first]} people has the {what} {score[first]:.12g} of {names[first]!r} "
            f"when rounded to {decimals} decimals; correct decimals=, or the people"
        )
    return low, high


def decimals_of(score: float) -> int:
    """With how many decimals a score is written."""
    text = repr(float(score))
    return 15 if "e" in text else len(text.removesuffix(".0").partition(".")[2])


def rounding(score: float) -> float:
    """Half a unit of the last decimal that a score is written with: next to nothing if it was not rounded."""
    return 0.5 * 10.0 ** -decimals_of(score) + 1e-12
