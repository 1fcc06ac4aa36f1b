"""What a command reads: a table with its columns, people known by name."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..errors import TableError, listing, unknown_name
from ..tables.columns import count_column
from .built_in import BUILT_IN, assume
from .streams import DASH, read_text, say, source_name

__all__ = [
    "as_list",
    "columns_of",
    "free_name",
    "load_table",
    "people_of",
    "read_csv",
    "read_people",
    "read_table",
    "values_as_printed",
    "without_gaps",
]

#: People that a table with counts is written out for.
MOST_PEOPLE = 10**8


def read_table(options: argparse.Namespace) -> pd.DataFrame:
    """Read the table, and fill in what is known of a built-in one; with the columns of its roles as lists."""
    assume(options)
    table = load_table(options.table, options)
    if options.qi is None and getattr(options, "id", None) is not None:
        options.qi = ""  # a pseudonym may be all that is known of a person
    if options.qi is None or options.sa is None:
        needed = " and ".join(f"--{name}" for name in ("qi", "sa") if getattr(options, name) is None)
        raise TableError(f"{needed} must be given; {_name(options.table)} has the columns {', '.join(table.columns)}")
    options.qi, options.sa = columns_of(options.qi), columns_of(options.sa)
    return without_gaps(table, options.table, options)


def columns_of(text: str) -> list[str]:
    """Read names with commas between them, in quotes where they hold one; of an empty text none."""
    if not text.strip():
        return []
    try:
        (found,) = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    except (csv.Error, ValueError):
        raise TableError(
            f"{text!r} is not a list of names such as age,sex; put names with line breaks in quotes"
        ) from None
    return [name.strip() for name in found]


def as_list(names: Iterable[str]) -> str:
    """Write names with commas between them, in quotes where they hold one."""
    text = io.StringIO()
    csv.writer(text).writerow(names)
    return text.getvalue().removesuffix("\r\n")


def load_table(name: str, options: argparse.Namespace) -> pd.DataFrame:
    """Read a table, or its first rows."""
    load, _ = BUILT_IN.get(name, (None, {}))
    if load is None and name != DASH and not Path(name).exists():
        raise unknown_name("file or built-in table", name, BUILT_IN)
    table = load() if load else read_csv(name)
    if options.rows is not None and not 0 < options.rows <= len(table):
        raise TableError(f"--rows {options.rows}: {_name(name)} has {len(table)} rows")
    return table.head(options.rows) if options.rows else table


def without_gaps(table: pd.DataFrame, name: str, options: argparse.Namespace) -> pd.DataFrame:
    """Leave out rows with missing cells in columns that have a role, if that is asked for; else refuse them."""
    roles = [*options.sa, *(one for role in ("bucket", "id", "count") if (one := getattr(options, role, None)))]
    if not getattr(options, "generalized", False):  # there a missing cell is any value
        roles += options.qi
    missing = table[[column for column in dict.fromkeys(roles) if column in table.columns]].isna()
    if not missing.to_numpy().any():
        return table
    found = ", ".join(f"{column!r} ({n} of {len(table)})" for column, n in missing.sum().items() if n)
    if options.missing == "error":
        raise TableError(
            f"{_name(name)} has missing cells in {found}; --missing drop leaves those rows out, or give what is "
            "missing a value of its own"
        )
    gaps = missing.any(axis=1)
    if gaps.all():
        raise TableError(f"every row of {_name(name)} has a missing cell, in {found}")
    say(f"left out {gaps.sum()} of {len(table)} rows of {_name(name)}, with missing cells in {found}")
    dropped = {"table": name, "rows": int(gaps.sum()), "of": len(table)}
    options.dropped = [*getattr(options, "dropped", []), dropped | {"cells": missing.sum()[lambda n: n > 0].to_dict()}]
    return table[~gaps]


def read_csv(path: str, dtype: type | None = None) -> pd.DataFrame:
    """Read a CSV file with a header, or standard input; with a type, all columns as that."""
    source = io.StringIO(read_text(path)) if path == DASH else path
    try:
        header = pd.read_csv(source, dtype=str, header=None, nrows=1, keep_default_na=False)
        table = pd.read_csv(_again(source), dtype=dtype, keep_default_na=dtype is None)  # as text, NA is a value
        if codes := _codes(source, table):
            table = pd.read_csv(_again(source), dtype=dict.fromkeys(codes, str))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError) as error:
        raise TableError(f"{source_name(path)} is not a CSV file with a header: {error}") from error
    names = header.iloc[0]  # which pandas would make different, Gender and Gender.1
    if twins := [*names[names.duplicated() & (names != "")]]:
        raise TableError(
            f"{source_name(path)} has more than one column named {listing(dict.fromkeys(twins))}; rename all but one"
        )
    if len(table.columns) == 1 and (signs := [sign for sign in ";\t" if sign in table.columns[0]]):
        raise TableError(
            f"{source_name(path)}: its cells are parted by {signs[0]!r}, and commas are expected; write it so"
        )
    if len(table) and not table.index.equals(pd.RangeIndex(len(table))):  # what pandas makes of the first columns then
        raise TableError(f"{source_name(path)}: its lines have more cells than the header; quote cells with commas")
    return table


def _codes(source: str | io.StringIO, table: pd.DataFrame) -> list[str]:
    """Find columns of numbers of which some begin with zeros: 01234 is a code, and another one than 1234."""
    if not (numbers := [*table.select_dtypes("number").columns]):
        return []
    cells = pd.read_csv(_again(source), dtype=str, usecols=numbers)
    return [name for name in numbers if cells[name].str.fullmatch(r"0\d+").any()]


def _again(source: str | io.StringIO) -> str | io.StringIO:
    """What was read, to be read once more."""
    return io.StringIO(source.getvalue()) if isinstance(source, io.StringIO) else source


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


def free_name(name: str, taken: Iterable[str]) -> str:
    """Find a column name that is not taken."""
    while name in taken:
        name += "_"
    return name


def values_as_printed(given: Sequence[str] | None, known: Iterable[object]) -> list[object] | None:
    """Find values by how a table prints them, of several columns with commas between them; strangers stay texts."""
    if given is None:
        return None
    printed: dict[str, object] = {",".join(map(str, one if isinstance(one, tuple) else [one])): one for one in known}
    return [printed.get(one, one) for one in given]


def _name(path: str) -> str:
    return "standard input" if path == DASH else path
