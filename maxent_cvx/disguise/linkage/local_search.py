"""A local search: some groups are taken apart and drawn anew with some of those who are left over."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .grouping import LARGEST, Grouping

__all__ = ["place_left"]

#: Records that are placed at a time, and groups that are taken apart for each of them at first.
AT_A_TIME, AMONG = 4, 8
#: Attempts with groups of one size, before larger ones are tried.
TRIES = 3


def place_left(grouping: Grouping, patience: int) -> None:
    """Take groups apart and draw them anew with some of those who are left over, as long as that places more.

    Parameters
    ----------
    grouping : Grouping
        Changed in place.
    patience : int
        Attempts that place nobody, before twice as many groups are taken apart; after three times as many it ends.
    """
    among, failed = AMONG, 0
    while len(left := grouping.left) and failed < 3 * patience:
        some = grouping.rng.permutation(left)[:AT_A_TIME]
        pool = np.concatenate([some, _members(grouping, some, among * len(some))])
        piles = np.bincount(np.unique(grouping.pile(pool, grouping.smallest), return_inverse=True)[1])
        most = max(min(len(piles), len(pool) // int(piles.max()), LARGEST), grouping.smallest)
        grouping.rng.shuffle(pool)
        group, n = grouping.drawn(pool, int(grouping.rng.integers(grouping.smallest, most + 1)), TRIES)
        _join(grouping, pool, group, n)
        if (group < 0).sum() < len(some):
            grouping.accept(pool, group)
            failed = 0
        else:
            failed += 1
            among *= 2 if failed % patience == 0 else 1


def _members(grouping: Grouping, some: np.ndarray, n: int) -> np.ndarray:
    """The records of n groups: some with the most similar signatures, the others any."""
    inside = np.flatnonzero(grouping.group >= 0)
    names, group = np.unique(grouping.group[inside], return_inverse=True)
    near = np.sort(grouping.signature[some])
    at = grouping.signature[inside]
    after = np.searchsorted(near, at)
    gap = np.minimum(np.abs(at - near[np.minimum(after, len(near) - 1)]), np.abs(at - near[np.maximum(after - 1, 0)]))
    least = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(least, group, gap)
    order = np.lexsort((grouping.rng.random(len(names)), least))
    similar = int(n * grouping.rng.choice([0.3, 0.5, 0.7]))
    chosen = np.zeros(len(names), dtype=bool)
    chosen[order[:similar]] = True
    chosen[grouping.rng.permutation(order[similar:])[: n - similar]] = True
    return inside[chosen[group]]


def _join(grouping: Grouping, pool: np.ndarray, group: np.ndarray, n: int) -> None:
    """Give those who are left over of a pool to one of its new groups each, if that satisfies the criterion then."""
    for _ in range(2 * TRIES):
        left = np.flatnonzero(group < 0)
        pairs = np.array(list(_offers(grouping, pool, group, left, n)), dtype=np.int64).reshape(-1, 2)
        if not len(pairs):
            return
        who, where = pairs.T
        number = np.full(n, -1)
        number[where] = np.arange(len(where))
        inside = np.flatnonzero((group >= 0) & (number[group] >= 0))
        records = np.concatenate([pool[inside], pool[who]])
        kept = grouping.kept(records, np.concatenate([number[group[inside]], np.arange(len(who))]))
        group[who[kept]] = where[kept]


def _offers(
    grouping: Grouping, pool: np.ndarray, group: np.ndarray, left: np.ndarray, n: int
) -> Iterator[tuple[int, int]]:
    """A random group for each, without its value if that counts, and another for everybody."""
    inside = group >= 0
    has = np.zeros((n, len(grouping.criterion.protected)), dtype=bool)
    has[group[inside], grouping.value[pool[inside]]] = True
    has &= grouping.criterion.protected
    free = np.ones(n, dtype=bool)
    for who in grouping.rng.permutation(left):  # few
        possible = np.flatnonzero(free & ~has[:, grouping.value[pool[who]]])
        if len(possible):
            chosen = int(grouping.rng.choice(possible))
            free[chosen] = False
            yield int(who), chosen
