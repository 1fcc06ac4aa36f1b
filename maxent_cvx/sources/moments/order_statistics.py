"""Order statistics as counts of people below and above: what a quantile says that is linear, and what is not.

Of n numbers x in order, x(1) <= ... <= x(n), a value v lies from x(i) to x(j), i <= j, exactly if

    #(x <= v) >= i        and        #(x < v) <= j - 1.

A quantile that is one of the numbers has i = j, and these two rows are all that it says. One between two neighbours,
j = i + 1, says more: which pairs (a, b) of values have v between them, in the given proportion. That one of the pairs
is (x(i), x(j)) is a disjunction; linear rows say what all the pairs have in common: the least and the largest a, and b.

Of how many it is need not be known: with q = s/t, the conditions on integers #, n are t # >= s n and the like.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .subjects import Subjects

__all__ = ["METHODS", "Count", "Quantile"]

#: Names of NumPy, numpy.quantile(x, q, method=...), and what they are the value at, of h = (n - 1) q from 0.
METHODS = ("linear", "lower", "higher", "midpoint", "inverted_cdf", "averaged_inverted_cdf")
#: Two numbers that differ by less, relative to the largest that there is, are the same: interpolation rounds.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Count:
    """low <= #(x <= value or x < value) - share n <= high, people.

    Attributes
    ----------
    value : float
    included : bool
        Whether those with the very value are counted.
    share : Fraction
        0 where n is known.
    low, high : Fraction or infinite
    """

    value: float
    included: bool
    share: Fraction
    low: Fraction | float
    high: Fraction | float

    def weights(self, x: np.ndarray) -> np.ndarray:
        """What each person adds to the count."""
        edge = self.value + _rounding(x) * (1 if self.included else -1)
        return (x <= edge if self.included else x < edge) - float(self.share)


@dataclass(frozen=True)
class Quantile:
    """``numpy.quantile(x, q, method=method)`` lies in [low, high].

    Attributes
    ----------
    q : Fraction
    method : str
        One of METHODS.
    low, high : float
    """

    q: Fraction
    method: str
    low: float
    high: float

    def counts(self, people: Subjects) -> Iterator[Count]:
        """What it says that is linear."""
        if people.n is None:
            yield from self._of_any_number()
            return
        first, last = self.places(people.n)
        ends = np.array([[self.low, self.high]] * 2)  # of the lower neighbour, and of the upper one
        if last > first:
            pairs = self.pairs(people)
            ends = np.column_stack([pairs.min(axis=0), pairs.max(axis=0)])
        for (low, high), place in zip(ends.tolist(), (first, last), strict=True):
            yield Count(high, True, Fraction(0), Fraction(place), math.inf)
            yield Count(low, False, Fraction(0), -math.inf, Fraction(place - 1))

    def places(self, n: int) -> tuple[int, int]:
        """Between which of n numbers in order it lies, from 1."""
        if self.method == "inverted_cdf":
            return (max(math.ceil(self.q * n), 1),) * 2
        if self.method == "averaged_inverted_cdf":
            return max(math.ceil(self.q * n), 1), min(math.floor(self.q * n) + 1, n)
        h = self.q * (n - 1)
        lower, higher = math.floor(h) + 1, math.ceil(h) + 1
        return {"lower": (lower, lower), "higher": (higher, higher)}.get(self.method, (lower, higher))

    def pairs(self, people: Subjects) -> np.ndarray:
        """The values that the two neighbours can have, shape (pairs, 2), of a known number of people."""
        assert people.n is not None
        h = self.q * (people.n - 1)
        part = float(h - math.floor(h)) if self.method == "linear" else 0.5
        values = np.unique(people.x)
        # For each lower neighbour a the upper ones b >= a with low <= (1 - part) a + part b <= high follow each other.
        off = _rounding(values)
        ends = [(side - (1 - part) * values) / part for side in (self.low - off, self.high + off)]
        start = np.maximum(np.searchsorted(values, ends[0], "left"), np.arange(len(values)))
        stop = np.searchsorted(values, ends[1], "right")
        number = np.maximum(stop - start, 0)
        a = np.repeat(np.arange(len(values)), number)
        b = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number) + start[a]
        return np.column_stack([values[a], values[b]])

    def fits(self, x: np.ndarray) -> np.ndarray:
        """Mark the numbers that lie in it."""
        off = _rounding(x)
        return (x >= self.low - off) & (x <= self.high + off)

    def of_pair(self, a: float, b: float, n: int) -> Iterator[Count]:
        """What it says if the two neighbours are these."""
        first, last = self.places(n)
        for value, place in ((a, first), (b, last)):
            yield Count(value, True, Fraction(0), Fraction(place), math.inf)
            yield Count(value, False, Fraction(0), -math.inf, Fraction(place - 1))

    def _of_any_number(self) -> Iterator[Count]:
        """What it says of an unknown number n: with q = s/t, in integers t # and s n."""
        q, unit = self.q, Fraction(1, self.q.denominator)
        at_least, at_most = {
            "inverted_cdf": (Fraction(0), -unit),
            "averaged_inverted_cdf": (Fraction(0), Fraction(0)),
            "lower": (unit - q, -q),
            "higher": (1 - q, 1 - q - unit),
        }.get(self.method, (unit - q, 1 - q - unit))
        if self.method == "inverted_cdf" and q == 0:
            at_most = Fraction(0)
        yield Count(self.high, True, q, at_least, math.inf)
        yield Count(self.low, False, q, -math.inf, at_most)
        yield Count(self.high, True, Fraction(0), Fraction(1), math.inf)  # somebody is there


def _rounding(x: np.ndarray) -> float:
    """By how much what was computed from numbers may be off."""
    return ROUNDING * float(np.abs(x).max(initial=0.0))
