"""Groups from piles of values, as small as a privacy criterion allows, from the bottom up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..drawing import draw, rank
from .privacy_criterion import PrivacyCriterion

__all__ = ["LARGEST", "Grouping"]

#: Larger groups are not tried, unless r needs them.
LARGEST = 24


@dataclass(eq=False)
class Grouping:
    """Records, and the group that each is in so far.

    Attributes
    ----------
    criterion : PrivacyCriterion
    signature, value : ndarray of int
        Of each record; similar signatures have numbers next to each other.
    rng : Generator
    group : ndarray of int
        -1 of those that are left over.
    next : int
        The number of the next group.
    """

    criterion: PrivacyCriterion
    signature: np.ndarray
    value: np.ndarray
    rng: np.random.Generator
    group: np.ndarray
    next: int = 0

    @classmethod
    def of(
        cls, criterion: PrivacyCriterion, signature: np.ndarray, value: np.ndarray, rng: np.random.Generator
    ) -> Grouping:
        """Begin with nobody in any group."""
        return cls(criterion, signature, value, rng, np.full(len(value), -1))

    @property
    def smallest(self) -> int:
        """The records that a group needs at least, r if that is an integer."""
        return int(np.ceil(self.criterion.r))

    @property
    def left(self) -> np.ndarray:
        """The records that are in no group."""
        return np.flatnonzero(self.group < 0)

    def from_the_bottom(self, parts: list[tuple[int, int]]) -> None:
        """Group those with one signature; who is left over goes up, to be grouped with those of similar signatures.

        Parameters
        ----------
        parts : list of (int, int)
            Ranges of signatures, each after both halves of it.
        """
        records = self.rng.permutation(len(self.value))
        records = records[np.argsort(self.signature[records], kind="stable")]
        start = np.searchsorted(self.signature[records], np.arange(parts[-1][1] + 1))
        waiting: dict[int, tuple[int, np.ndarray]] = {}  # by where a part begins, its end and who is left over of it
        for low, high in parts:
            if high - low == 1:
                pool = records[start[low] : start[high]]
            else:
                middle, first = waiting.pop(low)
                pool = np.concatenate([first, waiting.pop(middle)[1]])
            group, _ = self.drawn(pool, self.smallest, tries=1)
            self.accept(pool, group)
            waiting[low] = high, pool[group < 0]

    def accept(self, pool: np.ndarray, group: np.ndarray) -> None:
        """Number the new groups of a pool after all others."""
        self.group[pool] = np.where(group >= 0, group + self.next, -1)
        self.next += int(group.max(initial=-1)) + 1

    def drawn(self, pool: np.ndarray, size: int, tries: int) -> tuple[np.ndarray, int]:
        """Draw groups from the largest piles of a pool; those that violate the criterion are drawn again, larger.

        Returns
        -------
        ndarray of int
            The new group of each record of the pool, from 0; -1 of those that are left over.
        int
            How many groups there are.
        """
        group, n, again = np.full(len(pool), -1), 0, tries
        left = np.arange(len(pool))
        while len(left):
            pile = self.pile(pool[left], size)
            order = np.argsort(pile, kind="stable")
            left = left[order]
            drawn = draw(pile[order], size, self.rng)
            got = np.flatnonzero(drawn >= 0)
            if not len(got):
                break
            kept = self.kept(pool[left[got]], drawn[got])
            safe = got[kept[drawn[got]]]
            group[left[safe]] = (np.cumsum(kept) - 1 + n)[drawn[safe]]
            n += int(kept.sum())
            left = np.delete(left, safe)
            if kept.all():
                break
            again -= 1
            if not again:
                size, again = size + 1 + size // 4, tries
            if size > max(LARGEST, self.smallest):
                break
            left = left if again == tries else self.rng.permutation(left)
        return group, n

    def kept(self, records: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Which groups satisfy the criterion."""
        return self.criterion.kept(group, self.signature[records], self.value[records])

    def pile(self, records: np.ndarray, size: int) -> np.ndarray:
        """The pile of each record: its value; a value that may repeat makes more than one pile, none too large."""
        value = self.value[records]
        order = np.argsort(value, kind="stable")
        nth = np.empty(len(value), dtype=np.int64)
        nth[order] = rank(value[order])
        part = np.where(self.criterion.protected[value], 0, nth // max(len(records) // size, 1))
        return part * len(self.criterion.protected) + value
