"""Parquet files of one table: found, checked by what they say of themselves, and read piece by piece."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...errors import TableError, arguments, listing
from ...tables.columns import looks_like_count, missing_values
from .column_types import cast, common_schema, together
from .roles import Roles

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ParquetRows", "files_of", "row_groups"]

#: Rows that are read at a time where they need not stay together.
BATCH = 2**18


@dataclass(frozen=True)
class ParquetRows:
    """Some row groups of Parquet files, which are read where they are needed.

    Attributes
    ----------
    pieces : tuple of (str, tuple of int)
        Files, and the numbers of row groups in them.
    schema : pyarrow.Schema
        The columns that are read, and their types.
    keeper : object
        What keeps the files from being removed, if they are temporary.
    """

    pieces: tuple[tuple[str, tuple[int, ...]], ...]
    schema: pa.Schema
    keeper: Any = None

    @property
    def name(self) -> str:
        """What they are called in messages."""
        files = dict.fromkeys(path for path, _ in self.pieces)
        return f"file {listing(files)}" if len(files) == 1 else f"the table in {listing(files, 2)}"

    def __call__(self) -> pd.DataFrame:
        """Read them as a whole."""
        return together(list(self.batches(None))).to_pandas()

    def batches(self, rows: int | None = BATCH, columns: Iterable[str] | None = None) -> Iterator[pa.Table]:
        """Read them, so many rows at a time or a piece at a time, or some of the columns."""
        import pyarrow as pa

        names = self.schema.names if columns is None else list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        for path, groups in self.pieces:
            with opened(path) as file:
                if rows is None:
                    yield cast(file.read_row_groups(list(groups), columns=names), schema, path)
                    continue
                for batch in file.iter_batches(rows, list(groups), names):
                    yield cast(pa.table(batch), schema, path)


def files_of(path: object) -> list[str]:
    """The files that are meant by a path, a glob, a folder, or a list of these, each once.

    Raises
    ------
    TableError
        If there is none, or one is given twice.
    """
    several = path if isinstance(path, list | tuple) else [path]
    found = [file for one in several for file in _files_of_one(str(arguments.path(one, "path")))]
    times = Counter(os.path.realpath(file) for file in found)
    if twice := [file for file in found if times[os.path.realpath(file)] > 1]:
        raise TableError(f"file {twice[0]!r} is given twice: its people would be counted twice")
    if not found:
        raise TableError("path names no file; give the path of a Parquet file, a folder, or a list of them")
    return found


def _files_of_one(path: str) -> list[str]:
    """Those of one path: hidden files, and those whose names begin with _, are notes of other programs."""
    if os.path.isdir(path):
        inside = (file.relative_to(path) for file in Path(path).rglob("*.parquet"))
        shown = [file for file in inside if not any(part[0] in "._" for part in file.parts)]
        found = [str(Path(path) / file) for file in sorted(shown)]
        if not found:
            raise TableError(f"the folder {path!r} holds no file *.parquet")
        return found
    if os.path.exists(path):
        return [path]
    if not (found := sorted(glob.glob(path, recursive=True))):
        raise TableError(f"there is no file {path!r}")
    return [file for one in found for file in _files_of_one(one)]


def row_groups(files: Iterable[str], roles: Roles) -> list[ParquetRows]:
    """Check what files say of themselves, and list their row groups that are not empty.

    Raises
    ------
    UnknownName, TableError
        If a file cannot be read, lacks a column, or says that values are missing; or types cannot be compared.
    """
    found, schemas, missing, total = [], [], dict.fromkeys(roles.columns, 0), 0
    for path in files:
        with opened(path) as file:
            schema, about = file.schema_arrow, file.metadata
        roles.check_named(schema.names)
        schemas.append(schema)
        total += about.num_rows
        for i in range(about.num_row_groups):
            group = about.row_group(i)
            for j in range(group.num_columns):
                column = group.column(j)
                if column.path_in_schema in missing and column.is_stats_set and column.statistics.has_null_count:
                    missing[column.path_in_schema] += column.statistics.null_count
            if group.num_rows:
                found.append((path, i))
    if some := {column: count for column, count in missing.items() if count}:
        raise missing_values(some, total, roles.players, "the table")
    if not found:
        raise TableError("the table has no rows; at least one record is needed")
    columns = dict.fromkeys([*roles.columns, *_undeclared_counts(schemas, roles)])
    schema = common_schema(schemas, list(columns))
    return [ParquetRows(((path, (i,)),), schema) for path, i in found]


def _undeclared_counts(schemas: Iterable[pa.Schema], roles: Roles) -> list[str]:
    """Columns without a role that all files have and that look like counts: they are read, to be refused."""
    if roles.count is not None:
        return []
    common = set.intersection(*(set(schema.names) for schema in schemas)) - set(roles.columns)
    return sorted(name for name in common if looks_like_count(name))


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a Parquet file.

    Raises
    ------
    TableError
        If it is none, or cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise TableError(f"there is no file {path!r}") from None
    except (pa.ArrowInvalid, OSError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"{path!r} cannot be read as a Parquet file: {reason}") from None
