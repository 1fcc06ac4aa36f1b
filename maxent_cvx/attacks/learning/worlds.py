"""The expectation step: who of every bucket has which value, over its possible worlds, each weighed by a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import Infeasible, listing
from ...views import Release
from ...views.base import attach
from ...worlds.groups import Groups
from ...worlds.linked import weighed

__all__ = ["BucketWorlds"]


@dataclass(frozen=True, eq=False)
class BucketWorlds:
    """The worlds of all buckets, which deal each bucket's values to its people.

    A counterfeit is dealt to somebody of whom no quasi-identifiers are published: one QI tuple more, the last.
    """

    release: Release

    @cached_property
    def groups(self) -> Groups:
        """The buckets; all priors are 1, so that all worlds are equally likely."""
        release = self.release
        lacking = np.asarray(release.n_sb.sum(axis=0) - release.n_qb.sum(axis=0))
        tuples, values = (
            sp.csc_array(sp.vstack([release.n_qb, sp.csr_array(lacking[None])])),
            sp.csc_array(release.n_sb),
        )
        for table in (tuples, values):
            table.eliminate_zeros()
            table.sort_indices()
        return Groups(np.ones((tuples.shape[0], values.shape[0])), tuples, values, release.buckets)

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The bucket and the QI tuple of every row of a table, sorted by both."""
        tuples = self.groups.tuples
        bucket = np.repeat(np.arange(len(self.groups)), np.diff(tuples.indptr))
        known = tuples.indices < len(self.release.quasi_identifiers)
        return bucket[known], tuples.indices[known]

    @cached_property
    def records(self) -> np.ndarray:
        """How many people each row is of."""
        tuples = self.groups.tuples
        return np.asarray(tuples.data[tuples.indices < len(self.release.quasi_identifiers)])

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which pairs of the groups are of people with quasi-identifiers; their rows, and their values."""
        _, u, v = self.groups.pairs
        known = self.groups.tuples.indices < len(self.release.quasi_identifiers)
        here = known[u]
        return here, (np.cumsum(known) - 1)[u[here]], self.groups.values.indices[v[here]]

    @property
    def index(self) -> pd.MultiIndex:
        """The labels of the rows: bucket and quasi-identifiers."""
        bucket, q = self.rows
        return attach(self.release.buckets, bucket, self.release.quasi_identifiers, q)

    def equally_likely(self) -> np.ndarray:
        """P(s | q, b) = n(s, b) / n(b), shape (rows, values): the bucket's shares."""
        n_sb = self.release.n_sb
        shares = (n_sb / n_sb.sum(axis=0)[None]).T.tocsr()
        return np.asarray(shares[self.rows[0]].todense())

    def expected(self, p: np.ndarray) -> np.ndarray:
        """How many records with each QI tuple have each value, shape (tuples, values)."""
        every = np.arange(len(p))
        of = sp.csr_array((self.records, (self.rows[1], every)), (len(self.release.quasi_identifiers), len(p)))
        return np.asarray(of @ p)

    def posterior(self, log_f: np.ndarray, limit: float) -> tuple[np.ndarray, float]:
        """P(s | q, b) in proportion to the worlds' weights, shape (rows, values), and the log-likelihood, nats.

        Parameters
        ----------
        log_f : ndarray, shape (tuples, values)
            log P(q, s), or log P(s | q).
        limit : float
            Steps that a bucket may take.
        """
        n_s = self.release.n_s
        found, total = weighed(self.groups, np.vstack([log_f, np.log(n_s / n_s.sum())]), limit)
        if (without := np.isneginf(total)).any():
            raise Infeasible(
                f"the classifier rules out every possible world of {listing(self.release.buckets[without])}: whoever "
                "is given the values, somebody has one of probability 0; choose a classifier that is less sure"
            )
        here, row, value = self._pairs
        p = np.zeros((len(self.records), len(n_s)))
        p[row, value] = found[here]
        return p, float(total.sum())
