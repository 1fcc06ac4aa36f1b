"""What tests read of a report: its tables as data, its sentences, and the page in a browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Page:
    """A page: its text, its headings by level, its tables by caption, each a list of rows of (text, value)."""

    text: str = ""
    headings: list[tuple[int, str]] = field(default_factory=list)
    tables: dict[str, list[list[tuple[str, float | None]]]] = field(default_factory=dict)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def table(self, caption):
        """The rows of the one table whose caption begins so."""
        (rows,) = [rows for name, rows in self.tables.items() if name.startswith(caption)]
        return rows


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.page, self.open, self.caption, self.rows = Page(), [], "", []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.page.tags.append((tag, given))
        if tag in ("meta", "link", "img", "input", "br"):
            return
        self.open.append(tag)
        if tag == "table":
            self.caption, self.rows = "", []
        elif tag == "tr" and "tbody" in self.open:
            self.rows.append([])
        elif tag == "td":
            value = given.get("data-value")
            self.rows[-1].append(("", None if value is None else float(value)))
        elif tag in ("h1", "h2", "h3", "h4"):
            self.page.headings.append((int(tag[1]), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"
        if tag == "table":
            self.page.tables[" ".join(self.caption.split())] = self.rows

    def handle_data(self, data):
        if "script" in self.open or "style" in self.open:
            return
        self.page.text += data
        if "caption" in self.open:
            self.caption += data
        elif "td" in self.open:
            text, value = self.rows[-1][-1]
            self.rows[-1][-1] = (" ".join((text + data).split()), value)
        elif self.open and self.open[-1] in ("h1", "h2", "h3", "h4"):
            level, text = self.page.headings[-1]
            self.page.headings[-1] = (level, " ".join((text + data).split()))


def read(html):
    """Read a page; every tag that is opened is closed, in order."""
    reader = _Reader()
    reader.feed(html)
    assert not reader.open
    reader.page.text = " ".join(reader.page.text.split())
    return reader.page
