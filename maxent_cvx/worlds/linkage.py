"""Linkage: exact probabilities of values by signature or by name, over the possible worlds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError, short_repr
from .._utils.validation import check_number
from ..priors import QIDistribution
from ..releases.base import attach
from ..releases.release import Release
from ..solvers.sparse import components
from ..terms.people import People
from .conditioning import Conditioned, ResidualGroup, Slot, closed_form, conditioned, contradiction
from .groups import STEPS, Groups, check_release, linked
from .sentences import PersonKnowledge, Residuals, Sentence, listed


@dataclass(frozen=True, eq=False)
class PossibleBuckets:
    """The buckets of a release that can contain some people, with or without a prior."""

    tuples: sp.csr_array  # (tuples, buckets): number of records with each QI tuple in each bucket
    groups: Groups  # the buckets, with the prior
    signature: np.ndarray | None  # for each QI tuple, the row of the prior; None if all worlds are equally likely
    limit: float  # the maximum number of steps

    @classmethod
    def of(
        cls, release: Release, prior: QIDistribution | None, key: tuple[str, ...], q: np.ndarray, limit: float
    ) -> Self:
        """Select the buckets of some QI tuples, with the prior of an attribute set or without a prior."""
        groups = Groups.of(release, prior, key)
        if prior is not None:
            groups.check_worlds()
        signature = None if prior is None else prior.rows(release.quasi_identifiers, key)
        tuples = sp.csr_array(release.n_qb)
        buckets = np.unique(tuples[np.unique(q)].indices)
        chosen = replace(
            groups,
            tuples=groups.tuples[:, buckets],
            values=groups.values[:, buckets],
            names=groups.names[buckets],
        )
        return cls(sp.csr_array(tuples[:, buckets]), chosen, signature, limit)

    @property
    def values(self) -> sp.csc_array:
        """Number of records with each value in each bucket."""
        return self.groups.values

    def of_tuple(self, q: int) -> np.ndarray:
        """Return the buckets in which a QI tuple has records."""
        return self.tuples.indices[slice(*self.tuples.indptr[q : q + 2])]

    @cached_property
    def _share(self) -> sp.csr_array:
        """P(t : x) without sentences, shape (buckets x signatures, values)."""
        groups = self.groups
        group, u, v = groups.pairs
        row = group * len(groups.prior) + groups.tuples.indices[u]
        shape = (len(groups) * len(groups.prior), self.values.shape[0])
        return sp.csr_array((linked(groups, self.limit), (row, groups.values.indices[v])), shape=shape)

    def expected(self, q: np.ndarray, tuples: sp.csr_array) -> np.ndarray:
        """Return expected numbers of records with each value for some QI tuples; `tuples` counts records by bucket."""
        if self.signature is None:
            return np.asarray((tuples / self.groups.sizes @ self.values.T).toarray())
        entries = sp.coo_array(tuples)
        at, bucket = entries.coords
        row = bucket * len(self.groups.prior) + self.signature[q[at]]
        return np.asarray(
            (sp.csr_array((entries.data, (at, row)), (len(q), self._share.shape[0])) @ self._share).toarray()
        )

    def slot(self, bucket: int, people: np.ndarray, q: np.ndarray, mentioned: Sequence[int]) -> Slot:
        """Make the slot of a bucket for several people, given their QI tuples and the values in sentences."""
        of_kind, kind = np.unique(q, return_inverse=True)
        capacity = np.asarray(self.tuples[of_kind, [bucket] * len(of_kind)]).ravel().astype(np.int64)
        at = slice(*self.values.indptr[bucket : bucket + 2])
        classes, n_values = self.values.indices[at].astype(np.int64), self.values.data[at].astype(np.int64)
        others = np.zeros(self.values.shape[0])
        if self.signature is not None:
            groups = self.groups
            at = slice(*groups.tuples.indptr[bucket : bucket + 2])
            signatures, n = groups.tuples.indices[at], groups.tuples.data[at].astype(np.int64)
            with np.errstate(divide="ignore"):
                log_prior = np.log(groups.prior[np.ix_(signatures, classes)])
            residual_group = ResidualGroup(log_prior, n, n_values, groups.names[bucket], self.limit)
            signature_of_kind = np.searchsorted(signatures, self.signature[of_kind])
            return residual_group.slot(people, kind.reshape(-1), signature_of_kind, capacity, classes, len(others))
        # Values that no sentence mentions are interchangeable: they form one class, later split by their shares.
        named = np.isin(classes, mentioned)
        if n_others := int(n_values[~named].sum()):
            others[classes[~named]] = n_values[~named] / n_others
        classes = np.concatenate([classes[named], np.full(int(n_others > 0), -1)])
        n_values = np.concatenate([n_values[named], np.full(int(n_others > 0), n_others)])
        log_prior = np.zeros((len(of_kind), len(classes)))
        return Slot(people, kind.reshape(-1), capacity, classes, n_values, log_prior, others, closed_form(n_values))

    def slot_alone(self, person: int, q: int, buckets: np.ndarray, mentioned: Sequence[int]) -> Slot:
        """Make the slot of all buckets that can contain one person, but no other person linked by sentences."""
        tuples = self.tuples[[q]].multiply(np.isin(np.arange(self.tuples.shape[1]), buckets))
        weight = self.expected(np.array([q]), sp.csr_array(tuples))[0]
        named = np.array([value for value in mentioned if weight[value] > 0], dtype=np.int64)
        others = weight.copy()
        others[named] = 0.0
        classes, of_class = named, weight[named]
        if (of_others := others.sum()) > 0:
            classes, of_class, others = np.append(named, -1), np.append(of_class, of_others), others / of_others
        ones = np.ones(len(classes), dtype=np.int64)
        return Slot(
            np.array([person]), np.zeros(1, dtype=np.int64), ones[:1], classes, ones, np.log(of_class)[None], others,
            lambda u, c: np.zeros(len(u)),
        )  # fmt: skip


def known_people(
    release: Release,
    prior: QIDistribution | None,
    key: tuple[str, ...],
    people: People,
    knowledge: object,
    limit: float,
) -> pd.DataFrame:
    """Return P(s | person) given the sentences, see :func:`maxent_cvx.worlds.linkage`."""
    of_tuple, which = np.unique(people.q, return_inverse=True)
    possible = PossibleBuckets.of(release, prior, key, of_tuple, limit)
    known = PersonKnowledge.of(knowledge, people.names, release.sensitive_values, "described person")
    linked = _Linked(possible, people.q, known, Residuals())
    expected = possible.expected(of_tuple, possible.tuples[of_tuple])
    share = (expected / expected.sum(axis=1, keepdims=True))[which.reshape(-1)]
    every = linked.parts()
    for part in every:
        log_total, share[part.people] = linked.conditioned(part, part.sentences)
        if np.isinf(log_total):
            raise contradiction(part.sentences, partial(linked.possible, part))
    linked.with_bystanders(every, share)
    return pd.DataFrame(share, index=people.names, columns=release.sensitive_values)


@dataclass(frozen=True, eq=False)
class _Part:
    """People linked by sentences or buckets, by position, and the sentences about them."""

    people: np.ndarray
    sentences: list[Sentence]


@dataclass(frozen=True, eq=False)
class _Linked:
    """Named people of a release, and the sentences about them."""

    buckets: PossibleBuckets
    q: np.ndarray  # the QI tuple of each person
    known: PersonKnowledge
    residuals: Residuals

    def parts(self) -> list[_Part]:
        """Partition the people in sentences into parts that neither a sentence nor a bucket links."""
        about = [
            (n, person) for n, sentence in enumerate(self.known.sentences) for person in self.known.about(sentence)
        ]
        if not about:
            return []
        sentence, person = np.array(about).T
        n, named = len(self.known.sentences), np.unique(person)
        by_sentence = sp.csr_array((np.ones(len(about)), (person, sentence)), shape=(len(self.q), n))
        links = sp.csr_array(sp.hstack([by_sentence[named], self.buckets.tuples[self.q[named]]]))
        of_person, of_link = components(links)
        return [
            _Part(
                named[of_person == component],
                [self.known.sentences[i] for i in np.flatnonzero(of_link[:n] == component)],
            )
            for component in np.unique(of_person)
        ]

    def conditioned(self, part: _Part, sentences: list[Sentence]) -> tuple[float, np.ndarray]:
        """Return the log weight of the worlds in which sentences are true, and P(s | person) in them."""
        true = self.residuals.every(self.residuals.of(sentence, self.known.positions) for sentence in sentences)
        places = list(self._places(part))
        worlds: Conditioned = conditioned(places, self.residuals, true, self.buckets.limit)
        share = np.zeros((len(part.people), self.buckets.values.shape[0]))
        for place, of_class in zip(places, worlds.shares, strict=False):  # no shares if there are no such worlds
            np.add.at(share, np.searchsorted(part.people, place.people), place.of_values(of_class))
        return worlds.log_total, share

    def possible(self, part: _Part, sentences: list[Sentence]) -> bool:
        """Return whether there is a world in which the sentences are true."""
        return bool(np.isfinite(self.conditioned(part, sentences)[0]))

    def with_bystanders(self, linked_parts: list[_Part], share: np.ndarray) -> None:
        """Update P(s | person) of people without sentences who can be in a bucket with people of a part."""
        mentioned = np.isin(np.arange(len(self.q)), [person for part in linked_parts for person in part.people])
        touched = [np.unique(self.buckets.tuples[self.q[part.people]].indices) for part in linked_parts]
        # A person without sentences is affected if a linked person can be in one of the person's buckets.
        for q in np.unique(self.q[~mentioned]).tolist():  # people with the same QI tuple have the same answer
            buckets = self.buckets.of_tuple(q)
            beside = [
                part for part, of_part in zip(linked_parts, touched, strict=True) if np.isin(buckets, of_part).any()
            ]
            if not beside:
                continue
            like = np.flatnonzero(~mentioned & (self.q == q))
            people = np.sort(np.concatenate([like[:1], *(part.people for part in beside)]))
            sentences = [sentence for part in beside for sentence in part.sentences]
            _, of_people = self.conditioned(_Part(people, sentences), sentences)
            share[like] = of_people[np.searchsorted(people, like[0])]

    def _places(self, part: _Part) -> Iterator[Slot]:
        """Yield the slots of a part: each bucket for several people, and each person's other buckets together."""
        q = self.q[part.people]
        mentioned = sorted({value for person, value in self.known.positions.values() if person in part.people})
        # A bucket that can contain only one linked person only adds to the distribution of this person.
        where = sp.csc_array(self.buckets.tuples[q])
        number_here = np.diff(where.indptr)
        for bucket in np.flatnonzero(number_here > 1).tolist():
            members = np.sort(where.indices[slice(*where.indptr[bucket : bucket + 2])])
            yield self.buckets.slot(bucket, part.people[members], q[members], mentioned)
        for person, tuple_of_person in zip(part.people.tolist(), q.tolist(), strict=True):
            buckets = self.buckets.of_tuple(tuple_of_person)
            if len(alone := buckets[number_here[buckets] == 1]):
                yield self.buckets.slot_alone(person, tuple_of_person, alone, mentioned)


def linkage(
    release: Release,
    prior: QIDistribution | None = None,
    attributes: str | Sequence[str] | None = None,
    *,
    people: Mapping[Any, Mapping[str, object]] | pd.DataFrame | None = None,
    knowledge: Iterable[Sentence | str] = (),
    limit: float = STEPS,
) -> pd.Series | pd.DataFrame:
    """Compute exact P(t : x) of every tuple and value of a release, or P(x | person) given sentences about people.

    A world assigns records to people, and the values of each bucket to its records. Its weight is the product of its
    records' priors, and 0 if a sentence is false in it; without a prior, all worlds are equally likely. The sums are
    computed by dynamic programming over the buckets of the people linked by sentences; only these buckets, and the
    values in the sentences, matter.

    Parameters
    ----------
    release : Release
        Without counterfeits.
    prior : QIDistribution, optional
        The adversary's beliefs, P(s | signature).
    attributes : str or list of str, optional
        The attribute set of the prior; not needed if the prior has only one.
    people : dict of dict, or DataFrame, optional
        All QI values of named people, as for :class:`maxent_cvx.MaxEnt`. A person can be any record with these values,
        in any bucket; two people are never the same record.
    knowledge : list of Sentence or str, optional
        Knowledge about the people: ``"Ann=HIV or Bob=HIV"``, see :func:`read_sentence`, or objects, see :func:`has`.
    limit : float
        The maximum number of steps per bucket, and per set of linked people; see :func:`posterior`.

    Returns
    -------
    Series, or DataFrame
        Probabilities. Without `people`, a Series by bucket, signature (one level per attribute) and sensitive value;
        with `people`, a DataFrame, one row per person and one column per sensitive value.

    Raises
    ------
    StatementError
        If the view is not a release, or has counterfeits; if the prior is not a :class:`maxent_cvx.QIDistribution`; if
        a description of people is invalid, or matches nobody; or if a sentence cannot be parsed.
    UnknownName
        If the prior lacks a signature or a value of the release; or a sentence contains an unknown person or value.
    Infeasible
        If the prior excludes every world of a bucket, or sentences contradict each other; the message names an
        irreducible set.
    GroupTooLarge
        If more steps are needed than the limit allows.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> print(mx.worlds.linkage(release, prior).unstack("Disease").loc[3, ["Flu", "HIV", "Lung Cancer"]].round(3))
    Disease    Flu    HIV  Lung Cancer
    Gender
    female   0.136  0.409        0.455
    male     0.727  0.182        0.091

    Two of Alice, Bob and Charlie have HIV (Privacy-MaxEnt, section 6; its constraints give .382 and .618):

    >>> known = mx.worlds.linkage(
    ...     release,
    ...     people={
    ...         "Alice": {"Gender": "male", "Degree": "college"},
    ...         "Bob": {"Gender": "female", "Degree": "college"},
    ...         "Charlie": {"Gender": "female", "Degree": "graduate"},
    ...     },
    ...     knowledge=["exactly 2 of (Alice=HIV, Bob=HIV, Charlie=HIV)"],
    ... )
    >>> known["HIV"].round(3).to_dict()
    {'Alice': 1.0, 'Bob': 0.333, 'Charlie': 0.667}
    """
    check_release(release, prior, optional=True)
    limit = check_number(limit, "limit")
    if prior is None and attributes is not None:
        raise StatementError(f"attributes must be omitted without a prior, got {short_repr(attributes)}")
    key = () if prior is None else prior.attribute_set(attributes)
    sentences = listed(knowledge)
    if people is not None:
        return known_people(release, prior, key, People.of(people, release), sentences, limit)
    if sentences:
        raise StatementError(
            "knowledge about people requires their quasi-identifiers; pass people={name: {attribute: value}}"
        )
    groups = Groups.of(release, prior, key)
    group, u, v = groups.pairs
    share = groups.values.data[v] / groups.sizes[group] if prior is None else linked(groups, limit)
    signatures = release.quasi_identifiers if prior is None else prior.tables[key].index
    of_tuple = attach(groups.names, group, signatures, groups.tuples.indices[u])
    labels = attach(of_tuple, np.arange(len(group)), release.sensitive_values, groups.values.indices[v])
    return pd.Series(share, index=labels, name="P(t : x)").sort_index()


def r_robustness(release: Release, prior: QIDistribution, *, limit: float = STEPS) -> pd.DataFrame:
    """Compute the largest P(t : x) over the tuples t of each bucket, by value x; r-robust means that all are <= 1/r.

    Parameters
    ----------
    release : Release
        Without counterfeits.
    prior : QIDistribution
        The prior, whose attribute sets are one adversary each.
    limit : float
        See :func:`posterior`.

    Returns
    -------
    DataFrame
        By bucket and sensitive value: `largest`, a probability; `r`, 1 / largest; and the `attributes` and `signature`
        of the tuples that attain it. The release is r-robust for ``table["r"].min()`` over the sensitive values.

    Raises
    ------
    StatementError
        If the view is not a release, or has counterfeits; or the prior is not a :class:`maxent_cvx.QIDistribution`.
    UnknownName
        If the prior lacks a signature or a value of the release.
    Infeasible
        If the prior excludes every world of a bucket.
    GroupTooLarge
        If more steps are needed than the limit allows.

    Notes
    -----
    Probabilistic Inference Protection, Definition 3.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> result = mx.worlds.r_robustness(release, prior)
    >>> print(result.loc[3].round(3))
                 largest      r attributes  signature
    Disease
    Flu            0.727  1.375     Gender    (male,)
    HIV            0.409  2.444     Gender  (female,)
    Lung Cancer    0.455  2.200     Gender  (female,)
    >>> result["r"].min().round(3).item()                  # of the whole release
    1.278
    """
    check_release(release, prior)
    signatures = pd.DataFrame(
        [(", ".join(key), signature) for key in prior.attribute_sets for signature in prior.tables[key].index],
        columns=["attributes", "signature"],
    )
    pairs, start = [], 0
    for key in prior.attribute_sets:
        groups = Groups.of(release, prior, key)
        _, u, v = groups.pairs
        pairs.append((linked(groups, limit), v, start + groups.tuples.indices[u]))
        start += len(prior.tables[key])
    p, value, signature = map(np.concatenate, zip(*pairs, strict=True))
    order = np.lexsort((-p, value))  # for every value of every bucket, the tuples with the largest P come first
    first = order[np.unique(value[order], return_index=True)[1]]
    labels = attach(groups.names, groups.group_of_value, release.sensitive_values, groups.values.indices)
    worst = signatures.iloc[signature[first]].set_axis(labels)
    worst.insert(0, "largest", p[first])
    worst.insert(1, "r", 1 / p[first])
    return worst
