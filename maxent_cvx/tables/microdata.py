"""Microdata: a DataFrame whose columns have roles, checked at the door."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .. import arguments
from ..errors import StatementError, TableError, listing, shown, unknown_name
from .numbers import one_or_several

__all__ = [
    "Microdata",
    "check_columns",
    "check_once",
    "count_column",
    "counted",
    "densely",
    "distinct",
    "factorize",
    "group_codes",
    "multi_index",
    "names",
    "ranges",
    "sizes_of",
    "sort_distinct",
    "tally",
]


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records of people: quasi-identifiers, sensitive attributes, perhaps a bucket.

    Parameters
    ----------
    frame : DataFrame
        One row a person. Rows keep their order and index; columns without a role are ignored.
    qi : sequence of str
        The quasi-identifier columns: what an adversary knows about people, in this order.
    sa : sequence of str
        The sensitive attribute; of several, each combination of values is one value.
    bucket : str, optional
        The column that says which published bucket a record is in.
    id : str, optional
        The column that names people. Checked to name each person once.

    Raises
    ------
    UnknownName
        If a column is not in the table.
    TableError
        If the table is empty, a column has two roles or missing values, or a person has two rows.
    """

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

    def __len__(self) -> int:
        return len(self.frame)

    def tuples(self) -> tuple[np.ndarray, pd.MultiIndex]:
        """Number the distinct QI tuples: a code for every record, and the sorted tuples."""
        return sort_distinct(self.frame[list(self.qi)])

    def values(self) -> tuple[np.ndarray, pd.Index]:
        """Number the distinct sensitive values: a code for every record, and the sorted values."""
        return distinct(self.frame[list(self.sa)])


def check_once(column: pd.Series) -> None:
    """Check that a column names each person once."""
    if (repeated := column.value_counts() > 1).any():
        raise TableError(
            f"column {column.name!r} names {int(repeated.sum())} people more than once; "
            "one row a person is expected: drop the repeats, or pass id=None"
        )


#: Counting is faster than sorting up to so many possible numbers for each that is there.
ROOM = 64
#: A count beyond this is no exact number of records in floating point.
MOST = 2**53


def names(columns: str | Iterable[str], role: str) -> tuple[str, ...]:
    """Read column names; a single string is one column, and at least one is needed."""
    if isinstance(columns, pd.DataFrame):
        raise TableError(f"{role} must name columns by text, not by {shown(columns)}")
    several = not isinstance(columns, str | bytes) and isinstance(columns, Iterable)
    if not (found := tuple(columns) if several else (columns,)):
        raise TableError(f"{role} names no column; name at least one")
    if strange := [name for name in found if not arguments.is_text(name)]:
        raise TableError(f"{role} must name columns by text, not by {shown(strange[0])}; rename such a column")
    return found  # type: ignore[return-value]


def sizes_of(attributes: int | Iterable[int] | None, n_attributes: int) -> list[int]:
    """Read how many QI attributes a pattern may set; None is any number."""
    sizes = list(range(1, n_attributes + 1))
    if attributes is None:
        return sizes
    asked = one_or_several(attributes)
    whole_ones = all(isinstance(size, numbers.Integral) and not isinstance(size, bool) for size in asked)
    if not asked or not whole_ones or not set(asked) <= set(sizes):
        raise StatementError(
            f"attributes={shown(attributes)}: an association can set 1 to {n_attributes} of the QI attributes"
        )
    return sorted({int(size) for size in asked})


def check_columns(frame: pd.DataFrame, roles: Mapping[str, Sequence[str]], what: str) -> None:
    """Check that every role's columns are in `frame`, distinct, and complete."""
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"{what} must be a pandas DataFrame, not a {type(frame).__name__}")
    held: dict[str, str] = {}
    for role, columns in roles.items():
        for column in columns:
            if not isinstance(column, str):
                raise TableError(f"{role} must name columns by text, not by {shown(column)}; rename such a column")
            if column not in frame.columns:
                raise unknown_name(f"column of {what} (given as {role})", column, frame.columns)
            if column in held:
                raise TableError(
                    f"column {column!r} is given as {held[column]} and as {role}; "
                    "a column has one role: take it out of one of the two"
                )
            held[column] = role
    doubled = [c for c in held if (frame.columns == c).sum() > 1]
    if doubled:
        raise TableError(f"{what} has more than one column named {listing(doubled)}; rename them")
    if frame.empty:
        raise TableError(f"{what} has no rows; at least one record is needed")
    missing = frame[list(held)].isna().sum()
    if (missing := missing[missing > 0]).size:
        found = ", ".join(f"{column!r} ({count} of {len(frame)})" for column, count in missing.items())
        raise TableError(
            f"{what} has missing values in {found}; drop those rows with .dropna(subset=[...])"
            + ("" if "count" in roles else ", or make 'missing' a value of its own with .fillna('?')")
        )


def count_column(counts: pd.Series, what: str) -> np.ndarray:
    """Read a column of record counts: whole numbers, none negative."""
    values = pd.to_numeric(counts, errors="coerce").to_numpy(dtype=float)
    bad = ~(np.isfinite(values) & (values >= 0) & (values <= MOST) & (values == np.round(values)))
    if bad.any():
        raise TableError(
            f"column {counts.name!r} of {what} must hold whole, non-negative counts of records; "
            f"{int(bad.sum())} of {len(bad)} are not (first at row {int(bad.argmax())})"
        )
    return values.astype(np.int64)


def counted(
    table: pd.DataFrame, roles: dict[str, tuple[str, ...]], count: str | None, what: str
) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Check a table that may have a column of counts; rows that count nobody say nothing and are left out."""
    if count is not None and not isinstance(count, str):
        raise TableError(f"count={shown(count)}: the name of a column is expected")
    if count is None or not isinstance(table, pd.DataFrame) or count not in table.columns:
        check_columns(table, roles, what)
        return table, None
    check_columns(table, {**roles, "count": (count,)}, what)
    counts = count_column(table[count], what)
    if not counts.any():
        raise TableError(f"{what} counts no record: every {count!r} is 0; at least one record is needed")
    return table[counts > 0], counts[counts > 0]


def sort_distinct(frame: pd.DataFrame) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct rows of a table in sorted order.

    Returns
    -------
    codes : ndarray of int, one a row
    index : MultiIndex
        The distinct rows, one level a column, sorted; an ordered Categorical keeps its order.
    """
    columns = [factorize(column) for _, column in frame.items()]
    levels = [level for _, level in columns]
    key = group_codes([code for code, _ in columns], [len(level) for level in levels])
    first = np.unique(key, return_index=True)[1]
    codes = [code[first] for code, _ in columns]
    return key, multi_index(levels, codes, list(frame.columns))


def distinct(frame: pd.DataFrame) -> tuple[np.ndarray, pd.Index]:
    """Number the distinct rows of a table in sorted order; of one column, its values."""
    return factorize(frame.iloc[:, 0]) if frame.shape[1] == 1 else sort_distinct(frame)


def ranges(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Count up from every start: start, start + 1, ..., `length` numbers each, one after the other."""
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(length.sum())


def factorize(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Number the distinct values of a column in sorted order."""
    try:
        codes, values = pd.factorize(column, sort=True)
    except TypeError as error:  # a list in a cell, say
        raise TableError(f"column {column.name!r} holds something that is no single value: {error}") from error
    return codes, pd.Index(values, name=column.name)


def multi_index(levels: Sequence[pd.Index], codes: Sequence[np.ndarray], labels: Sequence[Hashable]) -> pd.MultiIndex:
    """Build a MultiIndex from levels and codes; the levels are shared, not copied, and nothing is checked."""
    return pd.MultiIndex(levels=levels, codes=codes, names=labels, verify_integrity=False)  # type: ignore[arg-type]


def group_codes(codes: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """Number the combinations that occur of several coded columns, in sorted order, from 0."""
    group = np.zeros(len(codes[0]), dtype=np.int64)
    for code, size in zip(codes, sizes, strict=True):
        # Dense again after each column, so that the mixed-radix key cannot overflow.
        group = densely(group * size + code)
    return group


def densely(key: np.ndarray) -> np.ndarray:
    """Number the distinct whole numbers, none negative, in sorted order from 0."""
    size = int(key.max(initial=-1)) + 1
    if size > ROOM * len(key):
        return np.unique(key, return_inverse=True)[1]
    occurs = np.zeros(size, dtype=bool)
    occurs[key] = True
    return (np.cumsum(occurs) - 1)[key]


def tally(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], count: np.ndarray | None) -> sp.csr_array:
    """Count records by row and column code, as integers, zeros left out."""
    ones = np.ones(len(row), dtype=np.int64) if count is None else count
    table = sp.coo_array((ones, (row, column)), shape=shape).tocsr()  # repeated entries are added up
    table.eliminate_zeros()
    table.sort_indices()
    return table
