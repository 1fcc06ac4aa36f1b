"""Worlds with people who are tied, as members of one family are: a joint prior on what they have together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from ..errors import GroupTooLarge, listing, number
from .linked import STEPS, impossible
from .permanents import Lattice, log_sum
from .tied_items import Item, Ties, items_of, members_of

__all__ = ["joint", "tied_posterior"]


def tied_posterior(group: pd.DataFrame, values: Sequence[Hashable], ties: Ties, limit: float) -> pd.DataFrame:
    """P(t : x), see :func:`maxent_cvx.worlds.posterior`."""
    items, column, places = items_of(group, values, ties)
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
    """P(t : x, t' : y): the joint probability of the values of some tuples of a group, over its possible worlds.

    Parameters
    ----------
    group : DataFrame
    values : sequence
        As in :func:`maxent_cvx.worlds.posterior`.
    who : sequence
        Two tuples or more, by their labels in the index of `group`.
    ties : dict, optional
    limit : float
        As in :func:`maxent_cvx.worlds.posterior`.

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
    items, column, places = items_of(group, values, {} if ties is None else ties)
    asked = members_of(group, who)
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
