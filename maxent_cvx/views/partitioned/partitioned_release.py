"""A release whose buckets are divided among partitions, none of which need be in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from ...errors import whole
from ..release import Release
from .release_part import ReleasePart

__all__ = ["PartitionedRelease", "divided"]


@dataclass(frozen=True, eq=False)
class PartitionedRelease:
    """Buckets in partitions, and what is known of all of them together.

    Attributes
    ----------
    qi, sensitive, bucket : tuple of str, tuple of str, str
        Column names.
    quasi_identifiers : MultiIndex
        The distinct QI tuples of all partitions, sorted.
    sensitive_values : Index
        The distinct sensitive values, sorted.
    n_q, n_s : ndarray
        Records of each.
    n_buckets : int
    makers : tuple of callable
        Functions without arguments, each of which makes one :class:`ReleasePart`, wherever it is called.
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    bucket: str
    quasi_identifiers: pd.MultiIndex
    sensitive_values: pd.Index
    n_q: np.ndarray
    n_s: np.ndarray
    n_buckets: int
    makers: tuple[Callable[[], ReleasePart], ...]

    @property
    def n_records(self) -> int:
        """N, the records of all partitions."""
        return int(self.n_q.sum())

    @property
    def n_partitions(self) -> int:
        """The number of partitions."""
        return len(self.makers)


def divided(release: Release, n: int) -> PartitionedRelease:
    """Divide a release that is in memory into n partitions of whole buckets, of nearly as many records each."""
    n = whole(n, "partitions", 1, max(len(release.buckets), 1))
    records = np.cumsum(np.asarray(release.n_qb.sum(axis=0)))
    of_bucket = np.minimum((records - 1) * n // max(int(records[-1]) if len(records) else 1, 1), n - 1)
    makers = tuple(partial(part_of, release, np.flatnonzero(of_bucket == i)) for i in np.unique(of_bucket))
    return PartitionedRelease(
        release.qi, release.sensitive, release.bucket, release.quasi_identifiers, release.sensitive_values,
        release.n_q, release.n_s, len(release.buckets), makers,
    )  # fmt: skip


def part_of(release: Release, buckets: np.ndarray) -> ReleasePart:
    """Some buckets of a release, by their positions."""
    n_qb = release.n_qb[:, buckets].tocsr()
    own = np.flatnonzero(np.diff(n_qb.indptr))
    return ReleasePart(
        release.qi, release.sensitive, release.bucket, release.quasi_identifiers[own], release.sensitive_values,
        release.buckets[buckets], n_qb[own].tocsr(), release.n_sb[:, buckets].tocsr(), q_numbers=own,
        n_q_whole=release.n_q[own], n_s_whole=release.n_s, n_whole=release.n_records,
    )  # fmt: skip
