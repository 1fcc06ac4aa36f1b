"""Possible worlds by enumeration, and random groups."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from .sentences import Truth


def by_enumeration(
    f: np.ndarray,
    values: list[int],
    joint: Mapping[tuple[int, ...], np.ndarray] | None = None,
    truths: Sequence[Truth] = (),
) -> np.ndarray | None:
    """P(t : x) over all worlds, shape (tuples, columns of f); None if no world has a weight.

    `truths` are sentences about the tuples, called "t0", "t1", and so on: worlds in which one is false do not count.
    """
    joint = joint or {}
    tied = {t for who in joint for t in who}
    share, total = np.zeros(f.shape), 0.0
    for world in set(itertools.permutations(values)):
        named = {f"t{t}": x for t, x in enumerate(world)}
        if not all(truth(named) for truth in truths):
            continue
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
