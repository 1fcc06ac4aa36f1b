"""Types of columns that differ between files of one table: one type that holds all of their values, or an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ...errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["cast", "common_schema", "concatenated"]


def common_schema(schemas: Iterable[pa.Schema], columns: Sequence[str]) -> pa.Schema:
    """The types of some columns that all files can be read as.

    Whole and real numbers of any width are numbers; dictionaries are the values that they stand for, unless they are
    ordered. A number is never a text.

    Raises
    ------
    TableError
        If a column has types that cannot be compared.
    """
    import pyarrow as pa

    distinct = list(dict.fromkeys(pa.schema([schema.field(name) for name in columns]) for schema in schemas))
    return pa.schema([(name, _common_type(name, [schema.field(name).type for schema in distinct])) for name in columns])


def _common_type(name: str, types: Sequence[pa.DataType]) -> pa.DataType:
    """The type that holds the values of all."""
    import pyarrow as pa

    ordered = [pa.types.is_dictionary(each) and each.ordered for each in types]
    if all(ordered):
        return types[0]
    plain = list(dict.fromkeys(each.value_type if pa.types.is_dictionary(each) else each for each in types))
    sorts = {_sort_of(each) for each in plain} - {"null"}
    try:
        if any(ordered) or len(sorts) > 1:
            raise pa.ArrowTypeError
        schemas = [pa.schema([(name, each)]) for each in plain]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        found = ", ".join(str(each) for each in dict.fromkeys(types))
        raise TableError(
            f"column {name!r} has types in different files that cannot be compared ({found}); "
            "write it as one type in all of them"
        ) from None


def _sort_of(found: pa.DataType) -> str:
    """What values a type has; values of different sorts are different, however they are written."""
    import pyarrow as pa

    if pa.types.is_integer(found) or pa.types.is_floating(found):
        return "number"
    is_text = pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found)
    return "text" if is_text else str(found)


def cast(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Give columns the types that they have in all files.

    Raises
    ------
    TableError
        If a number does not survive it.
    """
    import pyarrow as pa

    columns = []
    for field in schema:
        column = table.column(field.name)
        try:
            is_ordered = pa.types.is_dictionary(field.type)  # its codes may be of any width
            columns.append(column if is_ordered else column.cast(field.type))
        except pa.ArrowInvalid as error:
            raise TableError(
                f"column {field.name!r} of {name} is {column.type}, and {field.type} in other files, which does not "
                f"hold all of its values ({error}); write it as one type in all of them"
            ) from None
    return pa.table(columns, names=schema.names)


def concatenated(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join the rows of several tables of the same columns.

    Raises
    ------
    TableError
        If a column is ordered in several ways.
    """
    for name in frames[0].columns:
        types = [frame[name].dtype for frame in frames]
        if any(isinstance(each, pd.CategoricalDtype) and each != types[0] for each in types):
            raise TableError(
                f"column {name!r} has ordered categories that differ between files; write the same ones in all of them"
            )
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
