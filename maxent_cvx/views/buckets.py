"""Buckets of records, all or some of a release, whose terms are P(q, s, b)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..display import FirstRows
from ..errors import TableError, arguments
from ..tables.coding import ranges
from .base import View, attach
from .persons import Persons
from .showing import first_buckets

__all__ = ["BucketView"]


@dataclass(frozen=True, eq=False)
class BucketView(View):
    """Within a bucket, QI tuples and sensitive values are both known, their links are not.

    A :class:`Release` is all buckets that are published; one partition of a large release is some of them. The
    attributes are those of a Release.
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    bucket: str
    quasi_identifiers: pd.MultiIndex
    sensitive_values: pd.Index
    buckets: pd.Index
    n_qb: sp.csr_array
    n_sb: sp.csr_array
    persons: Persons | None = None
    generalized: bool = False
    noun: ClassVar[str] = "release"

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """QI tuples, sensitive values, buckets."""
        return {**super().axes, "bucket": ((self.bucket,), self.buckets)}

    @property
    def n_q(self) -> np.ndarray:
        """Records of each QI tuple, counts, in the order of `quasi_identifiers`."""
        return np.asarray(self.n_qb.sum(axis=1))

    @property
    def n_s(self) -> np.ndarray:
        """Records of each sensitive value, counts, in the order of `sensitive_values`."""
        return np.asarray(self.n_sb.sum(axis=1))

    @property
    def with_counterfeits(self) -> np.ndarray:
        """Mark the buckets that hold more values than people, in the order of `buckets`."""
        return np.asarray(self.n_sb.sum(axis=0) > self.n_qb.sum(axis=0))

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Records of every QI tuple in every bucket, and of every sensitive value."""
        (q, b), (s, in_b) = self.n_qb.nonzero(), self.n_sb.nonzero()
        n_qb = pd.Series(self.n_qb.data, attach(self.quasi_identifiers, q, self.buckets, b), name="N P(q,b)")
        n_sb = pd.Series(self.n_sb.data, attach(self.sensitive_values, s, self.buckets, in_b), name="N P(s,b)")
        return {("q", "bucket"): n_qb, ("s", "bucket"): n_sb}

    @property
    def p_qb(self) -> pd.Series:
        """P(q, b): the right sides of the QI-invariants (Eq. (4)), probabilities."""
        return (self.published["q", "bucket"] / self.n_records).rename("P(q, b)")

    @property
    def p_sb(self) -> pd.Series:
        """P(s, b): the right sides of the SA-invariants (Eq. (5)), probabilities."""
        return (self.published["s", "bucket"] / self.n_records).rename("P(s, b)")

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms P(q, s, b) that can be non-zero: q and s both occur in b (Eq. (6)).

        Returns
        -------
        dict
            Codes of "q", "s" and "bucket", one of each a term, sorted by bucket, then q, then s.

        Examples
        --------
        See :meth:`View.terms`.
        """
        qb, sb = self.n_qb.tocsc(), self.n_sb.tocsc()
        width = np.diff(sb.indptr)  # distinct sensitive values of each bucket
        pair_bucket = np.repeat(np.arange(len(self.buckets)), np.diff(qb.indptr))
        repeat = width[pair_bucket]
        return {
            "q": np.repeat(qb.indices, repeat).astype(np.int64),
            "s": sb.indices[ranges(sb.indptr[pair_bucket], repeat)].astype(np.int64),
            "bucket": np.repeat(pair_bucket, repeat),
        }

    def to_tables(self, count: str = "Count") -> tuple[pd.DataFrame, pd.DataFrame]:
        """Write the two tables that Anatomy publishes, for :meth:`from_tables` and for other people.

        Parameters
        ----------
        count : str
            The name of their columns of counts.

        Returns
        -------
        qi_table, sa_table : DataFrame
            A row for each QI tuple, and for each sensitive value, of each bucket, sorted by bucket.

        Raises
        ------
        TableError
            If the release has a column of that name already.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> qi_table, sa_table = release.to_tables()
        >>> print(sa_table.head(3))
           Bucket        Disease  Count
        0       1  Breast Cancer      1
        1       1            Flu      2
        2       1      Pneumonia      1
        """
        arguments.text(count, "count")
        if count in (*self.qi, *self.sensitive, self.bucket):
            raise TableError(
                f"the release has a column {count!r} already; choose another name for the counts, count=..."
            )
        qi_table = self.p_qb.index.to_frame(index=False).assign(**{count: self.n_qb.data})
        sa_table = self.p_sb.index.to_frame(index=False).assign(**{count: self.n_sb.data})
        order = [self.bucket, *self.sensitive]
        return (
            qi_table.sort_values([self.bucket, *self.qi], ignore_index=True),
            sa_table.sort_values(order, ignore_index=True)[[*order, count]],
        )

    def to_tables_of_people(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Write a row a person, with pseudonym, QI and bucket, and the values of every bucket with their "Count".

        Returns
        -------
        people, values : DataFrame
            As :meth:`from_tables` reads them with ``id``.

        Raises
        ------
        TableError
            If the release has no pseudonyms.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> first, _ = mx.datasets.load_patients()
        >>> release = mx.Release.from_buckets(first, qi="Gender", sa="Disease", bucket="Bucket", id="Pseudonym")
        >>> people, values = release.to_tables_of_people()
        >>> print(people.head(2))
          Gender  Pseudonym  Bucket
        0   male          1       1
        1   male          2       1
        """
        if self.persons is None:
            raise TableError("the release has no pseudonyms: it was made without id=")
        return self.persons.table(self.quasi_identifiers, self.buckets), self.to_tables()[1]

    def _tables(self) -> Iterable[FirstRows]:
        return [first_buckets(self.buckets, self.n_qb, self.n_sb, self.quasi_identifiers, self.sensitive_values)]

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_records} records in {len(self.buckets)} buckets; "
            f"{len(self.quasi_identifiers)} distinct ({', '.join(self.qi)}), "
            f"{len(self.sensitive_values)} values of {', '.join(map(repr, self.sensitive))}>"
        )
