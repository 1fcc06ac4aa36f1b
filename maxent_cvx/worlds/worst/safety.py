"""(c, k)-safety: no k basic implications give anybody's value a probability of c or more (Martin et al., 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ...errors import TableError, arguments, shown, whole
from .formula import as_double, worst_formulas
from .frequencies import Frequencies
from .least import Least

__all__ = ["Safety"]

#: By how much, of themselves and for each atom, odds in doubles may be too large: some roundings of 1e-16, and room.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Safety:
    """Whether P(somebody has a value | k basic implications) < c, for everybody and all of them.

    Attributes
    ----------
    c : float
        A probability above 0; 1 is safe from certainty.
    k : int
    """

    c: float
    k: int

    @classmethod
    def read(cls, safe: object) -> Self | None:
        """Read the argument `safe`: None, or the pair (c, k)."""
        if safe is None:
            return None
        if not isinstance(safe, tuple) or len(safe) != 2:
            raise TableError(f"safe={shown(safe)}: a pair (c, k) is expected, such as (0.5, 2)")
        c = arguments.real(safe[0], "c of safe=(c, k)", 0.0, 1.0, TableError)
        if not c:
            raise TableError("safe=(0, k): nothing has a probability below 0; choose a larger c")
        return cls(c, whole(safe[1], "k of safe=(c, k)", 0, error=TableError))

    def disclosure(self, frequencies: Frequencies) -> float:
        """The largest probability after k implications, rounded: 9/10 is not below 0.9; 0 if none is sensitive."""
        if (frequencies.target < 0).all():
            return 0.0
        (worst,) = worst_formulas(frequencies, [self.k])
        return as_double(worst.disclosure)

    def holds(self, least: Least) -> bool:
        """Whether it is kept by buckets of which this is the least that is left over; in doubt, not."""
        return least.odds is None or bool(least.odds[self.k] * self.c > (1 - self.c) * (1 + (self.k + 1) * ROUNDING))
