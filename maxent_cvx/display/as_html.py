"""A sentence and the first rows of tables as HTML, in which every value is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd

__all__ = ["MOST_ROWS", "FirstRows", "as_html"]

#: Rows and columns of a table that are shown.
MOST_ROWS, MOST_COLUMNS = 10, 20
#: Characters of a cell that are shown.
MOST_CHARACTERS = 120
#: Significant digits of a number.
DIGITS = 4


@dataclass(frozen=True, eq=False)
class FirstRows:
    """A table, or its beginning, of which a notebook shows the first rows.

    Attributes
    ----------
    table : DataFrame
    of : str
        What the rows are, in the plural: "buckets".
    total : int, optional
        How many there are, if the table holds only the first.
    """

    table: pd.DataFrame
    of: str = "rows"
    total: int | None = None

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
        below = f"<p>the first {len(first)} of {total:,} {escape(self.of)}</p>" if total > len(first) else ""
        return written + below


def _cut(cell: object) -> object:
    """The beginning of a long text."""
    return f"{cell[:MOST_CHARACTERS]}..." if isinstance(cell, str) and len(cell) > MOST_CHARACTERS else cell


def as_html(text: str, *tables: FirstRows) -> str:
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
    heading, colon, said = bare.partition(": ")
    if not colon:
        heading, said = "", bare
    title = f"<strong>{escape(heading)}</strong>: " if colon else ""
    lines = "<br>".join(escape(line) for line in said.splitlines())
    return f"<div><p>{title}{lines}</p>{''.join(table.html() for table in tables)}</div>"
