"""A partitioned release of a Dask DataFrame, whose partitions stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from ...errors import TableError, amount, shown
from ...system.executors import Executor, LocalExecutor, current_client, executor_for, then
from ...system.temporary import TemporaryFolder
from ...tables.columns import looks_like_count
from .assembling import Records, assembled
from .column_types import common_schema
from .partitioned_release import PartitionedRelease
from .planning import BucketRows, count_buckets, straddling
from .roles import Roles
from .spilling import spilled

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DaskTable", "dask_records", "dask_release", "is_dask", "narrowed"]


class DaskTable(Protocol):
    """A dask.dataframe.DataFrame."""

    columns: Any
    npartitions: int

    def to_delayed(self) -> list[Any]:
        """Its partitions."""
        ...

    def __getitem__(self, columns: list[str]) -> Any: ...


def is_dask(table: object) -> bool:
    """Whether something is a Dask DataFrame."""
    return all(hasattr(table, name) for name in ("to_delayed", "npartitions", "columns", "shuffle"))


def dask_release(table: Any, roles: Roles) -> PartitionedRelease:
    """See :meth:`maxent_cvx.Release.from_dask`."""
    narrow = checked_columns(table, roles)
    executor = executor_for(current_client())
    sizes = bucket_rows(narrow, roles.bucket, executor)
    if not len(straddling(sizes)[0]):
        return assembled(dask_records(narrow), roles, executor)
    if isinstance(executor, LocalExecutor):
        return assembled(shuffled_here(dask_records(narrow), sizes, roles), roles, executor)
    return assembled(dask_records(shuffled_there(narrow, roles.bucket, executor)), roles, executor)


def checked_columns(table: Any, roles: Roles) -> Any:
    """The columns with roles of a Dask DataFrame.

    Raises
    ------
    TableError
        If it is none, or lacks a column.
    """
    if not is_dask(table):
        raise TableError(
            f"the table must be a Dask DataFrame, not {shown(table)}; dask.dataframe.from_pandas makes one"
        )
    roles.check_named(table.columns)
    return narrowed(table, roles.columns, roles.count is not None)


def narrowed(table: Any, columns: Sequence[str], with_count: bool = False) -> Any:
    """Some columns of a Dask DataFrame, of which Dask reads no others, and those that look like a count."""
    suspicious = [name for name in table.columns if not with_count and looks_like_count(name)]
    return table[list(dict.fromkeys([*columns, *suspicious]))]


def dask_records(table: DaskTable) -> list[Records]:
    """The partitions of a Dask DataFrame."""
    return [Records(part, f"partition {i} of the table") for i, part in enumerate(table.to_delayed())]


def bucket_rows(table: DaskTable, bucket: str, executor: Executor) -> list[BucketRows]:
    """Count the buckets of every partition, where it is, of which nothing else is asked for."""
    makers = [then(part, buckets_of, bucket) for part in table[[bucket]].to_delayed()]
    return executor.gather(executor.made(makers))


def buckets_of(rows: pd.DataFrame, bucket: str) -> BucketRows:
    """Count the buckets of a partition."""
    return count_buckets(rows[bucket])


def shuffled_there(table: Any, bucket: str, executor: Executor) -> Any:
    """Shuffle a table by bucket with Dask, and keep it in the workers' memory.

    Raises
    ------
    TableError
        If Dask cannot, or a bucket is in two partitions after it: labels of two types may be sent to two places.
    """
    moved = table.shuffle(bucket).persist()
    try:
        apart, _ = straddling(bucket_rows(moved, bucket, executor))
    except RuntimeError as error:
        raise TableError(
            f"Dask cannot shuffle the table by {bucket!r} ({' '.join(str(error).split())}): has a column a type that "
            "Arrow does not hold, such as categories of intervals? Make it texts before, .astype(str)"
        ) from error
    if apart.size:
        raise TableError(
            f"{amount(len(apart), 'bucket')} of column {bucket!r} in several partitions after Dask's shuffle: its "
            "labels have different types; make them one type before, .astype(str)"
        )
    return moved


def shuffled_here(records: Sequence[Records], sizes: Sequence[BucketRows], roles: Roles) -> list[Records]:
    """Shuffle the records of all partitions by bucket, through files of this computer."""
    tables = (arrow_table(part) for part in records)
    bounds = BucketRows.united(sizes).bounds(len(records))
    return [Records(part, "the table") for part in spilled(tables, bounds, roles.bucket, TemporaryFolder())]


def arrow_table(part: Records) -> pa.Table:
    """One partition, computed in this thread, as Parquet holds it.

    Raises
    ------
    TableError
        If a column holds what Parquet cannot.
    """
    import pyarrow as pa

    (rows,) = LocalExecutor(1).made([part.make])
    try:
        found = pa.Table.from_pandas(rows, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        reason = " ".join(str(error).split())
        raise TableError(
            f"{part.name} has a column of several types, or of one that Parquet does not hold: {reason}; "
            "make it one type before, .astype(str)"
        ) from None
    common_schema([found.schema], found.column_names)
    return found
