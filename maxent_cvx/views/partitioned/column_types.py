"""Types of columns that differ between files of one table: one type that holds all of their values, or an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["cast", "common_schema", "together"]


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
    """The type that holds the values of all; of ordered categories, whose codes may be of any width, one that does."""
    import pyarrow as pa

    ordered = {pa.types.is_dictionary(each) and each.ordered for each in types}
    plain = list(dict.fromkeys(each.value_type if pa.types.is_dictionary(each) else each for each in types))
    if any(pa.types.is_dictionary(each) and isinstance(each.value_type, pa.BaseExtensionType) for each in types):
        raise TableError(
            f"column {name!r} holds categories of {plain[0]}, which Arrow does not read; make it texts before, "
            ".astype(str)"
        )
    try:
        if len(ordered) > 1 or len({_sort_of(each) for each in plain} - {"null"}) > 1:
            raise pa.ArrowTypeError
        schemas = [pa.schema([(name, each)]) for each in plain]
        common = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        found = ", ".join(str(each) for each in dict.fromkeys(types))
        raise TableError(
            f"column {name!r} has types in different files that cannot be compared ({found}); "
            "write it as one type in all of them"
        ) from None
    return pa.dictionary(pa.int32(), common, ordered=True) if ordered == {True} else common


def _sort_of(found: pa.DataType) -> str:
    """What values a type has; values of different sorts are different, however they are written."""
    import pyarrow as pa

    if pa.types.is_integer(found) or pa.types.is_floating(found):
        return "number"
    if pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found):
        return "text"
    if pa.types.is_timestamp(found):
        return f"time in {found.tz}"
    return "decimal" if pa.types.is_decimal(found) else str(found)


def cast(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Give columns the types that they have in all files.

    Raises
    ------
    TableError
        If a number does not survive it, or a column has several orders.
    """
    import pyarrow as pa

    check_orders(table)
    columns = []
    for field in schema:
        column = table.column(field.name)
        try:
            columns.append(column.cast(field.type))
        except pa.ArrowInvalid as error:
            raise TableError(
                f"column {field.name!r} of {name} is {column.type}, and {field.type} in other files, which does not "
                f"hold all of its values ({error}); write it as one type in all of them"
            ) from None
    return pa.table(columns, names=schema.names)


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """Join the rows of tables of the same types.

    Raises
    ------
    TableError
        If a column is ordered in several ways.
    """
    import pyarrow as pa

    found = pa.concat_tables(tables)
    check_orders(found)
    return found


def check_orders(table: pa.Table) -> None:
    """Check that ordered categories have one order: Arrow would put those of several into a new one.

    Raises
    ------
    TableError
        If a column has several.
    """
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_dictionary(column.type) or not column.type.ordered:
            continue
        if any(not chunk.dictionary.equals(column.chunk(0).dictionary) for chunk in column.chunks):
            raise TableError(
                f"column {name!r} has ordered categories that differ between files, or in one; "
                "write the same ones everywhere"
            )
