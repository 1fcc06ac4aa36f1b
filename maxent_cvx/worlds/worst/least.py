"""The least that atoms can leave over, of every bucket and of buckets together: MINIMIZE2 of Martin et al. (2007)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .chains import Chains, quotient
from .frequencies import Frequencies

__all__ = ["Least", "least_of_counts", "least_of_each"]


@dataclass(frozen=True, eq=False)
class Least:
    """How little can be left of the worlds of some buckets, for at most so many atoms, of which all are false.

    Buckets are independent, so that probabilities of different ones are multiplied.

    Attributes
    ----------
    without : ndarray, shape (k + 1,)
        The least P(none of m atoms), m from 0.
    odds : ndarray, shape (k + 1,), or None
        The least P(none of m atoms) / P(one of them), m from 1, that one being "the target has a sensitive value"; None
        if no bucket has a sensitive value.
    """

    without: np.ndarray
    odds: np.ndarray | None

    def __and__(self, other: Least) -> Least:
        """Of the buckets of both."""
        pairs = [(self.odds, other.without), (other.odds, self.without)]
        some = [_shared(odds, without) for odds, without in pairs if odds is not None]
        return Least(_shared(self.without, other.without), np.minimum.reduce(some) if some else None)


def _shared(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The least product, the atoms being shared between both: a convolution, of minimum and product."""
    found = first * second[0]
    for m in range(1, len(second)):
        found[m:] = np.minimum(found[m:], first[:-m] * second[m])
    return found


def least_of_each(frequencies: Frequencies, k: int, exact: bool = False) -> list[Least]:
    """What up to k + 1 atoms can leave over, of every bucket by itself; buckets alike share one object."""
    prefix = frequencies.prefix(k + 1)
    has = frequencies.target >= 0
    at = frequencies.target[has]
    rank, with_s = np.full(len(frequencies), -1), np.zeros(len(frequencies), dtype=np.int64)
    rank[has], with_s[has] = np.minimum(frequencies.rank[at], k + 1), frequencies.count[at]
    # Buckets of the same frequencies have the same answer, and there are few kinds of them, or many buckets.
    key = np.column_stack([frequencies.size, rank, with_s, prefix])
    _, first, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
    size, prefix, rank, with_s = frequencies.size[first], prefix[first], rank[first], with_s[first]
    without = Chains(size, prefix[:, :-1], exact=exact).least()
    odds: list[np.ndarray | None] = [None] * len(first)
    for r in np.unique(rank[rank >= 0]):
        here = np.flatnonzero(rank == r)
        p = Chains(size[here], prefix[here], (int(r), with_s[here]), exact).least()
        for one, bucket in enumerate(here):
            odds[bucket] = p[one] * quotient(size[[bucket]], with_s[[bucket]], exact)
    found = [Least(*pair) for pair in zip(without, odds, strict=True)]
    return [found[one] for one in kind.reshape(-1)]


def least_of_counts(counts: np.ndarray, k: int) -> list[Least]:
    """The same of groups of whose values, all of them sensitive, the counts are given, shape (groups, values)."""
    decreasing = -np.sort(-counts, axis=1)[:, : k + 1]
    prefix = np.zeros((len(counts), k + 2), dtype=np.int64)
    prefix[:, 1 : decreasing.shape[1] + 1] = decreasing
    size = counts.sum(axis=1)
    least = Chains(size, np.cumsum(prefix, axis=1)).least()  # everybody's set has the most frequent value, the target's
    return [Least(p[:-1], p[1:] * n / most) for p, n, most in zip(least, size, decreasing[:, 0], strict=True)]
