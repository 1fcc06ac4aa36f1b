"""One row in rational numbers, as it was typed, and what subtracting multiples of equations makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from .origin import RowOrigin
from .sparse import entry_rows

__all__ = ["RationalRow"]


@dataclass(frozen=True, eq=False)
class RationalRow:
    """``low <= sum over i of values[of_term[i]] * x[terms[i]] <= high`` over counts x.

    Attributes
    ----------
    terms : ndarray of int
        The terms that have a coefficient, ascending.
    of_term : ndarray of int
        Which of the values each of them has.
    values : list of Fraction
        The different coefficients.
    low, high : Fraction or None
        None for an open side.
    constant : Fraction
        What has been subtracted from both sides.
    """

    terms: np.ndarray
    of_term: np.ndarray
    values: list[Fraction]
    low: Fraction | None
    high: Fraction | None
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, origin: RowOrigin, row: int, n_records: float) -> RationalRow:
        """Take a row over probabilities as it was typed; doubles are the rational numbers that they are."""
        typed = origin.coefficients(row)
        terms = np.concatenate([np.empty(0, dtype=np.int64), *(at for _, at in typed)])
        of_term = np.repeat(np.arange(len(typed)), [len(at) for _, at in typed])
        order, n = np.argsort(terms), Fraction(n_records)
        low, high = (Fraction(side) * n if math.isfinite(side) else None for side in origin.sides(row))
        return cls(terms[order], of_term[order], [a for a, _ in typed], low, high)

    def at(self, term: int) -> Fraction:
        """The coefficient of a term; 0 for one that has none."""
        i = int(np.searchsorted(self.terms, term))
        return self.values[self.of_term[i]] if i < len(self.terms) and self.terms[i] == term else Fraction(0)

    def less(self, multiples: Sequence[Fraction], counts: Sequence[Fraction], equations: sp.csr_array) -> RationalRow:
        """Subtract multiples of equations.

        Parameters
        ----------
        multiples, counts : sequence of Fraction, one an equation
            How often each is subtracted, and what the counts of its terms add up to.
        equations : csr_array
            Which terms each of them has, all with coefficient 1, and none of them in two.
        """
        distinct = [Fraction(0), *dict.fromkeys(multiples)]
        number = {a: i for i, a in enumerate(distinct)}
        terms, place = np.unique(np.concatenate([self.terms, equations.indices]), return_inverse=True)
        own, taken = np.zeros(len(terms), dtype=np.int64), np.zeros(len(terms), dtype=np.int64)
        own[place[: len(self.terms)]] = self.of_term + 1
        of_equation = np.array([number[a] for a in multiples], dtype=np.int64)
        taken[place[len(self.terms) :]] = of_equation[entry_rows(equations)]
        pairs, of_term = np.unique(own * len(distinct) + taken, return_inverse=True)
        before = [Fraction(0), *self.values]
        values = [before[pair // len(distinct)] - distinct[pair % len(distinct)] for pair in pairs.tolist()]
        constant = sum((a * n for a, n in zip(multiples, counts, strict=True)), Fraction(0))
        return replace(self, terms=terms, of_term=of_term, values=values).shifted(constant)

    def shifted(self, by: Fraction) -> RationalRow:
        """Subtract a number from both sides."""
        low, high = (None if side is None else side - by for side in (self.low, self.high))
        return replace(self, low=low, high=high, constant=self.constant + by)

    def times(self, by: Fraction) -> RationalRow:
        """Multiply it by a positive number."""
        low, high = (None if side is None else side * by for side in (self.low, self.high))
        return RationalRow(self.terms, self.of_term, [a * by for a in self.values], low, high, self.constant * by)

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients, one for each of :attr:`terms`, each rounded once."""
        return np.array([float(a) for a in self.values], dtype=float)[self.of_term]

    @property
    def sides(self) -> tuple[float, float]:
        """The sides, rounded; infinite where they are open."""
        return -math.inf if self.low is None else float(self.low), math.inf if self.high is None else float(self.high)

    @property
    def rounding(self) -> tuple[np.ndarray, float]:
        """How far each of :attr:`coefficients`, and the worse of :attr:`sides`, is off."""
        off = np.array([float(abs(Fraction(float(a)) - a)) for a in self.values], dtype=float)[self.of_term]
        sides = [side for side in (self.low, self.high) if side is not None]
        return off, float(max((abs(Fraction(float(side)) - side) for side in sides), default=0))
