"""Where the rows of a system come from: their names, and their coefficients before any rounding."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

import numpy as np

__all__ = ["Coefficients", "RowOrigin", "by_coefficient"]


#: The distinct coefficients of a row, each with the terms that have it.
Coefficients = tuple[tuple[Fraction, np.ndarray], ...]


def by_coefficient(coefficients: np.ndarray, terms: np.ndarray) -> Coefficients:
    """Collect the terms of each coefficient that is not 0; every double is the rational number that it is."""
    kept = coefficients != 0
    values, number = np.unique(coefficients[kept], return_inverse=True)
    collected = np.split(terms[kept][np.argsort(number, kind="stable")], np.cumsum(np.bincount(number))[:-1])
    return tuple((Fraction(a), at) for a, at in zip(values.tolist(), collected, strict=False))


class RowOrigin(Protocol):
    """What the solver knows of the rows beyond their numbers; rows are numbered as in the whole system.

    Rows come in blocks: those of one block state the same relation for different groups of people.
    """

    @property
    def starts(self) -> np.ndarray:
        """The number of the first row of each block and, last, the number of all rows."""
        ...

    @property
    def labels(self) -> Mapping[str, slice]:
        """The rows of each block by its label, in the order of the blocks."""
        ...

    @property
    def typed(self) -> np.ndarray:
        """The numbers of the rows whose coefficients are available as rational numbers."""
        ...

    def name(self, row: int) -> str:
        """The name of a row in messages."""
        ...

    def remedy(self, row: int) -> str:
        """What a user can do about a row that contradicts others."""
        ...

    def coefficients(self, row: int) -> Coefficients:
        """The coefficients of a row over probabilities, as typed."""
        ...

    def doubles(self, row: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The coefficients of a row and their terms, if they are doubles; None if they are other rational numbers."""
        ...

    def sides(self, row: int) -> tuple[float, float]:
        """The lower and the upper side of a row over probabilities, as typed; infinite where there is none."""
        ...

    def is_exact(self, row: int) -> bool:
        """Whether the stored coefficients and sides are the intended ones; False if whoever wrote the row rounded."""
        ...
