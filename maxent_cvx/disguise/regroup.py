"""Groups from piles of values, as small as a promise allows, and groups taken apart to place who is left over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..tables import densely, tally
from .drawing import draw, rank
from .patterns import Patterns
from .safe_groups import Promise

__all__ = ["Grouping"]

#: How many records are placed at a time, among so many groups for each at first.
AT_A_TIME, AMONG = 4, 8
#: Attempts with groups of one size, before larger ones are tried.
TRIES = 3
#: Larger groups are not tried, unless r needs them.
LARGEST = 24
#: More kinds of records, by signature and value, are not rearranged by patterns.
MOST_KINDS = 5_000


@dataclass(eq=False)
class Grouping:
    """Records, and the group that each is in so far.

    Attributes
    ----------
    promise : Promise
    signature, value : ndarray of int
        Of each record.
    rng : Generator
    group : ndarray of int
        -1 of those that are left over.
    next : int
        The number of the next group.
    spent : bool
        Whether a search for patterns ended because its work was spent.
    """

    promise: Promise
    signature: np.ndarray
    value: np.ndarray
    rng: np.random.Generator
    group: np.ndarray
    next: int = 0
    spent: bool = False

    @classmethod
    def of(cls, promise: Promise, signature: np.ndarray, value: np.ndarray, rng: np.random.Generator) -> Grouping:
        """Begin with nobody in any group."""
        return cls(promise, signature, value, rng, np.full(len(value), -1))

    @property
    def smallest(self) -> int:
        """The records that a group needs at least, r if that is whole."""
        return int(np.ceil(self.promise.r))

    @property
    def left(self) -> np.ndarray:
        """The records that are in no group."""
        return np.flatnonzero(self.group < 0)

    def from_the_bottom(self, order: np.ndarray, parts: list[tuple[int, int]]) -> None:
        """Group those with one signature; who is left over goes up, to be grouped with those of similar signatures."""
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        people = self.rng.permutation(len(self.value))
        people = people[np.argsort(place[self.signature[people]], kind="stable")]
        start = np.searchsorted(place[self.signature[people]], np.arange(len(order) + 1))
        waiting: dict[int, tuple[int, np.ndarray]] = {}  # by where a part begins, its end and who is left over of it
        for low, high in parts:
            if high - low == 1:
                pool = people[start[low] : start[high]]
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
        """Draw groups from the largest piles of a pool; those that break the promise are drawn again, larger.

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
        """Which groups keep the promise."""
        return self.promise.kept(group, self.signature[records], self.value[records])

    def pile(self, records: np.ndarray, size: int) -> np.ndarray:
        """The pile of each record: its value; a value that may repeat is several piles, none too large."""
        value = self.value[records]
        order = np.argsort(value, kind="stable")
        nth = np.empty(len(value), dtype=np.int64)
        nth[order] = rank(value[order])
        part = np.where(self.promise.counts[value], 0, nth // max(len(records) // size, 1))
        return part * len(self.promise.counts) + value

    def rearrange(self, work: float) -> None:
        """Choose among safe patterns of groups so that fewer are left over; groups that can stay do."""
        n_values = len(self.promise.counts)
        kinds, kind = np.unique(self.signature * n_values + self.value, return_inverse=True)
        if not len(self.left) or len(kinds) > MOST_KINDS:
            return
        inside = np.flatnonzero(self.group >= 0)
        group = densely(self.group[inside])
        table = tally(group, kind[inside], (int(group.max(initial=-1)) + 1, len(kinds)), None)
        pattern, first = _alike(table)
        patterns = Patterns(
            self.promise, kinds // n_values, kinds % n_values, np.bincount(kind), table[first], np.bincount(pattern),
            self.rng,
        )  # fmt: skip
        used = patterns.best(work)
        self.spent |= patterns.work >= work
        n = patterns.table.shape[0]
        # Of each pattern the first groups stay; all other records are dealt to new groups, kind by kind, at random.
        stays = rank(np.sort(pattern))[np.argsort(np.argsort(pattern, kind="stable"))] < used[:n][pattern]
        self.group[inside[~stays[group]]] = -1
        new = sp.csr_array(patterns.table[np.repeat(np.arange(n), used[n:])])
        row = np.repeat(np.arange(new.shape[0]), np.diff(new.indptr))
        slot_group, slot_kind = (np.repeat(x, new.data.astype(int)) for x in (row, new.indices))
        left = self.rng.permutation(self.left)
        left = left[np.argsort(kind[left], kind="stable")]
        slots = np.argsort(slot_kind, kind="stable")
        start = np.searchsorted(kind[left], slot_kind[slots])
        self.accept(left[start + rank(slot_kind[slots])], slot_group[slots])

    def place_left(self, place: np.ndarray, patience: int) -> None:
        """Take groups apart and draw them anew with some of those who are left over, as long as that places more.

        Parameters
        ----------
        place : ndarray of int
            Where each signature stands in the order of similar ones.
        patience : int
            Attempts that place nobody, before twice as many groups are taken apart; after three times as many it ends.
        """
        among, failed = AMONG, 0
        while len(left := self.left) and failed < 3 * patience:
            some = self.rng.permutation(left)[:AT_A_TIME]
            pool = np.concatenate([some, self.members(some, place, among * len(some))])
            piles = np.bincount(np.unique(self.pile(pool, self.smallest), return_inverse=True)[1])
            most = max(min(len(piles), len(pool) // int(piles.max()), LARGEST), self.smallest)
            group, n = self.drawn(self.shuffle(pool), int(self.rng.integers(self.smallest, most + 1)), TRIES)
            self.join(pool, group, n)
            if (group < 0).sum() < len(some):
                self.accept(pool, group)
                failed = 0
            else:
                failed += 1
                among *= 2 if failed % patience == 0 else 1

    def shuffle(self, pool: np.ndarray) -> np.ndarray:
        """Put a pool in random order, in place."""
        self.rng.shuffle(pool)
        return pool

    def members(self, some: np.ndarray, place: np.ndarray, n: int) -> np.ndarray:
        """The records of n groups: some with the most similar signatures, the others any."""
        inside = np.flatnonzero(self.group >= 0)
        names, group = np.unique(self.group[inside], return_inverse=True)
        near = np.sort(place[self.signature[some]])
        at = place[self.signature[inside]]
        after = np.searchsorted(near, at)
        gap = np.minimum(
            np.abs(at - near[np.minimum(after, len(near) - 1)]), np.abs(at - near[np.maximum(after - 1, 0)])
        )
        least = np.full(len(names), np.iinfo(np.int64).max)
        np.minimum.at(least, group, gap)
        order = np.lexsort((self.rng.random(len(names)), least))
        similar = int(n * self.rng.choice([0.3, 0.5, 0.7]))
        chosen = np.zeros(len(names), dtype=bool)
        chosen[order[:similar]] = True
        chosen[self.rng.permutation(order[similar:])[: n - similar]] = True
        return inside[chosen[group]]

    def join(self, pool: np.ndarray, group: np.ndarray, n: int) -> None:
        """Give those who are left over of a pool to one of its new groups each, if that keeps the promise then."""
        for _ in range(2 * TRIES):
            left = np.flatnonzero(group < 0)
            pairs = np.array(list(self.offers(pool, group, left, n)), dtype=np.int64).reshape(-1, 2)
            if not len(pairs):
                return
            who, where = pairs.T
            number = np.full(n, -1)
            number[where] = np.arange(len(where))
            inside = np.flatnonzero((group >= 0) & (number[group] >= 0))
            records = np.concatenate([pool[inside], pool[who]])
            kept = self.kept(records, np.concatenate([number[group[inside]], np.arange(len(who))]))
            group[who[kept]] = where[kept]

    def offers(self, pool: np.ndarray, group: np.ndarray, left: np.ndarray, n: int) -> Iterator[tuple[int, int]]:
        """A random group for each, without its value if that counts, and another for everybody."""
        inside = group >= 0
        has = np.zeros((n, len(self.promise.counts)), dtype=bool)
        has[group[inside], self.value[pool[inside]]] = True
        has &= self.promise.counts
        free = np.ones(n, dtype=bool)
        for who in self.rng.permutation(left):  # few
            possible = np.flatnonzero(free & ~has[:, self.value[pool[who]]])
            if len(possible):
                chosen = int(self.rng.choice(possible))
                free[chosen] = False
                yield int(who), chosen


def _alike(table: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of a table of counts, and find the first of each."""
    sums = table @ np.random.default_rng(0).random(table.shape[1])  # equal of equal rows, and of no others
    _, first, number = np.unique(sums, return_index=True, return_inverse=True)
    return number, first
