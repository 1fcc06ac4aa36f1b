"""What the text of a generalised value may say, in the dialects of the tools that publish such tables.

============================  ======================================================  ===============================
written                       means                                                   by
============================  ======================================================  ===============================
``[18, 20)``, ``(18, 20]``    an interval; a round bracket leaves its end out         pandas, R's ``cut``, sdcMicro
``[18, 20[``, ``]18, 20]``    the same; a bracket that looks away leaves its end out  ARX (ISO 80000-2)
``18-20``, ``18 to 20``       from 18 to 20, both included                            AnonyPyx, ARX, tables in print
``<30``, ``>=30``, ``30+``    below 30; 30 and above                                  ARX, bottom and top coding
``{18, 19}``, ``18,19``       one of a set; items in quotes where they need them      ARX, AnonyPyx
``1305*``, ``130**``          a masked text, a character a star                       ARX, ANJANA
``*``, a missing value        any value                                               ARX, ANJANA; sdcMicro
============================  ======================================================  ===============================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...tables.selection import NUMBER, written

__all__ = ["SUPPRESSED", "Parsed", "Span", "is_suppressed", "label_of", "parse"]

#: What stands for any value.
SUPPRESSED = "*"

END = rf"[-+]?(?:{NUMBER}|[iI]nf)"
#: An interval in brackets, R's "Inf" included.
INTERVAL = re.compile(rf"\s*([\[(\]])\s*({END})\s*[,;]\s*({END})\s*([\])\[])\s*")
#: From one number to another; a dash of any length.
RANGE = re.compile(rf"\s*(-?{NUMBER})\s*(?:-|\u2013|\u2014|\.\.|to)\s*(-?{NUMBER})\s*")
#: All below, or above, a number, and signs of one character.
BOUND, SIGNS = re.compile(rf"\s*(<=|>=|<|>|\u2264|\u2265)\s*(-?{NUMBER})\s*"), {"\u2264": "<=", "\u2265": ">="}
#: A number and more: top coding.
TOP = re.compile(rf"\s*(-?{NUMBER})\s*\+\s*")
#: A set in braces or without, and its items.
SET, ITEM = re.compile(r"\{(.*)\}", re.DOTALL), re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*|[^,]+')
#: Characters that a tool masked.
STARS = re.compile(r"(\*+)")


@dataclass(frozen=True)
class Span:
    """An interval of numbers.

    Attributes
    ----------
    low, high : float
        Its ends, which may be infinite.
    low_in, high_in : bool
        Whether they are in it.
    whole : bool
        Whether it is a range of whole numbers, "18-20", of which nobody says where 20.5 belongs.
    """

    low: float
    high: float
    low_in: bool
    high_in: bool
    whole: bool = False


@dataclass(frozen=True)
class Parsed:
    """What texts may say, besides being values themselves, by their positions; a text may be in several of these.

    Attributes
    ----------
    spans : dict of int to Span
        Intervals, ranges and bounds.
    sets : dict of int to frozenset of str
        The items of sets, as they are written.
    masks : dict of int to list of str
        Masked texts: what is between stars, and runs of stars, in turn.
    """

    spans: dict[int, Span]
    sets: dict[int, frozenset[str]]
    masks: dict[int, list[str]]


def parse(texts: Sequence[str]) -> Parsed:
    """Read distinct texts of generalised values."""
    spans = {i: span for i, text in enumerate(texts) if (span := _span(text)) is not None}
    sets = {i: _items(text) for i, text in enumerate(texts) if "," in text or SET.fullmatch(text)}
    masks = {i: STARS.split(text.strip()) for i, text in enumerate(texts) if "*" in text and not is_suppressed(text)}
    return Parsed(spans, sets, masks)


def _span(text: str) -> Span | None:
    """Read an interval, a range or a bound."""
    if found := INTERVAL.fullmatch(text):
        opens, low, high, closes = found.groups()
        return Span(float(low), float(high), opens == "[", closes == "]")
    if found := RANGE.fullmatch(text):
        low, high = found.groups()
        return Span(float(low), float(high), True, True, whole=not re.search("[.eE]", low + high))
    if found := BOUND.fullmatch(text):
        sign, end = SIGNS.get(found[1], found[1]), float(found[2])
        return Span(-np.inf, end, False, sign == "<=") if sign[0] == "<" else Span(end, np.inf, sign == ">=", False)
    if found := TOP.fullmatch(text):
        return Span(float(found[1]), np.inf, True, False)
    return None


def _items(text: str) -> frozenset[str]:
    """The items of a set."""
    braces = SET.fullmatch(text)
    return frozenset(item.strip() for item in ITEM.findall(braces[1] if braces else text))


def is_suppressed(cell: object) -> bool:
    """Whether a value stands for any: "*", stars only, or a missing value."""
    if isinstance(cell, str):
        return bool(re.fullmatch(r"\s*\*+\s*", cell))
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float | np.floating) and cell != cell)


def label_of(cell: object) -> str:
    """A generalised value as a text; a set's values in their order, in quotes where they need them."""
    if isinstance(cell, set | frozenset):
        return "{" + ", ".join(sorted(map(written, cell))) + "}"
    return SUPPRESSED if not isinstance(cell, str) and is_suppressed(cell) else str(cell)
