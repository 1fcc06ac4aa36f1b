"""GroupedRelease: a release whose quasi-identifiers are generalised to sets or intervals of values."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils import validation
from .._utils.errors import StatementError, TableError, join_names, pluralize, short_repr
from .._utils.formatting import NUMBER_PATTERN, TablePreview, format_value, iso_text
from .._utils.tables import count_column, counted, counted_people, distinct, factorize, sort_distinct, tally, term_codes
from .._utils.validation import check_mapping, read_file_text
from .base import OUTSIDE, SHOWN, View, contents, from_dict, labelled, labels_of, positions, sizes_of, unused_name

# Notations of generalised values, in the dialects of the tools that publish such tables.
#
# ============================  ======================================================  ===============================
# text                          meaning                                                 tools
# ============================  ======================================================  ===============================
# ``[18, 20)``, ``(18, 20]``    an interval; a round bracket excludes its end           pandas, R's ``cut``, sdcMicro
# ``[18, 20[``, ``]18, 20]``    an interval; an outward bracket excludes its end        ARX (ISO 80000-2)
# ``18-20``, ``18 to 20``       from 18 to 20, both included; also "bis", "à" and "a"   AnonyPyx, ARX, printed tables
# ``[2024-01-31, 2024-02-28]``  an interval of dates or times in the form of ISO 8601     pandas
# ``2024-01``                   a month                                                 printed tables
# ``<30``, ``>=30``, ``30+``    below 30; 30 and above                                  ARX, bottom and top coding
# ``{18, 19}``, ``18,19``       one of a set; items in quotes if necessary              ARX, AnonyPyx
# ``1305*``, ``130**``          a masked text, one star per character                   ARX, ANJANA
# ``*``, a missing value        any value                                               ARX, ANJANA; sdcMicro
# ============================  ======================================================  ===============================

#: The text of a suppressed value, which may be any value.
SUPPRESSED = "*"

#: A date, or a date and time; without an offset, in UTC.
DATE = r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}(?::\d{2})?)?)?"
#: A month; as a range of numbers, its lower end would exceed its upper end.
MONTH = r"\d{4}-(?:0[1-9]|1[0-2])"
END = rf"(?:{DATE}|[-+]?(?:{NUMBER_PATTERN}|[iI]nf))"
#: An interval in brackets, possibly with R's "Inf".
INTERVAL = re.compile(rf"\s*([\[(\]])\s*({END})\s*[,;]\s*({END})\s*([\])\[])\s*")
#: A range of numbers, with a dash of any length, or a word in English, German, French, Spanish or Italian.
RANGE = re.compile(rf"\s*(-?{NUMBER_PATTERN})\s*(?:-|\u2013|\u2014|\.\.|to|bis|à|a)\s*(-?{NUMBER_PATTERN})\s*")
#: A lower or upper bound, and the equivalents of single-character signs.
BOUND, SIGNS = re.compile(rf"\s*(<=|>=|<|>|\u2264|\u2265)\s*(-?{NUMBER_PATTERN})\s*"), {"\u2264": "<=", "\u2265": ">="}
#: A top code, "30+".
TOP = re.compile(rf"\s*(-?{NUMBER_PATTERN})\s*\+\s*")
#: A set in braces, and the items of a set.
SET, ITEM = re.compile(r"\{(.*)\}", re.DOTALL), re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*|[^,]+')
#: Masked characters.
STARS = re.compile(r"(\*+)")


@dataclass(frozen=True)
class Span:
    """An interval of numbers, or of dates."""

    low: float  # possibly infinite; for dates, seconds since 1970
    high: float
    low_in: bool  # whether the end is included
    high_in: bool
    whole: bool = False  # whether it is a range of integers, "18-20", which is ambiguous for 20.5
    is_date: bool = False


@dataclass(frozen=True)
class Parsed:
    """Possible interpretations of texts that are not plain values, by position; a text may have several."""

    spans: dict[int, Span]  # intervals, ranges and bounds
    sets: dict[int, frozenset[str]]  # the items of sets, as written
    masks: dict[int, list[str]]  # masked texts: text and runs of stars, alternating


def parse(texts: Sequence[str]) -> Parsed:
    """Parse distinct texts of generalised values."""
    spans = {i: span for i, text in enumerate(texts) if (span := _span(text)) is not None}
    sets = {i: _items(text) for i, text in enumerate(texts) if "," in text or SET.fullmatch(text)}
    masks = {i: STARS.split(text.strip()) for i, text in enumerate(texts) if "*" in text and not is_suppressed(text)}
    return Parsed(spans, sets, masks)


def _span(text: str) -> Span | None:
    """Parse an interval, a range or a bound, or return None."""
    if match := INTERVAL.fullmatch(text):
        opens, low, high, closes = match.groups()
        of_dates = [re.fullmatch(DATE, end) is not None for end in (low, high)]
        if not any(of_dates):
            return Span(float(low), float(high), opens == "[", closes == "]")
        if all(of_dates) and not np.isnan(ends := _seconds([low, high])).any():
            return Span(ends[0], ends[1], opens == "[", closes == "]", is_date=True)
        return None
    if re.fullmatch(MONTH, text):
        low, high = (np.datetime64(text, "M") + np.arange(2)).astype("datetime64[s]").astype(float).tolist()
        return Span(low, high, True, False, is_date=True)
    if match := RANGE.fullmatch(text):
        low, high = match.groups()
        return Span(float(low), float(high), True, True, whole=not re.search("[.eE]", low + high))
    if match := BOUND.fullmatch(text):
        sign, end = SIGNS.get(match[1], match[1]), float(match[2])
        return Span(-np.inf, end, False, sign == "<=") if sign[0] == "<" else Span(end, np.inf, sign == ">=", False)
    if match := TOP.fullmatch(text):
        return Span(float(match[1]), np.inf, True, False)
    return None


def _seconds(texts: Sequence[str]) -> np.ndarray:
    """Return the seconds from 1970 to each date, or NaN for other texts, such as 2024-02-30."""
    dates = [text if re.fullmatch(DATE, text) else "" for text in texts]
    # pandas writes the seconds of offsets before standard time, -04:56:02 in New York, but does not read them.
    ends = [re.search(r"([+-])\d{2}:\d{2}(:(\d{2}))$", text) for text in dates]
    dates = [text.removesuffix(end[2]) if end else text for text, end in zip(dates, ends, strict=True)]
    times = pd.to_datetime(dates, format="ISO8601", errors="coerce", utc=True)
    seconds = (times - pd.Timestamp("1970-01-01", tz="UTC").as_unit("s")) / pd.Timedelta(seconds=1)
    return np.asarray(seconds, dtype=float) - [float(end[1] + end[3]) if end else 0.0 for end in ends]


def _items(text: str) -> frozenset[str]:
    """Return the items of a set."""
    braces = SET.fullmatch(text)
    return frozenset(item.strip() for item in ITEM.findall(braces[1] if braces else text))


def is_suppressed(cell: object) -> bool:
    """Return whether a value is suppressed: "*", only stars, or a missing value."""
    if isinstance(cell, str):
        return bool(re.fullmatch(r"\s*\*+\s*", cell))
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float | np.floating) and cell != cell)


def _item(value: object) -> str:
    """Return the text of a value in a set, in quotes if it contains a comma, as that of an interval does."""
    text = format_value(value)
    return format_value(text) if "," in text and not isinstance(value, str) else text


def label_of(cell: object) -> str:
    """Return the text of a generalised value; values of a set are sorted, and in quotes if necessary."""
    if isinstance(cell, set | frozenset):
        return "{" + ", ".join(sorted(map(_item, cell))) + "}"
    if not isinstance(cell, str) and is_suppressed(cell):
        return SUPPRESSED
    if isinstance(cell, pd.Interval) and isinstance(cell.left, pd.Timestamp):
        are_days = cell.left.tz is None and all(end == end.normalize() for end in (cell.left, cell.right))
        return str(cell).replace(" 00:00:00", "") if are_days else str(cell)
    return iso_text(cell)


# Conversion of a table of generalised records to one column per attribute, regardless of the tool that wrote it.


def generalised_cells(table: pd.DataFrame, qi: tuple[str, ...]) -> pd.DataFrame:
    """Convert every attribute to a single column, with "*" for missing values."""
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
    """Replace missing values by "*", and convert integers that are floats because of missing values."""
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    return column.astype(object).where(column.notna(), SUPPRESSED)


def _between(low: pd.Series, high: pd.Series) -> pd.Series:
    """Return the intervals from one column to the other, the value if both are equal, or "*" if both are missing."""
    # Columns of objects can be compared, whatever their categories.
    low, high = (_filled(end) if end.isna().any() else end.astype(object) for end in (low, high))
    first, last = low.map(label_of), high.map(label_of)
    return ("[" + first + ", " + last + "]").where(low != high, first)


def _flags(table: pd.DataFrame, name: str, qi: tuple[str, ...]) -> list[str]:
    """Return the boolean columns "name_value" of an attribute."""
    flags = [column for column in map(str, table.columns) if column in table.columns and column.startswith(f"{name}_")]
    flags = [column for column in flags if pd.api.types.is_bool_dtype(table[column])]
    others = [other for other in qi if other != name and other.startswith(f"{name}_") and other not in table.columns]
    if shared := [column for column in flags if any(column.startswith(f"{other}_") for other in others)]:
        raise TableError(f"columns {join_names(shared)} may belong to {name!r} or to {join_names(others)}; rename them")
    return flags


def _sets(flags: pd.DataFrame, name: str) -> pd.Series:
    """Return the sets of values whose columns are True, or the value if it is the only one."""
    codes, rows = pd.factorize(pd.MultiIndex.from_frame(flags))
    values = [str(flag).removeprefix(f"{name}_") for flag in flags]
    sets = [frozenset(value for value, is_member in zip(values, row, strict=True) if is_member) for row in rows]
    if any(not members for members in sets) or flags.isna().any(axis=None):
        raise TableError(
            f"the columns {join_names(flags.columns)} of {name!r} must not be missing, or all be False, in a row"
        )
    cells = pd.Series([next(iter(members)) if len(members) == 1 else members for members in sets], dtype=object)
    return cells.iloc[codes].set_axis(flags.index)


# The exact values of an attribute.


class Domain:
    """The exact values of an attribute, with lookup by value, by text, or by number."""

    def __init__(self, values: pd.Index, attribute: str) -> None:
        if isinstance(values, pd.CategoricalIndex):
            values = pd.Index(values.astype(values.categories.dtype))
        self.values, self.attribute = values.infer_objects(), attribute  # numbers in a column of objects are numbers
        self.size = len(values)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, and not texts."""
        return pd.api.types.is_numeric_dtype(self.values) and not pd.api.types.is_bool_dtype(self.values)

    @cached_property
    def numbers(self) -> np.ndarray:
        """One number per value, also from the text of a number, or NaN."""
        if self.is_numeric:
            return np.asarray(self.values, dtype=float)
        texts = [text if re.fullmatch(rf"-?{NUMBER_PATTERN}", text) else None for text in self.texts.tolist()]
        return np.asarray(pd.to_numeric(pd.Series(texts, dtype=object)), dtype=float)

    @cached_property
    def dates(self) -> np.ndarray:
        """Seconds from 1970 per value, also from the text of a date, or NaN."""
        return np.full(self.size, np.nan) if self.is_numeric else _seconds(self.texts.tolist())

    @cached_property
    def has_fractions(self) -> bool:
        """Whether some number is not an integer."""
        return bool((np.floor(self.numbers) < self.numbers).any())

    @cached_property
    def texts(self) -> np.ndarray:
        """The text of each value."""
        return np.array([str(value) for value in self.values], dtype=np.str_)

    @cached_property
    def _quoted(self) -> np.ndarray:
        """The text of each value in a set."""
        return np.array([_item(value) for value in self.values], dtype=object)

    @cached_property
    def _places(self) -> tuple[dict[object, int], dict[str, list[int]], dict[float, int]]:
        """Positions by value, by text, and, for numeric values, by number."""
        same = {value: j for j, value in enumerate(self.values.tolist())}
        same |= {value: j for j, value in enumerate(self.values)}  # Timestamps instead of nanoseconds
        written_so: dict[str, list[int]] = {}
        for j, text in enumerate(self.texts):
            written_so.setdefault(text, []).append(j)
        numbered = {x: j for j, x in enumerate(self.numbers.tolist())} if self.is_numeric else {}
        return same, written_so, numbered

    def places(self, cell: object) -> list[int]:
        """Return the positions of the value of a cell: by value, by text, or, for numeric values, by number."""
        same, written_so, of_number = self._places
        if pd.api.types.is_hashable(cell) and cell in same:
            return [same[cell]]
        text = text_of(cell)  # a column of both intervals and numbers contains texts
        if text in written_so:
            return written_so[text]
        if self.is_numeric and re.fullmatch(rf"[-+]?{NUMBER_PATTERN}", text):
            number = validation.label_of(float(text), self.values)
            return [of_number[number]] if number in of_number else []
        return np.flatnonzero(self.dates == _seconds([text])).tolist() if re.fullmatch(DATE, text) else []

    def exact(self, cells: Sequence[object]) -> np.ndarray:
        """Mark the value equal to each cell, shape (cells, values)."""
        covered = np.zeros((len(cells), self.size), dtype=bool)
        for i, cell in enumerate(cells):
            covered[i, self.places(cell)] = True
        return covered

    def between(self, spans: Collection[Span]) -> np.ndarray:
        """Mark the numbers or dates in each interval, shape (intervals, values)."""
        ends = [(span.low, span.high, span.low_in, span.high_in) for span in spans]
        low, high, low_in, high_in = np.array(ends, dtype=float).reshape(-1, 4).T[:, :, None]
        is_date = np.array([span.is_date for span in spans], dtype=bool)

        def inside(x: np.ndarray) -> np.ndarray:
            return ((x > low) | ((low_in > 0) & (x == low))) & ((x < high) | ((high_in > 0) & (x == high)))

        covered = inside(np.where(is_date[:, None], self.dates, self.numbers) if is_date.any() else self.numbers)
        # In single precision, 0.4 is 0.4000000059604645: pandas.cut compares this number, but other tools mean 0.4.
        if self.values.dtype == np.float32:
            written = self.values.to_numpy().astype(str).astype(float)
            is_end = ((low == written) | (high == written)) & (inside(written) != covered)
            if (unclear := is_end.any(axis=0)).any():
                raise TableError(
                    f"{written[unclear][0]} of {self.attribute!r} is the end of a range, but in single precision it is "
                    f"{self.numbers[unclear][0]}; convert the column by .astype(str).astype(float) if the ranges contain "
                    "the numbers as written, or by .astype(float) if not"
                )
        return covered

    def members(self, items: Collection[str]) -> tuple[np.ndarray, list[str]]:
        """Mark the values that are items of a set as written, and return the items that match no value."""
        names = np.array(list(items), dtype=object)
        covered = self._quoted[None, :] == names[:, None]
        lost = ~covered.any(axis=1)
        covered[lost] = self.exact([unquoted(name) for name in names[lost]])
        return covered.any(axis=0), sorted(names[~covered.any(axis=1)])

    def masked(self, parts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Mark the values that match a mask: with at most one character per star (padding), or with any number."""
        before, *inner, after = parts
        sizes = np.strings.str_len(self.texts)
        fits = np.strings.startswith(self.texts, before) & np.strings.endswith(self.texts, after)
        fits &= sizes >= sum(len(part) for part in parts[::2])
        if len(inner) == 1:
            return fits & (sizes <= len(before) + len(inner[0]) + len(after)), fits
        padded, many = np.zeros(self.size, dtype=bool), np.zeros(self.size, dtype=bool)
        for j in np.flatnonzero(fits):  # only with several runs of stars
            many[j] = _fits(self.texts[j], parts, padded=False)
            padded[j] = many[j] and _fits(self.texts[j], parts, padded=True)
        is_exact = padded.any() and (sizes == sum(map(len, parts))).all()  # one character per star, as with one run
        return padded, padded if is_exact else many


def unquoted(item: str) -> str:
    """Remove the quotes of an item of a set, if any."""
    return re.sub(r"\\(.)", r"\1", item[1:-1]) if len(item) > 1 and item[0] == item[-1] == '"' else item


def _fits(text: str, parts: Sequence[str], padded: bool) -> bool:
    """Return whether a text matches a mask, with at most one character per star (padded), or with any number."""
    # Bit i of `ends` is set if the parts so far can match the first i characters. Without backtracking, the time is at
    # most the product of both lengths, divided by the bits of a machine word.
    places: dict[str, int] = {}
    for i, character in enumerate(text):
        places[character] = places.get(character, 0) | 1 << i
    ends, every = 1, (1 << len(text) + 1) - 1
    for part in parts:
        if part[:1] != "*":
            for character in part:
                ends = (ends & places.get(character, 0)) << 1
        elif padded:
            reach = 1  # number of ends that each bit was extended to, doubled in each step
            while reach <= min(len(part), len(text)):
                step = min(reach, len(part) + 1 - reach)
                ends, reach = (ends | ends << step) & every, reach + step
        else:
            ends = every & -(ends & -ends)
        if not ends:
            return False
    return bool(ends >> len(text))


def text_of(cell: object) -> str:
    """Return the text of a value; integers that are floats because of missing values are written as integers."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return label_of(cell).strip()


# The exact values that a generalised value covers.

#: Accepted notations of generalised values, for messages.
ACCEPTED = "a value, '18-20', '[18, 20)', '[2024-01-31, 2024-02-28]', '2024-01', '<30', '>=30', '{18, 19}', '18,19', '1305*', '*'"


def coverage(
    cells: Sequence[object], values: pd.Index, attribute: str, nodes: Mapping[object, frozenset[object]]
) -> np.ndarray:
    """Mark the exact values that each generalised value covers, shape (cells, values)."""
    # A text that is an exact value, but could also be a range, a set or a mask, is an error, unless both
    # interpretations cover the same values, or the text is a node of a hierarchy.
    by_text = {str(node): below for node, below in nodes.items()}
    return _cover(cells, Domain(values, attribute), {**by_text, **nodes})


def _cover(cells: Sequence[object], domain: Domain, nodes: Mapping[Any, frozenset[object]]) -> np.ndarray:
    """Mark the values that cells cover: cells of other types one by one, then all texts at once."""
    covered = np.zeros((len(cells), domain.size), dtype=bool)
    plain = []
    for i, cell in enumerate(cells):
        node = nodes.get(cell) if pd.api.types.is_hashable(cell) else None
        node = nodes.get(text_of(cell)) if node is None else node
        span = _span_of(cell) if isinstance(cell, pd.Interval) else None
        if is_suppressed(cell):
            covered[i] = True
        elif node is not None:
            covered[i] = _below(node, domain)
        elif isinstance(cell, set | frozenset):  # as in a range, some numbers in a set may have no matching value
            numbers = {x for x in cell if re.fullmatch(rf"-?{NUMBER_PATTERN}", text_of(x))}
            lost = {x for x in numbers if not ({x, text_of(x)} & nodes.keys() or domain.places(x))}
            covered[i] = _cover(list(cell - lost or cell), domain, nodes).any(axis=0)
        elif span is not None and not np.isnan(domain.dates if span.is_date else domain.numbers).all():
            covered[i] = domain.between([span])[0]
        else:
            plain.append(i)
    if plain:
        covered[plain] = _texts([cells[i] for i in plain], domain)
    if (nobody := ~covered.any(axis=1)).any():
        raise _stands_for_none(cells[int(nobody.argmax())], domain, bool(nodes))
    return covered


def _below(leaves: frozenset[object], domain: Domain) -> np.ndarray:
    """Mark the values below a node: its leaves, or values in leaves that are intervals; leaves may have no value."""
    places_of = {leaf: domain.places(leaf) for leaf in leaves}
    unlisted = [leaf for leaf, places in places_of.items() if not places]
    spans = [*parse([leaf for leaf in unlisted if isinstance(leaf, str)]).spans.values()]
    spans += [span for leaf in unlisted if isinstance(leaf, pd.Interval) and (span := _span_of(leaf)) is not None]
    inside = np.array(domain.between(spans).any(axis=0))
    inside[[j for places in places_of.values() for j in places]] = True
    return inside


def _texts(cells: Sequence[object], domain: Domain) -> np.ndarray:
    """Mark the values that texts and plain values cover, after checking that each has a single interpretation."""
    covered = domain.exact(cells)
    parsed = parse([cell if isinstance(cell, str) else "" for cell in cells])
    for (i, span), inside in zip(parsed.spans.items(), domain.between(parsed.spans.values()), strict=True):
        if span.low > span.high and not covered[i].any():
            raise TableError(f"the lower end of {cells[i]!r} of {domain.attribute!r} must not exceed its upper end")
        _check_whole(cells[i], span, inside, domain)
        covered[i] = _one_way(cells[i], covered[i], inside, "an interval", domain)
    for i, items in parsed.sets.items():
        (members, strangers), in_braces = domain.members(items), str(cells[i]).startswith("{")
        if in_braces and members.any():  # as in a range, some numbers in a set may have no matching value
            strangers = [item for item in strangers if not re.fullmatch(rf"-?{NUMBER_PATTERN}", item)]
        if strangers and not covered[i].any():
            if in_braces or members.any():
                raise TableError(
                    f"the set {cells[i]!r} of {domain.attribute!r} contains {join_names(strangers)}, which nobody in "
                    "the population has; correct it, or pass a hierarchy in which the set is a node"
                )
        elif not strangers:
            covered[i] = _one_way(cells[i], covered[i], members, "a set", domain)
    for i, parts in parsed.masks.items():
        matching = _one_way(cells[i], *domain.masked(parts), "a mask whose stars are any number of characters", domain)
        covered[i] = _one_way(cells[i], covered[i], matching, "a mask", domain)
    return covered


def _one_way(cell: object, first: np.ndarray, second: np.ndarray, kind: str, domain: Domain) -> np.ndarray:
    """Return the interpretation that covers values, or raise TableError if two different ones do."""
    if first.any() and second.any() and (first != second).any():
        values, others = (join_names(domain.values[mask]) for mask in (first, second))
        raise TableError(
            f"{cell!r} of {domain.attribute!r} is ambiguous: it can be {values}, or {kind}, {others}; pass a hierarchy "
            f"in which {cell!r} is a node above the intended values"
        )
    return first if first.any() else second


def _check_whole(cell: object, span: Span, inside: np.ndarray, domain: Domain) -> None:
    """Raise TableError for "18-20" if somebody is 20.5, because the range may end at 20 or before 21."""
    between = (domain.numbers > span.high) & (domain.numbers < span.high + 1)
    if span.whole and inside.any() and between.any():
        raise TableError(
            f"{cell!r} of {domain.attribute!r} is a range of integers, but the population contains "
            f"{join_names(domain.values[between])}; write '[{span.low:g}, {span.high:g}]' or "
            f"'[{span.low:g}, {span.high + 1:g})'"
        )


def _stands_for_none(cell: object, domain: Domain, has_nodes: bool) -> TableError:
    """Return the error for a value that covers nobody."""
    number = re.fullmatch(rf"-?{NUMBER_PATTERN}", text_of(cell))
    mean = number and not float(text_of(cell)).is_integer() and not domain.has_fractions
    note = "; a mean, as microaggregation publishes, is not a generalised value" if mean else ""
    return TableError(
        f"{label_of(cell)} of {domain.attribute!r} covers none of the population's values "
        f"{join_names(domain.values)}; use {ACCEPTED}, or {'a node of' if has_nodes else 'pass'} the hierarchy of "
        f"{domain.attribute!r}{note}"
    )


def _span_of(cell: pd.Interval) -> Span | None:
    """Convert a pandas Interval of numbers or dates; return None for others, such as durations."""
    if isinstance(cell.left, Real):
        return Span(float(cell.left), float(cell.right), cell.closed_left, cell.closed_right)
    ends = _seconds([str(cell.left), str(cell.right)])
    return None if np.isnan(ends).any() else Span(ends[0], ends[1], cell.closed_left, cell.closed_right, is_date=True)


def cells_with(cells: pd.Index, chosen: np.ndarray) -> np.ndarray:
    """Mark the intervals, sets, masks and suppressed cells that contain one of the chosen exact values."""
    texts = [text_of(cell) for cell in cells]
    parsed = parse(texts)
    suppressed = np.array([is_suppressed(text) for text in texts], dtype=bool)
    is_exact = chosen & ~suppressed
    is_exact[[*parsed.spans, *parsed.sets, *parsed.masks]] = False
    domain = Domain(cells[is_exact], "")
    contains = np.zeros((len(texts), domain.size), dtype=bool)
    contains[suppressed] = True
    for i, members in parsed.sets.items():
        contains[i] |= domain.members(members)[0]
    for i, parts in parsed.masks.items():
        contains[i] |= domain.masked(parts)[1]
    if parsed.spans and domain.size:
        contains[[*parsed.spans]] |= domain.between(parsed.spans.values())
    return np.asarray(contains.any(axis=1))


# Hierarchies of attributes in several formats, converted to the exact values below each node.

#: The exact values below each node of a hierarchy, by attribute.
Hierarchies = Mapping[str, Mapping[object, frozenset[object]]]

#: Types of lists of values or nodes, in order.
SEVERAL = list | tuple | range | np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray


def read_hierarchies(given: Mapping[str, object] | None) -> Hierarchies:
    """Convert hierarchies, given in any of the accepted formats, to the exact values below each node."""
    parsed: dict[str, Mapping[object, frozenset[object]]] = {}
    hierarchy_of = {} if given is None else check_mapping(given, "hierarchies", "{attribute: its hierarchy}")
    for attribute, hierarchy in hierarchy_of.items():
        if not isinstance(hierarchy, str | PathLike | pd.DataFrame | Mapping):
            raise StatementError(
                f"the hierarchy of {attribute!r} must be a dict, a DataFrame or a file, got {short_repr(hierarchy)}"
            )
        try:
            parsed[attribute] = _nodes(hierarchy, attribute)
        except TypeError as error:  # unhashable nodes
            raise TableError(f"the nodes of the hierarchy of {attribute!r} must be labels: {error}") from None
    return parsed


def _nodes(hierarchy: Any, attribute: str) -> Mapping[object, frozenset[object]]:
    """Return the exact values below every node of a hierarchy in any of the accepted formats."""
    if not isinstance(hierarchy, Mapping):
        return _of_table(hierarchy_table(hierarchy, attribute))
    if _has_levels(hierarchy):
        levels = {level: pd.Series(list(hierarchy[level]), dtype=object) for level in range(len(hierarchy))}
        return _of_table(pd.DataFrame(levels))
    return {node: _leaves(node, hierarchy, (), attribute) for node in hierarchy}


def hierarchy_table(hierarchy: pd.DataFrame | str | PathLike[str], attribute: str) -> pd.DataFrame:
    """Read a hierarchy as a table of levels, with one row per value, and the value in the first column."""
    if isinstance(hierarchy, pd.DataFrame):
        _check_header(hierarchy, attribute)
        return hierarchy
    # A file of ARX: one row per value, one column per level, separated by semicolons, without a header.
    text = read_file_text(hierarchy, f"the hierarchy of {attribute!r}")
    first = text.partition("\n")[0]
    separator = max(";\t,", key=first.count)
    rows = [row for row in csv.reader(StringIO(text), delimiter=separator) if row]
    if not rows or len({len(row) for row in rows}) > 1:
        sizes = sorted({len(row) for row in rows})
        raise TableError(
            f"the hierarchy of {attribute!r} in {str(hierarchy)!r} has rows of {join_names(sizes)} columns; expected "
            "one row per value, with one column per level"
        )
    return pd.DataFrame(rows, dtype=object)


def _check_header(table: pd.DataFrame, attribute: str) -> None:
    """Raise TableError for a table without columns, or whose first row was read as a header."""
    if not table.shape[1]:
        raise TableError(f"the hierarchy of {attribute!r} is a table without columns; expected one column per level")
    for name, (_, column) in zip(table.columns, table.items(), strict=True):
        if isinstance(name, str) and (column == name).any():
            raise TableError(
                f"the hierarchy of {attribute!r} has a column named {name!r}, which is one of its nodes: the file has no "
                "header, but was read with one; pass header=None to pandas.read_csv, or pass the name of the file"
            )


class TableNodes(dict[object, frozenset[object]]):
    """The exact values below every node of a table of levels, which, unlike a dictionary, must have all values."""


def _of_table(table: pd.DataFrame) -> TableNodes:
    """Return the exact values below every node of a table of levels; values are nodes, too."""
    below: dict[object, set[object]] = {}
    leaves = table.iloc[:, 0].astype(object)
    for level in range(table.shape[1]):  # without groupby, as pandas has no intervals of integers from 2 ** 63 on
        column = table.iloc[:, level].astype(object)
        named = column.notna().to_numpy()
        for node, leaf in zip(column[named], leaves[named], strict=True):
            below.setdefault(node, set()).add(leaf)
    return TableNodes({node: frozenset(found) for node, found in below.items()})


def _has_levels(hierarchy: Mapping[object, object]) -> bool:
    """Return whether a dictionary is {0: values, 1: ..., 2: ...}, with lists of equal length."""
    if len(hierarchy) < 2 or set(hierarchy) != set(range(len(hierarchy))):
        return False
    lists = list(hierarchy.values())
    if not all(isinstance(level, SEVERAL) for level in lists):
        return False
    return len({len(level) for level in lists}) == 1  # type: ignore[arg-type]


def _leaves(
    node: object, below: Mapping[object, object], above: tuple[object, ...], attribute: str
) -> frozenset[object]:
    """Return the exact values below a node, including the node if it lists itself."""
    hash(node)  # raises TypeError for arrays and tables, whose comparison has no truth value
    if node in above[:-1] or (above and node == above[-1] and node not in _children(below[node])):
        raise StatementError(f"the hierarchy of {attribute!r} contains a cycle through {node!r}")
    if node not in below or (above and node == above[-1]):
        return frozenset([node])
    return frozenset().union(*(_leaves(child, below, (*above, node), attribute) for child in _children(below[node])))


def _children(listed: object) -> Iterable[object]:
    """Return the children of a node, of which a single one need not be in a list."""
    return listed if isinstance(listed, SEVERAL | set | frozenset) else [listed]


def check_readable(table: pd.DataFrame, hierarchies: Hierarchies) -> None:
    """Check that the hierarchies cover every generalised value, as a replacement for a population."""
    for attribute, nodes in hierarchies.items():
        leaves = frozenset().union(*nodes.values())
        if not leaves:
            raise StatementError(f"the hierarchy of {attribute!r} is empty; add its values, or pass a population")
        numbers = pd.to_numeric(pd.Series(sorted(leaves, key=str), dtype=object), errors="coerce")
        values = pd.Index(sorted(leaves, key=str), dtype=object) if numbers.isna().any() else pd.Index(numbers)
        coverage(distinct_cells(table[attribute])[0], values, attribute, nodes)


def distinct_cells(column: pd.Series) -> tuple[list[object], np.ndarray]:
    """Return one cell of each text, since cells may be sets, and the position of each row's cell among them."""
    labels = np.array([label_of(cell) for cell in column], dtype=object)
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    return [column.iloc[at] for at in first], number


# Generalised groups of a population, whose members may be unknown, as well as the people who are in any group.

#: Number of pairs of groups and QI tuples that are compared at a time.
CHUNK = 20_000_000


class GroupedRelease(View):
    """Groups of a generalised release, and the population (a voter list) of which it is a sample; terms P(q, s, b).

    A term is possible if the group b covers q and contains s. People of the population who are not in the release have
    the value "(not in the release)", so P(s | q) is the probability that a person with q is in the release and has s.

    Attributes
    ----------
    bucket : str
        The column of the groups.
    buckets : Index
        Their names, "Age=[20, 29], Sex=*".
    n_sb : csr_array
        Number of records with each value in each group.
    cover : csr_array
        1 for the QI tuples of the population that each group covers, shape (groups, QI tuples).

    Parameters
    ----------
    qi, sensitive : tuple of str
        Column names.
    quasi_identifiers : MultiIndex
        The distinct QI tuples of the population.
    n_q : ndarray
        Number of people in the population with each of them.
    sensitive_values, buckets : Index
        The values and the groups of the release.
    n_sb, cover : csr_array
        As above, for the release only.

    See Also
    --------
    Release.from_generalized : Make one from tables.

    Examples
    --------
    Two records in a group of people in their twenties, and a voter list of three such people and one older person:

    >>> import maxent_cvx as mx, pandas as pd
    >>> records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "Disease": ["Flu", "HIV"]})
    >>> voters = pd.DataFrame({"Age": [21, 24, 28, 45]})
    >>> release = mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters)
    >>> release
    <GroupedRelease: 2 records in 1 group, of a population of 4 people; 4 distinct (Age), 3 values of 'Disease'>
    >>> print(mx.MaxEnt(release).solve().conditional().round(3))
    Disease    Flu    HIV  (not in the release)
    Age
    21       0.333  0.333                 0.333
    24       0.333  0.333                 0.333
    28       0.333  0.333                 0.333
    45       0.000  0.000                 1.000
    """

    noun: ClassVar[str] = "release"
    stored_as: ClassVar[str] = "GroupedRelease"

    def __init__(
        self,
        qi: tuple[str, ...],
        sensitive: tuple[str, ...],
        quasi_identifiers: pd.MultiIndex,
        n_q: np.ndarray,
        sensitive_values: pd.Index,
        buckets: pd.Index,
        n_sb: sp.csr_array,
        cover: sp.csr_array,
    ) -> None:
        self.qi, self.sensitive, self.bucket = qi, sensitive, str(buckets.name)
        self.quasi_identifiers, self._n_q = quasi_identifiers, n_q
        outside = int(n_q.sum()) - int(n_sb.sum())
        if outside:
            n_sb = sp.csr_array(sp.block_diag([n_sb, [[outside]]]))
            cover = sp.csr_array(sp.vstack([cover, sp.csr_array(np.ones((1, len(n_q))))], format="csr"))
            buckets = pd.Index([*buckets, OUTSIDE], name=buckets.name)
            if isinstance(sensitive_values, pd.CategoricalIndex):  # which keeps the order of the values
                sensitive_values = sensitive_values.add_categories([OUTSIDE])
            sensitive_values = sensitive_values.insert(len(sensitive_values), OUTSIDE)
        self.sensitive_values, self.buckets, self.n_sb, self.cover = sensitive_values, buckets, n_sb, cover

    @property
    def n_q(self) -> np.ndarray:
        """Number of people in the population with each QI tuple."""
        return self._n_q

    @property
    def n_s(self) -> np.ndarray:
        """Number of people in the population with each value."""
        return np.asarray(self.n_sb.sum(axis=1))

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """QI tuples, sensitive values, groups."""
        return {**super().axes, "bucket": ((self.bucket,), self.buckets)}

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Number of people with each QI tuple in the population, and of records with each value in each group."""
        n_sb = labelled(self.n_sb, self.sensitive_values, self.buckets, "N P(s,b)")
        return {("q",): self._people_by_tuple(), ("s", "bucket"): n_sb}

    def terms(self) -> dict[str, np.ndarray]:
        """Return the codes of the terms P(q, s, b) that can be non-zero: b covers q and contains s."""
        return term_codes(self.cover.T.tocsr(), self.n_sb)

    def members(self) -> sp.csr_array | None:
        """Return the people per QI tuple and group, or None unless one group covers each tuple, and all are full.

        Returns
        -------
        csr_array or None
            Counts, shape (QI tuples, groups).

        Examples
        --------
        If the members of all groups are known, the release is a :class:`Release`. Here the list has a third person:

        >>> import maxent_cvx as mx, pandas as pd
        >>> records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "Disease": ["Flu", "HIV"]})
        >>> voters = pd.DataFrame({"Age": [21, 24, 28]})
        >>> mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters).members() is None
        True
        """
        covered = np.asarray(self.cover @ self._n_q)
        if (covered != self.n_sb.sum(axis=0)).any() or (self.cover.sum(axis=0) != 1).any():
            return None
        return sp.csr_array((sp.diags_array(self._n_q.astype(float)) @ self.cover.T).astype(np.int64))

    def to_frames(self) -> dict[str, Any]:
        """Convert the view to tables: population, values, groups, and, by position, contents and coverage of groups."""
        count = unused_name("Count", self.columns)
        (s, in_b), (b, q) = self.n_sb.nonzero(), self.cover.nonzero()
        return {
            "population": self.quasi_identifiers.to_frame(index=False).assign(**{count: self._n_q}),
            "values": self.sensitive_values.to_frame(index=False),
            "groups": self.buckets.to_frame(index=False),
            "held": pd.DataFrame({"value": s, "group": in_b, "records": self.n_sb.data}),
            "covered": pd.DataFrame({"group": b, "tuple": q}),
            "count": count,
        }

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Restore the view from its tables."""
        table = pd.DataFrame
        population, values, groups, held, covered, count = from_dict(
            frames, cls, population=table, values=table, groups=table, held=table, covered=table, count=str
        )
        if len(values.columns) != 1 or len(groups.columns) != 1:
            raise TableError("the values and the groups of a GroupedRelease must have one column each")
        qi = tuple(name for name in population.columns if name != count)
        people, n_q = counted(population, {"qi": qi}, count, "the population")
        code, tuples = sort_distinct(people[list(qi)])
        if n_q is None or len(people) != len(tuples):
            raise TableError("the population of a GroupedRelease must have one row per QI tuple")
        sizes = {"value": len(values), "group": len(groups)}
        s, in_b = positions(held, sizes, "the table held")
        b, q = positions(covered, {"group": len(groups), "tuple": len(tuples)}, "the table covered")
        records = count_column(held["records"], "the table held") if "records" in held.columns else None
        n_sb = tally(s, in_b, (len(values), len(groups)), records)
        ones = np.ones(len(b), dtype=np.int64)
        cover = sp.csr_array(tally(b, code[q], (len(groups), len(tuples)), ones).astype(float))
        name = labels_of(values.iloc[:, 0])
        at = np.argsort(code)
        return cls(qi, (str(name.name),), tuples, n_q[at], name, labels_of(groups.iloc[:, 0]), n_sb, cover)

    def _tables(self) -> Iterable[TablePreview]:
        columns = {
            "records": np.asarray(self.n_sb[:, :SHOWN].sum(axis=0)),
            "people covered": self.cover[:SHOWN].astype(bool).astype(np.int64) @ self.n_q,
            ", ".join(self.sensitive): contents(self.n_sb, self.sensitive_values),
        }
        return [TablePreview(pd.DataFrame(columns, index=self.buckets[:SHOWN]), "groups", len(self.buckets))]

    def __repr__(self) -> str:
        inside = self.n_sb.sum() - (self.n_sb[[-1]].sum() if OUTSIDE in self.buckets else 0)
        groups = pluralize(len(self.buckets) - (OUTSIDE in self.buckets), "group")
        return (
            f"<GroupedRelease: {pluralize(int(inside), 'record')} in {groups}, of a population of "
            f"{pluralize(self.n_records, 'person', 'people')}; {sizes_of(self)}>"
        )


def group_names(texts: pd.DataFrame) -> pd.Series:
    """Return the name of the group of each record, "Age=[20, 29], Sex=*"; repeated names are numbered."""
    code, groups = sort_distinct(texts)
    names = [", ".join(f"{name}={cell}" for name, cell in zip(texts, group, strict=True)) for group in groups]
    again = pd.Series(names).groupby(names).cumcount()
    names = [f"{name} ({times + 1})" if times else name for name, times in zip(names, again, strict=True)]
    return pd.Series(np.array(names, dtype=object)[code], index=texts.index)


def population_groups(
    table: pd.DataFrame,
    group: pd.Series,
    qi: tuple[str, ...],
    sa: tuple[str, ...],
    population: pd.DataFrame,
    count: str | None,
    hierarchies: Hierarchies,
    each: np.ndarray | None = None,
) -> GroupedRelease:
    """Return the groups of generalised records with the people of a population who may be in each."""
    people, alike = counted_people(population, {"qi": qi}, count, "the population", sa)
    b, buckets = factorize(group)
    first = np.unique(b, return_index=True)[1]
    cells = table[list(qi)].iloc[first]
    tuples, n_q, cover = groups_of(cells, people[list(qi)], alike, hierarchies)
    s, values = distinct(table[list(sa)])
    if OUTSIDE in values:
        raise TableError(
            f"{OUTSIDE!r} is a value of {sa[0]!r}, but is reserved for people outside the release; rename the value"
        )
    n_sb = tally(s, b, (len(values), len(buckets)), each)
    size, able = n_sb.sum(axis=0), cover @ n_q
    if (few := able < size).any():
        raise TableError(
            f"the group {buckets[int(few.argmax())]!r} contains {int(size[few][0])} records, but only "
            f"{int(able[few][0])} people of the population match it; pass a population that contains all people"
        )
    within = n_q[np.asarray(cover.sum(axis=0)) > 0].sum()
    if within < size.sum():
        raise TableError(f"the population has people for only {int(within)} of {int(size.sum())} records; add them")
    return GroupedRelease(qi, sa, tuples, n_q, values, buckets, n_sb, cover)


def groups_of(
    cells: pd.DataFrame, population: pd.DataFrame, count: np.ndarray | None, hierarchies: Hierarchies
) -> tuple[pd.MultiIndex, np.ndarray, sp.csr_array]:
    """Count the QI tuples of the population, and mark the tuples that each group covers."""
    code, tuples = sort_distinct(population)
    n_q = np.bincount(code, count, len(tuples)).astype(np.int64)
    masks = []
    for i, attribute in enumerate(cells):
        few, number = distinct_cells(cells[attribute])
        nodes, values = hierarchies.get(str(attribute), {}), tuples.levels[i]
        if isinstance(nodes, TableNodes):
            listed = _below(frozenset().union(*nodes.values()), Domain(values, str(attribute)))
            if not listed.all():
                raise TableError(
                    f"the hierarchy of {attribute!r} lacks {join_names(values[~listed])} of the population; add rows for "
                    "them"
                )
        level = coverage(few, values, str(attribute), nodes)
        masks.append((number, level, np.asarray(tuples.codes[i])))
    step, parts = max(CHUNK // max(len(tuples), 1), 1), []
    for low in range(0, len(cells), step):
        inside = np.ones((min(step, len(cells) - low), len(tuples)), dtype=bool)
        for number, level, codes in masks:
            inside &= level[number[low : low + step]][:, codes]
        if (nobody := ~inside.any(axis=1)).any():
            group = cells.iloc[low + int(nobody.argmax())]
            name = ", ".join(f"{attribute}={label_of(cell)}" for attribute, cell in group.items())
            raise TableError(f"nobody in the population matches the group {name!r}; add its people to the population")
        parts.append(sp.csr_array(inside.astype(float)))
    return tuples, n_q, sp.csr_array(sp.vstack(parts, format="csr"))
