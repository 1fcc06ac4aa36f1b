"""Answers to queries that sum windows of records: what they tell of each record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..model import MaxEnt
from ..views import QITable
from .bounds import ROUNDING, block_sums, half_overlapping_bounds
from .mean_entropy import most_entropic
from .technique import Published
from .window_sums import WindowSums, WithinBounds

__all__ = ["RangeSums"]


@dataclass(frozen=True, eq=False, repr=False)
class RangeSums(Published):
    """The answers: a row a query, `first` and `last` of the records it sums in :attr:`order`, and the `sum`.

    Attributes
    ----------
    order : Index
        The labels of the records, as they were shuffled.
    size : int
        Q, records a query.
    """

    order: pd.Index
    size: int

    @cached_property
    def block(self) -> np.ndarray:
        """The block of Q/2 records that each is in, in :attr:`order`; -1 of those in no query."""
        number = np.arange(len(self.order)) // (self.size // 2)
        return np.where(number <= len(self.table), number, -1)

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """The least and the largest value `low`, `high` that each record can have, by label."""
        ends = float(self.domain[0]), float(self.domain[-1])
        found = half_overlapping_bounds(self.table["sum"].to_numpy(dtype=float), self.size // 2, *ends)
        inside = self.block >= 0
        low, high = (np.where(inside, side[self.block], end) for side, end in zip(found, ends, strict=True))
        return pd.DataFrame({"low": low, "high": high}, index=self.order)

    @cached_property
    def maxent(self) -> pd.DataFrame:
        """P(value | block), a row a block: maximum entropy within the bounds, with the equations as means."""
        domain = self.domain.to_numpy(dtype=float)
        low, high = self._of_blocks()
        allowed = (domain >= low[:, None]) & (domain <= high[:, None])
        offset, sign = block_sums(self.table["sum"].to_numpy(dtype=float))
        p = most_entropic(domain, allowed, offset, sign, self.size // 2)
        return pd.DataFrame(p, index=pd.RangeIndex(len(p), name="block"), columns=self.domain)

    @property
    def model(self) -> MaxEnt:
        """The model that :attr:`maxent` is the posterior of, for other knowledge, bounds, or another solver.

        Its QI tuples are the blocks, its sources "range sums" and "bounds"; without the latter it has means only. The
        general solvers find the same as :attr:`maxent`, in more time and memory.
        """
        column = "block" if self.confidential != "block" else "block of records"
        people = pd.DataFrame({column: self.block[self.block >= 0]})
        table = QITable(people, qi=column, sa=self.confidential, sa_values=self.domain)
        model = MaxEnt(table).add(WindowSums(self.table["sum"].to_numpy(dtype=float)), label="range sums")
        return model.add(WithinBounds(*self._of_blocks()), label="bounds")

    def _of_blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of every block's records, with what rounding makes of them."""
        inside = self.block >= 0
        low, high = self.bounds[inside].groupby(self.block[inside]).first().to_numpy().T
        return low - self.slack, high + self.slack

    @property
    def slack(self) -> float:
        """How far the value of a record may be beyond bounds that were rounded: less than to another value."""
        gap = float(np.diff(self.domain.to_numpy(dtype=float)).min(initial=np.inf))
        return min(ROUNDING * float(max(self.table["sum"].abs().max(), np.abs(self.domain).max())), gap / 4)
