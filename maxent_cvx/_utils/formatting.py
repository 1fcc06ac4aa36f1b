"""Text of values, numbers and linear combinations, and HTML of objects with the first rows of their tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from .errors import visible

#: A number without a sign; each text is matched in one way only, so that long ones take no time.
NUMBER_PATTERN = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
#: What a name or a value is made of that needs no quotes.
PLAIN = r"[^\s,|()=:'\"#\\]+"


def constant(text: str) -> object:
    """Read what stands without quotes: a number, True, False, or else a text, such as 01067."""
    if re.fullmatch(r"0\d+", text):
        return text
    if re.fullmatch(r"-?\d+", text):
        try:
            return int(text)
        except ValueError:  # more digits than Python reads as a number: whoever writes such a thing means a text
            return text
    if re.fullmatch(rf"-?(?:{NUMBER_PATTERN}|inf)", text):
        return float(text)
    return {"True": True, "False": False}.get(text, text)


def format_value(value: object) -> str:
    """Write a name or a value so that it is read as the same: a text in quotes where it needs them."""
    if not isinstance(value, str):
        return str(value)
    words = re.fullmatch(rf"{PLAIN}(?: {PLAIN})*", value)
    if words and isinstance(constant(value), str) and not {"or", "in"} & set(value.split(" ")):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def format_number(value: float) -> str:
    """Write a number with as many digits as it needs to be read as the same."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(float(value))


def format_combination(parts: Iterable[tuple[float, str]], constant: str = "") -> str:
    """Write a linear combination from its coefficients and what each is of, and a constant if it is not "".

    >>> format_combination([(2, "P(a)"), (-1, "P(b)")], "-0.5")
    '2 P(a) - P(b) - 0.5'
    """
    summands = [(a < 0, term if abs(a) == 1 else f"{format_number(abs(a))} {term}") for a, term in parts]
    if constant or not summands:
        summands.append((constant.startswith("-"), constant.removeprefix("-") or "0"))
    (minus, first), *others = summands
    return "-" * minus + first + "".join(f" {'-' if minus else '+'} {part}" for minus, part in others)


class Message(str):
    """A sentence in English that keeps the template and the values it is made of, so that a report can translate it.

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


def joined(sentences: Iterable[str]) -> Message:
    """Several sentences, one after the other, each of which keeps its own template."""
    numbered = {f"sentence{i}": sentence for i, sentence in enumerate(sentences)}
    return Message(" ".join(f"{{{name}}}" for name in numbered), **numbered)


# A sentence and the first rows of tables as HTML, in which every value is escaped.

#: First strong isolate, and the end of one: what is between them does not change the order of the text around it.
ISOLATE, END = "\u2068", "\u2069"
#: Characters that are written from the right to the left: of Hebrew, Arabic and other scripts, and right-to-left marks.
RIGHT_TO_LEFT = "\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
#: An isolated label; or words from the right to the left, with the numbers among them and behind.
TO_ISOLATE = re.compile(
    rf"{ISOLATE}([^\u2066-\u2069]*){END}|[{RIGHT_TO_LEFT}](?:[{RIGHT_TO_LEFT}\d\s.'-]*[{RIGHT_TO_LEFT}\d])?"
)

#: Rows and columns of a table that are shown.
MOST_ROWS, MOST_COLUMNS = 10, 20
#: Characters of a cell that are shown.
MOST_CHARACTERS = 120
#: Significant digits of a number.
DIGITS = 4


@dataclass(frozen=True, eq=False)
class TablePreview:
    """A table, or its beginning, of which a notebook shows the first rows."""

    table: pd.DataFrame
    of: str = "rows"  # what the rows are, in the plural: "buckets"
    total: int | None = None  # how many there are, if the table holds only the first

    def html(self) -> str:
        """The first rows, and below them how many there are, if that is more."""
        total = len(self.table) if self.total is None else self.total
        first = self.table.head(MOST_ROWS).map(_cut)
        written = first.to_html(
            border=0,
            max_cols=MOST_COLUMNS,
            float_format=lambda number: f"{number:.{DIGITS}g}",
            show_dimensions=False,
        )
        below = f"<p>the first {len(first)} of {total:,} {escaped(self.of)}</p>" if total > len(first) else ""
        return isolated(written, "<bdi>", "</bdi>") + below


def _cut(cell: object) -> object:
    """The beginning of a long text."""
    return f"{cell[:MOST_CHARACTERS]}..." if isinstance(cell, str) and len(cell) > MOST_CHARACTERS else cell


def as_label(value: object) -> str:
    r"""Write a label, or several, for a sentence: control characters are seen, and another direction is isolated.

    >>> print(as_label("Flu\u202e"))
    Flu\u202e
    """
    if isinstance(value, tuple):
        return ", ".join(map(as_label, value))
    text = visible(str(value))
    return f"{ISOLATE}{text}{END}" if re.search(f"[{RIGHT_TO_LEFT}]", text) else text


def isolated(text: str, start: str = ISOLATE, end: str = END) -> str:
    """Isolate what is written from the right to the left, so that the numbers of a sentence keep their order."""
    pieces, at = list[str](), 0
    for match in TO_ISOLATE.finditer(text):
        pieces += [visible(text[at : match.start()]), start, visible(match[1] or match[0]), end]
        at = match.end()
    return "".join([*pieces, visible(text[at:])])


def escaped(text: str) -> str:
    r"""Write a text as HTML: no markup, no control characters, and every other direction of writing isolated.

    >>> ascii(escaped("<b> \u05d0"))
    "'&lt;b&gt; <bdi>\\u05d0</bdi>'"
    """
    return isolated(escape(text), "<bdi>", "</bdi>")


def as_html(text: str, *tables: TablePreview) -> str:
    """Write what an object says of itself, and tables below it.

    Parameters
    ----------
    text : str
        What ``repr`` says, "<Release: 10 records>"; what is before the first colon is the heading. Line breaks are
        kept.
    *tables : FirstRows

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
    """Something that a notebook shows by what ``repr`` says of it, and by the first rows of its tables."""

    def _tables(self) -> Iterable[TablePreview]:
        """What is shown below the sentence; by default nothing."""
        return ()

    def _repr_html_(self) -> str:
        return as_html(repr(self), *self._tables())
