"""Posteriors and models in Parquet files: terms, counts, labels, and what is needed to verify them."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import MaxEntError, StatementError, TableError, join_names, short_repr
from .._utils.files import path_of, write_beside
from .._utils.tables import sort_distinct
from ..priors import QIDistribution
from ..releases.base import View, restored, stored
from ..releases.generalized import GroupedRelease
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..solvers.form import LinearForm, SharedColumns
from ..sources.base import Source
from ..sources.invariants import PriorZeros
from ..sources.parser import read_statement
from ..sources.statements import Statement
from ..terms.people import People
from ..terms.rows import Penalty, Rows
from ..terms.space import Space
from .system import ConstraintGroup, StoredSource

__all__ = [
    "WRITER",
    "StoredModel",
    "decoding",
    "knowledge_parts",
    "model_of_parts",
    "read_model",
    "read_terms",
    "read_verified",
    "read_view",
    "same_labels",
    "same_system",
    "sealed_model",
    "verified",
    "view_parts",
    "write_terms",
]

# A checksum inside a Parquet file, which is checked before anything in the file is decoded.
#
# It finds damage. It is not a signature: whoever changes a file can compute the checksum of the changed file, too.


#: What writes a file of a posterior, for messages.
POSTERIOR = "Posterior.save"

#: The name of the checksum among the file's key-value metadata, where any Parquet program finds it.
KEY = "maxent_cvx checksum"
#: Hexadecimal digits of the checksum, all 0 while it is computed.
DIGITS = 64
BLANK = b"0" * DIGITS
#: How the pair is written: in Thrift's compact protocol a field's header and the length stand before its text.
PAIR = re.compile(re.escape(KEY.encode()) + rb"\x18" + bytes([DIGITS]) + rb"([0-9a-f]{%d})" % DIGITS, re.DOTALL)
#: A Parquet file begins and ends with it; before the last one is the length of the footer, four bytes.
MAGIC = b"PAR1"
TAIL = 4 + len(MAGIC)
#: Where the file keeps what is not a column.
METADATA = b"maxent_cvx"
#: Characters of the message of an error in the content of a file that are repeated: the content may be of any length.
LONGEST = 600


def sealed(table: Any) -> bytes:
    """Write an Arrow table as a Parquet file that holds the checksum of all its bytes, those of the checksum being 0."""
    # Any program reads the file. If one writes it again, changed or not, that is another file, without this checksum.
    # The metadata of the table's schema become metadata of the file: left in the schema, Arrow would write them
    # twice, the second time inside its own copy of the schema, ``ARROW:schema``.
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    plain = table.replace_schema_metadata(None)
    with pq.ParquetWriter(sink, plain.schema) as writer:
        writer.write_table(plain)
        if table.schema.metadata:
            writer.add_key_value_metadata(
                {name.decode(): said.decode() for name, said in table.schema.metadata.items()}
            )
        writer.add_key_value_metadata({KEY: BLANK.decode()})  # last, see _place
    data = bytearray(sink.getvalue())
    place = _place(data, 0)
    assert place is not None, "the Parquet library writes metadata in another way; the checksum has no place"
    data[place] = _digest(data, place)
    return bytes(data)


def read_verified(path: object, writer: str = POSTERIOR) -> Any:
    """Read the table of a file that is as it was written."""
    found = path_of(path)
    what = repr(str(found))
    try:
        if not found.is_file():  # nor a pipe, which would be waited for
            is_there = f"{what} is no ordinary file" if found.exists() else f"there is no file {what}"
            raise TableError(f"{is_there}; give one that {writer} wrote")
        with found.open("rb") as file:
            return verified(file, what, writer)
    except OSError as error:
        raise TableError(f"cannot read {what}: {error.strerror or error}; give a file that can be read") from error


def verified(file: BinaryIO, what: str, writer: str = POSTERIOR) -> Any:
    """Check a file's bytes, and only then read the table: a damaged file could claim any size."""
    # The metadata of the file are those of the table's schema.
    import pyarrow as pa
    import pyarrow.parquet as pq

    advice = f"was not written by {writer}; give such a Parquet file"
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - TAIL, 0))
    tail = file.read(TAIL)
    footer = TAIL + int.from_bytes(tail[: -len(MAGIC)], "little")
    if not tail.endswith(MAGIC) or not len(MAGIC) <= size - footer:
        raise TableError(f"{what} {advice}: it is no whole Parquet file")
    file.seek(size - footer)
    if _place(file.read(footer), 0) is None:  # seen in the footer: a large file need not be read
        raise TableError(
            f"{what} {advice}: it has no checksum (another program wrote it, or an early version of this "
            "package, whose files are to be made again)"
        )
    file.seek(0)
    data = file.read()
    place = _place(data, max(len(data) - footer, 0))
    if place is None or _digest(data, place) != data[place]:
        raise TableError(
            f"{what} is not as {writer} wrote it: its checksum does not match, so that it is damaged or edited; "
            "take a copy, or save again"
        )
    with decoding(what, "write the file again"):  # such as a compression that this pyarrow was built without
        pairs = pq.read_metadata(pa.BufferReader(data)).metadata  # which Arrow's own schema does not repeat
        return pq.read_table(pa.BufferReader(data)).replace_schema_metadata(pairs)


@contextmanager
def decoding(what: str, remedy: str) -> Iterator[None]:
    """Decode the content of a file whose checksum matches; anybody may have written it, so that anything can fail."""
    try:
        yield
    except MaxEntError as error:
        raise TableError(f"{what}: {str(error)[:LONGEST]}") from error
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST]}"
        raise TableError(
            f"{what} cannot be understood ({reason}): another version of maxent_cvx, pandas or pyarrow has written it, "
            f"or another program; {remedy}"
        ) from error


def metadata_of(stored: Any) -> dict[str, Any]:
    """Read the metadata of a table that was read from a file; a dictionary in JSON."""
    found = json.loads((stored.schema.metadata or {}).get(METADATA, b"{}"))
    if not isinstance(found, dict):
        raise TableError(f"the metadata must be a JSON object, not a {type(found).__name__}")
    return found


def _place(data: bytes | bytearray, start: int) -> slice | None:
    """Find the digits of the checksum; statistics and other metadata come before it: it is the last such pair."""
    found = [pair.span(1) for pair in PAIR.finditer(data, start)]
    return slice(*found[-1]) if found else None


def _digest(data: bytes | bytearray, place: slice) -> bytes:
    """Compute the checksum of a file in whose place for it there are zeros."""
    digest = hashlib.blake2b(digest_size=DIGITS // 2)
    view = memoryview(data)
    for part in (view[: place.start], BLANK, view[place.stop :]):
        digest.update(part)
    return digest.hexdigest().encode()


# Columns of labels in Arrow's formats: they come back with their values, types and order, or are refused.


#: Where a packed table keeps what its columns are.
SPECS = b"columns"
#: What to do about labels that a file cannot hold.
REMEDY = "before the release is made, turn the column into text, .astype(str), or into numbers of one type"


def to_arrow(column: pd.Series) -> tuple[Any, dict[str, Any]]:
    """Turn a column into an Arrow array, and say in words that JSON has what it was."""
    import pyarrow as pa

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):  # Arrow loses the order of some categories
        categories = dtype.categories
        values = pd.Series(categories.take(column.cat.codes.to_numpy()), name=column.name)
        packed = pack(pd.DataFrame({"value": categories}), str(column.name))
        return to_arrow(values)[0], {"categories": packed, "ordered": bool(dtype.ordered)}
    if isinstance(dtype, pd.SparseDtype):
        raise TableError(
            f"column {column.name!r} is sparse, and no file can hold it so; before the release is made, make it dense "
            "with .sparse.to_dense()"
        )
    try:
        array = pa.Array.from_pandas(column)
    except (pa.ArrowException, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise _refusal(column, str(column.name), error) from error
    if isinstance(dtype, pd.StringDtype):
        return array, {"text": dtype.storage, "missing": str(dtype.na_value)}
    return array, {"arrow": True} if isinstance(dtype, pd.ArrowDtype) else {"dtype": str(dtype)}


def from_arrow(array: Any, spec: dict[str, Any]) -> pd.Series:
    """Turn the array into the column that it was."""
    if "arrow" in spec:
        return pd.Series(pd.arrays.ArrowExtensionArray(array))
    column: pd.Series = array.to_pandas()
    if "categories" in spec:
        categories = index_of(unpack(spec["categories"])["value"])
        codes = categories.get_indexer(pd.Index(column.astype(categories.dtype)))
        return pd.Series(pd.Categorical.from_codes(codes, categories=categories, ordered=spec["ordered"]))
    dtype = _text_labels(spec) if "text" in spec else pd.api.types.pandas_dtype(spec["dtype"])
    return column if column.dtype == dtype else column.astype(dtype)


def check_labels(labels: pd.Index, name: str) -> None:
    """Refuse the labels of a column that do not come back from a Parquet file as they are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    array, spec = to_arrow(pd.Series(labels, name=name))
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(pa.table({"label": array}), sink)
        again = from_arrow(pq.read_table(pa.BufferReader(sink.getvalue()))["label"], spec)
        _check_same(labels, again, name)
    except (pa.ArrowException, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise _refusal(labels, name, error) from error


def pack(frame: pd.DataFrame, name: str | None = None) -> str:
    """Write a table as text, its columns' types and all; `name` is what messages call its only column."""
    import pyarrow as pa

    pairs = {column: to_arrow(values.rename(str(name or column))) for column, values in frame.items()}
    table = pa.table({column: array for column, (array, _) in pairs.items()})
    specs = json.dumps({column: spec for column, (_, spec) in pairs.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.with_metadata({SPECS: specs})) as stream:
        stream.write_table(table)
    packed = base64.b64encode(sink.getvalue()).decode()
    again = unpack(packed)
    for column in frame.columns:
        _check_same(index_of(frame[column]), again[column], str(name or column))
    return packed


def unpack(text: str) -> pd.DataFrame:
    """Read what :func:`pack` wrote."""
    import pyarrow as pa

    with pa.ipc.open_stream(base64.b64decode(text)) as stream:
        table = stream.read_all()
    specs = json.loads(table.schema.metadata[SPECS])
    return pd.DataFrame({column: from_arrow(table[column], spec) for column, spec in specs.items()})


def index_of(column: pd.Series) -> pd.Index:
    """Make an index of a column, of the same type: pandas would guess another one for objects."""
    return pd.Index(column.array, dtype=column.dtype)


def _check_same(labels: pd.Index, again: pd.Series, name: str) -> None:
    """Refuse labels that came back as others."""
    if not same_labels(labels, index_of(again)):
        raise _refusal(labels, name)


def same_labels(one: pd.Index, other: pd.Index) -> bool:
    """Whether two indices hold the same labels, of the same types."""
    if isinstance(one, pd.MultiIndex) and isinstance(other, pd.MultiIndex):
        return all(map(same_labels, one.levels, other.levels)) and all(map(np.array_equal, one.codes, other.codes))
    if one.dtype != other.dtype or len(one) != len(other):
        return False
    if isinstance(one, pd.CategoricalIndex) and isinstance(other, pd.CategoricalIndex):
        return same_labels(one.categories, other.categories) and np.array_equal(one.codes, other.codes)
    if one.dtype != object:
        return bool(one.equals(other))
    pairs = zip(map(_plain, one), map(_plain, other), strict=True)
    # What is written tells 2.5 from 2.50, and noon in Berlin from the same instant in London.
    return all(type(a) is type(b) and a == b and repr(a) == repr(b) for a, b in pairs)


def _plain(label: Any) -> object:
    """Turn a NumPy scalar into the Python value that equals it."""
    return label.item() if isinstance(label, np.generic) else label


def _refusal(labels: pd.Index | pd.Series, name: str, error: Exception | None = None) -> TableError:
    """Say that labels cannot be stored, what they are, and why."""
    kinds = ", ".join(sorted({type(_plain(label)).__name__ for label in labels}))
    reason = f": {_reason(error)}" if error else ""
    return TableError(
        f"Parquet cannot store the values of {name!r} (of {kinds}; the column is of {labels.dtype}) so that they come "
        f"back as they are{reason}; {REMEDY}"
    )


def _reason(error: Exception) -> str:
    """Say in one line why."""
    if isinstance(error, OverflowError):
        return "a whole number needs more than 64 bits"
    return " ".join(str(error).split()) or type(error).__name__


def _text_labels(spec: dict[str, Any]) -> Any:
    """Find the type of a column of text; older versions of pandas have not all of them, and keep text as objects."""
    if spec["missing"] != "nan":
        return pd.StringDtype(spec["text"])
    try:
        return pd.StringDtype(spec["text"], na_value=np.nan)
    except TypeError:
        return np.dtype(object)


# Views in files of format 2, of version 0.1.0: made again from the labels of the terms, and the published counts.


#: The views that were written, by the name that is in the file.
VIEWS = {view.__name__: view for view in (GroupedRelease, QITable, Release, ReleaseSeries)}
#: The column of a published table that holds its counts, while it is read back.
COUNT = "N P"


def read_view_of_format_2(frame: pd.DataFrame, parts: dict[str, Any]) -> View:
    """Make the view again, from the counts that were published."""
    kind, roles, domain = VIEWS[parts["type"]], parts["roles"], parts["domain"]
    qi, sa = roles["q"], roles["s"]
    if kind is ReleaseSeries:
        return ReleaseSeries(
            replace(
                Release.from_tables(
                    unpack(one["people"]), unpack(one["values"]), qi=one["qi"], sa=sa,
                    bucket=one["bucket"], id=one["id"], count="Count", counterfeits=True,
                ),
                generalized=one["generalized"],
            )
            for one in parts["releases"]
        )  # fmt: skip
    if kind is Release:
        bucket = roles["bucket"][0]
        qi_table, sa_table = (
            frame[[*labels, bucket, count]].drop_duplicates().rename(columns={count: COUNT})
            for labels, count in ((qi, "N P(q,b)"), (sa, "N P(s,b)"))
        )
        found = Release.from_tables(qi_table, sa_table, qi=qi, sa=sa, bucket=bucket, count=COUNT, counterfeits=True)
        return replace(found, generalized=parts["generalized"])
    if kind is GroupedRelease:
        return _groups(frame, qi, sa[0], roles["bucket"][0], _unpack_labels(domain[0]).rename(sa[0]))
    levels = [_unpack_labels(level).rename(name) for level, name in zip(domain, sa, strict=True)]
    values = pd.MultiIndex.from_arrays(levels) if len(sa) > 1 else levels[0]
    distribution = None
    if "N P(s)" in frame.columns:
        by_value = frame[[*sa, "N P(s)"]].drop_duplicates().set_index(sa if len(sa) > 1 else sa[0])["N P(s)"]
        distribution = by_value.reindex(values, fill_value=0)
    people = frame[[*qi, "N P(q)"]].drop_duplicates()
    return QITable(people, qi=qi, sa=sa, sa_values=values, sa_distribution=distribution, count="N P(q)")


def _groups(frame: pd.DataFrame, qi: list[str], sa: str, bucket: str, values: pd.Index) -> View:
    """Make groups of a population again; terms are sorted by group, and every group has one of each tuple it covers."""
    q, tuples = sort_distinct(frame[qi])
    n_q = np.zeros(len(tuples), dtype=np.int64)
    n_q[q] = frame["N P(q)"]
    b, names = pd.factorize(frame[bucket])
    s = values.get_indexer(pd.Index(frame[sa]))
    _, first = np.unique(b * len(values) + s, return_index=True)
    shape = len(values), len(names)
    n_sb = sp.csr_array((frame["N P(s,b)"].to_numpy()[first], (s[first], b[first])), shape=shape)
    covered = sp.csr_array((np.ones(len(q)), (b, q)), shape=(len(names), len(tuples)))
    covered.data[:] = 1.0
    return GroupedRelease(tuple(qi), (sa,), tuples, n_q, values, pd.Index(names, name=bucket), n_sb, covered)


def _unpack_labels(text: str) -> pd.Index:
    """Read the labels of a column."""
    return index_of(unpack(text)["value"])


# Views in a file of terms: their tables as text, which keeps the labels' types, and what JSON holds beside them.


#: What a value is written as, where JSON would make another one of it: {name: content}.
TABLE, TUPLE, MAPPING = "table", "tuple", "mapping"


def view_parts(view: View) -> dict[str, Any]:
    """Write down a view: the name of its class, and its tables."""
    parts = stored(view)
    name = type(view).__name__
    if not isinstance(parts["frames"], Mapping):
        raise TableError(
            f"to_frames() of a {name} gives {short_repr(parts['frames'])}; a dictionary of tables is expected"
        )
    written = write_value(parts, name)
    json.dumps(written)
    return written


def read_view(written: Any) -> View:
    """Make the view again."""
    return restored(read_value(written))


def write_value(value: Any, where: str) -> Any:
    """Write tables as text, and everything else as JSON does; `where` is what messages call it."""
    if isinstance(value, pd.DataFrame):
        return {TABLE: _packed(value, where)}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        items = [write_value(item, f"{where}, entry {i}") for i, item in enumerate(value)]
        return {TUPLE: items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        if strange := [key for key in value if not isinstance(key, str)]:
            raise TableError(f"to_frames() of a {where} has the key {short_repr(strange[0])}; texts are expected")
        return {MAPPING: {key: write_value(item, f"{where}, {key!r}") for key, item in value.items()}}
    raise TableError(
        f"to_frames() of a {where}, gives a {type(value).__name__}, which no file can hold; DataFrames are expected "
        "(of a Series .reset_index(), of an Index .to_frame(index=False)), texts, numbers, lists and dictionaries"
    )


def _packed(table: pd.DataFrame, where: str) -> str:
    """Write a table as compressed text."""
    if strange := [name for name in table.columns if not isinstance(name, str)]:
        raise TableError(f"a column of the table of a {where}, is called {short_repr(strange[0])}; texts are expected")
    if table.columns.has_duplicates:
        twice = table.columns[table.columns.duplicated()]
        raise TableError(f"the table of a {where}, has two columns called {join_names(twice)}; rename one")
    if not table.index.equals(pd.RangeIndex(len(table))):
        raise TableError(f"the table of a {where}, has an index of its own, which is not kept; use .reset_index()")
    if not len(table.columns):
        raise TableError(f"the table of a {where}, has no columns; leave it out")
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pa.ipc.open_stream(base64.b64decode(text := pack(table))) as stream:
        whole = stream.read_all()
    sink = pa.BufferOutputStream()
    pq.write_table(whole, sink, compression="gzip")  # a label that repeats is kept once
    packed = base64.b64encode(sink.getvalue()).decode()
    if not all(map(same_labels, *([index_of(one[name]) for name in one] for one in (_unpacked(packed), unpack(text))))):
        raise TableError(f"the table of a {where}, would not come back as it is; make its columns of simpler types")
    return packed


def _unpacked(packed: str) -> pd.DataFrame:
    """Read what :func:`_packed` wrote."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(pa.BufferReader(base64.b64decode(packed)))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return unpack(base64.b64encode(sink.getvalue()).decode())


def read_value(written: Any) -> Any:
    """Read what was written."""
    if isinstance(written, list):
        return [read_value(item) for item in written]
    if not isinstance(written, dict):
        return written
    ((kind, content),) = written.items()
    if kind == TABLE:
        return _unpacked(content)
    if kind == TUPLE:
        return tuple(read_value(item) for item in content)
    return {key: read_value(item) for key, item in content.items()}


# Rows in a file: their coefficients as one long table, everything else of a block beside it.


#: Fields of :class:`Rows` that are not stored as they are: in the long table, by their levels, or not at all.
APART = ("matrix", "index", "typed", "view")
#: The field of soft rows, and what it is made of, each a number, a number a row, or None.
PENALTY, COSTS = "penalty", [field.name for field in dataclasses.fields(Penalty)]
#: Blocks in a file: the long table of coefficients, the table of what each row has, and what each block has.
Blocks = tuple[pd.DataFrame, pd.DataFrame, list[dict[str, Any]]]


def write_blocks(blocks: Sequence[Rows]) -> Blocks:
    """Write rows down; every field of :class:`Rows` that holds a number a row is a column of the second table."""
    entries, numbers, said = [], [], []
    for rows in blocks:
        entries.append(_entries(rows))
        own = {field.name: getattr(rows, field.name) for field in dataclasses.fields(rows) if field.name not in APART}
        costs = own.pop(PENALTY)
        own |= {f"{PENALTY} {name}": getattr(costs, name, None) for name in COSTS}
        arrays = {name: value for name, value in own.items() if isinstance(value, np.ndarray)}
        if odd := [
            name for name, value in arrays.items() if value.shape != (len(rows),) or value.dtype.kind not in "fiub"
        ]:
            raise TableError(
                f"{odd[0]} of {rows.label!r} is not a number for each row, which no file of a model can hold"
            )
        numbers.append(pd.DataFrame(arrays).astype(float))
        said.append(
            {
                "rows": len(rows),
                "entries": len(entries[-1]),
                "arrays": {name: str(value.dtype) for name, value in arrays.items()},
                "index": None if rows.index is None else _index_parts(rows.index, rows.label),
                "typed": None if rows.typed is None else [str(a) for a, _ in rows.typed],
                "of_view": rows.view is not None,
                "fields": {k: write_value(v, f"{k} of {rows.label}") for k, v in own.items() if k not in arrays},
            }
        )
    empty = pd.DataFrame(
        {"row": np.empty(0, int), "term": np.empty(0, int), "coefficient": np.empty(0), "typed": np.empty(0, int)}
    )
    starts = np.cumsum([0, *(len(rows) for rows in blocks)])
    shifted = [one.assign(row=one["row"] + start) for one, start in zip(entries, starts, strict=False)]
    sides = pd.concat(numbers, ignore_index=True) if numbers else pd.DataFrame({"low": np.empty(0)})
    return pd.concat([empty, *shifted], ignore_index=True), sides, said


def read_blocks(stored: Blocks, n_terms: int, view: View) -> Iterator[Rows]:
    """Make the rows again that :func:`write_blocks` wrote down, one block after the other."""
    entries, numbers, said = stored
    row = entry = 0
    for one in said:
        first, row = row, row + one["rows"]
        start, entry = entry, entry + one["entries"]
        own = entries.iloc[start:entry]
        place, term, a, typed = (own[name].to_numpy() for name in ("row", "term", "coefficient", "typed"))
        kept = (typed < 0) | (a != 0)  # a coefficient that was typed and is below the smallest number has no entry
        indptr = np.concatenate([[0], np.cumsum(np.bincount(place[kept] - first, minlength=one["rows"]))])
        matrix = sp.csr_array((a[kept], term[kept], indptr), shape=(one["rows"], n_terms))
        matrix.check_format()  # SciPy computes with positions outside of the matrix, and reads anything there
        table = numbers.iloc[first:row]
        yield Rows(
            matrix=matrix,
            index=None if one["index"] is None else _index(one["index"]),
            typed=None if one["typed"] is None else _typed(one["typed"], term, typed),
            view=view if one["of_view"] else None,
            **_soft(
                {name: table[name].to_numpy().astype(dtype) for name, dtype in one["arrays"].items()}
                | {name: read_value(value) for name, value in one["fields"].items()}
            ),
        )


def _soft(fields: dict[str, Any]) -> dict[str, Any]:
    """Make the penalty of soft rows again from its numbers."""
    costs = {name: fields.pop(f"{PENALTY} {name}") for name in COSTS}
    return {**fields, PENALTY: None if all(one is None for one in costs.values()) else Penalty(**costs)}


def _entries(rows: Rows) -> pd.DataFrame:
    """The coefficients of a block, row by row; of a row as it was typed, also which of the different ones each is."""
    place = np.repeat(np.arange(len(rows)), np.diff(rows.matrix.indptr))
    found = pd.DataFrame({"row": place, "term": rows.matrix.indices, "coefficient": rows.matrix.data, "typed": -1})
    if rows.typed is None:
        return found
    number = np.repeat(np.arange(len(rows.typed)), [len(terms) for _, terms in rows.typed])
    terms = np.concatenate([np.empty(0, dtype=int), *(terms for _, terms in rows.typed)])
    of_term = pd.Series(number, index=terms)
    found["typed"] = of_term.reindex(found["term"], fill_value=-1).to_numpy()
    lost = np.setdiff1d(terms, found["term"])
    gone = pd.DataFrame({"row": 0, "term": lost, "coefficient": 0.0, "typed": of_term.reindex(lost).to_numpy()})
    return pd.concat([found, gone], ignore_index=True) if len(gone) else found


def _typed(written: list[str], term: np.ndarray, typed: np.ndarray) -> tuple[tuple[Fraction, np.ndarray], ...]:
    """The different coefficients of a row, and the terms that each is of."""
    return tuple((Fraction(a), np.sort(term[typed == i])) for i, a in enumerate(written))


def _index_parts(index: pd.Index, label: str) -> dict[str, Any]:
    """Write the names of rows down, a column a level."""
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    frame = pd.DataFrame({str(i): pd.Series(level.array, dtype=level.dtype) for i, level in enumerate(levels)})
    names = write_value(list(index.names), f"names of {label}")
    return {
        "labels": write_value(frame, f"names of {label}"),
        "names": names,
        "levels": isinstance(index, pd.MultiIndex),
    }


def _index(parts: dict[str, Any]) -> pd.Index:
    """Make the names of rows again."""
    frame, names = read_value(parts["labels"]), read_value(parts["names"])
    if parts["levels"]:
        return pd.MultiIndex.from_arrays([index_of(frame[name]) for name in frame], names=names)
    return index_of(frame["0"]).rename(names[0])


# A model in a Parquet file: its view, people, prior and knowledge, and everything that is needed to make it again.


#: What writes such a file, for messages.
WRITER = "MaxEnt.save"
#: The way in which all is laid out; a file of another one is refused.
MODELS_FORMAT = "model 1"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """What a model was made of."""

    view: View
    people: People
    prior: QIDistribution | None
    knowledge: list[dict[str, Any]]
    blocks: Blocks  # the rows of all of them

    def entries(self, space: Space) -> dict[str, ConstraintGroup | None]:
        """The knowledge by its labels; None for what the prior rules out, which a model emits by itself."""
        blocks = read_blocks(self.blocks, len(space), space.view)
        found: dict[str, ConstraintGroup | None] = {}
        for one in self.knowledge:
            rows = tuple(next(blocks) for _ in range(one["blocks"]))
            if one["of_prior"]:
                found[one["label"]] = None
                continue
            text = one["statement"]
            source = StoredSource(one["kind"], one["own_label"], rows) if text is None else read_statement(text)
            found[one["label"]] = ConstraintGroup(source, rows)
        return found


def sealed_model(space: Space, prior: QIDistribution | None, knowledge: Mapping[str, ConstraintGroup]) -> bytes:
    """Write a model as the bytes of a Parquet file with a checksum: a row a coefficient of the knowledge."""
    import pyarrow as pa

    entries, parts = _knowledge(prior, knowledge)
    pairs = {name: to_arrow(column) for name, column in entries.items()}
    metadata = {
        "format": MODELS_FORMAT,
        "view": view_parts(space.view),
        "people": {
            "names": [n if isinstance(n, str) else int(n) for n in space.people.names],
            "q": space.people.q.tolist(),
        },
        "columns": {name: spec for name, (_, spec) in pairs.items()},
        **parts,
    }
    try:
        written = json.dumps(metadata, default=lambda number: number.item()).encode()
        table = pa.table({name: array for name, (array, _) in pairs.items()})
        return sealed(table.replace_schema_metadata({METADATA: written}))
    except UnicodeEncodeError as error:
        raise TableError(f"a name holds {error.object!r}, which no file can; rename it") from error


def knowledge_parts(prior: QIDistribution | None, knowledge: Mapping[str, ConstraintGroup]) -> dict[str, Any]:
    """Write the prior and the knowledge of a model down for the file of its posterior; or why no file can hold them."""
    try:
        entries, parts = _knowledge(prior, knowledge)
        return {**parts, "entries": write_value(entries, "model")}
    except MaxEntError as error:
        return {"missing": str(error)}


def model_of_parts(view: View, people: People, parts: dict[str, Any]) -> StoredModel:
    """Read what :func:`knowledge_parts` wrote."""
    return _model(view, people, parts, read_value(parts["entries"]))


def _knowledge(
    prior: QIDistribution | None, knowledge: Mapping[str, ConstraintGroup]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Write the prior and the knowledge of a model down: the table of coefficients, and everything else."""
    said: list[dict[str, Any]] = []
    blocks: list[Rows] = []
    for label, one in knowledge.items():
        if one.convex:
            raise StatementError(
                f"{label!r} is a convex constraint of CVXPY, which no file can hold; save a copy without it, "
                f"model.copy().remove({label!r}), and add it again to what MaxEnt.load gives"
            )
        of_prior = isinstance(one.source, PriorZeros)
        blocks += [] if of_prior else one.rows
        kind = one.source.kind if isinstance(one.source, StoredSource) else type(one.source).__name__
        about = {"label": label, "kind": kind, "own_label": one.source.label, "statement": _text(one.source)}
        said.append({**about, "of_prior": of_prior, "blocks": 0 if of_prior else len(one.rows)})
    entries, numbers, of_blocks = write_blocks(blocks)
    return entries, {
        "prior": None if prior is None else _prior_parts(prior),
        "knowledge": said,
        "numbers": write_value(numbers, "model"),
        "blocks": of_blocks,
    }


def read_model(stored: Any, what: str) -> StoredModel:
    """Make the parts of a model again from a table that is as it was written, if only by other versions of this."""
    with decoding(what, "make the model again"):
        metadata = metadata_of(stored)
        if "about" in metadata:
            raise TableError("it holds a posterior, and not a model; load_posterior reads it")
        if (version := metadata.get("format")) != MODELS_FORMAT:
            raise TableError(
                f"it is of format {short_repr(version)}, and this version of maxent_cvx reads {MODELS_FORMAT!r}; make the model "
                "again"
            )
        view, named, specs = read_view(metadata["view"]), metadata["people"], metadata["columns"]
        entries = pd.DataFrame({name: from_arrow(stored[name], specs[name]) for name in specs})
        return _model(view, People.at(named["names"], np.array(named["q"], dtype=int), view), metadata, entries)


def _model(view: View, people: People, parts: dict[str, Any], entries: pd.DataFrame) -> StoredModel:
    """Make the parts of a model of what was written."""
    prior = None if parts["prior"] is None else _prior(parts["prior"])
    blocks = entries, read_value(parts["numbers"]), parts["blocks"]
    return StoredModel(view, people, prior, parts["knowledge"], blocks)


def _text(source: Source) -> str | None:
    """A statement in the papers' notation, if that says exactly the same."""
    if not isinstance(source, Statement):
        return None
    try:
        return str(source) if read_statement(str(source)) == source else None
    except MaxEntError:  # labels that cannot be written
        return None


def _prior_parts(prior: QIDistribution) -> dict[str, Any]:
    """Write a prior down."""
    tables = []
    for attributes, table in prior.tables.items():
        levels = {str(i): table.index.get_level_values(i) for i in range(table.index.nlevels)}
        signatures = pd.DataFrame({name: pd.Series(level.array, dtype=level.dtype) for name, level in levels.items()})
        numbers = pd.DataFrame(table.to_numpy(), columns=[str(i) for i in range(table.shape[1])])
        values = pd.DataFrame({"value": pd.Series(table.columns.array, dtype=table.columns.dtype)})
        parts = {"attributes": list(attributes), "signatures": signatures, "values": values, "p": numbers}
        tables.append({**parts, "name": table.columns.name})
    return {"tables": write_value(tables, "prior"), "about": prior.about}


def _prior(parts: dict[str, Any]) -> QIDistribution:
    """Make a prior again."""
    tables = {}
    for one in read_value(parts["tables"]):
        levels = [index_of(one["signatures"][name]) for name in one["signatures"]]
        index = pd.MultiIndex.from_arrays(levels, names=one["attributes"])
        columns = index_of(one["values"]["value"]).rename(one["name"])
        tables[tuple(one["attributes"])] = pd.DataFrame(one["p"].to_numpy(), index=index, columns=columns)
    return QIDistribution(tables, about=parts["about"])


# Whether two systems of rows are the same to the last bit, so that a solve of either gives the same answer.


def same_system(one: LinearForm, other: LinearForm) -> bool:
    """Compare all arrays and numbers of two systems; names and the rows before they were scaled are left out."""
    return all(
        _same(getattr(one, field.name), getattr(other, field.name))
        for field in dataclasses.fields(LinearForm)
        if field.name not in ("origin", "operations")
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, sp.csr_array) and isinstance(other, sp.csr_array):
        parts = ("data", "indices", "indptr")
        return one.shape == other.shape and all(np.array_equal(getattr(one, p), getattr(other, p)) for p in parts)
    if isinstance(one, LinearForm) and isinstance(other, LinearForm):  # the rows before they were rewritten
        return same_system(one, other)
    if dataclasses.is_dataclass(one) and type(one) is type(other):
        names = [field.name for field in dataclasses.fields(one)]
        return all(_same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, SharedColumns) and isinstance(other, SharedColumns):
        return _same(one.distinct, other.distinct) and np.array_equal(one.of_term, other.of_term)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    return one == other


#: The way in which all is laid out, and the earlier one that is read, too; a file of another one is refused.
FORMAT, EARLIER = 3, 2


def write_terms(
    path: object, space: Space, counts: np.ndarray, about: dict[str, Any], model: dict[str, Any] | None = None
) -> None:
    """Write one row per term: its labels, the published counts and the inferred one; whole or not at all."""
    # What is written is read again before it takes the place of a file. `model` is what
    # :func:`.models.knowledge_parts` gives.
    found = path_of(path)
    try:
        data = sealed(_table(space, counts, about, model))
    except UnicodeEncodeError as error:
        raise TableError(f"a name holds {error.object!r}, which no file can; rename it") from error
    again, same_counts, *_ = _terms(verified(BytesIO(data), "what was written"), "what was written")
    if not (_same_space(space, again) and np.array_equal(counts, same_counts)):
        raise TableError(
            f"the posterior of this {space.view.noun} would not come back from the file as it is; "
            "report this, with the types of its columns"
        )
    write_beside(found, lambda draft: draft.write_bytes(data))


def _table(space: Space, counts: np.ndarray, about: dict[str, Any], model: dict[str, Any] | None) -> Any:
    """Make the table that is written."""
    import pyarrow as pa

    view = space.view
    names = [_count_name(count.name, by) for by, count in view.published.items()]
    names.append(f"N {space.term.replace(' ', '')}")
    if len(set(names)) < len(names):
        raise TableError(f"two tables of counts are called alike, {join_names(names)}; name each by what it counts")
    if clash := set(names) & set(view.columns):
        raise TableError(f"a column is called {sorted(clash)[0]!r}, which the file needs for counts; rename the column")
    for labels, index in view.axes.values():
        for i, name in enumerate(labels):
            check_labels(index.levels[i] if isinstance(index, pd.MultiIndex) else index, name)
    pairs = {str(name): to_arrow(column) for name, column in _labels(space).items()}
    columns = {name: array for name, (array, _) in pairs.items()}
    for name, (by, count) in zip(names[:-1], view.published.items(), strict=True):
        row = space.marginal(by).matrix.tocsc().indices  # every term is in one row
        columns[name] = pa.array(count.to_numpy()[row])
    columns[names[-1]] = pa.array(counts)
    said = {
        "format": FORMAT,
        "view": view_parts(view),
        "columns": {name: spec for name, (_, spec) in pairs.items()},
        "people": {
            "names": [n if isinstance(n, str) else int(n) for n in space.people.names],
            "q": space.people.q.tolist(),
        },
        "about": about,
        "model": model,
    }
    metadata = json.dumps(said, default=lambda number: number.item()).encode()
    return pa.table(columns).replace_schema_metadata({METADATA: metadata})


def _count_name(given: object, by: tuple[str, ...]) -> str:
    """The column of published counts: as they are called, if it says what they are, or by what they are of."""
    return given if isinstance(given, str) and given.startswith("N P(") else f"N P({','.join(by)})"


#: The space, the inferred counts, what was written about them, and the knowledge of the model, if it is in the file.
Terms = tuple[Space, np.ndarray, dict[str, Any], dict[str, Any] | None]


def read_terms(path: object) -> Terms:
    """Read what :func:`write_terms` wrote."""
    return _terms(read_verified(path), repr(str(path_of(path))))


def _terms(stored: Any, what: str) -> Terms:
    """Make the terms again from a table that is as it was written, if only by other versions of what reads it."""
    with decoding(what, "solve and save again"):
        metadata = metadata_of(stored)
        if (version := metadata.get("format")) in (FORMAT, EARLIER):
            return _understood(stored, metadata)
        if "knowledge" in metadata:
            raise TableError("it holds a model, and not a posterior; MaxEnt.load reads it")
        raise TableError(
            f"it is of format {short_repr(version)}, and this version of maxent_cvx reads formats {EARLIER} and {FORMAT}; "
            "solve and save again"
        )


def _understood(stored: Any, metadata: dict[str, Any]) -> Terms:
    """Make the view again, and number its terms; they must be those of the file, in the same order."""
    columns, named = metadata["columns"], metadata["people"]
    frame = pd.DataFrame(
        {
            name: from_arrow(stored[name], columns[name]) if name in columns else stored[name].to_pandas()
            for name in stored.column_names
        }
    )
    earlier = metadata["format"] == EARLIER
    view = read_view_of_format_2(frame, metadata["view"]) if earlier else read_view(metadata["view"])
    space = Space.of(view, People.at(named["names"], np.array(named["q"], dtype=int), view))
    if not all(frame[name].equals(column) for name, column in _labels(space).items()):
        raise TableError("the terms are not in the order in which they were written")
    counts = frame.iloc[:, -1].to_numpy()
    if counts.dtype != float or not (np.isfinite(counts) & (counts >= 0)).all():
        raise TableError(f"the column {frame.columns[-1]!r} must hold finite, non-negative numbers of records")
    return space, counts, metadata["about"], metadata.get("model")


def _same_space(one: Space, other: Space) -> bool:
    """Whether the views are of one class, and the terms have the same labels, codes and published counts."""
    mine, theirs = one.view.published, other.view.published
    published = zip(mine.values(), theirs.values(), strict=False)
    return (
        type(one.view) is type(other.view)
        and (one.view.qi, one.view.sensitive) == (other.view.qi, other.view.sensitive)
        and (list(mine), list(one.codes)) == (list(theirs), list(other.codes))
        and np.array_equal(one.view.n_q, other.view.n_q)
        and all(np.array_equal(code, other.codes[role]) for role, code in one.codes.items())
        and all(same_labels(one.view.axes[role][1], other.view.axes[role][1]) for role in one.view.axes)
        and all(np.array_equal(first.to_numpy(), second.to_numpy()) for first, second in published)
        and same_labels(one.people.names, other.people.names)
    )


def _labels(space: Space) -> pd.DataFrame:
    """The labels of the terms; names as texts, since Parquet stores no column of texts and numbers."""
    frame = space.index.to_frame(index=False)
    return frame.astype({"who": str}) if len(space.people) else frame
