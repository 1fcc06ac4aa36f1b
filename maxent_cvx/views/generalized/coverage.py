"""Which exact values a generalised one stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np
import pandas as pd

from ...errors import TableError, listing
from ...tables.selection import NUMBER
from .dialects import Span, is_suppressed, label_of, parse
from .domain import Domain, is_hashable, text_of

__all__ = ["coverage", "covers"]

#: How generalised values may be written, for errors.
ACCEPTED = "a value, '18-20', '[18, 20)', '<30', '>=30', '{18, 19}', '18,19', '1305*', '*'"


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
        node = nodes.get(cell) if is_hashable(cell) else None
        node = named.get(text_of(cell)) if node is None else node
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
    number = re.fullmatch(rf"-?{NUMBER}", text_of(cell))
    mean = number and not float(text_of(cell)).is_integer() and not domain.has_fractions
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
