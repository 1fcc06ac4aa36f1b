"""Mondrian's recursion as a formula: which tables it makes these groups from, if it looks at quasi-identifiers alone.

At every group of its recursion Mondrian tries the attributes in the order of their widths, which the published cells
tell, since their ends are values of records. It cuts at the median m if k records are left on both sides. So an
attribute is refused if and only if fewer than k records are below m and fewer than k above; and a cut along the borders
of published groups, between L, the largest value below, and H, the smallest above, is made if and only if

* as many records are below as above, or
* more are below, and at most (n - 1) / 2 of all are below L, so that the median is L, or
* more are above, and fewer than k are above H, so that the median is H, and "up to the median" was refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ....errors import GroupTooLarge
from .formula import ALWAYS, NEVER, AtMost, Formula, all_of, any_of

__all__ = ["MOST_NODES", "Recursion"]

#: Different groups that recursions may have on their way, at most.
MOST_NODES = 50_000


@dataclass(frozen=True, eq=False)
class Recursion:
    """Mondrian, and the groups that it ended with.

    Attributes
    ----------
    k : int
    size : ndarray of int, shape (groups,)
    place : list of ndarray
        Of each attribute where its values stand, in order.
    least : list of ndarray of int, shape (groups, values)
        Of each attribute how many records of a group have each value at least: 1 where the cell says that some do.
    order : list of int
        The groups in the order in which the recursion ends with them.
    """

    k: int
    size: np.ndarray
    place: list[np.ndarray]
    least: list[np.ndarray]
    order: list[int] = field(default_factory=list, init=False)
    _known: dict[tuple[int, ...], Formula] = field(default_factory=dict, init=False)

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last value of each group, shape (groups, attributes)."""
        low = np.column_stack([least.argmax(axis=1) for least in self.least])
        return low, np.column_stack([least.shape[1] - 1 - least[:, ::-1].argmax(axis=1) for least in self.least])

    @cached_property
    def _below(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The fewest and the most records of each group below each place, shape (groups, values + 1)."""
        found = []
        for a, least in enumerate(self.least):
            below = np.column_stack([np.zeros(len(least), dtype=int), np.cumsum(least, axis=1)])
            above = below[:, -1:] - below
            at = np.arange(below.shape[1])
            low, high = (ends[:, a, None] for ends in self.ends)
            fewest = np.where(at > high, self.size[:, None], below)
            most = np.where(at <= low, 0, self.size[:, None] - above)
            found.append((fewest, most))
        return found

    def formula(self) -> Formula:
        """The condition on the table."""
        return self._of(tuple(range(len(self.size))))

    def _of(self, groups: tuple[int, ...]) -> Formula:
        """The condition that Mondrian ends with these groups, given that they are one group on its way.

        That a single group is not cut is a condition of its columns alone, see :class:`Column`.
        """
        if groups not in self._known:
            if len(self._known) > MOST_NODES:
                raise GroupTooLarge(
                    f"Mondrian may have come to these groups by recursions with more than {MOST_NODES} different groups"
                )
            if len(groups) == 1:
                self.order.append(groups[0])
            self._known[groups] = ALWAYS if len(groups) == 1 else self._cut(np.array(groups))
        return self._known[groups]

    def _cut(self, groups: np.ndarray) -> Formula:
        """One of the cuts along borders is made, and both halves end with their groups."""
        n = int(self.size[groups].sum())
        if n < 2 * self.k:
            return NEVER
        options: list[Formula] = []
        refused: list[Formula] = []
        for a in self._order(groups):
            for low, high in self._borders(groups, a):
                made = self._made(groups[low], groups[high], a)
                if made != NEVER:
                    halves = [self._of(tuple(groups[half].tolist())) for half in (low, high)]
                    options.append(all_of([*refused, made, *halves]))
            refused.append(self._refused(groups, a))
            if refused[-1] == NEVER:
                break
        return any_of(options)

    def _order(self, groups: np.ndarray) -> list[int]:
        """The attributes in the order in which they are tried."""
        low, high = self.ends
        values = [place[np.stack([low[:, a], high[:, a]])] for a, place in enumerate(self.place)]
        whole = np.maximum([value[1].max() - value[0].min() for value in values], 1e-300)
        here = np.array([value[1, groups].max() - value[0, groups].min() for value in values])
        return [int(a) for a in np.argsort(-here / whole, kind="stable")]

    def _borders(self, groups: np.ndarray, a: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """The cuts that go through no group and leave k records on both sides: positions of the halves."""
        low, high = (ends[groups, a] for ends in self.ends)
        order = np.argsort(low, kind="stable")
        up_to = np.maximum.accumulate(high[order])
        n = np.cumsum(self.size[groups[order]])
        free = (up_to[:-1] < low[order][1:]) & (n[:-1] >= self.k) & (n[-1] - n[:-1] >= self.k)
        return [(np.sort(order[:i]), np.sort(order[i:])) for i in np.flatnonzero(free) + 1]

    def _made(self, low: np.ndarray, high: np.ndarray, a: int) -> Formula:
        """The condition that an attribute is cut between these groups."""
        n_low, n_high = int(self.size[low].sum()), int(self.size[high].sum())
        if n_low == n_high:
            return ALWAYS
        if n_low > n_high:
            return self._at_most(low, a, int(self.ends[1][low, a].max()), True, (n_low + n_high - 1) // 2)
        return self._at_most(high, a, int(self.ends[0][high, a].min()) + 1, False, self.k - 1)

    def _refused(self, groups: np.ndarray, a: int) -> Formula:
        """The condition that no cut of an attribute leaves k records on both sides."""
        first, last = self.ends[0][groups, a].min(), self.ends[1][groups, a].max()
        return any_of(
            [
                all_of(
                    [
                        self._at_most(groups, a, v, True, self.k - 1),
                        self._at_most(groups, a, v + 1, False, self.k - 1),
                    ]
                )
                for v in range(int(first), int(last) + 1)
            ]
        )

    def _at_most(self, groups: np.ndarray, a: int, place: int, below: bool, most: int) -> Formula:
        """At most so many records are below a place, or from it on; decided where the cells decide it."""
        fewest, largest = (bound[groups, place] for bound in self._below[a])
        if not below:
            fewest, largest = self.size[groups] - largest, self.size[groups] - fewest
        open_ = fewest < largest
        most -= int(fewest[~open_].sum())
        if fewest[open_].sum() > most:
            return NEVER
        if largest[open_].sum() <= most:
            return ALWAYS
        return AtMost(tuple((int(g), a) for g in groups[open_]), place, below, most)
