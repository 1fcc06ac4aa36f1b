"""Tables by which notebooks show what is published: buckets, groups, quasi-identifiers, values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..display import FirstRows

__all__ = ["first_buckets", "first_groups", "first_of_counts", "listed", "releases_of"]

#: Buckets or groups that are shown, and the labels that are listed of each.
SHOWN, LISTED = 10, 6


def first_buckets(
    buckets: pd.Index, n_qb: sp.csr_array, n_sb: sp.csr_array, quasi_identifiers: pd.Index, values: pd.Index
) -> FirstRows:
    """The first buckets, a row each: how many people, their QI tuples and sensitive values with their numbers."""
    some = buckets[:SHOWN]
    of_q, of_s = (counts[:, : len(some)].tocsc() for counts in (n_qb, n_sb))
    table = pd.DataFrame(
        {
            "people": np.asarray(of_q.sum(axis=0)),
            ", ".join(map(str, quasi_identifiers.names)) or "quasi-identifiers": [
                _column(of_q, b, quasi_identifiers) for b in range(len(some))
            ],
            ", ".join(map(str, values.names)): [_column(of_s, b, values) for b in range(len(some))],
        },
        index=some,
    )
    return FirstRows(table, "buckets", len(buckets))


def first_groups(
    groups: pd.Index, n_sb: sp.csr_array, cover: sp.csr_array, n_q: np.ndarray, values: pd.Index
) -> FirstRows:
    """The first groups of a population: records, the people who may be among them, and the sensitive values."""
    some = groups[:SHOWN]
    of_s = n_sb[:, : len(some)].tocsc()
    table = pd.DataFrame(
        {
            "records": np.asarray(of_s.sum(axis=0)),
            "people covered": cover[: len(some)].astype(bool).astype(np.int64) @ n_q,
            ", ".join(map(str, values.names)): [_column(of_s, b, values) for b in range(len(some))],
        },
        index=some,
    )
    return FirstRows(table, "groups", len(groups))


def first_of_counts(counts: pd.Series, of: str) -> FirstRows:
    """The first of some published counts, a row a label."""
    return FirstRows(counts.iloc[:SHOWN].to_frame("people"), of, len(counts))


def releases_of(releases: Sequence[Any], buckets: np.ndarray) -> FirstRows:
    """Releases in a row, a row each: people, how many of them are new or gone, buckets and values."""
    there = buckets >= 0
    before = np.vstack([np.zeros_like(there[:1]), there[:-1]])
    table = pd.DataFrame(
        {
            "people": there.sum(axis=1),
            "new": (there & ~before).sum(axis=1),
            "gone": (before & ~there).sum(axis=1),
            "buckets": [len(release.buckets) for release in releases],
            "values": [len(release.sensitive_values) for release in releases],
        },
        index=pd.RangeIndex(1, len(releases) + 1, name="release"),
    )
    return FirstRows(table, "releases")


def listed(labels: list[object], counts: list[int]) -> str:
    """Write labels with their numbers: "Flu (2), HIV"; of many the first, and how many there are."""
    texts = [
        (", ".join(map(str, one)) if isinstance(one, tuple) else str(one)) + (f" ({n})" if n != 1 else "")
        for one, n in zip(labels[:LISTED], counts[:LISTED], strict=True)
    ]
    return "; ".join(texts) + (f"; ... of {len(labels)}" if len(labels) > LISTED else "")


def _column(counts: sp.csc_array, at: int, labels: pd.Index) -> str:
    """The labels with a count in a column."""
    own = slice(counts.indptr[at], counts.indptr[at + 1])
    where, n = counts.indices[own], counts.data[own]
    order = np.argsort(where)
    return listed(list(labels[where[order]]), n[order].tolist())
