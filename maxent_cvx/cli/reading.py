"""What a command reads: a table with its columns, people known by name, buckets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from .. import datasets, disguise
from ..errors import TableError, unknown_name
from ..tables.columns import count_column
from ..views import Release

__all__ = [
    "bucketed",
    "free_name",
    "one_source_of_buckets",
    "people_of",
    "read_csv",
    "read_people",
    "read_table",
    "released",
]

#: Tables that travel with the package, and what `quantify` assumes of them unless told otherwise.
BUILT_IN: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object]]] = {
    "adult": (
        datasets.load_adult,
        {
            "qi": ",".join(datasets.ADULT_QI), "sa": "education", "rows": 14_210, "l": 5, "exempt": 2,
            "top": [0, 10, 50, 100, 200, 500],
        },
    ),
    "hospital": (datasets.load_hospital, {"qi": "Gender,Degree", "sa": "Disease", "bucket": "Bucket"}),
}  # fmt: skip
#: People that a table with counts is written out for.
MOST_PEOPLE = 10**8


def released(records: pd.DataFrame, options: argparse.Namespace) -> tuple[Release, pd.DataFrame]:
    """Read a release from its tables, or make one; with the records, in their buckets, that it is of."""
    if options.sa_table:
        if options.bucket is None:
            raise TableError("--sa-table needs --bucket")
        sa_table = read_csv(options.sa_table)
        release = Release.from_tables(
            records, sa_table, qi=options.qi, sa=options.sa, bucket=options.bucket, count=options.count
        )
        return release, records
    if options.count is not None:
        records = people_of(records, options.count)
    if options.bucket is None:
        records, options.bucket = bucketed(records, options)
    return Release.from_buckets(records, qi=options.qi, sa=options.sa, bucket=options.bucket), records


def read_table(options: argparse.Namespace) -> pd.DataFrame:
    """Read the table, and fill in what is known of a built-in one."""
    load, known = BUILT_IN.get(options.table, (None, {}))
    if load is None and not Path(options.table).exists():
        raise unknown_name("file or built-in table", options.table, BUILT_IN)
    table = load() if load else read_csv(options.table)
    for name, value in known.items():
        # Somebody who asks for Anatomy (--l) does not want the buckets that the table has, and the other way round.
        other = {"bucket": "l", "l": "bucket", "exempt": "bucket", "top": "bucket"}.get(name, name)
        if name in vars(options) and getattr(options, name) is None and getattr(options, other, None) is None:
            setattr(options, name, value)
    if options.qi is None or options.sa is None:
        raise TableError(f"--qi and --sa are needed; {options.table} has the columns {', '.join(table.columns)}")
    options.qi, options.sa = ([name.strip() for name in text.split(",")] for text in (options.qi, options.sa))
    if options.rows is not None and not 0 < options.rows <= len(table):
        raise TableError(f"--rows {options.rows}: {options.table} has {len(table)} rows")
    return table.head(options.rows) if options.rows else table


def read_csv(path: str, dtype: type | None = None) -> pd.DataFrame:
    """Read a CSV file with a header; with a type, all columns as that."""
    try:
        table = pd.read_csv(path, dtype=dtype, keep_default_na=dtype is None)  # as text, NA is a value
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise TableError(f"{path!r} is not a CSV file with a header: {error}") from error
    if len(table) and not isinstance(table.index, pd.RangeIndex):  # what pandas makes of the first columns then
        raise TableError(f"{path!r}: its lines have more cells than the header; quote cells with commas in them")
    return table


def people_of(records: pd.DataFrame, count: str) -> pd.DataFrame:
    """Write a table with counts as one row a person: Anatomy, mining and the truth are of people."""
    if count not in records.columns:
        raise unknown_name("column of the table (given as --count)", count, records.columns)
    n = count_column(records[count], "the table")
    if not 0 < n.sum() <= MOST_PEOPLE:
        raise TableError(f"{count!r} counts {n.sum()} people; from 1 to {MOST_PEOPLE:,} are expected")
    return records.loc[records.index.repeat(n)].drop(columns=count).reset_index(drop=True)


def read_people(path: str) -> pd.DataFrame:
    """Read a CSV file of people, whose names are in its first column."""
    table = read_csv(path)
    return table.set_index(table.columns[0])


def one_source_of_buckets(options: argparse.Namespace) -> None:
    """Refuse two sources of buckets."""
    if options.bucket is not None and options.l is not None:
        raise TableError("--bucket says that the table has buckets, and --l that Anatomy should make them; give one")


def bucketed(table: pd.DataFrame, options: argparse.Namespace) -> tuple[pd.DataFrame, str]:
    """Put the records into Anatomy's buckets, in a column of a name that is free."""
    if options.l is None:
        other = ", or --bucket COLUMN if the table has them" if hasattr(options, "bucket") else ""
        raise TableError(f"--l is needed to make buckets (Anatomy){other}")
    bucket = disguise.anatomy_buckets(
        table, qi=options.qi, sa=options.sa, l=options.l, exempt=options.exempt or 0, seed=options.seed
    )
    name = free_name("Bucket", table.columns)
    return table.assign(**{name: bucket}), name


def free_name(name: str, taken: Iterable[str]) -> str:
    """Find a column name that is not taken."""
    while name in taken:
        name += "_"
    return name
