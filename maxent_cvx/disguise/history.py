"""Buckets that go on from an earlier release: everybody stays, newcomers take places or get buckets of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import TableError, amount, listing
from .drawing import draw, join, shuffled

__all__ = ["Assignment", "History", "history_guided", "m_invariant"]


@dataclass(frozen=True, eq=False)
class History:
    """Who is published again, and what was published before.

    Attributes
    ----------
    bucket : ndarray of int
        Everybody's old bucket; -1 of newcomers.
    value : ndarray of int
        Everybody's sensitive value, by its position in `values`.
    values : Index
    places : (ndarray, ndarray) of int
        Bucket and value of each place that somebody has left.
    n_buckets : int
        How many old buckets there are; new ones are numbered after them.
    """

    bucket: np.ndarray
    value: np.ndarray
    values: pd.Index
    places: tuple[np.ndarray, np.ndarray]
    n_buckets: int


@dataclass(frozen=True, eq=False)
class Assignment:
    """Everybody's bucket, and the bucket and value of each counterfeit."""

    bucket: np.ndarray
    added_bucket: np.ndarray
    added_value: np.ndarray


def history_guided(history: History, l: int, rng: np.random.Generator) -> Assignment:
    """Fill places with newcomers who have their values; the others get buckets of l values, or join some."""
    bucket, value = history.bucket.copy(), history.value
    _fill_places(history, bucket, rng)
    left = _new_buckets(history, bucket, l, rng)
    there = bucket >= 0
    bucket[left] = joined = join(value[left], bucket[there], value[there], rng)
    if (stranded := left[joined < 0]).size:
        one = value[stranded[0]]
        many = amount(int(np.sum(value[stranded] == one)), "newcomer")
        raise TableError(
            f"{many} with {listing([history.values[one]])} left over, and fewer "
            "buckets lack that value; choose a smaller l, or method='m_invariant', which adds counterfeits"
        )
    return Assignment(bucket, np.empty(0, dtype=int), np.empty(0, dtype=int))


def m_invariant(history: History, l: int, rng: np.random.Generator) -> Assignment:
    """The same, but a counterfeit takes each place that is not filled, and completes buckets for who is left over."""
    bucket, value = history.bucket.copy(), history.value
    empty = _fill_places(history, bucket, rng)
    left = _new_buckets(history, bucket, l, rng)
    first = max(history.n_buckets, int(bucket.max()) + 1)
    bucket[left], (more_buckets, more_values) = _alone(value[left], l, len(history.values), first, rng)
    added_bucket = np.append(history.places[0][empty], more_buckets)
    added_value = np.append(history.places[1][empty], more_values)
    kept = np.isin(added_bucket, bucket)  # nobody is left in the others
    return Assignment(bucket, added_bucket[kept], added_value[kept])


def _fill_places(history: History, bucket: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Put newcomers into places of their value, as far as there are any; the numbers of the places that stay empty."""
    new = np.flatnonzero(bucket < 0)
    newcomer, place = _fill(history.places, history.value[new], rng)
    bucket[new[newcomer]] = history.places[0][place]
    return np.delete(np.arange(len(history.places[0])), place)


def _new_buckets(history: History, bucket: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
    """Put newcomers into new buckets of l different values; who is left over."""
    rest = np.flatnonzero(bucket < 0)
    rest = rest[shuffled(history.value[rest], rng)[0]]
    fresh = draw(history.value[rest], l, rng)
    bucket[rest[fresh >= 0]] = history.n_buckets + fresh[fresh >= 0]
    return rest[fresh < 0]


def _fill(places: tuple[np.ndarray, np.ndarray], value: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Pair newcomers with places of their value at random: which newcomer, which place."""
    ranks = []
    for of in (value, places[1]):
        order, rank = shuffled(of, rng)
        ranks.append(rank[np.argsort(order)])
    size = max(len(value), len(places[1]), 1)
    _, newcomer, place = np.intersect1d(value * size + ranks[0], places[1] * size + ranks[1], return_indices=True)
    return newcomer, place


def _alone(
    left: np.ndarray, l: int, n_values: int, first: int, rng: np.random.Generator
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Give those who are left buckets of their own, with counterfeits of other values."""
    if len(left) and n_values < l:
        raise TableError(f"a bucket of {l} different values is asked for, and there are {n_values}; choose a smaller l")
    order, number = shuffled(left, rng)
    bucket = np.empty(len(left), dtype=np.int64)
    bucket[order] = number  # one of a value a bucket
    own = np.zeros((int(bucket.max(initial=-1)) + 1, n_values), dtype=bool)
    own[bucket, left] = True
    others = np.argsort(rng.random(own.shape) + own, axis=1)  # in random order, their own last
    added, which = np.nonzero(np.arange(n_values) < (l - own.sum(axis=1))[:, None])
    return first + bucket, (first + added, others[added, which])
