"""What the published buckets say (Privacy-MaxEnt, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...errors import arguments
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import BucketView
from .facts import published_sources
from .published_counts import PublishedCounts

__all__ = ["BucketInvariants"]


class BucketInvariants(PublishedCounts):
    """sum_s P(q, s, b) = P(q, b) and sum_q P(q, s, b) = P(s, b), for every q and s of every bucket b.

    These rows are sound, complete, and concise but for one row a bucket (Theorems 1 to 3): every
    linear equation that holds for all assignments of the bucket's values to its people follows from them, and no other.
    That everybody has exactly one value is no such equation, and they do not say it. Where some values are
    counterfeits, at most so many people have each.

    Parameters
    ----------
    release : Release

    Raises
    ------
    StatementError
        If it is no release.

    Notes
    -----
    Privacy-MaxEnt, Eqs. (4), (5) and (6). The zero-invariants (6) need no rows: such terms do not exist.

    Examples
    --------
    Every model of a release holds them already, as its first source: nine pairs (q, b), and nine (s, b).

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> source, space = mx.BucketInvariants(release), mx.MaxEnt(release).space
    >>> [(rows.label, rows.relation, len(rows)) for rows in source.rows(space)]
    [('P(Gender, Degree, Bucket)', '==', 9), ('P(Disease, Bucket)', '==', 9)]
    """

    def __init__(self, release: BucketView) -> None:
        arguments.instance(release, BucketView, "release", "make one with Release.from_buckets(...)")
        super().__init__(release, [("q", "bucket"), ("s", "bucket")])
        self.release = release

    @property
    def label(self) -> str:
        """The name of this source in every model of a release."""
        return "published buckets"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the QI-invariants, then the SA-invariants.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            P(q, b) of every QI tuple in every bucket; then P(s, b) of every value, "<=" where some are counterfeits.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> of_tuples, of_values = mx.BucketInvariants(release).rows(mx.MaxEnt(release).space)
        >>> of_values.name(0), of_values.low[0].item()
        ('P(Disease, Bucket): Breast Cancer, 1', 0.1)
        """
        of_people, of_values = super().rows(space)
        yield of_people
        at_most = self.release.with_counterfeits[self.release.n_sb.nonzero()[1]]
        yield replace(of_values, low=np.where(at_most, -np.inf, of_values.low)) if at_most.any() else of_values

    def closed_form(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """P(q, s, b) = P(q, b) P(s, b) / P(b): the answer when nothing else is known (Eq. (9)).

        Somebody with QI tuple q has of it what each of the n(q) people has.

        Parameters
        ----------
        space : Space
            The terms of a model of the release.

        Returns
        -------
        counts : ndarray, one a term
            N P(q, s, b), records; NaN in buckets with counterfeits.
        multipliers : ndarray, one a row of :meth:`rows`
            With x = w exp(A' multipliers - 1) for the rows A x = b in records: log n(q, b) + 1 for
            QI-invariants, less log n(q) if somebody with q is named, and log(n(s, b) / n(b)) for SA-invariants.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> counts, _ = mx.BucketInvariants(release).closed_form(mx.MaxEnt(release).space)
        >>> counts[:4].round(2).tolist()                # people in the terms of bucket 1
        [0.25, 0.5, 0.25, 0.5]
        """
        release = self.release
        n_b = np.asarray(release.n_qb.sum(axis=0))
        in_sb = np.log(release.n_sb.data / n_b[release.n_sb.indices])
        among = np.where(space.people.unnamed < release.n_q, release.n_q, 1)
        in_qb = np.log(release.n_qb.data / among[release.n_qb.nonzero()[0]])
        multipliers = np.concatenate([in_qb + 1, in_sb])
        q, s, b = (space.codes[axis] for axis in ("q", "s", "bucket"))
        counts = np.asarray(release.n_qb[q, b]).ravel() * np.asarray(release.n_sb[s, b]).ravel() / n_b[b]
        return np.where(release.with_counterfeits[b], np.nan, counts * space.weights / among[q]), multipliers

    def closed_bounds(self, space: Space, at: np.ndarray) -> tuple[float, float]:
        """Add up what rectangles of QI tuples and values, one a bucket, can hold, records.

        Of n(Q) people and n(S) values among n(b), between max(0, n(Q) + n(S) - n(b)) and min(n(Q), n(S)) go
        together (Frechet).

        Parameters
        ----------
        space : Space
            The terms of a model of the release.
        at : ndarray of int
            Terms: in every bucket all of some QI tuples with some values.

        Returns
        -------
        low, high : float
            Records.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.MaxEnt(release).space
        >>> flu_of_men = space.row("Flu", {"Gender": "male"}).indices
        >>> mx.BucketInvariants(release).closed_bounds(space, flu_of_men)     # of six men
        (1.0, 3.0)
        """
        low, high = self._bounds_of_each(space, at, np.zeros(len(at), dtype=np.int64), 1)
        return float(low[0]), float(high[0])

    def closed_bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of each of several groups of terms what :meth:`closed_bounds` says of it, all at once.

        Parameters
        ----------
        space : Space
            The terms of a model of the release.
        at : ndarray of int
            Terms; of each group in every bucket all of some QI tuples with some values.
        group : ndarray of int
            The group of each, from 0.
        n_groups : int

        Returns
        -------
        low, high : ndarray, one a group
            Records; 0 of a group without terms.

        Examples
        --------
        >>> import maxent_cvx as mx, numpy as np
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.MaxEnt(release).space
        >>> men, women = (space.row("Flu", {"Gender": gender}).indices for gender in ("male", "female"))
        >>> group = np.repeat([0, 1], [len(men), len(women)])
        >>> ends = mx.BucketInvariants(release).closed_bounds_of_each(space, np.concatenate([men, women]), group, 2)
        >>> [side.tolist() for side in ends]                                  # of six men, and of four women
        [[1.0, 0.0], [3.0, 2.0]]
        """
        if type(self).closed_bounds is not BucketInvariants.closed_bounds:  # a subclass knows better
            return super().closed_bounds_of_each(space, at, group, n_groups)
        return self._bounds_of_each(space, at, group, n_groups)

    def _bounds_of_each(
        self, space: Space, at: np.ndarray, group: np.ndarray, n_groups: int
    ) -> tuple[np.ndarray, np.ndarray]:
        release, bucket = self.release, space.codes["bucket"][at]
        n_buckets = release.n_qb.shape[1]
        rectangles, rectangle = np.unique(group * n_buckets + bucket, return_inverse=True)
        n = []
        for axis, table in (("q", release.n_qb), ("s", release.n_sb)):
            pairs = np.unique(np.column_stack([rectangle, space.codes[axis][at], bucket]), axis=0)
            people = np.asarray(table[pairs[:, 1], pairs[:, 2]]).ravel()
            n.append(np.bincount(pairs[:, 0], people, len(rectangles)))
        whose, of = np.divmod(rectangles, n_buckets)
        least = np.maximum(n[0] + n[1] - np.asarray(release.n_qb.sum(axis=0))[of], 0)
        return np.bincount(whose, least, n_groups), np.bincount(whose, np.minimum(*n), n_groups)


@published_sources.register(BucketView)
def _bucket_sources(release: BucketView) -> tuple[BucketInvariants]:
    return (BucketInvariants(release),)
