"""One row in rational arithmetic: as typed, and after multiples of equations are subtracted from it."""

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
    """``low <= sum over i of values[value_index[i]] * x[terms[i]] <= high`` over the counts x.

    Attributes
    ----------
    terms : ndarray of int
        The terms with a coefficient, ascending.
    value_index : ndarray of int, one a term
        The position of each term's coefficient in `values`.
    values : list of Fraction
        The distinct coefficients.
    low, high : Fraction or None
        The sides, records; None where there is none.
    constant : Fraction
        The constant that has been subtracted from both sides, records.
    """

    terms: np.ndarray
    value_index: np.ndarray
    values: list[Fraction]
    low: Fraction | None
    high: Fraction | None
    constant: Fraction = Fraction(0)

    @classmethod
    def from_origin(cls, origin: RowOrigin, row: int, n_records: float) -> RationalRow:
        """Convert a row over probabilities, as typed, to counts; every double is the rational number that it is."""
        typed = origin.coefficients(row)
        terms = np.concatenate([np.empty(0, dtype=np.int64), *(at for _, at in typed)])
        value_index = np.repeat(np.arange(len(typed)), [len(at) for _, at in typed])
        order, n = np.argsort(terms), Fraction(n_records)
        low, high = (Fraction(side) * n if math.isfinite(side) else None for side in origin.sides(row))
        return cls(terms[order], value_index[order], [a for a, _ in typed], low, high)

    def coefficient(self, term: int) -> Fraction:
        """The coefficient of a term, 0 if it has none."""
        i = int(np.searchsorted(self.terms, term))
        return self.values[self.value_index[i]] if i < len(self.terms) and self.terms[i] == term else Fraction(0)

    def minus_equations(
        self, multiples: Sequence[Fraction], counts: Sequence[Fraction], equations: sp.csr_array
    ) -> RationalRow:
        """Subtract ``multiples[k]`` times equation k, ``equations[k] @ x == counts[k]``, for every k.

        Parameters
        ----------
        multiples, counts : sequence of Fraction, one an equation
        equations : csr_array, shape (equations, terms)
            Every entry is 1, and no term is in two equations.
        """
        distinct = [Fraction(0), *dict.fromkeys(multiples)]
        number = {a: i for i, a in enumerate(distinct)}
        terms, place = np.unique(np.concatenate([self.terms, equations.indices]), return_inverse=True)
        own, subtracted = np.zeros(len(terms), dtype=np.int64), np.zeros(len(terms), dtype=np.int64)
        own[place[: len(self.terms)]] = self.value_index + 1
        of_equation = np.array([number[a] for a in multiples], dtype=np.int64)
        subtracted[place[len(self.terms) :]] = of_equation[entry_rows(equations)]
        # A term's new coefficient depends on the pair (its own coefficient, the multiple) only.
        pairs, value_index = np.unique(own * len(distinct) + subtracted, return_inverse=True)
        before = [Fraction(0), *self.values]
        values = [before[pair // len(distinct)] - distinct[pair % len(distinct)] for pair in pairs.tolist()]
        constant = sum((a * n for a, n in zip(multiples, counts, strict=True)), Fraction(0))
        return replace(self, terms=terms, value_index=value_index, values=values).shifted(constant)

    def shifted(self, by: Fraction) -> RationalRow:
        """Subtract a constant from both sides."""
        low, high = (None if side is None else side - by for side in (self.low, self.high))
        return replace(self, low=low, high=high, constant=self.constant + by)

    def scaled(self, by: Fraction) -> RationalRow:
        """Multiply the row by a positive number."""
        low, high = (None if side is None else side * by for side in (self.low, self.high))
        return RationalRow(self.terms, self.value_index, [a * by for a in self.values], low, high, self.constant * by)

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients of :attr:`terms` as doubles, each rounded once."""
        return np.array([float(a) for a in self.values], dtype=float)[self.value_index]

    @property
    def sides(self) -> tuple[float, float]:
        """The sides as doubles, each rounded once; infinite where there is none."""
        return -math.inf if self.low is None else float(self.low), math.inf if self.high is None else float(self.high)

    @property
    def rounding_error(self) -> tuple[np.ndarray, float]:
        """The absolute rounding error of each of :attr:`coefficients`, and the larger one of :attr:`sides`."""
        errors = np.array([float(abs(Fraction(float(a)) - a)) for a in self.values], dtype=float)[self.value_index]
        sides = [side for side in (self.low, self.high) if side is not None]
        return errors, float(max((abs(Fraction(float(side)) - side) for side in sides), default=0))
