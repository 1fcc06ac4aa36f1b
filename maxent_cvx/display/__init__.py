"""How objects show themselves in notebooks: a sentence, and the first rows of tables, as HTML."""

from __future__ import annotations

from .as_html import MOST_ROWS, FirstRows, as_html, as_label, escaped, isolated
from .shown import Shown

__all__ = ["MOST_ROWS", "FirstRows", "Shown", "as_html", "as_label", "escaped", "isolated"]
