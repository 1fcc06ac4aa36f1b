"""Storage of posteriors and models in Parquet files: tables of the release, terms or rows, and a checksum of all bytes.

A file has one row per term (of a posterior) or per coefficient of the knowledge (of a model). Everything else is JSON
in the metadata of the file, which contains tables as Parquet files in base64. A new file is read and compared with the
original before it replaces an existing file.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import MaxEntError, StatementError, TableError, as_python, join_names, short_repr
from .._utils.files import path_of, write_beside
from .._utils.tables import repeated
from ..priors import QIDistribution
from ..releases.base import View, restored, stored
from ..solvers.columns import SharedColumns
from ..solvers.sparse import entry_rows
from ..sources.base import ConstraintGroup, Source, StoredSource, build_rows, kind_of
from ..sources.invariants import PriorZeros
from ..sources.parser import read_statement
from ..sources.statements import Statement
from ..terms.people import People
from ..terms.rows import Penalty, Rows
from ..terms.space import Space

#: Versions of the file formats of a posterior, and of a model.
POSTERIOR, MODEL = 3, "model 1"
#: Key of the metadata in a Parquet file.
METADATA = b"maxent_cvx"

# The checksum of a file is BLAKE2b of all its other bytes. It detects damage, but is not a signature, because anybody
# who changes a file can compute the new checksum.
#
# A Parquet file ends with its footer, the length of the footer in four bytes, and "PAR1". The footer contains the
# offsets of the columns from the start of the file, so other programs ignore 32 bytes between columns and footer.

#: Bytes of the checksum, and bytes after the footer.
DIGEST, TAIL = 32, 8
#: The checksum of version 0.2.0: in the footer, the last text of this name, in hexadecimal digits that are set to 0
#: while it is computed.
OF_0_2_0 = re.compile(rb"maxent_cvx checksum\x18@([0-9a-f]{64})", re.DOTALL)


def sealed(table: Any) -> bytes:
    """Write an Arrow table as a Parquet file with a checksum."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    plain = table.replace_schema_metadata(None)  # Arrow would write the metadata of the schema twice
    with pq.ParquetWriter(sink, plain.schema) as writer:
        writer.write_table(plain)
        writer.add_key_value_metadata({key.decode(): text.decode() for key, text in table.schema.metadata.items()})
    data = bytes(sink.getvalue())
    footer = len(data) - _footer_size(data)
    return data[:footer] + _digest(data) + data[footer:]


def unsealed(file: object, what: str, writer: str) -> Any:
    """Read the Arrow table of a file with a valid checksum, from a path or from bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(file, BytesIO):
        data = file.getvalue()
    else:
        path = path_of(file)
        try:
            if not path.is_file():  # reading from a pipe would block
                reason = f"{what} is not an ordinary file" if path.exists() else f"the file {what} does not exist"
                raise TableError(f"{reason}; pass a file that {writer} wrote")
            data = path.read_bytes()
        except OSError as error:
            raise TableError(f"cannot read {what}: {error.strerror or error}") from error
    if not _is_whole(data):  # checked before anything is decoded: a damaged file could claim any size
        raise TableError(
            f"the checksum of {what} does not match: the file is damaged, was edited, or was not written by {writer}; "
            "save it again"
        )
    with decoding(what, "write the file again"):  # e.g. pyarrow may lack the compression
        pairs = pq.read_metadata(pa.BufferReader(data)).metadata
        return pq.read_table(pa.BufferReader(data)).replace_schema_metadata(pairs)


def is_saved(path: str) -> bool:
    """Return whether a file is a Parquet file of a saved posterior or model."""
    import pyarrow.parquet as pq

    try:
        return METADATA in (pq.read_metadata(path).metadata or {})
    except (OSError, ValueError):  # including pyarrow's errors
        return False


def _is_whole(data: bytes) -> bool:
    """Return whether the checksum of a file, possibly of version 0.2.0, matches its bytes."""
    if not data.endswith(b"PAR1"):
        return False
    end = len(data) - _footer_size(data)
    start = end - DIGEST
    if start > 0 and data[start:end] == _digest(data[:start] + data[end:]):
        return True
    places = [match.span(1) for match in OF_0_2_0.finditer(data)]
    if not places:
        return False
    start, end = places[-1]
    blank = data[:start] + b"0" * (end - start) + data[end:]
    return _digest(blank).hex().encode() == data[start:end]


def _footer_size(data: bytes) -> int:
    """Return the number of bytes from the start of the footer to the end of the file."""
    return TAIL + int.from_bytes(data[-TAIL:-4], "little")


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


@contextmanager
def decoding(what: str, remedy: str) -> Iterator[None]:
    """Convert any error to a TableError, because decoding a file of unknown origin can fail in any way."""
    try:
        yield
    except MaxEntError as error:
        raise TableError(f"{what}: {str(error)[:600]}") from error  # messages may quote long content
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:600]}"
        raise TableError(
            f"{what} cannot be read ({reason}): it was written by another version of maxent_cvx, pandas or pyarrow, or "
            f"by another program; {remedy}"
        ) from error


def metadata_of(table: Any) -> dict[str, Any]:
    """Return the metadata of a table that was read from a file, as a dictionary."""
    metadata = json.loads((table.schema.metadata or {}).get(METADATA, b"{}"))
    if not isinstance(metadata, dict):
        raise TableError(f"the metadata must be a JSON object, got a {type(metadata).__name__}")
    return metadata


def with_metadata(columns: Mapping[str, Any], metadata: dict[str, Any]) -> bytes:
    """Return the bytes of a file with columns and metadata."""
    import pyarrow as pa

    try:
        text = json.dumps(metadata, default=lambda number: number.item()).encode()
        return sealed(pa.table(dict(columns)).replace_schema_metadata({METADATA: text}))
    except UnicodeEncodeError as error:
        raise TableError(f"a name contains {error.object!r}, which cannot be saved; rename it") from error


# Labels as Arrow types. pandas' own metadata would lose some types: texts and numbers in columns of objects, kinds of
# strings, categories of intervals. So each column is stored with its type; labels that would change are errors.


def to_arrow(column: pd.Series) -> tuple[Any, dict[str, Any]]:
    """Return a column as an Arrow array, and its type as a dictionary for JSON."""
    import pyarrow as pa

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):  # Arrow loses the order of some categories
        values = pd.Series(dtype.categories.take(column.cat.codes.to_numpy()), name=column.name)
        categories = pack(pd.DataFrame({"value": dtype.categories}), str(column.name))
        array, kind = to_arrow(values)
        mixed = {"others": kind["others"]} if "others" in kind else {}
        return array, {"categories": categories, "ordered": bool(dtype.ordered), **mixed}
    if isinstance(dtype, pd.SparseDtype):
        raise TableError(f"column {column.name!r} is sparse; make it dense with .sparse.to_dense() before saving")
    try:
        array = pa.Array.from_pandas(column)
    except (pa.ArrowException, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        # Numbers beside texts, as beside OUTSIDE: all are written as texts, and the numbers once more.
        others = pd.Series([label for label in pd.unique(column) if not isinstance(label, str)])
        texts = column.astype(str)
        if len(others) in (0, column.nunique()) or texts.nunique() < column.nunique():
            raise _refusal(column, str(column.name)) from error
        numbers = pack(pd.DataFrame({"value": others}), str(column.name))
        return pa.Array.from_pandas(texts), {"dtype": "object", "others": numbers}
    if isinstance(dtype, pd.StringDtype):
        return array, {"text": dtype.storage, "missing": str(dtype.na_value)}
    return array, {"arrow": True} if isinstance(dtype, pd.ArrowDtype) else {"dtype": str(dtype)}


def from_arrow(array: Any, kind: dict[str, Any]) -> pd.Series:
    """Return the column from the results of :func:`to_arrow`."""
    if "arrow" in kind:
        return pd.Series(pd.arrays.ArrowExtensionArray(array))
    column: pd.Series = array.to_pandas()
    if "others" in kind:
        others = {str(label): label for label in unpack(kind["others"])["value"]}
        column = pd.Series([others.get(text, text) for text in column], dtype=object)
    if "categories" in kind:
        categories = index_of(unpack(kind["categories"])["value"])
        codes = categories.get_indexer(pd.Index(column.astype(categories.dtype)))
        return pd.Series(pd.Categorical.from_codes(codes, categories=categories, ordered=kind["ordered"]))
    dtype: Any
    if "text" in kind:
        try:
            dtype = pd.StringDtype(kind["text"], **({"na_value": np.nan} if kind["missing"] == "nan" else {}))
        except TypeError:  # pandas before 2.3 has a single missing value for strings
            dtype = np.dtype(object)
    else:
        dtype = pd.api.types.pandas_dtype(kind["dtype"])
    return column if column.dtype == dtype else column.astype(dtype)


def to_arrow_columns(frame: pd.DataFrame, name: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of a table as Arrow arrays, and their types; messages call the only column `name`."""
    arrays, kinds = {}, {}
    for column, values in frame.items():
        arrays[str(column)], kinds[str(column)] = to_arrow(values.rename(str(name or column)))
    return arrays, kinds


def from_arrow_columns(table: Any, kinds: Mapping[str, dict[str, Any]]) -> pd.DataFrame:
    """Return the columns with the given types, as a DataFrame."""
    return pd.DataFrame({column: from_arrow(table[column], kind) for column, kind in kinds.items()})


def pack(frame: pd.DataFrame, name: str | None = None) -> str:
    """Encode a table as text, or raise if a label would change; messages call the only column `name`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, kinds = to_arrow_columns(frame, name)
    table = pa.table(columns).replace_schema_metadata({"columns": json.dumps(kinds)})
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(table, sink, compression="gzip")
        packed = base64.b64encode(sink.getvalue()).decode()
        again = unpack(packed)
    except (pa.ArrowException, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        column = next(iter(frame))
        raise _refusal(frame[column], str(name or column)) from error
    for column in frame.columns:
        if not same_labels(index_of(frame[column]), index_of(again[column])):
            raise _refusal(frame[column], str(name or column))
    return packed


def unpack(text: str) -> pd.DataFrame:
    """Decode a table from :func:`pack`, also of version 0.2.0, which wrote categories as streams."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = base64.b64decode(text)
    table = pq.read_table(pa.BufferReader(data)) if data[:4] == b"PAR1" else pa.ipc.open_stream(data).read_all()
    return from_arrow_columns(table, json.loads(table.schema.metadata[b"columns"]))


def index_of(column: pd.Series) -> pd.Index:
    """Return an index of the values and the type of a column; pandas would infer another type for objects."""
    return pd.Index(column.array, dtype=column.dtype)


def same_labels(first: pd.Index, second: pd.Index) -> bool:
    """Return whether two indices have the same labels, of the same types."""
    if isinstance(first, pd.MultiIndex) and isinstance(second, pd.MultiIndex):
        return all(map(same_labels, first.levels, second.levels)) and all(
            map(np.array_equal, first.codes, second.codes)
        )
    if first.dtype != second.dtype or len(first) != len(second):
        return False
    if isinstance(first, pd.CategoricalIndex) and isinstance(second, pd.CategoricalIndex):
        return same_labels(first.categories, second.categories) and np.array_equal(first.codes, second.codes)
    if first.dtype != object:
        return bool(first.equals(second))
    pairs = zip(map(as_python, first), map(as_python, second), strict=True)
    # repr distinguishes Decimal 2.5 from 2.50, and noon in Berlin from the same instant in London.
    return all(type(a) is type(b) and a == b and repr(a) == repr(b) for a, b in pairs)


def _refusal(labels: pd.Index | pd.Series, name: str) -> TableError:
    kinds = ", ".join(sorted({type(as_python(label)).__name__ for label in labels}))
    is_wide = any(isinstance(label, int) and abs(label) >= 2**63 for label in map(as_python, labels))
    wide = ", some of more than 64 bits" * is_wide
    return TableError(
        f"Parquet cannot store the values of {name!r} (types {kinds}{wide}; column dtype {labels.dtype}) without "
        "changing them; before making the release, convert the column to text, .astype(str), or to numbers of one type"
    )


# Values in JSON: {"table": ...}, {"tuple": ...} or {"mapping": ...} for types that JSON does not distinguish.


def view_parts(view: View) -> dict[str, Any]:
    """Return a view as JSON: the name of its class, and its tables."""
    parts, name = stored(view), type(view).__name__
    if not isinstance(parts["frames"], Mapping):
        raise TableError(f"to_frames() of a {name} must return a dict of tables, got {short_repr(parts['frames'])}")
    return write_value(parts, name)


def read_view(written: Any) -> View:
    """Return the view from the result of :func:`view_parts`."""
    return restored(read_value(written))


def write_value(value: Any, where: str) -> Any:
    """Convert tables to text, and other values to JSON; messages call the value `where`."""
    if isinstance(value, pd.DataFrame):
        _check_table(value, where)
        return {"table": pack(value)}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        items = [write_value(item, f"{where}, entry {i}") for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        if strange := [key for key in value if not isinstance(key, str)]:
            raise TableError(f"to_frames() of a {where} has the key {short_repr(strange[0])}; keys must be strings")
        return {"mapping": {key: write_value(item, f"{where}, {key!r}") for key, item in value.items()}}
    raise TableError(
        f"to_frames() of a {where}, contains a {type(value).__name__}, which cannot be saved; expected DataFrames "
        "(Series.reset_index(), Index.to_frame(index=False)), strings, numbers, lists and dictionaries"
    )


def _check_table(table: pd.DataFrame, where: str) -> None:
    """Check that a table has columns with distinct names, and a default index."""
    if strange := [name for name in table.columns if not isinstance(name, str)]:
        raise TableError(f"the column names of the table of a {where}, must be strings, got {short_repr(strange[0])}")
    if table.columns.has_duplicates:
        raise TableError(
            f"the table of a {where}, has two columns named {join_names(repeated(table.columns))}; rename one"
        )
    if not table.index.equals(pd.RangeIndex(len(table))):
        raise TableError(f"the table of a {where}, has an index that would not be saved; use .reset_index()")
    if not len(table.columns):
        raise TableError(f"the table of a {where}, has no columns; omit it")


def read_value(written: Any) -> Any:
    """Return the value from the result of :func:`write_value`."""
    if isinstance(written, list):
        return [read_value(item) for item in written]
    if not isinstance(written, dict):
        return written
    ((kind, content),) = written.items()
    if kind == "table":
        return unpack(content)
    if kind == "tuple":
        return tuple(read_value(item) for item in content)
    return {key: read_value(item) for key, item in content.items()}


# Rows: one long table with the coefficients of all blocks, another with the numbers of each row, and JSON per block.

#: Fields of :class:`Rows` that are not stored unchanged: in the long table, by their levels, or not at all.
APART = ("matrix", "index", "typed", "view")
#: The field of soft rows, and its components, each a number, one number per row, or None.
PENALTY, COSTS = "penalty", [field.name for field in dataclasses.fields(Penalty)]
#: Blocks in a file: the long table of coefficients, the table of numbers per row, and the fields of each block.
Blocks = tuple[pd.DataFrame, pd.DataFrame, list[dict[str, Any]]]


def write_blocks(blocks: Sequence[Rows]) -> Blocks:
    """Convert rows to tables; fields of :class:`Rows` with one number per row are columns of the second table."""
    entries, numbers, stored = [], [], []
    for rows in blocks:
        entries.append(_entries(rows))
        values = {
            field.name: getattr(rows, field.name) for field in dataclasses.fields(rows) if field.name not in APART
        }
        costs = values.pop(PENALTY)
        values |= {f"{PENALTY} {name}": getattr(costs, name, None) for name in COSTS}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        if odd := [
            name for name, value in arrays.items() if value.shape != (len(rows),) or value.dtype.kind not in "fiub"
        ]:
            raise TableError(f"{odd[0]} of {rows.label!r} must be one number per row to be saved")
        numbers.append(pd.DataFrame(arrays).astype(float))
        stored.append(
            {
                "rows": len(rows),
                "entries": len(entries[-1]),
                "arrays": {name: str(value.dtype) for name, value in arrays.items()},
                "index": None if rows.index is None else _index_parts(rows.index, rows.label),
                "typed": None if rows.typed is None else [str(a) for a, _ in rows.typed],
                "of_view": rows.view is not None,
                "fields": {k: write_value(v, f"{k} of {rows.label}") for k, v in values.items() if k not in arrays},
            }
        )
    empty = pd.DataFrame(
        {"row": np.empty(0, int), "term": np.empty(0, int), "coefficient": np.empty(0), "typed": np.empty(0, int)}
    )
    starts = np.cumsum([0, *(len(rows) for rows in blocks)])
    shifted = [table.assign(row=table["row"] + start) for table, start in zip(entries, starts, strict=False)]
    sides = pd.concat(numbers, ignore_index=True) if numbers else pd.DataFrame({"low": np.empty(0)})
    return pd.concat([empty, *shifted], ignore_index=True), sides, stored


def read_blocks(stored: Blocks, n_terms: int, view: View) -> Iterator[Rows]:
    """Yield the rows from the result of :func:`write_blocks`, block after block."""
    entries, numbers, blocks = stored
    row = entry = 0
    for fields in blocks:
        first, row = row, row + fields["rows"]
        start, entry = entry, entry + fields["entries"]
        own_entries = entries.iloc[start:entry]
        place, term, a, typed = (own_entries[name].to_numpy() for name in ("row", "term", "coefficient", "typed"))
        has_entry = (typed < 0) | (a != 0)  # a typed coefficient that underflows to 0 has no entry
        indptr = np.concatenate([[0], np.cumsum(np.bincount(place[has_entry] - first, minlength=fields["rows"]))])
        matrix = sp.csr_array((a[has_entry], term[has_entry], indptr), shape=(fields["rows"], n_terms))
        matrix.check_format()  # SciPy would read out of bounds at invalid positions
        table = numbers.iloc[first:row]
        values = {name: table[name].to_numpy().astype(dtype) for name, dtype in fields["arrays"].items()}
        values |= {name: read_value(value) for name, value in fields["fields"].items()}
        costs = {name: values.pop(f"{PENALTY} {name}") for name in COSTS}
        values[PENALTY] = None if all(cost is None for cost in costs.values()) else Penalty(**costs)
        yield Rows(
            matrix=matrix,
            index=None if fields["index"] is None else _index(fields["index"]),
            typed=None if fields["typed"] is None else _typed(fields["typed"], term, typed),
            view=view if fields["of_view"] else None,
            **values,
        )


def _entries(rows: Rows) -> pd.DataFrame:
    """Return the coefficients of a block, row by row, with the position among the typed ones for a typed row."""
    place = entry_rows(rows.matrix)
    entries = pd.DataFrame({"row": place, "term": rows.matrix.indices, "coefficient": rows.matrix.data, "typed": -1})
    if rows.typed is None:
        return entries
    number = np.repeat(np.arange(len(rows.typed)), [len(terms) for _, terms in rows.typed])
    terms = np.concatenate([np.empty(0, dtype=int), *(terms for _, terms in rows.typed)])
    of_term = pd.Series(number, index=terms)
    entries["typed"] = of_term.reindex(entries["term"], fill_value=-1).to_numpy()
    lost = np.setdiff1d(terms, entries["term"])
    gone = pd.DataFrame({"row": 0, "term": lost, "coefficient": 0.0, "typed": of_term.reindex(lost).to_numpy()})
    return pd.concat([entries, gone], ignore_index=True) if len(gone) else entries


def _typed(written: list[str], term: np.ndarray, typed: np.ndarray) -> tuple[tuple[Fraction, np.ndarray], ...]:
    """Return the distinct coefficients of a row, and the terms of each."""
    return tuple((Fraction(a), np.sort(term[typed == i])) for i, a in enumerate(written))


def _levels(index: pd.Index) -> pd.DataFrame:
    """Return the labels of an index as a table with one column per level, of the same type."""
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    return pd.DataFrame({str(i): pd.Series(level.array, dtype=level.dtype) for i, level in enumerate(levels)})


def _multi_index(levels: pd.DataFrame, names: list[Any]) -> pd.MultiIndex:
    """Restore a MultiIndex from the table of its levels."""
    return pd.MultiIndex.from_arrays([index_of(levels[name]) for name in levels], names=names)


def _index_parts(index: pd.Index, label: str) -> dict[str, Any]:
    """Convert the names of rows to JSON."""
    where = f"names of {label}"
    return {
        "labels": write_value(_levels(index), where),
        "names": write_value(list(index.names), where),
        "levels": isinstance(index, pd.MultiIndex),
    }


def _index(parts: dict[str, Any]) -> pd.Index:
    """Restore the names of rows."""
    levels, names = read_value(parts["labels"]), read_value(parts["names"])
    return _multi_index(levels, names) if parts["levels"] else index_of(levels["0"]).rename(names[0])


def knowledge_groups(parts: dict[str, Any], entries: pd.DataFrame, space: Space) -> dict[str, ConstraintGroup | None]:
    """Return the knowledge by label, with None for the zeros of a prior, which a model builds itself."""
    blocks = read_blocks((entries, read_value(parts["numbers"]), parts["blocks"]), len(space), space.view)
    groups: dict[str, ConstraintGroup | None] = {}
    for source in parts["knowledge"]:
        if source["of_prior"]:
            groups[source["label"]] = None
            continue
        rows = tuple(next(blocks) for _ in range(source["blocks"]))
        label, own_label, text = source["label"], source["own_label"], source["statement"]
        if text is None:
            groups[label] = ConstraintGroup(StoredSource(source["kind"], own_label, rows), rows)
        else:  # the rows are those of the text, whatever a forged file contains
            groups[label] = build_rows(read_statement(text), space, None if label == own_label else label)
    return groups


def save_model(space: Space, prior: QIDistribution | None, knowledge: Mapping[str, ConstraintGroup]) -> bytes:
    """Return the bytes of a file with a model: one row per coefficient of the knowledge."""
    entries, parts = _knowledge(space, prior, knowledge)
    columns, kinds = to_arrow_columns(entries)
    metadata = {
        "format": MODEL,
        "view": view_parts(space.view),
        "people": _people_parts(space.people),
        "columns": kinds,
    }
    return with_metadata(columns, metadata | parts)


def knowledge_parts(
    space: Space, prior: QIDistribution | None, knowledge: Mapping[str, ConstraintGroup]
) -> dict[str, Any]:
    """Return the prior and the knowledge of a model for a posterior's file, or why they cannot be saved."""
    try:
        entries, parts = _knowledge(space, prior, knowledge)
        return {**parts, "entries": write_value(entries, "model")}
    except MaxEntError as error:
        return {"missing": str(error)}


def _knowledge(
    space: Space, prior: QIDistribution | None, knowledge: Mapping[str, ConstraintGroup]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the prior and the knowledge of a model: the table of coefficients, and everything else as JSON."""
    sources: list[dict[str, Any]] = []
    blocks: list[Rows] = []
    for label, group in knowledge.items():
        if group.convex:
            raise StatementError(
                f"{label!r} is a convex CVXPY constraint, which cannot be saved; save a copy without it, "
                f"model.copy().remove({label!r}), and add it again after MaxEnt.load"
            )
        rows = () if (of_prior := isinstance(group.source, PriorZeros)) else group.rows
        blocks += rows
        sources.append(
            {
                "label": label,
                "kind": kind_of(group.source),
                "own_label": group.source.label,
                "statement": statement_text(group.source, space),
                "of_prior": of_prior,
                "blocks": len(rows),
            }
        )
    entries, numbers, of_blocks = write_blocks(blocks)
    return entries, {
        "prior": prior_parts(prior),
        "knowledge": sources,
        "numbers": write_value(numbers, "model"),
        "blocks": of_blocks,
    }


def read_model(file: object, what: str) -> tuple[View, People, dict[str, Any], pd.DataFrame]:
    """Read a model from a file: the view, the people, and the results of :func:`_knowledge`."""
    table = unsealed(file, what, "MaxEnt.save")
    with decoding(what, "make the model again"):
        metadata = metadata_of(table)
        if "about" in metadata:
            raise TableError("it contains a posterior, not a model; read it with load_posterior")
        _check_format(metadata, MODEL, "make a new model")
        view, entries = read_view(metadata["view"]), from_arrow_columns(table, metadata["columns"])
        return view, _people(metadata["people"], view), metadata, entries


def _check_format(metadata: Mapping[str, Any], known: object, remedy: str) -> None:
    """Check that a file was written in the format that this version reads."""
    if (version := metadata.get("format")) != known:
        raise TableError(
            f"it has format {short_repr(version)}, but this version of maxent_cvx reads {known!r}; {remedy}"
        )


def _people_parts(people: People) -> dict[str, Any]:
    return {"names": [name if isinstance(name, str) else int(name) for name in people.names], "q": people.q.tolist()}


def _people(parts: dict[str, Any], view: View) -> People:
    return People.at(parts["names"], np.array(parts["q"], dtype=int), view)


def statement_text(source: Source, space: Space) -> str | None:
    """Return a statement as text, or None if reading the text would not restore it exactly in a space."""
    if not isinstance(source, Statement):
        return None
    try:
        again = read_statement(str(source))
        if again == source or (
            # A date and its text denote one value.
            isinstance(again, Statement)
            and again.penalty == source.penalty
            and all(
                same_system(getattr(first, name), getattr(second, name))
                for first, second in zip(again.rows(space), source.rows(space), strict=True)
                for name in ("matrix", "low", "high")
            )
        ):
            return str(source)
        return None
    except MaxEntError:  # labels that cannot be written
        return None


def prior_parts(prior: QIDistribution | None) -> dict[str, Any] | None:
    """Convert a prior to JSON."""
    if prior is None:
        return None
    tables: list[dict[str, Any]] = [
        {
            "attributes": list(attributes),
            "signatures": _levels(table.index),
            "values": pd.DataFrame({"value": pd.Series(table.columns.array, dtype=table.columns.dtype)}),
            "p": pd.DataFrame(table.to_numpy(), columns=[str(i) for i in range(table.shape[1])]),
            "name": table.columns.name,
        }
        for attributes, table in prior.tables.items()
    ]
    return {"tables": write_value(tables, "prior"), "about": prior.about}


def read_prior(parts: dict[str, Any] | None) -> QIDistribution | None:
    """Restore a prior."""
    if parts is None:
        return None
    tables = {}
    for table in read_value(parts["tables"]):
        index = _multi_index(table["signatures"], table["attributes"])
        columns = index_of(table["values"]["value"]).rename(table["name"])
        tables[tuple(table["attributes"])] = pd.DataFrame(table["p"].to_numpy(), index=index, columns=columns)
    return QIDistribution(tables, about=parts["about"])


def same_system(first: Any, second: Any) -> bool:
    """Return whether two systems have equal arrays and numbers; names and unscaled rows are not compared."""
    if isinstance(first, np.ndarray):
        return isinstance(second, np.ndarray) and np.array_equal(first, second, equal_nan=True)
    if isinstance(first, sp.csr_array):
        names = ["shape", "data", "indices", "indptr"]
    elif isinstance(first, SharedColumns):
        names = ["distinct", "of_term"]
    elif dataclasses.is_dataclass(first):
        names = [field.name for field in dataclasses.fields(first) if field.name not in ("origin", "operations")]
    else:
        return not isinstance(second, np.ndarray) and bool(first == second)
    return type(first) is type(second) and all(
        same_system(getattr(first, name), getattr(second, name)) for name in names
    )


def write_terms(
    path: object, space: Space, counts: np.ndarray, about: dict[str, Any], model: dict[str, Any] | None = None
) -> None:
    """Write one row per term: labels, published counts and inferred count; `model` is from `knowledge_parts`."""
    target, view = path_of(path), space.view
    names = [
        count.name if isinstance(count.name, str) and count.name.startswith("N P(") else f"N P({','.join(by)})"
        for by, count in view.published.items()
    ]
    names.append(f"N {space.term.replace(' ', '')}")
    if len(set(names)) < len(names):
        raise TableError(f"the tables of counts need unique names, got {join_names(names)}; rename one")
    if clash := set(names) & set(view.columns):
        raise TableError(f"the column name {sorted(clash)[0]!r} is reserved for counts in the file; rename the column")
    metadata = {"format": POSTERIOR, "view": view_parts(view), "people": _people_parts(space.people)}
    columns, kinds = to_arrow_columns(_labels(space))
    for name, (by, count) in zip(names[:-1], view.published.items(), strict=True):
        row = space.marginal(by).matrix.tocsc().indices  # every term is in exactly one row
        columns[name] = count.to_numpy()[row]
    columns[names[-1]] = counts
    data = with_metadata(columns, metadata | {"columns": kinds, "about": about, "model": model})
    again, same_counts, *_ = read_terms(BytesIO(data), "the saved posterior")
    is_same = _same_space(space, again) and np.array_equal(counts, same_counts)
    write_verified(target, data, f"posterior of this {view.noun}", is_same=is_same)


def write_verified(target: Path, data: bytes, what: str, *, is_same: bool) -> None:
    """Write the bytes of a file, unless reading them does not restore the original."""
    if not is_same:
        raise TableError(
            f"the saved {what} differs from the original; please report this, with the types of its columns"
        )
    write_beside(target, lambda draft: draft.write_bytes(data))


def read_terms(file: object, what: str) -> tuple[Space, np.ndarray, dict[str, Any], dict[str, Any] | None]:
    """Read a file from :func:`write_terms`: the space, the inferred counts, `about`, and `model`."""
    table = unsealed(file, what, "Posterior.save")
    with decoding(what, "solve and save again"):
        metadata = metadata_of(table)
        if "knowledge" in metadata:
            raise TableError("it contains a model, not a posterior; read it with MaxEnt.load")
        _check_format(metadata, POSTERIOR, "a file of version 0.1.0 can be loaded and saved with version 0.2.0")
        labels = from_arrow_columns(table, metadata["columns"])
        # The terms of the restored view must be those of the file, in the same order.
        view = read_view(metadata["view"])
        space = Space.of(view, _people(metadata["people"], view))
        if not all(labels[name].equals(column) for name, column in _labels(space).items()):
            raise TableError("the terms in the file are not in the order of the release")
        counts = table.column(table.num_columns - 1).to_pandas().to_numpy()
        if counts.dtype != float or not (np.isfinite(counts) & (counts >= 0)).all():
            raise TableError(f"the column {table.column_names[-1]!r} must contain finite, non-negative counts")
        return space, counts, metadata["about"], metadata.get("model")


def _same_space(space: Space, loaded: Space) -> bool:
    """Return whether the views have the same class, and the terms the same labels, codes and published counts."""
    published_first, published_second = space.view.published, loaded.view.published
    published = zip(published_first.values(), published_second.values(), strict=False)
    return (
        type(space.view) is type(loaded.view)
        and (space.view.qi, space.view.sensitive) == (loaded.view.qi, loaded.view.sensitive)
        and (list(published_first), list(space.codes)) == (list(published_second), list(loaded.codes))
        and np.array_equal(space.view.n_q, loaded.view.n_q)
        and all(np.array_equal(code, loaded.codes[role]) for role, code in space.codes.items())
        and all(same_labels(space.view.axes[role][1], loaded.view.axes[role][1]) for role in space.view.axes)
        and all(np.array_equal(first.to_numpy(), second.to_numpy()) for first, second in published)
        and same_labels(space.people.names, loaded.people.names)
    )


def _labels(space: Space) -> pd.DataFrame:
    """Return the labels of the terms; names are converted to text, because Parquet columns have a single type."""
    frame = space.index.to_frame(index=False)
    return frame.astype({"who": str}) if len(space.people) else frame
