"""Generalised values as texts, which are read as what they were."""

from __future__ import annotations

import json

import pandas as pd

from ..views.generalized.dialects import is_suppressed, label_of, parse

__all__ = ["as_text"]


def as_text(cell: object) -> object:
    """Write a set, an interval or a value; a text that looks like one of the others as a set with one value.

    >>> as_text(frozenset({"b", "a"})), as_text("a"), as_text("20-29")
    ('{a, b}', 'a', '{"20-29"}')
    """
    if isinstance(cell, str):
        found = parse([cell])
        looks_generalized = found.spans or found.sets or found.masks or is_suppressed(cell)
        return f"{{{json.dumps(cell, ensure_ascii=False)}}}" if looks_generalized and cell != "*" else cell
    return label_of(cell) if isinstance(cell, frozenset | pd.Interval) else cell
