"""Views in a file of terms: their tables as text, which keeps the labels' types, and what JSON holds beside them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...errors import TableError, listing, shown
from ...views import View
from ...views.storable import restored, stored
from .labels import index_of, pack, same_labels, unpack

__all__ = ["read_value", "read_view", "view_parts", "write_value"]

#: What a value is written as, where JSON would make another one of it: {name: content}.
TABLE, TUPLE, MAPPING = "table", "tuple", "mapping"


def view_parts(view: View) -> dict[str, Any]:
    """Write down a view: the name of its class, and its tables.

    Raises
    ------
    TableError
        If its class does not say how, or what it gives would not come back as it is.
    """
    parts = stored(view)
    name = type(view).__name__
    if not isinstance(parts["frames"], Mapping):
        raise TableError(f"to_frames() of a {name} gives {shown(parts['frames'])}; a dictionary of tables is expected")
    written = write_value(parts, name)
    json.dumps(written)
    return written


def read_view(written: Any) -> View:
    """Make the view again.

    Parameters
    ----------
    written : dict
        What :func:`view_parts` wrote down.
    """
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
            raise TableError(f"to_frames() of a {where} has the key {shown(strange[0])}; texts are expected")
        return {MAPPING: {key: write_value(item, f"{where}, {key!r}") for key, item in value.items()}}
    raise TableError(
        f"to_frames() of a {where}, gives a {type(value).__name__}, which no file can hold; DataFrames are expected "
        "(of a Series .reset_index(), of an Index .to_frame(index=False)), texts, numbers, lists and dictionaries"
    )


def _packed(table: pd.DataFrame, where: str) -> str:
    """Write a table as compressed text."""
    if strange := [name for name in table.columns if not isinstance(name, str)]:
        raise TableError(f"a column of the table of a {where}, is called {shown(strange[0])}; texts are expected")
    if table.columns.has_duplicates:
        twice = table.columns[table.columns.duplicated()]
        raise TableError(f"the table of a {where}, has two columns called {listing(twice)}; rename one")
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
