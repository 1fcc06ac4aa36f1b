"""Columns of DataFrames as codes and numbers, and selections of values of an attribute."""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .errors import MaxEntError, StatementError, TableError, join_names, pluralize, short_repr, unknown_name
from .formatting import DATE_PATTERN, format_value
from .validation import check_finite, is_several, is_text, label_of

# Codes: values, rows and combinations, numbered in sorted order and counted.


def sort_distinct(frame: pd.DataFrame) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct rows of a table in sorted order."""
    columns = [factorize(column) for _, column in frame.items()]
    levels = [level for _, level in columns]
    key = group_codes([code for code, _ in columns], [len(level) for level in levels])
    first = np.unique(key, return_index=True)[1]
    codes = [code[first] for code, _ in columns]
    return key, multi_index(levels, codes, list(frame.columns))


def distinct(frame: pd.DataFrame) -> tuple[np.ndarray, pd.Index]:
    """Number the distinct rows of a table in sorted order; a single column gives an index of its values."""
    return factorize(frame.iloc[:, 0]) if frame.shape[1] == 1 else sort_distinct(frame)


def ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return the concatenated ranges start, start + 1, ... of `length` numbers each."""
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(length.sum())


def undominated(points: np.ndarray) -> np.ndarray:
    """Mark the points to which no other is preferable: at most as large in all coordinates, and smaller in one."""
    at_most = (points <= points[:, None]).all(axis=2)  # whether the column's point is at most the row's
    return np.asarray(~np.any(at_most & ~at_most.T, axis=1))


def places_of(codes: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find all positions of each wanted code; return pairs of an index into `wanted` and a position in `codes`."""
    order = np.argsort(codes, kind="stable")  # then the positions of each code are contiguous
    start, stop = np.searchsorted(codes[order], [wanted, wanted + 1])
    return np.repeat(np.arange(len(wanted)), stop - start), order[ranges(start, stop - start)]


def factorize(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Number the distinct values of a column in sorted order."""
    try:
        codes, values = pd.factorize(column, sort=True)
    except TypeError as error:  # for example a list in a cell
        raise TableError(f"column {column.name!r} must contain single values: {error}") from error
    return codes, pd.Index(values, name=column.name)


def plain_index(index: pd.Index) -> pd.Index:
    """Return an index of single values instead of tuples if an index has one level."""
    return index if index.nlevels > 1 else index.get_level_values(0)


def repeated(labels: pd.Index) -> pd.Index:
    """Return the labels that occur more than once."""
    return labels[labels.duplicated()].unique()


def multi_index(levels: Sequence[pd.Index], codes: Sequence[np.ndarray], labels: Sequence[Hashable]) -> pd.MultiIndex:
    """Build a MultiIndex from levels and codes without copying the levels or checking anything."""
    return pd.MultiIndex(levels=levels, codes=codes, names=labels, verify_integrity=False)  # type: ignore[arg-type]


#: The largest key of a combination: above it, multiplying by the size of another column could overflow 64 bits.
LARGEST_KEY = 2**62


def group_codes(codes: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """Number the distinct combinations of several coded columns, in sorted order, from 0."""
    group, possible = np.zeros(len(codes[0]), dtype=np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if possible * size > LARGEST_KEY:  # renumber densely, so that the mixed-radix key cannot overflow
            group = densely(group)
            possible = int(group.max(initial=0)) + 1
        group = group * size + code
        possible *= max(size, 1)
    return densely(group)


#: Marking numbers in a table of all possible ones is faster than sorting, up to this many possible numbers per number.
MOST_POSSIBLE = 4


def densely(key: np.ndarray) -> np.ndarray:
    """Number the distinct nonnegative integers in sorted order, from 0."""
    size = int(key.max(initial=-1)) + 1
    if size > MOST_POSSIBLE * len(key):
        return np.unique(key, return_inverse=True)[1]
    occurs = np.zeros(size, dtype=bool)
    occurs[key] = True
    return (np.cumsum(occurs) - 1)[key]


def tally(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], count: np.ndarray | None) -> sp.csr_array:
    """Count records by row and column code, as integers, without explicit zeros."""
    ones = np.ones(len(row), dtype=np.int64) if count is None else count
    table = sp.csr_array((ones, (row, column)), shape=shape)  # adds up repeated entries, and sorts
    table.eliminate_zeros()
    return table


def term_codes(tuples: sp.csr_array, values: sp.csr_array) -> dict[str, np.ndarray]:
    """Return the codes of the terms P(q, s, b) for all q and s in a bucket b, from their counts by bucket."""
    qb, sb = tuples.tocsc(), values.tocsc()
    bucket = np.repeat(np.arange(sb.shape[1]), np.diff(qb.indptr))  # of every pair of a tuple and a bucket
    repeat = np.diff(sb.indptr)[bucket]
    return {
        "q": np.repeat(qb.indices, repeat).astype(np.int64),
        "s": sb.indices[ranges(sb.indptr[bucket], repeat)].astype(np.int64),
        "bucket": np.repeat(bucket, repeat),
    }


# Columns of tables: names, roles and counts, checked on input.


def names(columns: str | Iterable[str], role: str) -> tuple[str, ...]:
    """Return column names as a tuple of at least one; a single string is one column."""
    if isinstance(columns, pd.DataFrame):
        raise TableError(f"{role} must be a column name or a list of column names, not {short_repr(columns)}")
    is_list = not isinstance(columns, str | bytes) and is_several(columns)
    if not (listed := tuple(columns) if is_list else (columns,)):
        raise TableError(f"{role} must contain at least one column name")
    if strange := [name for name in listed if not is_text(name)]:
        raise TableError(f"column names in {role} must be str, not {short_repr(strange[0])}; rename the column")
    return listed  # type: ignore[return-value]


def check_named(columns: Iterable[object], roles: Mapping[str, Sequence[str]], what: str) -> list[str]:
    """Check that the columns of all roles exist and are distinct; return them."""
    known = [column for column in columns if isinstance(column, str)]  # comparing with pandas.NA raises an error
    role_of: dict[str, str] = {}
    for role, columns_of_role in roles.items():
        for column in columns_of_role:
            if not is_text(column):
                raise TableError(f"column names in {role} must be str, not {short_repr(column)}; rename the column")
            if column not in known:
                raise unknown_name(f"column of {what} (given as {role})", column, known)
            if column in role_of:
                raise TableError(
                    f"column {column!r} is given as {role_of[column]} and as {role}; a column can have only one role, so "
                    "remove it from one of the two"
                )
            role_of[column] = role
    if doubled := [column for column in role_of if known.count(column) > 1]:
        raise TableError(f"{what} has more than one column named {join_names(doubled)}; rename them")
    return list(role_of)


def check_columns(
    frame: pd.DataFrame, roles: Mapping[str, Sequence[str]], what: str, sets: Collection[str] = ()
) -> None:
    """Check that the columns of all roles exist, are distinct and complete; cells of `sets` may be sets of values."""
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"{what} must be a pandas DataFrame, not a {type(frame).__name__}")
    check_labels(frame.columns, f"a name of a column of {what}")
    columns = check_named(frame.columns, roles, what)
    if frame.empty:
        raise TableError(f"there are no rows in {what}; at least one record is needed")
    for column in columns:
        cells = frame[column]
        if column in sets and cells.dtype == object:  # each value of a set is checked like a single value
            is_set = cells.map(lambda cell: isinstance(cell, set | frozenset | list | tuple)).to_numpy(dtype=bool)
            check_labels(cells[is_set].explode(), f"a value of a set in column {column!r} of {what}")
            cells = cells[~is_set]
        check_labels(cells, f"a cell of column {column!r} of {what}")
    missing = frame[columns].isna().sum()
    if (missing := missing[missing > 0]).size:
        where = ", ".join(f"{column!r} ({count} of {len(frame)})" for column, count in missing.items())
        other = "" if "count" in roles else ", or replace the missing values by a separate value, such as '?'"
        raise TableError(f"{what} has missing values in {where}; drop those rows{other}")


def check_labels(values: pd.Series | pd.Index, what: str) -> None:
    """Check that every label is a single value, such as a text or a number, and that its text can be encoded."""
    if values.dtype == object:
        try:
            if not all(is_text(value) for value in pd.unique(values) if isinstance(value, str)):
                raise TableError(f"{what} contains half of a surrogate pair, which cannot be encoded; replace it")
        except TypeError:
            strange = next(value for value in values if not pd.api.types.is_hashable(value))
            raise TableError(
                f"{what} is a {type(strange).__name__}; only single values are supported, such as texts or numbers"
            ) from None


def count_column(counts: pd.Series, what: str) -> np.ndarray:
    """Return a column of record counts as nonnegative integers."""
    values = _floats(counts)
    bad = ~(np.isfinite(values) & (values >= 0) & (values <= LARGEST_COUNT) & (values == np.round(values)))
    if bad.any():
        raise TableError(
            f"column {counts.name!r} of {what} must contain counts of records, integers from 0 to {LARGEST_COUNT}; "
            f"{int(bad.sum())} of {len(bad)} cells do not (the first is in row {int(bad.argmax()) + 1}, counted from 1)"
        )
    check_total(values.sum(), f"column {counts.name!r} of {what} counts")
    return values.astype(np.int64)


def check_total(n: float, what: str) -> None:
    """Check that a total number of records can be represented."""
    if n > LARGEST_COUNT:
        raise TableError(
            f"{what} {n:.6g} records, but at most {LARGEST_COUNT} are supported; divide all counts by the same number, "
            "which does not change any probability"
        )


def _floats(column: pd.Series) -> np.ndarray:
    """Return the cells of a column as floats, NaN where they are not numbers."""
    try:
        numeric = pd.to_numeric(column, errors="coerce")
        return np.full(len(column), np.nan) if numeric.dtype.kind == "c" else numeric.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError):  # integers above the range of floats, or arrays
        return np.full(len(column), np.nan)


#: The largest count, in records: above it, floats do not represent every integer.
LARGEST_COUNT = 2**53


#: Names of count columns in AnonyPyx, SQL, pandas and R, and in other languages, without capitals, spaces and signs.
COUNTS = {"count", "counts", "cnt", "n", "freq", "frequency", "records", "people"} | {
    "nrecords", "npeople", "numrecords", "recordcount", "groupcount", "numberofrecords", "numberofpeople",
    "anzahl", "häufigkeit", "fallzahl", "effectif", "effectifs", "frecuencia", "conteo", "frequência", "contagem",
    "frequenza", "conteggio", "人数", "件数", "度数",
}  # fmt: skip


#: What to do about such a column if every row is one person.
REPEAT = "one row per person is expected, so repeat each row by its {name!r} (on the command line, --count {name})"
GIVE = "give {name!r} as count (on the command line, --count {name})"


def looks_like_count(name: object) -> bool:
    """Return whether a column has the name of a count of records."""
    return re.sub(r"[\W_]", "", str(name).lower()) in COUNTS


def check_no_count(table: pd.DataFrame, roles: Mapping[str, Sequence[str]], what: str, remedy: str = GIVE) -> None:
    """Raise TableError if a column without a role looks like a count of people, which would be lost."""
    with_role = {column for columns in roles.values() for column in columns}
    for name in table.columns:
        if name in with_role or not looks_like_count(name):
            continue
        column = table.loc[:, name]
        if column.ndim > 1 or pd.api.types.is_bool_dtype(column):
            continue
        numbers = _floats(column)
        if (numbers >= 0).all() and (numbers == np.round(numbers)).all() and (numbers != 1).any():
            raise TableError(
                f"column {name!r} of {what} looks like the number of people that each row represents: "
                f"{numbers.sum():.0f} people in {len(table)} rows; {remedy.format(name=name)}, or, if it contains "
                "something else, drop or rename it (on the command line, --no-count)"
            )


def counted(
    table: pd.DataFrame, roles: dict[str, tuple[str, ...]], count: str | None, what: str, sets: Collection[str] = ()
) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Check a table that may have a column of counts; rows with the count 0 are dropped, as they contain no people."""
    if count is not None and not isinstance(count, str):
        raise TableError(f"count must be a column name, got {short_repr(count)}")
    if count is None or not isinstance(table, pd.DataFrame) or count not in table.columns:
        check_columns(table, roles, what, sets)
        return table, None
    check_columns(table, {**roles, "count": (count,)}, what, sets)
    counts = count_column(table[count], what)
    if not counts.any():
        raise TableError(f"{what} contains no records, as every {count!r} is 0; at least one record is needed")
    return table[counts > 0], counts[counts > 0]


def counted_people(
    table: pd.DataFrame, roles: dict[str, tuple[str, ...]], count: str | None, what: str, others: Sequence[str] = ()
) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Check a table that has the column of counts if one is given, and else no column that looks like one.

    A column of `others`, if it occurs, does not contain counts, either.
    """
    people, each = counted(table, roles, count, what)
    if count is not None and each is None:
        raise unknown_name(f"column of {what} (given as count)", count, people.columns)
    if count is None:
        check_no_count(people, {**roles, "others": others}, what)
    return people, each


# Microdata: a DataFrame whose columns have roles, checked on input.


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records of people: quasi-identifiers, sensitive attributes, and optionally a bucket."""

    frame: pd.DataFrame
    qi: tuple[str, ...]
    sa: tuple[str, ...]
    bucket: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "qi", names(self.qi, "qi"))
        object.__setattr__(self, "sa", names(self.sa, "sa"))
        roles = {"qi": self.qi, "sa": self.sa}
        roles |= {role: (c,) for role in ("bucket", "id") if (c := getattr(self, role)) is not None}
        check_columns(self.frame, roles, what="the table")
        if self.id is not None:
            check_once(self.frame[self.id])

    @classmethod
    def of_people(cls, frame: pd.DataFrame, qi: str | Iterable[str], sa: str | Iterable[str]) -> Self:
        """Build from a table with one row per person; raise TableError if a column looks like a count."""
        data = cls(frame, names(qi, "qi"), names(sa, "sa"))
        check_no_count(frame, {"qi": data.qi, "sa": data.sa}, "the table", REPEAT)
        return data

    def __len__(self) -> int:
        return len(self.frame)

    def tuples(self) -> tuple[np.ndarray, pd.MultiIndex]:
        """Number the distinct QI tuples: a code for every record, and the sorted tuples."""
        return sort_distinct(self.frame[list(self.qi)])

    def values(self) -> tuple[np.ndarray, pd.Index]:
        """Number the distinct sensitive values: a code for every record, and the sorted values."""
        return distinct(self.frame[list(self.sa)])


def check_once(column: pd.Series) -> None:
    """Check that each person occurs only once in a column of pseudonyms."""
    if (repeated := column.value_counts() > 1).any():
        raise TableError(
            f"column {column.name!r} contains {pluralize(int(repeated.sum()), 'person', 'people')} more than once; "
            "one row per person is expected: drop the repeats, or do not use the column as pseudonyms (id)"
        )


def check_types(tables: Sequence[pd.DataFrame]) -> None:
    """Check that labels have the same types in all tables, since 7 differs from "7" and "007"."""
    for name in tables[0].columns:
        columns = [table[name].drop_duplicates() for table in tables]
        kinds = [{isinstance(label, str) for label in column} for column in columns]
        labels = pd.concat(columns).drop_duplicates()
        as_text = labels.map(str)
        differ = [labels[as_text == text].tolist() for text in as_text[as_text.duplicated()][:1]]
        for column, kind in zip(columns, kinds, strict=True):
            if kind.isdisjoint(kinds[0]):
                differ.append([columns[0].iloc[0], column.iloc[0]])
        if differ:
            raise TableError(
                f"labels of {name!r} have different types, such as {join_names(differ[0])}; convert them to one type in "
                "all tables"
            )


def concatenated(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables with the same columns and types; ordered categories become those of the longest order."""
    check_types(tables)
    for name in tables[0].columns:
        dtypes = [table[name].dtype for table in tables]
        orders = [dtype.categories for dtype in dtypes if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered]
        most = max(orders, key=len, default=pd.Index([]))
        if any(not most[most.isin(order)].equals(order) for order in orders) or 0 < len(orders) < len(tables):
            raise TableError(f"{name!r} has different ordered categories in different tables; use the same in all")
        if orders:
            tables = [table.astype({name: pd.CategoricalDtype(most, ordered=True)}) for table in tables]
    return pd.concat(tables, ignore_index=True)


# Numeric labels, and numbers assigned to labels.


def real_numbers(
    table: pd.DataFrame | pd.Series | pd.Index, what: str, error: type[MaxEntError] = TableError
) -> np.ndarray:
    """Return the numbers of a table as floats; the message contains no entries, which pandas' own would show."""
    with suppress(OverflowError, TypeError, ValueError):
        if not np.iscomplexobj(table.to_numpy()):  # a conversion would drop the imaginary parts
            return table.to_numpy(dtype=float)
    raise error(f"{what} must contain real numbers only")


def as_numbers(values: Iterable[object], what: str) -> np.ndarray:
    """Return finite real numbers: integers as int64, uint64 or Python integers, whichever fits first; else floats."""
    if isinstance(values, str | bytes | Mapping | set | frozenset | pd.DataFrame) or not is_several(values):
        raise TableError(f"{what} must be a list of numbers, not a {type(values).__name__}")
    listed = values if isinstance(values, np.ndarray | pd.Series | pd.Index) else pd.Series(list(values))
    if np.ndim(listed) != 1 or isinstance(listed, pd.MultiIndex):
        raise TableError(f"{what} must be a list of numbers, not of shape {np.shape(listed)}")
    if isinstance(listed.dtype, pd.CategoricalDtype):
        listed = pd.Index(np.asarray(listed))
    if pd.isna(listed).any():
        raise TableError(f"{what} must not contain missing values")
    if listed.dtype == object:
        return _as_they_are(list(listed), what)
    is_number = pd.api.types.is_numeric_dtype(listed) and not pd.api.types.is_bool_dtype(listed)
    if not is_number or pd.api.types.is_complex_dtype(listed):
        raise TableError(f"{what} must be real numbers, not of type {listed.dtype}")
    if pd.api.types.is_integer_dtype(listed):
        return np.asarray(listed, dtype=np.uint64 if pd.api.types.is_unsigned_integer_dtype(listed) else np.int64)
    return check_finite(np.asarray(listed, dtype=float), what, TableError)


def as_list(given: Any) -> list[Any]:
    """Return a number, or any container of numbers, as a list; the elements are not checked."""
    return [given] if isinstance(given, str | bytes | Mapping) or not is_several(given) else list(given)


def _as_they_are(listed: list[object], what: str) -> np.ndarray:
    """Return numbers of different types in an array of objects or floats."""
    strangers = [
        number for number in listed if isinstance(number, bool) or not isinstance(number, numbers.Real | Decimal)
    ]
    if strangers:
        raise TableError(f"{what} must be real numbers, got {join_names(strangers)}")
    if all(isinstance(number, numbers.Integral) for number in listed):
        return np.array([int(number) for number in listed], dtype=object)  # type: ignore[call-overload]
    try:
        return check_finite(np.array([float(number) for number in listed]), what, TableError)  # type: ignore[arg-type]
    except OverflowError as error:
        raise TableError(f"{what} contain a number that is too large: {error}") from error


def numbers_of(labels: pd.Index, values: object = None) -> np.ndarray:
    """Return the number of every sensitive value: the value itself, or the one that `values` assigns to it."""
    what = f"the values of {labels.name!r}"
    if values is None:
        try:
            return as_numbers(labels, what)
        except TableError as error:
            raise TableError(f"{error}; give the number of each value, values={{value: number}}") from error
    if not isinstance(values, Mapping | pd.Series):
        raise TableError(f"values must be a dictionary or Series {{value: number}}, not {short_repr(values)}")
    if isinstance(values, pd.Series) and values.index.has_duplicates:
        twice = join_names(repeated(values.index))
        raise TableError(f"values must have one number for each value, but have several for {twice}")
    table = values.to_dict() if isinstance(values, pd.Series) else values
    if missing := [label for label in labels if label not in table]:
        raise TableError(f"values must have a number for each value of {labels.name!r}, but lack {join_names(missing)}")
    return as_numbers([table[label] for label in labels], f"the numbers that {what} stand for")


@dataclass(frozen=True)
class Choice:
    """The values of one attribute that a statement refers to."""

    values: frozenset[Any] | None  # the chosen values; their order has no meaning
    interval: pd.Interval | None = None  # instead of values: all values in the interval, closed ends included

    def __str__(self) -> str:
        if self.interval is not None:
            return f"in {_interval_text(self.interval)}"
        return " or ".join(sorted(map(format_value, self.values or ())))

    @property
    def after_name(self) -> str:
        """Return the text after the attribute's name: ``=30``, `` in [20, 30)``, or `` >= 20``."""
        if self.interval is None:
            return f"={self}"
        low, high, closed = *map(_end, (self.interval.left, self.interval.right)), self.interval.closed
        if any(isinstance(end, str) and " " in end for end in (low, high)):  # a time
            return f" {self}"
        if high == math.inf and low != -math.inf and closed in ("left", "neither"):
            return f" {'>=' if closed == 'left' else '>'} {format_value(low)}"
        if low == -math.inf and high != math.inf and closed in ("right", "neither"):
            return f" {'<=' if closed == 'right' else '<'} {format_value(high)}"
        return f" {self}"

    def mask(self, known: pd.Index, attribute: str) -> np.ndarray:
        """Mark the chosen entries of `known`, the published values of the attribute."""
        if self.interval is None:
            chosen = list(self.values or ())
            for i, value in enumerate(chosen):
                chosen[i] = label_of(value, known)
                if chosen[i] not in known:
                    # A date is written as a text only if one is expected.
                    labels = map(_end, known) if isinstance(value, str) else known
                    raise unknown_name(f"value of {attribute!r}", value, labels)
            return np.asarray(known.isin(chosen))
        if self.interval in known:  # the values of a generalised attribute are intervals
            return np.asarray(known == self.interval)
        if (text := _interval_text(self.interval)) in known:  # as written in a generalised table
            return np.asarray(known == text)
        if isinstance(known, pd.CategoricalIndex):  # whose categories may have another order, or none
            known = pd.Index(known.astype(known.categories.dtype))
        low, high = self.interval.left, self.interval.right
        if isinstance(low, pd.Timestamp) and not isinstance(known, pd.DatetimeIndex):
            known = _as_dates(known, attribute)
        if isinstance(known, pd.DatetimeIndex) and isinstance(low, pd.Timestamp) and low.tz is None:
            known = known.tz_localize(None)  # a date without a time zone is one in the zone of the values
        low, high = label_of(low, known), label_of(high, known)
        try:
            above = known >= low if self.interval.closed_left else known > low
            below = known <= high if self.interval.closed_right else known < high
        except TypeError as error:  # texts, or dates among numbers
            raise StatementError(
                f"the values of {attribute!r} cannot be compared with the ends of {_interval_text(self.interval)}; list values: "
                f"{join_names(known)}"
            ) from error
        if not (inside := np.asarray(above & below)).any():
            raise StatementError(
                f"no published value of {attribute!r} lies in {_interval_text(self.interval)}; "
                f"the values range from {_end(known.min())} to {_end(known.max())}"
            )
        return inside


#: The ends of intervals of dates that have one end only.
FIRST_DATE, LAST_DATE = pd.Timestamp(datetime.datetime.min), pd.Timestamp(datetime.datetime.max)


def interval_of(low: Any, high: Any, closed: Any) -> pd.Interval:
    """Return an interval of numbers or dates; an infinite end of an interval of dates is the first or last date."""
    if isinstance(high, pd.Timestamp) and low == -math.inf:
        low = FIRST_DATE
    if isinstance(low, pd.Timestamp) and high == math.inf:
        high = LAST_DATE
    return pd.Interval(low, high, closed)


def _end(end: Any) -> Any:
    """Return an end of an interval for messages: a date as text, such as 2024-01-31, and a number unchanged."""
    if not isinstance(end, pd.Timestamp):
        return end
    return {FIRST_DATE: -math.inf, LAST_DATE: math.inf}.get(end, str(end).removesuffix(" 00:00:00"))


def _interval_text(interval: pd.Interval) -> str:
    """Write an interval for messages, such as [2024-01-31, inf)."""
    left, right = "[" if interval.closed_left else "(", "]" if interval.closed_right else ")"
    return f"{left}{_end(interval.left)}, {_end(interval.right)}{right}"


def _as_dates(known: pd.Index, attribute: str) -> pd.Index:
    """Convert texts such as 2024-01-31, or dates that are Python objects; raise an error for others."""
    texts = pd.Index(known.map(str))
    dates = pd.to_datetime(texts, format="ISO8601", errors="coerce")
    if not isinstance(dates, pd.DatetimeIndex) or dates.isna().any() or not texts.str.match(DATE_PATTERN).all():
        raise StatementError(
            f"the values of {attribute!r}, such as {join_names(known[:1])}, are not dates such as 2024-01-31; write them so in "
            "the table, or list values"
        )
    return dates


def choose(chosen: object, attribute: str) -> Choice:
    """Read a selection: a value, a list (or set, Index, Series) of values, or a pandas Interval."""
    # A tuple is refused, since it could mean a set of values or an interval.
    if isinstance(chosen, Choice):
        return chosen
    if isinstance(chosen, pd.Interval):
        return Choice(None, chosen)
    if isinstance(chosen, pd.DataFrame | dict) or getattr(chosen, "ndim", 1) > 1:
        raise StatementError(f"{attribute} must be a value or a list of values, not {short_repr(chosen)}")
    if isinstance(chosen, tuple):
        raise StatementError(
            f"{attribute} = {short_repr(chosen)} could mean these two values or the interval between them; "
            f"write the list {short_repr(list(chosen))}, or pandas.Interval(low, high, closed='both')"
        )
    if isinstance(chosen, str | bytes) or not is_several(chosen):
        values: list[Any] = [chosen]
    else:
        values = list(chosen)
    if not values:
        raise StatementError(f"{attribute} = [] contains no value; at least one is needed")
    if any(pd.api.types.is_scalar(value) and pd.isna(value) for value in values):
        raise StatementError(f"{attribute} = {short_repr(chosen)} contains a missing value; remove it")
    try:
        return Choice(frozenset(values))
    except TypeError as error:
        raise StatementError(f"{attribute} = {short_repr(chosen)} must contain single values: {error}") from error
