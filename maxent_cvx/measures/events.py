"""Sensitive events that count for exposure: values, and intervals of numbers, dates and ranks around them."""

from __future__ import annotations

import datetime
import math
import numbers
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import StatementError, TableError, join_names, short_repr
from .._utils.formatting import Message, format_value, rounded
from .._utils.tables import as_numbers, choose, plain_index
from .._utils.validation import check_float, check_label
from ..releases.generalized import label_of, read_hierarchies

#: Sums of probabilities that differ by less are equal up to rounding, and the same for float32 and float16.
ROUNDING, COARSE = 1e-9, 1e-3
#: The default distance is the range of the values divided by this.
PARTS_OF_RANGE = 20
#: The least number of ranks for which neighbouring ranks count as equal by default: three of five are not nearly all.
MANY_RANKS = 5
#: A value that occurs RARE times or less is rare. MANY_RARE rare values make a table nearly unique if they are more than
#: half of the values, and at least SHARE_OF_RARE of the people have one.
RARE, MANY_RARE, SHARE_OF_RARE = 2, 10, 0.1
#: Fewer labels that look like numbers may be a coincidence; with two, neither lies between others.
FEWEST_NUMBERS = 3

#: Dates and times in the format of ISO 8601, which is unambiguous: 2024-05-31, 2024-05-31T12:00:00+02:00.
ISO_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?")
#: A number with its separators, such as 30,000 or 30.000,50; or a code, letters followed by digits, such as A01 or B20.1.
NUMBER_OR_CODE = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]+)\d[\w.]*|\d+(?:[.,' \u2019]\d+)*")
#: Letters that may stand directly before a number without making it a code.
CURRENCIES = re.compile(
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|BRL|MXN|ZAR|RUB|TRY|KRW|US|RS|KR", re.I
)
#: Replaces the digits of a code, so that it is not mistaken for a number.
AS_LETTERS = str.maketrans("0123456789", "abcdefghij")


@dataclass(frozen=True, eq=False)
class SensitiveEvents:
    """Events that may be inferred: `includes[s, e]` is 1 if event e contains the sensitive value s.

    An event is usually one value. With several sensitive attributes, whose combinations are the values, it may consist
    of all combinations with one disease; with a hierarchy, it may be a node.
    """

    labels: pd.Index
    includes: sp.csr_array

    def of(self, p: np.ndarray) -> np.ndarray:
        """Return probabilities (or numbers of people) of the events from those of the values on the last axis."""
        return p if self.are_all_values else np.asarray(p @ self.includes)

    @cached_property
    def are_all_values(self) -> bool:
        """Whether the events are the values in their order, which saves slow products with large tables."""
        n, n_events = self.includes.shape
        entries = self.includes.indptr, self.includes.indices, self.includes.data
        return n == n_events and all(map(np.array_equal, entries, (np.arange(n + 1), np.arange(n), np.ones(n))))

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """Return the largest number among the values of each event."""
        by_event = self.includes.tocsc()
        return np.maximum.reduceat(numbers[:, by_event.indices], by_event.indptr[:-1], axis=1)

    @property
    def involved(self) -> np.ndarray:
        """Mask of the values that are in some event."""
        return np.diff(self.includes.indptr) > 0


def sensitive_events(values: pd.Index, sensitive: object) -> SensitiveEvents:
    """Read the parameter `sensitive` of :func:`exposed`."""
    if sensitive is None:
        return _each(values, np.ones(len(values), dtype=bool))
    if isinstance(sensitive, Mapping):
        return _of_attributes(values, sensitive)
    if values.nlevels == 1:
        return _each(values, choose(sensitive, "sensitive").mask(values, str(values.name)))
    are_several = isinstance(sensitive, list | set | frozenset | pd.Index)
    combinations: list[object] = list(sensitive) if are_several else [sensitive]  # type: ignore[call-overload]
    names = ", ".join(map(str, values.names))
    for combination in combinations:
        if not isinstance(combination, tuple) or len(combination) != values.nlevels:
            raise StatementError(
                f"sensitive={short_repr(sensitive)}: a combination of {names} must be a tuple of {values.nlevels} values "
                f"(--sensitive {','.join(map(label_of, values[0]))}); "
                f"for values of one attribute give a dictionary such as {{{values.names[0]!r}: value}}"
            )
        check_label(combination, f"combination of {names}", values)
    if not combinations:
        raise StatementError("sensitive must contain at least one value; omit it to consider all values")
    return _each(values, np.asarray(values.isin(combinations)))


def attribute_values(values: pd.Index, attribute: object) -> SensitiveEvents:
    """Return one event per value of an attribute, regardless of the other attributes."""
    return sensitive_events(values, {attribute: None} if values.nlevels > 1 else None)


def values_of_each_attribute(values: pd.Index) -> SensitiveEvents | None:
    """Return one event per value of each attribute; None if there is only one attribute."""
    if values.nlevels == 1:
        return None
    each = [attribute_values(values, name) for name in values.names]
    labels = [f"{events.labels.name}={format_value(value)}" for events in each for value in events.labels]
    return SensitiveEvents(pd.Index(labels), sp.csr_array(sp.hstack([events.includes for events in each])))


def _each(values: pd.Index, mask: np.ndarray) -> SensitiveEvents:
    """Return one event per marked value."""
    return SensitiveEvents(values[mask], sp.csr_array(sp.eye_array(len(values), format="csc")[:, mask]))


def _of_attributes(values: pd.Index, chosen: Mapping[object, object]) -> SensitiveEvents:
    """Return one event per combination of values of the chosen attributes, regardless of the other attributes."""
    if not chosen:
        raise StatementError("sensitive must contain at least one attribute; omit it to consider all values")
    mask, names = np.ones(len(values), dtype=bool), [str(name) for name in values.names]
    for attribute, listed in chosen.items():
        check_label(attribute, "sensitive attribute", names)
        if listed is not None:
            mask &= choose(listed, str(attribute)).mask(values.get_level_values(str(attribute)), str(attribute))
    if not mask.any():
        raise StatementError(f"sensitive={short_repr(chosen)}: each value occurs, but no combination of them does")
    levels = [values.get_level_values(i) for i, name in enumerate(names) if name in chosen]
    of_chosen = plain_index(pd.MultiIndex.from_arrays(levels))
    distinct = of_chosen[mask].unique()
    places = np.flatnonzero(mask), distinct.get_indexer(of_chosen[mask])
    return SensitiveEvents(
        distinct, sp.csr_array((np.ones(len(places[0])), places), shape=(len(values), len(distinct)))
    )


def _with_nodes(
    events: SensitiveEvents, all_values: SensitiveEvents, nodes: Mapping[object, frozenset[object]]
) -> SensitiveEvents:
    """Add the nodes of a hierarchy that contain the value of an event, except single values and the root."""
    values = all_values.labels
    if not values.isin(list(frozenset().union(*nodes.values()))).any():
        raise StatementError(
            f"within: the hierarchy contains none of the values of {values.name!r}, such as {join_names(values, 3)}"
        )
    labels, columns = [*events.labels], [events.includes]
    for node, leaves in nodes.items():
        below = np.asarray(values.isin(list(leaves)))
        if not 1 < below.sum() < len(values) or not events.labels.isin(values[below]).any():
            continue
        if node in labels:
            raise TableError(f"within: the hierarchy has a node {short_repr(node)}, which is also a value; rename it")
        labels.append(node)
        columns.append(sp.csr_array(all_values.includes[:, np.flatnonzero(below)].sum(axis=1)[:, None]))
    return SensitiveEvents(pd.Index(labels, dtype=object, name=events.labels.name), sp.csr_array(sp.hstack(columns)))


def read_events(values: pd.Index, sensitive: object, within: object) -> tuple[SensitiveEvents, Intervals | None]:
    """Read the parameters `sensitive` and `within`; the intervals are None if the values are labels."""
    events = sensitive_events(values, sensitive)
    is_zero = isinstance(within, numbers.Real) and within == 0
    if events.labels.nlevels > 1:
        if within is not None and not is_zero:
            names = events.labels.names
            raise StatementError(
                f"within={short_repr(within)}: combinations of {', '.join(map(str, names))} are compared for equality; "
                f"to compare distances choose one attribute, such as sensitive={{{names[0]!r}: None}}"
            )
        return events, None
    attribute = events.labels.name
    all_values = attribute_values(values, attribute)
    if isinstance(within, Mapping | pd.DataFrame | PathLike):
        return _with_nodes(events, all_values, read_hierarchies({str(attribute): within})[str(attribute)]), None
    if (scale := scale_of(all_values.labels)) is None:
        if within is not None and not is_zero:
            raise StatementError(
                f"within (--within) must be 0, as the values of {attribute!r} are neither numbers, dates nor an ordered "
                f"Categorical, got {short_repr(within)}; convert the values, or use 0 to compare for equality"
            )
        return events, None
    radius = scale.default_radius() if within is None else scale.read_radius(within)
    return events, Intervals(scale, radius, all_values.labels.get_indexer(events.labels), all_values, within is None)


@dataclass(frozen=True, eq=False)
class Scale:
    """Positions of sensitive values relative to the least: numbers in their unit, times in seconds, or ranks."""

    kind: str  # "number", "time" or "rank"
    position: np.ndarray
    rounding: float = 0.0  # bounds the error of a difference of positions

    def default_radius(self) -> float:
        """Return a twentieth of the range; at least one rank if there are many ranks."""
        radius = float(self.position.max(initial=0.0)) / PARTS_OF_RANGE
        if self.kind == "rank" and len(np.unique(self.position)) >= MANY_RANKS:
            return max(1.0, float(math.floor(radius)))
        return radius

    def read_radius(self, within: object) -> float:
        """Read a radius: a number, or a duration for times."""
        if self.kind != "time" or (isinstance(within, numbers.Real) and within == 0):
            return check_float(within, "within", 0.0, error=StatementError)
        if not isinstance(within, str | datetime.timedelta | np.timedelta64):
            raise StatementError(
                "within must be a duration such as '30 days', because the sensitive values are dates or times, got "
                f"{short_repr(within)}"
            )
        try:
            seconds = pd.Timedelta(within).total_seconds()
        except (ValueError, OverflowError) as error:
            raise StatementError(
                f"within must be a duration such as '30 days', not {short_repr(within)}: {error}"
            ) from error
        if not seconds >= 0:
            raise StatementError(f"within must not be negative, got the duration {short_repr(within)}")
        return seconds

    def amount(self, difference: float) -> float | pd.Timedelta:
        """Convert a difference of positions to the unit of the values."""
        return pd.Timedelta(seconds=difference) if self.kind == "time" else difference

    def in_words(self, difference: float) -> str:
        """Write a difference of positions: "4,500", "30 days" or "2 ranks"."""
        if self.kind == "rank":
            return Message("{n} rank" if difference == 1 else "{n} ranks", n=rounded(difference))
        if self.kind == "number":
            number = f"{difference:,.2f}".rstrip("0").rstrip(".") if difference >= 1000 else f"{difference:.3g}"
            return Message("{number}", number=number)
        for seconds, unit in ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute")):
            if difference >= seconds:
                return Message(f"{{n}} {unit}{'s' * (difference != seconds)}", n=rounded(difference / seconds))
        return Message("{n} seconds", n=rounded(difference))


def scale_of(values: pd.Index) -> Scale | None:
    """Return the scale of the values of an attribute: times, numbers, or other ordered categories; else None."""
    if not len(values):
        return None
    plain = pd.Index(np.asarray(values)) if isinstance(values, pd.CategoricalIndex) else values
    scale = _time_scale(plain) or _number_scale(plain)
    if scale is None and isinstance(values, pd.CategoricalIndex) and values.ordered:
        return Scale("rank", (values.codes - values.codes.min()).astype(float))
    return scale


def _time_scale(values: pd.Index) -> Scale | None:
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


def _number_scale(values: pd.Index) -> Scale | None:
    try:
        numbers = as_numbers(values, "values")
    except TableError:
        return None
    if numbers.dtype.kind != "f":  # integers of any size: their differences are exact
        integers = numbers.astype(object)
        try:
            position = np.asarray(integers - integers.min(), dtype=float)
        except OverflowError:
            return None
        return Scale("number", position, 0.0 if position.max() < 2**53 else float(np.spacing(position.max())))
    with np.errstate(over="ignore"):
        position = numbers - numbers.min()
    if not np.isfinite(position).all():
        return None
    return Scale("number", position, 8 * np.finfo(float).eps * float(np.abs(numbers).max()))


@dataclass(frozen=True, eq=False)
class Intervals:
    """Closed intervals [c - radius, c + radius] around sensitive values c, the centres."""

    scale: Scale
    radius: float
    centres: np.ndarray  # positions among the values of the attribute
    values: SensitiveEvents  # the values of the attribute
    is_default: bool  # whether the radius is the default

    @cached_property
    def order(self) -> np.ndarray:
        """Indices that sort the values by position."""
        return np.argsort(self.scale.position, kind="stable")

    @cached_property
    def sorted(self) -> np.ndarray:
        """The positions in increasing order."""
        return self.scale.position[self.order]

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Start and stop of the interval of each centre among the sorted values."""
        at, reach = self.scale.position[self.centres], self.radius + self.scale.rounding
        return np.searchsorted(self.sorted, at - reach, "left"), np.searchsorted(self.sorted, at + reach, "right")

    @property
    def are_single_values(self) -> bool:
        """Whether every interval contains its centre only."""
        start, stop = self.ends
        return bool((stop - start <= 1).all())

    @property
    def involved(self) -> np.ndarray:
        """Mask of the sensitive values that are in some interval."""
        begun, ended = (np.bincount(end, minlength=len(self.order) + 1).cumsum() for end in self.ends)
        inside = self.order[(begun > ended)[:-1]]
        return np.asarray(self.values.includes[:, inside].sum(axis=1) > 0)

    def _cumulative(self, p: np.ndarray) -> np.ndarray:
        """Return cumulative probabilities in order of position, from 0: shape (rows, values + 1)."""
        total = np.zeros((len(p), len(self.order) + 1))
        np.cumsum(p[:, self.order], axis=1, out=total[:, 1:])
        return total

    def of(self, p: np.ndarray) -> np.ndarray:
        """Return probabilities of the intervals, shape (rows, centres), from those of the values of the attribute."""
        total, (start, stop) = self._cumulative(p), self.ends
        return total[:, stop] - total[:, start]

    def medians(self, p: np.ndarray) -> np.ndarray:
        """Return the position of the median of every row, the guess with the least expected error; of two, the lower."""
        total = self._cumulative(p)[:, 1:]
        return self.sorted[np.minimum((total < total[:, -1:] / 2 - ROUNDING).sum(axis=1), len(self.order) - 1)]

    def errors(self, p: np.ndarray) -> np.ndarray:
        """Return the expected distance of the value from the median, for every row."""
        far = np.abs(self.scale.position - self.medians(p)[:, None])
        return np.asarray(np.einsum("ij,ij->i", p, far) / p.sum(axis=1))

    def are_close(self, value: object, other: object) -> bool:
        """Return whether two values of the attribute count as equal."""
        at = self.scale.position[self.values.labels.get_indexer(pd.Index([value, other]))]
        return bool(abs(at[0] - at[1]) <= self.radius + self.scale.rounding)

    def narrower_breach(self, p: np.ndarray, p0: np.ndarray, least: float, most: float) -> np.ndarray:
        """Mark rows in which some interval, no wider than the radius, has P >= least and P0 < most.

        Among the intervals that begin at a value, the shortest one with a centre and P >= least has the smallest P0.
        """
        total, before, n = self._cumulative(p), self._cumulative(p0), len(self.order)
        # One binary search for all rows: row i is shifted by 2 i, so that the concatenation of the rows is sorted.
        shift = 2.0 * np.arange(len(p))[:, None]
        target = total[:, :-1] + max(least, 0.0)
        stop = np.searchsorted((total + shift).ravel(), (target + shift).ravel() - ROUNDING, "left")
        stop = stop.reshape(target.shape) - np.arange(len(p))[:, None] * (n + 1)
        centres = np.flatnonzero(np.isin(self.order, self.centres))
        stop = np.maximum(stop, np.append(centres, n)[np.searchsorted(centres, np.arange(n))] + 1)  # contains a centre
        possible, stop = stop <= n, np.minimum(stop, n)
        is_short = self.sorted[stop - 1] - self.sorted <= self.radius + self.scale.rounding
        inside = np.take_along_axis(np.broadcast_to(before, (len(p), n + 1)), stop, 1) - before[:, :-1]
        return np.asarray((possible & is_short & (inside < most)).any(axis=1))


# Labels for which "nobody is exposed" may be wrong, because only equal values count.


def are_nearly_unique(n_s: np.ndarray | None, n_values: int, n_people: int) -> bool:
    """Return whether most values occur once or twice, and more than a few people have such values."""
    if n_s is None:
        return n_values >= MANY_RARE and n_values > n_people / RARE
    rare = (n_s > 0) & (n_s <= RARE)
    many = rare.sum() >= MANY_RARE and rare.sum() > (n_s > 0).sum() / 2
    return bool(many and n_s[rare].sum() >= SHARE_OF_RARE * n_s.sum())


def look_like_numbers(values: pd.Index) -> list[object]:
    """Return labels that look like numbers, dates or ranges with text around them, if at least half of all do.

    Such a label begins with a number, after any signs, like "$30,000" or "20-30 years"; or at least three labels differ
    only in their numbers, like "EUR 30000" or "stage 2". "A01" and "B20" are codes.
    """
    texts = [_pattern(value) for value in values]
    frequent = {text for text, n in Counter(texts).items() if n >= FEWEST_NUMBERS and "#" in text}
    numbered = [v for v, text in zip(values, texts, strict=True) if text in frequent or re.match(r"[^\w#]*#", text)]
    return numbered if len(numbered) >= max(FEWEST_NUMBERS, len(values) / 2) else []


def _pattern(value: object) -> str:
    """Return a label with # for each number: "$#", "#-# years", "stage #"."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        return "#"

    def replaced(match: re.Match[str]) -> str:
        is_code = match[1] is not None and not CURRENCIES.fullmatch(match[1])
        return match[0].translate(AS_LETTERS) if is_code else "#"

    text = unicodedata.normalize("NFKC", str(value)).replace("#", "").strip()
    return NUMBER_OR_CODE.sub(replaced, text)
