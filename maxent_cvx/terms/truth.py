"""The original records, counted: the truth that an answer is compared with, checked to be what was published.

Counted over the terms, where the bucket of every record is known (and its name, if people are named), or over
pairs of a QI tuple and a sensitive value, for which neither is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from ..errors import TableError, arguments, listing
from ..tables.coding import sort_distinct
from ..tables.microdata import Microdata
from ..views import View
from ..views.partitioned.partitioned_release import PartitionedRelease
from .people import OTHERS, People

__all__ = ["count_pairs", "count_terms"]

#: From counts to their sums, and the sums that are published.
Margin = tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]


def count_terms(
    view: View,
    people: People,
    index: pd.MultiIndex,
    sums: Mapping[str, Margin],
    records: pd.DataFrame,
    id: str | None = None,
) -> np.ndarray:
    """Count the original records of every term.

    Parameters
    ----------
    view : View
    people : People
        Who is known by name.
    index : MultiIndex
        The labels of the terms.
    sums : dict of str to (callable, ndarray)
        By what the view counts people: from counts of terms to these sums, and what is published of them.
    records : DataFrame
        With the view's columns: QI, sensitive, and the bucket of a release.
    id : str, optional
        The column of names; needed where people are named.

    Returns
    -------
    ndarray of int, one a term

    Raises
    ------
    UnknownName, TableError
        If they are not the records that were published.
    """
    if id is not None:
        arguments.text(id, "id")
    data = Microdata(records, view.qi, view.sensitive, getattr(view, "bucket", None), None if id in view.qi else id)
    known = data.frame[view.columns]
    if len(people):
        known.insert(0, "who", _names(data.frame, people, id))
    group, labels = sort_distinct(known)
    at = index.get_indexer(labels)
    strangers = f"{int((at < 0).sum())} of {len(at)} combinations in the original records"
    buckets = ", with its buckets" * ("bucket" in view.axes)
    return _counted(at[group], len(index), sums, view, strangers, buckets)


def count_pairs(view: View | PartitionedRelease, records: pd.DataFrame) -> np.ndarray:
    """Count the original records of every QI tuple and sensitive value, n(q, s).

    Parameters
    ----------
    view : View or PartitionedRelease
    records : DataFrame
        With the view's QI and sensitive columns.

    Returns
    -------
    ndarray of int, shape (QI tuples, sensitive values)

    Raises
    ------
    UnknownName, TableError
        If they are not the records that were published.
    """
    data = Microdata(records, view.qi, view.sensitive)
    (group, tuples), (value, values) = data.tuples(), data.values()
    q, s = view.quasi_identifiers.get_indexer(tuples), view.sensitive_values.get_indexer(values)
    strangers = f"{int((q < 0).sum())} QI tuples and {int((s < 0).sum())} sensitive values of the original records"
    shape = len(view.n_q), len(view.sensitive_values)
    at = np.where((q[group] < 0) | (s[value] < 0), -1, q[group] * shape[1] + s[value])
    sums: dict[str, Margin] = {"QI": (lambda counts: counts.reshape(shape).sum(axis=1), view.n_q)}
    if view.n_s is not None:
        sums["sensitive value"] = (lambda counts: counts.reshape(shape).sum(axis=0), view.n_s)
    return _counted(at, shape[0] * shape[1], sums, view, strangers).reshape(shape)


def _counted(
    at: np.ndarray,
    size: int,
    sums: Mapping[str, Margin],
    view: View | PartitionedRelease,
    strangers: str,
    buckets: str = "",
) -> np.ndarray:
    """Count the places of records, which have to be as many as are published, where they can be, and to sum up so."""
    n, remedy = view.n_records, f"; pass the table that was published{buckets}"
    if len(at) != n:
        other = f"{abs(len(at) - n)} {'fewer' if len(at) < n else 'more'}"
        raise TableError(f"the {len(at)} original records are {other} than the {n} people of the {view.noun}{remedy}")
    if (at < 0).any():
        raise TableError(f"{strangers} are not in the {view.noun} of {n} people{remedy}")
    counts = np.bincount(at, minlength=size)
    for by, (sum_up, published) in sums.items():
        if (off := sum_up(counts) != published).any():
            raise TableError(
                f"the original records have other counts by {by} than the {view.noun} of {n} people, in "
                f"{int(off.sum())} of {len(off)} places{remedy}"
            )
    return counts


def _names(records: pd.DataFrame, people: People, id: str | None) -> pd.Series:
    """Whom each record names, of those who are known by name."""
    if id is None:
        raise TableError("the model names people, so say which column of the records does: id=...")
    if len(missing := people.names.difference(pd.Index(records[id]))):
        raise TableError(f"column {id!r} of the records names nobody {listing(missing)}, whom the model names")
    called = pd.CategoricalDtype([*people.names, OTHERS])
    return pd.Series(records[id].where(records[id].isin(people.names), OTHERS), dtype=called)
