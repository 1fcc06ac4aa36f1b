"""The sensitive values that exposure is judged by: all of them, some, or those of one of several attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError, TableError, listing, shown, unknown_name
from ...tables.selection import choose, written

__all__ = ["JudgedValues", "in_words", "judged_values", "single_values", "values_of", "with_nodes"]


@dataclass(frozen=True, eq=False)
class JudgedValues:
    """Some values whose probabilities are compared with a threshold.

    Attributes
    ----------
    labels : Index
        What they are called, one a judged value; its names are those of the sensitive attributes that it is of.
    includes : csr_array, shape (sensitive values, judged values)
        1 where a sensitive value, which of several attributes is a combination, is one of those judged together.
    """

    labels: pd.Index
    includes: sp.csr_array

    @cached_property
    def columns(self) -> np.ndarray | None:
        """The position of the one sensitive value that each judged value is; None if one is several together."""
        by_judged = self.includes.tocsc()
        return by_judged.indices if (np.diff(by_judged.indptr) == 1).all() else None

    def of(self, p: np.ndarray) -> np.ndarray:
        """Add up probabilities, or people, of sensitive values, along the last axis: one column a judged value."""
        if self.columns is None:
            return np.asarray(p @ self.includes)
        is_all = np.array_equal(self.columns, np.arange(p.shape[-1]))
        return p if is_all else p[..., self.columns]

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """The largest number among the sensitive values of each judged value, a row each."""
        by_judged = self.includes.tocsc()
        return np.maximum.reduceat(numbers[:, by_judged.indices], by_judged.indptr[:-1], axis=1)

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are judged at all."""
        return np.diff(self.includes.indptr) > 0

    def among_involved(self) -> JudgedValues:
        """The same, of the sensitive values that are judged at all, and no others."""
        return JudgedValues(self.labels, sp.csr_array(self.includes[np.flatnonzero(self.involved)]))


def judged_values(values: pd.Index, sensitive: object) -> JudgedValues:
    """Read which of some sensitive values are meant.

    Parameters
    ----------
    values : Index
        All of them; of several attributes a level each.
    sensitive : object
        None for all; a value or several; of several attributes a tuple or a list of these, each a combination, or
        a dictionary from attributes to values (None for all of them), whichever values the others have.

    Raises
    ------
    UnknownName, StatementError
        If something is no value or attribute, or nothing is named.
    """
    if sensitive is None:
        return _each(values, np.ones(len(values), dtype=bool))
    if isinstance(sensitive, Mapping):
        return _of_attributes(values, sensitive)
    if values.nlevels == 1:
        return _each(values, choose(sensitive, "sensitive").mask(values, str(values.name)))
    are_several = isinstance(sensitive, list | set | frozenset | pd.Index)
    combinations: list[object] = list(sensitive) if are_several else [sensitive]  # type: ignore[call-overload]
    for one in combinations:
        if not isinstance(one, tuple) or len(one) != values.nlevels:
            raise StatementError(
                f"sensitive={shown(sensitive)}: of {', '.join(map(str, values.names))} a combination is a tuple of "
                f"{values.nlevels} values, or write {{{values.names[0]!r}: value}}, whatever the others are"
            )
        if one not in values:
            raise unknown_name(f"combination of {', '.join(map(str, values.names))}", one, values)
    if not combinations:
        raise StatementError("sensitive=[] names no value; name at least one, or leave it out for all")
    return _each(values, np.asarray(values.isin(combinations)))


def single_values(values: pd.Index) -> JudgedValues | None:
    """Every value of every one of several attributes, whatever the others are; None of one attribute."""
    if values.nlevels == 1:
        return None
    codes = [pd.factorize(values.get_level_values(i), sort=False) for i in range(values.nlevels)]
    labels = [f"{name}={written(one)}" for name, (_, own) in zip(values.names, codes, strict=True) for one in own]
    starts = np.cumsum([0, *(len(own) for _, own in codes)])
    member = np.concatenate([code + start for (code, _), start in zip(codes, starts, strict=False)])
    return _grouped(pd.Index(labels), np.tile(np.arange(len(values)), len(codes)), member, len(values))


def values_of(values: pd.Index, attribute: object) -> JudgedValues:
    """Each value of one attribute, whatever the others are."""
    return (
        _each(values, np.ones(len(values), dtype=bool))
        if values.nlevels == 1
        else _of_attributes(values, {attribute: None})
    )


def with_nodes(
    judged: JudgedValues, all_values: JudgedValues, nodes: Mapping[object, frozenset[object]]
) -> JudgedValues:
    """Add the nodes of a hierarchy that hold some of the judged values, and neither a single value nor all of them.

    Raises
    ------
    TableError
        If a node is called as a value that it is not.
    StatementError
        If no node holds a value.
    """
    values = all_values.labels
    if not values.isin(list(frozenset().union(*nodes.values()))).any():
        raise StatementError(
            f"within: the hierarchy has none of the values of {values.name!r}, such as {listing(values, 3)}"
        )
    labels, columns = [*judged.labels], [judged.includes]
    for node, leaves in nodes.items():
        below = np.asarray(values.isin(list(leaves)))
        if not 1 < below.sum() < len(values) or not judged.labels.isin(values[below]).any():
            continue
        if node in labels:
            raise TableError(f"the hierarchy has a node {shown(node)}, as a value or another node is called; rename it")
        labels.append(node)
        columns.append(sp.csr_array(all_values.includes[:, np.flatnonzero(below)].sum(axis=1)[:, None]))
    return JudgedValues(pd.Index(labels, dtype=object, name=judged.labels.name), sp.csr_array(sp.hstack(columns)))


def in_words(label: object) -> str:
    """Write a judged value: 'yes', or of several attributes 'Flu, high'."""
    return f"'{', '.join(map(str, label))}'" if isinstance(label, tuple) else f"'{label}'"


def _each(values: pd.Index, mask: np.ndarray) -> JudgedValues:
    """Each of some sensitive values on its own."""
    return _grouped(values[mask], np.flatnonzero(mask), np.arange(int(mask.sum())), len(values))


def _grouped(labels: pd.Index, value: np.ndarray, judged: np.ndarray, n_values: int) -> JudgedValues:
    """Judge values by their positions, and by those of what they are judged as."""
    return JudgedValues(labels, sp.csr_array((np.ones(len(value)), (value, judged)), shape=(n_values, len(labels))))


def _of_attributes(values: pd.Index, chosen: Mapping[object, object]) -> JudgedValues:
    """Values of some attributes, added up over those of the others."""
    if not chosen:
        raise StatementError("sensitive={} names no sensitive attribute; leave it out for all values")
    mask, names = np.ones(len(values), dtype=bool), [str(name) for name in values.names]
    for attribute, some in chosen.items():
        if attribute not in names:
            raise unknown_name("sensitive attribute", attribute, names)
        if some is not None:
            mask &= choose(some, str(attribute)).mask(values.get_level_values(str(attribute)), str(attribute))
    if not mask.any():
        raise StatementError(f"sensitive={shown(chosen)}: each value occurs, but nobody can have them together")
    kept = [i for i, name in enumerate(names) if name in chosen]
    labels = pd.MultiIndex.from_arrays([values.get_level_values(i) for i in kept])
    of_kept = labels if len(kept) > 1 else labels.get_level_values(0)
    distinct = of_kept[mask].unique()
    return _grouped(distinct, np.flatnonzero(mask), distinct.get_indexer(of_kept[mask]), len(values))
