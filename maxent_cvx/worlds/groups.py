"""Groups of tuples, with the counts of their signatures and values, and permanents."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import gammaln

from .._utils.errors import (
    BadProbability,
    GroupTooLarge,
    Infeasible,
    StatementError,
    TableError,
    join_names,
    pluralize,
    short_repr,
    unknown_name,
)
from .._utils.tables import ranges, real_numbers, repeated, tally
from .._utils.validation import check_instance, check_label, check_mapping, check_number, is_several
from ..priors import QIDistribution
from ..releases.release import Release

# Checks of input: releases with priors, and tables of priors of a group.


def check_release(view: object, prior: object, *, optional: bool = False) -> None:
    """Check that a view has buckets, and that a prior is a QIDistribution, or None if it is optional."""
    if prior is not None or not optional:
        check_instance(prior, QIDistribution, "prior")
    check_instance(view, Release, "the release", "possible worlds are defined for buckets")


def check_no_counterfeits(release: Release) -> None:
    """Check that a release has no counterfeit values."""
    if release.with_counterfeits.any():
        raise StatementError(
            "the release must not contain counterfeits, as a world assigns every value to a person; remove them"
        )


def checked_priors(group: pd.DataFrame, values: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """Read one group's priors, and count how often each of its columns occurs among its values."""
    if not isinstance(group, pd.DataFrame):
        raise TableError(
            f"group must be a DataFrame of priors, one row per tuple and one column per value, not {short_repr(group)}"
        )
    if group.columns.has_duplicates:
        raise TableError(f"the group has duplicate columns: {join_names(repeated(group.columns))}")
    if isinstance(values, str | Mapping) or not is_several(values):
        raise TableError(f"values must be the list of the group's values, not {short_repr(values)}")
    listed = list(values)
    try:
        at = group.columns.get_indexer(pd.Index(listed, dtype=object) if listed else group.columns[:0])
    except (TypeError, pd.errors.InvalidIndexError) as error:
        raise TableError(f"the values cannot be found among the group's columns: {error}") from error
    if (at < 0).any():
        raise unknown_name("value with a prior in the group", listed[int((at < 0).argmax())], group.columns)
    if group.empty:
        raise TableError("the group must have at least one tuple and one value")
    if len(listed) != len(group):
        raise TableError(
            f"the group has {pluralize(len(group), 'tuple')} but {pluralize(len(listed), 'value')}; make them equal"
        )
    f = real_numbers(group, "the group's priors", BadProbability)
    if not ((f >= 0) & (f <= 1)).all():
        raise BadProbability("the group's priors must be probabilities from 0 to 1")
    return f, np.bincount(at, minlength=len(group.columns))


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups L, and prior probabilities of their values given their tuples' signatures."""

    # A pair is a signature and a value in the same group: tuples with the same signature are indistinguishable, so that
    # P(t : x) is one number per pair. Pairs are sorted by group, then signature, then value.

    prior: np.ndarray  # (signatures, values): f = p(s : x), probabilities
    tuples: sp.csc_array  # (signatures, groups): number of tuples with each signature
    values: sp.csc_array  # (values, groups): number of occurrences of each value
    names: pd.Index  # names of the groups

    @classmethod
    def of(cls, release: Release, prior: QIDistribution | None, attributes: tuple[str, ...]) -> Self:
        """Make groups from the buckets of a release, with signatures by an attribute set, or all without a prior."""
        check_no_counterfeits(release)
        if prior is None:
            alike = np.broadcast_to(1.0, (release.n_qb.shape[0], release.n_sb.shape[0]))
            return cls(alike, sorted_counts(release.n_qb), sorted_counts(release.n_sb), release.buckets)
        signature = prior.rows(release.quasi_identifiers, attributes)
        table = prior.tables[attributes].to_numpy()[:, prior.columns(release.sensitive_values)]
        ones, shape = np.ones(len(signature), dtype=np.int64), (len(table), len(signature))
        tuples = sp.csr_array((ones, (signature, np.arange(len(signature)))), shape=shape) @ release.n_qb
        return cls(table, sorted_counts(tuples), sorted_counts(release.n_sb), release.buckets)

    @classmethod
    def of_records(cls, prior: np.ndarray, group: np.ndarray, signature: np.ndarray, value: np.ndarray) -> Self:
        """Make groups of records, given by the number of the group, from 0, and positions of signature and value."""
        n = group.max(initial=-1) + 1
        tuples, values = (
            sp.csc_array(tally(code, group, (size, n), None))
            for code, size in zip((signature, value), prior.shape, strict=True)
        )
        return cls(prior, tuples, values, pd.RangeIndex(n))

    @classmethod
    def single(cls, group: pd.DataFrame, values: Sequence[Hashable]) -> tuple[Self, np.ndarray, np.ndarray]:
        """Make one group from its tuples' priors and values; also return signatures of tuples, and used columns."""
        # Tuples with equal priors have the same signature.
        f, places = checked_priors(group, values)
        distinct, signature = np.unique(f, axis=0, return_inverse=True)
        signature = signature.reshape(-1)
        column = np.flatnonzero(places)
        n, m = np.bincount(signature), places[column]
        return (
            cls(distinct[:, column], sorted_counts(n[:, None]), sorted_counts(m[:, None]), pd.Index(["the group"])),
            signature,
            column,
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def sizes(self) -> np.ndarray:
        """N, the number of tuples of each group."""
        return np.asarray(self.tuples.sum(axis=0))

    @property
    def steps(self) -> np.ndarray:
        """The number of steps of the sum over the worlds of each group, in the cheaper way."""
        return np.minimum(_steps(self.tuples, self.values), _steps(self.values, self.tuples))

    @cached_property
    def width(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of signatures and of values of each group."""
        return np.diff(self.tuples.indptr), np.diff(self.values.indptr)

    @cached_property
    def start(self) -> np.ndarray:
        """The positions where the pairs of each group begin, and where those of the last group end."""
        return np.concatenate([[0], np.cumsum(self.width[0] * self.width[1])])

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The group of every pair, and the entries of its signature in `tuples` and of its value in `values`."""
        n_u, n_v = self.width
        group = np.repeat(np.arange(len(self)), n_u)  # of every signature of a group
        repeat = n_v[group]
        return (
            np.repeat(group, repeat),
            np.repeat(np.arange(len(group)), repeat),
            ranges(self.values.indptr[group], repeat),
        )

    @cached_property
    def f(self) -> np.ndarray:
        """The prior probability of every pair."""
        _, u, v = self.pairs
        return self.prior[self.tuples.indices[u], self.values.indices[v]]

    @cached_property
    def group_of_value(self) -> np.ndarray:
        """The group of every entry of `values`."""
        return np.repeat(np.arange(len(self)), self.width[1])

    def over_tuples(self, of_pair: np.ndarray, reduce: np.ufunc = np.maximum) -> np.ndarray:
        """Return the largest (or least) number over the tuples of each group, for every entry of `values`."""
        v = self.pairs[2]
        order = np.argsort(v, kind="stable")
        return np.asarray(reduce.reduceat(of_pair[order], np.unique(v[order], return_index=True)[1]))

    def without_world(self) -> np.ndarray:
        """Mark the groups without a possible world."""
        without = np.zeros(len(self), dtype=bool)
        # Without a prior of 0, every assignment is a world; otherwise, a world is a perfect matching.
        for bucket in np.unique(self.pairs[0][self.f == 0]):  # usually few
            n, m = (slice(*table.indptr[bucket : bucket + 2]) for table in (self.tuples, self.values))
            possible = self.prior[np.ix_(self.tuples.indices[n], self.values.indices[m])] > 0
            places = np.repeat(possible, self.values.data[m], axis=1)
            every = sp.csr_array(np.repeat(places, self.tuples.data[n], axis=0))  # one row per tuple
            without[bucket] = (sp.csgraph.maximum_bipartite_matching(every, perm_type="column") < 0).any()
        return without

    def check_worlds(self) -> None:
        """Check that every group has a possible world."""
        if (without := self.without_world()).any():
            raise impossible(self.names[without])

    def alike(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield groups with equally many signatures and values together: their numbers, and their entries of both."""
        shapes, which = np.unique(np.column_stack(self.width), axis=0, return_inverse=True)
        for i, (n_u, n_v) in enumerate(shapes):
            groups = np.flatnonzero(which.reshape(-1) == i)
            yield (
                groups,
                self.tuples.indptr[groups][:, None] + np.arange(n_u),
                self.values.indptr[groups][:, None] + np.arange(n_v),
            )


def sorted_counts(counts: np.ndarray | sp.sparray) -> sp.csc_array:
    """Convert a table of counts to columns with sorted, nonzero entries."""
    table = sp.csc_array(counts)
    table.eliminate_zeros()
    table.sort_indices()
    return table


# Sums over all ways to assign items to places, by dynamic programming over the number of taken places of each kind.
#
# The weight of a way is the product of one factor per item, for the kind of its place; the sum over all ways is a
# permanent with repeated columns. The places of the first j items only matter by the number of taken places of each
# kind, so prod(m + 1) states suffice for N! / prod(m!) ways. Many items with the same factors follow after all others,
# by a multinomial coefficient. All numbers are logarithms, so that no factor underflows; the logarithm of 0 is -inf.


#: The maximum number of numbers in memory for one layer of states of a batch of groups.
AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Lattice:
    """The states: the numbers of taken places of each kind, 0 to m each, as one number in mixed radix."""

    places: np.ndarray  # m, the number of places of each kind

    @cached_property
    def stride(self) -> np.ndarray:
        """The difference of state numbers for one more place of each kind."""
        return np.concatenate([[1], np.cumprod(self.places[:-1] + 1)]).astype(np.int64)

    @cached_property
    def n_states(self) -> int:
        """The number of states, prod(m + 1)."""
        return int(np.prod(self.places + 1))

    @cached_property
    def taken(self) -> np.ndarray:
        """The taken places of each kind in every state, shape (states, kinds), as small integers for speed."""
        taken = np.empty((self.n_states, len(self.places)), np.min_scalar_type(int(self.places.max())))
        for kind, (m, stride) in enumerate(zip(self.places, self.stride, strict=True)):
            taken.reshape(-1, m + 1, stride, len(self.places))[..., kind] = np.arange(m + 1)[:, None]
        return taken

    def layers(self) -> list[np.ndarray]:
        """The states with 0, 1, ..., N taken places."""
        size = self.taken.sum(axis=1, dtype=np.min_scalar_type(int(self.places.sum())))  # 16 bits are sorted fast
        order = np.argsort(size, kind="stable")
        return np.split(order, np.cumsum(np.bincount(size))[:-1])

    def neighbours(self, states: np.ndarray, step: int) -> np.ndarray:
        """Return the states with one place more (`step` 1) or less (-1) of each kind, shape (kinds, states)."""
        # Nonexistent states get the number of states.
        taken = np.ascontiguousarray(self.taken.take(states, axis=0).T)
        inside = taken < self.places.astype(taken.dtype)[:, None] if step > 0 else taken > 0
        return np.where(inside, states + step * self.stride[:, None], self.n_states)

    def moved(self, states: np.ndarray, takes: np.ndarray, step: int) -> np.ndarray:
        """Return :meth:`neighbours` for several places at once, `takes` of each kind, shape (states, ways)."""
        after = self.taken[states].astype(np.int64)[:, None] + step * takes
        inside = ((after >= 0) & (after <= self.places)).all(axis=2)
        return np.where(inside, states[:, None] + step * (takes @ self.stride), self.n_states)


def shares(
    log_factor: np.ndarray, places: np.ndarray, log_ends: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the total weight of all ways, and the share of it in which each item has each kind of place."""
    # Without `log_ends`, the weights of the end states, more items like the first one take the places that remain.
    n_groups, n_items, n_kinds = log_factor.shape
    lattice = Lattice(np.minimum(places, n_items) if log_ends is None else places)
    layers = lattice.layers()
    n_states = lattice.n_states
    before = forward_weights(log_factor, lattice, layers)
    # Forward and backward: the share of an item and a kind is the sum, over all states before the item, of the weight
    # of the ways to the state, times the factor, times the weight of the ways from there.
    after = np.full_like(before, -np.inf)
    summand: np.ndarray | float = 0.0
    if log_ends is None:
        end = layers[n_items]
        after[:, end], summand = _log_rest(log_factor[:, 0], places, lattice.taken[end])
    else:
        after[:, :n_states] = log_ends
    total = log_sum(before[:, layers[n_items]] + after[:, layers[n_items]], axis=1)[0]
    share = np.zeros_like(log_factor)
    scale = np.where(np.isfinite(total), total, np.nan)[:, None]
    for item in reversed(range(n_items)):
        for states in _batches(layers[item], n_groups * n_kinds):
            at = lattice.neighbours(states, 1)
            after[:, states], of_kind, of_all = log_sum(after[:, at] + log_factor[:, item, :, None], axis=1)
            through = np.exp(before[:, states] + after[:, states] - scale) / np.maximum(of_all, 1.0)
            share[:, item] += np.einsum("gs,gks->gk", through, of_kind)
    return total + summand, share


def _log_rest(log_factor: np.ndarray, places: np.ndarray, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log weights of all ways to fill the remaining places of states with like items, minus a summand."""
    # Relative to all places, and to the largest, since logarithms of large numbers would lose digits.
    finite, left = np.where(np.isfinite(log_factor), log_factor, 0.0), places - taken
    log_rest = falling(places, taken) - finite @ taken.T
    top = log_rest.max(axis=1)
    log_rest[np.isneginf(log_factor) @ (left > 0).T] = -np.inf
    summand = top + finite @ places + gammaln(left[0].sum() + 1.0) - gammaln(places + 1.0).sum()
    return log_rest - top[:, None], summand


def falling(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return log(prod n (n - 1) ... (n - k + 1)), over the last axis of k: ways to draw without replacement."""
    # Summed factor by factor, since a difference of two log-factorials of thousands would lose digits.
    most = int(k.max(initial=0))
    with np.errstate(divide="ignore"):
        factor = np.log(np.maximum(n[:, None] - np.arange(most), 0.0))
    sums = np.concatenate([np.zeros((len(n), 1)), np.cumsum(factor, axis=1)], axis=1)
    return np.asarray(sums[np.arange(len(n)), k].sum(axis=-1))


def forward_weights(log_factor: np.ndarray, lattice: Lattice, layers: list[np.ndarray]) -> np.ndarray:
    """Return the logarithm of the total weight of all ways to reach each state."""
    n_groups, _, n_kinds = log_factor.shape
    before = np.full((n_groups, lattice.n_states + 1), -np.inf)
    before[:, 0] = 0.0
    for item, layer in enumerate(layers[1 : log_factor.shape[1] + 1]):
        for states in _batches(layer, n_groups * n_kinds):
            at = lattice.neighbours(states, -1)
            before[:, states], *_ = log_sum(before[:, at] + log_factor[:, item, :, None], axis=1)
    return before


def log_sum(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log(sum(exp(x))) over an axis, the terms relative to the largest, and their sum, at least 1."""
    # If all x are -inf, the first is -inf and the others are 0.
    top = x.max(axis=axis, keepdims=True)
    term = np.exp(x - np.where(np.isfinite(top), top, 0.0))
    total = term.sum(axis=axis)
    with np.errstate(divide="ignore"):
        return top.squeeze(axis) + np.log(total), term, total


def _batches(states: np.ndarray, width: int) -> list[np.ndarray]:
    """Split a layer into parts to bound the memory."""
    n = 1 + len(states) * width // AT_ONCE
    return [states] if n == 1 else np.array_split(states, n)


# P(t : x) of many groups, batched by the shape of their dynamic program.


#: The default limit of the steps of a group: some ten seconds, and a gigabyte.
STEPS = 2e8
#: The maximum number of states in memory, for as many groups as fit.
STATES = 1 << 22


def linked(groups: Groups, limit: float = STEPS, *, strict: bool = True) -> np.ndarray:
    """Return P(t : x) of every pair of many groups."""
    # Groups that are too large or have no world raise an error if `strict`, else they are NaN.
    with np.errstate(divide="ignore"):
        log_prior = np.log(groups.prior)
    share, total = weighed(groups, log_prior, limit, strict=strict)
    if strict and (without := np.isneginf(total)).any():
        raise impossible(groups.names[without])
    return share


def weighed(
    groups: Groups, log_prior: np.ndarray, limit: float = STEPS, *, strict: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return P(t : x) of every pair, from the logarithm of a prior, and the log weight of each group's worlds."""
    # The weight is the sum of prod_t f_t(x) over the worlds, which assign a value x to each tuple t. Without a world,
    # it is -inf, and P(t : x) is NaN. Groups that are too large raise an error if `strict`, else both are NaN. Either
    # tuples are assigned to the m(x) places of each value, or values to the n(s) tuples of each signature.
    limit = check_number(limit, "limit")
    n_v = groups.width[1]
    if strict:
        check_steps(groups, limit)
    is_small = groups.steps <= limit
    p, weight = np.full(groups.start[-1], np.nan), np.full(len(groups), np.nan)
    # Assigning values to tuples counts every world prod n(s)! / prod m(x)! times as often as tuples to values.
    to_values = _steps(groups.tuples, groups.values) <= _steps(groups.values, groups.tuples)
    orders = _log_orders(groups.tuples) - _log_orders(groups.values)
    for assigned, kinds, selected, transposed in (
        (groups.tuples, groups.values, to_values & is_small, False),
        (groups.values, groups.tuples, ~to_values & is_small, True),
    ):
        for group, item, kind, places in _of_same_places(assigned, kinds, np.flatnonzero(selected)):
            i, k = assigned.indices[item][:, :, None], kinds.indices[kind][:, None, :]
            total, share = shares(log_prior[k, i] if transposed else log_prior[i, k], places)
            item_at, kind_at = (
                (item - assigned.indptr[group, None])[:, :, None],
                (kind - kinds.indptr[group, None])[:, None],
            )
            u, v = (kind_at, item_at) if transposed else (item_at, kind_at)
            if transposed:  # each of the m(x) has a share of a signature's places; people are tuples, not values
                share *= assigned.data[item][:, :, None] / kinds.data[kind][:, None, :]
                total = total + orders[group]
            weight[group] = total
            p[groups.start[group][:, None, None] + u * n_v[group][:, None, None] + v] = share
    return p, weight


def impossible(names: pd.Index) -> Infeasible:
    """Make an error about priors that exclude every world."""
    return Infeasible(
        f"the prior excludes every possible world of {join_names(names)}, as somebody in it has a value with prior "
        "probability 0; estimate the prior with smoothing, or correct it"
    )


def check_steps(groups: Groups, limit: float) -> None:
    """Check that no group takes too many steps."""
    cost = groups.steps
    if (large := cost > limit).any():
        worst = int(cost.argmax())
        too_large = pluralize(len(groups), "group is", "groups are")
        raise GroupTooLarge(
            f"{int(large.sum())} of {too_large} too large for exact possible worlds: "
            f"{join_names(groups.names[[worst]])}, with {int(groups.sizes[worst])} tuples of "
            f"{int(groups.width[0][worst])} signatures and {int(groups.width[1][worst])} values, takes "
            f"{cost[worst]:.1g} steps (2e7 per second), but limit is {limit:.0e}; use worlds.sample(...), increase "
            "limit=, or publish smaller groups"
        )


def _n_items(assigned: sp.csc_array) -> np.ndarray:
    """Return the number of items of each group that are assigned one by one: all but most of the most frequent kind."""
    # At least one item of that kind is among them. The number is a power of two, so that more groups have the same shape.
    size = np.asarray(assigned.sum(axis=0))
    others = size - np.maximum.reduceat(assigned.data, assigned.indptr[:-1])
    return np.minimum(size, 2 ** np.ceil(np.log2(others + 1)).astype(np.int64))


def _steps(assigned: sp.csc_array, kinds: sp.csc_array) -> np.ndarray:
    """Return the number of steps for each group: k prod(m + 1), where no m is larger than the number of items."""
    width = np.diff(kinds.indptr)
    with np.errstate(over="ignore"):
        most = np.minimum(kinds.data, np.repeat(_n_items(assigned), width))
        return np.asarray(np.multiply.reduceat(most + 1.0, kinds.indptr[:-1]) * width)


def _log_orders(table: sp.csc_array) -> np.ndarray:
    """Return the logarithm of prod(m!) for each column."""
    return np.asarray(np.add.reduceat(gammaln(table.data + 1.0), table.indptr[:-1]))


def _by_count(table: sp.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of every entry, and the order of the entries by group and decreasing count."""
    group = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
    return group, np.lexsort((-table.data, group))


def _of_same_places(
    assigned: sp.csc_array, kinds: sp.csc_array, selected: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Group the groups whose kinds have the same numbers of places, in any order, and with equally many items."""
    if not len(selected):
        return
    n_items, width = _n_items(assigned), np.diff(kinds.indptr)
    group, order = _by_count(kinds)
    rank = np.arange(len(group)) - kinds.indptr[group]
    pattern = np.zeros((len(width), width.max() + 1), dtype=np.int64)
    pattern[group, rank] = kinds.data[order]
    pattern[:, -1] = n_items
    patterns, which = np.unique(pattern[selected], axis=0, return_inverse=True)
    by_count = _by_count(assigned)[1]  # the most frequent item of each group comes first
    n = assigned.data[by_count]
    n[assigned.indptr[:-1]] -= np.asarray(assigned.sum(axis=0)) - n_items
    items, first = np.repeat(by_count, n), np.append(0, np.cumsum(n_items))
    for i, (padded, n) in enumerate(zip(patterns[:, :-1], patterns[:, -1], strict=True)):
        places = padded[padded > 0]
        same = selected[which.reshape(-1) == i]
        for part in np.array_split(same, 1 + len(same) * int(np.prod(np.minimum(places, n) + 1)) // STATES):
            at = kinds.indptr[part][:, None] + np.arange(len(places))
            assigned_at = first[part][:, None] + np.arange(n)
            yield part, items[assigned_at], order[at], places


# Tied tuples, and their joint priors, from tables.


#: Joint priors by the names of tied people: for two, a DataFrame, one row per value of the first; for more, a Series.
Ties = Mapping[tuple[Any, ...], pd.DataFrame | pd.Series]


@dataclass(frozen=True, eq=False)
class TiedGroup:
    """Tied tuples, and the logarithm of their joint prior, with one axis per tuple."""

    members: tuple[int, ...]
    log_prior: np.ndarray

    def ways(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return possible combinations of values, the numbers of taken places of each value, and log priors."""
        value = np.argwhere(np.isfinite(self.log_prior))
        takes = (value[:, :, None] == np.arange(len(places))).sum(axis=1)
        fits = (takes <= places).all(axis=1)
        return value[fits], takes[fits], self.log_prior[tuple(value[fits].T)]


def items_of(
    group: pd.DataFrame, values: Sequence[Hashable], ties: Ties
) -> tuple[list[TiedGroup], np.ndarray, np.ndarray]:
    """Return the tied tuples and all others, the columns of the occurring values, and their counts."""
    f, all_values = checked_priors(group, values)
    if not group.index.is_unique:
        raise TableError("ties name tuples by label, but the group's index has duplicates; rename the tuples")
    column = np.flatnonzero(all_values)
    of_several = [
        TiedGroup(members_of(group, who), _joint_prior(group.columns, who, table, column))
        for who, table in check_mapping(ties, "ties", "{(name, name): joint prior}").items()
    ]
    members_of_items = [member for item in of_several for member in item.members]
    if len(set(members_of_items)) < len(members_of_items):
        twice = group.index[[member for member in members_of_items if members_of_items.count(member) > 1]].unique()
        raise StatementError(f"{join_names(twice)} is in two ties; pass one joint prior for all of them")
    with np.errstate(divide="ignore"):
        alone = [TiedGroup((t,), np.log(f[t, column])) for t in range(len(f)) if t not in members_of_items]
    return [*of_several, *alone], column, all_values[column]


def members_of(group: pd.DataFrame, who: Sequence[Hashable]) -> tuple[int, ...]:
    """Find tuples by their labels."""
    if isinstance(who, str) or not isinstance(who, Sequence):
        raise StatementError(f"expected at least two different tuples of the group, got {short_repr(who)}")
    names = [check_label(name, "tuple of the group", group.index) for name in who]
    at = group.index.get_indexer(pd.Index(names, dtype=object))
    if (at < 0).any():
        raise unknown_name("tuple of the group", names[int((at < 0).argmax())], group.index)
    if len(names) < 2 or len(set(at)) < len(names):
        raise StatementError(f"expected at least two different tuples of the group, got {join_names(names)}")
    return tuple(at.tolist())


def _joint_prior(values: pd.Index, who: Sequence[Hashable], table: object, column: np.ndarray) -> np.ndarray:
    """Read a joint prior as logarithms, with one axis per tuple."""
    prior = f"the joint prior of {join_names(who)}"
    if isinstance(table, pd.DataFrame | pd.Series) and any(labels.has_duplicates for labels in table.axes):
        raise TableError(f"{prior} has duplicate labels; give each label once")
    if isinstance(table, pd.DataFrame) and len(who) == 2:
        axes, entries = [table.index, table.columns], real_numbers(table, prior, BadProbability)
    elif isinstance(table, pd.Series) and table.index.nlevels == len(who):
        axes = [values] * len(who)
        every = pd.MultiIndex.from_product(axes)
        entries = real_numbers(table.reindex(every), prior, BadProbability).reshape((len(values),) * len(who))
    else:
        expected = f"{'DataFrame or ' * (len(who) == 2)}Series with one level per tuple"
        raise TableError(f"{prior} must be a {expected}, not {short_repr(table)}")
    for axis, labels in enumerate(axes):
        at = labels.get_indexer(values[column])
        if (at < 0).any():
            raise unknown_name(f"value in {prior}", values[column][at < 0][0], labels)
        entries = entries.take(at, axis=axis)
    if not ((entries >= 0) & (entries <= 1)).all():
        raise BadProbability(
            f"{prior} must contain a probability from 0 to 1 for every combination of the group's values, but at least "
            "one is missing or invalid"
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(entries))
