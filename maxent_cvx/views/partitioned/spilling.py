"""Records shuffled by bucket out of core: through temporary Parquet files, which are removed when nobody needs them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import TableError
from ...system.temporary import TemporaryFolder
from .column_types import common_schema, together
from .parquet_files import ParquetRows
from .planning import hashed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["spilled"]

#: Rows that are held while they are sorted by partition, and written together.
HELD_ROWS = 2**21


def spilled(tables: Iterable[pa.Table], bounds: np.ndarray, bucket: str, folder: TemporaryFolder) -> list[ParquetRows]:
    """Write records into files by the range that the number of their bucket is in, see :class:`planning.BucketRows`.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
        They are held one after another, and some millions of rows at a time.
    bounds : ndarray of uint64
        Where each range but the first begins.
    bucket : str
    folder : TemporaryFolder
        It is removed if anything goes wrong.

    Returns
    -------
    list of ParquetRows
        One a range.

    Raises
    ------
    TableError
        If the files cannot be written, or types cannot be compared.
    """
    import pyarrow.parquet as pq

    home = Path(tempfile.mkdtemp(dir=folder.path))
    files: list[list[str]] = [[] for _ in range(len(bounds) + 1)]
    schemas: dict[pa.Schema, None] = {}
    try:
        for i, table in enumerate(held(tables)):
            table = table.replace_schema_metadata(None)
            schemas[table.schema] = None
            part = np.searchsorted(bounds, hashed(table.column(bucket).to_pandas().rename(bucket)), side="right")
            order = np.argsort(part, kind="stable")
            ends = np.searchsorted(part[order], np.arange(len(files) + 1))
            table = table.take(order)
            for j in np.flatnonzero(np.diff(ends)):
                files[j].append(str(home / f"{j}-{i}.parquet"))
                pq.write_table(table.slice(ends[j], ends[j + 1] - ends[j]), files[j][-1], compression="lz4")
    except OSError as error:
        folder.remove()
        raise TableError(
            f"records cannot be shuffled in {tempfile.gettempdir()!r}: {error.strerror or error}; make room, or name "
            "another folder in the environment variable TMPDIR"
        ) from error
    except BaseException:
        folder.remove()
        raise
    schema = common_schema(schemas, next(iter(schemas)).names)
    return [ParquetRows(tuple((file, (0,)) for file in some), schema, folder) for some in files if some]


def held(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Put small tables of the same types together, up to HELD_ROWS rows."""
    some: list[pa.Table] = []
    for table in tables:
        if some and (sum(map(len, some)) + len(table) > HELD_ROWS or table.schema != some[0].schema):
            yield together(some)
            some = []
        some.append(table)
    if some:
        yield together(some)
