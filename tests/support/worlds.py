"""Possible worlds by enumeration, permanents by Ryser's formula, and random groups."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd


def by_enumeration(
    f: np.ndarray, values: list[int], joint: Mapping[tuple[int, ...], np.ndarray] | None = None
) -> np.ndarray | None:
    """P(t : x) over all worlds, shape (tuples, columns of f); None if no world has a weight."""
    joint = joint or {}
    tied = {t for who in joint for t in who}
    share, total = np.zeros(f.shape), 0.0
    for world in set(itertools.permutations(values)):
        weight = np.prod([f[t, x] for t, x in enumerate(world) if t not in tied])
        for who, table in joint.items():
            weight *= table[tuple(world[t] for t in who)]
        share[np.arange(len(f)), world] += weight
        total += weight
    return share / total if total > 0 else None


def random_group(rng: np.random.Generator, most: int = 7, zeros: bool = True) -> tuple[pd.DataFrame, list[int]]:
    """A group of up to `most` tuples, with repeated values, equal tuples, extreme priors and priors of 0 in some."""
    n, k = int(rng.integers(1, most + 1)), int(rng.integers(1, 5))
    f = rng.random((n, k)) ** rng.choice([0.2, 1, 4])
    if rng.random() < 0.4:
        f = f[rng.integers(0, max(1, n // 2), n)]
    if rng.random() < 0.3:
        f = 0.3 + 0.1 * f
    if zeros and rng.random() < 0.3:
        f[rng.random(f.shape) < 0.25] = 0.0
    distinct = n <= k and rng.random() < 0.5
    values = rng.permutation(k)[:n] if distinct else rng.integers(0, k, n)
    return pd.DataFrame(f), [int(x) for x in values]


def of_people(
    records: pd.DataFrame, qi: list[str], sa: str, bucket: str, people: Mapping[str, Mapping[str, object]]
) -> pd.DataFrame:
    """What named people have, a row a world: which records they are, and who of a bucket has which of its values.

    All rows are equally likely before anything is known: a dealing of values is met as often as any other.
    """
    at = {name: np.flatnonzero((records[qi] == pd.Series(of)[qi]).all(axis=1)) for name, of in people.items()}
    who = [one for one in itertools.product(*at.values()) if len(set(one)) == len(one)]
    places = [np.flatnonzero(records[bucket] == b) for b in records[bucket].unique()]
    dealt = []
    for hands in itertools.product(*(set(itertools.permutations(records[sa].to_numpy()[place])) for place in places)):
        values = np.empty(len(records), dtype=object)
        for place, hand in zip(places, hands, strict=True):
            values[place] = hand
        dealt += [values[list(one)] for one in who]
    return pd.DataFrame(dealt, columns=list(people))
