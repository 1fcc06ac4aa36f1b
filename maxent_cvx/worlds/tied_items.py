"""Tuples that are tied, and their joint priors, read from tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import BadProbability, StatementError, TableError, arguments, listing, shown, unknown_name
from .reading import checked_priors

__all__ = ["Item", "Ties", "items_of", "members_of"]

#: Joint priors by the names of who is tied: of two a DataFrame, a row a value of the first; of more a Series.
Ties = Mapping[tuple[Hashable, ...], pd.DataFrame | pd.Series]


@dataclass(frozen=True, eq=False)
class Item:
    """Tuples that are tied, and the logarithm of their joint prior, an axis each."""

    members: tuple[int, ...]
    log_prior: np.ndarray

    def ways(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Their possible combinations: the values, how many places of each these take, and the log prior."""
        value = np.argwhere(np.isfinite(self.log_prior))
        takes = (value[:, :, None] == np.arange(len(places))).sum(axis=1)
        fits = (takes <= places).all(axis=1)
        return value[fits], takes[fits], self.log_prior[tuple(value[fits].T)]


def items_of(group: pd.DataFrame, values: Sequence[Hashable], ties: Ties) -> tuple[list[Item], np.ndarray, np.ndarray]:
    """The tied tuples, the columns of the values that occur, and how often each does."""
    f, every = checked_priors(group, values)
    if not group.index.is_unique:
        raise TableError("ties name tuples by their labels, and the group's index has one twice; rename the tuples")
    column = np.flatnonzero(every)
    if not isinstance(ties, Mapping):
        raise StatementError(f"ties is a dictionary {{(name, name): joint prior}}, not {shown(ties)}")
    of_several = [
        Item(members_of(group, who), _joint_prior(group.columns, who, table, column)) for who, table in ties.items()
    ]
    held = [member for item in of_several for member in item.members]
    if len(set(held)) < len(held):
        twice = group.index[[member for member in held if held.count(member) > 1]].unique()
        raise StatementError(f"{listing(twice)} is in two ties; write one joint prior of all who are tied")
    with np.errstate(divide="ignore"):
        alone = [Item((t,), np.log(f[t, column])) for t in range(len(f)) if t not in held]
    return [*of_several, *alone], column, every[column]


def members_of(group: pd.DataFrame, who: Sequence[Hashable]) -> tuple[int, ...]:
    """Find tuples by their labels."""
    if isinstance(who, str) or not isinstance(who, Sequence):
        raise StatementError(f"{shown(who)}: two different tuples of the group are expected, or more")
    names = [arguments.known_label(name, "tuple of the group", group.index) for name in who]
    at = group.index.get_indexer(pd.Index(names, dtype=object))
    if (at < 0).any():
        raise unknown_name("tuple of the group", names[int((at < 0).argmax())], group.index)
    if len(names) < 2 or len(set(at)) < len(names):
        raise StatementError(f"{listing(names)}: two different tuples of the group are expected, or more")
    return tuple(at.tolist())


def _joint_prior(values: pd.Index, who: Sequence[Hashable], table: object, column: np.ndarray) -> np.ndarray:
    """Read a joint prior as an array with an axis for each tuple, logarithms."""
    labels_of = (table.index, table.columns) if isinstance(table, pd.DataFrame) else (getattr(table, "index", None),)
    if any(isinstance(labels, pd.Index) and labels.has_duplicates for labels in labels_of):
        raise TableError(f"the joint prior of {listing(who)} has a label twice; write each once")
    if isinstance(table, pd.DataFrame) and len(who) == 2:
        axes, entries = [table.index, table.columns], _numbers(table, who)
    elif isinstance(table, pd.Series) and table.index.nlevels == len(who):
        wide = pd.MultiIndex.from_product([values] * len(who))
        axes = [values] * len(who)
        entries = _numbers(table.reindex(wide), who).reshape((len(values),) * len(who))
    else:
        raise TableError(
            f"the joint prior of {listing(who)} must be a {'DataFrame or ' * (len(who) == 2)}Series with a level each, "
            f"not {shown(table)}"
        )
    for axis, labels in enumerate(axes):
        at = labels.get_indexer(values[column])
        if (at < 0).any():
            raise unknown_name(f"value in the joint prior of {listing(who)}", values[column][at < 0][0], labels)
        entries = entries.take(at, axis=axis)
    if not ((entries >= 0) & (entries <= 1)).all():
        raise BadProbability(
            f"the joint prior of {listing(who)} must hold a probability from 0 to 1 for every combination of the "
            "group's values; at least one is missing, or something else"
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(entries))


def _numbers(table: pd.DataFrame | pd.Series, who: Sequence[Hashable]) -> np.ndarray:
    """Read a table as numbers."""
    try:
        return table.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"the joint prior of {listing(who)} must hold numbers: {error}") from error
