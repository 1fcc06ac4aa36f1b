"""One row in rational numbers, as it was typed, and what subtracting multiples of equations makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...terms.rows import Rows

__all__ = ["RationalRow", "typed_coefficients"]


@dataclass(frozen=True, eq=False)
class RationalRow:
    """``low <= sum over terms j of values[of_term[j]] * x_j <= high`` over counts x.

    Attributes
    ----------
    values : list of Fraction
        The different coefficients.
    of_term : ndarray of int
        Which of them each term has.
    low, high : Fraction or None
        None for an open side.
    constant : Fraction
        What has been subtracted from both sides.
    """

    values: list[Fraction]
    of_term: np.ndarray
    low: Fraction | None
    high: Fraction | None
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, rows: Rows, row: int, n_records: int) -> RationalRow:
        """Take a row over probabilities as it was typed; doubles are the rational numbers that they are."""
        of_term = np.zeros(rows.matrix.shape[1], dtype=np.int64)
        typed = typed_coefficients(rows, row)
        for i, (_, terms) in enumerate(typed, 1):
            of_term[terms] = i
        sides = (float(side[row]) for side in (rows.low, rows.high))
        low, high = (Fraction(side) * n_records if math.isfinite(side) else None for side in sides)
        return cls([Fraction(0), *(a for a, _ in typed)], of_term, low, high)

    def at(self, term: int) -> Fraction:
        """The coefficient of a term."""
        return self.values[self.of_term[term]]

    def less(self, multiples: Sequence[Fraction], counts: Sequence[Fraction], of_term: np.ndarray) -> RationalRow:
        """Subtract multiples of equations.

        Parameters
        ----------
        multiples, counts : sequence of Fraction, one an equation
            How often each is subtracted, and what the counts of its terms add up to.
        of_term : ndarray of int
            Which of these equations each term is in; -1 for none.
        """
        distinct = [Fraction(0), *dict.fromkeys(multiples)]
        place = {a: i for i, a in enumerate(distinct)}
        which = np.array([place[a] for a in multiples] + [0])[of_term]  # -1 is the last
        pairs, found = np.unique(self.of_term * len(distinct) + which, return_inverse=True)
        values = [self.values[pair // len(distinct)] - distinct[pair % len(distinct)] for pair in pairs.tolist()]
        return replace(self, values=values, of_term=found).shifted(
            sum((a * n for a, n in zip(multiples, counts, strict=True)), Fraction(0))
        )

    def shifted(self, by: Fraction) -> RationalRow:
        """Subtract a number from both sides."""
        low, high = (None if side is None else side - by for side in (self.low, self.high))
        return replace(self, low=low, high=high, constant=self.constant + by)

    def times(self, by: Fraction) -> RationalRow:
        """Multiply it by a positive number."""
        low, high = (None if side is None else side * by for side in (self.low, self.high))
        return RationalRow([a * by for a in self.values], self.of_term, low, high, self.constant * by)

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients, one a term, each rounded once."""
        return np.array([float(a) for a in self.values])[self.of_term]

    @property
    def sides(self) -> tuple[float, float]:
        """The sides, rounded; infinite where they are open."""
        return -math.inf if self.low is None else float(self.low), math.inf if self.high is None else float(self.high)

    @property
    def rounding(self) -> tuple[np.ndarray, float]:
        """How far each of :attr:`coefficients`, and the worse of :attr:`sides`, is off."""
        off = np.array([float(abs(Fraction(float(a)) - a)) for a in self.values])[self.of_term]
        sides = [side for side in (self.low, self.high) if side is not None]
        return off, float(max(abs(Fraction(float(side)) - side) for side in sides))


def typed_coefficients(rows: Rows, row: int) -> tuple[tuple[Fraction, np.ndarray], ...]:
    """The different coefficients of a row, as it was typed or else as it stands, and the terms that each is of."""
    if rows.typed is not None:
        return rows.typed
    entries = slice(rows.matrix.indptr[row], rows.matrix.indptr[row + 1])
    data, terms = rows.matrix.data[entries], rows.matrix.indices[entries]
    return tuple((Fraction(float(a)), terms[data == a]) for a in np.unique(data) if a)
