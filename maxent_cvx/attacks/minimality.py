"""Attacks by an adversary who knows the algorithm, which is treated as a black box.

The adversary knows a release R and the algorithm A that made it, and rules out all tables from which A makes another
release:

    P(table | R) ~ P(table) P(A(table) = R).

:func:`minimality` infers the sensitive values of people whose exact quasi-identifiers (QI) are known: the tables are
all assignments of each bucket's values to its people. :func:`downcoding` infers the exact QI behind generalised cells:
the tables are all assignments of exact values to the cells. In either case A is called on every table if there are few
(:func:`enumerate_tables`); otherwise the tables are sampled by Markov chains (:func:`sample_tables`). If symmetry
proves that A does not distinguish the tables, A is not called, and the posterior equals the prior.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from pandas.api.extensions import ExtensionArray
from scipy.special import gammaln, xlogy

from .._utils.errors import (
    GroupTooLarge,
    Inaccurate,
    Infeasible,
    StatementError,
    TableError,
    join_names,
    pluralize,
    short_repr,
)
from .._utils.progress import progress_bar
from .._utils.tables import check_columns, factorize, names, plain_index, sort_distinct
from .._utils.validation import (
    check_callable,
    check_dataframe,
    check_float,
    check_instance,
    check_int,
    check_label,
    check_list,
    check_mapping,
    check_optional_bool,
    check_seed,
)
from ..anonymize.anatomy import anatomy, exempt_values
from ..anonymize.mondrian import mondrian
from ..anonymize.similar_linkage import similar_linkage
from ..model.maxent import MaxEnt
from ..priors import QIDistribution
from ..releases.generalized import SUPPRESSED, GroupedRelease, Hierarchies, coverage, parse, read_hierarchies, unquoted
from ..releases.release import Release
from ..solvers.sparse import components, with_data
from ..worlds.groups import STEPS
from ..worlds.linkage import PossibleBuckets
from ..worlds.worst_case import Frequencies, Safety
from .result import AttackResult

#: A function from a table to a Release.
Algorithm = Callable[..., Any]


def difference(release: Release, algorithm: Algorithm, table: pd.DataFrame, arguments: Mapping[str, int]) -> float:
    """Return the number of records by which A(table) differs from the release; twice their number if incomparable."""
    try:
        made = algorithm(table, **arguments)
    except TableError:  # the algorithm publishes nothing for this table
        return float(2 * len(table))
    check_instance(made, Release, "the result of the algorithm")
    if made.qi != release.qi or made.sensitive != release.sensitive:
        return float(2 * len(table))
    off = 0.0
    for key, published in release.published.items():
        counts: dict[Hashable, int] = published.to_dict()
        others: dict[Hashable, int] = made.published[key].to_dict()
        off += sum(abs(counts.get(label, 0) - others.get(label, 0)) for label in counts.keys() | others.keys()) / 2
    return off


# The people of a release, and the assignments of its sensitive values to them.


@dataclass(frozen=True, eq=False)
class People:
    """The people of a release, and the information in the release about them without its algorithm."""

    view: Release | GroupedRelease  # with exact QI
    table: pd.DataFrame  # the QI of each person, in the order of the algorithm's input
    tuple_of: np.ndarray  # (people,): the position of each person's QI tuple in the view
    block: np.ndarray  # (people,): buckets that may contain the same person form one block
    value: np.ndarray  # (people,): any order of these values within blocks is an assignment
    prior: QIDistribution | None  # P(assignment) ~ the product of its P(s | q); None for uniform

    @classmethod
    def of(cls, release: Release, population: pd.DataFrame | None, prior: QIDistribution | None) -> Self:
        """Read a release, and the exact QI and the order of its people from the population."""
        if release.with_counterfeits.any():
            raise StatementError("the release has counterfeit records, so its values do not all belong to its people")
        view: Release | GroupedRelease = release
        qi = list(release.qi)
        if release.generalized:
            if len(release.sensitive) > 1:
                raise StatementError(
                    "minimality of a generalised release requires one sensitive attribute, but the release has "
                    f"{join_names(release.sensitive)}; join them to one column before the release is made"
                )
            if population is None:
                raise StatementError("the release has generalised QI; pass the exact QI of its people as population")
            view = Release.from_generalized(_records(release), qi=qi, sa=release.sensitive, population=population[qi])
        tuples = view.quasi_identifiers
        if population is None:
            tuple_of = np.repeat(np.arange(len(tuples)), view.n_q)
            table = tuples[tuple_of].to_frame(index=False)
        else:
            table = population[qi].reset_index(drop=True)
            code, distinct = sort_distinct(table)
            tuple_of = tuples.get_indexer(distinct)[code]
        off = len(tuple_of) != release.n_records or (tuple_of < 0).any()
        if off or (np.bincount(tuple_of, minlength=len(tuples)) != view.n_q).any():
            raise TableError(
                f"the population has {len(tuple_of)} people and does not match the {release.n_records} people of the "
                "release; pass the QI of all people in the release, one row per person"
            )
        if prior is not None and not isinstance(view, Release):
            raise StatementError("groups overlap, so the group of a person is unknown; omit prior")
        block, value = _blocks(view)
        order = np.argsort(block[tuple_of], kind="stable")
        assigned = np.empty(len(order), dtype=np.int64)
        assigned[order] = value
        return cls(view, table, tuple_of, block[tuple_of], assigned, prior)

    def __len__(self) -> int:
        return len(self.block)

    def assigned(self, value: np.ndarray) -> pd.DataFrame:
        """Return the table in which people have the given values, by number."""
        values = self.view.sensitive_values.take(value)
        return pd.concat([self.table, values.to_frame(index=False)], axis=1)

    @cached_property
    def log_prior(self) -> np.ndarray | None:
        """Logarithm of the prior's P(s | q), shape (tuples, values)."""
        if self.prior is None:
            return None
        with np.errstate(divide="ignore"):
            return np.log(self.prior.of_tuples(self.view.quasi_identifiers, self.view.sensitive_values))

    @cached_property
    def baseline(self) -> np.ndarray:
        """P(s | q) without the algorithm: the shares of buckets, or the maximum-entropy answer if groups overlap."""
        if not isinstance(self.view, Release):
            return MaxEnt(self.view).solve().conditional().to_numpy()
        key = () if self.prior is None else self.prior.attribute_set(None)
        tuples = np.arange(len(self.view.n_q))
        buckets = PossibleBuckets.of(self.view, self.prior, key, tuples, STEPS)
        return buckets.expected(tuples, buckets.tuples) / self.view.n_q[:, None]


def _records(release: Release) -> pd.DataFrame:
    """Return the records of a generalised release, each of whose buckets has one generalised QI tuple."""
    s, b = release.n_sb.nonzero()
    count = release.n_sb.data
    cells = release.quasi_identifiers[np.repeat(_tuple_of_bucket(release)[b], count)].to_frame(index=False)
    values = release.sensitive_values.take(np.repeat(s, count)).to_frame(index=False)
    return pd.concat([cells, values], axis=1)


def _tuple_of_bucket(release: Release) -> np.ndarray:
    """Return the position of the generalised QI tuple of each bucket."""
    return np.asarray(sp.csc_array(release.n_qb).indices)  # each column has one entry


def _blocks(view: Release | GroupedRelease) -> tuple[np.ndarray, np.ndarray]:
    """Return the block of each QI tuple, and the values of all blocks, block by block."""
    of_tuple, of_bucket = components(sp.csr_array(view.n_qb if isinstance(view, Release) else view.cover.T))
    s, b = view.n_sb.nonzero()
    order = np.argsort(np.repeat(of_bucket[b], view.n_sb.data), kind="stable")
    return of_tuple, np.repeat(s, view.n_sb.data)[order]


#: Share of proposals that reshuffle a block's values, which is necessary to reach tables that have little in common.
RESHUFFLE = 1 / 3


@dataclass(frozen=True, eq=False)
class Assignments:
    """The tables of :func:`minimality`; a state is the value of each person, shape (people,)."""

    people: People
    release: Release
    algorithm: Algorithm
    seeds: list[int] | None  # possible seeds of the publisher, equally likely
    count_call: Callable[[], object]
    size: np.ndarray  # number of people of each QI tuple
    baseline: np.ndarray  # P(value | QI tuple) without the algorithm

    @property
    def n_tables(self) -> int:
        """Number of distinct assignments."""
        _, repeats = np.unique(np.stack([self.people.block, self.people.value]), axis=1, return_counts=True)
        ways = math.prod(math.factorial(int(n)) for n in np.bincount(self.people.block))
        return ways // math.prod(math.factorial(int(n)) for n in repeats)

    def tables(self) -> Iterator[tuple[np.ndarray, float]]:
        """Yield all assignments, and the part of the log weight that :meth:`ask` omits: 0."""
        members = [np.flatnonzero(self.people.block == block) for block in np.unique(self.people.block)]
        state = np.empty_like(self.people.value)
        for orders in itertools.product(*(_orders(self.people.value[who]) for who in members)):
            for who, order in zip(members, orders, strict=True):
                state[who] = order
            yield state.copy(), 0.0

    def ask(self, state: np.ndarray) -> tuple[float, float]:
        """Return log P(table) P(release | table) up to a constant, and the least difference over seeds, in records."""
        self.count_call()
        table = self.people.assigned(state)
        options: list[dict[str, int]] = [{}] if self.seeds is None else [{"seed": seed} for seed in self.seeds]
        off = np.array([difference(self.release, self.algorithm, table, arguments) for arguments in options])
        with np.errstate(divide="ignore"):
            log_weight = float(np.log((off == 0).mean()))
        if self.people.log_prior is not None:
            log_weight += float(self.people.log_prior[self.people.tuple_of, state].sum())
        return log_weight, float(off.min())

    def first(self, rng: np.random.Generator) -> np.ndarray:
        """Return a random assignment."""
        order = np.lexsort((rng.random(len(self.people)), self.people.block))
        state = np.empty_like(self.people.value)
        state[np.argsort(self.people.block, kind="stable")] = self.people.value[order]
        return state

    def propose(self, state: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Shuffle the values of a block, or swap the values of random pairs within blocks, once or several times.

        Both proposals are symmetric: the reverse is equally likely.
        """
        block, other = self.people.block, state.copy()
        if rng.random() < RESHUFFLE:
            members = np.flatnonzero(block == rng.choice(block))
            other[members] = rng.permutation(other[members])
            return other
        for _ in range(rng.geometric(0.5)):
            i = rng.integers(len(state))
            j = rng.choice(np.flatnonzero(block == block[i]))
            other[[i, j]] = other[[j, i]]
        return other

    def counts(self, state: np.ndarray) -> np.ndarray:
        """Count the people of each QI tuple with each value, shape (tuples, values)."""
        return _counted(self.people.tuple_of, state, self.baseline.shape)


def _counted(row: np.ndarray, column: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Count the records of each row and column."""
    return np.bincount(row * shape[1] + column, minlength=math.prod(shape)).reshape(shape)


def _orders(values: np.ndarray) -> np.ndarray:
    """Return all distinct orders of values: place the first value, then the second in the free positions, and so on."""
    orders = np.full((1, len(values)), -1)
    for value, n in zip(*np.unique(values, return_counts=True), strict=True):
        free = np.nonzero(orders < 0)[1].reshape(len(orders), -1)
        chosen = np.array(list(itertools.combinations(range(free.shape[1]), int(n))))
        row = np.repeat(np.arange(len(orders)), len(chosen))
        orders = orders[row]
        orders[np.arange(len(orders))[:, None], free[row[:, None], np.tile(chosen, (len(free), 1))]] = value
    return orders


# The possible exact values of the cells of a generalised release.


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of each attribute."""

    release: Release
    size: np.ndarray  # (groups,): records
    values: list[pd.Index]  # one per attribute: its exact values, in order
    covered: list[np.ndarray]  # one per attribute, (groups, values): mask of the values in the cell of each group
    prior: list[np.ndarray]  # one per attribute, (groups, values): P(exact value | cell) without the attack

    @classmethod
    def of(cls, release: Release, domain: Mapping[str, object] | None, nodes: Hierarchies) -> Self:
        """Read the cells of a release."""
        if not release.generalized:
            raise StatementError("the release has exact QI, so there is nothing to infer about them")
        domain = {} if domain is None else check_mapping(domain, "domain", "{attribute: [values]}")
        for name in domain:
            check_label(name, "quasi-identifier (given in domain)", release.qi)
        of_bucket = _tuple_of_bucket(release)
        values, covered, prior = [], [], []
        for name in release.qi:
            labels = release.quasi_identifiers.get_level_values(name)
            exact, probability = _domain(name, labels, domain.get(name), nodes.get(name, {}))
            distinct, code = np.unique(labels.to_numpy(dtype=object).astype(str), return_inverse=True)
            mask = coverage(distinct.tolist(), exact, name, nodes.get(name, {}))[code][of_bucket]
            weight = np.where(mask, probability, 0.0)
            values.append(exact.rename(name))
            covered.append(mask)
            prior.append(weight / weight.sum(axis=1, keepdims=True))
        return cls(release, np.asarray(release.n_qb.sum(axis=0)), values, covered, prior)

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Classes of indistinguishable records: the group, the sensitive value, and the number of records."""
        s, group = self.release.n_sb.nonzero()
        order = np.lexsort((s, group))
        return group[order], s[order], self.release.n_sb.data[order]


def _domain(
    name: str, labels: pd.Index, domain: object, nodes: Mapping[object, frozenset[object]]
) -> tuple[pd.Index, np.ndarray]:
    """Return the exact values of an attribute, in order, and their probabilities up to a factor."""
    if isinstance(domain, pd.Series):
        weight = pd.to_numeric(domain, errors="coerce").to_numpy(dtype=float)
        if not len(weight) or not (np.isfinite(weight) & (weight > 0)).all() or not domain.index.is_unique:
            raise StatementError(
                f"the domain of {name!r} must be a Series of positive numbers, the probability of each value, with a "
                "unique index; omit impossible values"
            )
        code, values = factorize(pd.Series(domain.index))
        ordered = np.empty(len(values))
        ordered[code] = weight
        return values, ordered
    if domain is None:
        exact = _default_domain(name, labels, nodes)
    elif isinstance(domain, list | tuple | range | np.ndarray | pd.Index | ExtensionArray):
        exact = pd.Series(domain)
    else:
        raise StatementError(
            f"the domain of {name!r} must be a list of its values or a Series, not {short_repr(domain)}"
        )
    values = factorize(exact)[1]
    return values, np.ones(len(values))


#: Largest number of integers that are the possible values of an attribute by default; all are in a table in memory.
MOST_INTEGERS = 1_000_000


def _default_domain(name: str, labels: pd.Index, nodes: Mapping[object, frozenset[object]]) -> pd.Series:
    """Return the values of the hierarchy, or all integers between the ends, or all values in sets and cells."""
    if nodes:
        return pd.Series(sorted(frozenset().union(*nodes.values()), key=str)).infer_objects()
    texts = sorted(set(map(str, labels)))
    plain = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
    parsed = parse(texts)
    if all(i in parsed.spans or not np.isnan(number) for i, number in enumerate(plain)):
        ends = [number for number in plain if not np.isnan(number)]
        ends += [end for span in parsed.spans.values() for end in (span.low, span.high)]
        if all(np.isfinite(end) and end == int(end) for end in ends):
            low, high = int(min(ends)), int(max(ends))
            if high - low >= MOST_INTEGERS:
                raise StatementError(
                    f"the cells of {name!r} contain {high - low + 1} integers, from {low} to {high}, but at most "
                    f"{MOST_INTEGERS} possible values are assumed by default; pass those that are possible, "
                    f"domain={{{name!r}: [values]}}"
                )
            are_floats = any(re.search(r"\d\.\d", text) for text in texts)  # "[20.0, 22.0]", but not "20..22"
            return pd.Series(range(low, high + 1), dtype=float if are_floats else None)
    elif SUPPRESSED not in texts and not parsed.spans:
        named = [map(unquoted, parsed.sets[i]) if i in parsed.sets else [text] for i, text in enumerate(texts)]
        return pd.Series(sorted({value for cell in named for value in cell}))
    raise StatementError(
        f"the possible values of {name!r} do not follow from its cells {join_names(texts)}; "
        f"pass them, domain={{{name!r}: [values]}}"
    )


@dataclass(frozen=True, eq=False)
class ExactValues:
    """The tables of :func:`downcoding`; a state contains the codes of exact QI values, (records, attributes)."""

    cells: Cells
    algorithm: Algorithm
    a: int  # the attribute that is inferred
    size: np.ndarray  # number of records of each class
    baseline: np.ndarray  # P(value | class) without the algorithm

    @cached_property
    def _class(self) -> np.ndarray:
        """Class of each record."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @property
    def n_tables(self) -> int:
        """Number of distinct tables, which have a multiset of tuples in each class."""
        group, _, count = self.cells.classes
        n_tuples = [math.prod(int(covered[g].sum()) for covered in self.cells.covered) for g in group]
        return math.prod(math.comb(m + int(n) - 1, int(n)) for m, n in zip(n_tuples, count, strict=True))

    def tables(self) -> Iterator[tuple[np.ndarray, float]]:
        """Yield all tables, and the logarithms of their prior probabilities."""
        group, _, count = self.cells.classes
        ways = [list(self._multisets(int(g), int(n))) for g, n in zip(group, count, strict=True)]
        for parts in itertools.product(*ways):
            yield np.concatenate([tuples for tuples, _ in parts]), sum(log_p for _, log_p in parts)

    def _multisets(self, g: int, n: int) -> Iterator[tuple[np.ndarray, float]]:
        """Yield all multisets of n tuples in the cells of a group, with their multinomial log probabilities."""
        grid = np.array(list(itertools.product(*(np.flatnonzero(covered[g]) for covered in self.cells.covered))))
        log_p = np.sum([np.log(prior[g, grid[:, a]]) for a, prior in enumerate(self.cells.prior)], axis=0)
        for chosen in itertools.combinations_with_replacement(range(len(grid)), n):
            which = np.array(chosen)
            repeats = np.unique(which, return_counts=True)[1]
            log_ways = math.lgamma(n + 1) - float(gammaln(repeats + 1).sum())
            yield grid[which], log_ways + float(log_p[which].sum())

    def ask(self, state: np.ndarray) -> tuple[float, float]:
        """Return log P(release | table), and the number of records by which the table's release differs."""
        release = self.cells.release
        table = pd.DataFrame({name: self.cells.values[a].take(state[:, a]) for a, name in enumerate(release.qi)})
        values = release.sensitive_values.take(self.cells.classes[1][self._class]).to_frame(index=False)
        off = difference(release, self.algorithm, pd.concat([table, values], axis=1), {})
        return (0.0 if off == 0 else -math.inf), off

    def first(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a table from the prior."""
        return np.array([self._draw(g, rng) for g in self.cells.classes[0][self._class]])

    def propose(self, state: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Redraw a random record, and another one with probability 1/2, and so on.

        Records are drawn from the prior, so its ratio cancels in the Metropolis rule.
        """
        other = state.copy()
        for _ in range(rng.geometric(0.5)):
            i = rng.integers(len(state))
            other[i] = self._draw(self.cells.classes[0][self._class[i]], rng)
        return other

    def _draw(self, g: int, rng: np.random.Generator) -> list[int]:
        return [int(rng.choice(prior.shape[1], p=prior[g])) for prior in self.cells.prior]

    def counts(self, state: np.ndarray) -> np.ndarray:
        """Count the records of each class with each value of the inferred attribute, shape (classes, values)."""
        return _counted(self._class, state[:, self.a], self.baseline.shape)


# The posterior over tables: the algorithm is called on all tables, or on a sample.


def posterior_of_tables(
    space: Assignments | ExactValues, limit: int, n: int, search: int, seed: int
) -> tuple[np.ndarray, np.ndarray | None, int | None]:
    """Return P(value | row); its standard errors if tables are sampled; and otherwise the number of possible tables."""
    if space.n_tables <= limit:
        p, n_left = enumerate_tables(space)
        return p, None, n_left
    return *sample_tables(space, n, search, np.random.default_rng(seed)), None


def enumerate_tables(space: Assignments | ExactValues) -> tuple[np.ndarray, int]:
    """Return the exact P(value | row), and the number of tables from which the algorithm makes the release."""
    log_weight = np.array([space.ask(state)[0] + log_p for state, log_p in space.tables()])
    if np.isinf(largest := log_weight.max()):
        raise Infeasible(
            "the algorithm does not make this release from any possible table; check that its parameters and its "
            "seed, the domain, and the order of the people are those of the publisher"
        )
    weight = np.exp(log_weight - largest)
    # A second pass, because the counts of thousands of tables may not fit into memory.
    total = sum(w * space.counts(state) for w, (state, _) in zip(weight, space.tables(), strict=True) if w > 0)
    return np.asarray(total / weight.sum() / space.size[:, None]), int(np.isfinite(log_weight).sum())


#: Number of chains, with different first tables, and of batches per chain, whose means give the standard errors.
CHAINS, BATCHES = 4, 10
#: Share of a chain that is discarded at its beginning.
BURN_IN = 0.2
#: Largest number of calls of the algorithm per record in the search for a first table.
PATIENCE = 50
#: Records: in the search, a table that is worse by this number is accepted with probability 1/e.
TEMPERATURE = 0.5


def sample_tables(
    space: Assignments | ExactValues, n: int, search: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate P(value | row) by n steps of the Metropolis algorithm; also return standard errors."""
    chains = [_chain(space, n // CHAINS, search, rng) for _ in range(CHAINS)]
    means = np.stack([batches for batches, _ in chains])  # (chains, batches, rows, values)
    # Batches understate the error if a chain mixes slowly, chains if all started alike: use the larger estimate. If all
    # sampled tables agree on an uncertain value, the error is not 0, but of the order of one move.
    of_batches = means.reshape(-1, *means.shape[2:]).std(axis=0, ddof=1) / np.sqrt(len(means) * means.shape[1])
    of_chains = means.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(CHAINS)
    baseline = space.baseline
    least = np.where((baseline > 0) & (baseline < 1), 1 / sum(moves for _, moves in chains), 0.0)
    return means.mean(axis=(0, 1)), np.maximum.reduce([of_batches, of_chains, least])


def _chain(space: Assignments | ExactValues, n: int, search: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Run one chain; return estimates of P(value | row), one per batch, and the number of moves."""
    state, log_weight = _search(space, search, rng)
    burn_in, moves = int(n * BURN_IN), 0
    steps = np.array([len(batch) for batch in np.array_split(np.arange(burn_in, n), BATCHES)])
    batch_of_step, totals = np.repeat(np.arange(BATCHES), steps), np.zeros((BATCHES, *space.baseline.shape))
    for step in range(n):  # sequential by nature
        other = space.propose(state, rng)
        if not np.array_equal(other, state):
            proposed = space.ask(other)[0]
            if np.log(rng.random()) + log_weight < proposed:
                moves += 1
                state, log_weight = other, proposed
        if step >= burn_in:
            totals[batch_of_step[step - burn_in]] += space.counts(state)
    if not moves:
        raise Inaccurate(f"in {n} attempts no other table was found that gives the release, so sampling fails")
    return totals / steps[:, None, None] / space.size[:, None], moves


def _search(space: Assignments | ExactValues, search: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Find a table from which the algorithm makes the release, by annealing the difference of the releases."""
    state = space.first(rng)
    log_weight, off = space.ask(state)
    for _ in range(search):
        if log_weight > -np.inf:
            return state, log_weight
        other = space.propose(state, rng)
        proposed, distance = space.ask(other)
        if distance <= off or rng.random() < np.exp((off - distance) / TEMPERATURE):
            state, log_weight, off = other, proposed, distance
    raise Inaccurate(
        f"no table was found in {search} attempts from which the algorithm makes this release; its parameters may "
        "be different, or such tables are too rare to be sampled. Increase n to search longer"
    )


# Algorithms that do not distinguish the people of a bucket, and thus reveal nothing about the assignment of its values.
#
# Let T' be a table T with the values of two records of the same bucket exchanged. If for the algorithm this is only a
# different order of records, and the order is unknown, or random by an unknown seed, or irrelevant, then
# P(R | T') = P(R | T) for every P(T): assignments are as likely as without the algorithm.


def check_mondrian(people: People, release: Release, arguments: Mapping[str, Any]) -> None:
    """Check that Mondrian makes the release; it uses QI alone, so any assignment shows this."""
    without_id = partial(mondrian, **{name: value for name, value in arguments.items() if name != "id"})
    if difference(release, without_id, people.assigned(people.value), {}):
        raise _not_made()


def check_one_signature(people: People, prior: QIDistribution) -> None:
    """Check that every bucket has one signature of the prior of similar linkage; otherwise there is no symmetry."""
    view = people.view
    if not isinstance(view, Release):
        raise StatementError("the release must show the bucket of each person, as the results of this algorithm do")
    rows = [prior.rows(view.quasi_identifiers, key) for key in prior.attribute_sets]
    signature = np.unique(np.column_stack(rows), axis=0, return_inverse=True)[1].reshape(-1)
    q, b = view.n_qb.nonzero()
    several = np.bincount(np.unique(np.stack([b, signature[q]]), axis=1)[0]) > 1
    if several.any():
        raise GroupTooLarge(
            f"{pluralize(int(several.sum()), 'bucket')} of {len(several)} contain people whom the prior distinguishes, "
            "and the information in their grouping cannot be computed exactly; for few people, pass seeds"
        )


def check_anatomy(people: People, release: Release, arguments: Mapping[str, Any]) -> None:
    """Check that Anatomy makes buckets of these sizes and values, for its arguments."""
    n, n_buckets = release.n_records, len(release.buckets)
    l, safety = check_int(arguments.get("l"), "l of the algorithm", 1), Safety.read(arguments.get("safe"))
    n_exempt = check_int(arguments.get("exempt", 0), "exempt of the algorithm", 0)
    is_exempt = exempt_values(release.n_sb.sum(axis=1), n_exempt)
    least = int(release.n_sb.sum(axis=0).min())
    # floor(n / size) buckets of at least that size; with safe=, any size from l on is possible.
    sizes = range(l, least + 1 if safety else min(l, least) + 1)
    possible = any(n // size == n_buckets for size in sizes) and not _repeats(release, ~is_exempt)
    if not possible or (safety and safety.disclosure(Frequencies.of(release.n_sb.tocsc(), ~is_exempt)) >= safety.c):
        raise _not_made()


def check_similar_linkage(people: People, release: Release, arguments: Mapping[str, Any]) -> None:
    """Check that buckets have one signature and, without exempt values, at least r values, all different."""
    check_one_signature(people, check_instance(arguments.get("prior"), QIDistribution, "prior of the algorithm"))
    r = check_float(arguments.get("r"), "r of the algorithm", 1.0, np.inf)
    if not check_int(arguments.get("exempt", 0), "exempt of the algorithm", 0) and (
        _repeats(release, np.ones(release.n_sb.shape[0], dtype=bool)) or release.n_sb.sum(axis=0).min() < r
    ):
        raise _not_made()


def _repeats(release: Release, protected: np.ndarray) -> bool:
    """Return whether a protected value occurs twice in a bucket."""
    s, _ = release.n_sb.nonzero()
    return bool((release.n_sb.data[protected[s]] > 1).any())


def _not_made() -> Infeasible:
    return Infeasible(
        "the algorithm does not make this release from any table, because its buckets are different; check that its "
        "parameters are those of the publisher"
    )


# Inference of sensitive values.


@dataclass(frozen=True, eq=False, repr=False)
class MinimalityResult(AttackResult):
    """P(s | q, release, algorithm), and P(s | q, release) without the algorithm.

    Attributes
    ----------
    table, baseline, records, error
        See :class:`maxent_cvx.attacks.AttackResult`; rows are QI tuples.
    worlds : DataFrame
        For each bucket: `part`, the same number for buckets about which the algorithm gives joint information; the
        number of assignments of values to people in the part (`log10_all`), and the number of these from which the
        algorithm makes the release (`log10_left`, NaN if they were sampled), both as decimal logarithms.

    Examples
    --------
    The algorithm does not allow halves with one value each. Two of six tables have such halves:

    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 30, 40, 50], "HIV": ["yes", "yes", "no", "no"]})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="HIV", k=2, l=2)
    >>> result = mx.attacks.minimality(algorithm(people), algorithm, population=people)
    >>> result
    <minimality of 4 records: the likeliest value has a probability of 0.50 on average, 0.50 without the attack>
    >>> print((10 ** result.worlds[["log10_all", "log10_left"]]).round().to_string(index=False))
     log10_all  log10_left
           6.0         2.0
    """

    worlds: pd.DataFrame

    title: ClassVar[str | None] = "minimality"


#: Arguments for which the symmetry of an algorithm is used, and the check that it may have made the release. With any
#: other argument the algorithm is called.
SYMMETRIC: dict[Algorithm, tuple[set[str], Callable[[People, Release, Mapping[str, Any]], None]]] = {
    anatomy: ({"qi", "sa", "l", "exempt", "safe"}, check_anatomy),
    mondrian: ({"qi", "sa", "k", "id"}, check_mondrian),
    similar_linkage: ({"qi", "sa", "prior", "r", "condition", "exempt", "suppress"}, check_similar_linkage),
}
#: Least number of sampled tables: with fewer, the batches are too short.
FEWEST = 2_000


def minimality(
    release: Release,
    algorithm: Callable[..., Any],
    *,
    population: pd.DataFrame | None = None,
    seeds: Iterable[int] | None = None,
    prior: QIDistribution | None = None,
    limit: int = 5_000,
    n: int = 4_000,
    seed: int = 0,
    progress: bool | None = None,
) -> MinimalityResult:
    """Infer from a release and the algorithm that made it: P(table | release) ~ P(table) P(algorithm(table) = release).

    The adversary knows the release, the exact QI of all people in it, and the algorithm with its parameters. P(table)
    is uniform over the assignments of each bucket's values to its people, or, with a prior, proportional to the product
    of P(s | q) over the records. For example, if a group was not cut further, a cut would have left too few values in
    one half (the minimality attack).

    Parameters
    ----------
    release : Release
        The release as published.
    algorithm : function
        A deterministic function from a table, with the columns of QI and sensitive values, to a Release. If it raises
        TableError for a table, it publishes nothing. A ``functools.partial`` of :func:`maxent_cvx.anonymize.anatomy`, of
        :func:`~maxent_cvx.anonymize.mondrian` without `l` and `safe`, or of
        :func:`~maxent_cvx.anonymize.similar_linkage` is recognised; see the notes.
    population : DataFrame, optional
        The QI of all people in the release, one row per person; required if the release has generalised QI, which must
        have one sensitive attribute. The algorithm is called with rows in this order; by default people are sorted.
    seeds : list of int, optional
        Possible seeds of the publisher, equally likely. The algorithm is called with each of them as ``seed``.
    prior : QIDistribution, optional
        P(s | signature) for one attribute set, the adversary's beliefs before the release. The baseline then follows
        from the prior and the release alone, as in :func:`maxent_cvx.worlds.linkage`.
    limit : int
        If there are at most `limit` tables, the algorithm is called on each, and the answer is exact; otherwise tables
        are sampled. Ignored for recognised algorithms.
    n : int
        Number of sampled tables, at least 2,000. Each of the four chains first searches for a table from which the
        algorithm makes the release, with up to n more calls.
    seed : int
        Random seed of the sampling.
    progress : bool, optional
        Show the number of calls as a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    MinimalityResult
        P(s | QI tuple); its `error` is 0.0 if the answer is exact, else a table of standard errors.

    Raises
    ------
    Infeasible
        If the algorithm does not make the release from any table.
    Inaccurate
        If sampling does not find a table from which the algorithm makes the release.
    GroupTooLarge
        If similar linkage has grouped people whom its prior distinguishes, or a bucket is too large for the baseline
        with a prior.
    TableError
        If the population does not match the release.
    StatementError
        If an argument has the wrong type or is out of range, or there is a prior and the groups overlap.
    UnknownName
        If the population lacks a column, or the prior a signature or a value.

    Notes
    -----
    Anatomy does not use QI, so exchanging the values of two records of a bucket does not change any probability if the
    order of the records or the seed is secret: the posterior equals the baseline. Without a seed in the partial, the
    seed is assumed to be secret (although the default is 0); put a known seed into the partial. The same holds for
    similar linkage in buckets of one signature. For both, the sizes and values of the buckets are checked against the
    arguments. Mondrian without `l` and `safe` uses QI alone, and the posterior equals the baseline, too.

    Any other algorithm is called. Proposals of the chains shuffle a block or swap values; if the tables that give the
    release have little in common, a chain may not reach all of them, and the standard errors are too small. Tables of
    some hundred people are feasible.

    References
    ----------
    Wong, R. C.-W., Fu, A. W.-C., Wang, K. and Pei, J. (2007). Minimality attack in privacy preserving data publishing.
    VLDB, 543-554.

    Examples
    --------
    Eight people are published as one group, and two of them have HIV. A cut between the ages, into two and six people,
    was not allowed, so both people with HIV are on one side: in 1 table among the two people, in 15 among the six:

    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [21, 21, 35, 35, 35, 35, 35, 35], "HIV": ["no"] * 6 + ["yes"] * 2})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="HIV", k=2, l=2)
    >>> release = algorithm(people)
    >>> release.buckets.to_list()
    ['Age=[21, 35]']
    >>> result = mx.attacks.minimality(release, algorithm, population=people)
    >>> print(result.table.assign(without=result.baseline["yes"]).round(3))
    HIV     no    yes  without
    Age
    21   0.938  0.062     0.25
    35   0.688  0.312     0.25
    """
    check_instance(release, Release, "release")
    check_callable(algorithm, "algorithm")
    check_optional_bool(progress, "progress")
    limit, n, seed = check_int(limit, "limit", 1), check_int(n, "n", FEWEST), check_seed(seed)
    if population is not None:
        check_dataframe(population, "population")
        check_columns(population, {"quasi-identifiers of the release": release.qi}, "the population")
    known = None
    if seeds is not None:
        known = [check_int(number, "seeds", 0, math.inf) for number in check_list(seeds, "seeds", "numbers")]
        if not known:
            raise StatementError("seeds must be a list of at least one number")
    if prior is not None:
        check_instance(prior, QIDistribution, "prior")
    people = People.of(release, population, prior)
    arguments = _symmetric_arguments(release, algorithm, known)
    error, part = None, np.zeros(len(people.view.buckets), dtype=int)
    if arguments is None:
        with progress_bar(None, "minimality", progress, unit=" tables") as bar:
            space = Assignments(people, release, algorithm, known, bar.update, people.view.n_q, people.baseline)
            p, error, n_left = posterior_of_tables(space, limit, n, min(PATIENCE * len(people), n), seed)
            logs: Any = math.log(space.n_tables), math.nan if n_left is None else math.log(n_left)
    else:
        SYMMETRIC[algorithm.func][1](people, release, arguments)  # type: ignore[attr-defined]
        p, part, logs = people.baseline, np.arange(len(release.buckets)), [_log_orders(release)] * 2
    index, columns = plain_index(people.view.quasi_identifiers), people.view.sensitive_values
    worlds = {"part": part, "log10_all": logs[0] / np.log(10), "log10_left": logs[1] / np.log(10)}
    return MinimalityResult(
        table=pd.DataFrame(p, index, columns),
        baseline=pd.DataFrame(people.baseline, index, columns),
        records=pd.Series(people.view.n_q, index, name="records"),
        error=0.0 if error is None else pd.DataFrame(error, index, columns),
        worlds=pd.DataFrame(worlds, people.view.buckets),
    )


def _symmetric_arguments(release: Release, algorithm: Algorithm, seeds: list[int] | None) -> dict[str, Any] | None:
    """Return the arguments of an algorithm that does not distinguish people of a bucket; None for other algorithms."""
    if type(algorithm) is not partial or algorithm.func not in SYMMETRIC:
        return None
    if algorithm.func is mondrian and seeds is not None:
        raise StatementError("seeds must be omitted for Mondrian, which is not random")
    for role, columns in (("qi", release.qi), ("sa", release.sensitive)):
        if role in algorithm.keywords and names(algorithm.keywords[role], role) != columns:
            raise StatementError(
                f"the algorithm has {role}={short_repr(algorithm.keywords[role])}, but the release has "
                f"{', '.join(columns)}"
            )
    # Arguments that impose no condition: safe=None, and l=1, which every group satisfies.
    void = {"safe": (None,), "l": (None, 1)} if algorithm.func is mondrian else {"safe": (None,)}
    arguments = {name: value for name, value in algorithm.keywords.items() if value not in void.get(name, ())}
    if algorithm.args or seeds is not None or not arguments.keys() <= SYMMETRIC[algorithm.func][0]:
        return None
    return arguments


def _log_orders(release: Release) -> np.ndarray:
    """Return log of the number of assignments of each bucket: n! / (the product of its counts' factorials)."""
    n_sb = release.n_sb
    repeats = with_data(n_sb, gammaln(n_sb.data + 1))
    return np.asarray(gammaln(n_sb.sum(axis=0) + 1) - repeats.sum(axis=0))


# Inference of exact quasi-identifiers of generalised records.


@dataclass(frozen=True)
class Minimal:
    """An arbitrary algorithm that generalises along hierarchies as little as possible with k records per group.

    A release is minimal if no group can be refined: it is impossible to generalise all or some of its records less, by
    one level of one attribute, such that these records form a group of at least k, and so do the remaining records, if
    there are any. That is, every child of the group's node has fewer than k records or, if the group has fewer than 2 k
    records, not all of its records. If groups do not overlap, minimality reveals nothing else.

    Attributes
    ----------
    k : int
        The least number of records per group.

    Raises
    ------
    StatementError
        If `k` is not an integer of at least 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.attacks.Minimal(5)
    Minimal(k=5)
    """

    k: int

    def __post_init__(self) -> None:
        check_int(self.k, "k", 1)


def minimal_posterior(cells: Cells, a: int, k: int, nodes: Hierarchies) -> np.ndarray:
    """Compute the exact P(exact value | group) if the release is minimal for k, shape (groups, values)."""
    if (cells.size < k).any():
        raise Infeasible(f"a group has fewer than k={k} records; check the k of the release")
    posterior = cells.prior[a].copy()
    for i, name in enumerate(cells.release.qi):  # all attributes: an impossible one makes the release impossible
        if name not in nodes:
            raise StatementError(
                f"minimality requires a hierarchy of every attribute; pass hierarchies={{{name!r}: ...}}"
            )
        tree, prior = _tree(cells, i, nodes), cells.prior[i]
        for group, n in enumerate(cells.size.tolist()):
            children = _children(cells.covered[i][group], tree, name)
            if not len(children):
                continue
            p = children @ prior[group]
            mean = _capped_means(n, p, n - 1 if n < 2 * k else k - 1)
            if mean is None:
                raise Infeasible(f"the release is not minimal for k={k}: a group of {n} records can be refined")
            if i == a:  # inside a child, values keep their proportions
                posterior[group] = (mean / n / p) @ (children * prior[group])
    return posterior


def _tree(cells: Cells, a: int, nodes: Hierarchies) -> np.ndarray:
    """Return masks of the values of each node of an attribute, shape (nodes, values), including single values."""
    name, values = cells.release.qi[a], cells.values[a]
    masks = coverage(list(nodes[name]), values, name, nodes[name])
    masks = np.unique(np.concatenate([masks, np.eye(len(values), dtype=bool)]), axis=0)
    both = masks.astype(int) @ masks.T.astype(int)
    size = masks.sum(axis=1)
    if (apart := (both > 0) & (both < np.minimum(size[:, None], size))).any():
        first, second = (list(values[masks[i]]) for i in np.argwhere(apart)[0])
        raise TableError(
            f"the hierarchy of {name!r} must be a tree, but its nodes {short_repr(first)} and {short_repr(second)} overlap"
        )
    return masks


def _children(covered: np.ndarray, tree: np.ndarray, name: str) -> np.ndarray:
    """Return the nodes one level below a cell, shape (children, values)."""
    if not (tree == covered).all(axis=1).any():
        raise TableError(f"a cell of {name!r} is not a node of its hierarchy; pass the hierarchy of the release")
    below = tree[(tree <= covered).all(axis=1) & (tree < covered).any(axis=1)]
    inside = (below[:, None] <= below).all(axis=2) & ~np.eye(len(below), dtype=bool)
    return np.asarray(below[~inside.any(axis=1)])


def _capped_means(n: int, p: np.ndarray, cap: int) -> np.ndarray | None:
    """Return the expected counts of n multinomial records, given that no count exceeds a cap; None if one must.

    A multinomial distribution is the distribution of independent Poisson counts with means n p, given their sum.
    """
    count = np.arange(cap + 1)
    log_pmf = xlogy(count, n * p[:, None]) - gammaln(count + 1)
    pmf = np.exp(log_pmf - log_pmf.max(axis=1, keepdims=True))  # scaled: the factors cancel
    # The distribution of the sum of all counts but one is the convolution of those before it and those after it.
    before, after = [np.ones(1)], [np.ones(1)]
    for row in pmf:
        before.append(np.convolve(before[-1], row)[: n + 1])
    for row in pmf[::-1]:
        after.append(np.convolve(after[-1], row)[: n + 1])
    if len(before[-1]) <= n or not before[-1][n]:
        return None
    others = [np.convolve(*pair) for pair in zip(before[:-1], after[-2::-1], strict=True)]
    sums = [float(np.convolve(count * row, distribution)[n]) for row, distribution in zip(pmf, others, strict=True)]
    return np.array(sums) / before[-1][n]


@dataclass(frozen=True, eq=False, repr=False)
class DowncodingResult(AttackResult):
    """P(exact value of an attribute | generalised record, algorithm), and the same without the algorithm.

    Attributes
    ----------
    table, baseline, records, error
        See :class:`maxent_cvx.attacks.AttackResult`. Rows are groups, with the sensitive value; the baseline is the
        prior distribution, restricted to the cell.
    cells : dict of str to DataFrame
        For each attribute, a mask of the exact values (columns) in the cell of each group (rows).

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 22], "Disease": ["Flu", "HIV"]})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="Disease", k=2)
    >>> result = mx.attacks.downcoding(algorithm(people), algorithm)
    >>> result                                            # both ends of an interval occur
    <downcoding of 2 records: the likeliest value has a probability of 0.50 on average, 0.33 without the attack>
    >>> print(result.judge(people))
    right for 50.0% of 2 records; without the attack 33.3% (difference 0.17, standard error 0)
    """

    cells: Mapping[str, pd.DataFrame]

    title: ClassVar[str | None] = "downcoding"

    def _truth(self, original: pd.DataFrame) -> np.ndarray:
        """Count the records of each group and sensitive value with each exact value."""
        group, *sensitive = map(str, self.table.index.names)
        qi = list(self.cells)
        check_columns(original, {"exact quasi-identifiers": qi, "sensitive values": sensitive}, "the original records")
        if group not in original.columns:
            original = original.assign(**{group: self._groups(original[qi]).to_numpy()})
        return super()._truth(original)

    def _groups(self, exact: pd.DataFrame) -> pd.Series:
        """Return the group whose cells contain each record."""
        code, distinct = sort_distinct(exact)
        groups = next(iter(self.cells.values())).index
        inside = np.ones((len(distinct), len(groups)), dtype=bool)
        for name, cells in self.cells.items():
            at = cells.columns.get_indexer(distinct.get_level_values(name))
            inside &= (cells.to_numpy()[:, at] & (at >= 0)).T
        if off := int((inside.sum(axis=1)[code] != 1).sum()):
            raise TableError(
                f"{pluralize(off, 'original record')} of {len(exact)} are in no group or in several; pass the table that "
                f"was published, with the groups as a column {groups.name!r} if they overlap"
            )
        return pd.Series(groups[inside.argmax(axis=1)][code])


def downcoding(
    release: Release,
    algorithm: Callable[..., Any] | Minimal,
    *,
    of: str | None = None,
    domain: Mapping[str, object] | None = None,
    hierarchies: Mapping[str, object] | None = None,
    limit: int = 5_000,
    n: int = 20_000,
    seed: int = 0,
) -> DowncodingResult:
    """Infer exact quasi-identifiers from generalised ones, P(exact value | generalised record, algorithm).

    The adversary knows the release and the algorithm, but no exact QI. A priori the exact values of records are
    independent draws from distributions over the domains of the attributes; the posterior over the tables is

        P(table | release) ~ P(table) P(algorithm(table) = release).

    Cells that an algorithm makes as small as possible reveal more than sets of possible values (downcoding).

    Parameters
    ----------
    release : Release
        A release with generalised QI, without a population.
    algorithm : function, or Minimal
        A deterministic function from a table, with the columns of exact QI and sensitive values, to a Release. It is
        called with the records in the order of their groups. With :class:`Minimal`, the adversary knows only that the
        release is minimal in its hierarchies.
    of : str, optional
        The attribute to infer; required if there are several.
    domain : dict, optional
        ``{attribute: [values]}``, the possible exact values, equally probable a priori; or a Series with the probability
        of each. By default the values of the hierarchy, or all integers between the ends of intervals, or the values in
        sets.
    hierarchies : dict, optional
        The values of nodes, as in :meth:`maxent_cvx.Release.from_generalized`.
    limit : int
        If there are at most `limit` tables, the algorithm is called on each, and the answer is exact; otherwise tables
        are sampled.
    n : int
        Number of sampled tables, at least 2,000.
    seed : int
        Random seed of the sampling.

    Returns
    -------
    DowncodingResult
        P(exact value | group, sensitive value); its `error` is 0.0 if the answer is exact, else a table of standard
        errors.

    Raises
    ------
    Infeasible
        If the algorithm does not make the release from any table.
    Inaccurate
        If sampling does not find a table from which the algorithm makes the release.
    StatementError
        If the release is not generalised, an argument is out of range, or the domain of an attribute is unknown.
    TableError
        If a cell contains none of the values, or is not a node of a tree of values although this is required.
    UnknownName
        If the attribute does not exist.

    Notes
    -----
    Tables are sampled by chains that redraw some records; if the tables that give the release have little in common, a
    chain may not reach all of them, and the standard errors are too small.

    With :class:`Minimal`, minimality is a condition on each group alone if groups do not overlap, and the answer is
    exact. Children of a node that are equally probable a priori remain so; only several records are then informative
    jointly.

    References
    ----------
    Cohen, A. (2022). Attacks on deidentification's defenses. USENIX Security Symposium, section 4.

    Examples
    --------
    A group of four people between 20 and 29 was not cut into two and two, so the second and the third have the same
    age, and the first and the fourth have the extreme ages. Three ages are equally probable a priori:

    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 20, 20, 29], "HIV": ["yes", "no", "no", "no"]})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="HIV", k=2)
    >>> release = algorithm(people)
    >>> release.buckets.to_list()
    ['Age=[20, 29]']
    >>> result = mx.attacks.downcoding(release, algorithm, domain={"Age": [20, 24, 29]})
    >>> print(result.table.assign(without=result.baseline[20]).round(2))
    Age              20   24    29  without
    Group        HIV
    Age=[20, 29] no   0.35  0.3  0.35     0.33
                 yes  0.35  0.3  0.35     0.33
    """
    check_instance(release, Release, "release")
    if not isinstance(algorithm, Minimal):
        check_callable(algorithm, "algorithm")
    limit, n, seed = check_int(limit, "limit", 1), check_int(n, "n", FEWEST), check_seed(seed)
    nodes = read_hierarchies(hierarchies)
    for name in nodes:
        check_label(name, "quasi-identifier (given in hierarchies)", release.qi)
    if of is None and len(release.qi) > 1:
        raise StatementError(
            f"the release has several attributes; pass the one to infer (of), {join_names(release.qi)}"
        )
    if of is not None:
        check_label(of, "quasi-identifier (given in of)", release.qi)
    cells = Cells.of(release, domain, nodes)
    a = 0 if of is None else release.qi.index(of)
    group, s, count = cells.classes
    baseline, error = cells.prior[a][group], None
    if isinstance(algorithm, Minimal):
        p = minimal_posterior(cells, a, algorithm.k, nodes)[group]
    else:
        space = ExactValues(cells, algorithm, a, count, baseline)
        p, error, _ = posterior_of_tables(space, limit, n, PATIENCE * release.n_records, seed)
    values = release.sensitive_values.take(s).to_frame(index=False)
    rows = pd.concat([release.buckets.take(group).to_frame(index=False), values], axis=1)
    index, columns = pd.MultiIndex.from_frame(rows), cells.values[a]
    return DowncodingResult(
        table=pd.DataFrame(p, index, columns),
        baseline=pd.DataFrame(baseline, index, columns),
        records=pd.Series(count, index, name="records"),
        error=0.0 if error is None else pd.DataFrame(error, index, columns),
        cells={
            name: pd.DataFrame(covered, release.buckets, exact)
            for name, covered, exact in zip(release.qi, cells.covered, cells.values, strict=True)
        },
    )
