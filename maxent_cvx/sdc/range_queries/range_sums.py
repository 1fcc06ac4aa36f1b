"""Answers to queries that sum windows of records: what they tell of each record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ...errors import GroupTooLarge
from ...measures.equivocation.units import in_units
from ...model.maxent import MaxEnt
from ...views import QITable
from ..published import Published
from .bounds import ROUNDING, block_sums, half_overlapping_bounds
from .mean_entropy import most_entropic
from .window_sums import WindowSums, WithinBounds

__all__ = ["RangeSums"]

#: Probabilities in a table of blocks and values.
MOST_ENTRIES = 10**8


@dataclass(frozen=True, eq=False)
class Steps:
    """What is added up, as integer numbers of steps.

    Attributes
    ----------
    values : ndarray
        The domain, from 0 on.
    sums : ndarray
        Of each query, above so many of the least value.
    least, one : float
        The least value, and a step.
    slack : float
        What rounding may make of a bound, and less than to another value.
    """

    values: np.ndarray
    sums: np.ndarray
    least: float
    one: float
    slack: float


@dataclass(frozen=True, eq=False, repr=False)
class RangeSums(Published):
    """The answers: a row a query, `first` and `last` of the records it sums in `order`, and the `sum`.

    Attributes
    ----------
    table, confidential, domain : DataFrame, str, Index
        As of every :class:`~maxent_cvx.sdc.Published`.
    order : Index
        The labels of the records, as they were shuffled.
    size : int
        Q, records a query.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
    >>> answers = mx.sdc.RangeQueries(size=2).publish(people, confidential="Salary")
    >>> answers.table["sum"].to_list()
    [130, 160, 190]
    >>> print(answers.bounds.sort_index())                    # the first two: 80 at most, and the others 80 at least
        low   high
    0  80.0  110.0
    1  50.0   80.0
    2  50.0   80.0
    3  80.0  110.0
    """

    order: pd.Index
    size: int

    @cached_property
    def block(self) -> np.ndarray:
        """The block of Q/2 records that each is in, in `order`; -1 of those in no query."""
        number = np.arange(len(self.order)) // (self.size // 2)
        return np.where(number <= len(self.table), number, -1)

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """The least and the largest value `low`, `high` that each record can have, by label."""
        inside, span = self.block >= 0, self._steps.values[-1]
        low, high = half_overlapping_bounds(self._steps.sums, self.size // 2, 0.0, span)
        least, most = np.where(inside, low[self.block], 0.0), np.where(inside, high[self.block], span)
        ends = {"low": self._steps.least + self._steps.one * least, "high": self._steps.least + self._steps.one * most}
        return pd.DataFrame(ends, index=self.order)

    @cached_property
    def maxent(self) -> pd.DataFrame:
        """P(value | block), a row a block: maximum entropy within the bounds, with the equations as means.

        Raises
        ------
        GroupTooLarge
            If the table would not fit into memory.
        """
        if (entries := (len(self.table) + 1) * len(self.domain)) > MOST_ENTRIES:
            raise GroupTooLarge(
                f"{len(self.table) + 1} blocks of {len(self.domain)} values are {entries:.1e} probabilities, and "
                f"{MOST_ENTRIES:.0e} are allowed; round the values, or ask for longer sums"
            )
        steps = self._steps
        low, high = half_overlapping_bounds(steps.sums, self.size // 2, 0.0, steps.values[-1])
        allowed = (steps.values >= low[:, None] - steps.slack) & (steps.values <= high[:, None] + steps.slack)
        offset, sign = block_sums(steps.sums)
        p = most_entropic(steps.values, allowed, offset, sign, self.size // 2)
        return pd.DataFrame(p, index=pd.RangeIndex(len(p), name="block"), columns=self.domain)

    @property
    def model(self) -> MaxEnt:
        """The model that :attr:`maxent` is the posterior of, for other knowledge, bounds, or another solver.

        Its QI tuples are the blocks, its sources "range sums" and "bounds"; without the latter it has means only. The
        general solvers find the same as :attr:`maxent`, in more time and memory.

        Returns
        -------
        MaxEnt
            To be solved, or to be added to.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
        >>> answers = mx.sdc.RangeQueries(size=2).publish(people, confidential="Salary")
        >>> model = answers.model
        >>> list(model.describe().index)
        ['quasi-identifiers', 'range sums', 'bounds']
        >>> bool(abs(model.solve().conditional() - answers.maxent).max(axis=None) < 1e-4)
        True
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
        """How far the value of a record may be beyond bounds that were rounded: less than to another value.

        Returns
        -------
        float
            In the unit of the values.
        """
        return self._steps.slack * self._steps.one

    @cached_property
    def _steps(self) -> Steps:
        """Values and sums in integer steps above the least value, in which sums of what was typed are exact."""
        _, units, unit = in_units(self.domain, f"the values of {self.confidential!r}")
        step = int(np.gcd.reduce(units)) or 1
        values, one = (units // step).astype(float), float(unit.width(np.array([step]))[0])
        least = float(self.domain[0])
        sums = np.rint((self.table["sum"].to_numpy(dtype=float) - self.size * least) / one)
        gap = float(np.diff(values).min(initial=np.inf))
        return Steps(values, sums, least, one, min(0.25 + ROUNDING * self.size * values[-1], gap / 4))
