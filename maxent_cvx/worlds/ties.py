"""Worlds with people who are tied, as members of one family are: a joint prior on what they have together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import arguments
from ..errors import BadProbability, GroupTooLarge, StatementError, TableError, listing, number, shown, unknown_name
from .groups import checked_priors
from .linked import STEPS, impossible
from .permanents import Lattice, log_sum

__all__ = ["Ties", "joint", "tied_posterior"]

#: Joint priors by the names of who is tied: of two a DataFrame, a row a value of the first; of more a Series.
Ties = Mapping[tuple[Hashable, ...], pd.DataFrame | pd.Series]


@dataclass(frozen=True, eq=False)
class Item:
    """Tuples that are dealt with together, and the logarithm of their joint prior, an axis each."""

    members: tuple[int, ...]
    log_prior: np.ndarray

    def ways(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What they can have together: the values, how many places of each these take, and the log prior."""
        value = np.argwhere(np.isfinite(self.log_prior))
        takes = (value[:, :, None] == np.arange(len(places))).sum(axis=1)
        there = (takes <= places).all(axis=1)
        return value[there], takes[there], self.log_prior[tuple(value[there].T)]


def tied_posterior(group: pd.DataFrame, values: Sequence[Hashable], ties: Ties, limit: float) -> pd.DataFrame:
    """P(t : x), see :func:`maxent_cvx.worlds.posterior`."""
    items, column, places = _items(group, values, ties)
    found = np.zeros(group.shape)
    for item, share in zip(items, _dealt(items, places, limit), strict=True):
        for axis, member in enumerate(item.members):
            found[member, column] = share.sum(axis=tuple(i for i in range(share.ndim) if i != axis))
    return pd.DataFrame(found, index=group.index, columns=group.columns)


def joint(
    group: pd.DataFrame,
    values: Sequence[Hashable],
    who: Sequence[Hashable],
    *,
    ties: Ties | None = None,
    limit: float = STEPS,
) -> pd.DataFrame | pd.Series:
    """P(t : x, t' : y): what some tuples of a group have together, over its possible worlds.

    Parameters
    ----------
    group, values, ties, limit
        As in :func:`maxent_cvx.worlds.posterior`.
    who : sequence
        Two tuples or more, by their labels in the index of `group`.

    Returns
    -------
    DataFrame, or Series
        Probabilities: of two tuples a row a value of the first, a column a value of the second. Of more a Series with
        a level each. Only values that occur.

    Raises
    ------
    UnknownName
        If `who` is not in the group.
    TableError, BadProbability
        If `group` is no table of priors, or `values` are not its values; or so it is of a table in `ties`.
    StatementError
        If `who` are not two different tuples or more, or somebody is in two ties.
    Infeasible
        If no world has a weight: the priors rule all of them out.
    GroupTooLarge
        If more steps are needed than `limit`.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = {"Flu": [0.3, 0.2, 0.1], "HIV": [0.1, 0.1, 0.3], "Cancer": [0.6, 0.7, 0.6]}
    >>> group = pd.DataFrame(prior, index=["Ann", "Bob", "Eve"])
    >>> together = mx.worlds.joint(group, ["Flu", "HIV", "Cancer"], who=["Ann", "Bob"])
    >>> together.loc["Flu"].round(3).to_dict()               # P(Ann : Flu, Bob : .), and never the one Flu for both
    {'Flu': 0.0, 'HIV': 0.127, 'Cancer': 0.444}
    >>> together.loc["Flu"].sum().round(3).item()                # P(Ann : Flu)
    0.57
    """
    items, column, places = _items(group, values, {} if ties is None else ties)
    asked = _members(group, who)
    together = [item for item in items if set(item.members) & set(asked)]
    combinations = float(len(column)) ** sum(len(item.members) for item in together)
    if combinations > number(limit, "limit"):
        raise GroupTooLarge(
            f"{len(column)} values of {listing(who)} together make {combinations:.1g} combinations, and {limit:.0e} "
            "are allowed; ask about fewer people, or allow more with limit="
        )
    log_prior = together[0].log_prior
    for item in together[1:]:
        log_prior = np.add.outer(log_prior, item.log_prior)
    one = Item(tuple(member for item in together for member in item.members), log_prior)
    share = _dealt([one, *(item for item in items if item not in together)], places, limit)[0]
    others = tuple(i for i, member in enumerate(one.members) if member not in asked)
    left = [member for member in one.members if member in asked]
    share = np.transpose(share.sum(axis=others), [left.index(member) for member in asked])
    labels = [group.columns[column].rename(name) for name in who]
    if len(labels) == 2:
        return pd.DataFrame(share, index=labels[0], columns=labels[1])
    return pd.Series(share.ravel(), index=pd.MultiIndex.from_product(labels), name="P")


def _items(group: pd.DataFrame, values: Sequence[Hashable], ties: Ties) -> tuple[list[Item], np.ndarray, np.ndarray]:
    """Who is dealt with together, the columns of the values that occur, and how often each does."""
    f, every = checked_priors(group, values)
    if not group.index.is_unique:
        raise TableError("ties name tuples by their labels, and the group's index has one twice; rename the tuples")
    column = np.flatnonzero(every)
    if not isinstance(ties, Mapping):
        raise StatementError(f"ties is a dictionary {{(name, name): joint prior}}, not {shown(ties)}")
    of_several = [
        Item(_members(group, who), _joint_prior(group.columns, who, table, column)) for who, table in ties.items()
    ]
    held = [member for item in of_several for member in item.members]
    if len(set(held)) < len(held):
        twice = group.index[[member for member in held if held.count(member) > 1]].unique()
        raise StatementError(f"{listing(twice)} is in two ties; write one joint prior of all who are tied")
    with np.errstate(divide="ignore"):
        alone = [Item((t,), np.log(f[t, column])) for t in range(len(f)) if t not in held]
    return [*of_several, *alone], column, every[column]


def _members(group: pd.DataFrame, who: Sequence[Hashable]) -> tuple[int, ...]:
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
    except (TypeError, ValueError) as error:
        raise BadProbability(f"the joint prior of {listing(who)} must hold numbers: {error}") from error


def _dealt(items: list[Item], places: np.ndarray, limit: float) -> list[np.ndarray]:
    """The share of the worlds in which the tuples of each item have each combination of values."""
    ways = [item.ways(places) for item in items]
    lattice = Lattice(places)
    taken = np.cumsum([0, *(len(item.members) for item in items)])
    cost = float(np.prod(places + 1.0)) * max(len(value) for value, _, _ in ways)
    if cost > number(limit, "limit"):
        raise GroupTooLarge(
            f"the group is too large for exact possible worlds with ties: it takes {cost:.1g} steps, and {limit:.0e} "
            "are allowed; tie fewer people, allow more with limit=, or publish smaller groups"
        )
    if not all(len(value) for value, _, _ in ways):
        raise impossible(pd.Index(["the group"]))
    layers = lattice.layers()
    before, after = (np.full(int(np.prod(places + 1)) + 1, -np.inf) for _ in range(2))
    before[0] = after[-2] = 0.0
    for j, (_, takes, log_prior) in enumerate(ways):
        states = layers[taken[j + 1]]
        before[states] = log_sum(before[lattice.moved(states, takes, -1)] + log_prior)[0]
    if np.isinf(before[-2]):
        raise impossible(pd.Index(["the group"]))
    shares = []
    for j, (value, takes, log_prior) in reversed(list(enumerate(ways))):
        states = layers[taken[j]]
        on = after[lattice.moved(states, takes, 1)] + log_prior
        share = np.zeros(items[j].log_prior.shape)
        share[tuple(value.T)] = np.exp(before[states, None] + on - before[-2]).sum(axis=0)
        shares.append(share)
        after[states] = log_sum(on)[0]
    return shares[::-1]
