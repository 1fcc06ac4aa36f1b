"""Views in files of format 2, of version 0.1.0: made again from the labels of the terms, and the published counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...tables.coding import sort_distinct
from ...views import GroupedRelease, QITable, Release, ReleaseSeries, View
from .labels import index_of, unpack

__all__ = ["read_view_of_format_2"]

#: The views that were written, by the name that is in the file.
VIEWS = {view.__name__: view for view in (GroupedRelease, QITable, Release, ReleaseSeries)}
#: The column of a published table that holds its counts, while it is read back.
COUNT = "N P"


def read_view_of_format_2(frame: pd.DataFrame, parts: dict[str, Any]) -> View:
    """Make the view again, from the counts that were published.

    Parameters
    ----------
    frame : DataFrame
        A row a term: its labels, and the published counts.
    parts : dict
        What was written down besides: type and columns, all sensitive values, a series' releases.
    """
    kind, roles, domain = VIEWS[parts["type"]], parts["roles"], parts["domain"]
    qi, sa = roles["q"], roles["s"]
    if kind is ReleaseSeries:
        return ReleaseSeries(
            replace(
                Release.from_tables(
                    unpack(one["people"]), unpack(one["values"]), qi=one["qi"], sa=sa,
                    bucket=one["bucket"], id=one["id"], count="Count", counterfeits=True,
                ),
                generalized=one["generalized"],
            )
            for one in parts["releases"]
        )  # fmt: skip
    if kind is Release:
        bucket = roles["bucket"][0]
        qi_table, sa_table = (
            frame[[*labels, bucket, count]].drop_duplicates().rename(columns={count: COUNT})
            for labels, count in ((qi, "N P(q,b)"), (sa, "N P(s,b)"))
        )
        found = Release.from_tables(qi_table, sa_table, qi=qi, sa=sa, bucket=bucket, count=COUNT, counterfeits=True)
        return replace(found, generalized=parts["generalized"])
    if kind is GroupedRelease:
        return _groups(frame, qi, sa[0], roles["bucket"][0], _unpack_labels(domain[0]).rename(sa[0]))
    levels = [_unpack_labels(level).rename(name) for level, name in zip(domain, sa, strict=True)]
    values = pd.MultiIndex.from_arrays(levels) if len(sa) > 1 else levels[0]
    distribution = None
    if "N P(s)" in frame.columns:
        by_value = frame[[*sa, "N P(s)"]].drop_duplicates().set_index(sa if len(sa) > 1 else sa[0])["N P(s)"]
        distribution = by_value.reindex(values, fill_value=0)
    people = frame[[*qi, "N P(q)"]].drop_duplicates()
    return QITable(people, qi=qi, sa=sa, sa_values=values, sa_distribution=distribution, count="N P(q)")


def _groups(frame: pd.DataFrame, qi: list[str], sa: str, bucket: str, values: pd.Index) -> View:
    """Make groups of a population again; terms are sorted by group, and every group has one of each tuple it covers."""
    q, tuples = sort_distinct(frame[qi])
    n_q = np.zeros(len(tuples), dtype=np.int64)
    n_q[q] = frame["N P(q)"]
    b, names = pd.factorize(frame[bucket])
    s = values.get_indexer(pd.Index(frame[sa]))
    _, first = np.unique(b * len(values) + s, return_index=True)
    shape = len(values), len(names)
    n_sb = sp.csr_array((frame["N P(s,b)"].to_numpy()[first], (s[first], b[first])), shape=shape)
    covered = sp.csr_array((np.ones(len(q)), (b, q)), shape=(len(names), len(tuples)))
    covered.data[:] = 1.0
    return GroupedRelease(tuple(qi), (sa,), tuples, n_q, values, pd.Index(names, name=bucket), n_sb, covered)


def _unpack_labels(text: str) -> pd.Index:
    """Read the labels of a column."""
    return index_of(unpack(text)["value"])
