"""Groups that refused cuts link, which are counted together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

__all__ = ["ALL", "Part", "renumbered"]

#: The set of l values and more; others are the bits of an integer.
ALL = -1


@dataclass(frozen=True, eq=False)
class Part:
    """Groups, their values, and cuts of which one half each has fewer than l values.

    Attributes
    ----------
    group : ndarray of int
        The group of each record, from 0, in the order in which groups go through.
    count : ndarray of int, shape (groups, values)
        Records of each value.
    halves : ndarray of bool, shape (halves, records)
    cuts : list of tuple of int
        The one or two halves of which one has fewer than l values.
    l : int
    kind : ndarray of int
        Records of one kind have the same prior.
    prior : ndarray, shape (kinds, values)
        P(value | kind); 1 where all assignments are equally probable.
    """

    group: np.ndarray
    count: np.ndarray
    halves: np.ndarray
    cuts: list[tuple[int, ...]]
    l: int
    kind: np.ndarray
    prior: np.ndarray

    def capped(self, values: np.ndarray) -> np.ndarray:
        """Sets of values, in which l and more are all of them."""
        return np.where(np.bitwise_count(values) >= self.l, ALL, values)

    def refused(self, values: np.ndarray) -> np.ndarray:
        """Which sets of values of all halves, in columns, let every cut be refused."""
        rich = values == ALL
        return ~np.any([rich[:, list(cut)].all(axis=1) for cut in self.cuts], axis=0)

    def holds(self, value: np.ndarray) -> np.ndarray:
        """By which assignments, shape (assignments, records), every cut is refused."""
        values = np.arange(self.count.shape[1])
        number = np.stack([(value == one) @ self.halves.T for one in values]).sum(axis=0)
        rich = number >= self.l
        return ~np.any([rich[:, list(cut)].all(axis=1) for cut in self.cuts], axis=0)

    def of_cuts(self, cuts: list[tuple[int, ...]]) -> Self:
        """The same with fewer cuts."""
        own, renamed = renumbered(cuts)
        return replace(self, halves=self.halves[own], cuts=renamed)


def renumbered(cuts: list[tuple[int, ...]]) -> tuple[list[int], list[tuple[int, ...]]]:
    """The halves of some cuts, and the cuts with halves named by their places among these."""
    own = [half for cut in cuts for half in cut]
    place = {half: i for i, half in enumerate(own)}
    return own, [tuple(place[half] for half in cut) for cut in cuts]
