"""A convex constraint as a budget: the costs of some rows, and a linear expression, add up to at most a limit.

    sum_k c_k(a_k x) + g x <= limit

With the multiplier t of the constraint, the Lagrangian has t c_k as the costs of soft rows and t g as a linear term,
which changes the weights w to w exp(-t g). What is left to find is t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import EPS
from ..program.extension import AddedRows
from ..program.problem import Groups
from ..rows.exact_products import exact_matvec
from ..rows.penalties import Penalties
from ..rows.sparse import entry_rows, most_by_row

__all__ = ["Budget"]


@dataclass(frozen=True, eq=False)
class Budget:
    """sum of the costs of missing low <= matrix @ x <= high, plus linear @ x, is at most the limit.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
    low, high : ndarray, one a row
        The values that cost nothing, in the unit of the row.
    penalties : Penalties
        In the unit of the constraint.
    linear : ndarray, one a term
    limit : float
        In the unit of the constraint.
    name : str
        Of the constraint, in messages.
    zeros : csr_array, shape (rows, terms)
        Rows that must be 0 besides.
    norm : float, optional
        The factor of the Euclidean norm whose square the costs are, if the constraint is on a norm.
    error : float
        A bound on the rounding error of the limit, in the unit of the constraint.
    """

    matrix: sp.csr_array
    low: np.ndarray
    high: np.ndarray
    penalties: Penalties
    linear: np.ndarray
    limit: float
    name: str
    zeros: sp.csr_array
    norm: float | None = None
    error: float = 0.0

    def without_totals(self, groups: Groups) -> Budget:
        """The same with the linear expression subtracted on both sides for groups where it only counts the records.

        An entropy or divergence of P(q, s) has such a linear part. Without it the limit is the distance from the
        reference, however small, and no digits of it cancel.
        """
        q, records = groups
        if not self.linear.any():
            return self
        least, most = np.full(len(records), np.inf), np.full(len(records), -np.inf)
        np.minimum.at(least, q, self.linear)
        np.maximum.at(most, q, self.linear)
        of_group = np.where(least == most, least, 0.0)
        parts = [self.limit, *(-of_group * records)]
        error = self.error + EPS * float(np.abs(parts).sum())
        return replace(self, linear=self.linear - of_group[q], limit=math.fsum(parts), error=error)

    def excess(self, spent: float) -> float:
        """The left side of the constraint less its right side as typed, where so much is spent."""
        if self.norm is None:
            return spent - self.limit
        radius = math.copysign(math.sqrt(abs(self.limit)), self.limit)
        return self.norm * (math.sqrt(max(spent, 0.0)) - radius)

    def scaled(self) -> Budget:
        """The same with rows in records like the rows of knowledge, whose largest coefficient is from 1/2 to 1.

        Powers of two change numbers without rounding them.
        """
        largest = most_by_row(np.abs(self.matrix.data), self.matrix)
        fraction, exponent = np.frexp(np.where(largest > 0, largest, 1.0))
        by = np.exp2(-np.clip(exponent - (fraction == 1 / 2), -1000, 1000))
        matrix = self.matrix.copy()
        matrix.data = matrix.data * by[entry_rows(matrix)]
        return replace(
            self, matrix=matrix, low=self.low * by, high=self.high * by, penalties=self.penalties.scaled(by)
        )  # fmt: skip

    def spent(self, x: np.ndarray) -> float:
        """The left side of the constraint at x."""
        value = exact_matvec(self.matrix, x)
        missed = np.maximum(np.maximum(self.low - value, value - self.high), 0.0)
        return float(self.penalties.cost(missed).sum() + self.linear @ x)

    def rounding(self, x: np.ndarray) -> float:
        """How exactly :meth:`spent` is known: the effect of one unit in the last place of the value of each row."""
        value = self.matrix @ x
        slope = np.abs(self.penalties.multiplier(self.low, self.high, value))
        return EPS * float(np.where(value == 0, 0.0, slope) @ np.abs(value) + np.abs(self.linear) @ x)

    @cached_property
    def ball(self) -> tuple[float, np.ndarray] | None:
        """The temperature and the target of each term, if the costs are divergences of all terms, one a term.

        Terms of :attr:`zeros` may be left out; their target is 1.
        """
        temperature, target = self.penalties.temperature, self.penalties.target
        if temperature is None or target is None or not self.penalties.is_divergence.all():
            return None
        terms, left = self.matrix.indices, np.ones(self.matrix.shape[1], dtype=bool)
        left[self.zeros.indices] = left[terms] = False
        alone = len(terms) == self.matrix.shape[0] == len(np.unique(terms)) and (np.diff(self.matrix.indptr) == 1).all()
        if not alone or left.any():
            return None
        # a x log(a x / T) is a times x log(x / (T / a)).
        temperature, target = temperature * self.matrix.data, target / self.matrix.data
        if np.ptp(temperature) > 4 * EPS * temperature[0]:
            return None
        found = np.ones(self.matrix.shape[1])
        found[terms] = target
        return float(temperature[0]), found

    @property
    def is_free_only(self) -> bool:
        """Whether nothing may be spent: every row has then a value that costs nothing."""
        return self.limit == 0 and not self.linear.any()

    @property
    def cost_free_rows(self) -> AddedRows:
        """The rows that say so, and those of :attr:`zeros`."""
        at = self.penalties.is_divergence
        target = self.low if self.penalties.target is None else np.where(at, self.penalties.target, self.low)
        none = np.zeros(self.zeros.shape[0])
        matrix = sp.csr_array(sp.vstack([self.matrix, self.zeros], format="csr"))
        low, high = (np.concatenate([np.where(at, target, side), none]) for side in (self.low, self.high))
        return AddedRows(matrix, low, high, self.name)

    @property
    def magnitude(self) -> float:
        """The size that a violation of the constraint is relative to."""
        return max(abs(self.limit), float(np.abs(self.linear).max(initial=0.0)), np.finfo(float).tiny)
