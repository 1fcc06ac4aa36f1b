"""Records of two releases that may be of one person: the terms, and what is published of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import TableError
from ...sources import Source
from ...tables.coding import ranges
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import View
from .overlap import Overlap
from .slots import Slots

__all__ = ["MatchedRecords", "PublishedSlots"]

#: The roles of the records of the first and of the second release.
SIDES = ("first", "second")
#: Pairs of records and values that are looked at, at most: some 100 bytes each.
MOST_PAIRS = 30_000_000


class MatchedRecords(View):
    """Two releases with N people in all: terms P(k, s, u1, u2), for people of kind k with the records u1 and u2.

    A kind is: in both, one kind a QI tuple if it is known how many of each are, else one of all; in the first release
    alone; in the second alone. Who is not in a release has its last record, "none".

    Attributes
    ----------
    tuple_of : ndarray of int, one a term
        The QI tuple of those in both, -1 of others.
    """

    noun: ClassVar[str] = "pair of releases"
    qi, sensitive = ("kind",), ("value",)

    def __init__(self, slots: tuple[Slots, Slots], overlap: Overlap, values: pd.Index) -> None:
        self.slots, self.overlap = slots, overlap
        self.sensitive_values = pd.RangeIndex(len(values), name="value")
        n_both = np.array([overlap.number]) if overlap.people is None else overlap.people
        alone = np.array([one.n.sum() - overlap.number for one in slots])
        self._n_q = np.concatenate([n_both, alone[alone > 0]])
        self.both = np.arange(len(n_both))
        kind = len(n_both) + np.cumsum(alone > 0) - 1
        none = [len(one.n) for one in slots]
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
        """People of each kind, counts."""
        return self._n_q

    @property
    def n_s(self) -> None:
        """How many people in all have a value is not published: those in both are counted twice."""
        return None

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """Kinds, values, records of the first release, records of the second."""
        records = {
            name: ((name,), pd.RangeIndex(len(one.n) + 1, name=name))
            for name, one in zip(SIDES, self.slots, strict=True)
        }
        return {**super().axes, **records}

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """People of each kind."""
        return {("q",): pd.Series(self._n_q, pd.RangeIndex(len(self._n_q), name="kind"))}

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms: values that both buckets hold, for those in both; those of the bucket, for others."""
        return self._terms


class PublishedSlots(Source):
    """sum P(k, s, u1, u2) over k, s, u2 = n(u1) / N, and over u1 in b and k, u2 = n(s, b) / N; so of both releases."""

    def __init__(self, view: MatchedRecords) -> None:
        self.view = view

    label = "two releases"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a kind of records, and a row a value of each bucket, but for one a bucket, which follows."""
        for side, slots in zip(SIDES, self.view.slots, strict=True):
            u, s = space.codes[side], space.codes["s"]
            here = np.flatnonzero(u < len(slots.n))
            yield self._counted(space, here, u[here], slots.n, f"records of the {side} release")
            in_s, in_b = slots.n_sb.nonzero()
            last = np.unique(in_b[::-1], return_index=True)[1]
            kept = np.ones(len(in_b), dtype=bool)
            kept[len(in_b) - 1 - last] = False
            place = sp.csr_array((np.arange(1, len(in_s) + 1), (in_s, in_b)), shape=slots.n_sb.shape)
            row = np.asarray(place[s[here], slots.bucket[u[here]]]).reshape(-1) - 1
            counts = np.asarray(slots.n_sb.tocsr()[in_s, in_b]).reshape(-1)
            rows = self._counted(space, here, row, counts, f"values in buckets of the {side} release")
            yield rows.at(np.flatnonzero(kept))

    def _counted(self, space: Space, terms: np.ndarray, row: np.ndarray, counts: np.ndarray, label: str) -> Rows:
        """Say that terms sum to counts of people."""
        each = np.full(len(terms), float(space.n_records))
        matrix = sp.csr_array((each, (row, terms)), shape=(len(counts), len(space)))
        side = counts.astype(float)
        return Rows(matrix, side, side, label, pd.RangeIndex(len(counts)), space.view, exact=True)


def _pairs(slots: tuple[Slots, Slots]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """QI tuple, both records and value of those in both: the records that the tuple can be, the values of both."""
    first, second = (sp.csr_array(one.may_be) for one in slots)
    wide = np.diff(second.indptr)
    row = np.repeat(np.arange(first.shape[0]), np.diff(first.indptr))
    n_pairs = int(wide[row].sum())
    by_bucket = slots[0].n_sb.tocsc()
    n_values = np.diff(by_bucket.indptr)[slots[0].bucket[first.indices]]
    if (size := int((wide[row] * n_values).sum())) > MOST_PAIRS:
        raise TableError(
            f"{n_pairs} pairs of records may be of one person, with {size} values in all: {MOST_PAIRS} are allowed; "
            "ask of fewer people, or with overlap=None, which looks at one release after the other"
        )
    u1 = np.repeat(first.indices, wide[row]).astype(np.int64)
    u2 = second.indices[ranges(second.indptr[row], wide[row])].astype(np.int64)
    q = np.repeat(row, wide[row])
    b = slots[0].bucket[u1]
    many = np.diff(by_bucket.indptr)[b]
    s = by_bucket.indices[ranges(by_bucket.indptr[b], many)].astype(np.int64)
    q, u1, u2 = (np.repeat(part, many) for part in (q, u1, u2))
    both = np.asarray(slots[1].n_sb.tocsr()[s, slots[1].bucket[u2]]).reshape(-1) > 0
    return q[both], u1[both], u2[both], s[both]


def _alone(slots: Slots, overlap: Overlap) -> tuple[np.ndarray, np.ndarray]:
    """Record and value of those in one release alone: none of records that are all of people in both."""
    free = np.arange(len(slots.n))
    if overlap.people is not None:
        taken = (overlap.people == slots.may_be @ slots.n).astype(float)
        free = np.flatnonzero(taken @ slots.may_be == 0)
    by_bucket = slots.n_sb.tocsc()
    many = np.diff(by_bucket.indptr)[slots.bucket[free]]
    s = by_bucket.indices[ranges(by_bucket.indptr[slots.bucket[free]], many)].astype(np.int64)
    return np.repeat(free, many), s
