"""A choice among the values of one attribute: a value, a list of values, or an interval."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments, listing, shown, unknown_name

__all__ = ["NUMBER", "PLAIN", "Choice", "choose", "constant", "written"]

#: A number without a sign; each text is matched in one way only, so that long ones take no time.
NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
#: What a name or a value is made of that needs no quotes.
PLAIN = r"[^\s,|()=:'\"#\\]+"


@dataclass(frozen=True)
class Choice:
    """The values of one attribute that a statement is about.

    Attributes
    ----------
    values : frozenset or None
        The chosen values; the order in which they were written means nothing.
    interval : pandas.Interval or None
        Instead of values: everything inside the interval, its closed ends included.
    """

    values: frozenset[Any] | None
    interval: pd.Interval | None = None

    def __str__(self) -> str:
        if self.interval is not None:
            return f"in {self.interval}"
        return " or ".join(sorted(map(written, self.values or ())))

    def mask(self, known: pd.Index, attribute: str) -> np.ndarray:
        """Mark the entries of `known`, the attribute's published values, that are chosen.

        Raises
        ------
        UnknownName
            If a chosen value is not among the published ones.
        StatementError
            If no published value lies in the interval.
        """
        if self.interval is None:
            wanted = list(self.values or ())
            for value in wanted:
                # pandas reads a text as a date, "2020" as the whole year: a text names a text only.
                if value not in known or (isinstance(value, str) and isinstance(known, pd.DatetimeIndex)):
                    raise unknown_name(f"value of {attribute!r}", value, known)
            return np.asarray(known.isin(wanted))
        if self.interval in known:  # a generalised attribute, whose values are intervals themselves
            return np.asarray(known == self.interval)
        if not pd.api.types.is_numeric_dtype(known):
            raise StatementError(
                f"{attribute!r} is not numeric, so {self.interval} selects nothing; list values: {listing(known)}"
            )
        low, high = self.interval.left, self.interval.right
        above = known >= low if self.interval.closed_left else known > low
        below = known <= high if self.interval.closed_right else known < high
        if not (inside := np.asarray(above & below)).any():
            raise StatementError(
                f"no published value of {attribute!r} lies in {self.interval}; "
                f"they go from {known.min()} to {known.max()}"
            )
        return inside


def choose(chosen: object, attribute: str) -> Choice:
    """Read what a user wrote: a value, a list (or set, Index, Series) of values, or a pandas Interval.

    A tuple is refused: it could be meant as a set of values or as an interval.
    """
    if isinstance(chosen, Choice):
        return chosen
    if isinstance(chosen, pd.Interval):
        return Choice(None, chosen)
    if isinstance(chosen, pd.DataFrame) or getattr(chosen, "ndim", 1) > 1:
        raise StatementError(f"{attribute} is chosen by a value or a list of values, not by {shown(chosen)}")
    if isinstance(chosen, tuple):
        raise StatementError(
            f"{attribute} = {chosen!r} could mean these values or what lies between; "
            f"write the list {list(chosen)!r}, or pandas.Interval(low, high, closed='both')"
        )
    if isinstance(chosen, str | bytes) or not arguments.is_several(chosen):
        values = [chosen]
    elif isinstance(chosen, dict):
        raise StatementError(f"{attribute} = {chosen!r} is a dictionary; a value or a list is expected")
    else:
        values = list(chosen)
    if not values:
        raise StatementError(f"{attribute} = [] chooses no value; name at least one")
    if pd.Series(values, dtype=object).isna().any():
        raise StatementError(f"{attribute} = {shown(chosen)} holds a missing value; name the value that is meant")
    try:
        return Choice(frozenset(values))
    except TypeError as error:
        raise StatementError(
            f"{attribute} = {shown(chosen)} holds something that is no single value: {error}"
        ) from error


def constant(text: str) -> object:
    """Read what stands without quotes: a number, True, False, or else a text."""
    if re.fullmatch(r"-?\d+", text):
        try:
            return int(text)
        except ValueError:  # more digits than Python reads as a number: whoever writes such a thing means a text
            return text
    if re.fullmatch(rf"-?(?:{NUMBER}|inf)", text):
        return float(text)
    return {"True": True, "False": False}.get(text, text)


def written(value: object) -> str:
    """Write a name or a value so that it is read as the same: a text in quotes where it needs them."""
    if not isinstance(value, str):
        return str(value)
    words = re.fullmatch(rf"{PLAIN}(?: {PLAIN})*", value)
    if words and isinstance(constant(value), str) and not {"or", "in"} & set(value.split(" ")):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
