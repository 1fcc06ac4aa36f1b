"""A partitioned release of Parquet files, read piece by piece in this process."""

from __future__ import annotations

from ...errors import whole
from ...system.executors import LocalExecutor
from ...system.temporary import TemporaryFolder
from .assembling import Records, assembled
from .parquet_files import ParquetRows, files_of, row_groups
from .partitioned_release import PartitionedRelease
from .planning import BucketRows, count_buckets, planned
from .roles import Roles
from .spilling import spilled

__all__ = ["parquet_release"]


def parquet_release(path: object, roles: Roles, partitions: int | None) -> PartitionedRelease:
    """See :meth:`maxent_cvx.Release.from_parquet`."""
    if partitions is not None:
        whole(partitions, "partitions", 1)
    pieces = row_groups(files_of(path), roles)
    executor = LocalExecutor()
    sizes = executor.map(buckets_of, pieces, common=(roles.bucket,))
    folder: TemporaryFolder | None = None
    found: list[Records] = []
    for group in planned(sizes, partitions):
        rows = together([pieces[i] for i in group.pieces])
        if group.bounds is None:
            found.append(Records(rows, rows.name))
            continue
        folder = folder or TemporaryFolder()
        found += [Records(part, "the table") for part in spilled(rows.batches(), group.bounds, roles.bucket, folder)]
    return assembled(found, roles, executor)


def buckets_of(rows: ParquetRows, bucket: str) -> BucketRows:
    """Count the buckets of some rows, reading nothing else of them."""
    counted = [count_buckets(batch.column(0).to_pandas().rename(bucket)) for batch in rows.batches(columns=[bucket])]
    return BucketRows.united(counted)


def together(pieces: list[ParquetRows]) -> ParquetRows:
    """Rows of several pieces as one, with the row groups of a file read at once."""
    groups: dict[str, tuple[int, ...]] = {}
    for piece in pieces:
        for path, some in piece.pieces:
            groups[path] = (*groups.get(path, ()), *some)
    return ParquetRows(tuple(groups.items()), pieces[0].schema)
