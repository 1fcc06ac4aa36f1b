"""Where the rows of a system come from: their names, and their coefficients before any rounding."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

import numpy as np

__all__ = ["Coefficients", "RowOrigin"]


#: The different coefficients of a row, and the terms that each is of.
Coefficients = tuple[tuple[Fraction, np.ndarray], ...]


class RowOrigin(Protocol):
    """What the solver is told of the rows that it is handed, by their numbers in the whole system.

    Rows come in blocks; those of one block say the same of different people.
    """

    @property
    def starts(self) -> np.ndarray:
        """The number of the first row of each block and, last, the number of rows."""
        ...

    @property
    def labels(self) -> Mapping[str, slice]:
        """The rows of each block, by its label, in order."""
        ...

    @property
    def typed(self) -> np.ndarray:
        """The numbers of the rows whose coefficients were typed as rational numbers."""
        ...

    def name(self, row: int) -> str:
        """What messages call a row."""
        ...

    def remedy(self, row: int) -> str:
        """What to do about a row that contradicts others."""
        ...

    def coefficients(self, row: int) -> Coefficients:
        """The coefficients of a row as it was typed, of probabilities."""
        ...

    def sides(self, row: int) -> tuple[float, float]:
        """The low and the high side as typed, probabilities; infinite where it is open."""
        ...

    def is_exact(self, row: int) -> bool:
        """Whether coefficients and sides are what is meant, and not rounded by whoever wrote the row."""
        ...
