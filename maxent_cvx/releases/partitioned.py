"""PartitionedRelease: a release larger than memory, in partitions of whole buckets.

The release is made in two passes over partitions of records. The first pass counts the QI tuples, sensitive values and
buckets of each partition; tuples and values receive global numbers in sorted order. The second pass, on demand, counts
the records of a partition by bucket with these numbers. If a bucket is in several pieces of a table, records are first
shuffled by bucket: through temporary Parquet files in this process, or by Dask if there is a client.
"""

from __future__ import annotations

import glob
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from .._utils.errors import StatementError, TableError, join_names, pluralize, short_repr
from .._utils.files import TemporaryFolder
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.parallel import Executor, LocalExecutor, current_client, executor_for, then
from .._utils.tables import (
    check_columns,
    check_named,
    check_no_count,
    check_total,
    count_column,
    factorize,
    group_codes,
    looks_like_count,
    multi_index,
    names,
    sort_distinct,
    tally,
)
from .._utils.validation import check_int, check_path
from .base import BucketView, sizes_of
from .readers import check_release_roles

if TYPE_CHECKING:
    import pyarrow as pa

#: Largest integer up to which float64 represents all integers.
LARGEST_EXACT = 2**53
#: Kinds of values, as inferred by pandas, that can be compared between partitions.
COMPARABLE = {
    "integer": "numbers", "floating": "numbers", "mixed-integer-float": "numbers", "string": "texts",
    "boolean": "truth values", "datetime64": "times", "datetime": "times", "date": "dates", "time": "times of day",
    "timedelta": "durations", "timedelta64": "durations", "period": "periods", "interval": "intervals",
    "decimal": "decimals", "bytes": "bytes",
}  # fmt: skip


def plain(column: pd.Series) -> pd.Series:
    """Convert a Categorical to the type of its values, unless it is ordered."""
    if isinstance(column.dtype, pd.CategoricalDtype) and not column.dtype.ordered:
        return column.astype(column.cat.categories.dtype)
    return column


def kind_of(values: pd.Index) -> str:
    """Return the kind of the distinct values of a column, or raise if there are several, such as 1 and "1"."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return f"ordered {kind_of(values.dtype.categories.rename(values.name))}"
    kind = pd.api.types.infer_dtype(values)
    if kind not in COMPARABLE:
        raise TableError(
            f"column {values.name!r} contains values of several types ({kind}), which cannot be compared between "
            "partitions; convert them to one type first, .astype(str)"
        )
    zone = getattr(values.dtype, "tz", None)
    return COMPARABLE[kind] if zone is None else f"{COMPARABLE[kind]} in {zone}"


def check_one_kind(kinds: Iterable[str], column: str) -> None:
    """Check that the values of a column are of one kind in all partitions."""
    if len(several := list(dict.fromkeys(kinds))) > 1:
        raise TableError(
            f"column {column!r} contains {' in some partitions, and '.join(several[:2])} in others; "
            "convert them to one type first"
        )


def united_values(several: Sequence[pd.Index]) -> tuple[list[np.ndarray], pd.Index]:
    """Return the numbers of the values of a column in each partition, and all values of all partitions, sorted."""
    check_one_kind(map(kind_of, several), str(several[0].name))
    if any(isinstance(values.dtype, pd.CategoricalDtype) and values.dtype != several[0].dtype for values in several):
        raise TableError(
            f"column {several[0].name!r} has different ordered categories in different partitions; use the same in all"
        )
    values_of_all = pd.concat([pd.Series(values) for values in several], ignore_index=True)
    if values_of_all.dtype.kind == "f":
        whole = [values for values in several if values.dtype.kind in "iu" and len(values)]
        if any(max(abs(int(values.min())), int(values.max())) > LARGEST_EXACT for values in whole):
            raise TableError(
                f"column {several[0].name!r} contains integers beyond 2^53 in some partitions, but floating-point "
                "numbers, which cannot represent them, in others; convert them to one type first"
            )
    codes, united = factorize(values_of_all.rename(str(several[0].name)))
    ends = np.cumsum([len(values) for values in several])
    return np.split(codes, ends[:-1]), united


AnyIndex = TypeVar("AnyIndex", bound=pd.Index)


def number_rows(rows: pd.DataFrame) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct rows of a partition in sorted order, with labels that are comparable between partitions."""
    return sort_distinct(pd.DataFrame({name: plain(column) for name, column in rows.items()}))


@dataclass(frozen=True, eq=False)
class CountedTuples:
    """Distinct rows, sorted, and the number of records with each, in a few bytes per row."""

    labels: pd.MultiIndex  # one level per column, with codes of the smallest integer type
    records: np.ndarray  # one per distinct row

    @classmethod
    def of(cls, rows: pd.DataFrame, records: np.ndarray) -> Self:
        """Count the distinct rows of one partition, given the number of records per row."""
        code, labels = number_rows(rows)
        return cls(labels, smallest(np.bincount(code, records, len(labels)).astype(np.int64)))

    @classmethod
    def united(cls, several: Sequence[Self]) -> tuple[Self, list[np.ndarray]]:
        """Sum the counts of all partitions, and return them with the ascending global row numbers per partition."""
        levels, codes = [], []
        for i in range(several[0].labels.nlevels):
            parts, values = united_values([tuples.labels.levels[i] for tuples in several])
            levels.append(values)
            pairs = zip(parts, several, strict=True)
            codes.append(np.concatenate([smallest(new)[np.asarray(tuples.labels.codes[i])] for new, tuples in pairs]))
        number = group_codes(codes, [len(values) for values in levels])
        first = np.unique(number, return_index=True)[1]
        records = np.bincount(number, np.concatenate([tuples.records for tuples in several])).astype(np.int64)
        labels = multi_index(levels, [code[first] for code in codes], list(several[0].labels.names))
        numbers = smallest(number)
        ends = np.cumsum([len(tuples.labels) for tuples in several])
        return cls(labels, records), np.split(numbers, ends[:-1])


def unshared(index: AnyIndex) -> AnyIndex:
    """Return a copy with its own hash table, which pandas cannot build safely in two threads at once."""
    if isinstance(index, pd.MultiIndex):
        levels = [unshared(level) for level in index.levels]
        return multi_index(levels, index.codes, list(index.names))  # type: ignore[return-value]
    return pd.Index(index.array, name=index.name)


def smallest(numbers: np.ndarray) -> np.ndarray:
    """Convert non-negative integers to the smallest possible type."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


@dataclass(frozen=True, eq=False, repr=False)
class ReleasePart(BucketView):
    """Some buckets of a release, with their QI tuples and the sensitive values of the whole release.

    P(q), P(s) and N are those of the whole release, so that statements have the same meaning in every partition.
    """

    # one per QI tuple: the global number, ascending
    q_numbers: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    # total numbers of records in all partitions: one per QI tuple, one per sensitive value, and overall
    n_q_whole: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_s_whole: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_whole: int = 0

    @property
    def n_q(self) -> np.ndarray:
        """Number of records in all partitions with each QI tuple of this one."""
        return self.n_q_whole

    @property
    def n_s(self) -> np.ndarray:
        """Number of records in all partitions with each sensitive value."""
        return self.n_s_whole

    @property
    def n_records(self) -> int:
        """N, the number of records in all partitions."""
        return self.n_whole


class PartSize(NamedTuple):
    """The size of a partition."""

    records: int
    buckets: int
    tuples: int


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedRelease(ReprMixin):
    """A release in partitions of whole buckets, which are computed on demand.

    Use :meth:`Release.from_parquet`, :meth:`Release.from_dask`, or :func:`maxent_cvx.anonymize.anatomy` with a Dask
    DataFrame to make one. This process stores only the overall marginals, a few bytes per distinct QI tuple.

    Attributes
    ----------
    qi, sensitive, bucket : tuple of str, tuple of str, str
        Column names.
    quasi_identifiers : MultiIndex
        The distinct QI tuples of all partitions, sorted.
    sensitive_values : Index
        The distinct sensitive values, sorted.
    n_q, n_s : ndarray
        Number of records with each QI tuple, and with each sensitive value.
    makers : tuple
        One function without arguments, or Dask Delayed, per partition, which computes its ``ReleasePart``.
    sizes : tuple of PartSize
        Records, buckets and distinct QI tuples of each partition.

    Examples
    --------
    >>> import maxent_cvx as mx, tempfile
    >>> hospital = mx.datasets.load_hospital()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hospital.to_parquet(f"{folder}/people.parquet")
    ...     release = mx.Release.from_parquet(
    ...         folder, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket", partitions=2)
    >>> release
    <PartitionedRelease: 10 records in 3 buckets, 2 partitions; 6 distinct (Gender, Degree), 5 values of 'Disease'>
    >>> release.n_records, release.n_buckets, release.n_partitions
    (10, 3, 2)
    """

    noun: ClassVar[str] = "release"
    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    bucket: str
    quasi_identifiers: pd.MultiIndex
    sensitive_values: pd.Index
    n_q: np.ndarray
    n_s: np.ndarray
    makers: tuple[Any, ...]
    sizes: tuple[PartSize, ...]

    @property
    def n_records(self) -> int:
        """N, the number of records in all partitions."""
        return int(self.n_q.sum())

    @property
    def inside(self) -> np.ndarray:
        """Mask of the sensitive values of people in the release: always True."""
        return np.ones(len(self.sensitive_values), dtype=bool)

    @property
    def n_buckets(self) -> int:
        """The number of buckets in all partitions."""
        return sum(size.buckets for size in self.sizes)

    @property
    def n_partitions(self) -> int:
        """The number of partitions."""
        return len(self.makers)

    def describe(self) -> pd.DataFrame:
        """List the partitions and their sizes.

        Returns
        -------
        DataFrame
            One row per partition, with columns records, buckets and tuples (distinct QI tuples).

        Examples
        --------
        >>> import maxent_cvx as mx, tempfile
        >>> hospital = mx.datasets.load_hospital()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for bucket, people in hospital.groupby("Bucket"):          # one file per bucket
        ...         people.to_parquet(f"{folder}/{bucket}.parquet")
        ...     release = mx.Release.from_parquet(
        ...         folder, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket", partitions=3)
        >>> print(release.describe())
                   records  buckets  tuples
        partition
        0                4        1       3
        1                3        1       3
        2                3        1       3
        """
        return pd.DataFrame(self.sizes, columns=list(PartSize._fields)).rename_axis("partition")

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.describe(), "partitions")]

    def __repr__(self) -> str:
        return (
            f"<PartitionedRelease: {pluralize(self.n_records, 'record')} in {pluralize(self.n_buckets, 'bucket')}, "
            f"{pluralize(self.n_partitions, 'partition')}; {sizes_of(self)}>"
        )


def divided(release: BucketView, n: int) -> PartitionedRelease:
    """Divide a release in memory into n partitions of whole buckets, with nearly equal numbers of records."""
    n = check_int(n, "partitions", 1, max(len(release.buckets), 1))
    records = np.asarray(release.n_qb.sum(axis=0))
    ends = np.cumsum(records)
    of_bucket = np.minimum((ends - 1) * n // max(int(ends[-1]) if len(ends) else 1, 1), n - 1)
    places = [np.flatnonzero(of_bucket == i) for i in np.unique(of_bucket)]
    by_bucket = release.n_qb.tocsc()
    sizes = [PartSize(int(records[at].sum()), len(at), len(np.unique(by_bucket[:, at].indices))) for at in places]
    return PartitionedRelease(
        release.qi, release.sensitive, release.bucket, release.quasi_identifiers, release.sensitive_values,
        release.n_q, release.n_values, tuple(partial(part_of, release, at) for at in places), tuple(sizes),
    )  # fmt: skip


def part_of(release: BucketView, buckets: np.ndarray) -> ReleasePart:
    """Return a partition with some buckets of a release, given by position."""
    n_qb = release.n_qb[:, buckets].tocsr()
    q_numbers = np.flatnonzero(np.diff(n_qb.indptr))
    return ReleasePart(
        release.qi, release.sensitive, release.bucket, unshared(release.quasi_identifiers[q_numbers]),
        unshared(release.sensitive_values), release.buckets[buckets], n_qb[q_numbers].tocsr(),
        release.n_sb[:, buckets].tocsr(), q_numbers=q_numbers, n_q_whole=release.n_q[q_numbers],
        n_s_whole=release.n_values, n_whole=release.n_records,
    )  # fmt: skip


@dataclass(frozen=True)
class Roles:
    """The columns of quasi-identifiers, sensitive attributes, the bucket, and the number of records per row."""

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    bucket: str
    count: str | None = None  # None: each row is one record

    @classmethod
    def read(
        cls, qi: str | Iterable[str], sa: str | Iterable[str], bucket: str, count: str | None, id: object = None
    ) -> Self:
        """Validate the arguments of users."""
        if id is not None:
            raise StatementError(
                "id is not supported for partitioned releases, which have no pseudonyms; omit it, or make the release "
                "in memory with Release.from_buckets"
            )
        if count is not None and not isinstance(count, str):
            raise TableError(f"count must be the name of a column, got {short_repr(count)}")
        (one_bucket,) = names([bucket], "bucket")
        return cls(names(qi, "qi"), names(sa, "sa"), one_bucket, count)

    @property
    def players(self) -> dict[str, tuple[str, ...]]:
        """The columns by role."""
        counts = {} if self.count is None else {"count": (self.count,)}
        return {"qi": self.qi, "sa": self.sensitive, "bucket": (self.bucket,), **counts}

    @property
    def columns(self) -> list[str]:
        """All columns with a role."""
        return [column for columns in self.players.values() for column in columns]

    def check_named(self, columns: Iterable[object], what: str) -> None:
        """Check that a table has each column once, and that no column name is reserved for another role."""
        check_named(columns, self.players, what)
        check_release_roles(self.qi, self.sensitive, self.bucket)

    def checked(self, rows: pd.DataFrame, name: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Check the rows of one partition like a table in memory; return rows with records, and their numbers."""
        if rows.empty:
            return rows, np.empty(0, dtype=np.int64)
        check_columns(rows, self.players, name)
        if self.count is None:
            check_no_count(rows, self.players, name)
            return rows, np.ones(len(rows), dtype=np.int64)
        records = count_column(rows[self.count], name)
        return rows[records > 0], records[records > 0]


@dataclass(frozen=True, eq=False)
class Records:
    """A partition of records."""

    make: Any  # a function without arguments or Dask Delayed, which returns a DataFrame
    name: str  # for messages


@dataclass(frozen=True, eq=False)
class PartCounts:
    """The marginals of one partition: its QI tuples, its sensitive values, and the number of its buckets."""

    tuples: CountedTuples
    values: CountedTuples
    buckets: int
    sort_of_bucket: str


@dataclass(frozen=True, eq=False)
class Whole:
    """The data of the whole release that partitions need."""

    roles: Roles
    levels: tuple[pd.Index, ...]  # one per quasi-identifier: its values
    values: pd.Index  # the sensitive values
    n_s: np.ndarray  # one per sensitive value: number of records
    records: int


def assembled(partitions: Sequence[Records], roles: Roles, executor: Executor) -> PartitionedRelease:
    """Make a release from partitions of whole buckets, with global numbers of QI tuples and values."""
    makers = [then(part.make, count_records, roles, part.name) for part in partitions]
    counted = list(zip(partitions, executor.gather(executor.made(makers)), strict=True))
    return released([(part, counts) for part, counts in counted if counts is not None], roles)


def released(counted: Sequence[tuple[Records, PartCounts]], roles: Roles) -> PartitionedRelease:
    """Make a release from counted partitions, see :func:`assembled`."""
    if not counted:
        raise TableError("the table has no records; expected at least one")
    counts = [counts_of_part for _, counts_of_part in counted]
    check_one_kind([counts_of_part.sort_of_bucket for counts_of_part in counts], roles.bucket)
    tuples, q_numbers = CountedTuples.united([counts_of_part.tuples for counts_of_part in counts])
    values, s_numbers = CountedTuples.united([counts_of_part.values for counts_of_part in counts])
    labels = values.labels if len(roles.sensitive) > 1 else values.labels.levels[0]
    whole = Whole(roles, tuple(tuples.labels.levels), labels, values.records, int(tuples.records.sum()))
    check_total(tuples.records.sum(dtype=float), "the partitions have")
    makers = []
    for (part, counts_of_part), q, s in zip(counted, q_numbers, s_numbers, strict=True):
        n_s = np.zeros(len(labels), dtype=np.int64)
        n_s[s] = counts_of_part.values.records
        codes = [np.asarray(code)[q] for code in tuples.labels.codes]
        first_checksum = checksum([*codes, counts_of_part.tuples.records, n_s, [counts_of_part.buckets]])
        makers.append(then(part.make, make_part, whole, q, smallest(tuples.records[q]), first_checksum, part.name))
    sizes = [
        PartSize(int(counts_of_part.tuples.records.sum()), counts_of_part.buckets, len(counts_of_part.tuples.labels))
        for counts_of_part in counts
    ]
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
    rows: pd.DataFrame, whole: Whole, q_numbers: np.ndarray, n_q: np.ndarray, first_checksum: int, name: str
) -> ReleasePart:
    """Count the records of a partition by bucket, or raise if they differ from those of the first pass."""
    roles = whole.roles
    rows, records = roles.checked(rows, name)
    q, tuples = number_rows(rows[list(roles.qi)])
    levels, values = [unshared(level) for level in whole.levels], unshared(whole.values)
    recoded = zip(tuples.levels, tuples.codes, levels, strict=True)
    codes = [of_whole.get_indexer(pd.Index(level))[np.asarray(code)] for level, code, of_whole in recoded]
    s = sensitive_codes(rows[list(roles.sensitive)], values)
    b, buckets = factorize(plain(rows[roles.bucket]))
    n_qb = tally(q, b, (len(tuples), len(buckets)), records)
    known = s >= 0
    n_sb = tally(s[known], b[known], (len(values), len(buckets)), records[known])
    if first_checksum != checksum([*codes, n_qb.sum(axis=1), n_sb.sum(axis=1), [len(buckets)]]):
        raise TableError(f"{name} has changed since the release was made; make the release again")
    return ReleasePart(
        roles.qi, roles.sensitive, roles.bucket, multi_index(levels, codes, list(roles.qi)), values,
        buckets, n_qb, n_sb, q_numbers=q_numbers.astype(np.int64), n_q_whole=n_q.astype(np.int64),
        n_s_whole=whole.n_s, n_whole=whole.records,
    )  # fmt: skip


def checksum(arrays: Sequence[ArrayLike]) -> int:
    """Return a 32-bit checksum of integers."""
    return zlib.crc32(np.concatenate([np.asarray(array, dtype=np.int64) for array in arrays]).tobytes())


def sensitive_codes(rows: pd.DataFrame, values: pd.Index) -> np.ndarray:
    """Return the global number of the sensitive value of each row, -1 for an unknown value."""
    s, labels = number_rows(rows)
    return values.get_indexer(labels if isinstance(values, pd.MultiIndex) else labels.levels[0])[s]


def common_schema(schemas: Iterable[pa.Schema], columns: Sequence[str]) -> pa.Schema:
    """Return types of the columns to which the columns of all files can be converted.

    Integers and floating-point numbers of any width are compatible; unordered dictionaries are converted to their
    values. Numbers and texts are not compatible.
    """
    import pyarrow as pa

    distinct = list(dict.fromkeys(pa.schema([schema.field(name) for name in columns]) for schema in schemas))
    return pa.schema([(name, _common_type(name, [schema.field(name).type for schema in distinct])) for name in columns])


def _common_type(name: str, types: Sequence[pa.DataType]) -> pa.DataType:
    """Return a common type of values, or of ordered categories with codes of any width."""
    import pyarrow as pa

    ordered = {pa.types.is_dictionary(each) and each.ordered for each in types}
    of_values = list(dict.fromkeys(each.value_type if pa.types.is_dictionary(each) else each for each in types))
    # Arrow can neither select rows of views nor unite their types with others.
    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    of_values = [views.get(each, each) for each in of_values]
    categories = [each for each in types if pa.types.is_dictionary(each) and _sort_of(each.value_type) != "text"]
    # Parquet files keep the order of texts only.
    if any(each.ordered or isinstance(each.value_type, pa.BaseExtensionType) for each in categories):
        raise TableError(
            f"column {name!r} contains {'ordered ' if True in ordered else ''}categories of {of_values[0]}, which Parquet "
            "files, through which records are shuffled by bucket, cannot store; convert them to str first, "
            ".cat.rename_categories(str)"
        )
    try:
        if len(ordered) > 1 or len({_sort_of(each) for each in of_values} - {"null"}) > 1:
            raise pa.ArrowTypeError
        schemas = [pa.schema([(name, each)]) for each in of_values]
        common = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        listed = ", ".join(str(each) for each in dict.fromkeys(types))
        raise TableError(
            f"column {name!r} has types in different files that cannot be compared ({listed}); "
            "use the same type in all files"
        ) from None
    return pa.dictionary(pa.int32(), common, ordered=True) if ordered == {True} else common


def _sort_of(kind: pa.DataType) -> str:
    """Return the kind of the values of a type; values of different kinds are never equal."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    if pa.types.is_timestamp(kind):
        return f"time in {kind.tz}"
    return "decimal" if pa.types.is_decimal(kind) else str(kind)


def cast(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Convert columns to the common types of all files, or raise if a number would change."""
    import pyarrow as pa

    check_orders(table)
    columns = []
    for column_field in schema:
        column = table.column(column_field.name)
        try:
            columns.append(column.cast(column_field.type))
        except pa.ArrowInvalid as error:
            raise TableError(
                f"column {column_field.name!r} of {name} is {column.type}, but {column_field.type} in other files, "
                f"which cannot represent all of its values ({error}); use the same type in all files"
            ) from None
    return pa.table(columns, names=schema.names)


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate tables of the same types."""
    import pyarrow as pa

    table = pa.concat_tables(tables)
    check_orders(table)
    return table


def check_orders(table: pa.Table) -> None:
    """Check that ordered categories have a single order, because Arrow would combine several into a new one."""
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_dictionary(column.type) or not column.type.ordered:
            continue
        if any(not chunk.dictionary.equals(column.chunk(0).dictionary) for chunk in column.chunks):
            raise TableError(
                f"column {name!r} has ordered categories that differ between or within files; use the same in all"
            )


#: Default number of rows per partition: large enough that array operations outweigh their overhead, and small enough
#: that two partitions and their results fit into the memory of a small computer.
DEFAULT_ROWS = 250_000
#: Maximum size of pieces that share buckets, relative to a partition, above which they are shuffled.
MOST_TIMES = 1.5


@dataclass(frozen=True, eq=False)
class BucketRows:
    """The buckets of one piece, identified by 64-bit hashes of their labels, and their numbers of rows.

    Two buckets with the same hash, which is unlikely, stay in the same partition; this has no other effect.
    """

    hashes: np.ndarray  # one per bucket, ascending
    rows: np.ndarray  # one per bucket: number of rows

    @classmethod
    def united(cls, several: Sequence[BucketRows]) -> BucketRows:
        """Return the buckets of several pieces together."""
        hashes, place = np.unique(np.concatenate([part.hashes for part in several]), return_inverse=True)
        rows = np.bincount(place, np.concatenate([part.rows for part in several]), len(hashes))
        return cls(hashes, rows.astype(np.int64))

    def bounds(self, n: int) -> np.ndarray:
        """Return the starts, except the first, of at most n ranges of hashes with similar numbers of rows."""
        ends = np.cumsum(self.rows)
        place = (ends - 1) * n // int(ends[-1])
        return self.hashes[1:][place[1:] > place[:-1]]


def hashed(labels: pd.Series) -> np.ndarray:
    """Return 64-bit hashes of labels, which are equal in all partitions, with 0 for missing labels."""
    code, values = factorize(plain(labels))
    return np.append(_hashed_values(values), np.uint64(0))[code]


def _hashed_values(values: pd.Index) -> np.ndarray:
    """Return the hashes of distinct labels; equal labels, such as 1 and 1.0, have equal hashes whatever their types."""
    if values.empty:
        return np.empty(0, dtype=np.uint64)
    if isinstance(values, pd.CategoricalIndex):
        values = values.astype(values.categories.dtype)
    values = values.infer_objects()
    if isinstance(values, pd.IntervalIndex):
        return _hashed_values(values.left)
    if values.dtype.kind in "mM":  # the text of a time depends on the other times of the piece
        return pd.util.hash_array(values.to_numpy(dtype=f"{values.dtype.kind}8[us]"))
    if kind_of(values) not in ("numbers", "decimals"):  # the text of a decimal depends on its trailing zeros
        return pd.util.hash_array(np.asarray(values.astype(str), dtype=object), categorize=False)
    if pd.api.types.is_integer_dtype(values.dtype):
        return pd.util.hash_array(values.to_numpy(dtype=np.int64))
    numbers = values.to_numpy(dtype=np.float64)
    is_whole = (numbers == np.round(numbers)) & (np.abs(numbers) <= LARGEST_EXACT)
    as_whole = pd.util.hash_array(np.where(is_whole, numbers, 0).astype(np.int64))
    return np.where(is_whole, as_whole, pd.util.hash_array(numbers))


def count_buckets(rows: pd.DataFrame, bucket: str) -> BucketRows:
    """Count the rows of each bucket of a piece; rows without a bucket raise an error when they are counted later."""
    hashes, counts = np.unique(hashed(rows[bucket].dropna()), return_counts=True)
    return BucketRows(hashes, smallest(counts))


def straddling(sizes: Sequence[BucketRows]) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of pieces that share a bucket, which connect all pieces that share buckets."""
    hashes = np.concatenate([size.hashes for size in sizes])
    piece = np.repeat(np.arange(len(sizes), dtype=np.int32), [len(size.hashes) for size in sizes])
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    return piece[order][same], piece[order][same + 1]


def planned(sizes: Sequence[BucketRows], partitions: int | None) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Group pieces, in order, into `partitions` partitions of whole buckets, by default one per DEFAULT_ROWS rows.

    Return the pieces of each group, which form one partition, or, divided at bounds, one more than there are bounds.
    Pieces that share buckets are a unit. Small units are combined; a unit that is more than MOST_TIMES larger than the
    average partition is divided by the hashes of its buckets.
    """
    rows = np.array([size.rows.sum() for size in sizes])
    total = max(int(rows.sum()), 1)
    n = min(partitions or max(round(total / DEFAULT_ROWS), 1), total)
    first, second = straddling(sizes)
    graph = sp.coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(len(sizes), len(sizes)))
    _, unit = connected_components(graph, directed=False)
    groups: list[tuple[np.ndarray, np.ndarray | None]] = []
    slot, n_before = -1, 0
    for pieces in [np.flatnonzero(unit == i) for i in pd.unique(unit)]:
        n_rows = int(rows[pieces].sum())
        slot_of_unit = int((n_before + n_rows / 2) * n / total)  # of its middle row
        n_before += n_rows
        if n_rows * n > MOST_TIMES * total:
            buckets = BucketRows.united([sizes[int(i)] for i in pieces])
            groups.append((pieces, buckets.bounds(round(n_rows * n / total))))
            slot = -1
        elif slot_of_unit == slot:
            groups[-1] = np.concatenate([groups[-1][0], pieces]), None
        else:
            groups.append((pieces, None))
            slot = slot_of_unit
    return groups


#: Number of rows read at a time if they need not be in one table.
BATCH = 2**18


@dataclass(frozen=True)
class ParquetRows:
    """Row groups of Parquet files, which are read on demand."""

    pieces: tuple[tuple[str, tuple[int, ...]], ...]  # files, and the numbers of row groups in each
    schema: pa.Schema  # the columns to read, and their types
    keeper: Any = None  # a reference that prevents the removal of temporary files

    @property
    def name(self) -> str:
        """Name of the rows in messages."""
        files = dict.fromkeys(path for path, _ in self.pieces)
        return f"file {join_names(files)}" if len(files) == 1 else f"the table in {join_names(files, 2)}"

    def __call__(self) -> pd.DataFrame:
        """Read all rows."""
        return together(list(self.batches(None))).to_pandas()

    def batches(self, rows: int | None = BATCH, columns: Iterable[str] | None = None) -> Iterator[pa.Table]:
        """Read all or some columns in batches of `rows` rows, or one batch per piece."""
        import pyarrow as pa

        read = self.schema.names if columns is None else list(columns)
        schema = pa.schema([self.schema.field(name) for name in read])
        for path, groups in self.pieces:
            with opened(path) as file:
                if max(groups) >= file.num_row_groups or not set(read) <= set(file.schema_arrow.names):
                    raise TableError(f"file {path!r} has changed since the release was made; make the release again")
                if rows is None:
                    yield cast(file.read_row_groups(list(groups), columns=read), schema, path)
                    continue
                for batch in file.iter_batches(rows, list(groups), read):
                    yield cast(pa.table(batch), schema, path)


def files_of(path: object) -> list[str]:
    """Return the distinct files of a path, a glob, a folder, or a list of these."""
    several = path if isinstance(path, list | tuple) else [path]
    files = [file for name in several for file in _files_of_one(str(check_path(name, "path")))]
    times = Counter(os.path.realpath(file) for file in files)
    if twice := [file for file in files if times[os.path.realpath(file)] > 1]:
        raise TableError(f"file {twice[0]!r} is given twice, so its people would be counted twice; remove one")
    if not files:
        raise TableError("path is an empty list; expected the path of a Parquet file, a folder, or a list of them")
    return files


def _files_of_one(path: str) -> list[str]:
    """Return the files of one path, except hidden files and files of other programs, whose names start with _."""
    if os.path.isdir(path):
        inside = (file.relative_to(path) for file in Path(path).rglob("*.parquet"))
        shown = [file for file in inside if not any(part[0] in "._" for part in file.parts)]
        files = [str(Path(path) / file) for file in sorted(shown)]
        if not files:
            raise TableError(f"the folder {path!r} contains no files *.parquet; expected at least one")
        return files
    if os.path.exists(path):
        return [path]
    if not (files := sorted(glob.glob(path, recursive=True))):
        raise TableError(f"the file {path!r} does not exist; check the path")
    return [file for name in files for file in _files_of_one(name)]


def row_groups(files: Iterable[str], roles: Roles) -> list[ParquetRows]:
    """Check the metadata of files, and list their non-empty row groups."""
    groups, schemas = [], []
    for path in files:
        with opened(path) as file:
            schema, about = file.schema_arrow, file.metadata
        roles.check_named(schema.names, f"file {path!r}")
        schemas.append(schema)
        groups += [(path, i) for i in range(about.num_row_groups) if about.row_group(i).num_rows]
    if not groups:
        raise TableError("the table has no rows; expected at least one")
    columns = list(dict.fromkeys(roles.columns))
    if roles.count is None:  # columns of all files that look like counts are read, and rejected when rows are checked
        common = set.intersection(*(set(schema.names) for schema in schemas)) - set(columns)
        columns += sorted(filter(looks_like_count, common))
    schema = common_schema(schemas, columns)
    return [ParquetRows(((path, (i,)),), schema) for path, i in groups]


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise TableError(f"the file {path!r} does not exist; check the path") from None
    except (pa.ArrowInvalid, OSError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"{path!r} cannot be read as a Parquet file: {reason}") from None


#: Maximum number of rows in memory that are sorted by partition and written together.
HELD_ROWS = 2**21


def spilled(tables: Iterable[pa.Table], bounds: np.ndarray, bucket: str, folder: TemporaryFolder) -> list[ParquetRows]:
    """Write records to files by ranges of the hashes of their buckets; `bounds` are the starts except the first.

    The folder is removed if there is an error.
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
    except BaseException as error:
        folder.remove()
        if not isinstance(error, OSError):
            raise
        raise TableError(
            f"records cannot be shuffled in {tempfile.gettempdir()!r}: {error.strerror or error}; free some space, or "
            "set the environment variable TMPDIR to another folder"
        ) from error
    schema = common_schema(schemas, next(iter(schemas)).names)
    return [ParquetRows(tuple((file, (0,)) for file in pieces), schema, folder) for pieces in files if pieces]


def held(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Concatenate small tables of the same types, up to HELD_ROWS rows."""
    waiting: list[pa.Table] = []
    for table in tables:
        if waiting and (sum(map(len, waiting)) + len(table) > HELD_ROWS or table.schema != waiting[0].schema):
            yield together(waiting)
            waiting = []
        waiting.append(table)
    if waiting:
        yield together(waiting)


class DaskTable(Protocol):
    """A dask.dataframe.DataFrame."""

    columns: Any
    npartitions: int

    def to_delayed(self) -> list[Any]:
        """Return the partitions."""
        ...

    def __getitem__(self, columns: list[str]) -> Any: ...


def is_dask(table: object) -> bool:
    """Return whether a table is a Dask DataFrame."""
    return all(hasattr(table, name) for name in ("to_delayed", "npartitions", "columns", "shuffle"))


def dask_release(table: Any, roles: Roles) -> PartitionedRelease:
    """Make a release from a Dask DataFrame, see :meth:`maxent_cvx.Release.from_dask`."""
    if not is_dask(table):
        raise TableError(f"the table must be a Dask DataFrame, made by dask.dataframe, got {short_repr(table)}")
    roles.check_named(table.columns, "the table")
    narrow = narrowed(table, roles.columns, roles.count is not None)
    executor = executor_for(current_client())
    sizes = bucket_rows(narrow, roles.bucket, executor)
    if not len(straddling(sizes)[0]):
        return assembled(dask_records(narrow), roles, executor)
    if not isinstance(executor, LocalExecutor):
        return assembled(dask_records(shuffled_there(narrow, roles.bucket, executor)), roles, executor)
    bounds = BucketRows.united(sizes).bounds(len(sizes))
    parts = spilled(map(arrow_table, dask_records(narrow)), bounds, roles.bucket, TemporaryFolder())
    return assembled([Records(part, "the table") for part in parts], roles, executor)


def narrowed(table: Any, columns: Sequence[str], with_count: bool = False) -> Any:
    """Select columns of a Dask DataFrame, and columns that look like counts, so that Dask reads only these."""
    suspicious = [name for name in table.columns if not with_count and looks_like_count(name)]
    return table[list(dict.fromkeys([*columns, *suspicious]))]


def dask_records(table: DaskTable) -> list[Records]:
    """Return the partitions of a Dask DataFrame."""
    return [Records(part, f"partition {i} of the table") for i, part in enumerate(table.to_delayed())]


def bucket_rows(table: DaskTable, bucket: str, executor: Executor) -> list[BucketRows]:
    """Count the rows of each bucket in every partition, reading only the bucket column."""
    makers = [then(part, count_buckets, bucket) for part in table[[bucket]].to_delayed()]
    return executor.gather(executor.made(makers))


def shuffled_there(table: Any, bucket: str, executor: Executor) -> Any:
    """Shuffle a table by bucket with Dask, and keep it in the workers' memory."""
    moved = table.shuffle(bucket).persist()
    try:
        apart, _ = straddling(bucket_rows(moved, bucket, executor))
    except RuntimeError as error:
        raise TableError(
            f"Dask cannot shuffle the table by {bucket!r} ({' '.join(str(error).split())}); convert columns of types "
            "that Arrow cannot represent, such as categories of intervals, to str first, .astype(str)"
        ) from error
    if apart.size:
        raise TableError(
            f"after Dask's shuffle, several partitions contain {pluralize(len(apart), 'bucket')} of column {bucket!r}: "
            "the labels have different types; convert them to one type first, .astype(str)"
        )
    return moved


def arrow_table(part: Records) -> pa.Table:
    """Return one partition as an Arrow table, computed in this thread."""
    import pyarrow as pa

    (rows,) = LocalExecutor(1).made([part.make])
    try:
        table = pa.Table.from_pandas(rows, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        reason = " ".join(str(error).split())
        raise TableError(
            f"{part.name} has a column of several types, or of a type that Parquet cannot store: {reason}; "
            "convert it to one type first, .astype(str)"
        ) from None
    common_schema([table.schema], table.column_names)  # refuses categories that Parquet files cannot store
    return table


def parquet_release(path: object, roles: Roles, partitions: int | None) -> PartitionedRelease:
    """Make a release from Parquet files, see :meth:`maxent_cvx.Release.from_parquet`."""
    if partitions is not None:
        check_int(partitions, "partitions", 1)
    pieces = row_groups(files_of(path), roles)
    executor = LocalExecutor()
    sizes = executor.map(buckets_of_parquet, pieces, common=(roles.bucket,))
    folder: TemporaryFolder | None = None
    records: list[Records] = []
    for places, bounds in planned(sizes, partitions):
        rows = read_together([pieces[i] for i in places])
        if bounds is None:
            records.append(Records(rows, rows.name))
            continue
        folder = folder or TemporaryFolder()
        records += [Records(part, "the table") for part in spilled(rows.batches(), bounds, roles.bucket, folder)]
    return assembled(records, roles, executor)


def buckets_of_parquet(rows: ParquetRows, bucket: str) -> BucketRows:
    """Count the rows of each bucket, reading only the bucket column."""
    return BucketRows.united([count_buckets(batch.to_pandas(), bucket) for batch in rows.batches(columns=[bucket])])


def read_together(pieces: list[ParquetRows]) -> ParquetRows:
    """Combine several pieces into one that reads all row groups of a file at once."""
    groups: dict[str, tuple[int, ...]] = {}
    for piece in pieces:
        for path, row_groups_of in piece.pieces:
            groups[path] = (*groups.get(path, ()), *row_groups_of)
    return ParquetRows(tuple(groups.items()), pieces[0].schema)


def joined(release: PartitionedRelease, executor: Executor) -> dict[str, Any]:
    """Return the arguments of a Release in memory, from all parts."""
    parts: list[ReleasePart] = executor.gather(executor.made(release.makers))
    of_parts = pd.concat([part.buckets.to_series() for part in parts], ignore_index=True).rename(release.bucket)
    place, buckets = factorize(of_parts)
    if len(buckets) < len(of_parts):
        twice = of_parts[of_parts.duplicated()].unique()
        raise TableError(f"buckets must be in a single partition each, but two contain {join_names(twice)}")
    wide = []
    for part in parts:  # replace local row numbers by global ones
        n = part.n_qb.tocoo()
        shape = len(release.n_q), n.shape[1]
        wide.append(sp.coo_array((n.data, (part.q_numbers[n.row], n.col)), shape=shape))
    n_qb, n_sb = (sp.hstack(tables, format="csc")[:, np.argsort(place)] for tables in (wide, [p.n_sb for p in parts]))
    return {
        "qi": release.qi, "sensitive": release.sensitive, "bucket": release.bucket,
        "quasi_identifiers": release.quasi_identifiers, "sensitive_values": release.sensitive_values,
        "buckets": buckets, "n_qb": n_qb.tocsr(), "n_sb": n_sb.tocsr(),
    }  # fmt: skip
