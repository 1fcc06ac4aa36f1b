"""What releases of the same people say together (Re-publishing, sections 3.4 and 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...terms.rows import Rows
from ...terms.space import Space
from ...views import ReleaseSeries
from ..base import Source
from .facts import published_sources
from .published_counts import counted_rows
from .published_rows import PublishedRows

__all__ = ["OtherRelations", "SeriesConstraints"]

#: What to do about releases that contradict each other.
REMEDY = "correct it, give people with new values new pseudonyms, or remove it"


class SeriesConstraints(PublishedRows):
    """sum_s P(i, s) = 1/n, for every person i; and sum_{i in b} P(i, s) = #_b(s)/n, for buckets that do not overlap.

    Those are the buckets of the first release, and of others what is a part of one of them, or has only new people.
    All the others' constraints are :class:`OtherRelations`: together they say what the paper's say. A bucket with
    counterfeits has at most so many people with a value.

    Parameters
    ----------
    series : ReleaseSeries

    Notes
    -----
    Re-publishing, Eqs. (4) and (6); with P(i, s) = P(s | i)/n and n people in all. The zero constraints (3) need no
    rows: such terms do not exist.
    """

    def __init__(self, series: ReleaseSeries) -> None:
        self.series = series

    @property
    def label(self) -> str:
        """The name of this source in every model of a series."""
        return "published releases"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the one constraints, then the relation constraints of every release."""
        yield counted_rows(space, ["q"], self.series.published["q",])
        for relations, inside in zip(_relations(space, self.series), self.series.apart[1], strict=True):
            yield relations.rows(space, inside)

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """P(s | i) = #_b(s)/|b| of somebody in one bucket b only, whose people are all in no other.

        Returns
        -------
        counts : ndarray, one a term
            N P(i, s), records; NaN where buckets overlap.
        multipliers : ndarray, one a row of :meth:`rows`
            Those of the first release that somebody is in, as if it were alone.
        """
        series, q = self.series, space.codes["q"]
        block, inside = series.apart
        present = series.buckets >= 0
        counts, multipliers = np.full(len(space), np.nan), [np.ones(len(series.persons))]
        alone = np.bincount(block, present.sum(axis=0) > 1) == 0
        for u, relations in enumerate(_relations(space, series)):
            bucket, n_buckets = series.buckets[u], len(relations.names)
            size = np.bincount(bucket[present[u]], minlength=n_buckets)
            share = relations.number / size[relations.bucket]
            here = relations.terms[alone[block[q[relations.terms]]]]
            here = here[~relations.with_counterfeits[bucket[q[here]]]]
            counts[here] = share[relations.row_of(here)]
            known = np.bincount(bucket[present[u]], present[:u, present[u]].any(axis=0), n_buckets) > 0
            first = ~known & ~relations.with_counterfeits
            multipliers.append(np.where(first[relations.bucket], np.log(share), 0.0)[inside[u][relations.bucket]])
        return counts, np.concatenate(multipliers)

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Add up what rectangles of people and values, one a bucket, can hold (Frechet)."""
        series, low, high = self.series, 0.0, 0.0
        for u, relations in enumerate(_relations(space, series)):
            here = at[series.buckets[u, space.codes["q"][at]] >= 0]
            if not len(here):
                continue
            bucket = series.buckets[u, space.codes["q"][here]]
            n_buckets = len(series.releases[u].buckets)
            people = np.unique(np.column_stack([space.codes["q"][here], bucket]), axis=0)[:, 1]
            rows = np.unique(relations.row_of(here))
            n_q = np.bincount(people, minlength=n_buckets)
            n_s = np.bincount(relations.bucket[rows], relations.number[rows], n_buckets)
            n_b = np.bincount(relations.bucket, relations.number, n_buckets)
            held = n_q > 0
            low += float(np.maximum(n_q + n_s - n_b, 0)[held].sum())
            high += float(np.minimum(n_q, n_s)[held].sum())
        return low, high


class OtherRelations(Source):
    """sum_{i in b} P(i, s) = #_b(s)/n, for the buckets b that overlap with those of earlier releases.

    Parameters
    ----------
    series : ReleaseSeries

    Notes
    -----
    Re-publishing, Eq. (6).
    """

    def __init__(self, series: ReleaseSeries) -> None:
        self.series = series

    @property
    def label(self) -> str:
        """The name of this source in every model of a series."""
        return "published again"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the relation constraints of every release that are not among the series' own."""
        for relations, inside in zip(_relations(space, self.series), self.series.apart[1], strict=True):
            yield relations.rows(space, ~inside)


class _Relations(NamedTuple):
    """The relation constraints of one release: a row for each value of each bucket.

    Attributes
    ----------
    label : str
    terms, row : ndarray of int
        The terms of people who are in the release, and the row of each.
    bucket, value, number : ndarray of int
        Of each row.
    names : Index
        The names of the buckets.
    with_counterfeits : ndarray of bool
        Which buckets hold more values than people.
    """

    label: str
    terms: np.ndarray
    row: np.ndarray
    bucket: np.ndarray
    value: np.ndarray
    number: np.ndarray
    names: pd.Index
    with_counterfeits: np.ndarray

    def row_of(self, terms: np.ndarray) -> np.ndarray:
        """The row of each of some terms."""
        return self.row[np.searchsorted(self.terms, terms)]

    def rows(self, space: Space, inside: np.ndarray) -> Rows:
        """Write the constraints of some buckets."""
        kept = np.flatnonzero(inside[self.bucket])
        where = (np.ones(len(self.terms)), (self.row, self.terms))
        matrix = sp.csr_array(sp.csr_array(where, shape=(len(self.bucket), len(space)))[kept])
        high = self.number[kept] / space.n_records
        low = np.where(self.with_counterfeits[self.bucket[kept]], -np.inf, high)
        s = space.view.sensitive_values[self.value[kept]].to_flat_index()
        index = pd.MultiIndex.from_arrays([self.names[self.bucket[kept]], s], names=["bucket", "value"])
        return Rows(matrix, low, high, self.label, index, space.view, remedy=REMEDY)


def _relations(space: Space, series: ReleaseSeries) -> Iterator[_Relations]:
    """Lay out the relation constraints, release by release."""
    n_values, q, s = len(series.sensitive_values), space.codes["q"], space.codes["s"]
    for u, release in enumerate(series.releases):
        bucket, value, number = series.values_in(u)
        terms = np.flatnonzero(series.buckets[u, q] >= 0)
        key = series.buckets[u, q[terms]] * n_values + s[terms]
        row = np.searchsorted(bucket * n_values + value, key)
        label = f"release {u + 1}"
        yield _Relations(label, terms, row, bucket, value, number, release.buckets, release.with_counterfeits)


@published_sources.register(ReleaseSeries)
def _series_sources(series: ReleaseSeries) -> tuple[SeriesConstraints, OtherRelations]:
    return SeriesConstraints(series), OtherRelations(series)
