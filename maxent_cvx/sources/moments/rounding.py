"""How far a published number may be from what was computed."""

from __future__ import annotations

from ...errors import BadProbability, arguments

__all__ = ["COMPUTED", "half_unit"]

#: Relative error of a statistic that is published as it was computed, of the largest number that went into it: a sum of
#: n numbers is n unit roundoffs of 1.1e-16 off at most (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
#: ed., section 4.2), so that this does for some millions.
COMPUTED = 1e-9


def half_unit(value: float, decimals: object, what: str) -> float:
    """Half a unit of the last decimal of a rounded number; 0 if it is not rounded.

    Raises
    ------
    StatementError
        If decimals are no whole number.
    BadProbability
        If the number has more of them.
    """
    if decimals is None:
        return 0.0
    places = arguments.whole(decimals, "decimals", -15, 15)
    if abs(round(value, places) - value) > 1e-9 * 10.0**-places + 1e-12 * abs(value):
        raise BadProbability(f"{what}, {value:.12g}, has more than decimals={places}")
    return 0.5 * 10.0**-places
