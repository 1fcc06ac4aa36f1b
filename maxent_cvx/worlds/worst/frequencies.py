"""How often each value occurs in each bucket, the most frequent first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError, arguments, shown, unknown_name
from ...tables.coding import ranges
from ...views import PartitionedRelease, Release, ReleaseSeries, View

__all__ = ["Frequencies", "sensitive_values"]


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The values of buckets in decreasing order of their counts; of equally frequent ones the sensitive come first.

    All worlds that deal a bucket's values to its people are equally likely, so that nothing else of a bucket matters.

    Attributes
    ----------
    start : ndarray of int, shape (buckets + 1,)
        Where the entries of each bucket begin, and where the last end.
    value, count : ndarray of int
        Of every entry the number of the value, and how many of the bucket have it.
    sensitive : ndarray of bool, one a value
        Which values must not be inferred.
    """

    start: np.ndarray
    value: np.ndarray
    count: np.ndarray
    sensitive: np.ndarray

    @classmethod
    def of(cls, n_sb: sp.sparray, sensitive: np.ndarray) -> Self:
        """Sort a table of counts, a row a value and a column a bucket."""
        table = sp.csc_array(n_sb)
        bucket = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
        order = np.lexsort((table.indices, ~sensitive[table.indices], -table.data, bucket))
        return cls(table.indptr.astype(np.int64), table.indices[order].astype(np.int64), table.data[order], sensitive)

    def some(self, buckets: np.ndarray) -> Frequencies:
        """Only these buckets."""
        width = self.distinct[buckets]
        entries = ranges(self.start[buckets], width)
        start = np.concatenate([[0], np.cumsum(width)])
        return Frequencies(start, self.value[entries], self.count[entries], self.sensitive)

    @classmethod
    def of_groups(cls, groups: list[np.ndarray], n_values: int) -> Self:
        """Count the values of some groups of records; all of them are sensitive."""
        counts = np.column_stack([np.bincount(group, minlength=n_values) for group in groups])
        return cls.of(sp.csc_array(counts), np.ones(n_values, dtype=bool))

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def size(self) -> np.ndarray:
        """How many people each bucket has."""
        return np.add.reduceat(self.count, self.start[:-1])

    @cached_property
    def distinct(self) -> np.ndarray:
        """How many different values each bucket has."""
        return np.diff(self.start)

    @cached_property
    def bucket(self) -> np.ndarray:
        """The bucket of every entry."""
        return np.repeat(np.arange(len(self)), self.distinct)

    @cached_property
    def rank(self) -> np.ndarray:
        """Of every entry, how many of its bucket stand before it."""
        return np.arange(len(self.count)) - self.start[self.bucket]

    @cached_property
    def target(self) -> np.ndarray:
        """Of every bucket the first of its sensitive values, the most frequent one, among the entries; -1 if none."""
        entries = np.flatnonzero(self.sensitive[self.value])
        found = np.full(len(self), -1)
        found[self.bucket[entries[::-1]]] = entries[::-1]  # the last that is written is the first
        return found

    def prefix(self, width: int) -> np.ndarray:
        """How many of each bucket have one of its c most frequent values, for c from 0 to `width`: (buckets, c)."""
        top = np.zeros((len(self), width + 1), dtype=np.int64)
        inside = self.rank < width
        top[self.bucket[inside], self.rank[inside] + 1] = self.count[inside]
        return np.cumsum(top, axis=1)


def sensitive_values(release: object, sensitive: object) -> np.ndarray:
    """Mark the sensitive values of a release, all of them by default; what is no release of buckets is refused.

    Parameters
    ----------
    release : object
        To be a Release without pseudonyms and counterfeits.
    sensitive : object
        None, a value, or a list of them.

    Raises
    ------
    StatementError
        If it is not.
    UnknownName
        If the release has no such value.
    """
    if not isinstance(release, Release):
        what = f"a {type(release).__name__}" if isinstance(release, View) else shown(release)
        remedies = {
            ReleaseSeries: "; ask of each of its releases by itself, made without id=",
            PartitionedRelease: "; join its parts, Release.from_partitions(release)",
        }
        remedy = next((says for kind, says in remedies.items() if isinstance(release, kind)), "")
        raise StatementError(f"the worst case is that of the buckets of a Release, not of {what}{remedy}")
    if release.persons is not None:
        raise StatementError(
            "the release has pseudonyms, which link its people to other releases, and so to more than a bucket; make "
            "it without id= to ask what this release alone lets be known"
        )
    if release.with_counterfeits.any():
        raise StatementError("the release has counterfeits: a world deals every value to somebody; leave them out")
    values = release.sensitive_values.to_flat_index()
    if sensitive is None:
        return np.ones(len(values), dtype=bool)
    one = isinstance(sensitive, str) or (isinstance(sensitive, tuple) and sensitive in values)
    chosen = [sensitive] if one else arguments.list_of(sensitive, "sensitive", "sensitive values")
    if not chosen:
        raise StatementError("sensitive=[] leaves no value to infer; name at least one, or leave it out for all")
    marked = np.zeros(len(values), dtype=bool)
    for value in chosen:
        try:
            at = values.get_loc(value)
        except (KeyError, TypeError, ValueError, pd.errors.InvalidIndexError):
            raise unknown_name("sensitive value of the release", value, values) from None
        marked[at] = True
    return marked
