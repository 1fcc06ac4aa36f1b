"""The columns of a table of generalised records: a cell an attribute, whichever columns and gaps a tool writes."""

from __future__ import annotations

import pandas as pd

from ...errors import TableError, listing
from .dialects import SUPPRESSED

__all__ = ["generalised_cells"]


def generalised_cells(table: pd.DataFrame, qi: tuple[str, ...]) -> pd.DataFrame:
    """Bring every attribute into one column, and its missing values to "*".

    Parameters
    ----------
    table : DataFrame
        An attribute that is no column may be several: "Age_min" and "Age_max", or columns "Sex_f", "Sex_m" of True and
        False, as AnonyPyx writes them. A missing value is one that was suppressed, as by sdcMicro.
    qi : tuple of str
        The attributes.

    Returns
    -------
    DataFrame
        The table, with a column for each attribute that was several; what is no column of either kind is left out.

    Raises
    ------
    TableError
        If of a record no value of an attribute is True, or a column may be of two attributes.
    """
    for name in dict.fromkeys(qi):
        if name in table.columns:
            if table.columns.to_list().count(name) == 1 and table[name].isna().any():
                table = table.assign(**{name: _filled(table[name])})
        elif {f"{name}_min", f"{name}_max"} <= set(table.columns):
            table = table.assign(**{name: _between(table[f"{name}_min"], table[f"{name}_max"])})
        elif flags := _flags(table, name, qi):
            table = table.assign(**{name: _sets(table[flags], name)})
    return table


def _filled(column: pd.Series) -> pd.Series:
    """Write "*" where nothing is; numbers that gaps have made floats are whole again."""
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    return column.astype(object).where(column.notna(), SUPPRESSED)


def _between(low: pd.Series, high: pd.Series) -> pd.Series:
    """The intervals from one column to the other; a value where both are equal."""
    texts = "[" + low.astype(str) + ", " + high.astype(str) + "]"
    return texts.where(low != high, low.astype(str))


def _flags(table: pd.DataFrame, name: str, qi: tuple[str, ...]) -> list[str]:
    """The columns "name_value" of True and False."""
    found = [one for one in map(str, table.columns) if one in table.columns and one.startswith(f"{name}_")]
    found = [one for one in found if pd.api.types.is_bool_dtype(table[one])]
    others = [other for other in qi if other != name and other.startswith(f"{name}_") and other not in table.columns]
    if shared := [one for one in found if any(one.startswith(f"{other}_") for other in others)]:
        raise TableError(f"the columns {listing(shared)} may be of {name!r} or of {listing(others)}; rename them")
    return found


def _sets(flags: pd.DataFrame, name: str) -> pd.Series:
    """The sets of values whose columns are True; a value where it is the only one."""
    codes, rows = pd.factorize(pd.MultiIndex.from_frame(flags))
    values = [str(one).removeprefix(f"{name}_") for one in flags]
    sets = [frozenset(value for value, held in zip(values, row, strict=True) if held) for row in rows]
    if any(not one for one in sets):
        raise TableError(
            f"the columns of {name!r}, {listing(flags.columns)}, are all False in some rows; one must be True"
        )
    cells = pd.Series([next(iter(one)) if len(one) == 1 else one for one in sets], dtype=object)
    return pd.Series(cells.to_numpy()[codes], index=flags.index, dtype=object)
