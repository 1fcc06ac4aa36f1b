"""Buckets drawn from the largest piles of values; what is left over joins where its like is not (Anatomy)."""

from __future__ import annotations

import heapq

import numpy as np

__all__ = ["draw", "join", "shuffled"]


def shuffled(value: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sort records by value, at random within each: their positions, and how many of its like are before each."""
    order = rng.permutation(len(value))
    order = order[np.argsort(value[order], kind="stable")]
    return order, rank(value[order])


def rank(ordered: np.ndarray) -> np.ndarray:
    """How many equal entries are before each of a sorted array."""
    return np.arange(len(ordered)) - np.searchsorted(ordered, ordered)


def draw(pile: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one record from each of the l largest piles for every bucket, as long as there are l piles.

    Parameters
    ----------
    pile : ndarray of int
        Of each record, sorted; the first of a pile is drawn first.
    l : int

    Returns
    -------
    ndarray of int
        The bucket of each record, from 0; -1 of those that are left over.

    References
    ----------
    Xiao, X. and Tao, Y. (2006). Anatomy: Simple and effective privacy preservation. VLDB, 139-150, Figure 3.
    """
    # Sequential by nature: which piles are largest depends on every draw before. Ties are broken at random.
    sizes = np.bincount(pile)
    heap = [(-int(sizes[one]), float(rng.random()), int(one)) for one in np.flatnonzero(sizes)]
    heapq.heapify(heap)
    drawn: list[int] = []
    while len(heap) >= l:
        largest = [heapq.heappop(heap) for _ in range(l)]
        drawn += [one for _, _, one in largest]
        for size, tie, one in largest:
            if size < -1:
                heapq.heappush(heap, (size + 1, tie, one))
    drawn_from = np.array(drawn, dtype=np.int64)
    order = np.argsort(drawn_from, kind="stable")
    first = np.cumsum(sizes) - sizes
    bucket = np.full(len(pile), -1)
    bucket[first[drawn_from[order]] + rank(drawn_from[order])] = order // l
    return bucket


def join(left: np.ndarray, bucket: np.ndarray, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give each left-over record a bucket without its like, at random; -1 where there are too few.

    Parameters
    ----------
    left : ndarray of int
        The values, or piles, of those that are left over.
    bucket, value : ndarray of int
        Of all others.
    """
    chosen = np.full(len(left), -1)
    every = np.unique(bucket)
    for one in np.unique(left):
        at = np.flatnonzero(left == one)
        free = np.setdiff1d(every, bucket[value == one])
        if len(free) >= len(at):
            chosen[at] = rng.choice(free, len(at), replace=False)
    return chosen
