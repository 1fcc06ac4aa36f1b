"""The intersection attack: releases of overlapping people, linked by quasi-identifiers only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import softmax

from .._utils.errors import Infeasible, StatementError, TableError, join_names, short_repr
from .._utils.formatting import Message
from .._utils.tables import check_columns, check_types, distinct, plain_index, ranges, sort_distinct
from .._utils.validation import check_in, check_instance, check_int, check_label, check_list, check_positive
from ..measures.leakage import in_order
from ..model.maxent import MaxEnt
from ..priors import QIDistribution
from ..releases.base import OUTSIDE, View, attach
from ..releases.generalized import GroupedRelease
from ..releases.release import Release
from ..sources.base import Source
from ..terms.rows import Rows
from ..terms.space import Space
from .result import AttackResult

# The joint information of several releases about a person who is in all of them.


@dataclass(frozen=True, eq=False, repr=False)
class IntersectionResult(AttackResult):
    """P(s | q, in all releases), and P(s | q) from the single release that reveals most about q.

    :meth:`judge` compares with the records of the people in all releases, which the attack does not need.

    Attributes
    ----------
    table, baseline : DataFrame
        Probabilities, one row per QI tuple, one column per value.
    records : Series
        For each QI tuple, the number of people in all releases if known, else the largest possible number; if groups
        overlap, an upper bound on it.
    error : float
        0 for an unknown overlap and groups that do not overlap (exact over possible worlds); else a bound on the error
        of the maximum-entropy answer.
    bounds : DataFrame
        For each possible QI tuple and value, `low` and `high`: bounds on the share of the tuple's people in all
        releases who have the value; attained if the overlap is unknown.
    known_overlap : bool
        Whether the QI of the people in all releases are known; `records` then counts these people.
    impossible : MultiIndex
        QI tuples in all releases whose groups have no common value, so that nobody with them can be in all releases.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> first = pd.DataFrame({"Age": [28, 31, 35], "Disease": ["AIDS", "Flu", "Ulcer"], "Bucket": [1, 1, 1]})
    >>> second = pd.DataFrame({"Age": [28, 40, 28], "Disease": ["AIDS", "Cold", "Cold"], "Bucket": [1, 1, 2]})
    >>> releases = [mx.Release.from_buckets(t, qi="Age", sa="Disease", bucket="Bucket") for t in (first, second)]
    >>> result = mx.attacks.intersection(releases)
    >>> print(result)
    of 1 record that may be in all releases, 1 (100.0%) can have one value only; the likeliest value has a probability
    of 1.00 on average, 0.75 without the attack
    >>> result.certain.to_dict(), result.candidates.to_dict()
    ({28: 'AIDS'}, {28: 1})
    """

    bounds: pd.DataFrame
    impossible: pd.MultiIndex
    known_overlap: bool = False

    title: ClassVar[str | None] = "intersection"
    _checks_number: ClassVar[bool] = False  # the attack does not need to know the people in all releases

    @property
    def candidates(self) -> pd.Series:
        """Number of possible values of a person in all releases, by QI tuple."""
        levels = list(range(self.table.index.nlevels))
        possible = self.bounds.loc[self.bounds["high"] > 0]
        return possible.groupby(level=levels, sort=False).size().reindex(self.table.index).rename("values")

    @property
    def certain(self) -> pd.Series:
        """The value of a person in all releases, for QI tuples with a single possible value."""
        is_certain = (self.candidates == 1).to_numpy()
        likeliest = self.table.to_numpy()[is_certain].argmax(axis=1)
        values = self.table.columns.to_flat_index()[likeliest]
        return pd.Series(values, self.table.index[is_certain], name=self.table.columns.name)

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        n = self.records.to_numpy()
        exposed = int(n[(self.candidates == 1).to_numpy()].sum())
        sure, without = self._likeliest()
        which = "in all releases" if self.known_overlap else "that may be in all releases"
        return Message(
            "of {records} {which}, {exposed} ({share:.1%}) can have one value only; the likeliest value has a probability "
            "of {sure:.2f} on average, {without:.2f} without the attack",
            records=Message("{n:,} record" if n.sum() == 1 else "{n:,} records", n=int(n.sum())),
            which=Message(which),
            exposed=exposed,
            share=exposed / n.sum(),
            sure=sure,
            without=without,
        )


# The overlap: knowledge about the people in both of two releases.


#: Description of a valid overlap, for errors.
EXPECTED = "None, a number of people, (least, most), 'everybody', or a DataFrame with the QI of those in both"


@dataclass(frozen=True, eq=False)
class Overlap:
    """The people in both releases."""

    tuples: pd.MultiIndex  # the QI tuples of the answer, sorted
    people: np.ndarray | None  # one per QI tuple: the number of people in both; None if unknown
    number: int  # the least number of people in both; 0 if only the person in question is known to be in both

    @classmethod
    def read(cls, overlap: object, releases: Sequence[Release | GroupedRelease]) -> Overlap:
        """Read the parameter `overlap`, and check that it is possible."""
        first = releases[0]
        if isinstance(overlap, pd.DataFrame):
            check_columns(overlap, {"qi": first.qi}, "the people in both")
            check_types([first.quasi_identifiers.to_frame(index=False), overlap])
            code, tuples = sort_distinct(overlap[list(first.qi)])
            people = np.bincount(code, minlength=len(tuples))
            return cls(tuples, people, int(people.sum()))
        tuples = _common(releases)
        if overlap is None:
            return cls(tuples, None, 0)
        if any(isinstance(release, GroupedRelease) for release in releases):
            raise StatementError(
                "the exact QI of generalised records are unknown, so the number of people in both releases is not enough; "
                "pass the people who are in both as a DataFrame, or overlap=None"
            )
        size = min(release.n_records for release in releases)
        if isinstance(overlap, str):
            check_in(overlap, "overlap", ("everybody",))
            smaller = min(releases, key=lambda release: release.n_records)
            code, tuples = sort_distinct(in_order(smaller.quasi_identifiers, first.qi).to_frame(index=False))
            return cls(tuples, np.bincount(code, smaller.n_q).astype(np.int64), size)
        if not isinstance(overlap, tuple | list):
            return cls(tuples, None, check_int(overlap, "overlap", 1, size))
        if len(overlap) != 2:
            raise StatementError(f"overlap must be {EXPECTED}, got {short_repr(overlap)}")
        least = check_int(overlap[0], "the least overlap", 0, size)
        check_int(overlap[1], "the largest overlap", max(least, 1), size)
        return cls(tuples, None, least)

    def check(self, most: Sequence[np.ndarray]) -> None:
        """Raise TableError if people in the overlap are missing from one of the releases."""
        fewest = np.min(most, axis=0)
        if self.people is not None:
            for number, capacity in enumerate(most, 1):
                if (few := capacity < self.people).any():
                    raise TableError(
                        f"{int(self.people[few].sum())} of the {self.number} people in both have QI that occur less "
                        f"often, or not at all, in release {number}: {int(few.sum())} distinct "
                        f"({join_names(self.tuples.names)}); pass a DataFrame with only those who are in both releases"
                    )
        elif self.number > fewest.sum():
            raise TableError(
                f"{self.number} people cannot be in both: at most {int(fewest.sum())} have the same QI in the two "
                "releases; pass a smaller overlap"
            )
        if not len(self.tuples):
            raise Infeasible("nobody has the same QI in all releases, so nobody can be in all of them")


def _common(releases: Sequence[Release | GroupedRelease]) -> pd.MultiIndex:
    """Return the QI tuples that all releases have, sorted."""
    qi = releases[0].qi
    frames = [in_order(release.quasi_identifiers, qi).to_frame(index=False) for release in releases]
    code, tuples = sort_distinct(pd.concat(frames, ignore_index=True))
    return tuples[np.bincount(code, minlength=len(tuples)) == len(releases)]


# Record classes: the records of a release as seen by an adversary, and the possible people and values of each.


@dataclass(frozen=True, eq=False)
class RecordClasses:
    """Kinds of records u of one release: records of one bucket with the same published QI."""

    n: np.ndarray  # one per kind: number of records
    bucket: np.ndarray  # one per kind
    may_be: sp.csr_array  # (QI tuples, kinds): 1 if a person with the exact QI tuple can have such a record
    n_sb: sp.csc_array  # (values, buckets)
    most: np.ndarray  # one per QI tuple: the largest possible number of people in the release
    shares: np.ndarray  # (QI tuples, values): P(s | q, in the release), or 0
    error: float = 0.0  # a bound on the relative error of shares, up to a factor per QI tuple

    @classmethod
    def of(cls, release: Release | GroupedRelease, tuples: pd.MultiIndex, values: pd.Index) -> Self:
        """Return the kinds of records of a release, for people with given QI tuples and the values of all releases."""
        at = values.get_indexer(release.sensitive_values)
        s, b = release.n_sb.nonzero()
        is_inside = release.inside[s]
        shape = (len(values), len(release.buckets))
        n_sb = sp.csc_array(sp.csr_array((release.n_sb.data[is_inside], (at[s[is_inside]], b[is_inside])), shape=shape))
        rows, known = _places(release, tuples)
        size, post = np.asarray(n_sb.sum(axis=0)), None
        if isinstance(release, GroupedRelease):
            bucket = np.flatnonzero(size).astype(np.int64)
            n, may_be_all = size[bucket], sp.csr_array(release.cover[bucket].T)
            if may_be_all.sum(axis=1).max() > 1:  # the other people of a group that covers q may be needed elsewhere
                post = MaxEnt(release).solve()
                places = post.space.codes["q"], post.space.codes["bucket"]
                held = sp.csr_array((post.counts, places), shape=release.cover.T.shape)[:, bucket]
                may_be_all = sp.csr_array((held > 0).astype(float))
        else:
            q, bucket = (np.asarray(code, dtype=np.int64) for code in release.n_qb.nonzero())
            n, may_be_all = release.n_qb.data, sp.csr_array((np.ones(len(q)), (q, np.arange(len(q)))))
        pick = sp.csr_array((np.ones(len(rows)), (rows, known)), shape=(len(tuples), may_be_all.shape[0]))
        may_be = sp.csr_array(pick @ may_be_all)
        most = np.minimum(may_be @ n, pick @ release.n_q).astype(np.int64)
        if post is None:  # all records possible for a person are equally likely
            x = (may_be @ sp.diags_array(n / size[bucket]) @ n_sb.T.tocsr()[bucket]).toarray()
            return cls(n, bucket, may_be, n_sb, most, x / np.maximum(may_be @ n, 1)[:, None])
        x = np.zeros((len(tuples), len(values)))
        x[np.ix_(rows, at[release.inside])] = post.conditional().to_numpy()[known][:, release.inside]
        off, least = post.certificate.bound, x[x > 0].min(initial=1.0)
        shares = x / np.where(x.any(axis=1), x.sum(axis=1), 1.0)[:, None]
        return cls(n, bucket, may_be, n_sb, most, shares, off / (least - off) if least > off else np.inf)

    def values_of(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of distinct values in the bucket of each kind of record, and the values, kind by kind."""
        b = self.bucket[u]
        many = np.diff(self.n_sb.indptr)[b]
        return many, self.n_sb.indices[ranges(self.n_sb.indptr[b], many)].astype(np.int64)


def _places(release: Release | GroupedRelease, tuples: pd.MultiIndex) -> tuple[np.ndarray, np.ndarray]:
    """Return the QI tuples that a release has, and their positions; its attributes may have a different order."""
    try:
        places = in_order(release.quasi_identifiers, tuples.names).get_indexer(tuples)
    except TypeError as error:
        raise TableError(f"QI of two releases cannot be compared: {error}; make their columns the same type") from error
    rows = np.flatnonzero(places >= 0)
    return rows, np.asarray(places)[rows]


# Pairs of records of two releases that may belong to one person: the terms, and the published counts.


#: The roles of the records of the first and of the second release.
SIDES = ("first", "second")
#: Largest number of pairs of records with a value; each takes some 100 bytes.
MOST_PAIRS = 30_000_000


class MatchedRecords(View):
    """Two releases with N people in total: terms P(k, s, u1, u2), for people of kind k with the records u1 and u2."""

    # Kinds of people: in both releases, one kind per QI tuple if their numbers are known, else a single kind; in the
    # first release alone; in the second alone. People who are not in a release have its last record, "none".

    noun: ClassVar[str] = "pair of releases"
    qi, sensitive = ("kind",), ("value",)

    def __init__(self, slots: tuple[RecordClasses, RecordClasses], overlap: Overlap, values: pd.Index) -> None:
        self.slots, self.overlap = slots, overlap
        self.sensitive_values = pd.RangeIndex(len(values), name="value")
        n_both = np.array([overlap.number]) if overlap.people is None else overlap.people
        alone = np.array([classes.n.sum() - overlap.number for classes in slots])
        self._n_q = np.concatenate([n_both, alone[alone > 0]])
        self.both = np.arange(len(n_both))
        kind = len(n_both) + np.cumsum(alone > 0) - 1
        none = [len(classes.n) for classes in slots]
        q, u1, u2, s = _pairs(slots)
        parts = [(q if overlap.people is not None else np.zeros_like(q), s, u1, u2, q)]
        for side in np.flatnonzero(alone > 0):
            u, s = _alone(slots[side], overlap)
            other = np.full(len(u), none[1 - side])
            first, second = (u, other) if side == 0 else (other, u)
            parts.append((np.full(len(u), kind[side]), s, first, second, np.full(len(u), -1)))
        k, s, u1, u2, q = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((s, k, u2, u1))
        self._terms = {"q": k[order], "s": s[order], "first": u1[order], "second": u2[order]}
        self.tuple_of = q[order]
        self.quasi_identifiers = pd.MultiIndex.from_arrays([np.arange(len(self._n_q))], names=["kind"])

    @property
    def n_q(self) -> np.ndarray:
        """Number of people of each kind."""
        return self._n_q

    @property
    def n_s(self) -> None:
        """None: the number of people with a value is unknown, since people in both releases are counted twice."""
        return None

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """Kinds, values, and records of the first and the second release."""
        records = {
            name: ((name,), pd.RangeIndex(len(classes.n) + 1, name=name))
            for name, classes in zip(SIDES, self.slots, strict=True)
        }
        return {**super().axes, **records}

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Number of people of each kind."""
        return {("q",): pd.Series(self._n_q, pd.RangeIndex(len(self._n_q), name="kind"))}

    def terms(self) -> dict[str, np.ndarray]:
        """Return the terms: values in both buckets for people in both releases, values of the bucket for others."""
        return self._terms


class PublishedSlots(Source):
    """sum P(k, s, u1, u2) over k, s, u2 = n(u1) / N, and over u1 in b, k, u2 = n(s, b) / N; likewise for u2."""

    label = "two releases"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per kind of record, and one per value of each bucket except the last, which is redundant."""
        assert isinstance(space.view, MatchedRecords)
        for side, slots in zip(SIDES, space.view.slots, strict=True):
            u, s = space.codes[side], space.codes["s"]
            matched = np.flatnonzero(u < len(slots.n))
            yield self._counted(space, matched, u[matched], slots.n, f"records of the {side} release")
            in_s, in_b = slots.n_sb.nonzero()
            last = np.unique(in_b[::-1], return_index=True)[1]
            is_kept = np.ones(len(in_b), dtype=bool)
            is_kept[len(in_b) - 1 - last] = False
            place = sp.csr_array((np.arange(1, len(in_s) + 1), (in_s, in_b)), shape=slots.n_sb.shape)
            row = np.asarray(place[s[matched], slots.bucket[u[matched]]]).reshape(-1) - 1
            counts = np.asarray(slots.n_sb.tocsr()[in_s, in_b]).reshape(-1)
            rows = self._counted(space, matched, row, counts, f"values in buckets of the {side} release")
            yield rows.at(np.flatnonzero(is_kept))

    def _counted(self, space: Space, terms: np.ndarray, row: np.ndarray, counts: np.ndarray, label: str) -> Rows:
        """Build rows in which terms sum to counts of people."""
        coefficient = np.full(len(terms), float(space.n_records))
        matrix = sp.csr_array((coefficient, (row, terms)), shape=(len(counts), len(space)))
        side = counts.astype(float)
        return Rows(matrix, side, side, label, pd.RangeIndex(len(counts)), space.view, exact=True)


def _pairs(slots: tuple[RecordClasses, RecordClasses]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return QI tuple, both records and value of people in both releases, for possible records and common values."""
    first, second = (sp.csr_array(classes.may_be) for classes in slots)
    wide = np.diff(second.indptr)
    row = np.repeat(np.arange(first.shape[0]), np.diff(first.indptr))
    n_pairs = int(wide[row].sum())
    n_values = np.diff(slots[0].n_sb.indptr)[slots[0].bucket[first.indices]]
    if (size := int((wide[row] * n_values).sum())) > MOST_PAIRS:
        raise TableError(
            f"{n_pairs} pairs of records may belong to one person, with {size} values in all, but at most {MOST_PAIRS} "
            "are allowed; pass fewer people, or use overlap=None, which processes one release at a time"
        )
    u1 = np.repeat(first.indices, wide[row]).astype(np.int64)
    u2 = second.indices[ranges(second.indptr[row], wide[row])].astype(np.int64)
    q = np.repeat(row, wide[row])
    many, s = slots[0].values_of(u1)
    q, u1, u2 = (np.repeat(part, many) for part in (q, u1, u2))
    is_common = np.asarray(slots[1].n_sb.tocsr()[s, slots[1].bucket[u2]]).reshape(-1) > 0
    return q[is_common], u1[is_common], u2[is_common], s[is_common]


def _alone(slots: RecordClasses, overlap: Overlap) -> tuple[np.ndarray, np.ndarray]:
    """Return record and value of people in one release alone, except records that all belong to people in both."""
    free = np.arange(len(slots.n))
    if overlap.people is not None:
        exhausted = (overlap.people == slots.may_be @ slots.n).astype(float)
        free = np.flatnonzero(exhausted @ slots.may_be == 0)
    many, s = slots.values_of(free)
    return np.repeat(free, many), s


# Maximum entropy over the people in both of two releases.


def joint(
    slots: tuple[RecordClasses, RecordClasses], overlap: Overlap, values: pd.Index, pi: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return P(s | q, in both) of the model with the prior 1 / pi(s) for people in both, and a bound on its error."""
    view = MatchedRecords(slots, overlap, values)
    weight = np.full((len(view.n_q), len(values)), 1 / len(values))
    inverse = np.broadcast_to(1 / np.where(pi > 0, pi, 1.0), (len(view.both), len(values)))
    weight[view.both] = inverse / inverse.sum(axis=1, keepdims=True)
    prior = QIDistribution(pd.DataFrame(weight, pd.RangeIndex(len(weight), name="kind"), view.sensitive_values))
    post = MaxEnt(view, prior=prior).add(PublishedSlots()).solve()
    in_overlap = view.tuple_of >= 0
    x = np.zeros((len(overlap.tuples), len(values)))
    np.add.at(x, (view.tuple_of[in_overlap], view.terms()["s"][in_overlap]), post.counts[in_overlap])
    n = x.sum(axis=1, keepdims=True)
    p = x / np.where(n > 0, n, 1.0)
    return p, _error(post.certificate.bound, overlap, n)


def _error(bound: float, overlap: Overlap, n: np.ndarray) -> float:
    """Bound the error of x / n by 2 d / (n - d), where d is the certified error of x and n, people in both."""
    if overlap.people is not None:
        return float(bound)
    off = bound * overlap.number
    least = float(n[n > 0].min())
    return min(2 * off / (least - off), 1.0) if least > off else 1.0


def _bounds(slots: Sequence[RecordClasses], overlap: Overlap, can: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bound the shares of values among people in all releases, from the buckets of each QI tuple alone."""
    if overlap.people is None:
        return 1.0 * (can & (can.sum(axis=1, keepdims=True) == 1)), 1.0 * can
    most = np.min([_most(classes) for classes in slots], axis=0)
    high = np.where(can, np.minimum(most / overlap.people[:, None], 1.0), 0.0)
    return np.maximum(1.0 - (high.sum(axis=1, keepdims=True) - high), 0.0) * can, high


def _most(slots: RecordClasses) -> np.ndarray:
    """Return the largest number of people of a QI tuple with a value: per kind of record, its bucket's count."""
    most = np.zeros((slots.may_be.shape[0], slots.n_sb.shape[0]))
    q, u = slots.may_be.nonzero()
    by_bucket = slots.n_sb.T.tocsr()
    counts = by_bucket[slots.bucket[u]].tocoo()
    np.add.at(most, (q[counts.row], counts.col), np.minimum(counts.data, slots.n[u[counts.row]]))
    return most


def intersection(
    releases: Iterable[Release | GroupedRelease],
    overlap: object = None,
    *,
    prior: Mapping[Any, float] | pd.Series | None = None,
) -> IntersectionResult:
    """Infer P(s | q, in all releases) ~ pi(s) prod_r (P_r(s | q) / pi(s)), with P_r(s | q) from release r alone.

    Independent publishers release data about overlapping people, without pseudonyms. An adversary who knows a person's
    QI, and that the person is in all releases, intersects the sets of values of the person's groups.

    Parameters
    ----------
    releases : sequence of Release or GroupedRelease
        Two or more, with the same QI and sensitive attributes. Generalised ones must be made with their `population`
        (see :meth:`maxent_cvx.Release.from_generalized`), because they are linked by exact QI.
    overlap : optional
        The people in both. None: only the person in question is known to be in both; this answer is exact over possible
        worlds, for any number of releases, unless groups overlap (see Notes). For two releases, also a number of
        people; ``(least, most)``, of which the least is used; ``"everybody"`` in the smaller release; or a DataFrame
        with the QI of the people in both, one row per person. The answer is then the maximum-entropy one.
    prior : Series or dict, optional
        pi(s) > 0, the frequencies of values in the population of the publishers, which need not sum to 1. By default
        the frequencies in the releases; for generalised releases, which group similar people, those in the groups that
        cover q. With equal numbers, all possible worlds are equally likely.

    Returns
    -------
    IntersectionResult
        `table` by QI tuple; `baseline`, the P_r(s | q) with the larger maximum; `bounds`.

    Raises
    ------
    StatementError
        If an argument has the wrong type, or an overlap is given for more than two releases, or only as a number for
        generalised releases.
    TableError, UnknownName, BadProbability
        If releases have different attributes or types of labels, a generalised one has no population, or `prior` lacks
        a value.
    Infeasible
        If the overlap contradicts the releases, or nobody can be in all of them.
    Inaccurate
        If the answer for a known overlap, or for overlapping groups, cannot be certified, as may happen with a thousand
        people with distinct QI.

    Notes
    -----
    See Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008,
    section 2; their sets are the values with ``bounds["high"] > 0``.

    *Worlds.* A world assigns the values of each bucket to its records, and links records of the two releases that
    belong to one person, which agree in value and QI. If people's values are drawn from pi, the weight of a world is
    prod pi(s) over people: as the values of every bucket are known, 1 / pi(s) for each person in both. With one such
    person, equally likely to be any pair of matching records, this is the formula above. Without 1 / pi, releases that
    are uninformative about q would make frequent values too likely.

    *Overlapping groups.* If several groups of a generalised release cover q, such as those of "20-29" and of "*", the
    people who fill one are missing in the other. P_r(s | q) is then the maximum-entropy answer from release r alone,
    and takes as long as ``MaxEnt(r).solve()``.

    Groups of Mondrian contain similar people. With frequencies from the whole release, the common information of both
    groups would be counted twice: on Adult, probabilities then exceed the share of right guesses by 0.15, and with
    frequencies from the groups by 0.01 to 0.03 (``python -m tests.benchmarks.attacks intersection``, with and without
    ``--overall``).

    *Maximum entropy.* With M people in both, x(q, s, u, v) people with record u of the first and v of the second, and
    x(s, u, -), x(s, -, v) in one alone, the number of worlds is prod n(u)! prod n(v)! / prod x!. To first order of
    Stirling's formula its logarithm, with the weights, is -sum x log x - sum over people in both of x log pi(s). It
    is maximised subject to n(u), n(s, b) of both releases, and the number in both (for each q, if known). As M tends to
    0, it tends to the formula above. It approximates the posterior over worlds, as for other models.

    Examples
    --------
    Two hospitals publish groups of four. A person of age 28 was in both:

    >>> import maxent_cvx as mx, pandas as pd
    >>> first = pd.DataFrame({"Age": [28, 28, 31, 35], "Disease": ["AIDS", "Flu", "Flu", "Ulcer"], "Bucket": 1})
    >>> second = pd.DataFrame({"Age": [28, 30, 33, 34], "Disease": ["AIDS", "Cold", "Ulcer", "Cold"], "Bucket": 1})
    >>> releases = [mx.Release.from_buckets(t, qi="Age", sa="Disease", bucket="Bucket") for t in (first, second)]
    >>> result = mx.attacks.intersection(releases, prior=dict.fromkeys(["AIDS", "Flu", "Ulcer", "Cold"], 0.25))
    >>> print(result.table.round(2))
    Disease  AIDS  Cold  Flu  Ulcer
    Age
    28        0.5   0.0  0.0    0.5
    >>> print(result.bounds)
                 low  high
    Age Disease
    28  AIDS     0.0   1.0
        Ulcer    0.0   1.0
    """
    checked = _checked(releases)
    values = _values(checked)
    known = Overlap.read(overlap, checked)
    slots = [RecordClasses.of(release, known.tuples, values) for release in checked]
    known.check([classes.most for classes in slots])
    if known.number and len(checked) > 2:
        raise StatementError("overlap can be given for two releases only; use overlap=None for more")
    if known.number and any(isinstance(release, Release) and release.with_counterfeits.any() for release in checked):
        raise TableError("a release has counterfeits, which are not records of people; use overlap=None")
    alone = [classes.shares for classes in slots]
    are_alike = any(isinstance(release, GroupedRelease) or release.matched for release in checked)
    pi = _prior(prior, values, slots, are_alike)
    possible = np.all([share > 0 for share in alone], axis=0)
    has_value = possible.any(axis=1)
    if known.people is not None and not has_value.all():
        raise Infeasible(
            f"{int(known.people[~has_value].sum())} people in the overlap have groups without a common value; check "
            "the overlap, and whether their values have changed"
        )
    if not has_value.any():
        raise Infeasible("nobody can be in all releases: no QI tuple has a value that occurs in all its groups")
    if known.number:
        p, error = joint((slots[0], slots[1]), known, values, pi)
    else:
        off = sum(classes.error for classes in slots)
        p, error = _product(alone, pi, possible), 2 * off / (1 - off) if 3 * off < 1 else 1.0
    has_value = np.asarray(p.sum(axis=1) > 0)  # nobody in all releases can have the other QI tuples
    index = plain_index(known.tuples[has_value])
    surest = np.max(alone, axis=2).argmax(axis=0)
    best = np.take_along_axis(np.array(alone), surest[None, :, None], axis=0)[0]
    most = np.min([classes.most for classes in slots], axis=0)
    n = most if known.people is None else known.people
    row, column = np.nonzero(possible[has_value])
    low, high = (end[has_value][row, column] for end in _bounds(slots, known, possible))
    return IntersectionResult(
        table=pd.DataFrame(p[has_value], index, values),
        baseline=pd.DataFrame(best[has_value], index, values),
        records=pd.Series(n[has_value].astype(np.int64), index, name="records"),
        error=error,
        bounds=pd.DataFrame({"low": low, "high": high}, attach(known.tuples[has_value], row, values, column)),
        impossible=known.tuples[~has_value & (most > 0)],
        known_overlap=known.people is not None,
    )


def _product(alone: Sequence[np.ndarray], pi: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """Return P(s | q, in all) over worlds in which one person is in all releases, from that in each of them."""
    log = np.log([np.where(possible, share, 1.0) for share in (*alone, np.broadcast_to(pi, possible.shape))])
    weight = np.where(possible, log[:-1].sum(axis=0) - (len(alone) - 1) * log[-1], -np.inf)
    with np.errstate(invalid="ignore"):  # nobody in all releases can have a tuple without a possible value
        return np.nan_to_num(softmax(weight, axis=1))


def _checked(releases: object) -> list[Release | GroupedRelease]:
    """Check that the releases have the same attributes."""
    checked = check_list(releases, "releases", "two releases or more")
    if len(checked) < 2:
        raise StatementError(f"at least two releases are needed, got {len(checked)}")
    for number, release in enumerate(checked, 1):
        check_instance(release, (Release, GroupedRelease), f"release {number}")
        for role, labels, first in (
            ("QI", set(release.qi), set(checked[0].qi)),
            ("sensitive values", release.sensitive, checked[0].sensitive),
        ):
            if labels != first:
                raise TableError(
                    f"the {role} of release {number} are {join_names(sorted(labels))}, those of release 1 "
                    f"{join_names(sorted(first))}; rename columns, or omit those that only one has"
                )
        if release.generalized:
            raise TableError(
                f"release {number} is generalised, and the exact QI of its people are unknown; make it with "
                "Release.from_generalized(table, ..., population=...)"
            )
    check_types([release.quasi_identifiers.to_frame(index=False) for release in checked])
    check_types([release.sensitive_values.to_frame(index=False) for release in checked])
    return checked


def _values(releases: Sequence[Release | GroupedRelease]) -> pd.Index:
    """Return the values of all releases, sorted."""
    frames = [release.sensitive_values.to_frame(index=False) for release in releases]
    every = pd.concat(frames, ignore_index=True)
    return distinct(every[(every != OUTSIDE).all(axis=1)])[1]


def _prior(prior: object, values: pd.Index, slots: Sequence[RecordClasses], are_alike: bool) -> np.ndarray:
    """Return pi(s): as given, or the shares of records; for groups of similar people, one row per QI tuple."""
    if prior is None and are_alike:
        covering = [classes.may_be @ classes.n_sb.T.tocsr()[classes.bucket] for classes in slots]
        n = np.sum([count.toarray() for count in covering], axis=0)
        return np.asarray(n / np.maximum(n.sum(axis=1, keepdims=True), 1))
    if prior is None:
        n = np.sum([np.asarray(classes.n_sb.sum(axis=1)) for classes in slots], axis=0)
        return np.asarray(n / n.sum())
    if not isinstance(prior, pd.Series | Mapping):
        raise StatementError(f"prior must be a Series or a dictionary {{value: frequency}}, not {short_repr(prior)}")
    frequencies = dict(prior)
    weights = [check_positive(frequencies[check_label(s, "value of the prior", frequencies)], "prior") for s in values]
    return np.array(weights) / np.sum(weights)
