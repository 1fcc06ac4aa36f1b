"""The exact values of an attribute, which generalised ones stand for."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from ...tables.selection import NUMBER, written
from .dialects import Span, label_of

__all__ = ["Domain", "is_hashable", "text_of"]


class Domain:
    """The exact values of an attribute, found by what they are, how they are written, or which number they are.

    Parameters
    ----------
    values : Index
        Distinct.
    attribute : str
        For errors.
    """

    def __init__(self, values: pd.Index, attribute: str) -> None:
        self.values, self.attribute = values, attribute
        self.size = len(values)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the values are numbers, not texts of numbers, say."""
        return pd.api.types.is_numeric_dtype(self.values) and not pd.api.types.is_bool_dtype(self.values)

    @cached_property
    def numbers(self) -> np.ndarray:
        """The number that each value is, or is the text of; else NaN."""
        if self.is_numeric:
            return np.asarray(self.values, dtype=float)
        texts = [one if isinstance(one, str) and re.fullmatch(rf"-?{NUMBER}", one) else None for one in self.values]
        return np.asarray(pd.to_numeric(pd.Series(texts, dtype=object)), dtype=float)

    @cached_property
    def has_fractions(self) -> bool:
        """Whether some number is not whole."""
        return bool((np.floor(self.numbers) < self.numbers).any())

    @cached_property
    def texts(self) -> np.ndarray:
        """How each value is written."""
        return np.array([str(one) for one in self.values], dtype=object)

    @cached_property
    def _quoted(self) -> np.ndarray:
        """How each value is written in a set."""
        return np.array([written(one) for one in self.values], dtype=object)

    @cached_property
    def _places(self) -> tuple[dict[object, int], dict[str, list[int]], dict[float, int]]:
        """Where a value is by what it is, by how it is written, and, of numbers, by the number."""
        same = {value: j for j, value in enumerate(self.values.tolist())}
        same |= {value: j for j, value in enumerate(self.values)}  # Timestamps, and not their nanoseconds
        written_so: dict[str, list[int]] = {}
        for j, text in enumerate(self.texts):
            written_so.setdefault(text, []).append(j)
        numbered = {x: j for j, x in enumerate(self.numbers.tolist())} if self.is_numeric else {}
        return same, written_so, numbered

    def places(self, cell: object) -> list[int]:
        """Where the value is that a cell is: itself, or by how it is written, or of numbers by the number."""
        same, written_so, of_number = self._places
        if is_hashable(cell) and cell in same:
            return [same[cell]]
        text = text_of(cell)  # a column that mixes intervals and numbers holds texts
        if text in written_so:
            return written_so[text]
        if self.is_numeric and re.fullmatch(rf"[-+]?{NUMBER}", text):
            return [of_number[float(text)]] if float(text) in of_number else []
        return []

    def exact(self, cells: Sequence[object]) -> np.ndarray:
        """Mark the value that each cell is."""
        found = np.zeros((len(cells), self.size), dtype=bool)
        for i, cell in enumerate(cells):
            found[i, self.places(cell)] = True
        return found

    def between(self, spans: Collection[Span]) -> np.ndarray:
        """Mark the numbers in each interval."""
        ends = np.array([(one.low, one.high, one.low_in, one.high_in) for one in spans], dtype=float).reshape(-1, 4)
        low, high, low_in, high_in = (column[:, None] for column in ends.T)
        x = self.numbers
        return ((x > low) | ((low_in > 0) & (x == low))) & ((x < high) | ((high_in > 0) & (x == high)))

    def members(self, items: Collection[str]) -> tuple[np.ndarray, list[str]]:
        """Mark the values that are items of a set as it was written, and list the items that are none."""
        names = list(items)
        found = self._quoted[None, :] == np.array(names, dtype=object)[:, None]
        lost = ~found.any(axis=1)
        found[lost] = self.exact([name for name, no in zip(names, lost, strict=True) if no])
        return found.any(axis=0), sorted(name for name, no in zip(names, ~found.any(axis=1), strict=True) if no)

    def masked(self, parts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Mark the values that fit a mask: its stars being a character at most (tools pad), or any number of them."""
        before, *inner, after = parts
        texts, sizes = self._fixed
        fits = np.strings.startswith(texts, before) & np.strings.endswith(texts, after)
        fits &= sizes >= sum(len(part) for part in parts[::2])
        if len(inner) == 1:
            return fits & (sizes <= len(before) + len(inner[0]) + len(after)), fits
        one, many = np.zeros(self.size, dtype=bool), np.zeros(self.size, dtype=bool)
        for j in np.flatnonzero(fits):  # only with several runs of stars
            many[j] = _fits(self.texts[j], parts, padded=False)
            one[j] = many[j] and _fits(self.texts[j], parts, padded=True)
        return one, many

    @cached_property
    def _fixed(self) -> tuple[np.ndarray, np.ndarray]:
        """The texts as NumPy's own, and their lengths."""
        return self.texts.astype(np.str_), np.array([len(text) for text in self.texts], dtype=int)


def _fits(text: str, parts: Sequence[str], padded: bool) -> bool:
    """Whether a text fits a mask: a run of stars is as many characters at most (padded), or any number of them.

    Bit i of `ends` says that the parts so far can be the first i characters. There is no backtracking: the time is at
    most the product of both lengths, over the bits of a machine word.
    """
    places: dict[str, int] = {}
    for i, character in enumerate(text):
        places[character] = places.get(character, 0) | 1 << i
    ends, every = 1, (1 << len(text) + 1) - 1
    for part in parts:
        if part[:1] != "*":
            for character in part:
                ends = (ends & places.get(character, 0)) << 1
        elif padded:
            reach = 1  # how many ends each has become, doubled with each step
            while reach <= min(len(part), len(text)):
                step = min(reach, len(part) + 1 - reach)
                ends, reach = (ends | ends << step) & every, reach + step
        else:
            ends = every & -(ends & -ends)
        if not ends:
            return False
    return bool(ends >> len(text))


def text_of(cell: object) -> str:
    """How a value is written; a whole number that missing values have made a float, as a whole number."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return label_of(cell).strip()


def is_hashable(cell: object) -> bool:
    """Whether a cell can be looked up."""
    try:
        hash(cell)
    except TypeError:
        return False
    return True
