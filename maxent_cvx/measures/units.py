"""Numbers as whole multiples of a unit, so that 0.8 - 0.5 <= 0.3 is decided as it is written."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import TableError, number, shown

__all__ = ["Units", "in_units"]

#: Significant decimal digits that every float holds, and that a long integer may exceed.
DIGITS = sys.float_info.dig
#: Beyond this power of ten a float is no number.
MOST_DIGITS = 300


@dataclass(frozen=True)
class Units:
    """Values are whole multiples of 10^-digits.

    Attributes
    ----------
    digits : int
        Decimals: fifteen significant digits of the value that is largest in size, or all of a whole number.
    """

    digits: int

    def of(self, width: float) -> int:
        """How many units a width is; what a unit divides is rounded, as it was computed from rounded numbers."""
        if self.digits == 0:
            return math.floor(width)
        return round(width * 10.0**self.digits if self.digits > 0 else width / 10.0**-self.digits)

    def width(self, units: np.ndarray) -> np.ndarray:
        """The numbers that so many units are, each the float next to the decimal."""
        return units / 10.0**self.digits if self.digits > 0 else units * 10.0**-self.digits


def in_units(values: Iterable[float], what: str) -> tuple[np.ndarray, np.ndarray, Units]:
    """Read numbers.

    Returns
    -------
    ndarray
        The numbers.
    ndarray of int64
        How many units each is. Floats that agree in fifteen digits of the largest are the same number.
    Units

    Raises
    ------
    TableError
        If there is no value, or one is not a finite number.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TableError(f"{what} must be a list of numbers, not {shown(values)}")
    listed = values if isinstance(values, np.ndarray | pd.Series | pd.Index) else pd.Series(list(values))
    if np.ndim(listed) != 1 or not len(listed):
        raise TableError(f"{what} must be a list of at least one number, not of shape {np.shape(listed)}")
    if not pd.api.types.is_numeric_dtype(listed) or pd.api.types.is_bool_dtype(listed):
        raise TableError(f"{what} must be numbers, not of type {listed.dtype}; give each value its number")
    if pd.isna(listed).any():
        raise TableError(f"{what} hold a missing value; a number each is expected")
    is_whole = pd.api.types.is_integer_dtype(listed)
    numbers = np.asarray(listed, dtype=None if is_whole else float)
    largest = max(abs(number(numbers.min(), f"each of {what}")), abs(number(numbers.max(), f"each of {what}")))
    digits = min(DIGITS - math.ceil(math.log10(largest)), MOST_DIGITS) if largest > 0 else 0
    if is_whole or (numbers == np.rint(numbers)).all():
        digits = max(digits, 0) if largest < np.iinfo(np.int64).max / 2 else digits
    if is_whole and digits >= 0:
        units = numbers.astype(np.int64) * 10**digits
    else:
        units = np.rint(numbers * 10.0**digits if digits > 0 else numbers / 10.0**-digits).astype(np.int64)
    return numbers, units, Units(digits)
