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
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...tables.selection import NUMBER, written

__all__ = ["SUPPRESSED", "Parsed", "is_suppressed", "label_of", "parse"]

#: What stands for any value.
SUPPRESSED = "*"

END = rf"[-+]?(?:{NUMBER}|[iI]nf)"
#: An interval in brackets, R's "Inf" included.
INTERVAL = rf"\s*(?P<opens>[\[(\]])\s*(?P<low>{END})\s*[,;]\s*(?P<high>{END})\s*(?P<closes>[\])\[])\s*"
#: From one number to another; a dash of any length.
RANGE = rf"\s*(?P<low>-?{NUMBER})\s*(?:-|\u2013|\u2014|\.\.|to)\s*(?P<high>-?{NUMBER})\s*"
#: All below, or above, a number.
BOUND = rf"\s*(?P<sign><=|>=|<|>|\u2264|\u2265)\s*(?P<end>-?{NUMBER})\s*"
#: A number and more: top coding.
TOP = rf"\s*(?P<end>-?{NUMBER})\s*\+\s*"
#: A set in braces or without, and its items.
SET, ITEM = re.compile(r"\{(.*)\}", re.DOTALL), re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*|[^,]+')


@dataclass(frozen=True)
class Parsed:
    """What texts may say, besides being values themselves; a text may be in several of these.

    Attributes
    ----------
    intervals : DataFrame
        By position of the text: "low" and "high" (which may be infinite), whether they are "low_in" and "high_in", and
        whether both are "whole" numbers of a range, "18-20", of which nobody says where 20.5 belongs.
    sets : dict of int to frozenset of str
        The items of sets, as they are written.
    masks : dict of int to (Pattern, Pattern)
        Masked texts: a star being one character at most, or any number of them.
    """

    intervals: pd.DataFrame
    sets: dict[int, frozenset[str]]
    masks: dict[int, tuple[re.Pattern[str], re.Pattern[str]]]


def parse(texts: list[str]) -> Parsed:
    """Read distinct texts of generalised values."""
    column = pd.Series(texts, dtype=object)
    sets = {i: _items(text) for i, text in enumerate(texts) if SET.fullmatch(text) or "," in text}
    masks = {i: _mask(text) for i, text in enumerate(texts) if "*" in text and not is_suppressed(text)}
    return Parsed(_intervals(column), sets, masks)


def _intervals(column: pd.Series) -> pd.DataFrame:
    """Read the texts that are intervals, ranges or bounds."""
    inside, spans = column.str.extract(f"^{INTERVAL}$").dropna(), column.str.extract(f"^{RANGE}$").dropna()
    bound = column.str.extract(f"^(?:{BOUND})$").dropna()
    top = column.str.extract(f"^{TOP}$").dropna().assign(sign=">=")
    bound = top if bound.empty else bound if top.empty else pd.concat([bound, top])
    below, end = bound["sign"].isin(["<", "<=", "\u2264"]), bound["end"].astype(float)
    with_end = bound["sign"].isin(["<=", ">=", "\u2264", "\u2265"])
    whole = ~(spans["low"] + spans["high"]).str.contains(r"[.eE]", regex=True).astype(bool)
    kinds = [
        (inside["low"], inside["high"], inside["opens"] == "[", inside["closes"] == "]", np.zeros(len(inside))),
        (spans["low"], spans["high"], np.ones(len(spans)), np.ones(len(spans)), whole),
        (end.where(~below, -np.inf), end.where(below, np.inf), with_end & ~below, with_end & below, np.zeros(len(end))),
    ]
    low, high, low_in, high_in, of_whole = (
        np.concatenate([np.asarray(kind[part], dtype=float) for kind in kinds]) for part in range(5)
    )
    at = np.concatenate([inside.index, spans.index, bound.index])
    return pd.DataFrame(
        {"low": low, "high": high, "low_in": low_in > 0, "high_in": high_in > 0, "whole": of_whole > 0}, index=at
    ).sort_index()


def _items(text: str) -> frozenset[str]:
    """The items of a set."""
    braces = SET.fullmatch(text)
    return frozenset(item.strip() for item in ITEM.findall(braces[1] if braces else text))


def _mask(text: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Both readings of a masked text; of texts of different lengths, tools pad the shorter ones."""
    parts = re.split(r"(\*+)", text.strip())
    one = "".join(f".{{0,{len(part)}}}" if part[:1] == "*" else re.escape(part) for part in parts)
    many = "".join(".*" if part[:1] == "*" else re.escape(part) for part in parts)
    return re.compile(one, re.DOTALL), re.compile(many, re.DOTALL)


def is_suppressed(cell: object) -> bool:
    """Whether a value stands for any: "*", stars only, or a missing value."""
    if isinstance(cell, str):
        return bool(re.fullmatch(r"\s*\*+\s*", cell))
    return bool(pd.api.types.is_scalar(cell) and pd.Series([cell], dtype=object).isna().item())


def label_of(cell: object) -> str:
    """A generalised value as a text; a set's values in their order, in quotes where they need them."""
    if isinstance(cell, set | frozenset):
        return "{" + ", ".join(sorted(map(written, cell))) + "}"
    return SUPPRESSED if not isinstance(cell, str) and is_suppressed(cell) else str(cell)
