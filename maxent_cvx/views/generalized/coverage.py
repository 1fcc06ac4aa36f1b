"""Which exact values a generalised one stands for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from numbers import Real

import numpy as np
import pandas as pd

from ...errors import TableError, listing
from ...tables.selection import NUMBER, written
from .dialects import Span, is_suppressed, label_of, parse

__all__ = ["Domain", "coverage", "covers"]

#: How generalised values may be written, for errors.
ACCEPTED = "a value, '18-20', '[18, 20)', '<30', '>=30', '{18, 19}', '18,19', '1305*', '*'"


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
        if _hashable(cell) and cell in same:
            return [same[cell]]
        text = _text(cell)  # a column that mixes intervals and numbers holds texts
        if self.is_numeric and re.fullmatch(rf"[-+]?{NUMBER}", text):
            return [of_number[float(text)]] if float(text) in of_number else []
        return written_so.get(text, [])

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
        if len(parts) > 3:  # several runs of stars
            one = "".join(f".{{0,{len(part)}}}" if part[:1] == "*" else re.escape(part) for part in parts)
            many = "".join(".*" if part[:1] == "*" else re.escape(part) for part in parts)
            patterns = (re.compile(one, re.DOTALL), re.compile(many, re.DOTALL))
            fits = [[pattern.fullmatch(text) is not None for text in self.texts] for pattern in patterns]
            return np.array(fits[0], dtype=bool), np.array(fits[1], dtype=bool)
        before, stars, after = parts
        texts, sizes = self._fixed
        any_number = np.strings.startswith(texts, before) & np.strings.endswith(texts, after)
        any_number &= sizes >= len(before) + len(after)
        return any_number & (sizes <= len(before) + len(stars) + len(after)), any_number

    @cached_property
    def _fixed(self) -> tuple[np.ndarray, np.ndarray]:
        """The texts as NumPy's own, and their lengths."""
        return self.texts.astype(np.str_), np.array([len(text) for text in self.texts], dtype=int)


def coverage(
    cells: Sequence[object], values: pd.Index, attribute: str, nodes: Mapping[object, frozenset[object]]
) -> np.ndarray:
    """Mark the exact values that each generalised one stands for, shape (cells, values).

    A text that is a value itself and can also be read as a range, a set or a mask is an error, unless both readings are
    of the same values, or a hierarchy says what it is.

    Parameters
    ----------
    cells : sequence
        Generalised values, distinct: numbers, texts, pandas Intervals, sets.
    values : Index
        The exact values, distinct.
    attribute : str
        For errors.
    nodes : dict of object to frozenset
        What each node of the attribute's hierarchy stands for; it counts, whatever the node's text looks like.

    Raises
    ------
    TableError
        If a cell stands for none of the values, or can be read in two ways.
    """
    domain = Domain(values, attribute)
    return _cover(cells, domain, nodes, {str(node): below for node, below in nodes.items()})


def covers(
    cell: object, values: pd.Index, attribute: str, hierarchies: Mapping[str, Mapping[object, frozenset[object]]]
) -> np.ndarray:
    """Mark the exact values that one generalised value stands for, see :func:`coverage`."""
    return coverage([cell], values, attribute, hierarchies.get(attribute, {}))[0]


def _cover(
    cells: Sequence[object],
    domain: Domain,
    nodes: Mapping[object, frozenset[object]],
    named: Mapping[str, frozenset[object]],
) -> np.ndarray:
    """Mark what cells stand for: by kind those that are no texts, then all texts at once."""
    found = np.zeros((len(cells), domain.size), dtype=bool)
    plain = []
    for i, cell in enumerate(cells):
        node = nodes.get(cell) if _hashable(cell) else None
        node = named.get(_text(cell)) if node is None else node
        if is_suppressed(cell):
            found[i] = True
        elif node is not None:
            found[i] = _below(node, domain)
        elif isinstance(cell, set | frozenset):
            found[i] = _cover(list(cell), domain, nodes, named).any(axis=0)
        elif isinstance(cell, pd.Interval) and _of_numbers(cell) and not np.isnan(domain.numbers).all():
            found[i] = domain.between([_span_of(cell)])[0]
        else:
            plain.append(i)
    if plain:
        found[plain] = _texts([cells[i] for i in plain], domain)
    if (nobody := ~found.any(axis=1)).any():
        raise _stands_for_none(cells[int(nobody.argmax())], domain)
    return found


def _below(leaves: frozenset[object], domain: Domain) -> np.ndarray:
    """Mark the values below a node: its leaves, or what lies in leaves that are intervals; some may be nobody's."""
    found = {leaf: domain.places(leaf) for leaf in leaves}
    rest = [leaf for leaf, places in found.items() if not places]
    spans = [*parse([leaf for leaf in rest if isinstance(leaf, str)]).spans.values()]
    spans += [_span_of(leaf) for leaf in rest if isinstance(leaf, pd.Interval) and _of_numbers(leaf)]
    inside = np.array(domain.between(spans).any(axis=0))
    inside[[j for places in found.values() for j in places]] = True
    return inside


def _texts(cells: Sequence[object], domain: Domain) -> np.ndarray:
    """Mark what texts, and plain values, stand for; check that there is one way to read each."""
    found = domain.exact(cells)
    parsed = parse([cell if isinstance(cell, str) else "" for cell in cells])
    for (i, span), inside in zip(parsed.spans.items(), domain.between(parsed.spans.values()), strict=True):
        if span.low > span.high and not found[i].any():
            raise TableError(f"{cells[i]!r} of {domain.attribute!r} is no interval: its ends are turned round")
        _check_whole(cells[i], span, inside, domain)
        found[i] = _one_way(cells[i], found[i], inside, "an interval", domain)
    for i, items in parsed.sets.items():
        members, strangers = domain.members(items)
        if strangers and not found[i].any():
            if members.any() or str(cells[i]).startswith("{"):
                raise TableError(
                    f"the set {cells[i]!r} of {domain.attribute!r} has {listing(strangers)}, none of the population's "
                    "values; correct it, or say what it stands for, hierarchies={attribute: {it: [values]}}"
                )
        elif not strangers:
            found[i] = _one_way(cells[i], found[i], members, "a set", domain)
    for i, parts in parsed.masks.items():
        both = _one_way(cells[i], *domain.masked(parts), "a mask whose stars are any number of characters", domain)
        found[i] = _one_way(cells[i], found[i], both, "a mask", domain)
    return found


def _one_way(cell: object, first: np.ndarray, second: np.ndarray, kind: str, domain: Domain) -> np.ndarray:
    """Take the one reading that covers anything; two that differ are an error."""
    if first.any() and second.any() and (first != second).any():
        one, other = (listing(domain.values[mask]) for mask in (first, second))
        raise TableError(
            f"{cell!r} of {domain.attribute!r} can be read as {one}, and as {kind}, {other}; say which, "
            f"hierarchies={{{domain.attribute!r}: {{{cell!r}: [values]}}}}"
        )
    return first if first.any() else second


def _check_whole(cell: object, span: Span, inside: np.ndarray, domain: Domain) -> None:
    """Refuse "18-20" where somebody is 20.5: it may be meant to end at 20, or before 21."""
    if span.whole and domain.has_fractions and inside.any():
        between = (domain.numbers > span.high) & (domain.numbers < span.high + 1)
        if between.any():
            raise TableError(
                f"{cell!r} of {domain.attribute!r} is a range of whole numbers, and the population has "
                f"{listing(domain.values[between])}; write '[{span.low:g}, {span.high:g}]' or "
                f"'[{span.low:g}, {span.high + 1:g})'"
            )


def _stands_for_none(cell: object, domain: Domain) -> TableError:
    """Say that a value covers nobody, and what is accepted."""
    number = re.fullmatch(rf"-?{NUMBER}", _text(cell))
    mean = number and not float(_text(cell)).is_integer() and not domain.has_fractions
    note = "; a mean, as microaggregation publishes, is no generalised value" if mean else ""
    return TableError(
        f"{label_of(cell)} of {domain.attribute!r} stands for none of the population's values "
        f"{listing(domain.values)}; accepted are {ACCEPTED}; or give its hierarchy, "
        f"hierarchies={{attribute: {{node: [values]}}}}{note}"
    )


def _span_of(cell: pd.Interval) -> Span:
    """A pandas Interval of numbers."""
    return Span(float(cell.left), float(cell.right), cell.closed_left, cell.closed_right)


def _of_numbers(cell: pd.Interval) -> bool:
    """Whether an interval's ends are numbers, not times."""
    return isinstance(cell.left, Real)


def _text(cell: object) -> str:
    """How a value is written; a whole number that missing values have made a float, as a whole number."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return label_of(cell).strip()


def _hashable(cell: object) -> bool:
    """Whether a cell can be looked up."""
    try:
        hash(cell)
    except TypeError:
        return False
    return True
