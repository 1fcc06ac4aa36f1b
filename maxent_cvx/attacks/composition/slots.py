"""Slots: the records of a release as an adversary sees them, whom each may be, and which values it may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import TableError
from ...views import OUTSIDE, GroupedRelease, Release

__all__ = ["Slots"]


@dataclass(frozen=True, eq=False)
class Slots:
    """Kinds of records u of one release: those of one bucket with the same published QI are alike.

    Attributes
    ----------
    n : ndarray
        Records of each kind, counts.
    bucket : ndarray of int
        The bucket of each.
    may_be : csr_array, shape (QI tuples, kinds)
        1 where somebody with the exact QI tuple can be such a record.
    most : ndarray
        How many people of each QI tuple may be in the release, at most, counts.
    n_sb : csc_array, shape (values, buckets)
        Records of each value in each bucket, counts; values are those of all releases together.
    """

    n: np.ndarray
    bucket: np.ndarray
    may_be: sp.csr_array
    n_sb: sp.csc_array
    most: np.ndarray

    @classmethod
    def of(cls, release: Release | GroupedRelease, tuples: pd.MultiIndex, values: pd.Index) -> Self:
        """Lay out a release for people with some QI tuples, and for the values of all releases.

        Raises
        ------
        TableError
            If its QI cannot be compared with those of other releases.
        """
        at = values.get_indexer(release.sensitive_values)
        s, b = release.n_sb.nonzero()
        held = np.asarray(release.sensitive_values.to_flat_index()[s] != OUTSIDE)
        shape = (len(values), len(release.buckets))
        n_sb = sp.csc_array(sp.csr_array((release.n_sb.data[held], (at[s[held]], b[held])), shape=shape))
        there, found = _places(release, tuples)
        if isinstance(release, GroupedRelease):
            size = np.asarray(n_sb.sum(axis=0))
            bucket = np.flatnonzero(size).astype(np.int64)
            n, own = size[bucket], sp.csr_array(release.cover[bucket].T)
        else:
            q, bucket = (np.asarray(code, dtype=np.int64) for code in release.n_qb.nonzero())
            n, own = release.n_qb.data, sp.csr_array((np.ones(len(q)), (q, np.arange(len(q)))))
        pick = sp.csr_array((np.ones(len(there)), (there, found)), shape=(len(tuples), own.shape[0]))
        may_be = sp.csr_array(pick @ own)
        most = np.minimum(may_be @ n, pick @ release.n_q).astype(np.int64)
        return cls(n, bucket, may_be, n_sb, most)

    def shares(self) -> np.ndarray:
        """P(s | q, in the release), or 0: every record that a person can be is as likely; (QI tuples, values)."""
        size = np.asarray(self.n_sb.sum(axis=0)).astype(float)
        weighted = self.may_be @ sp.diags_array(self.n / size[self.bucket])
        can_be = np.maximum(self.may_be @ self.n, 1)
        return np.asarray((weighted @ self.n_sb.T.tocsr()[self.bucket]).todense()) / can_be[:, None]


def _places(release: Release | GroupedRelease, tuples: pd.MultiIndex) -> tuple[np.ndarray, np.ndarray]:
    """Which QI tuples a release has, and where; its attributes may have another order."""
    known = release.quasi_identifiers
    try:
        found = (known.reorder_levels(list(tuples.names)) if len(release.qi) > 1 else known).get_indexer(tuples)
    except TypeError as error:
        raise TableError(f"QI of two releases cannot be compared: {error}; make their columns the same type") from error
    there = np.flatnonzero(found >= 0)
    return there, np.asarray(found)[there]
