"""The duality gap of each group of terms, from the gaps of connected components."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..program.problem import Groups

__all__ = ["GroupGaps"]


@dataclass(frozen=True, eq=False)
class GroupGaps:
    """Weak duality holds for every connected component by itself; convex constraints join those that they are about.

    Attributes
    ----------
    of_row, of_term : ndarray of int
        The component of every row and of every term.
    groups : Groups
        The QI tuples, whose conditional distributions are asked for.
    """

    of_row: np.ndarray
    of_term: np.ndarray
    groups: Groups

    def joined(self, together: Iterable[np.ndarray]) -> GroupGaps:
        """Join the components of those terms that a constraint is about, an array of bool each."""
        of_row, of_term = self.of_row, self.of_term
        for terms in together:
            if terms.any():
                joined = np.unique(of_term[terms])
                of_row = np.where(np.isin(of_row, joined), joined[0], of_row)
                of_term = np.where(np.isin(of_term, joined), joined[0], of_term)
        return replace(self, of_row=of_row, of_term=of_term)

    def of_groups(self, slack: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Add up the gaps of the components that a group has terms in, each counted once; records, one a group.

        Parameters
        ----------
        slack : ndarray, one a row
        distance : ndarray, one a term
            The summands of the gap, records.
        """
        size = self.of_row.size + self.of_term.size  # an upper bound
        gap = np.bincount(self.of_row, slack, size).astype(float)  # bincount of no rows has integers
        gap += np.bincount(self.of_term, distance, size)
        pairs = np.unique(self.groups.of_term * np.int64(size) + self.of_term)
        return np.bincount(pairs // size, gap[pairs % size], len(self.groups.records))

    def reach(self, slack: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Bound how far each count of the exact solution is from x'', by Pinsker's inequality; records, one a term."""
        return np.sqrt(self.of_groups(slack, distance) * self.groups.records / 2)[self.groups.of_term]
