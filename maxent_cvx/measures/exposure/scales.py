"""The scale that sensitive values lie on: numbers, times or ranks; and texts that only look like numbers."""

from __future__ import annotations

import datetime
import math
import numbers
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments, shown
from ...tables.numbers import as_numbers

__all__ = ["Scale", "are_nearly_unique", "look_like_numbers", "scale_of"]

#: The default radius is the range of the values, divided by this.
PARTS_OF_RANGE = 20
#: Ordered values count within one rank of each other if there are so many ranks that three of them are not nearly all.
MANY_RANKS = 5
#: Values that occur so often or less are rare; so many rare values can make a table nearly unique.
RARE, MANY_RARE = 2, 10
#: The share of the people who have a rare value in such a table, at least.
SHARE_OF_RARE = 0.1
#: Fewer labels that look like numbers may be a coincidence; of two labels, neither lies between others.
FEWEST_NUMBERS = 3

#: Dates and times in the form of ISO 8601, which have one meaning only: 2024-05-31, 2024-05-31T12:00:00+02:00.
ISO_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?")
#: A number with its separators, as 30,000 or 30.000,50; or a code, letters with digits after them, as A01 or B20.1.
NUMBER_OR_CODE = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]+)\d[\w.]*|\d+(?:[.,' \u2019]\d+)*")
#: What may stand before a number without a space and is no code.
CURRENCIES = re.compile(
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|BRL|MXN|ZAR|RUB|TRY|KRW|US|RS|KR", re.I
)
#: Keeps the digits of a code apart from numbers.
AS_LETTERS = str.maketrans("0123456789", "abcdefghij")


@dataclass(frozen=True, eq=False)
class Scale:
    """The numbers that sensitive values are.

    Attributes
    ----------
    kind : str
        "number", "time" or "rank".
    position : ndarray of float
        Of every value, above the least one: units, seconds, or ranks.
    rounding : float
        How far the difference of two positions may be from the difference of the values; 0 for whole numbers.
    """

    kind: str
    position: np.ndarray
    rounding: float = 0.0

    def default(self) -> float:
        """A twentieth of the range; of many ranks one at least."""
        radius = float(self.position.max(initial=0.0)) / PARTS_OF_RANGE
        if self.kind == "rank" and len(np.unique(self.position)) >= MANY_RANKS:
            return max(1.0, float(math.floor(radius)))
        return radius

    def radius(self, within: object) -> float:
        """Read a radius that was given: a number, of times a duration."""
        if self.kind != "time" or (isinstance(within, numbers.Real) and within == 0):
            return arguments.real(within, "within", 0.0, error=StatementError)
        if not isinstance(within, str | datetime.timedelta | np.timedelta64):
            raise StatementError(
                f"within={shown(within)}: the sensitive values are dates or times, so a duration is expected, such as "
                "pandas.Timedelta(days=30), or '30 days'"
            )
        try:
            seconds = pd.Timedelta(within).total_seconds()
        except (ValueError, OverflowError) as error:
            raise StatementError(f"within={shown(within)} is not a duration such as '30 days': {error}") from error
        if not seconds >= 0:
            raise StatementError(f"within={shown(within)}: a duration of at least 0 is expected")
        return seconds

    def amount(self, position: float) -> float | pd.Timedelta:
        """A difference of positions in the unit of the values."""
        return pd.Timedelta(seconds=position) if self.kind == "time" else position

    def in_words(self, position: float) -> str:
        """Write a difference of positions: "4,500", "30 days" or "2 ranks"."""
        if self.kind == "rank":
            return f"{position:.3g} rank{'s' * (position != 1)}"
        if self.kind == "number":
            return f"{position:,.2f}".rstrip("0").rstrip(".") if position >= 1000 else f"{position:.3g}"
        for seconds, unit in ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute")):
            if position >= seconds:
                return f"{position / seconds:.3g} {unit}{'s' * (position != seconds)}"
        return f"{position:.3g} seconds"


def scale_of(values: pd.Index) -> Scale | None:
    """Find the scale of the values of one attribute; None if they are labels without an order.

    Numbers are on a scale, dates and times, texts that are dates in the form of ISO 8601, and the ranks of an ordered
    Categorical whose categories are none of these.
    """
    if not len(values):
        return None
    plain = pd.Index(np.asarray(values)) if isinstance(values, pd.CategoricalIndex) else values
    scale = _of_times(plain) or _of_numbers(plain)
    if scale is None and isinstance(values, pd.CategoricalIndex) and values.ordered:
        return Scale("rank", (values.codes - values.codes.min()).astype(float))
    return scale


def _of_times(values: pd.Index) -> Scale | None:
    """Dates and times, by the seconds since the first."""
    kind = pd.api.types.infer_dtype(values, skipna=False)
    times: Any
    if kind == "string" and all(ISO_DATE.fullmatch(text) for text in values):
        times = pd.to_datetime(pd.Series(values, dtype=object), format="ISO8601", errors="coerce", utc=True)
    elif kind == "period" and isinstance(values, pd.PeriodIndex):
        times = values.to_timestamp().to_series()
    elif kind in ("datetime", "datetime64", "date"):
        times = pd.to_datetime(pd.Series(values, dtype=object), errors="coerce", utc=True)
    elif kind in ("timedelta", "timedelta64"):
        times = pd.to_timedelta(pd.Series(values, dtype=object), errors="coerce")
    else:
        return None
    if times.isna().any():
        return None
    return Scale("time", (times - times.min()).dt.total_seconds().to_numpy(float))


def _of_numbers(values: pd.Index) -> Scale | None:
    """Finite numbers, by how far they are above the least."""
    try:
        found = as_numbers(values, "values")
    except TableError:
        return None
    if found.dtype.kind != "f":  # whole numbers of any size: their differences are exact
        whole = found.astype(object)
        try:
            position = np.asarray(whole - whole.min(), dtype=float)
        except OverflowError:
            return None
        return Scale("number", position, 0.0 if position.max() < 2**53 else float(np.spacing(position.max())))
    with np.errstate(over="ignore"):
        position = found - found.min()
    if not np.isfinite(position).all():
        return None
    return Scale("number", position, 8 * np.finfo(float).eps * float(np.abs(found).max()))


def look_like_numbers(values: pd.Index) -> list[object]:
    """Find labels that look like numbers, dates or ranges with text around them, if at least half of all do.

    Such a label begins with a number, whatever signs are before it, as "$30,000", "30k EUR" or "20-30 years"; or at
    least three labels differ only in their numbers, as "EUR 30000" or "stage 2". "A01" and "B20" are codes.
    """
    texts = [_pattern(value) for value in values]
    often = {text for text, n in Counter(texts).items() if n >= FEWEST_NUMBERS and "#" in text}
    found = [v for v, text in zip(values, texts, strict=True) if text in often or re.match(r"[^\w#]*#", text)]
    return found if len(found) >= max(FEWEST_NUMBERS, len(values) / 2) else []


def _pattern(value: object) -> str:
    """A label with # for each number: "$#", "#-# years", "stage #"."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        return "#"

    def replaced(found: re.Match[str]) -> str:
        is_code = found[1] is not None and not CURRENCIES.fullmatch(found[1])
        return found[0].translate(AS_LETTERS) if is_code else "#"

    text = unicodedata.normalize("NFKC", str(value)).replace("#", "").strip()
    return NUMBER_OR_CODE.sub(replaced, text)


def are_nearly_unique(n_s: np.ndarray | None, n_values: int, n_people: int) -> bool:
    """Whether most values occur once or twice, and not only a few people have these."""
    if n_s is None:
        return n_values >= MANY_RARE and n_values > n_people / RARE
    rare = (n_s > 0) & (n_s <= RARE)
    many = rare.sum() >= MANY_RARE and rare.sum() > (n_s > 0).sum() / 2
    return bool(many and n_s[rare].sum() >= SHARE_OF_RARE * n_s.sum())
