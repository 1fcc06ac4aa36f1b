"""A release as named people see it: which records they may be, and what those may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.sparse as sp

from ...priors import QIDistribution
from ...views import Release
from ..groups import Groups
from ..linked import impossible, linked
from .places import Place, closed_form
from .rest import Rest

__all__ = ["Published"]


@dataclass(frozen=True, eq=False)
class Published:
    """The buckets of a release, and what is believed of their tuples, if anything.

    Attributes
    ----------
    release : Release
    tuples : csr_array, shape (tuples, buckets)
        How many records each QI tuple has in each bucket.
    groups : Groups
        The buckets, with the prior.
    signature : ndarray of int, one a QI tuple
        The row of the prior; None where all worlds are equally likely.
    limit : float
        Steps that are allowed.
    """

    release: Release
    tuples: sp.csr_array
    groups: Groups
    signature: np.ndarray | None
    limit: float

    @classmethod
    def of(cls, release: Release, prior: QIDistribution | None, key: tuple[str, ...], limit: float) -> Self:
        """Read a release, with the prior of an attribute set or none.

        Raises
        ------
        Infeasible
            If the prior rules out every world of a bucket, whoever may be in it.
        """
        groups = Groups.of(release, prior, key)
        if prior is not None and (without := groups.without_world()).any():
            raise impossible(groups.names[without])
        signature = None if prior is None else prior.rows(release.quasi_identifiers, key)
        return cls(release, sp.csr_array(release.n_qb), groups, signature, limit)

    @property
    def values(self) -> sp.csc_array:
        """How often each value occurs in each bucket."""
        return self.groups.values

    def buckets_of(self, q: int) -> np.ndarray:
        """Where a QI tuple has records."""
        return self.tuples.indices[slice(*self.tuples.indptr[q : q + 2])]

    def touched(self, q: np.ndarray) -> np.ndarray:
        """The buckets in which any of some QI tuples has records."""
        return np.unique(self.tuples[np.unique(q)].indices)

    def believed(self, q: np.ndarray) -> Believed:
        """What each of some QI tuples has in each of its buckets, before anything else is known."""
        if self.signature is None:
            return Believed(self, np.empty(0, dtype=np.int64), None)
        some = self.touched(q)
        groups = replace(
            self.groups,
            tuples=self.groups.tuples[:, some],
            values=self.groups.values[:, some],
            names=self.groups.names[some],
        )
        share = linked(groups, self.limit)
        group, u, v = groups.pairs
        row = group * len(groups.prior) + groups.tuples.indices[u]
        shape = (len(some) * len(groups.prior), self.values.shape[0])
        return Believed(self, some, sp.csr_array((share, (row, groups.values.indices[v])), shape=shape))

    def place(self, bucket: int, people: np.ndarray, q: np.ndarray, mentioned: Sequence[int]) -> Place:
        """A bucket in which several people may be, given their QI tuples and the values that sentences mention."""
        of_kind, kind = np.unique(q, return_inverse=True)
        room = np.asarray(self.tuples[of_kind, [bucket] * len(of_kind)]).ravel().astype(np.int64)
        at = slice(*self.values.indptr[bucket : bucket + 2])
        classes, left = self.values.indices[at].astype(np.int64), self.values.data[at].astype(np.int64)
        others = np.zeros(self.values.shape[0])
        if self.signature is not None:
            log_prior, log_rest = self._with_prior(bucket, self.signature[of_kind], classes, left)
            return Place(people, kind.reshape(-1), room, classes, left, log_prior, others, log_rest)
        named = np.isin(classes, mentioned)
        if n_others := int(left[~named].sum()):
            others[classes[~named]] = left[~named] / n_others
        classes = np.concatenate([classes[named], np.full(int(n_others > 0), -1)])
        left = np.concatenate([left[named], np.full(int(n_others > 0), n_others)])
        log_prior = np.zeros((len(of_kind), len(classes)))
        return Place(people, kind.reshape(-1), room, classes, left, log_prior, others, closed_form(left))

    def _with_prior(
        self, bucket: int, signature: np.ndarray, classes: np.ndarray, left: np.ndarray
    ) -> tuple[np.ndarray, Callable[[np.ndarray, np.ndarray], np.ndarray]]:
        """Logarithms of the priors of people with some signatures in a bucket, and what its others count."""
        groups = self.groups
        at = slice(*groups.tuples.indptr[bucket : bucket + 2])
        signatures, n = groups.tuples.indices[at], groups.tuples.data[at].astype(np.int64)
        with np.errstate(divide="ignore"):
            log_prior = np.log(groups.prior[np.ix_(signatures, classes)])
        own = (signatures == signature[:, None]).astype(np.int64)  # kinds x signatures
        rest = Rest(log_prior, n, left, self.release.buckets[bucket], self.limit)
        return log_prior[own.argmax(axis=1)], lambda u, c: rest.log_weights(u @ own, c)


@dataclass(frozen=True, eq=False)
class Believed:
    """P(t : x) of some QI tuples in their buckets, before anything else is known.

    Attributes
    ----------
    published : Published
    some : ndarray of int
        The buckets that a prior was asked about, sorted.
    share : csr_array or None
        By bucket and signature; None where the shares of the buckets are everybody's.
    """

    published: Published
    some: np.ndarray
    share: sp.csr_array | None

    def expected(self, q: np.ndarray, tuples: sp.csr_array) -> np.ndarray:
        """How many records of some QI tuples, counted in `tuples` by bucket, have each value, expected numbers."""
        published = self.published
        if self.share is None or published.signature is None:
            return np.asarray((tuples / published.groups.sizes @ published.values.T).toarray())
        entries = sp.coo_array(tuples)
        at, bucket = entries.coords
        row = np.searchsorted(self.some, bucket) * len(published.groups.prior) + published.signature[q[at]]
        return np.asarray(
            (sp.csr_array((entries.data, (at, row)), shape=(len(q), self.share.shape[0])) @ self.share).toarray()
        )

    def alone(self, person: int, q: int, buckets: np.ndarray, mentioned: Sequence[int]) -> Place:
        """All buckets in which somebody may be, and nobody else whom the sentences link."""
        tuples = self.published.tuples[[q]].multiply(np.isin(np.arange(self.published.tuples.shape[1]), buckets))
        weight = self.expected(np.array([q]), sp.csr_array(tuples))[0]
        named = np.array([value for value in mentioned if weight[value] > 0], dtype=np.int64)
        others = weight.copy()
        others[named] = 0.0
        rest = float(others.sum())
        classes = np.concatenate([named, np.full(int(rest > 0), -1)])
        with np.errstate(divide="ignore"):
            log_prior = np.log(np.concatenate([weight[named], np.full(int(rest > 0), rest)]))[None]
        one = np.ones(len(classes), dtype=np.int64)
        return Place(
            np.array([person]), np.zeros(1, dtype=np.int64), one[:1], classes, one, log_prior,
            others / rest if rest > 0 else others, lambda u, c: np.zeros(len(u)),
        )  # fmt: skip
