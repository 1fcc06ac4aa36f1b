"""A measured number, the interval in which that of the exact answer lies, and where it is attained."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

__all__ = ["Measured", "largest"]


@dataclass(frozen=True)
class Measured:
    """A number between two others; `row` and `column` say which inference attains it, if it is one's."""

    value: float
    low: float
    high: float
    row: int | None = None
    column: int | None = None

    def log2(self) -> Measured:
        """Its logarithm, bits."""
        with np.errstate(divide="ignore"):
            value, low, high = np.log2([self.value, self.low, self.high]).tolist()
        return replace(self, value=value, low=low, high=high)

    def plus(self, number: float) -> Measured:
        """It, moved by a number."""
        return replace(self, value=self.value + number, low=self.low + number, high=self.high + number)

    def minus(self, other: Measured) -> Measured:
        """The difference."""
        return Measured(self.value - other.value, self.low - other.high, self.high - other.low)

    def over(self, other: Measured) -> Measured:
        """The quotient; infinite if only the divisor is 0, and NaN if both are, or the divisor is negative."""
        if other.value < 0 or (other.value == 0 and self.value <= 0):
            return Measured(math.nan, math.nan, math.nan)
        least = other.low if other.low > 0 else 0.0
        ends = (self.low, other.high if self.low >= 0 else least), (self.high, least if self.high >= 0 else other.high)
        low, high = (above / below if below > 0 else math.copysign(math.inf, above) for above, below in ends)
        return Measured(self.value / other.value if other.value > 0 else math.inf, low, high)


def largest(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> Measured:
    """The largest entry of a table, where -inf is none; NaN if there is none at all."""
    row, column = (int(i) for i in np.unravel_index(int(value.argmax()), value.shape))
    most = [x if x > -math.inf else math.nan for x in (float(table.max()) for table in (value, low, high))]
    at = (None, None) if math.isnan(most[0]) else (row, column)
    return Measured(most[0], most[1], most[2], *at)
