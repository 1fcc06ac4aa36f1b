"""Columns of labels in Arrow's formats: they come back with their values, types and order, or are refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pandas as pd

from ...errors import TableError

__all__ = ["check_labels", "from_arrow", "index_of", "pack", "same_labels", "to_arrow", "unpack"]

#: Where a packed table keeps what its columns are.
SPECS = b"columns"
#: What to do about labels that a file cannot hold.
REMEDY = "before the release is made, turn the column into text, .astype(str), or into numbers of one type"


def to_arrow(column: pd.Series) -> tuple[Any, dict[str, Any]]:
    """Turn a column into an Arrow array, and say in words that JSON has what it was.

    Raises
    ------
    TableError
        If Arrow has no type for all of its values.
    """
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
    dtype = _text(spec) if "text" in spec else pd.api.types.pandas_dtype(spec["dtype"])
    return column if column.dtype == dtype else column.astype(dtype)


def check_labels(labels: pd.Index, name: str) -> None:
    """Refuse the labels of a column that do not come back from a Parquet file as they are.

    Raises
    ------
    TableError
        Tuples come back as lists, for example, which are no labels; 1 beside 2.5 comes back as 1.0.
    """
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
    """Write a table as text, its columns' types and all; `name` is what messages call its only column.

    Raises
    ------
    TableError
        If a column does not come back as it is.
    """
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


def _text(spec: dict[str, Any]) -> Any:
    """Find the type of a column of text; older versions of pandas have not all of them, and keep text as objects."""
    if spec["missing"] != "nan":
        return pd.StringDtype(spec["text"])
    try:
        return pd.StringDtype(spec["text"], na_value=np.nan)
    except TypeError:
        return np.dtype(object)
