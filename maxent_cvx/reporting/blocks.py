"""What a section of a report is made of: paragraphs, lists, tables and pictures, as text that is escaped later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Block", "Bullets", "Cell", "Column", "Heading", "Paragraph", "Picture", "Table", "Verdict"]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text.

    Attributes
    ----------
    text : str
    kind : {"plain", "note", "warning", "missing"}
        "missing" says what cannot be shown, and why.
    """

    text: str
    kind: str = "plain"


@dataclass(frozen=True)
class Heading:
    """The heading of a part of a section."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: Sequence[str]


@dataclass(frozen=True)
class Verdict:
    """The answer in one line, and what it means.

    Attributes
    ----------
    status : {"bad", "good", "open"}
    headline : str
    sentences : sequence of str
    """

    status: str
    headline: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Picture:
    """A picture in the page itself.

    Attributes
    ----------
    source : str
        A data URI.
    alt : str
        What it shows, for somebody who does not see it.
    caption : str
    """

    source: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
        What is read.
    value : float, optional
        The number behind it, exactly, by which the table is sorted.
    low, high : float, optional
        Both ends of an interval around the value, probabilities: then it is drawn.
    """

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Column:
    """A column: its heading, and what kind of things are in it: "text", "group", "code", "number", "bar", "range"."""

    name: str
    kind: str = "text"


@dataclass(frozen=True)
class Table:
    """A table that is sorted by a click on its headings.

    Attributes
    ----------
    caption : str
    columns : sequence of Column
    rows : sequence of sequence of Cell
        Those that are shown.
    total : int
        How many there are.
    order : str
        Which ones are shown if not all are: "the surest".
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    total: int
    order: str = "the first"
    notes: Sequence[str] = field(default=())

    @property
    def cut(self) -> str:
        """The sentence that says of how many rows these are, if not all are there."""
        if len(self.rows) == self.total:
            return ""
        return f"Shown are {len(self.rows):,} of {self.total:,} rows, {self.order}."


Block: TypeAlias = Paragraph | Heading | Bullets | Verdict | Picture | Table
