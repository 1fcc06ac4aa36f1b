"""ReleaseSeries: successive releases of a changing population, linked by pseudonyms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from .._utils.errors import Infeasible, StatementError, TableError, join_names, short_repr
from .._utils.formatting import TablePreview
from .._utils.tables import check_types, choose, concatenated, distinct, multi_index, ranges, sort_distinct
from .._utils.validation import check_instance, check_int, check_known, is_several
from .base import View, from_dict, restored, stored
from .release import Release


class ReleaseSeries(View):
    """Releases D'_1, ..., D'_t of people whose sensitive values do not change; terms P(i, s), s in MCS(i).

    MCS(i), the maximum common subset, contains the values that occur in every bucket of person i. A person whose value
    changes needs a new pseudonym.

    Parameters
    ----------
    releases : iterable of Release
        Releases in order of time, made with ``id=``, with the same sensitive attribute. Bucketized and generalised
        releases may be mixed. The QI of the releases that are not generalised become QI of the series, if all of these
        releases have the same QI and together contain everybody.

    Attributes
    ----------
    releases : tuple of Release
    persons : Index
        All pseudonyms, sorted.
    buckets : ndarray of int, shape (releases, persons)
        The position of each person's bucket in each release; -1 if the person is not in the release.

    Raises
    ------
    StatementError
        If an item is not a release with pseudonyms.
    TableError
        If the columns of the releases, the types of their labels, or the QI of a person in them, differ; or their
        ordered categories do, and no release has those of all others in the same order.
    Infeasible
        If the releases contradict each other: a person's buckets have no common value.

    Notes
    -----
    Re-publishing, Definitions 2.1 and 3.2.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> tables = mx.datasets.load_patients()
    >>> series = mx.ReleaseSeries(
    ...     mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables
    ... )
    >>> series
    <ReleaseSeries: 2 releases of 13, 12 people, 15 in all; 5 values of 'Disease', 39 terms>
    >>> series.mcs(7), series.mcs(5)          # values in both of their buckets, regardless of counts
    (['Diabetes', 'Flu', 'Pneumonia'], ['Flu', 'Pneumonia'])
    >>> series.bucket_name(1, 0), int(series.named([7, 5]).sum()), int(series.described("release", 2).sum())
    ('bucket 1 of release 2', 2, 12)
    >>> mx.MaxEnt(series).solve().people().loc[[7, 5], "Diabetes"].round(3).to_dict()
    {7: 1.0, 5: 0.0}
    """

    noun: ClassVar[str] = "series"
    stored_as: ClassVar[str] = "ReleaseSeries"
    is_conditional: ClassVar[bool] = True

    def __init__(self, releases: Iterable[Release]) -> None:
        if isinstance(releases, Release) or not is_several(releases):
            raise StatementError(f"releases must be a list of releases, got {short_repr(releases)}")
        self.releases = tuple(releases)
        _check(self.releases)
        first = self.releases[0]
        self.id, self.sensitive = first.persons.id, first.sensitive
        names = [release.persons.names for release in self.releases]
        check_types([index.to_frame() for index in names])
        codes, self.persons = pd.factorize(names[0].append(names[1:]), sort=True)
        self.persons = pd.Index(self.persons, name=self.id)
        self._at = np.split(codes, np.cumsum([len(r.persons) for r in self.releases])[:-1])
        self.buckets = np.full((len(self.releases), len(self.persons)), -1, dtype=np.int64)
        for u, release in enumerate(self.releases):
            self.buckets[u, self._at[u]] = release.persons.bucket
        frames = [release.sensitive_values.to_frame(index=False) for release in self.releases]
        values, self.sensitive_values = distinct(concatenated(frames))
        self._value = np.split(values, np.cumsum([len(frame) for frame in frames])[:-1])
        exact = [u for u, release in enumerate(self.releases) if not release.generalized]
        have_same = len({frozenset(self.releases[u].qi) for u in exact}) == 1
        covers_all = bool((self.buckets[exact] >= 0).any(axis=0).all())
        if not have_same or not covers_all or self.id in self.releases[exact[0]].qi:
            exact = []
        self._exact, self.qi = exact, (self.id, *(self.releases[exact[0]].qi if exact else ()))
        self.quasi_identifiers = self._tuples()
        self._terms = self._possible()

    @property
    def n_q(self) -> np.ndarray:
        """Number of people with each QI tuple: 1."""
        return np.ones(len(self.persons), dtype=np.int64)

    @property
    def n_s(self) -> None:
        """None: counts of values are published for each release, not for the series."""
        return None

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """One record per person (One constraints, Eq. (4))."""
        return {("q",): self._people_by_tuple()}

    def terms(self) -> dict[str, np.ndarray]:
        """Return codes of the terms P(i, s), s in MCS(i) (zero constraints, Eq. (3)), sorted by person, then value."""
        return self._terms

    @cached_property
    def apart(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """The block of each person, and a mask of the buckets within a single block, for each release.

        A block is a bucket whose people all occur for the first time, or a single person who is in no such bucket.
        """
        block, inside = np.full(len(self.persons), -1), []
        n_blocks = 0
        for bucket_of, release in zip(self.buckets, self.releases, strict=True):
            persons = np.flatnonzero(bucket_of >= 0)
            bucket, of = bucket_of[persons], block[persons]
            low, high = np.full(len(release.buckets), len(block)), np.full(len(release.buckets), -2)
            np.minimum.at(low, bucket, of)
            np.maximum.at(high, bucket, of)
            inside.append(low == high)
            fresh = inside[-1] & (low == -1)
            number = n_blocks + np.cumsum(fresh) - 1
            block[persons] = np.where(fresh[bucket], number[bucket], of)
            n_blocks += int(fresh.sum())
        alone = block < 0
        block[alone] = n_blocks + np.arange(alone.sum())
        return block, inside

    def values_in(self, release: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the values in the buckets of a release: positions of bucket and value, and count, sorted by both.

        Parameters
        ----------
        release : int
            Position in `releases`, from 0.

        Returns
        -------
        bucket, value, number : ndarray of int
            Positions in the release's `buckets` and in the series' `sensitive_values`, and numbers of records.

        Raises
        ------
        StatementError
            If the release does not exist.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> tables = mx.datasets.load_patients()
        >>> series = mx.ReleaseSeries(
        ...     mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables)
        >>> bucket, value, number = series.values_in(0)
        >>> [(series.sensitive_values[s], int(n)) for b, s, n in zip(bucket, value, number) if b == 0]
        [('Diabetes', 1), ('Flu', 2), ('Pneumonia', 1)]
        """
        check_int(release, "release", 0, len(self.releases) - 1)
        s, bucket = self.releases[release].n_sb.nonzero()
        s, number = self._value[release][s], self.releases[release].n_sb.data
        order = np.lexsort((s, bucket))
        return bucket[order], s[order], number[order]

    def mcs(self, person: object) -> list[object]:
        """Return MCS(i), the possible values of the person with a pseudonym (Definition 3.2).

        Parameters
        ----------
        person : str or int
            The pseudonym.

        Returns
        -------
        list
            Sensitive values, in the order of `sensitive_values`.

        Raises
        ------
        UnknownName
            If nobody has the pseudonym.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> tables = mx.datasets.load_patients()
        >>> series = mx.ReleaseSeries(
        ...     mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables)
        >>> series.mcs(5)
        ['Flu', 'Pneumonia']
        """
        at = self.named(person)
        return list(self.sensitive_values[self._terms["s"][at[self._terms["q"]]]])

    def named(self, who: object) -> np.ndarray:
        """Mark people by pseudonym, or by a list of pseudonyms."""
        names = list(who) if isinstance(who, list | tuple | set | frozenset | pd.Index) else [who]
        check_known(names, "person of the series", self.persons)
        return np.asarray(self.persons.isin(names))

    def described(self, attribute: str, chosen: object) -> np.ndarray | None:
        """Mark the people who are in one of the chosen releases, which are numbered from 1."""
        if not isinstance(attribute, str) or attribute != "release" or attribute in self.qi:
            return None
        numbers = pd.Index(np.arange(1, len(self.releases) + 1), name="release")
        return np.asarray((self.buckets[choose(chosen, "release").mask(numbers, "release")] >= 0).any(axis=0))

    def to_frames(self) -> dict[str, Any]:
        """Convert the series to its releases, each with the name of its class."""
        return {"releases": [stored(release) for release in self.releases]}

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Restore the series from its releases."""
        (releases,) = from_dict(frames, cls, releases=list)
        return cls(restored(release) for release in releases)

    def bucket_name(self, release: int, bucket: int) -> str:
        """Return the name of a bucket for messages: "bucket 'A' of release 2".

        Parameters
        ----------
        release, bucket : int
            Positions, from 0.

        Raises
        ------
        StatementError
            If the release or the bucket does not exist.

        Examples
        --------
        See :class:`ReleaseSeries`.
        """
        check_int(release, "release", 0, len(self.releases) - 1)
        check_int(bucket, "bucket", 0, len(self.releases[release].buckets) - 1)
        return f"bucket {join_names([self.releases[release].buckets[bucket]])} of release {release + 1}"

    def _tuples(self) -> pd.MultiIndex:
        """Return everybody's pseudonym and QI, which must be the same in all releases."""
        n = len(self.persons)
        if len(self.qi) == 1:
            return multi_index([self.persons], [np.arange(n)], self.qi)
        columns = list(self.qi[1:])  # in the order of the first release that has them
        tables = [self.releases[u].quasi_identifiers.to_frame(index=False)[columns] for u in self._exact]
        number, tuples = sort_distinct(concatenated(tables))
        before = np.cumsum([0, *map(len, tables)])
        of = np.full(n, -1)
        for start, u in zip(before, self._exact, strict=False):
            now = number[start + self.releases[u].persons.q]
            known = of[self._at[u]]
            if (changed := (known >= 0) & (known != now)).any():
                raise TableError(
                    f"the QI of {self.id} {join_names(self.persons[self._at[u][changed]])} in release {u + 1} differ from "
                    "those in an earlier release; a person's QI must not change: use a new pseudonym, or make the "
                    "releases without QI columns"
                )
            of[self._at[u]] = now
        codes = [np.arange(n), *(np.asarray(code)[of] for code in tuples.codes)]
        return multi_index([self.persons, *tuples.levels], codes, self.qi)

    def _possible(self) -> dict[str, np.ndarray]:
        """Return the codes of everybody's common values: those in all buckets of the person."""
        n_values, times_present = len(self.sensitive_values), (self.buckets >= 0).sum(axis=0)
        pairs = []
        for u, bucket_of in enumerate(self.buckets):
            bucket, s, _ = self.values_in(u)
            start = np.searchsorted(bucket, np.arange(len(self.releases[u].buckets) + 1))
            persons = np.flatnonzero(bucket_of >= 0)
            of = bucket_of[persons]
            width = start[of + 1] - start[of]
            pairs.append(np.repeat(persons, width) * n_values + s[ranges(start[of], width)])
        pair, times = np.unique(np.concatenate(pairs), return_counts=True)
        q, s = np.divmod(pair[times == times_present[pair // n_values]], n_values)
        if (nothing := np.bincount(q, minlength=len(self.persons)) == 0).any():
            whom = int(nothing.argmax())
            where = ", ".join(self.bucket_name(u, b) for u, b in enumerate(self.buckets[:, whom]) if b >= 0)
            raise Infeasible(
                f"the releases contradict each other: no value is in all buckets of {self.id} "
                f"{join_names(self.persons[nothing])} ({where}); use a new pseudonym for a person whose value changes"
            )
        return {"q": q, "s": s}

    @cached_property
    def fewest_values(self) -> np.ndarray:
        """The number of values in the bucket of each person, in the release where it is the smallest."""
        sizes = [np.bincount(self.values_in(u)[0])[bucket] for u, bucket in enumerate(self.buckets)]
        return np.where(self.buckets >= 0, sizes, len(self.sensitive_values)).min(axis=0)

    def _tables(self) -> Iterable[TablePreview]:
        is_present = self.buckets >= 0
        before = np.vstack([np.zeros_like(is_present[:1]), is_present[:-1]])
        table = pd.DataFrame(
            {
                "people": is_present.sum(axis=1),
                "new": (is_present & ~before).sum(axis=1),
                "gone": (before & ~is_present).sum(axis=1),
                "buckets": [len(release.buckets) for release in self.releases],
                "values": [len(release.sensitive_values) for release in self.releases],
            },
            index=pd.RangeIndex(1, len(self.releases) + 1, name="release"),
        )
        return [TablePreview(table, "releases")]

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(r.persons)) for r in self.releases)
        return (
            f"<ReleaseSeries: {len(self.releases)} releases of {sizes} people, {len(self.persons)} in all; "
            f"{len(self.sensitive_values)} values of {', '.join(map(repr, self.sensitive))}, "
            f"{len(self._terms['q'])} terms>"
        )


def _check(releases: tuple[Release, ...]) -> None:
    """Check that these are releases with pseudonyms, and with the same columns."""
    if not releases:
        raise StatementError("a series needs at least one release, got an empty list")
    for u, release in enumerate(releases, 1):
        check_instance(release, Release, f"release {u}", "make it with pseudonyms (id)")
        if release.persons is None:
            raise StatementError(f"release {u} has no pseudonyms, which link releases; make it with their column as id")
        for role, names, first in (
            ("pseudonyms", release.persons.id, releases[0].persons.id),  # type: ignore[union-attr]
            ("sensitive values", release.sensitive, releases[0].sensitive),
        ):
            if names != first:
                raise TableError(
                    f"release {u} has its {role} in {names!r}, but release 1 in {first!r}; use the same names in the same "
                    "order"
                )
