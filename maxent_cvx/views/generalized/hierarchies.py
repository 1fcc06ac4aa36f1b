"""Hierarchies of attributes: which exact values are below each node, however the hierarchy is given."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from io import StringIO
from os import PathLike

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments, listing, shown
from .coverage import coverage

__all__ = ["Hierarchies", "check_readable", "read_hierarchies"]

#: For every attribute, the exact values below each node of its hierarchy.
Hierarchies = Mapping[str, Mapping[object, frozenset[object]]]


def read_hierarchies(given: Mapping[str, object] | None) -> Hierarchies:
    """Read hierarchies of attributes.

    Parameters
    ----------
    given : dict of str to dict, DataFrame or path
        Of each attribute, ``{node: [values or nodes below]}``; or a table with the exact values in its first column and
        what they are generalised to, step by step, in the others; the same as ``{0: values, 1: ..., 2: ...}``, which is
        what ANJANA takes; or the name of a file of ARX: such a table without a header.

    Raises
    ------
    StatementError
        If a hierarchy is none of these, or goes round in a circle.
    TableError
        If a file cannot be read, or a table was read with its first row as a header.
    """
    found: dict[str, Mapping[object, frozenset[object]]] = {}
    held = {} if given is None else arguments.mapping(given, "hierarchies", "{attribute: its hierarchy}")
    for attribute, hierarchy in held.items():
        if isinstance(hierarchy, str | PathLike):
            found[attribute] = _of_table(_of_file(hierarchy, attribute))
        elif isinstance(hierarchy, pd.DataFrame):
            _check_header(hierarchy, attribute)
            found[attribute] = _of_table(hierarchy)
        elif isinstance(hierarchy, Mapping) and _has_levels(hierarchy):
            levels = [np.asarray(hierarchy[level], dtype=object) for level in range(len(hierarchy))]
            found[attribute] = _of_table(pd.DataFrame(dict(enumerate(levels))))
        elif isinstance(hierarchy, Mapping):
            found[attribute] = {node: _leaves(node, hierarchy, (), attribute) for node in hierarchy}
        else:
            raise StatementError(
                f"the hierarchy of {attribute!r} is a dictionary or a DataFrame, or a file of ARX, "
                f"not {shown(hierarchy)}"
            )
    return found


def _of_file(name: str | PathLike[str], attribute: str) -> pd.DataFrame:
    """Read a hierarchy of ARX: a row a value, a column a level, between semicolons, and no header."""
    text = arguments.text_of_file(name, f"the hierarchy of {attribute!r}")
    first = text.partition("\n")[0]
    separator = max(";\t,", key=first.count)
    rows = [row for row in csv.reader(StringIO(text), delimiter=separator) if row]
    if not rows or len({len(row) for row in rows}) > 1:
        sizes = sorted({len(row) for row in rows})
        raise TableError(
            f"the hierarchy of {attribute!r} in {str(name)!r} has rows of {listing(sizes)} columns; one row a value is "
            "expected, with a column a level"
        )
    return pd.DataFrame(rows, dtype=object)


def _check_header(table: pd.DataFrame, attribute: str) -> None:
    """Refuse a table without columns, or whose first row became the names of its columns."""
    if not table.shape[1]:
        raise TableError(
            f"the hierarchy of {attribute!r} is a table without columns; its values and nodes are expected"
        )
    for name, (_, column) in zip(table.columns, table.items(), strict=True):
        if isinstance(name, str) and (column == name).any():
            raise TableError(
                f"the hierarchy of {attribute!r} has a column named {name!r}, one of its nodes: a file without a "
                "header was read with one; pass header=None to pandas.read_csv, or pass the name of the file"
            )


def _of_table(table: pd.DataFrame) -> dict[object, frozenset[object]]:
    """Find what is below every node of a table of levels; values are nodes, too."""
    nodes: dict[object, frozenset[object]] = {}
    leaf = pd.Series(table.iloc[:, 0].astype(object).to_numpy())
    for level in range(table.shape[1]):
        column = pd.Series(table.iloc[:, level].astype(object).to_numpy())
        for node, below in leaf.groupby(column, sort=False):
            nodes[node] = nodes.get(node, frozenset()) | frozenset(below)
    return nodes


def _has_levels(hierarchy: Mapping[object, object]) -> bool:
    """Whether a dictionary is {0: values, 1: ..., 2: ...}, lists of one length."""
    if len(hierarchy) < 2 or set(hierarchy) != set(range(len(hierarchy))):
        return False
    lists = list(hierarchy.values())
    if not all(isinstance(one, list | tuple | np.ndarray | pd.Series | pd.Index) for one in lists):
        return False
    return len({len(one) for one in lists}) == 1  # type: ignore[arg-type]


def _leaves(
    node: object, below: Mapping[object, object], above: tuple[object, ...], attribute: str
) -> frozenset[object]:
    """The exact values below a node; one that lists itself is a value, too."""
    if node in above[:-1] or (above and node == above[-1] and node not in _children(below[node])):
        raise StatementError(f"the hierarchy of {attribute!r} goes round in a circle at {node!r}")
    if node not in below or (above and node == above[-1]):
        return frozenset([node])
    return frozenset().union(*(_leaves(child, below, (*above, node), attribute) for child in _children(below[node])))


def _children(listed: object) -> Iterable[object]:
    """What is listed below a node; one thing need not be in a list."""
    return listed if isinstance(listed, list | tuple | set | frozenset) else [listed]


def check_readable(table: pd.DataFrame, hierarchies: Hierarchies) -> None:
    """Check that the hierarchies have every generalised value, where there is no population to read it against.

    Raises
    ------
    StatementError
        If a hierarchy is empty.
    TableError
        If a value is no node of its attribute's hierarchy, nor can be read against the values that this has.
    """
    for attribute, nodes in hierarchies.items():
        leaves = frozenset().union(*nodes.values())
        if not leaves:
            raise StatementError(
                f"the hierarchy of {attribute!r} is empty, and says nothing without a population; write its values, or "
                "give population=, too"
            )
        numbers = pd.to_numeric(pd.Series(sorted(leaves, key=str), dtype=object), errors="coerce")
        values = pd.Index(sorted(leaves, key=str), dtype=object) if numbers.isna().any() else pd.Index(numbers)
        coverage(list(pd.unique(table[attribute])), values, attribute, nodes)
