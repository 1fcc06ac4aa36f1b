"""The confidential attribute and its domain, checked where a table comes in."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, listing, shown
from ..tables.columns import check_columns
from ..tables.numbers import as_numbers

__all__ = ["check_confidential", "check_type", "domain_of", "numeric_domain"]


def check_confidential(table: pd.DataFrame, confidential: str) -> None:
    """Check that there is a table, with the confidential attribute, and nothing missing or twice."""
    if not isinstance(confidential, str):
        raise StatementError(f"confidential={shown(confidential)}: the name of one column is expected")
    if not isinstance(table, pd.DataFrame):
        raise TableError(f"the table must be a pandas DataFrame, not {shown(table)}")
    if table.columns.has_duplicates:
        raise TableError(f"the table has two columns {listing(table.columns[table.columns.duplicated()])}; rename one")
    check_columns(table, {"confidential": (confidential,)}, "the table")
    check_columns(table, {"attributes": tuple(table.columns)}, "the table")
    for name in table.columns:
        check_type(table[name])


def check_type(column: pd.Series) -> None:
    """Refuse what pandas has no index of."""
    if column.dtype == np.float16:
        raise TableError(f"column {column.name!r} is of short floats, float16; take .astype('float32')")


def domain_of(column: pd.Series) -> pd.Index:
    """The domain of an attribute, in order: the categories of a Categorical, else the values that occur, sorted."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Index(column.cat.categories, name=column.name)
    try:
        return pd.Index(np.sort(column.unique()), name=column.name)
    except TypeError as error:
        raise TableError(f"column {column.name!r} holds values that have no order: {error}") from error


def numeric_domain(column: pd.Series) -> pd.Index:
    """The domain of an attribute whose values are numbers, increasing."""
    domain = domain_of(column)
    return domain.take(np.argsort(as_numbers(domain, f"the values of {column.name!r}"), kind="stable"))
