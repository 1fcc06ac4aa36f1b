"""Text of values, numbers and linear combinations, and HTML of objects with previews of their tables."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from .errors import shortened, visible

#: A number without a sign. Each text matches in one way only, so that long texts are matched in linear time.
NUMBER_PATTERN = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
#: A day, and a day that may be followed by a time.
DAY_PATTERN = r"\d{4}-\d{2}-\d{2}"
DATE_PATTERN = rf"{DAY_PATTERN}(?:[ T]\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d{{1,6}})?)?)?"
#: A name or value that needs no quotes.
PLAIN = r"[^\s,|()=:'\"#\\]+"


def constant(text: str) -> object:
    """Parse text without quotes: a number, True, False, or else a text, such as 01067."""
    if re.fullmatch(r"0\d+", text):
        return text
    if re.fullmatch(r"-?\d+", text):
        try:
            return int(text)
        except ValueError:  # more digits than Python converts: taken as a text
            return text
    if re.fullmatch(rf"-?(?:{NUMBER_PATTERN}|inf)", text):
        return float(text)
    return {"True": True, "False": False}.get(text, text)


def format_value(value: object) -> str:
    """Return a name or value as text from which it can be parsed again; texts are quoted where necessary."""
    if isinstance(value, datetime.date | datetime.timedelta):
        value = str(value).removesuffix(" 00:00:00")
    if not isinstance(value, str):
        return str(value)
    words = re.fullmatch(rf"{PLAIN}(?: {PLAIN})*", value)
    if words and isinstance(constant(value), str) and not {"or", "in"} & set(value.split(" ")):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def iso_text(value: object) -> str:
    """Return the text of a value; of a Timestamp at midnight, the date only, as in statements."""
    return str(value).removesuffix(" 00:00:00") if isinstance(value, pd.Timestamp) else str(value)


def rounded(number: float, digits: int = 3) -> str:
    """Write a number with some significant digits as people do, without a power of ten up to a million million.

    >>> rounded(1534.2), rounded(0.0312), rounded(12.0)
    ('1,530', '0.0312', '12')
    """
    return f"{float(f'{number:.{digits}g}'):,.12g}"


def format_number(value: float) -> str:
    """Return a number with as many digits as are needed to parse it again exactly."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(float(value))


def format_combination(parts: Iterable[tuple[float, str]], constant: str = "") -> str:
    """Return a linear combination of (coefficient, term) pairs, followed by a constant unless it is empty.

    >>> format_combination([(2, "P(a)"), (-1, "P(b)")], "-0.5")
    '2 P(a) - P(b) - 0.5'
    """
    summands = [(a < 0, term if abs(a) == 1 else f"{format_number(abs(a))} {term}") for a, term in parts]
    if constant or not summands:
        summands.append((constant.startswith("-"), constant.removeprefix("-") or "0"))
    (minus, first), *others = summands
    return "-" * minus + first + "".join(f" {'-' if minus else '+'} {part}" for minus, part in others)


class Message(str):
    """An English sentence that keeps its template and values, so that a report can translate it.

    >>> sentence = Message("{n} of {total:,} people", n=2, total=1000)
    >>> sentence, sentence.template, sentence.values
    ('2 of 1,000 people', '{n} of {total:,} people', {'n': 2, 'total': 1000})
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Message:
        message = super().__new__(cls, template.format(**values))
        message.template, message.values = template, values
        return message

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), self.values


def people_message(n: float) -> Message:
    """Return a number of people: "1 person", "1,000 people"."""
    return Message("{n:,} person" if n == 1 else "{n:,} people", n=int(n))


def joined(sentences: Iterable[str]) -> Message:
    """Join sentences with spaces; each of them keeps its own template."""
    numbered = {f"sentence{i}": sentence for i, sentence in enumerate(sentences)}
    return Message(" ".join(f"{{{name}}}" for name in numbered), **numbered)


# HTML of a sentence and of previews of tables, with every value escaped.

#: First strong isolate, and its end: the text between them does not change the order of the surrounding text.
ISOLATE, END = "\u2068", "\u2069"
#: Characters of right-to-left scripts (Hebrew, Arabic and others), and right-to-left marks.
RIGHT_TO_LEFT = "\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
#: An isolated label; or right-to-left words, with the numbers between and after them.
TO_ISOLATE = re.compile(
    rf"{ISOLATE}([^\u2066-\u2069]*){END}|[{RIGHT_TO_LEFT}](?:[{RIGHT_TO_LEFT}\d\s.'-]*[{RIGHT_TO_LEFT}\d])?"
)

#: The largest numbers of rows and columns in a preview.
MOST_ROWS, MOST_COLUMNS = 10, 20
#: The largest number of characters of a cell.
MOST_CHARACTERS = 120
#: Significant digits of numbers.
DIGITS = 4


@dataclass(frozen=True, eq=False)
class TablePreview:
    """The first rows of a table, for a notebook."""

    table: pd.DataFrame
    of: str = "rows"  # plural noun for the rows, such as "buckets"
    total: int | None = None  # the number of rows, if the table contains only the first

    def html(self) -> str:
        """Return the first rows as HTML, with the total number of rows below them if there are more."""
        total = len(self.table) if self.total is None else self.total
        first = self.table.head(MOST_ROWS).map(
            lambda cell: shortened(cell, MOST_CHARACTERS) if isinstance(cell, str) else cell
        )
        written = first.to_html(
            border=0, max_cols=MOST_COLUMNS, float_format=lambda number: f"{number:.{DIGITS}g}", show_dimensions=False
        )
        below = f"<p>the first {len(first)} of {total:,} {escaped(self.of)}</p>" if total > len(first) else ""
        return isolated(written, "<bdi>", "</bdi>") + below


def as_label(value: object, longest: int | None = None) -> str:
    r"""Return a label (or several) for a sentence: control characters are escaped, right-to-left text is isolated.

    >>> print(as_label("Flu\u202e"))
    Flu\u202e
    """
    if isinstance(value, tuple):
        return ", ".join(as_label(part, longest) for part in value)
    text = visible(iso_text(value) if longest is None else shortened(iso_text(value), longest))
    return f"{ISOLATE}{text}{END}" if re.search(f"[{RIGHT_TO_LEFT}]", text) else text


def isolated(text: str, start: str = ISOLATE, end: str = END) -> str:
    """Isolate right-to-left text, so that the numbers of a sentence keep their order."""
    pieces, at = list[str](), 0
    for match in TO_ISOLATE.finditer(text):
        pieces += [visible(text[at : match.start()]), start, visible(match[1] or match[0]), end]
        at = match.end()
    return "".join([*pieces, visible(text[at:])])


def escaped(text: str) -> str:
    r"""Return the text as HTML: markup and control characters are escaped, right-to-left text is isolated.

    >>> ascii(escaped("<b> \u05d0"))
    "'&lt;b&gt; <bdi>\\u05d0</bdi>'"
    """
    return isolated(escape(text), "<bdi>", "</bdi>")


def as_html(text: str, *tables: TablePreview) -> str:
    """Return the repr of an object as HTML, with previews of tables below it.

    Parameters
    ----------
    text : str
        The ``repr``, such as "<Release: 10 records>"; the part before the first colon is the heading. Line breaks are
        kept.
    *tables : TablePreview

    Examples
    --------
    >>> as_html("<Release: 2 values of '<b>'>")
    '<div><p><strong>Release</strong>: 2 values of &#x27;&lt;b&gt;&#x27;</p></div>'
    """
    bare = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    heading, colon, body = bare.partition(": ")
    if not colon:
        heading, body = "", bare
    title = f"<strong>{escaped(heading)}</strong>: " if colon else ""
    lines = "<br>".join(escaped(line) for line in body.splitlines())
    return f"<div><p>{title}{lines}</p>{''.join(table.html() for table in tables)}</div>"


class ReprMixin:
    """A class whose objects appear in notebooks as their ``repr`` and previews of their tables."""

    def _tables(self) -> Iterable[TablePreview]:
        """Return the previews below the sentence; by default none."""
        return ()

    def _repr_html_(self) -> str:
        return as_html(repr(self), *self._tables())
