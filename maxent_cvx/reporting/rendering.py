"""From sections to a page: one file of HTML, with its style and its script in it; jinja2 escapes every value."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from ..display import escaped, isolated
from .blocks import Block, Table

__all__ = ["Part", "Section", "page"]

#: Characters of a description that can still be read in half the width of a page.
LONGEST = 60


@dataclass(frozen=True)
class Part:
    """What a section says of one answer.

    Attributes
    ----------
    name : str
        The answer's; empty if there is one only, or if all are meant.
    blocks : sequence of Block
    wide : bool
        Whether it stands above what is side by side.
    """

    name: str
    blocks: Sequence[Block]
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the page, for all answers side by side.

    Attributes
    ----------
    id : str
        By which the table of contents finds it.
    title : str
    lead : str
        What it is about, in a sentence or two.
    parts : sequence of Part
    """

    id: str
    title: str
    lead: str
    parts: Sequence[Part]

    @property
    def is_side_by_side(self) -> bool:
        """Whether its parts stand beside each other: long descriptions of people need the whole width."""
        tables = [block for part in self.parts for block in part.blocks if isinstance(block, Table)]
        texts = [
            cell.text
            for table in tables
            for row in table.rows
            for cell, column in zip(row, table.columns, strict=True)
            if column.kind in ("group", "code")
        ]
        return len(self.parts) > 1 and max(map(len, texts), default=0) <= LONGEST


def page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """Write the page.

    Parameters
    ----------
    title, subtitle : str
    sections : sequence of Section

    Returns
    -------
    str
        HTML. Nothing in it is fetched from anywhere, and no script runs but its own, whose hash it names.
    """
    environment = _environment()
    style, script = (environment.get_template(name).render() for name in ("style.css", "page.js"))
    return str(
        environment.get_template("report.html").render(
            title=title, subtitle=subtitle, sections=sections, style=style, script=script,
            style_hash=_hash(style), script_hash=_hash(script),
        )
    )  # fmt: skip


@cache
def _environment() -> Any:
    """Return the environment of the templates, in which every text is escaped and isolated."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    found = Environment(
        loader=PackageLoader(__package__, "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_text,
    )  # fmt: skip
    found.filters["attribute"] = lambda text: Markup(escape(isolated(text)))
    found.filters["kind"] = lambda block: type(block).__name__
    return found


def _text(value: object) -> object:
    """Write what a template is given: text is escaped, and its labels are isolated; markup stays as it is."""
    from markupsafe import Markup

    return Markup(escaped(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    """The hash by which a content security policy knows a text in the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
