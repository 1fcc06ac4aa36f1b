"""Numbers as integer multiples of a decimal unit, so that 0.8 - 0.5 <= 0.3 holds as it is written."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...errors import TableError
from ...tables.numbers import as_numbers

__all__ = ["Units", "in_units"]

#: Significant decimal digits that every float holds, and that a long integer may exceed.
DIGITS = sys.float_info.dig
#: Floats whose products with powers of ten, and whose differences, are floats.
SMALLEST, LARGEST = 1e-285, 1e300
#: Integers below this are floats exactly.
EXACT = 2**53


@dataclass(frozen=True)
class Units:
    """Differences of values are integer multiples of 10^-digits.

    Attributes
    ----------
    digits : int
        Decimals: fifteen significant digits of the value of largest magnitude; 0 of integers.
    """

    digits: int

    def of(self, width: float) -> int:
        """A width in units; rounded if the unit is a decimal fraction, since it comes from rounded numbers."""
        if isinstance(width, numbers.Integral) and self.digits == 0:
            return int(width)
        width = float(width)
        if self.digits == 0:
            return math.floor(float(f"{width:.{DIGITS}g}"))
        return round(width * 10.0**self.digits if self.digits > 0 else width / 10.0**-self.digits)

    def width(self, units: np.ndarray) -> np.ndarray:
        """Multiples of the unit as numbers, each the float nearest to the decimal."""
        return units / 10.0**self.digits if self.digits > 0 else units * 10.0**-self.digits


def in_units(values: Iterable[object], what: str) -> tuple[np.ndarray, np.ndarray, Units]:
    """Read numbers.

    Returns
    -------
    ndarray
        The numbers.
    ndarray of int64
        How many units each is above the least. Floats that agree in fifteen digits of the largest are the same.
    Units

    Raises
    ------
    TableError
        If there is no value, one is not a finite number, or their differences exceed what can be computed exactly.
    """
    found = as_numbers(values, what)
    if not len(found):
        raise TableError(f"{what} must be a list of at least one number")
    if found.dtype == float and (found == np.rint(found)).all() and np.abs(found).max() <= EXACT:
        return found, (found - found.min()).astype(np.int64), Units(0)
    if found.dtype != float:
        least, most = int(found.min()), int(found.max())
        if most - least > np.iinfo(np.int64).max:
            raise TableError(f"{what} go from {least} to {most}, too far for exact differences; round them")
        if found.dtype == np.int64 and abs(least) < EXACT:
            return found, found - least, Units(0)
        return found, np.array([int(one) - least for one in found], dtype=np.int64), Units(0)
    size = np.abs(found[found != 0])
    if size.min() < SMALLEST or size.max() > LARGEST:
        raise TableError(
            f"{what} hold {size.min():g} or {size.max():g}: sizes from {SMALLEST:g} to {LARGEST:g} are expected; "
            "take another unit"
        )
    digits = DIGITS - math.ceil(math.log10(size.max()))
    units = np.rint(found * 10.0**digits if digits > 0 else found / 10.0**-digits).astype(np.int64)
    return found, units - units.min(), Units(digits)
