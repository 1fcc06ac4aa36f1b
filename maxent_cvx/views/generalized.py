"""Generalised values: which exact values an interval, a set, a node of a hierarchy or "*" covers."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, listing, shown
from ..tables.selection import NUMBER, written

__all__ = ["covers", "label_of", "read_hierarchies"]

#: What stands for any value.
SUPPRESSED = "*"
#: An interval as a text: "[20, 30)".
INTERVAL = re.compile(rf"\s*([\[(])\s*(-?{NUMBER}|-inf)\s*,\s*(-?{NUMBER}|inf)\s*([\])])\s*")
#: A set as a text, as :func:`label_of` writes it, and its items.
SET, ITEM = re.compile(r"\{(.*)\}", re.DOTALL), re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*|[^,]+')

#: For every attribute, the exact values below each node of its hierarchy.
Hierarchies = Mapping[str, Mapping[object, frozenset[object]]]


def read_hierarchies(given: Mapping[str, object] | None) -> Hierarchies:
    """Read hierarchies of attributes.

    Parameters
    ----------
    given : dict of str to dict or DataFrame
        Of each attribute, ``{node: [values or nodes below]}``; or a table with the exact values in its first column and
        what they are generalised to, step by step, in the others.

    Raises
    ------
    StatementError
        If a hierarchy is neither, or goes round in a circle.
    """
    found = {}
    for attribute, hierarchy in ({} if given is None else given).items():
        if isinstance(hierarchy, pd.DataFrame):
            leaf = hierarchy.iloc[:, 0]
            nodes: dict[object, set[object]] = {}
            for column in range(1, hierarchy.shape[1]):
                for value, node in zip(leaf, hierarchy.iloc[:, column], strict=True):
                    nodes.setdefault(node, set()).add(value)
            found[attribute] = {node: frozenset(below) for node, below in nodes.items()}
        elif isinstance(hierarchy, Mapping):
            found[attribute] = {node: _leaves(node, hierarchy, (), attribute) for node in hierarchy}
        else:
            raise StatementError(
                f"the hierarchy of {attribute!r} is a dictionary or a DataFrame, not {shown(hierarchy)}"
            )
    return found


def _leaves(
    node: object, below: Mapping[object, object], above: tuple[object, ...], attribute: str
) -> frozenset[object]:
    """The exact values below a node."""
    if node in above:
        raise StatementError(f"the hierarchy of {attribute!r} goes round in a circle at {node!r}")
    if node not in below:
        return frozenset([node])
    children = below[node]
    listed = (
        [children]
        if isinstance(children, str) or not isinstance(children, list | tuple | set | frozenset)
        else children
    )
    return frozenset().union(*(_leaves(child, below, (*above, node), attribute) for child in listed))


def covers(cell: object, values: pd.Index, attribute: str, hierarchies: Hierarchies) -> np.ndarray:
    """Mark the exact values that a generalised one stands for.

    Raises
    ------
    TableError
        If it stands for none of them.
    """
    nodes = hierarchies.get(attribute, {})
    interval = cell if isinstance(cell, pd.Interval) else _interval(cell)
    if isinstance(cell, str) and cell == SUPPRESSED:
        return np.ones(len(values), dtype=bool)
    if isinstance(cell, set | frozenset):
        mask = np.zeros(len(values), dtype=bool)
        for one in cell:
            mask |= covers(one, values, attribute, hierarchies)
        return mask
    if not isinstance(cell, pd.Interval) and cell in nodes:
        mask = np.zeros(len(values), dtype=bool)
        for leaf in nodes[cell]:  # an exact value, or an interval; the population need not have each
            if isinstance(leaf, pd.Interval) or _interval(leaf) is not None:
                mask |= covers(leaf, values, attribute, {})
            else:
                mask |= np.asarray(values.isin([leaf])) | np.asarray(values.map(str).isin([str(leaf)]))
    elif interval is not None and pd.api.types.is_numeric_dtype(values):
        above = values >= interval.left if interval.closed_left else values > interval.left
        mask = np.asarray(above & (values <= interval.right if interval.closed_right else values < interval.right))
    else:
        mask = (
            _members(cell, values)
            if isinstance(cell, str) and SET.fullmatch(cell) and cell not in values
            else np.asarray(values == cell)
            if not isinstance(values, pd.IntervalIndex)
            else np.asarray(values.isin([cell]))
        )
    if not mask.any():  # a column that mixes intervals and numbers holds texts: "17" is the number 17
        mask = _as_written(cell, values)
    if not mask.any():
        raise TableError(
            f"{label_of(cell)} of {attribute!r} stands for none of the population's values {listing(values)}; give its "
            "hierarchy, hierarchies={attribute: {node: [values]}}, or correct it"
        )
    return mask


def _as_written(cell: object, values: pd.Index) -> np.ndarray:
    """Mark the exact value that is written as the cell is, or is the number that is written there."""
    text = label_of(cell).strip()
    if pd.api.types.is_numeric_dtype(values) and re.fullmatch(rf"-?{NUMBER}", text):
        return np.asarray(values == float(text))
    return np.asarray(values.map(str) == text)


def _members(text: str, values: pd.Index) -> np.ndarray:
    """Mark the values of a set that was written as a text."""
    items = {item.strip() for item in ITEM.findall(text[1:-1])}
    known = values.map(written)
    if strangers := sorted(items.difference(known)):
        raise TableError(f"the set {text!r} has {listing(strangers)}, none of the population's values; correct it")
    return np.asarray(known.isin(items))


def _interval(cell: object) -> pd.Interval | None:
    """Read an interval that was written as a text."""
    if not isinstance(cell, str) or not (found := INTERVAL.fullmatch(cell)):
        return None
    opens, low, high, closes = found.groups()
    if float(low) > float(high):
        raise TableError(f"{cell!r} is no interval: its ends are turned round")
    closed = {"[]": "both", "[)": "left", "(]": "right", "()": "neither"}[opens + closes]
    return pd.Interval(float(low), float(high), closed)  # type: ignore[arg-type]


def label_of(cell: object) -> str:
    """A generalised value as a text; a set's values in their order, in quotes where they need them."""
    if isinstance(cell, set | frozenset):
        return "{" + ", ".join(sorted(map(written, cell))) + "}"
    return str(cell)
