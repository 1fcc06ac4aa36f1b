"""Intervals around sensitive values that are numbers, times or ranks: their probabilities, and the best guess."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np
import pandas as pd

from ...errors import StatementError, shown
from ...views.generalized.hierarchies import read_hierarchies
from .judged_values import JudgedValues, judged_values, values_of, with_nodes
from .scales import Scale, scale_of

__all__ = ["Intervals", "judged_within"]

#: Sums of probabilities that differ by less are the same but for rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intervals:
    """The closed intervals [c - radius, c + radius] around some values c, the centres.

    Attributes
    ----------
    scale : Scale
        The positions of all values of the attribute.
    radius : float
        In positions of the scale.
    centres : ndarray of int
        Which of these values are centres.
    all_values : JudgedValues
        From the sensitive values, which of several attributes are combinations, to the values of the attribute.
    is_default : bool
        Whether nobody has given the radius.
    """

    scale: Scale
    radius: float
    centres: np.ndarray
    all_values: JudgedValues
    is_default: bool

    @cached_property
    def order(self) -> np.ndarray:
        """The values by increasing position."""
        return np.argsort(self.scale.position, kind="stable")

    @cached_property
    def sorted(self) -> np.ndarray:
        """The positions, increasing."""
        return self.scale.position[self.order]

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each centre, where its interval starts and stops among the sorted values."""
        at, reach = self.scale.position[self.centres], self.radius + self.scale.rounding
        return np.searchsorted(self.sorted, at - reach, "left"), np.searchsorted(self.sorted, at + reach, "right")

    @property
    def hold_several(self) -> bool:
        """Whether some interval holds more than one value."""
        start, stop = self.ends
        return bool((stop - start > 1).any())

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are in some interval."""
        start, stop = self.ends
        depth = np.zeros(len(self.order) + 1)
        np.add.at(depth, start, 1)
        np.add.at(depth, stop, -1)
        reached = self.order[np.cumsum(depth)[:-1] > 0]
        return np.asarray(self.all_values.includes[:, reached].sum(axis=1) > 0)

    def cumulative(self, p: np.ndarray) -> np.ndarray:
        """Add up probabilities of values in their order, from 0 on: shape (rows, values + 1)."""
        total = np.zeros((len(p), len(self.order) + 1))
        np.cumsum(p[:, self.order], axis=1, out=total[:, 1:])
        return total

    def of(self, p: np.ndarray) -> np.ndarray:
        """Add up the probabilities of values, shape (rows, values), in each interval: shape (rows, centres)."""
        total, (start, stop) = self.cumulative(p), self.ends
        return total[:, stop] - total[:, start]

    def medians(self, p: np.ndarray) -> np.ndarray:
        """The position of the median of every row, the guess with the least expected error."""
        total = self.cumulative(p)[:, 1:]
        return self.sorted[np.minimum((total < total[:, -1:] / 2).sum(axis=1), len(self.order) - 1)]

    def errors(self, p: np.ndarray) -> np.ndarray:
        """The expected distance of the value from the median, of every row."""
        far = np.abs(self.scale.position - self.medians(p)[:, None])
        return np.asarray(np.einsum("ij,ij->i", p, far) / p.sum(axis=1))

    def are_close(self, value: object, other: object) -> bool:
        """Whether two values of the attribute count as the same."""
        at = self.scale.position[self.all_values.labels.get_indexer(pd.Index([value, other]))]
        return bool(abs(at[0] - at[1]) <= self.radius + self.scale.rounding)

    def narrow(self, p: np.ndarray, p0: np.ndarray, least: float, most: float) -> np.ndarray:
        """Mark rows in which an interval that is no wider than the radius has P >= least, and P0 < most.

        Of the intervals that begin at a value, the shortest one with a centre and P >= least has the smallest P0.
        """
        total, before, n = self.cumulative(p), self.cumulative(p0), len(self.order)
        shift = 2.0 * np.arange(len(p))[:, None]  # one sorted list of all rows, in which each row has its own range
        wanted = total[:, :-1] + max(least, 0.0)
        stop = np.searchsorted((total + shift).ravel(), (wanted + shift).ravel() - ROUNDING, "left")
        stop = stop.reshape(wanted.shape) - np.arange(len(p))[:, None] * (n + 1)
        centres = np.flatnonzero(np.isin(self.order, self.centres))
        stop = np.maximum(stop, np.append(centres, n)[np.searchsorted(centres, np.arange(n))] + 1)  # holds a centre
        possible, stop = stop <= n, np.minimum(stop, n)
        is_short = self.sorted[stop - 1] - self.sorted <= self.radius + self.scale.rounding
        inside = np.take_along_axis(np.broadcast_to(before, (len(p), n + 1)), stop, 1) - before[:, :-1]
        return np.asarray((possible & is_short & (inside < most)).any(axis=1))


def judged_within(values: pd.Index, sensitive: object, within: object) -> tuple[JudgedValues, Intervals | None]:
    """Read which values are judged, and the intervals around them, None where the values are labels.

    Parameters
    ----------
    values : Index
        All sensitive values.
    sensitive : object
        Which are judged, as of :func:`judged_values`.
    within : object
        A radius; a hierarchy, whose nodes are judged, too; None for the default.

    Raises
    ------
    UnknownName, StatementError, TableError
        If something is not a value or attribute, or `within` does not fit the values.
    """
    judged = judged_values(values, sensitive)
    is_zero = isinstance(within, numbers.Real) and within == 0
    if judged.labels.nlevels > 1:
        if within is not None and not is_zero:
            raise StatementError(
                f"within={shown(within)}: combinations of {', '.join(map(str, judged.labels.names))} are judged by "
                f"equal values; judge one attribute, sensitive={{{judged.labels.names[0]!r}: None}}"
            )
        return judged, None
    attribute = judged.labels.name
    every = values_of(values, attribute)
    if isinstance(within, Mapping | pd.DataFrame | PathLike):
        return with_nodes(judged, every, read_hierarchies({str(attribute): within})[str(attribute)]), None
    if (scale := scale_of(every.labels)) is None:
        if within is not None and not is_zero:
            raise StatementError(
                f"within={shown(within)}: the values of {attribute!r} are neither numbers, dates nor an ordered "
                "Categorical; convert them, or give within=0 for equal values only"
            )
        return judged, None
    radius = scale.default() if within is None else scale.radius(within)
    return judged, Intervals(scale, radius, every.labels.get_indexer(judged.labels), every, within is None)
