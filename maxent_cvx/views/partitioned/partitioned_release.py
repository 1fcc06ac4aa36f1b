"""A release whose buckets are divided among partitions, none of which need be in this process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from ...display import FirstRows, Shown
from ...errors import amount, whole
from ..buckets import BucketView
from .counted_tuples import unshared
from .release_part import ReleasePart

__all__ = ["PartSize", "PartitionedRelease", "divided"]


class PartSize(NamedTuple):
    """How large a partition is."""

    records: int
    buckets: int
    tuples: int


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedRelease(Shown):
    """A release in partitions of whole buckets, which are made where and when they are needed.

    Make one with :meth:`Release.from_parquet`, :meth:`Release.from_dask`, or :func:`maxent_cvx.disguise.anatomy` of a
    Dask DataFrame. What is in this process is what is known of all partitions together; it takes some bytes a distinct
    QI tuple.

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
    makers : tuple
        One a partition, which makes its part, a ``ReleasePart``, wherever it is called: a function without arguments,
        or a Delayed of Dask.
    sizes : tuple of PartSize
        Records, buckets and distinct QI tuples of each partition.

    Examples
    --------
    >>> import maxent_cvx as mx, tempfile
    >>> hospital = mx.datasets.load_hospital()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hospital.to_parquet(f"{folder}/people.parquet")
    ...     release = mx.Release.from_parquet(
    ...         folder, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket", partitions=2)
    >>> release
    <PartitionedRelease: 10 records in 3 buckets, 2 partitions; 6 distinct (Gender, Degree), 5 values of 'Disease'>
    >>> release.n_records, release.n_buckets, release.n_partitions
    (10, 3, 2)
    """

    noun: ClassVar[str] = "release"
    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    bucket: str
    quasi_identifiers: pd.MultiIndex
    sensitive_values: pd.Index
    n_q: np.ndarray
    n_s: np.ndarray
    makers: tuple[Any, ...]
    sizes: tuple[PartSize, ...]

    @property
    def n_records(self) -> int:
        """N, the records of all partitions."""
        return int(self.n_q.sum())

    @property
    def n_buckets(self) -> int:
        """The buckets of all partitions."""
        return sum(size.buckets for size in self.sizes)

    @property
    def n_partitions(self) -> int:
        """The number of partitions."""
        return len(self.makers)

    def describe(self) -> pd.DataFrame:
        """List the partitions, a row each.

        Returns
        -------
        DataFrame
            Columns records, buckets and tuples (its distinct QI tuples).

        Examples
        --------
        >>> import maxent_cvx as mx, tempfile
        >>> hospital = mx.datasets.load_hospital()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for bucket, people in hospital.groupby("Bucket"):          # a file a bucket
        ...         people.to_parquet(f"{folder}/{bucket}.parquet")
        ...     release = mx.Release.from_parquet(
        ...         folder, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket", partitions=3)
        >>> print(release.describe())
                   records  buckets  tuples
        partition
        0                4        1       3
        1                3        1       3
        2                3        1       3
        """
        return pd.DataFrame(self.sizes, columns=list(PartSize._fields)).rename_axis("partition")

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.describe(), "partitions")]

    def __repr__(self) -> str:
        return (
            f"<PartitionedRelease: {self.n_records} records in {self.n_buckets} buckets, "
            f"{amount(self.n_partitions, 'partition')}; {len(self.quasi_identifiers)} distinct ({', '.join(self.qi)}), "
            f"{len(self.sensitive_values)} values of {', '.join(map(repr, self.sensitive))}>"
        )


def divided(release: BucketView, n: int) -> PartitionedRelease:
    """Divide a release that is in memory into n partitions of whole buckets, of nearly as many records each."""
    n = whole(n, "partitions", 1, max(len(release.buckets), 1))
    records = np.asarray(release.n_qb.sum(axis=0))
    ends = np.cumsum(records)
    of_bucket = np.minimum((ends - 1) * n // max(int(ends[-1]) if len(ends) else 1, 1), n - 1)
    places = [np.flatnonzero(of_bucket == i) for i in np.unique(of_bucket)]
    by_bucket = release.n_qb.tocsc()
    sizes = [PartSize(int(records[at].sum()), len(at), len(np.unique(by_bucket[:, at].indices))) for at in places]
    return PartitionedRelease(
        release.qi, release.sensitive, release.bucket, release.quasi_identifiers, release.sensitive_values,
        release.n_q, release.n_s, tuple(partial(part_of, release, at) for at in places), tuple(sizes),
    )  # fmt: skip


def part_of(release: BucketView, buckets: np.ndarray) -> ReleasePart:
    """Some buckets of a release, by their positions."""
    n_qb = release.n_qb[:, buckets].tocsr()
    own = np.flatnonzero(np.diff(n_qb.indptr))
    return ReleasePart(
        release.qi, release.sensitive, release.bucket, unshared(release.quasi_identifiers[own]),
        unshared(release.sensitive_values), release.buckets[buckets], n_qb[own].tocsr(),
        release.n_sb[:, buckets].tocsr(), q_numbers=own, n_q_whole=release.n_q[own], n_s_whole=release.n_s,
        n_whole=release.n_records,
    )  # fmt: skip
