"""Columns of tables: their names, the roles that they play, and columns of counts, checked at the door."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..errors import TableError, arguments, listing, shown, unknown_name

__all__ = [
    "check_columns",
    "check_labels",
    "check_named",
    "check_no_count",
    "count_column",
    "counted",
    "looks_like_count",
    "missing_values",
    "names",
]


def names(columns: str | Iterable[str], role: str) -> tuple[str, ...]:
    """Read column names; a single string is one column, and at least one is needed."""
    if isinstance(columns, pd.DataFrame):
        raise TableError(f"{role} must name columns by text, not by {shown(columns)}")
    is_list = not isinstance(columns, str | bytes) and arguments.is_several(columns)
    if not (found := tuple(columns) if is_list else (columns,)):
        raise TableError(f"{role} names no column; name at least one")
    if strange := [name for name in found if not arguments.is_text(name)]:
        raise TableError(f"{role} must name columns by text, not by {shown(strange[0])}; rename such a column")
    return found  # type: ignore[return-value]


def check_named(columns: Iterable[object], roles: Mapping[str, Sequence[str]], what: str) -> list[str]:
    """Check that every role's columns are among those of a table, distinct, and give them."""
    known = [column for column in columns if isinstance(column, str)]  # to compare with pandas' NA is an error
    held: dict[str, str] = {}
    for role, some in roles.items():
        for column in some:
            if not arguments.is_text(column):
                raise TableError(f"{role} must name columns by text, not by {shown(column)}; rename such a column")
            if column not in known:
                raise unknown_name(f"column of {what} (given as {role})", column, known)
            if column in held:
                raise TableError(
                    f"column {column!r} is given as {held[column]} and as {role}; "
                    "a column has one role: take it out of one of the two"
                )
            held[column] = role
    if doubled := [column for column in held if known.count(column) > 1]:
        raise TableError(f"{what} has more than one column named {listing(doubled)}; rename them")
    return list(held)


def check_columns(
    frame: pd.DataFrame, roles: Mapping[str, Sequence[str]], what: str, sets: Collection[str] = ()
) -> None:
    """Check that every role's columns are in `frame`, distinct, and complete; cells of `sets` may be sets of values."""
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"{what} must be a pandas DataFrame, not a {type(frame).__name__}")
    check_labels(frame.columns, f"a name of a column of {what}")
    held = check_named(frame.columns, roles, what)
    if frame.empty:
        raise TableError(f"{what} has no rows; at least one record is needed")
    for column in held:
        cells = frame[column]
        if column in sets and cells.dtype == object:  # then each value of a set is checked, like a single value
            is_set = cells.map(lambda cell: isinstance(cell, set | frozenset | list | tuple)).to_numpy(dtype=bool)
            check_labels(cells[is_set].explode(), f"a value of a set in column {column!r} of {what}")
            cells = cells[~is_set]
        check_labels(cells, f"a cell of column {column!r} of {what}")
    missing = frame[held].isna().sum()
    if (missing := missing[missing > 0]).size:
        raise missing_values({str(column): int(count) for column, count in missing.items()}, len(frame), roles, what)


def check_labels(values: pd.Series | pd.Index, what: str) -> None:
    """Check that every label is a single value, such as a text or a number, and that its text can be encoded."""
    if values.dtype == object:
        try:
            if not all(arguments.is_text(value) for value in pd.unique(values) if isinstance(value, str)):
                raise TableError(
                    f"{what} contains half of a surrogate pair, which is no character and cannot be encoded; replace it"
                )
        except TypeError:
            strange = next(value for value in values if not pd.api.types.is_hashable(value))
            raise TableError(
                f"{what} is a {type(strange).__name__}; single values are expected, such as texts or numbers"
            ) from None


def missing_values(missing: Mapping[str, int], rows: int, roles: Mapping[str, Sequence[str]], what: str) -> TableError:
    """Say in which columns of so many rows how many values are missing, and what to do."""
    found = ", ".join(f"{column!r} ({count} of {rows})" for column, count in missing.items())
    return TableError(
        f"{what} has missing values in {found}; drop those rows with .dropna(subset=[...])"
        + ("" if "count" in roles else ", or make 'missing' a value of its own with .fillna('?')")
    )


def count_column(counts: pd.Series, what: str) -> np.ndarray:
    """Read a column of record counts: integers, none negative."""
    values = _floats(counts)
    bad = ~(np.isfinite(values) & (values >= 0) & (values <= LARGEST_COUNT) & (values == np.round(values)))
    if bad.any():
        raise TableError(
            f"column {counts.name!r} of {what} must hold whole, non-negative counts of records; "
            f"{int(bad.sum())} of {len(bad)} are not (first at row {int(bad.argmax())})"
        )
    return values.astype(np.int64)


def _floats(column: pd.Series) -> np.ndarray:
    """Read the cells of a column as numbers, NaN where they are not."""
    try:
        found = pd.to_numeric(column, errors="coerce")
        return np.full(len(column), np.nan) if found.dtype.kind == "c" else found.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError):  # integers that no float holds, or arrays
        return np.full(len(column), np.nan)


#: The largest count, records: beyond it floating point does not hold every integer.
LARGEST_COUNT = 2**53


#: Names of columns of record counts, without capitals, spaces and signs: those that AnonyPyx, SQL, pandas and R give.
COUNTS = {"count", "counts", "cnt", "n", "freq", "frequency", "records", "people"} | {
    "nrecords", "npeople", "numrecords", "recordcount", "groupcount", "numberofrecords", "numberofpeople",
}  # fmt: skip


def looks_like_count(name: object) -> bool:
    """Whether a column has the name of a count of records."""
    return re.sub(r"[\W_]", "", str(name).lower()) in COUNTS


def check_no_count(
    table: pd.DataFrame, roles: Mapping[str, Sequence[str]], what: str, remedy: str = "pass count={name!r}"
) -> None:
    """Refuse a column without a role that looks like how many people a row stands for: its people would be lost.

    Parameters
    ----------
    table : DataFrame
    roles : dict
        The columns that have a role.
    what : str
        The table, for the error.
    remedy : str
        What to do if it is a count.

    Raises
    ------
    TableError
        If a column has the name of a count, and holds whole numbers, not all of them 1.
    """
    held = {column for columns in roles.values() for column in columns}
    for name in table.columns:
        if name in held or not looks_like_count(name):
            continue
        column = table.loc[:, name]
        if column.ndim > 1 or pd.api.types.is_bool_dtype(column):
            continue
        numbers = _floats(column)
        if (numbers >= 0).all() and (numbers == np.round(numbers)).all() and (numbers != 1).any():
            raise TableError(
                f"{what} has a column {name!r} of whole numbers, which looks like how many people each row stands for: "
                f"{numbers.sum():.0f} in {len(table)} rows; {remedy.format(name=name)}, or, if it is something else, "
                f"leave it out, .drop(columns={name!r})"
            )


def counted(
    table: pd.DataFrame,
    roles: dict[str, tuple[str, ...]],
    count: str | None,
    what: str,
    sets: Collection[str] = (),
) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Check a table that may have a column of counts; rows that count nobody say nothing and are left out."""
    if count is not None and not isinstance(count, str):
        raise TableError(f"count={shown(count)}: the name of a column is expected")
    if count is None or not isinstance(table, pd.DataFrame) or count not in table.columns:
        check_columns(table, roles, what, sets)
        return table, None
    check_columns(table, {**roles, "count": (count,)}, what, sets)
    counts = count_column(table[count], what)
    if not counts.any():
        raise TableError(f"{what} counts no record: every {count!r} is 0; at least one record is needed")
    return table[counts > 0], counts[counts > 0]
