"""A partitioned release from partitions of records: first they are counted, then each is made a part (two passes)."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ...errors import TableError
from ...system.executors import Executor, then
from ...tables.coding import factorize, multi_index, tally
from .counted_tuples import CountedTuples, number_rows, recoded, smallest, unshared
from .label_values import kind_of, plain
from .partitioned_release import PartitionedRelease, PartSize
from .release_part import ReleasePart
from .roles import Roles

__all__ = ["PartCounts", "Records", "assembled", "released", "sensitive_codes"]


@dataclass(frozen=True, eq=False)
class Records:
    """A partition of records, which are somewhere else.

    Attributes
    ----------
    make : callable or dask.delayed.Delayed
        Gives them as a DataFrame.
    name : str
        What the partition is called in messages.
    """

    make: Any
    name: str


@dataclass(frozen=True, eq=False)
class PartCounts:
    """What one partition says of all of them: its QI tuples, its sensitive values, and how many buckets it has."""

    tuples: CountedTuples
    values: CountedTuples
    buckets: int
    sort_of_bucket: str


@dataclass(frozen=True, eq=False)
class Whole:
    """What every part knows of the whole.

    Attributes
    ----------
    roles : Roles
    levels : tuple of Index
        The values of each quasi-identifier.
    values : Index
        The sensitive values.
    n_s : ndarray
        Records of each.
    records : int
    """

    roles: Roles
    levels: tuple[pd.Index, ...]
    values: pd.Index
    n_s: np.ndarray
    records: int


def assembled(partitions: Sequence[Records], roles: Roles, executor: Executor) -> PartitionedRelease:
    """Number the QI tuples and values of all partitions together, and say how each part is made.

    Parameters
    ----------
    partitions : list of Records
        Of whole buckets. Those without records are left out.
    roles : Roles
    executor : Executor
        Where partitions are counted.

    Raises
    ------
    TableError
        If there are no records, or columns hold values of other types in other partitions.
    """
    makers = [then(part.make, count_records, roles, part.name) for part in partitions]
    counted = list(zip(partitions, executor.gather(executor.made(makers)), strict=True))
    return released([(part, counts) for part, counts in counted if counts is not None], roles)


def released(counted: Sequence[tuple[Records, PartCounts]], roles: Roles) -> PartitionedRelease:
    """Make the release of partitions that have been counted, see :func:`assembled`."""
    if not counted:
        raise TableError("the table has no records; at least one record is needed")
    counts = [each for _, each in counted]
    if len(sorts := {each.sort_of_bucket: None for each in counts}) > 1:
        raise TableError(
            f"column {roles.bucket!r} holds {' in some partitions, and '.join(list(sorts)[:2])} in others; "
            "make them one type before"
        )
    tuples, q_numbers = CountedTuples.united([each.tuples for each in counts])
    values, s_numbers = CountedTuples.united([each.values for each in counts])
    labels = values.labels if len(roles.sensitive) > 1 else values.labels.levels[0]
    whole = Whole(roles, tuple(tuples.labels.levels), labels, values.records, int(tuples.records.sum()))
    makers = []
    for (part, each), q, s in zip(counted, q_numbers, s_numbers, strict=True):
        n_s = np.zeros(len(labels), dtype=np.int64)
        n_s[s] = each.values.records
        codes = [np.asarray(code)[q] for code in tuples.labels.codes]
        seen = checksum([*codes, each.tuples.records, n_s, [each.buckets]])
        makers.append(then(part.make, make_part, whole, q, smallest(tuples.records[q]), seen, part.name))
    sizes = [PartSize(int(each.tuples.records.sum()), each.buckets, len(each.tuples.labels)) for each in counts]
    return PartitionedRelease(
        roles.qi, roles.sensitive, roles.bucket, tuples.labels, labels, tuples.records, values.records,
        tuple(makers), tuple(sizes),
    )  # fmt: skip


def count_records(rows: pd.DataFrame, roles: Roles, name: str) -> PartCounts | None:
    """Count the QI tuples, values and buckets of a partition; None if it has no records."""
    rows, records = roles.checked(rows, name)
    if rows.empty:
        return None
    _, buckets = factorize(plain(rows[roles.bucket]))
    return PartCounts(
        CountedTuples.of(rows[list(roles.qi)], records), CountedTuples.of(rows[list(roles.sensitive)], records),
        len(buckets), kind_of(buckets),
    )  # fmt: skip


def make_part(
    rows: pd.DataFrame, whole: Whole, q_numbers: np.ndarray, n_q: np.ndarray, seen: int, name: str
) -> ReleasePart:
    """Count the records of a partition by bucket.

    Parameters
    ----------
    rows : DataFrame
    whole : Whole
    q_numbers, n_q : ndarray of int
        The numbers in the whole of its QI tuples, ascending, and the records of the whole with each.
    seen : int
        The checksum of what was counted of it before.
    name : str

    Raises
    ------
    TableError
        If these are not the records that were counted before.
    """
    roles = whole.roles
    rows, records = roles.checked(rows, name)
    q, tuples = number_rows(rows[list(roles.qi)])
    levels, values = [unshared(level) for level in whole.levels], unshared(whole.values)
    codes, s = recoded(tuples, levels), sensitive_codes(rows[list(roles.sensitive)], values)
    b, buckets = factorize(plain(rows[roles.bucket]))
    n_qb = tally(q, b, (len(tuples), len(buckets)), records)
    known = s >= 0
    n_sb = tally(s[known], b[known], (len(values), len(buckets)), records[known])
    if seen != checksum([*codes, n_qb.sum(axis=1), n_sb.sum(axis=1), [len(buckets)]]):
        raise TableError(f"{name} has changed since the release was made of it; make the release again")
    return ReleasePart(
        roles.qi, roles.sensitive, roles.bucket, multi_index(levels, codes, list(roles.qi)), values,
        buckets, n_qb, n_sb, q_numbers=q_numbers.astype(np.int64), n_q_whole=n_q.astype(np.int64),
        n_s_whole=whole.n_s, n_whole=whole.records,
    )  # fmt: skip


def checksum(arrays: Sequence[ArrayLike]) -> int:
    """Tell integers from others, but for one time in 2^32."""
    found = 0
    for array in arrays:
        found = zlib.crc32(np.asarray(array, dtype=np.int64).tobytes(), found)
    return found


def sensitive_codes(rows: pd.DataFrame, values: pd.Index) -> np.ndarray:
    """The number in the whole of the sensitive value of each row; -1 of one that is not there."""
    s, own = number_rows(rows)
    return values.get_indexer(own if isinstance(values, pd.MultiIndex) else own.levels[0])[s]
