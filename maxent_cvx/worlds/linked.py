"""P(t : x) of many groups, batched by the shape of their dynamic program."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import gammaln

from ..errors import GroupTooLarge, Infeasible, amount, listing, number
from .groups import Groups
from .permanents import shares

__all__ = ["STEPS", "impossible", "linked", "weighed"]

#: Steps that a group may take unless more are allowed: some ten seconds, and a gigabyte.
STEPS = 2e8
#: States that are held at once, of as many groups as fit.
STATES = 1 << 22


def linked(groups: Groups, limit: float = STEPS, *, strict: bool = True) -> np.ndarray:
    """P(t : x) of every pair of many groups, probabilities.

    Either tuples are dealt to values, of which there are m(x) each, or values to tuples, n(s) of each signature.
    Groups that are too large, or have no world, are errors; if not `strict`, NaN.
    """
    with np.errstate(divide="ignore"):
        log_prior = np.log(groups.prior)
    found, total = weighed(groups, log_prior, limit, strict=strict)
    if strict and (without := np.isneginf(total)).any():
        raise impossible(groups.names[without])
    return found


def weighed(
    groups: Groups, log_prior: np.ndarray, limit: float = STEPS, *, strict: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """P(t : x) of every pair, by the logarithm of a prior, and the logarithm of the weight of each group's worlds.

    A world says which value each tuple has; the weight is the sum of prod_t f_t(x), -inf where there is no world, and
    the pairs are NaN then. So is all of a group that is too large, which is an error if `strict`.
    """
    limit = number(limit, "limit")
    n_v = groups.width[1]
    cost = np.column_stack([_steps(groups.values), _steps(groups.tuples)])
    too_large = cost.min(axis=1) > limit
    if strict:
        check_steps(groups, cost.min(axis=1), limit)
    found, weight = np.full(groups.start[-1], np.nan), np.full(len(groups), np.nan)
    to_values = cost[:, 0] <= cost[:, 1]
    orders = _log_orders(groups.tuples) - _log_orders(groups.values)
    for dealt, kinds, some, transposed in (
        (groups.tuples, groups.values, to_values & ~too_large, False),
        (groups.values, groups.tuples, ~to_values & ~too_large, True),
    ):
        for group, item, kind, places in _alike(dealt, kinds, np.flatnonzero(some)):
            i, k = dealt.indices[item][:, :, None], kinds.indices[kind][:, None, :]
            total, share = shares(log_prior[k, i] if transposed else log_prior[i, k], places)
            item_at, kind_at = (
                (item - dealt.indptr[group, None])[:, :, None],
                (kind - kinds.indptr[group, None])[:, None],
            )
            u, v = (kind_at, item_at) if transposed else (item_at, kind_at)
            if transposed:  # of the places of a signature each of the m(x) has a share; tuples, not values, are people
                share *= dealt.data[item][:, :, None] / kinds.data[kind][:, None, :]
                total = total + orders[group]
            weight[group] = total
            found[groups.start[group][:, None, None] + u * n_v[group][:, None, None] + v] = share
    return found, weight


def impossible(names: pd.Index) -> Infeasible:
    """The error that the priors rule out every world."""
    return Infeasible(
        f"the prior rules out every possible world of {listing(names)}: whoever is given the values, somebody has one "
        "of prior probability 0; estimate the prior with smoothing, or correct it"
    )


def check_steps(groups: Groups, cost: np.ndarray, limit: float) -> None:
    """Refuse groups that take too long, before anything is done."""
    if (large := cost > limit).any():
        worst = int(cost.argmax())
        too_large = amount(len(groups), "group is", "groups are")
        raise GroupTooLarge(
            f"{int(large.sum())} of {too_large} too large for exact possible worlds: "
            f"{listing(groups.names[[worst]])}, {int(groups.sizes[worst])} tuples of {int(groups.width[0][worst])} "
            f"signatures with {int(groups.width[1][worst])} values, takes {cost[worst]:.1g} steps (2e7 a second), and "
            f"{limit:.0e} are allowed; ask worlds.sample(...), allow more with limit=, or publish smaller groups"
        )


def _steps(table: sp.csc_array) -> np.ndarray:
    """How many steps each group takes when something is dealt to the entries of its column, k prod(m + 1)."""
    with np.errstate(over="ignore"):
        states = np.multiply.reduceat(table.data + 1.0, table.indptr[:-1])
    return np.asarray(states * np.diff(table.indptr))


def _log_orders(table: sp.csc_array) -> np.ndarray:
    """The logarithm of the ways to put what is alike in each column in order, prod(m!)."""
    return np.asarray(np.add.reduceat(gammaln(table.data + 1.0), table.indptr[:-1]))


def _alike(
    dealt: sp.csc_array, kinds: sp.csc_array, some: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Put groups together whose kinds have equally many places, if not in the same order.

    Yields
    ------
    groups : ndarray of int
    item : ndarray of int, shape (groups, items)
        The position of each item among the entries of `dealt`; an entry with multiplicity n is n items.
    kind : ndarray of int, shape (groups, kinds)
        Where each kind is among the entries of `kinds`, that with the most places first.
    places : ndarray of int
    """
    if not len(some):
        return
    width = np.diff(kinds.indptr)
    group = np.repeat(np.arange(len(width)), width)
    order = np.lexsort((-kinds.data, group))  # entries stay in their group
    rank = np.arange(len(group)) - kinds.indptr[group]
    pattern = np.zeros((len(width), width.max()), dtype=np.int64)
    pattern[group, rank] = kinds.data[order]
    patterns, which = np.unique(pattern[some], axis=0, return_inverse=True)
    items, first = np.repeat(np.arange(len(dealt.data)), dealt.data), np.append(0, np.cumsum(dealt.data))
    for i, padded in enumerate(patterns):
        places = padded[padded > 0]
        same = some[which.reshape(-1) == i]
        held = np.array_split(same, 1 + len(same) * int(np.prod(places + 1)) // STATES)
        for part in held:
            at = kinds.indptr[part][:, None] + np.arange(len(places))
            dealt_at = first[dealt.indptr[part]][:, None] + np.arange(places.sum())
            yield part, items[dealt_at], order[at], places
