"""Anatomy of a table in partitions, each of which is bucketized by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import TableError, amount, whole
from ..system.executors import current_client, executor_for, then
from ..tables.columns import check_named
from ..tables.microdata import Microdata
from ..views import PartitionedRelease
from ..views.partitioned.assembling import PartCounts, Records, released, sensitive_codes
from ..views.partitioned.counted_tuples import CountedTuples, number_rows, unshared
from ..views.partitioned.from_dask import dask_records, narrowed
from ..views.partitioned.roles import Roles
from .dealing import check_eligible, dealt, exempt_values

__all__ = ["anatomy_of_partitions"]


def anatomy_of_partitions(
    table: Any, qi: tuple[str, ...], sa: tuple[str, ...], l: int, exempt: int, seed: int
) -> PartitionedRelease:
    """Publish a Dask DataFrame as buckets, see :func:`maxent_cvx.disguise.anatomy`."""
    whole(l, "l", 1, error=TableError)
    whole(exempt, "exempt", 0, error=TableError)
    whole(seed, "seed", 0, error=TableError)
    check_named(table.columns, {"qi": qi, "sa": sa}, "the table")
    bucket = next(name for name in ("Bucket", "bucket", "Anatomy", "_bucket") if name not in table.columns)
    roles = Roles.read(qi, sa, bucket, None)
    executor = executor_for(current_client())
    people = dask_records(narrowed(table, [*qi, *sa]))
    counts = executor.gather(executor.made([then(part.make, count_people, roles, l, part.name) for part in people]))
    found = [(i, part, each) for i, (part, each) in enumerate(zip(people, counts, strict=True)) if each is not None]
    if not found:
        raise TableError("the table has no rows; at least one record is needed")
    values, numbers = CountedTuples.united([each.values for _, _, each in found])
    is_exempt = exempt_values(values.records, exempt)
    dealers, first = [], 1
    for (i, part, each), own in zip(found, numbers, strict=True):
        check_partition(each, is_exempt[own], l, part.name)
        make = then(part.make, bucketized, roles, values.labels, is_exempt, (l, seed, i, first))
        dealers.append((Records(make, part.name), each))
        first += each.buckets
    return released(dealers, roles)


def count_people(rows: pd.DataFrame, roles: Roles, l: int, name: str) -> PartCounts | None:
    """Count the QI tuples and values of a partition, which will have so many buckets; None if nobody is in it."""
    if rows.empty:
        return None
    Microdata.of_people(rows, roles.qi, roles.sensitive)
    one = np.ones(len(rows), dtype=np.int64)
    tuples, values = (CountedTuples.of(rows[list(columns)], one) for columns in (roles.qi, roles.sensitive))
    return PartCounts(tuples, values, len(rows) // l, "numbers")


def check_partition(counts: PartCounts, is_exempt: np.ndarray, l: int, name: str) -> None:
    """Check that a partition can be bucketized by itself."""
    if not counts.buckets:
        raise TableError(
            f"{name} has {amount(int(counts.values.records.sum()), 'record')}, fewer than a bucket of l={l}; "
            "make the partitions fewer and larger, table.repartition(npartitions=...)"
        )
    values = counts.values.labels if counts.values.labels.nlevels > 1 else counts.values.labels.get_level_values(0)
    check_eligible(pd.Series(counts.values.records, values), is_exempt, counts.buckets, l, name)


def bucketized(
    rows: pd.DataFrame, roles: Roles, values: pd.MultiIndex, is_exempt: np.ndarray, dealing: Sequence[int]
) -> pd.DataFrame:
    """Give every record of a partition a bucket, the same ones in whatever order the records come.

    A partition that is computed again, on another worker perhaps, so becomes the same part again: of two records that
    are alike it does not matter which is in which bucket.

    Parameters
    ----------
    rows : DataFrame
    roles : Roles
    values : MultiIndex
        The sensitive values of the whole table.
    is_exempt : ndarray of bool
        One a value.
    dealing : sequence of int
        l, the seed, the partition's number, and that of its first bucket.
    """
    l, seed, number, first = dealing
    value = sensitive_codes(rows[list(roles.sensitive)], unshared(values))
    tuples, _ = number_rows(rows[list(roles.qi)])
    order = np.lexsort((value, tuples))
    bucket = np.empty(len(rows), dtype=np.int64)
    bucket[order] = first + dealt(value[order], is_exempt[value[order]], l, np.random.default_rng([seed, number]))
    return rows[[*roles.qi, *roles.sensitive]].assign(**{roles.bucket: bucket})
