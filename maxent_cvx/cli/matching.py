"""Values of further tables, with the types and notations of the values of TABLE.

A spreadsheet removes leading zeros, and numbers and dates can be texts in one file only. The same value may thus be "01" in
one file and 1 in another one, 3 and 3.0, or "31.01.2024" and a date.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import pandas as pd

from .._utils.errors import TableError, short_repr
from .._utils.formatting import constant, iso_text
from ..releases.generalized import MONTH, text_of
from .files import as_dates
from .streams import say, source_name

#: Texts of truth values.
TRUTH_VALUES = {"true": True, "false": False}


def with_types_of(known: Mapping[str, pd.Series | pd.Index], table: pd.DataFrame, path: str) -> pd.DataFrame:
    """Convert the values of a further table to those of the main table that are equal, and others to their type.

    Raises
    ------
    TableError
        If values of a column cannot be converted, such as texts where the main table has numbers.
    """
    changed = {}
    for name in (name for name in known if name in table.columns):
        values = pd.Series(table[name].dropna().unique(), dtype=object)
        main = pd.Series(pd.Index(known[name]).dropna().unique(), dtype=object)
        if not len(main) or values.isin(main).all():
            continue
        matched = _matched(values, main, f"column {name!r} of {source_name(path)}")
        pairs = [*zip(values, matched, strict=True)]
        if read := [pair for pair in pairs if type(pair[0]) is not type(pair[1])]:
            say(f"{name} of {source_name(path)} is read as in TABLE: {read[0][0]} as {read[0][1]!r}")
        changed[str(name)] = table[name].map(dict(pairs), na_action="ignore").astype(object)
    return table.assign(**changed).infer_objects()


def _matched(values: pd.Series, main: pd.Series, what: str) -> pd.Series:
    """Return the equal value of the main table for each value, and otherwise the value in the main table's type."""
    dates, main_dates = _dates(values), _dates(main)
    # A month is not its first day.
    have_months = pd.concat([values, main]).map(text_of).str.fullmatch(f"{MONTH}|[0-9]{{2}}/[0-9]{{4}}").any()
    if (
        dates is not None
        and main_dates is not None
        and (not have_months or dates.dt.day.max() == main_dates.dt.day.max() == 1)
    ):
        by_date = dict(zip(main_dates, main, strict=True))
        return pd.Series([by_date.get(date, _like(main[0], date)) for date in dates], dtype=object)
    are_texts = {type(value) for value in main} == {str}
    is_typed = all(_number(value) is not None or isinstance(value, bool) for value in main)
    widths = {len(value) if isinstance(value, str) and value.isdecimal() else 0 for value in main}
    width = widths.pop() if len(widths) == 1 else 0  # of codes, which may have lost their zeros
    by_text = _unique((text_of(value), value) for value in main)
    by_number = _unique((number, value) for value in main if (number := _number(value, codes=True)) is not None)
    known, matched = {*main}, []
    for value in values:
        text, number = text_of(value), _number(value, codes=True)
        is_other_type = not (are_texts and isinstance(value, str)) or re.fullmatch("0*[0-9]+", text)
        if value in known:
            matched.append(value)
        elif text in by_text:
            matched.append(by_text[text])
        elif number is not None and number in by_number and is_other_type:
            matched.append(by_number[number])
        elif isinstance(value, str) and is_typed:
            truth = TRUTH_VALUES.get(value.lower())
            if number is None and truth not in main.to_list():
                raise TableError(
                    f"{what} contains texts such as {short_repr(value)}, but TABLE has values such as {main[0]!r} there; "
                    "write the values alike in both files"
                )
            matched.append(number if number is not None else truth)
        else:
            matched.append(text.zfill(width) if are_texts and text.isdecimal() else text if are_texts else value)
    if len({*matched}) < len(values):  # 7 and 007 are two values
        repeated = next(value for value, n in Counter(matched).items() if n > 1)
        raise TableError(
            f"{what} has several values that may be {repeated!r} of TABLE: "
            f"{', '.join(repr(value) for value, other in zip(values, matched, strict=True) if other == repeated)}; "
            "write the values alike in both files"
        )
    return pd.Series(matched, dtype=object)


def _unique(pairs: Iterable[tuple[object, object]]) -> dict[object, object]:
    """Return the values with a key that no other value has."""
    pairs = list(pairs)
    counts = Counter(key for key, _ in pairs)
    return {key: value for key, value in pairs if counts[key] == 1}


def _number(value: object, *, codes: bool = False) -> object:
    """Return a number, or the number of a text; with `codes` also of digits with leading zeros."""
    if isinstance(value, str):
        if not codes:
            return None
        value = constant(value.lstrip("0") or "0") if value.isdecimal() else constant(value)
    return value if is_number(value) else None


def is_number(value: object) -> bool:
    """Return whether a value is a number, which True is not."""
    return pd.api.types.is_number(value) and not pd.api.types.is_bool(value)


def _dates(values: pd.Series) -> pd.Series | None:
    """Return values that are all dates, or texts of dates, as dates without a time zone."""
    if values.map(lambda value: isinstance(value, datetime.date)).all():  # also Timestamps
        values = pd.to_datetime(values)
    dates = as_dates(values)
    is_date = pd.api.types.is_datetime64_dtype(dates)
    return dates.reset_index(drop=True) if is_date else None


def _like(example: object, date: pd.Timestamp) -> object:
    """Return a date in the type of an example."""
    if isinstance(example, pd.Timestamp):
        return date
    return iso_text(date) if isinstance(example, str) else date.date()
