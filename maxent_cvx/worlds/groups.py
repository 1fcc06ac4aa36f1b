"""Groups of tuples: how many have each signature, and how often each value occurs among them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import StatementError
from ..priors import QIDistribution
from ..tables.coding import ranges, tally
from ..views import Release
from .reading import checked_priors

__all__ = ["Groups", "some_world"]


@dataclass(frozen=True, eq=False)
class Groups:
    """Many groups L, and prior probabilities of their values given their tuples' signatures.

    A pair is a signature and a value that occur in one group: tuples of one signature are indistinguishable, so that
    P(t : x) is one number for each pair. Pairs are sorted by group, then signature, then value.

    Attributes
    ----------
    prior : ndarray, shape (signatures, values)
        f = p(s : x), probabilities.
    tuples : csc_array, shape (signatures, groups)
        How many tuples of each signature a group has, counts.
    values : csc_array, shape (values, groups)
        How often each value occurs in it, counts.
    names : Index
        What the groups are called.
    """

    prior: np.ndarray
    tuples: sp.csc_array
    values: sp.csc_array
    names: pd.Index

    @classmethod
    def of(cls, release: Release, prior: QIDistribution | None, attributes: tuple[str, ...]) -> Self:
        """The buckets of a release, their tuples known by an attribute set, or without a prior by all attributes.

        Raises
        ------
        StatementError
            If the release has counterfeits.
        UnknownName
            If the prior lacks a signature or a value.
        """
        if release.with_counterfeits.any():
            raise StatementError("the release has counterfeits: a world deals every value to somebody; leave them out")
        if prior is None:
            alike = np.broadcast_to(1.0, (release.n_qb.shape[0], release.n_sb.shape[0]))
            return cls(alike, _sorted(release.n_qb), _sorted(release.n_sb), release.buckets)
        signature = prior.rows(release.quasi_identifiers, attributes)
        table = prior.tables[attributes].to_numpy()[:, prior.columns(release.sensitive_values)]
        ones, shape = np.ones(len(signature), dtype=np.int64), (len(table), len(signature))
        tuples = sp.csr_array((ones, (signature, np.arange(len(signature)))), shape=shape) @ release.n_qb
        return cls(table, _sorted(tuples), _sorted(release.n_sb), release.buckets)

    @classmethod
    def of_records(cls, prior: np.ndarray, group: np.ndarray, signature: np.ndarray, value: np.ndarray) -> Self:
        """Groups of records, given by the number of the group, from 0, and the positions of signature and value."""
        n = group.max(initial=-1) + 1
        tuples, values = (
            sp.csc_array(tally(code, group, (size, n), None))
            for code, size in zip((signature, value), prior.shape, strict=True)
        )
        return cls(prior, tuples, values, pd.RangeIndex(n))

    @classmethod
    def single(cls, group: pd.DataFrame, values: Sequence[Hashable]) -> tuple[Self, np.ndarray, np.ndarray]:
        """One group, from its tuples' priors and its values: with the signature and the columns that are meant.

        Tuples with equal priors have one signature.

        Returns
        -------
        Groups
        signature : ndarray of int, one a tuple
        column : ndarray of int
            Of the values that occur, where they are among the columns of `group`.
        """
        f, places = checked_priors(group, values)
        distinct, signature = np.unique(f, axis=0, return_inverse=True)
        signature = signature.reshape(-1)
        column = np.flatnonzero(places)
        n, m = np.bincount(signature), places[column]
        return (
            cls(distinct[:, column], _sorted(n[:, None]), _sorted(m[:, None]), pd.Index(["the group"])),
            signature,
            column,
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def sizes(self) -> np.ndarray:
        """N, the tuples of each group."""
        return np.asarray(self.tuples.sum(axis=0))

    @cached_property
    def width(self) -> tuple[np.ndarray, np.ndarray]:
        """How many signatures, and how many values, each group has."""
        return np.diff(self.tuples.indptr), np.diff(self.values.indptr)

    @cached_property
    def start(self) -> np.ndarray:
        """Where the pairs of each group begin, and where the last end."""
        return np.concatenate([[0], np.cumsum(self.width[0] * self.width[1])])

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every pair its group, and where its signature and its value are among the entries of both tables."""
        n_u, n_v = self.width
        group = np.repeat(np.arange(len(self)), n_u)  # of every signature of a group
        repeat = n_v[group]
        return (
            np.repeat(group, repeat),
            np.repeat(np.arange(len(group)), repeat),
            ranges(self.values.indptr[group], repeat),
        )

    @cached_property
    def f(self) -> np.ndarray:
        """The prior probability of every pair."""
        _, u, v = self.pairs
        return self.prior[self.tuples.indices[u], self.values.indices[v]]

    @cached_property
    def group_of_value(self) -> np.ndarray:
        """The group of every entry of `values`."""
        return np.repeat(np.arange(len(self)), self.width[1])

    def over_tuples(self, of_pair: np.ndarray, reduce: np.ufunc = np.maximum) -> np.ndarray:
        """The largest, or least, over the tuples of each group, one for every entry of `values`."""
        v = self.pairs[2]
        order = np.argsort(v, kind="stable")
        return np.asarray(reduce.reduceat(of_pair[order], np.unique(v[order], return_index=True)[1]))

    def without_world(self) -> np.ndarray:
        """Mark the groups of which the prior rules out every world."""
        without = np.zeros(len(self), dtype=bool)
        for one in np.unique(self.pairs[0][self.f == 0]):  # few, or nothing is known of what is possible
            n, m = (slice(*table.indptr[one : one + 2]) for table in (self.tuples, self.values))
            possible = self.prior[np.ix_(self.tuples.indices[n], self.values.indices[m])] > 0
            without[one] = not some_world(possible, self.tuples.data[n], self.values.data[m])
        return without

    def alike(self, some: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Put groups together that have equally many signatures and values, for arrays with an axis for each.

        Yields
        ------
        groups : ndarray of int
        signature, value : ndarray of int, shape (groups, signatures) and (groups, values)
            Where these are among the entries of both tables.
        """
        shapes, which = np.unique(np.column_stack(self.width)[some], axis=0, return_inverse=True)
        for i, (n_u, n_v) in enumerate(shapes):
            groups = some[which.reshape(-1) == i]
            yield (
                groups,
                self.tuples.indptr[groups][:, None] + np.arange(n_u),
                self.values.indptr[groups][:, None] + np.arange(n_v),
            )


def some_world(possible: np.ndarray, tuples: np.ndarray, values: np.ndarray) -> bool:
    """Whether every tuple can have a value: a matching of tuples and places, of a group's signatures and values."""
    if possible.all():
        return True
    every = sp.csr_array(np.repeat(np.repeat(possible, values, axis=1), tuples, axis=0))
    return bool((sp.csgraph.maximum_bipartite_matching(every, perm_type="column") >= 0).all())


def _sorted(counts: np.ndarray | sp.sparray) -> sp.csc_array:
    """A table of counts by columns, its entries in order and none of them 0."""
    table = sp.csc_array(counts)
    table.eliminate_zeros()
    table.sort_indices()
    return table
