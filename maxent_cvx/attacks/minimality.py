"""Attacks by an adversary who knows the algorithm: the posterior over the tables from which it makes a release."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from pandas.api.extensions import ExtensionArray
from scipy.sparse.csgraph import connected_components
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
    unknown_name,
)
from .._utils.progress import progress_bar
from .._utils.tables import check_columns, factorize, group_codes, names, sort_distinct
from .._utils.validation import (
    check_callable,
    check_dataframe,
    check_float,
    check_instance,
    check_int,
    check_list,
    check_mapping,
    check_optional_bool,
)
from ..anonymize.anatomy import anatomy, exempt_values
from ..anonymize.mondrian import Scales, generalized, is_number, mondrian
from ..anonymize.similar_linkage import similar_linkage
from ..model.maxent import MaxEnt
from ..priors import QIDistribution
from ..releases.generalized import SUPPRESSED, GroupedRelease, Hierarchies, coverage, parse, read_hierarchies
from ..releases.release import Release
from ..worlds.groups import Groups, linked
from ..worlds.worst_case import Frequencies, Safety
from .result import AttackResult

__all__ = [
    "Cells",
    "Column",
    "DowncodingResult",
    "McmcSampler",
    "Minimal",
    "MinimalityResult",
    "downcoding",
    "minimality",
]

# What a release says without its algorithm, if tables are not equally probable beforehand.


def prior_weights(release: Release, prior: QIDistribution) -> np.ndarray:
    """P(s | q, release) where P(table) is in proportion to the product of P(s | q) over its records; exact.

    Returns
    -------
    ndarray, shape (tuples, values)

    Raises
    ------
    Infeasible
        If the prior rules out every way to deal the values of a bucket.
    GroupTooLarge
        If a bucket has too many.
    """
    key = prior.attribute_set(None)
    groups = Groups.of(release, prior, key)
    share = linked(groups)
    bucket, u, v = groups.pairs
    n_signatures, n_s = len(prior.tables[key]), len(release.sensitive_values)
    where = bucket * n_signatures + groups.tuples.indices[u], groups.values.indices[v]
    of_signature = sp.csr_array((share, where), shape=(len(release.buckets) * n_signatures, n_s))
    q, b = release.n_qb.nonzero()
    row = b * n_signatures + prior.rows(release.quasi_identifiers, key)[q]
    weight = sp.csr_array(
        (release.n_qb.data / release.n_q[q], (q, row)), shape=(len(release.n_q), of_signature.shape[0])
    )
    return np.asarray((weight @ of_signature).toarray())


# By how many records what an algorithm makes of a table differs from what was published.


def difference(release: Release, algorithm: Callable[..., Any], table: pd.DataFrame, given: Mapping[str, int]) -> float:
    """Half of the sum of absolute differences of counts; twice the records if nothing like it is published.

    Parameters
    ----------
    release : Release
        What was published.
    algorithm : function
        From a table to a Release.
    table : DataFrame
    given : dict
        Further arguments of the algorithm.
    """
    try:
        found = algorithm(table, **given)
    except TableError:  # of such a table it publishes nothing
        return float(2 * len(table))
    check_instance(found, Release, "what the algorithm returns")
    if found.qi != release.qi or found.sensitive != release.sensitive:
        return float(2 * len(table))
    return float(sum(_apart(found.published[key], counts) for key, counts in release.published.items()))


def _apart(one: pd.Series, other: pd.Series) -> float:
    """Half of the sum of absolute differences of counts."""
    counts: dict[Hashable, int] = one.to_dict()
    others: dict[Hashable, int] = other.to_dict()
    return sum(abs(counts.get(key, 0) - others.get(key, 0)) for key in counts.keys() | others.keys()) / 2


# Who was published, and among whom the values of each bucket are assigned.


@dataclass(frozen=True, eq=False)
class People:
    """The people of a release, and what it says of them without its algorithm.

    Attributes
    ----------
    view : Release or GroupedRelease
        The release, of exact QI.
    table : DataFrame
        The QI of each person, in the order in which the algorithm is given them.
    tuple_of : ndarray of int
        The QI tuple of each, by its position in the view.
    block : ndarray of int
        Buckets that may hold the same person are one block; nobody's value is from another block.
    value : ndarray of int
        Values of everybody's block, one each: any order of them within blocks is an assignment.
    prior : QIDistribution or None
        Assignments are probable in proportion to the product of its P(s | q); without one equally.
    """

    view: Release | GroupedRelease
    table: pd.DataFrame
    tuple_of: np.ndarray
    block: np.ndarray
    value: np.ndarray
    prior: QIDistribution | None = None

    @classmethod
    def of(cls, release: Release, population: pd.DataFrame | None, prior: QIDistribution | None = None) -> Self:
        """Read a release, and the exact QI of its people where the release has them generalised, or in another order.

        Raises
        ------
        StatementError
            If the release is generalised, and there is no population; or it has counterfeits; or there is a prior, and
            groups overlap.
        TableError
            If the population is not the people of the release.
        """
        if release.with_counterfeits.any():
            raise StatementError("the release has counterfeit records, so that its values are not those of its people")
        view: Release | GroupedRelease = release
        qi = list(release.qi)
        if release.generalized:
            if population is None:
                raise StatementError("the release has generalised QI: pass population=, the exact QI of its people")
            view = Release.from_generalized(_records(release), qi=qi, sa=release.sensitive, population=population[qi])
        tuples = view.quasi_identifiers
        if population is None:
            tuple_of = np.repeat(np.arange(len(tuples)), view.n_q)
            table = tuples[tuple_of].to_frame(index=False)
        else:
            table = population[qi].reset_index(drop=True)
            code, found = sort_distinct(table)
            tuple_of = tuples.get_indexer(found)[code]
        off = len(tuple_of) != release.n_records or (tuple_of < 0).any()
        if off or (np.bincount(tuple_of, minlength=len(tuples)) != view.n_q).any():
            raise TableError(
                f"the population has {len(tuple_of)} people, and is not the {release.n_records} people of the release; "
                "pass the QI of everybody who was published, a row each"
            )
        if prior is not None and not isinstance(view, Release):
            raise StatementError("groups overlap, so that it is not known who is in which: leave out prior=")
        block, value = _blocks(view)
        order = np.argsort(block[tuple_of], kind="stable")
        assigned = np.empty(len(order), dtype=np.int64)
        assigned[order] = value
        return cls(view, table, tuple_of, block[tuple_of], assigned, prior)

    def __len__(self) -> int:
        return len(self.block)

    def assigned(self, value: np.ndarray) -> pd.DataFrame:
        """The table in which everybody has a value, given by its number."""
        values = self.view.sensitive_values.take(value)
        return pd.concat([self.table, values.to_frame(index=False)], axis=1)

    def by_tuple(self, p: np.ndarray) -> np.ndarray:
        """Average over the people of each QI tuple what is given of each person, shape (people, values)."""
        n = len(self.view.quasi_identifiers)
        of = sp.csr_array((np.ones(len(self)), (self.tuple_of, np.arange(len(self)))), shape=(n, len(self)))
        return np.asarray(of @ p) / self.view.n_q[:, None]

    @cached_property
    def believed(self) -> np.ndarray | None:
        """The prior's P(s | q), shape (tuples, values), if there is one."""
        if self.prior is None:
            return None
        return self.prior.of_tuples(self.view.quasi_identifiers, self.view.sensitive_values)

    def log_prior(self, value: np.ndarray) -> float:
        """Log P(assignment) up to a constant, nats."""
        if self.believed is None:
            return 0.0
        with np.errstate(divide="ignore"):
            return float(np.log(self.believed[self.tuple_of, value]).sum())

    def baseline(self) -> np.ndarray:
        """P(s | q) without the algorithm: the shares of buckets; by maximum entropy where these are not known."""
        if self.prior is not None and isinstance(self.view, Release):
            return prior_weights(self.view, self.prior)
        if isinstance(self.view, Release):
            size = np.asarray(self.view.n_sb.sum(axis=0))
            held = self.view.n_qb @ sp.diags_array(1 / size) @ self.view.n_sb.T
            return np.asarray(held.toarray()) / self.view.n_q[:, None]
        return MaxEnt(self.view).solve().conditional().to_numpy()

    @property
    def n_assignments(self) -> int:
        """How many different assignments there are."""
        _, again = np.unique(np.stack([self.block, self.value]), axis=1, return_counts=True)
        ways = math.prod(math.factorial(int(n)) for n in np.bincount(self.block))
        return ways // math.prod(math.factorial(int(n)) for n in again)

    @property
    def index(self) -> pd.Index:
        """The QI tuples; of one attribute, its values."""
        tuples = self.view.quasi_identifiers
        return tuples if tuples.nlevels > 1 else tuples.get_level_values(0)


def _records(release: Release) -> pd.DataFrame:
    """The records of a generalised release, whose buckets have a generalised QI tuple each."""
    q, b = release.n_qb.nonzero()
    of_bucket = np.empty(len(release.buckets), dtype=np.int64)
    of_bucket[b] = q
    s, in_b = release.n_sb.nonzero()
    count = release.n_sb.data
    cells = release.quasi_identifiers[np.repeat(of_bucket[in_b], count)].to_frame(index=False)
    values = release.sensitive_values.take(np.repeat(s, count)).to_frame(index=False)
    return pd.concat([cells, values], axis=1)


def _blocks(view: Release | GroupedRelease) -> tuple[np.ndarray, np.ndarray]:
    """The block of each QI tuple, and the values of all blocks, one after the other."""
    in_bucket = view.n_qb if isinstance(view, Release) else view.cover.T
    n_q = in_bucket.shape[0]
    graph = sp.block_array([[None, in_bucket], [in_bucket.T, None]], format="csr")
    label = connected_components(graph, directed=False)[1]
    s, b = view.n_sb.nonzero()
    of_value = np.repeat(label[n_q:][b], view.n_sb.data)
    order = np.argsort(of_value, kind="stable")
    return label[:n_q], np.repeat(s, view.n_sb.data)[order]


# An algorithm that is asked: whether it makes a release of this table, and of that.


@dataclass(frozen=True, eq=False)
class BlackBox:
    """P(algorithm(table) = release), and how far from the release it is.

    Attributes
    ----------
    people : People
    release : Release
        What was published.
    algorithm : function
        Of a table; with `seeds` of a table and ``seed=``.
    seeds : list of int or None
        The seeds that the publisher may have used, equally likely.
    asked : function
        Called once for every table that is asked of.
    """

    people: People
    release: Release
    algorithm: Callable[..., Any]
    seeds: list[int] | None
    asked: Callable[[], None] = lambda: None

    def ask(self, value: np.ndarray) -> tuple[float, float]:
        """Log P(table) P(release | table) up to a constant, and the fewest records by which a release differs from it.

        Parameters
        ----------
        value : ndarray of int
            Of each person.
        """
        self.asked()
        table = self.people.assigned(value)
        options: list[dict[str, int]] = [{}] if self.seeds is None else [{"seed": seed} for seed in self.seeds]
        off = np.array([difference(self.release, self.algorithm, table, given) for given in options])
        with np.errstate(divide="ignore"):
            made = float(np.log((off == 0).mean()))
        return made + self.people.log_prior(value), float(off.min())


def enumerated(box: BlackBox) -> tuple[np.ndarray, int]:
    """Ask of every assignment.

    Returns
    -------
    p : ndarray, shape (people, values)
        P(s | person).
    n : int
        Of how many tables the algorithm makes the release.

    Raises
    ------
    Infeasible
        If of none.
    """
    values = assignments(box.people)
    log_weight = np.array([box.ask(value)[0] for value in values])
    if np.isinf(largest := log_weight.max()):
        raise Infeasible(
            "the algorithm makes this release of no table of these people; are its parameters, its seed and the order "
            "of the people those of the publisher?"
        )
    weight = np.exp(log_weight - largest)
    numbers = np.arange(len(box.people.view.sensitive_values))
    p = np.stack([weight @ (values == number) for number in numbers], axis=1) / weight.sum()
    return p, int(np.isfinite(log_weight).sum())


def assignments(people: People) -> np.ndarray:
    """All different assignments of values within blocks, shape (assignments, people)."""
    found = np.empty((1, len(people)), dtype=np.int64)
    for block in np.unique(people.block):
        members = np.flatnonzero(people.block == block)
        orders = _orders(people.value[members])
        found = np.repeat(found, len(orders), axis=0)
        found[:, members] = np.tile(orders, (len(found) // len(orders), 1))
    return found


def _orders(values: np.ndarray) -> np.ndarray:
    """All different orders of values."""
    found = np.full((1, len(values)), -1)
    for value, n in zip(*np.unique(values, return_counts=True), strict=True):
        free = np.nonzero(found < 0)[1].reshape(len(found), -1)
        chosen = np.array(list(itertools.combinations(range(free.shape[1]), int(n))))
        row = np.repeat(np.arange(len(found)), len(chosen))
        found = found[row]
        found[np.arange(len(found))[:, None], free[row[:, None], np.tile(chosen, (len(free), 1))]] = value
    return found


# What the cells of a generalised release stand for, and how probable each exact value is beforehand.


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of each attribute.

    Attributes
    ----------
    release : Release
        Of generalised QI.
    size : ndarray of int, shape (groups,)
        Records.
    values : list of Index
        Of each attribute its exact values, in order.
    weight : list of ndarray
        The probability of each beforehand, up to a factor.
    covered : list of ndarray of bool, shape (groups, values)
        What each group's cell stands for.
    """

    release: Release
    size: np.ndarray
    values: list[pd.Index]
    weight: list[np.ndarray]
    covered: list[np.ndarray]

    @classmethod
    def of(cls, release: Release, domain: Mapping[str, object] | None, nodes: Hierarchies) -> Self:
        """Read the cells of a release.

        Raises
        ------
        StatementError
            If the release is not generalised, or an attribute's values are not known.
        TableError
            If a cell stands for none of the values.
        UnknownName
            If there is no such attribute.
        """
        if not release.generalized:
            raise StatementError("the release has exact QI: there is nothing to be inferred of them")
        domain = {} if domain is None else check_mapping(domain, "domain", "{attribute: [values]}")
        for name in domain:
            if name not in release.qi:
                raise unknown_name("quasi-identifier (given in domain)", name, release.qi)
        q, b = release.n_qb.nonzero()
        row = np.empty(len(release.buckets), dtype=np.int64)
        row[b] = q
        values, weight, covered = [], [], []
        for name in release.qi:
            labels = release.quasi_identifiers.get_level_values(name)
            held, probability = _values(name, labels, domain.get(name), nodes.get(name, {}))
            distinct, code = np.unique(labels.to_numpy(dtype=object).astype(str), return_inverse=True)
            mask = coverage(list(distinct), held, name, nodes.get(name, {}))
            values.append(held.rename(name))
            weight.append(probability)
            covered.append(mask[code][row])
        return cls(release, np.asarray(release.n_qb.sum(axis=0)), values, weight, covered)

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Records that look the same: the group, the sensitive value, and how many there are."""
        s, group = self.release.n_sb.nonzero()
        order = np.lexsort((s, group))
        return group[order], s[order], self.release.n_sb.data[order]

    def prior(self, a: int) -> np.ndarray:
        """P(exact value | cell) without the attack, shape (groups, values)."""
        found = np.where(self.covered[a], self.weight[a], 0.0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def required(self, a: int) -> np.ndarray:
        """Which values of a cell some record has: the ends of an interval of numbers, and all values of a set."""
        covered = self.covered[a]
        if not is_number(self.values[a]):
            return covered.astype(int)
        found = np.zeros(covered.shape, dtype=int)
        at = np.arange(len(covered))
        found[at, covered.argmax(axis=1)] = 1
        found[at, covered.shape[1] - 1 - covered[:, ::-1].argmax(axis=1)] = 1
        return found


def _values(
    name: str, labels: pd.Index, given: object, nodes: Mapping[object, frozenset[object]]
) -> tuple[pd.Index, np.ndarray]:
    """The exact values of an attribute, in order, and their probabilities up to a factor."""
    if given is None:
        return _uniform(_default(name, labels, nodes))
    if isinstance(given, pd.Series):
        weight = pd.to_numeric(given, errors="coerce").to_numpy(dtype=float)
        if not len(weight) or not (np.isfinite(weight) & (weight > 0)).all() or not given.index.is_unique:
            raise StatementError(
                f"the domain of {name!r} is a Series of positive numbers, how probable each value is, indexed by "
                "different values; leave out what cannot be"
            )
        code, held = factorize(pd.Series(given.index))
        found = np.empty(len(held))
        found[code] = weight
        return held, found
    if isinstance(given, str) or not isinstance(given, list | tuple | range | np.ndarray | pd.Index | ExtensionArray):
        raise StatementError(f"the domain of {name!r} is a list of its values, or a Series, not {short_repr(given)}")
    return _uniform(pd.Series(given))


def _uniform(values: pd.Series) -> tuple[pd.Index, np.ndarray]:
    """Values that are equally probable."""
    held = factorize(values)[1]
    return held, np.ones(len(held))


def _default(name: str, labels: pd.Index, nodes: Mapping[object, frozenset[object]]) -> pd.Series:
    """The values of the hierarchy; else all whole numbers between the ends, or all that sets and cells name."""
    if nodes:
        return pd.Series(sorted(frozenset().union(*nodes.values()), key=str)).infer_objects()
    texts = sorted(set(map(str, labels)))
    plain = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
    parsed = parse(texts)
    if all(i in parsed.spans or not np.isnan(number) for i, number in enumerate(plain)):
        ends = [number for number in plain if not np.isnan(number)]
        ends += [end for span in parsed.spans.values() for end in (span.low, span.high)]
        if all(np.isfinite(end) and end == int(end) for end in ends):
            return pd.Series(range(int(min(ends)), int(max(ends)) + 1))
    elif SUPPRESSED not in texts and not parsed.spans:
        named = [parsed.sets.get(i, [text]) for i, text in enumerate(texts)]
        return pd.Series(sorted({value for one in named for value in one}))
    raise StatementError(
        f"which values {name!r} may have does not follow from its cells {join_names(texts)}; "
        f"say so, domain={{{name!r}: [values]}}"
    )


# An algorithm that is asked whether it makes the release of this table, and of that.


#: Chains, each from a table of its own; and batches of each, whose means tell its standard error.
#: The share of a chain that is left out in the beginning.
#: Tables that the search for a first one asks of, for each record; the records by which a worse one may be worse.


@dataclass(frozen=True, eq=False)
class McmcSampler:
    """The tables whose records are in the published cells, and the algorithm.

    Attributes
    ----------
    cells : Cells
    algorithm : function
        From a table to a Release.
    """

    cells: Cells
    algorithm: Callable[..., Any]

    @cached_property
    def _of_record(self) -> np.ndarray:
        """The class of each record."""
        return np.repeat(np.arange(len(self.cells.classes[0])), self.cells.classes[2])

    @cached_property
    def _tuples(self) -> list[np.ndarray]:
        """The exact QI tuples in the cells of each group, shape (tuples, attributes)."""
        inside = [[np.flatnonzero(row) for row in covered] for covered in self.cells.covered]
        grids = [np.meshgrid(*rows, indexing="ij") for rows in zip(*inside, strict=True)]
        return [np.column_stack([one.ravel() for one in grid]) for grid in grids]

    @cached_property
    def _p(self) -> list[np.ndarray]:
        """The probability of each beforehand."""
        found = []
        for tuples in self._tuples:
            weight = np.prod([w[tuples[:, a]] for a, w in enumerate(self.cells.weight)], axis=0)
            found.append(weight / weight.sum())
        return found

    @property
    def n_tables(self) -> int:
        """How many different tables there are: multisets of tuples in each class."""
        group, _, count = self.cells.classes
        sizes = (len(self._tuples[g]) for g in group)
        return math.prod(math.comb(size + int(n) - 1, int(n)) for size, n in zip(sizes, count, strict=True))

    def off(self, chosen: np.ndarray) -> float:
        """By how many records the release of a table differs from the published one.

        Parameters
        ----------
        chosen : ndarray of int
            Of each record, its tuple among those of its group.
        """
        release = self.cells.release
        group = self.cells.classes[0][self._of_record]
        codes = np.array([self._tuples[g][t] for g, t in zip(group, chosen, strict=True)])
        table = pd.DataFrame({name: self.cells.values[a].take(codes[:, a]) for a, name in enumerate(release.qi)})
        values = release.sensitive_values.take(self.cells.classes[1][self._of_record]).to_frame(index=False)
        return difference(release, self.algorithm, pd.concat([table, values], axis=1), {})

    def enumerated(self, a: int) -> np.ndarray:
        """P(exact value of an attribute | class), by asking of every table.

        Raises
        ------
        Infeasible
            If the algorithm makes the release of none.
        """
        group, _, count = self.cells.classes
        ways = [list(_multisets(self._p[g], int(n))) for g, n in zip(group, count, strict=True)]
        total, found = 0.0, np.zeros((len(group), len(self.cells.values[a])))
        for table in itertools.product(*ways):
            chosen = np.concatenate([one for one, _ in table])
            if self.off(chosen) == 0:
                weight = math.prod(p for _, p in table)
                total += weight
                found += weight * self._shares(chosen, a)
        if not total:
            raise Infeasible(
                "the algorithm makes this release of no table; are its parameters, and the domain, others?"
            )
        return found / total

    def sampled(self, a: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Estimate the same by chains that draw the tuples of a few records anew, from the distribution beforehand.

        Returns
        -------
        p, standard_error : ndarray, shape (classes, values)
            The standard error is the larger one of what batches and of what chains differ by.

        Raises
        ------
        Inaccurate
            If no first table is found, or a chain never moves.
        """
        chains = [self._chain(a, n // CHAINS, rng) for _ in range(CHAINS)]
        means = np.stack([found for found, _ in chains])
        of_batches = means.reshape(-1, *means.shape[2:]).std(axis=0, ddof=1) / np.sqrt(len(means) * means.shape[1])
        of_chains = means.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(CHAINS)
        prior = self.cells.prior(a)[self.cells.classes[0]]
        least = np.where((prior > 0) & (prior < 1), 1 / sum(moves for _, moves in chains), 0.0)
        return means.mean(axis=(0, 1)), np.maximum.reduce([of_batches, of_chains, least])

    def _chain(self, a: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
        """The mean shares of each batch of one chain, and how often it moved."""
        state = self._first(rng)
        burn_in, moves = int(n * BURN_IN), 0
        batch = np.array_split(np.arange(burn_in, n), BATCHES)
        ends = {int(one[-1]) for one in batch}
        sums, held, means = np.zeros((len(self.cells.classes[0]), len(self.cells.values[a]))), 0, []
        for step in range(n):  # sequential by nature
            other = self._redrawn(state, rng)
            if (other == state).all() or self.off(other) == 0:
                moves += int((other != state).any())
                state = other
            if step >= burn_in:
                sums += self._shares(state, a)
                held += 1
            if step in ends:
                means.append(sums / held)
                sums, held = np.zeros_like(sums), 0
        if not moves:
            raise Inaccurate(f"in {n} attempts no other values leave the release as it is: tables cannot be sampled")
        return np.stack(means), moves

    def _first(self, rng: np.random.Generator) -> np.ndarray:
        """Search a table of which the algorithm makes the release."""
        group = self.cells.classes[0][self._of_record]
        state = np.array([rng.choice(len(self._p[g]), p=self._p[g]) for g in group])
        off = self.off(state)
        for _ in range(PATIENCE * len(group)):
            if off == 0:
                return state
            other = self._redrawn(state, rng)
            distance = self.off(other)
            if distance <= off or rng.random() < np.exp((off - distance) / TEMPERATURE):
                state, off = other, distance
        raise Inaccurate(
            f"no table was found in {PATIENCE * len(group)} attempts of which the algorithm makes this release: its "
            "parameters may be others, or such tables too rare to be sampled"
        )

    def _redrawn(self, state: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the tuple of a random record anew, and of another with probability 1/2, and so on."""
        other = state.copy()
        for _ in range(rng.geometric(0.5)):
            i = rng.integers(len(state))
            p = self._p[self.cells.classes[0][self._of_record[i]]]
            other[i] = rng.choice(len(p), p=p)
        return other

    def _shares(self, chosen: np.ndarray, a: int) -> np.ndarray:
        """The share of each class's records that have each value of an attribute."""
        group = self.cells.classes[0][self._of_record]
        code = np.array([self._tuples[g][t, a] for g, t in zip(group, chosen, strict=True)])
        m = len(self.cells.values[a])
        found = np.bincount(self._of_record * m + code, minlength=len(self.cells.classes[0]) * m).reshape(-1, m)
        return np.asarray(found / self.cells.classes[2][:, None])


def _multisets(p: np.ndarray, n: int) -> itertools.chain[tuple[np.ndarray, float]]:
    """All multisets of n tuples, with their multinomial probabilities."""

    def weighed(chosen: tuple[int, ...]) -> tuple[np.ndarray, float]:
        places = np.array(chosen)
        counts = np.unique(places, return_counts=True)[1]
        ways = math.factorial(n) / math.prod(math.factorial(int(c)) for c in counts)
        return places, float(ways * np.prod(p[places]))

    return itertools.chain(map(weighed, itertools.combinations_with_replacement(range(len(p)), n)))


# How often each exact value occurs in one group: draws from a distribution, given least and largest numbers.
#
# Of n records the number that have one of the first j values is a Markov chain in j: given that n - c records are left,
# the number with the next value is binomial. So sums over all ways to fill a group are products of small matrices.


@dataclass(frozen=True, eq=False)
class Law:
    """The distribution of a group's counts, by what they are at some places.

    Attributes
    ----------
    below : ndarray of int, shape (options, places)
        How many records are below each place.
    weight : ndarray, shape (options,)
        The probability of each option, and that the group's own conditions hold.
    expected : ndarray, shape (options, values)
        How many records have each value, on average, given the option.
    """

    below: np.ndarray
    weight: np.ndarray
    expected: np.ndarray


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute of the records of a group.

    Attributes
    ----------
    n : int
        Records.
    p : ndarray, shape (values,)
        The probability of each value, in order; 0 outside the cell.
    least, most : ndarray of int, shape (values,)
        How many records have each value, at least and at most.
    heavy : int or None
        If given, all but fewer than so many below and as many above have one value; there are at least twice as many
        records.
    """

    n: int
    p: np.ndarray
    least: np.ndarray
    most: np.ndarray
    heavy: int | None = None

    @cached_property
    def states(self) -> np.ndarray:
        """How many records may be below a place."""
        if self.heavy is None:
            return np.arange(self.n + 1)
        return np.r_[: self.heavy, self.n - self.heavy + 1 : self.n + 1]

    @cached_property
    def _steps(self) -> np.ndarray:
        """P(so many below the next place | so many below this), shape (values, states, states)."""
        c = self.states
        h, left = c[None, :] - c[:, None], self.n - c[:, None]
        tail = np.cumsum(self.p[::-1])[::-1]
        q = np.divide(self.p, tail, out=np.zeros_like(self.p), where=tail > 0)
        q[np.flatnonzero(self.p)[-1]] = 1.0  # all that are left: not 1 - rounding
        h_in = np.maximum(h, 0)
        log_ways = gammaln(left + 1) - gammaln(h_in + 1) - gammaln(left - h_in + 1)
        steps = np.exp(log_ways + xlogy(h_in, q[:, None, None]) + xlogy(left - h_in, 1 - q[:, None, None]))
        fits = (h >= self.least[:, None, None]) & (h <= self.most[:, None, None]) & (h >= 0)
        return np.where(fits, steps, 0.0)

    def law(self, places: list[int]) -> Law:
        """The distribution of how many records are below some places, 0 < place < values, in order."""
        found = [self._walk(places, self._steps * keep) for keep in self._variants()]
        return Law(*map(np.concatenate, zip(*found, strict=True)))

    def _variants(self) -> list[np.ndarray]:
        """Which steps are allowed, once for each value that may be the heavy one: these exclude each other."""
        if self.heavy is None:
            return [np.ones((1, 1, 1))]
        m = len(self.p)
        few = self.states < self.heavy
        found = []
        for v in np.flatnonzero(self.p):
            low = (np.arange(m + 1) <= v)[:, None] & few
            allowed = low | ((np.arange(m + 1) > v)[:, None] & ~few)
            found.append((allowed[:-1, :, None] & allowed[1:, None, :]).astype(float))
        return found

    def _walk(self, places: list[int], steps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All ways from place to place, with what each stretch contributes."""
        gain = np.maximum(self.states[None, :] - self.states[:, None], 0)
        path, weight = np.zeros((1, 1), dtype=np.int64), np.ones(1)
        stretches = []
        for start, end in zip([0, *places], [*places, len(self.p)], strict=True):
            through, held = _stretch(steps[start:end], gain)
            stretches.append((through, held))
            source, target = (through[path[:, -1]] > 0).nonzero()
            weight = weight[source] * through[path[source, -1], target]
            path = np.column_stack([path[source], target])
        ends = self.states[path[:, -1]] == self.n
        path, weight = path[ends], weight[ends]
        expected = np.zeros((len(path), len(self.p)))
        for i, (start, (through, held)) in enumerate(zip([0, *places], stretches, strict=True)):
            a, b = path[:, i], path[:, i + 1]
            expected[:, start : start + len(held)] = (held[:, a, b] / through[a, b]).T
        return self.states[path[:, 1:-1]], weight, expected


def _stretch(steps: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Go through some values: the probabilities, and the same times how many records have each value."""
    n = steps.shape[1]
    before = [np.eye(n)]
    for step in steps[:-1]:
        before.append(before[-1] @ step)
    after = np.eye(n)
    held = np.empty_like(steps)
    for i in range(len(steps) - 1, -1, -1):
        held[i] = before[i] @ (steps[i] * gain) @ after
        after = steps[i] @ after
    return after, held


# A release that is minimal in its hierarchies: no group of it can be refined and still have k records.


@dataclass(frozen=True)
class Minimal:
    """What is known of any algorithm that generalises as little as k records a group allow, along hierarchies.

    No records of a group can be generalised less, by one level of one attribute, so that all groups that this leaves
    have k records: fewer than k are below any one child of a group's node; or, if there are fewer than 2 k records in
    the group, not all of them are. That is all that minimality says of groups that do not overlap.

    Attributes
    ----------
    k : int

    Raises
    ------
    StatementError
        If `k` is no whole number of at least 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.attacks.Minimal(5)
    Minimal(k=5)
    """

    k: int

    def __post_init__(self) -> None:
        check_int(self.k, "k", 1)


def minimal_columns(cells: Cells, a: int, k: int, nodes: Hierarchies) -> np.ndarray:
    """P(exact value | group) if the release is minimal for k; exact.

    Raises
    ------
    Infeasible
        If it is not, whatever the values are.
    StatementError
        If an attribute has no hierarchy.
    TableError
        If nodes of a hierarchy overlap, or a cell is no node.
    """
    if (cells.size < k).any():
        raise Infeasible(f"a group has fewer than k={k} records; has the release another k?")
    found = cells.prior(a)
    for i, name in enumerate(cells.release.qi):
        if name not in nodes:
            raise StatementError(
                f"a release is minimal in hierarchies: pass one of {name!r}, hierarchies={{{name!r}: ...}}"
            )
        tree = _masks(cells, i, nodes)
        prior = cells.prior(i)
        for group, n in enumerate(cells.size.tolist()):
            shares = _shares(int(n), k, prior[group], _children(cells.covered[i][group], tree, name))
            if i == a:
                found[group] = shares
    return found


def _masks(cells: Cells, a: int, nodes: Hierarchies) -> np.ndarray:
    """What each node of an attribute stands for, values included; larger ones first."""
    name, values = cells.release.qi[a], cells.values[a]
    masks = coverage(list(nodes[name]), values, name, nodes[name])
    masks = np.unique(np.concatenate([masks, np.eye(len(values), dtype=bool)]), axis=0)
    both = masks.astype(int) @ masks.T.astype(int)
    size = masks.sum(axis=1)
    if (apart := (both > 0) & (both < np.minimum(size[:, None], size))).any():
        one, other = (list(values[masks[i]]) for i in np.argwhere(apart)[0])
        raise TableError(
            f"nodes of the hierarchy of {name!r} overlap, {short_repr(one)} and {short_repr(other)}; a tree is expected"
        )
    return masks[np.argsort(-size, kind="stable")]


def _children(covered: np.ndarray, tree: np.ndarray, name: str) -> np.ndarray:
    """The nodes one level below a cell, shape (nodes, values)."""
    if not (tree == covered).all(axis=1).any():
        raise TableError(f"a cell of {name!r} is no node of its hierarchy; pass the one that was published with")
    below = tree[(tree <= covered).all(axis=1) & (tree < covered).any(axis=1)]
    inside = (below[:, None] <= below).all(axis=2) & ~np.eye(len(below), dtype=bool)
    return np.asarray(below[~inside.any(axis=1)])


def _shares(n: int, k: int, prior: np.ndarray, children: np.ndarray) -> np.ndarray:
    """P(value) of a record of a group."""
    if not len(children):
        return prior
    p = children @ prior
    most = np.full(len(p), n - 1 if n < 2 * k else k - 1)
    law = Column(n, p, np.zeros(len(p), dtype=int), most).law([])
    if not law.weight.sum():
        raise Infeasible(f"no table makes this release minimal for k={k}: a group of {n} records can be refined")
    below = law.expected[0] / n
    return np.asarray((below / p) @ (children * prior))


# Conditions on a table: so many records of some groups lie below a place at most, joined by "and" and "or".


@dataclass(frozen=True)
class AtMost:
    """At most `most` records of some groups have a value below a place of an attribute, or from it on.

    Attributes
    ----------
    units : tuple of (int, int)
        Groups, each with the attribute.
    place : int
        Between 0 and the number of the attribute's values.
    below : bool
        Whether those below it are counted, or the others.
    most : int
    """

    units: tuple[tuple[int, int], ...]
    place: int
    below: bool
    most: int

    def leaves(self) -> Iterator[AtMost]:
        """The counts that it is about."""
        yield self

    def holds(self, within: Mapping[AtMost, np.ndarray]) -> np.ndarray:
        """Where it holds, if it is known of each count where it is small enough."""
        return within[self]


@dataclass(frozen=True)
class Every:
    """All of several hold."""

    parts: tuple[Formula, ...]

    def leaves(self) -> Iterator[AtMost]:
        """The counts that it is about."""
        for part in self.parts:
            yield from part.leaves()

    def holds(self, within: Mapping[AtMost, np.ndarray]) -> np.ndarray:
        """Where it holds."""
        return np.all([part.holds(within) for part in self.parts], axis=0)


@dataclass(frozen=True)
class Some:
    """One of several holds; they exclude each other."""

    parts: tuple[Formula, ...]

    def leaves(self) -> Iterator[AtMost]:
        """The counts that it is about."""
        for part in self.parts:
            yield from part.leaves()

    def holds(self, within: Mapping[AtMost, np.ndarray]) -> np.ndarray:
        """Where it holds."""
        return np.any([part.holds(within) for part in self.parts], axis=0)


Formula = AtMost | Every | Some

ALWAYS, NEVER = Every(()), Some(())


def all_of(parts: list[Formula]) -> Formula:
    """Join by "and"."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, Every) else (part,))]
    if NEVER in flat:
        return NEVER
    return flat[0] if len(flat) == 1 else Every(tuple(dict.fromkeys(flat)))


def any_of(parts: list[Formula]) -> Formula:
    """Join by "or"."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, Some) else (part,))]
    if ALWAYS in flat:
        return ALWAYS
    return flat[0] if len(flat) == 1 else Some(tuple(dict.fromkeys(flat)))


# Groups that refused cuts link, which are counted together.


#: The set of l values and more; others are the bits of an integer.
ALL = -1


@dataclass(frozen=True, eq=False)
class Part:
    """Groups, their values, and cuts of which one half each has fewer than l values.

    Attributes
    ----------
    group : ndarray of int
        The group of each record, from 0, in the order in which groups go through.
    count : ndarray of int, shape (groups, values)
        Records of each value.
    halves : ndarray of bool, shape (halves, records)
    cuts : list of tuple of int
        The one or two halves of which one has fewer than l values.
    l : int
    kind : ndarray of int
        Records of one kind have the same prior.
    prior : ndarray, shape (kinds, values)
        P(value | kind); 1 where all assignments are equally probable.
    """

    group: np.ndarray
    count: np.ndarray
    halves: np.ndarray
    cuts: list[tuple[int, ...]]
    l: int
    kind: np.ndarray
    prior: np.ndarray

    def capped(self, values: np.ndarray) -> np.ndarray:
        """Sets of values, in which l and more are all of them."""
        return np.where(np.bitwise_count(values) >= self.l, ALL, values)

    def refused(self, values: np.ndarray) -> np.ndarray:
        """Which sets of values of all halves, in columns, let every cut be refused."""
        rich = values == ALL
        return ~np.any([rich[:, list(cut)].all(axis=1) for cut in self.cuts], axis=0)

    def holds(self, value: np.ndarray) -> np.ndarray:
        """By which assignments, shape (assignments, records), every cut is refused."""
        values = np.arange(self.count.shape[1])
        number = np.stack([(value == one) @ self.halves.T for one in values]).sum(axis=0)
        rich = number >= self.l
        return ~np.any([rich[:, list(cut)].all(axis=1) for cut in self.cuts], axis=0)

    def of_cuts(self, cuts: list[tuple[int, ...]]) -> Self:
        """The same with fewer cuts."""
        own, renamed = renumbered(cuts)
        return replace(self, halves=self.halves[own], cuts=renamed)


def renumbered(cuts: list[tuple[int, ...]]) -> tuple[list[int], list[tuple[int, ...]]]:
    """The halves of some cuts, and the cuts with halves named by their places among these."""
    own = [half for cut in cuts for half in cut]
    place = {half: i for i, half in enumerate(own)}
    return own, [tuple(place[half] for half in cut) for cut in cuts]


# Sums over all ways through layers of states, forwards and backwards, as of a hidden Markov chain.


@dataclass(frozen=True, eq=False)
class Layer:
    """Every step from a state to one of the next layer, by an option.

    Attributes
    ----------
    source, option, target : ndarray of int
        One a step.
    weight : ndarray
        Of each option.
    n_targets : int
    """

    source: np.ndarray
    option: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    n_targets: int


def forwards(layers: list[Layer]) -> tuple[list[np.ndarray], float]:
    """The sum over all ways that lead to each state, from one state in the beginning.

    Returns
    -------
    sums : list of ndarray
        One a layer and one of the end, each scaled to sum to 1.
    log_total : float
        The logarithm of the sum over all ways to the end; minus infinity if there is none.
    """
    sums, log_total = [np.ones(1)], 0.0
    for layer in layers:
        step = sums[-1][layer.source] * layer.weight[layer.option]
        found = np.bincount(layer.target, step, layer.n_targets)
        if not (total := float(found.sum())):
            return sums, -np.inf
        sums.append(found / total)
        log_total += float(np.log(total))
    return sums, log_total


def backwards(layers: list[Layer], sums: list[np.ndarray], end: np.ndarray) -> list[np.ndarray]:
    """The share of all ways that take each option in each layer, if ways that end in a state count as `end` says."""
    shares = []
    after = end
    for layer, before in zip(layers[::-1], sums[-2::-1], strict=True):
        step = layer.weight[layer.option] * after[layer.target]
        through = np.bincount(layer.option, before[layer.source] * step, len(layer.weight))
        shares.append(through / through.sum())
        after = np.bincount(layer.source, step, len(before))
        after = after / after.max()
    return shares[::-1]


def drawn(layers: list[Layer], sums: list[np.ndarray], end: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw ways that end in given states, in proportion to their weights: the options of each layer.

    Parameters
    ----------
    layers, sums
        And what :func:`forwards` found.
    end : ndarray of int
        The last state of each way.
    rng : Generator
    """
    options, state = [], end
    for layer, before in zip(layers[::-1], sums[-2::-1], strict=True):
        order = np.argsort(layer.target, kind="stable")
        until = np.cumsum((before[layer.source] * layer.weight[layer.option])[order])
        first = np.searchsorted(layer.target[order], np.arange(layer.n_targets + 1))
        low, high = np.concatenate([[0.0], until])[first[state]], until[first[state + 1] - 1]
        step = np.searchsorted(until, low + rng.random(len(state)) * (high - low), side="right")
        step = order[np.clip(step, first[state], first[state + 1] - 1)]
        options.append(layer.option[step])
        state = layer.source[step]
    return options[::-1]


# One group's values spread over its cells, the records of one prior that are in the same halves of refused cuts.


#: Steps of one layer that are looked at, at most: some hundred megabytes.
MOST_STEPS = 4_000_000


class GroupWays:
    """One group: its values spread over its cells."""

    def __init__(self, part: Part, number: int) -> None:
        self.part, self.number = part, number
        self.members = np.flatnonzero(part.group == number)
        inside = part.halves[:, self.members]
        with_kind = np.vstack([inside, part.kind[self.members]])
        cells, self.cell = np.unique(with_kind, axis=1, return_inverse=True)
        cells, self.kind = cells[:-1].astype(bool), cells[-1].astype(np.int64)
        self.cell = self.cell.reshape(-1)
        self.size = np.bincount(self.cell)
        touched = inside.any(axis=1)
        alone = touched & (part.halves.sum(axis=1) == inside.sum(axis=1))
        self.own, self.shared = np.flatnonzero(alone), np.flatnonzero(touched & ~alone)
        self.in_own, self.in_shared = cells[self.own], cells[self.shared]
        place = {half: i for i, half in enumerate(self.own.tolist())}
        self.cuts = [[place[half] for half in cut] for cut in part.cuts if all(half in place for half in cut)]
        held = np.flatnonzero(part.count[number])
        self.values = held[np.argsort(part.count[number, held], kind="stable")]  # the fewest steps first
        self.layers: list[Layer] = []
        self.spread: list[np.ndarray] = []
        self.ends = np.zeros((0, len(self.shared)), dtype=np.int64)
        self._forwards()

    def _forwards(self) -> None:
        """Go through the values."""
        n_cells, n_own = len(self.size), len(self.own)
        state = np.zeros((1, n_cells + n_own + len(self.shared)), dtype=np.int64)
        for value in self.values:
            n = int(self.part.count[self.number, value])
            if value == self.values[-1]:  # takes the places that are left, which are as many
                source = option = np.arange(len(state))
                spread = self.size - state[:, :n_cells]
            else:
                spread = self._spreads(n)
                check_steps(len(state) * len(spread))
                fits = np.ones((len(state), len(spread)), dtype=bool)
                for c in range(n_cells):
                    fits &= state[:, None, c] + spread[:, c] <= self.size[c]
                source, option = fits.nonzero()
            has = spread > 0
            grown = state[source]  # a row a step
            grown[:, :n_cells] += spread[option]
            own = (has @ self.in_own.T)[option]
            grown[:, n_cells : n_cells + n_own] = np.minimum(grown[:, n_cells : n_cells + n_own] + own, self.part.l)
            masks = grown[:, n_cells + n_own :] | ((has @ self.in_shared.T)[option].astype(np.int64) << int(value))
            grown[:, n_cells + n_own :] = self.part.capped(masks)
            kept = self._refused(grown)
            if value == self.values[-1]:
                grown[:, n_cells : n_cells + n_own] = 0  # asked, and of no interest to others
            target, state = numbered(grown[kept])
            self.layers.append(Layer(source[kept], option[kept], target, self._weight(spread, int(value)), len(state)))
            self.spread.append(spread)
        self.ends = state[:, n_cells + n_own :]
        self.sums, log_total = forwards(self.layers)
        self.log_share = log_total - self._log_all

    def _refused(self, state: np.ndarray) -> np.ndarray:
        """Which states let every cut be refused that concerns no other group."""
        rich = state[:, len(self.size) : len(self.size) + len(self.own)] == self.part.l
        kept = np.ones(len(state), dtype=bool)
        for cut in self.cuts:
            kept &= ~rich[:, cut].all(axis=1)
        return kept

    def _spreads(self, n: int) -> np.ndarray:
        """All ways to spread n records over the cells."""
        most = np.minimum(self.size, n) + 1
        check_steps(min(math.comb(n + len(most) - 1, n), math.prod(map(int, most))))
        return np.array(list(_spreads(n, self.size.tolist())), dtype=np.int64).reshape(-1, len(most))

    def _weight(self, spread: np.ndarray, value: int) -> np.ndarray:
        """The multinomial probability of each way to spread records over the cells, times their prior."""
        n = spread.sum(axis=1)
        ways = gammaln(n + 1) - gammaln(spread + 1).sum(axis=1)
        prior = xlogy(spread, self.part.prior[self.kind, value]).sum(axis=1)
        return np.exp(ways + spread @ np.log(self.size / self.size.sum()) + prior)

    @cached_property
    def _log_all(self) -> float:
        """The logarithm of the sum of all assignments' weights, without a prior: that cells are full by chance."""
        n = self.size.sum()
        return float(gammaln(n + 1) + (self.size * np.log(self.size / n) - gammaln(self.size + 1)).sum())

    def probabilities(self, end: np.ndarray) -> np.ndarray:
        """P(value | record of the group), if ways that end in a state count as `end` says."""
        p = np.zeros((len(self.size), self.part.count.shape[1]))
        shares = backwards(self.layers, self.sums, end)
        for value, spread, share in zip(self.values, self.spread, shares, strict=True):
            p[:, value] = share @ spread / self.size
        return np.asarray(p[self.cell])

    def draw(self, end: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw assignments that end in given states: the value of each record, shape (assignments, records)."""
        options = drawn(self.layers, self.sums, end, rng)
        count = np.stack([spread[option] for spread, option in zip(self.spread, options, strict=True)], axis=2)
        values = np.repeat(np.tile(self.values, len(end) * len(self.size)), count.ravel()).reshape(len(end), -1)
        order = np.argsort(self.cell + rng.random(values.shape), axis=1)  # cell by cell, at random inside
        found = np.empty_like(values)
        np.put_along_axis(found, order, values, axis=1)
        return found


def _spreads(n: int, size: list[int]) -> Iterator[tuple[int, ...]]:
    """All ways to spread n over places of these sizes."""
    if len(size) == 1:
        yield from [(n,)] * (n <= size[0])
        return
    for first in range(max(0, n - sum(size[1:])), min(n, size[0]) + 1):
        for rest in _spreads(n - first, size[1:]):
            yield first, *rest


def numbered(state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows, and list them."""
    if not state.size:  # no state, or no columns: all alike
        return np.zeros(len(state), dtype=np.int64), state[:1]
    columns = [np.unique(column, return_inverse=True) for column in state.T]
    number = group_codes([code for _, code in columns], [len(found) for found, _ in columns])
    first = np.empty(int(number.max()) + 1, dtype=np.int64)
    first[number] = np.arange(len(number))
    return number, state[first]


def check_steps(steps: int) -> None:
    """Refuse what takes too many steps at once."""
    if steps > MOST_STEPS:
        raise GroupTooLarge(f"counting assignments takes {steps:,} steps at once; {MOST_STEPS:,} are allowed")


# Columns that conditions link: sums over all ways to fill them, one column after the other.


#: A group, and the number of an attribute.
Unit = tuple[int, int]
#: How often a condition is split into its alternatives, one inside another.
MOST_SPLITS = 6
#: Tables that must be kept, so that standard errors are reliable.
LINKED_FEWEST = 100


@dataclass(frozen=True, eq=False)
class Linked:
    """Some columns, and what conditions on them count.

    Attributes
    ----------
    columns : dict of Unit to Column
        In the order in which they are filled.
    counts : list of AtMost
        What is counted.
    """

    columns: Mapping[Unit, Column]
    counts: list[AtMost]

    @cached_property
    def laws(self) -> list[Law]:
        """The distribution of each column, by what it adds to the counts."""
        return [column.law(self._places(unit)) for unit, column in self.columns.items()]

    @cached_property
    def adds(self) -> list[np.ndarray]:
        """What each option of each column adds to each count, shape (options, counts)."""
        found = []
        for (unit, column), law in zip(self.columns.items(), self.laws, strict=True):
            added = np.zeros((len(law.weight), len(self.counts)), dtype=np.int64)
            places = self._places(unit)
            for j, one in enumerate(self.counts):
                if unit in one.units:
                    below = law.below[:, places.index(one.place)]
                    added[:, j] = below if one.below else column.n - below
            found.append(added)
        return found

    def _places(self, unit: Unit) -> list[int]:
        """The places of a column that are asked for."""
        return sorted({one.place for one in self.counts if unit in one.units})

    @cached_property
    def most(self) -> np.ndarray:
        """The largest numbers that are allowed."""
        return np.array([one.most for one in self.counts], dtype=np.int64)

    def holds(self, formula: Formula, count: np.ndarray) -> np.ndarray:
        """Where a formula holds, counts being given in columns."""
        return formula.holds(dict(zip(self.counts, (count <= self.most).T, strict=True)))

    def layers(self, formulas: list[Formula]) -> list[Layer]:
        """All ways to fill the columns so that some formulas hold.

        Raises
        ------
        GroupTooLarge
            If that is too much work.
        """
        position = {unit: i for i, unit in enumerate(self.columns)}
        until = dict.fromkeys((leaf for formula in formulas for leaf in formula.leaves()), -1)
        for formula in formulas:
            leaves = set(formula.leaves())
            end = max(position[unit] for leaf in leaves for unit in leaf.units)
            until |= {leaf: max(until[leaf], end) for leaf in leaves}
        asked = [self.counts.index(leaf) for leaf in until]
        most, last = self.most[asked], np.array(list(until.values()), dtype=np.int64)
        state = np.zeros((1, len(asked)), dtype=np.int64)
        layers = []
        for i, (law, added) in enumerate(zip(self.laws, self.adds, strict=True)):
            options = np.flatnonzero(_allowed(added[:, asked], most, list(until), formulas))
            check_steps(len(state) * len(options) * max(1, len(asked)))
            source, option = map(np.ravel, np.indices((len(state), len(options))))
            option = options[option]
            grown = np.minimum(state[source] + added[option][:, asked], most + 1)
            kept = _allowed(grown, most, list(until), formulas)
            grown[:, last <= i] = 0  # no later column has part in what these are asked for
            target, state = numbered(grown[kept])
            layers.append(Layer(source[kept], option[kept], target, law.weight, len(state)))
        return layers


def _allowed(count: np.ndarray, most: np.ndarray, asked: list[AtMost], formulas: list[Formula]) -> np.ndarray:
    """Where all formulas hold of the records so far: what some records violate is not mended by others."""
    within = dict(zip(asked, (count <= most).T, strict=True))
    return np.all([np.ones(len(count), dtype=bool), *(formula.holds(within) for formula in formulas)], axis=0)


def filled(
    columns: Mapping[Unit, Column], formulas: list[Formula], n: int, rng: np.random.Generator
) -> dict[Unit, tuple[np.ndarray, np.ndarray]]:
    """How many records of each column have each value, on average, and standard errors, 0 if that is exact.

    Parameters
    ----------
    columns : dict of Unit to Column
        In the order in which they are filled.
    formulas : list of Formula
        Conditions that must all hold.
    n : int
        Tables that are sampled where the sum over all is too much work.
    rng : Generator

    Raises
    ------
    Infeasible
        If no table satisfies the conditions.
    Inaccurate
        If too few sampled ones do.
    """
    try:
        log_total, found = _summed(columns, formulas)
    except GroupTooLarge:
        return _sampled(_counting(columns, formulas), formulas, n, rng)
    if np.isinf(log_total):
        raise Infeasible("the algorithm makes this release of no table; are its parameters, and the domain, others?")
    return {unit: (one, np.zeros_like(one)) for unit, one in zip(columns, found, strict=True)}


def _counting(columns: Mapping[Unit, Column], formulas: list[Formula]) -> Linked:
    """Count what formulas ask for."""
    return Linked(columns, list(dict.fromkeys(leaf for formula in formulas for leaf in formula.leaves())))


def _summed(columns: Mapping[Unit, Column], formulas: list[Formula], splits: int = 0) -> tuple[float, list[np.ndarray]]:
    """Sum over all ways to fill the columns; where that is too much work, over those of each alternative.

    The alternatives of a formula exclude each other, as different things that the algorithm would do.

    Returns
    -------
    log_total : float
        The logarithm of the probability that all formulas hold; minus infinity if they cannot.
    expected : list of ndarray
        How many records of each column have each value.

    Raises
    ------
    GroupTooLarge
        If there is no alternative that is less work.
    """
    try:
        linked = _counting(columns, formulas)
        layers = linked.layers(formulas)
    except GroupTooLarge:
        choice = next((formula for formula in formulas if isinstance(formula, Some)), None)
        if choice is None or splits >= MOST_SPLITS:
            raise
        rest = [formula for formula in formulas if formula is not choice]
        parts = [part.parts if isinstance(part, Every) else (part,) for part in choice.parts]
        found = [_summed(columns, [*rest, *part], splits + 1) for part in parts]
        log_totals = np.array([log_total for log_total, _ in found])
        if np.isinf(largest := log_totals.max()):
            return -np.inf, []
        share = np.exp(log_totals - largest)
        possible = [(one, expected) for one, (_, expected) in zip(share, found, strict=True) if one > 0]
        of_columns = zip(*([one * each for each in expected] for one, expected in possible), strict=True)
        return float(largest + np.log(share.sum())), [np.asarray(sum(one)) / share.sum() for one in of_columns]
    sums, log_total = forwards(layers)
    if np.isinf(log_total):
        return log_total, []
    shares = backwards(layers, sums, np.ones(1))
    return log_total, [share @ law.expected for share, law in zip(shares, linked.laws, strict=True)]


def _sampled(
    linked: Linked, formulas: list[Formula], n: int, rng: np.random.Generator
) -> dict[Unit, tuple[np.ndarray, np.ndarray]]:
    """Sum with as many conditions as possible; the others decide which of n sampled tables are kept."""
    chosen: list[Formula] = []
    layers = linked.layers(chosen)
    for formula in formulas:
        try:
            layers = linked.layers([*chosen, formula])
        except GroupTooLarge:
            continue
        chosen.append(formula)
    sums, log_total = forwards(layers)
    kept = np.zeros(0, dtype=bool)
    if not np.isinf(log_total):
        options = drawn(layers, sums, np.zeros(n, dtype=np.int64), rng)
        count = sum(added[option] for added, option in zip(linked.adds, options, strict=True))
        kept = np.all([linked.holds(formula, np.asarray(count)) for formula in formulas], axis=0)
    if (left := int(kept.sum())) < LINKED_FEWEST:
        raise Inaccurate(
            f"of {n} sampled tables {pluralize(left, 'is', 'are')} such that the algorithm makes this release of them; "
            f"{LINKED_FEWEST} are needed: sample more (n=...)"
        )
    found = {}
    for (unit, column), law, option in zip(linked.columns.items(), linked.laws, options, strict=True):
        held = law.expected[option[kept]]
        mean = held.mean(axis=0)
        least = np.where((mean > 0) & (mean < column.n), column.n / left, 0.0)
        found[unit] = mean, np.maximum(held.std(axis=0, ddof=1) / np.sqrt(left), least)
    return found


# Mondrian's recursion as a formula: which tables it makes these groups from, if it looks at quasi-identifiers alone.
#
# At every group of its recursion Mondrian tries the attributes in the order of their widths, which the published cells
# tell, since their ends are values of records. It cuts at the median m if k records are left on both sides. So an
# attribute is refused if and only if fewer than k records are below m and fewer than k above; and a cut along the
# borders of published groups, between L, the largest value below, and H, the smallest above, is made if and only if
#
# * as many records are below as above, or
# * more are below, and at most (n - 1) / 2 of all are below L, so that the median is L, or
# * more are above, and fewer than k are above H, so that the median is H, and "up to the median" was refused.


#: Different groups that recursions may have on their way, at most.
MOST_NODES = 50_000


@dataclass(frozen=True, eq=False)
class Recursion:
    """Mondrian, and the groups that it ended with.

    Attributes
    ----------
    k : int
    size : ndarray of int, shape (groups,)
    place : list of ndarray
        Of each attribute where its values stand, in order.
    least : list of ndarray of int, shape (groups, values)
        Of each attribute how many records of a group have each value at least: 1 where the cell says that some do.
    order : list of int
        The groups in the order in which the recursion ends with them.
    """

    k: int
    size: np.ndarray
    place: list[np.ndarray]
    least: list[np.ndarray]
    order: list[int] = field(default_factory=list, init=False)
    _known: dict[tuple[int, ...], Formula] = field(default_factory=dict, init=False)

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last value of each group, shape (groups, attributes)."""
        low = np.column_stack([least.argmax(axis=1) for least in self.least])
        return low, np.column_stack([least.shape[1] - 1 - least[:, ::-1].argmax(axis=1) for least in self.least])

    @cached_property
    def _below(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The fewest and the most records of each group below each place, shape (groups, values + 1)."""
        found = []
        for a, least in enumerate(self.least):
            below = np.column_stack([np.zeros(len(least), dtype=int), np.cumsum(least, axis=1)])
            above = below[:, -1:] - below
            at = np.arange(below.shape[1])
            low, high = (ends[:, a, None] for ends in self.ends)
            fewest = np.where(at > high, self.size[:, None], below)
            most = np.where(at <= low, 0, self.size[:, None] - above)
            found.append((fewest, most))
        return found

    def formula(self) -> Formula:
        """The condition on the table."""
        return self._of(tuple(range(len(self.size))))

    def _of(self, groups: tuple[int, ...]) -> Formula:
        """The condition that Mondrian ends with these groups, given that they are one group on its way.

        That a single group is not cut is a condition of its columns alone, see :class:`Column`.
        """
        if groups not in self._known:
            if len(self._known) > MOST_NODES:
                raise GroupTooLarge(
                    f"Mondrian may have come to these groups by recursions with more than {MOST_NODES} different groups"
                )
            if len(groups) == 1:
                self.order.append(groups[0])
            self._known[groups] = ALWAYS if len(groups) == 1 else self._cut(np.array(groups))
        return self._known[groups]

    def _cut(self, groups: np.ndarray) -> Formula:
        """One of the cuts along borders is made, and both halves end with their groups."""
        n = int(self.size[groups].sum())
        if n < 2 * self.k:
            return NEVER
        options: list[Formula] = []
        refused: list[Formula] = []
        for a in self._order(groups):
            for low, high in self._borders(groups, a):
                made = self._made(groups[low], groups[high], a)
                if made != NEVER:
                    halves = [self._of(tuple(groups[half].tolist())) for half in (low, high)]
                    options.append(all_of([*refused, made, *halves]))
            refused.append(self._refused(groups, a))
            if refused[-1] == NEVER:
                break
        return any_of(options)

    def _order(self, groups: np.ndarray) -> list[int]:
        """The attributes in the order in which they are tried."""
        low, high = self.ends
        values = [place[np.stack([low[:, a], high[:, a]])] for a, place in enumerate(self.place)]
        whole = np.maximum([value[1].max() - value[0].min() for value in values], 1e-300)
        here = np.array([value[1, groups].max() - value[0, groups].min() for value in values])
        return [int(a) for a in np.argsort(-here / whole, kind="stable")]

    def _borders(self, groups: np.ndarray, a: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """The cuts that go through no group and leave k records on both sides: positions of the halves."""
        low, high = (ends[groups, a] for ends in self.ends)
        order = np.argsort(low, kind="stable")
        up_to = np.maximum.accumulate(high[order])
        n = np.cumsum(self.size[groups[order]])
        free = (up_to[:-1] < low[order][1:]) & (n[:-1] >= self.k) & (n[-1] - n[:-1] >= self.k)
        return [(np.sort(order[:i]), np.sort(order[i:])) for i in np.flatnonzero(free) + 1]

    def _made(self, low: np.ndarray, high: np.ndarray, a: int) -> Formula:
        """The condition that an attribute is cut between these groups."""
        n_low, n_high = int(self.size[low].sum()), int(self.size[high].sum())
        if n_low == n_high:
            return ALWAYS
        if n_low > n_high:
            return self._at_most(low, a, int(self.ends[1][low, a].max()), True, (n_low + n_high - 1) // 2)
        return self._at_most(high, a, int(self.ends[0][high, a].min()) + 1, False, self.k - 1)

    def _refused(self, groups: np.ndarray, a: int) -> Formula:
        """The condition that no cut of an attribute leaves k records on both sides."""
        first, last = self.ends[0][groups, a].min(), self.ends[1][groups, a].max()
        return any_of(
            [
                all_of(
                    [
                        self._at_most(groups, a, v, True, self.k - 1),
                        self._at_most(groups, a, v + 1, False, self.k - 1),
                    ]
                )
                for v in range(int(first), int(last) + 1)
            ]
        )

    def _at_most(self, groups: np.ndarray, a: int, place: int, below: bool, most: int) -> Formula:
        """At most so many records are below a place, or from it on; decided where the cells decide it."""
        fewest, largest = (bound[groups, place] for bound in self._below[a])
        if not below:
            fewest, largest = self.size[groups] - largest, self.size[groups] - fewest
        open_ = fewest < largest
        most -= int(fewest[~open_].sum())
        if fewest[open_].sum() > most:
            return NEVER
        if largest[open_].sum() <= most:
            return ALWAYS
        return AtMost(tuple((int(g), a) for g in groups[open_]), place, below, most)


# The exact values of one attribute in the groups that Mondrian published.


def mondrian_columns(cells: Cells, a: int, k: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """P(exact value | group) if Mondrian, which looked at QI alone, made the release; and standard errors.

    Columns of one table are independent beforehand, and so are records; the conditions of the recursion link some.

    Parameters
    ----------
    cells : Cells
    a : int
        The attribute.
    k : int
    n : int
        Tables that are sampled where the sum over all is too much work.
    rng : Generator

    Raises
    ------
    Infeasible
        If Mondrian makes the release of no table.
    Inaccurate
        If sampling does not find such tables.
    """
    required = [cells.required(i) for i in range(len(cells.values))]
    place = [
        level.to_numpy(dtype=float) if is_number(level) else np.arange(float(len(level))) for level in cells.values
    ]
    recursion = Recursion(k, cells.size, place, required)
    formula = recursion.formula()
    if formula == NEVER or (cells.size < k).any():
        raise Infeasible("Mondrian makes this release of no table; has it another k, or the attributes other values?")
    parts: list[Formula] = list(formula.parts) if isinstance(formula, Every) else [formula]
    prior = [cells.prior(i) for i in range(len(cells.values))]

    def column(unit: Unit) -> Column:
        group, i = unit
        n_group = int(cells.size[group])
        heavy = k if n_group >= 2 * k else None
        return Column(n_group, prior[i][group], required[i][group], np.full(len(place[i]), n_group), heavy)

    found, error = prior[a].copy(), np.zeros_like(prior[a])
    wanted = {(int(group), a) for group in np.flatnonzero(cells.covered[a].sum(axis=1) > 1)}
    for units, formulas in _components(wanted, parts, recursion.order):
        if wanted.isdisjoint(units):
            continue
        of = filled({unit: column(unit) for unit in units}, formulas, n, rng)
        for (group, i), (expected, off) in of.items():
            if i == a:
                found[group], error[group] = expected / cells.size[group], off / cells.size[group]
    return found, error


def _components(wanted: set[Unit], formulas: list[Formula], order: list[int]) -> list[tuple[list[Unit], list[Formula]]]:
    """The columns that formulas link, in the order of the recursion, with these formulas."""
    about = [sorted({unit for leaf in formula.leaves() for unit in leaf.units}) for formula in formulas]
    rank = {group: i for i, group in enumerate(order)}
    units = sorted(wanted.union(*about), key=lambda unit: (rank.get(unit[0], 0), unit))
    number = {unit: i for i, unit in enumerate(units)}
    first = np.array([number[one[0]] for one in about for _ in one], dtype=np.int64)
    other = np.array([number[unit] for one in about for unit in one], dtype=np.int64)
    graph = sp.csr_array((np.ones(len(first)), (first, other)), shape=(len(units), len(units)))
    label = connected_components(graph, directed=False)[1]
    own: dict[int, tuple[list[Unit], list[Formula]]] = {}
    for i, unit in enumerate(units):
        own.setdefault(int(label[i]), ([], []))[0].append(unit)
    for formula, its_units in zip(formulas, about, strict=True):
        own[int(label[number[its_units[0]]])][1].append(formula)
    return list(own.values())


# What is inferred of exact quasi-identifiers, and how it is compared with the original records.


@dataclass(frozen=True, eq=False, repr=False)
class DowncodingResult(AttackResult):
    """P(exact value of an attribute | generalised record, algorithm), beside what its cell says alone.

    Attributes
    ----------
    table, baseline, records, error
        As of any :class:`maxent_cvx.attacks.AttackResult`. Rows are groups, with the sensitive value; the baseline is
        the distribution that is assumed beforehand, inside the cell.
    cells : dict of str to DataFrame
        Of each attribute, which exact values (columns) the cell of each group (rows) stands for.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 23, 40, 41, 47], "Disease": ["Flu", "HIV", "Flu", "Flu", "HIV"]})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="Disease", k=2)
    >>> result = mx.attacks.downcoding(algorithm(people), algorithm)
    >>> result
    <downcoding of 5 records: the likeliest value has a probability of 0.40 on average, 0.09 without the attack>
    >>> print(result.judge(people))
    right for 40.0% of 5 records; without the attack 8.6% (difference 0.31, standard error 0.22)
    """

    cells: Mapping[str, pd.DataFrame]

    title: ClassVar[str | None] = "downcoding"

    def _truth(self, original: pd.DataFrame) -> np.ndarray:
        """How many records of each group and sensitive value have each exact value."""
        group, *sensitive = map(str, self.table.index.names)
        qi = list(self.cells)
        check_columns(original, {"exact quasi-identifiers": qi, "sensitive values": sensitive}, "the original records")
        if group not in original.columns:
            original = original.assign(**{group: self._groups(original[qi]).to_numpy()})
        return super()._truth(original)

    def _groups(self, exact: pd.DataFrame) -> pd.Series:
        """The group whose cells stand for each record."""
        code, distinct = sort_distinct(exact)
        groups = next(iter(self.cells.values())).index
        inside = np.ones((len(distinct), len(groups)), dtype=bool)
        for name, cells in self.cells.items():
            at = cells.columns.get_indexer(distinct.get_level_values(name))
            inside &= (cells.to_numpy()[:, at] & (at >= 0)).T
        number = inside.sum(axis=1)
        if off := int((number[code] != 1).sum()):
            raise TableError(
                f"{pluralize(off, 'original record')} of {len(exact)} are in no group or in several; pass the table that "
                f"was published, with the groups as a column {groups.name!r} where these overlap"
            )
        return pd.Series(groups[inside.argmax(axis=1)][code])


# Which exact quasi-identifiers a generalised record has: the posterior over the tables that give the release.


#: Tables that sampling draws, at least: with fewer its batches say nothing.
DOWNCODING_FEWEST = 2_000


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

    The adversary knows the release, and how it was made, but nobody's exact QI. Beforehand the exact values of records
    are independent draws from distributions over the domains of the attributes; the posterior over the tables is

        P(table | release) ~ P(table) P(algorithm(table) = release).

    Cells that are as small as an algorithm can make them tell more than that the value is inside (downcoding).

    Parameters
    ----------
    release : Release
        Of generalised QI, without a population.
    algorithm : function, or Minimal
        From a table, with the columns of exact QI and sensitive values, to a Release; always the same for the same
        table. A ``functools.partial`` of :func:`maxent_cvx.anonymize.mondrian` without `l` and `safe` is recognised, see
        the notes. With :class:`Minimal` all that is known is that the release is minimal in its hierarchies.
    of : str, optional
        The attribute that is inferred; needed if there are several.
    domain : dict, optional
        Of attributes their exact values, ``{attribute: [values]}``, equally probable beforehand; or a Series of how
        probable each is. By default the values of the hierarchy; or all whole numbers between the ends of intervals; or
        the values that sets name. Of an attribute that is not a number, Mondrian's tables are those in which all occur.
    hierarchies : dict, optional
        As in :meth:`maxent_cvx.Release.from_generalized`: what nodes stand for.
    limit : int
        Tables up to which an algorithm that is not recognised is asked of each; of more they are sampled.
    n : int
        Tables that sampling draws, at least 2,000.
    seed : int
        Of sampling.

    Returns
    -------
    DowncodingResult
        P(exact value | group, sensitive value); its `error` is 0.0 where the answer is exact, else standard errors.

    Raises
    ------
    Infeasible
        If the algorithm makes the release of no table.
    Inaccurate
        If sampling does not find tables of which it does.
    GroupTooLarge
        If Mondrian may have come to these groups in too many ways.
    StatementError
        If the release is not generalised, an argument is out of range, or the values of an attribute are not known.
    TableError
        If a cell stands for none of the values, or is no node of a tree of values where one is needed.
    UnknownName
        If there is no such attribute.

    Notes
    -----
    Mondrian without `l` looks at QI alone. The ends of its intervals, and all values of its sets, are those of some
    record. Where a group of 2 k records and more was not cut, or an attribute was not cut that is wider than the one
    that was, fewer than k records are below its median, and fewer than k above: all others have the same value. And a
    cut that leaves more on one side than on the other tells how many have the value at the border. The counts that
    satisfy all of this are summed over by dynamic programming, independently in groups that no condition links; where
    that is too much work, alternative by alternative. Where that is, too, some of the conditions decide which of n
    sampled tables are kept.

    That a release is minimal is a condition on each group alone, if its groups do not overlap; it is exact, too.
    Children of a node that are equally probable beforehand remain so: what is learnt is then of several records
    together.

    Any other function is asked of each table, or is sampled by chains that draw some records anew; these may not come
    from one table of the release to another where they have little in common: then standard errors are too small. It is
    given the records in the order of their groups.

    References
    ----------
    Cohen, A. (2022). Attacks on deidentification's defenses. USENIX Security Symposium, section 4.

    Examples
    --------
    Four people of 20 to 29 were not cut into two and two: the second and the third have the same age, and the first and
    the fourth have those at the ends. Their ages are uniform beforehand:

    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 20, 20, 29], "HIV": ["yes", "no", "no", "no"]})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="HIV", k=2)
    >>> release = algorithm(people)
    >>> release.buckets.to_list()
    ['Age=[20, 29]']
    >>> result = mx.attacks.downcoding(release, algorithm)
    >>> print(result.table[[20, 24, 29]].assign(without=result.baseline[20]).round(3))
    Age                  20     24     29  without
    Group        HIV
    Age=[20, 29] no   0.269  0.058  0.269      0.1
                 yes  0.269  0.058  0.269      0.1
    """
    check_instance(release, Release, "release")
    if not isinstance(algorithm, Minimal):
        check_callable(algorithm, "algorithm")
    limit, n, seed = check_int(limit, "limit", 1), check_int(n, "n", DOWNCODING_FEWEST), check_int(seed, "seed", 0)
    if hierarchies is not None:
        check_mapping(hierarchies, "hierarchies", "{attribute: {node: [values]}}")
        for name in hierarchies:
            if name not in release.qi:
                raise unknown_name("quasi-identifier (given in hierarchies)", name, release.qi)
    nodes = read_hierarchies(hierarchies)
    if of is None and len(release.qi) > 1:
        raise StatementError(f"of which attribute is to be inferred, of={join_names(release.qi)}?")
    if of is not None and of not in release.qi:
        raise unknown_name("quasi-identifier", of, release.qi)
    cells = Cells.of(release, domain, nodes)
    a = 0 if of is None else release.qi.index(of)
    rng, group = np.random.default_rng(seed), cells.classes[0]
    if isinstance(algorithm, Minimal):
        return _downcoding_result(cells, a, minimal_columns(cells, a, algorithm.k, nodes)[group], None)
    if (k := _mondrian(release, algorithm)) is not None:
        p, error = mondrian_columns(cells, a, k, n, rng)
        return _downcoding_result(cells, a, p[group], error[group] if error.any() else None)
    asked = McmcSampler(cells, algorithm)
    if asked.n_tables <= limit:
        return _downcoding_result(cells, a, asked.enumerated(a), None)
    return _downcoding_result(cells, a, *asked.sampled(a, n, rng))


def _mondrian(release: Release, algorithm: Callable[..., Any]) -> int | None:
    """The k of a Mondrian that looks at QI alone; None of any other function."""
    if not isinstance(algorithm, partial) or algorithm.func is not mondrian or algorithm.args:
        return None
    given = algorithm.keywords
    for role, has in (("qi", release.qi), ("sa", release.sensitive)):
        if role in given and names(given[role], role) != has:
            raise StatementError(
                f"the algorithm has {role}={short_repr(given[role])}, and the release {', '.join(has)}"
            )
    if given.get("l") not in (None, 1) or given.get("safe") is not None:
        return None
    return check_int(given.get("k"), "k of the algorithm", 1)


def _downcoding_result(cells: Cells, a: int, p: np.ndarray, error: np.ndarray | None) -> DowncodingResult:
    """Label what was found."""
    release, (group, s, count) = cells.release, cells.classes
    values = release.sensitive_values.take(s).to_frame(index=False)
    rows = pd.concat([release.buckets.take(group).to_frame(index=False), values], axis=1)
    index, columns = pd.MultiIndex.from_frame(rows), cells.values[a]
    return DowncodingResult(
        table=pd.DataFrame(p, index, columns),
        baseline=pd.DataFrame(cells.prior(a)[group], index, columns),
        records=pd.Series(count, index, name="records"),
        error=0.0 if error is None else pd.DataFrame(error, index, columns),
        cells={
            name: pd.DataFrame(covered, release.buckets, held)
            for name, covered, held in zip(release.qi, cells.covered, cells.values, strict=True)
        },
    )


# Algorithms that do not distinguish the people of a bucket, and so tell nothing about who of them has which value.


def exchangeable(people: People, prior: QIDistribution | None) -> np.ndarray:
    """P(s | q) if the algorithm sees of records but the value, and the signature of a prior, in an unknown order.

    Let T' be a table T with the values of two records exchanged that are in the same bucket and have the same
    signature. To the algorithm this is another order of records, and the order is unknown, or random by an unknown
    seed: so P(these buckets | T') = P(these buckets | T), whatever P(T) is. Hence assignments of a bucket's values to
    records of one signature are as likely as they are without the algorithm: equally, or in proportion to their prior.

    Raises
    ------
    GroupTooLarge
        If there are buckets with records of several signatures, for which this says nothing.
    """
    view = people.view
    if not isinstance(view, Release):
        raise StatementError("the release does not say who is in which bucket, as this algorithm does")
    if prior is not None:
        rows = [prior.rows(view.quasi_identifiers, key) for key in prior.attribute_sets]
        signature = np.unique(np.column_stack(rows), axis=0, return_inverse=True)[1].reshape(-1)
        q, b = view.n_qb.nonzero()
        several = np.bincount(np.unique(np.stack([b, signature[q]]), axis=1)[0]) > 1
        if several.any():
            raise GroupTooLarge(
                f"{pluralize(int(several.sum()), 'bucket')} of {len(several)} put together people whom the prior "
                "distinguishes, and what their choice tells is not worked out; with few people pass seeds="
            )
    return people.baseline()


def check_anatomy(release: Release, given: Mapping[str, Any]) -> None:
    """Check that Anatomy's buckets have these sizes and values, for its arguments.

    Raises
    ------
    Infeasible
        If they do not.
    """
    n, n_buckets = release.n_records, len(release.buckets)
    l, safety = check_int(given.get("l"), "l of the algorithm", 1), Safety.read(given.get("safe"))
    is_exempt = exempt_values(release.n_sb.sum(axis=1), check_int(given.get("exempt", 0), "exempt of the algorithm", 0))
    least = int(release.n_sb.sum(axis=0).min())
    # floor(n / size) buckets of at least that size; safe= may have chosen any size from l on.
    sizes = range(l, least + 1 if safety else min(l, least) + 1)
    possible = any(n // size == n_buckets for size in sizes) and not _repeats(release, ~is_exempt)
    if not possible or (safety and safety.disclosure(Frequencies.of(release.n_sb.tocsc(), ~is_exempt)) >= safety.c):
        raise _not_made()


def check_similar_linkage(release: Release, given: Mapping[str, Any]) -> None:
    """Check what holds of all releases of similar linkage: without exempt values r different values in a bucket.

    Raises
    ------
    Infeasible
        If it does not hold.
    """
    r = check_float(given.get("r"), "r of the algorithm", 1.0, np.inf)
    if not check_int(given.get("exempt", 0), "exempt of the algorithm", 0) and (
        _repeats(release, np.ones(release.n_sb.shape[0], dtype=bool)) or release.n_sb.sum(axis=0).min() < r
    ):
        raise _not_made()


def _repeats(release: Release, protected: np.ndarray) -> bool:
    """Whether a protected value occurs twice in a bucket."""
    s, _ = release.n_sb.nonzero()
    return bool((release.n_sb.data[protected[s]] > 1).any())


def _not_made() -> Infeasible:
    return Infeasible(
        "the algorithm makes this release of no table: its buckets have other sizes or values; are the parameters of "
        "the algorithm those of the publisher?"
    )


# The assignments of values by which every refused cut had a half with fewer than l values: counted, not listed.
#
# Two dynamic programs. Inside a group, records in the same halves, of one prior, are a cell; the values go through one
# after the other, each with all ways to spread over the cells. A state is how full the cells are, how many values each
# half of the group's own cuts has (l stands for l and more), and of halves that other groups have part in which values
# they have. Of the last only those of full cells leave the group. Then the groups go through one after the other, a
# state being which values each half has so far, and l of them are all the same.


#: Sensitive values of a part, at most: a set of them is the bits of an integer.
MOST_VALUES = 62


@dataclass(frozen=True, eq=False)
class Counted:
    """The assignments of a part.

    Attributes
    ----------
    part : Part
    groups : list of GroupWays
    layers : list of Layer
        One a group, whose options are what it has of the halves that others have part in.
    sums : list of ndarray
        Forwards through these.
    log_share : float
        The logarithm of their share of all assignments within groups, without a prior; minus infinity if there is none.
    """

    part: Part
    groups: list[GroupWays]
    layers: list[Layer]
    sums: list[np.ndarray]
    log_share: float

    @classmethod
    def of(cls, part: Part) -> Self:
        """Count them.

        Raises
        ------
        GroupTooLarge
            If that is too much work.
        """
        if part.count.shape[1] > MOST_VALUES:
            raise GroupTooLarge(f"refused cuts link groups of {part.count.shape[1]} values; {MOST_VALUES} are allowed")
        groups = [GroupWays(part, number) for number in range(len(part.count))]
        log_share = sum(one.log_share for one in groups)
        if np.isinf(log_share):
            return cls(part, groups, [], [], log_share)
        layers = _across(part, groups)
        sums, log_total = forwards(layers)
        return cls(part, groups, layers, sums, log_share + log_total)

    def probabilities(self) -> np.ndarray:
        """P(value | record), shape (records, values)."""
        p = np.zeros((len(self.part.group), self.part.count.shape[1]))
        shares = backwards(self.layers, self.sums, np.ones(1))
        for one, layer, share in zip(self.groups, self.layers, shares, strict=True):
            p[one.members] = one.probabilities(share / np.where(layer.weight > 0, layer.weight, 1.0))
        return p

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw assignments, all equally likely: the value of each record, shape (n, records)."""
        value = np.empty((n, len(self.part.group)), dtype=np.int64)
        ends = drawn(self.layers, self.sums, np.zeros(n, dtype=np.int64), rng)
        for one, end in zip(self.groups, ends, strict=True):
            value[:, one.members] = one.draw(end, rng)
        return value


def _across(part: Part, groups: list[GroupWays]) -> list[Layer]:
    """Go through the groups."""
    of_half = np.array([np.isin(np.arange(len(groups)), part.group[half]) for half in part.halves])
    last = np.array([np.flatnonzero(has)[-1] for has in of_half])
    state = np.zeros((1, len(part.halves)), dtype=np.int64)
    layers = []
    for one in groups:
        offered = np.zeros((len(one.ends), len(part.halves)), dtype=np.int64)
        offered[:, one.shared] = one.ends
        check_steps(len(state) * len(offered))
        source, option = map(np.ravel, np.indices((len(state), len(offered))))
        union = part.capped(state[source] | offered[option])
        kept = part.refused(union)
        source, option, union = source[kept], option[kept], union[kept]
        union[:, last <= one.number] = 0  # no later group has part in these
        target, state = numbered(union)
        layers.append(Layer(source, option, target, one.sums[-1], len(state)))
    return layers


# Which cuts Mondrian must have refused, since its release shows that they were not made.
#
# At every group of its recursion Mondrian tries cuts in an order that QI alone decide, and makes the first that leaves
# l values on both sides. Every published group has l values, if there are two at least, so that a cut along the borders
# of published groups is never refused: the cuts that were made are the first such cuts, and the whole recursion can be
# followed without a sensitive value. All cuts that were tried before them, and all of groups that were published uncut,
# were refused. That is all that the release says besides its groups and their values: each refused cut had a half with
# fewer than l values, which contains no whole group.


@dataclass(frozen=True, eq=False)
class RefusedCuts:
    """Halves of which one of each cut has fewer than l values.

    Attributes
    ----------
    halves : list of ndarray
        Records of each half that holds no whole group.
    cuts : list of tuple of int
        The halves of each refused cut, one or two.
    order : ndarray of int
        The groups in the order in which the recursion ends with them: those of a group that was cut are neighbours.
    """

    halves: list[np.ndarray]
    cuts: list[tuple[int, ...]]
    order: np.ndarray

    @classmethod
    def of(cls, scales: Scales, group: np.ndarray, k: int) -> RefusedCuts:
        """Follow the recursion that ends with the published groups.

        Parameters
        ----------
        scales : Scales
            The exact QI.
        group : ndarray of int
            The published group of each record.
        k : int

        Raises
        ------
        Infeasible
            If no recursion does, whatever the sensitive values are.
        """
        size = np.bincount(group)
        halves: list[np.ndarray] = []
        cuts: list[tuple[int, ...]] = []
        order: list[int] = []
        left = [np.arange(len(group))]
        while left:  # the same recursion as Mondrian's
            records = left.pop()
            made = None
            inside = np.bincount(group[records], minlength=len(size)) > 0
            for low in scales.cuts(records, k):
                n_low = np.bincount(group[records], low, len(size))
                split = (n_low > 0) & (n_low < size) & inside
                if not split.any():
                    made = low
                    break
                sides = [records[low], records[~low]]
                whole = [(n_low == size)[inside].any(), (n_low == 0)[inside].any()]
                cuts.append(tuple(range(len(halves), len(halves) + 2 - sum(whole))))
                halves += [side for side, holds in zip(sides, whole, strict=True) if not holds]
            if made is not None:
                left += [records[made], records[~made]]
            elif inside.sum() == 1:
                order.append(int(group[records[0]]))
            else:
                _refuse()
        if any(not cut for cut in cuts):
            _refuse()
        return cls(halves, cuts, np.array(order))


def _refuse() -> None:
    raise Infeasible(
        "Mondrian with these parameters makes this release of no table: are they, or the population, others?"
    )


# Assignments drawn from those that are counted with some of the cuts, of which the other cuts keep some.


#: Assignments that must be kept, so that standard errors are reliable.
REJECTION_FEWEST = 100


def sampled(part: Part, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Estimate P(value | record) where counting with all cuts is too much work.

    Parameters
    ----------
    part : Part
    n : int
        Assignments that are drawn, independently.
    rng : Generator

    Returns
    -------
    p, standard_error : ndarray, shape (records, values)
        A standard error is at least 1 / (kept assignments) where something between 0 and 1 is estimated.
    log_share : float
        An estimate, too.

    Raises
    ------
    Inaccurate
        If too few are kept.
    GroupTooLarge
        If counting with one cut is too much work.
    """
    cuts: list[tuple[int, ...]] = []
    counted = None
    for cut in part.cuts:  # in the order of the recursion
        try:
            counted = Counted.of(part.of_cuts([*cuts, cut]))
        except GroupTooLarge:
            continue
        cuts.append(cut)
    if counted is None:
        raise GroupTooLarge(f"a group of {len(part.group)} records is too large to count with one of its refused cuts")
    value = counted.draw(n, rng)
    value = value[part.holds(value)]
    if len(value) < REJECTION_FEWEST:
        raise Inaccurate(
            f"of {n} sampled assignments {pluralize(len(value), 'is', 'are')} such that all {len(part.cuts)} cuts of "
            f"{pluralize(len(part.count), 'group')} were refused; {REJECTION_FEWEST} are needed: sample more (n=...)"
        )
    p = np.stack([(value == one).mean(axis=0) for one in range(part.count.shape[1])], axis=1)
    error = np.sqrt(p * (1 - p) / len(value))
    held = part.count[part.group]
    uncertain = (held > 0) & (held < held.sum(axis=1, keepdims=True))
    least = np.where(uncertain, 1 / len(value), 0.0)
    return p, np.maximum(error, least), counted.log_share + float(np.log(len(value) / n))


# The tables from which Mondrian makes a release: those in which all cuts were refused that it must have refused.


@dataclass(frozen=True, eq=False)
class MondrianPosterior:
    """The posterior over the tables.

    Attributes
    ----------
    p : ndarray, shape (people, values)
        P(s | person).
    error : ndarray or None
        Its standard errors; None if all is exact.
    part : ndarray of int
        The part of each bucket; parts are independent.
    log_share : ndarray
        Of each bucket the logarithm of the share of its part's assignments that remain; NaN with a prior.
    """

    p: np.ndarray
    error: np.ndarray | None
    part: np.ndarray
    log_share: np.ndarray


def mondrian_posterior(
    release: Release, people: People, k: int, l: int | None, n: int, rng: np.random.Generator
) -> MondrianPosterior:
    """Count the tables from which Mondrian makes a release; sample n where that is too much work.

    Raises
    ------
    Infeasible
        If it makes the release of no table.
    GroupTooLarge, Inaccurate
        If sampling is too much work, or keeps too little.
    """
    group, n_sb = _groups(people)
    scales = Scales.of(people.table, people.view.qi)
    refused = RefusedCuts.of(scales, group, k)
    too_few = k > len(people) or (l is not None and bool(((n_sb > 0).sum(axis=1) < l).any()))
    if too_few or (l is None and refused.cuts) or not _has_cells(release, people, scales, group):
        raise _no_table()
    p = people.baseline()[people.tuple_of]
    kind, prior = _kinds(people)
    error = np.zeros_like(p)
    part_of, log_share = np.arange(len(n_sb)), np.zeros(len(n_sb))
    for buckets, cuts in _linked(refused, group) if refused.cuts else ():
        assert l is not None
        part, records, values = _part(refused, group, n_sb, buckets, cuts, l)
        part = replace(part, kind=kind[records], prior=prior[:, values])
        part_of[buckets] = buckets[0]
        inside = np.ix_(records, values)
        try:
            counted = Counted.of(part)
        except GroupTooLarge:
            p[inside], error[inside], log_share[buckets] = sampled(part, n, rng)
            continue
        if np.isinf(counted.log_share):
            raise _no_table()
        p[inside], log_share[buckets] = counted.probabilities(), counted.log_share
    if people.prior is not None:  # tables that are weighed are not counted
        log_share[:] = np.nan
    return MondrianPosterior(p, error if error.any() else None, part_of, log_share)


def _groups(people: People) -> tuple[np.ndarray, np.ndarray]:
    """The bucket of each person, and how often each bucket has each value, shape (buckets, values)."""
    view = people.view
    if not isinstance(view, Release) or view.n_qb.nnz != len(view.quasi_identifiers):
        raise Infeasible("Mondrian puts people with the same QI into one group, and its groups do not overlap")
    bucket = view.n_qb.tocsr()
    return bucket.indices[bucket.indptr[people.tuple_of]], view.n_sb.toarray().T


def _has_cells(release: Release, people: People, scales: Scales, group: np.ndarray) -> bool:
    """Whether the release generalises these groups as Mondrian does."""
    records = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    cells = generalized(scales, records, release.qi)
    table = people.assigned(people.value).assign(**{name: cells[name] for name in release.qi})
    made = partial(Release.from_generalized, qi=release.qi, sa=release.sensitive)
    return difference(release, made, table, {}) == 0


def _kinds(people: People) -> tuple[np.ndarray, np.ndarray]:
    """The kind of each person, and P(value | kind); everybody is of one kind without a prior."""
    if people.believed is None:
        return np.zeros(len(people), dtype=np.int64), np.ones((1, len(people.view.sensitive_values)))
    prior, kind = np.unique(people.believed, axis=0, return_inverse=True)
    return kind.reshape(-1)[people.tuple_of], prior


def _no_table() -> Infeasible:
    return Infeasible("Mondrian makes this release of no table of these people; has it other parameters?")


def _linked(refused: RefusedCuts, group: np.ndarray) -> list[tuple[np.ndarray, list[tuple[int, ...]]]]:
    """The buckets of each part, in the order of the recursion, and its cuts."""
    ends = [np.unique(group[np.concatenate([refused.halves[half] for half in cut])]) for cut in refused.cuts]
    cut = np.repeat(np.arange(len(ends)), [len(one) for one in ends])
    n = int(group.max()) + 1
    of = sp.csr_array((np.ones(len(cut)), (np.concatenate(ends), cut)), shape=(n, len(ends)))
    label = connected_components(of @ of.T, directed=False)[1]
    label_of_cut = label[[one[0] for one in ends]]
    in_order = label[refused.order]
    return [
        (refused.order[in_order == one], [refused.cuts[i] for i in np.flatnonzero(label_of_cut == one)])
        for one in np.unique(label_of_cut)
    ]


def _part(
    refused: RefusedCuts, group: np.ndarray, n_sb: np.ndarray, buckets: np.ndarray, cuts: list[tuple[int, ...]], l: int
) -> tuple[Part, np.ndarray, np.ndarray]:
    """A part by itself: its records and values numbered anew."""
    number = np.full(len(n_sb), -1)
    number[buckets] = np.arange(len(buckets))
    records = np.flatnonzero(number[group] >= 0)
    values = np.flatnonzero(n_sb[buckets].any(axis=0))
    own, renamed = renumbered(cuts)
    halves = np.array([np.isin(records, refused.halves[half]) for half in own])
    kind, prior = np.zeros(len(records), dtype=np.int64), np.ones((1, len(values)))
    return Part(number[group[records]], n_sb[np.ix_(buckets, values)], halves, renamed, l, kind, prior), records, values


# What an algorithm that is known tells: probabilities, and how many assignments remain.


@dataclass(frozen=True, eq=False, repr=False)
class MinimalityResult(AttackResult):
    """P(s | q, release, algorithm), beside what the release says without its algorithm.

    Attributes
    ----------
    table, baseline, records, error
        As of any :class:`maxent_cvx.attacks.AttackResult`: rows are QI tuples.
    worlds : DataFrame
        Of each bucket: `part`, equal for those of which the algorithm tells something together; how many assignments
        of values to people the part has (`log10_all`), and of how many of these the algorithm makes the release
        (`log10_left`, NaN where it is sampled, or a prior weighs them), decimal logarithms. The parts are independent
        of each other.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from functools import partial
    >>> people = pd.DataFrame({"Age": [20, 30, 40, 50], "HIV": ["yes", "yes", "no", "no"]})
    >>> algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="HIV", k=2, l=2)
    >>> result = mx.attacks.minimality(algorithm(people), algorithm, population=people)
    >>> result                                   # who was cut off would have been alike: two tables of six
    <minimality of 4 records: the likeliest value has a probability of 0.50 on average, 0.50 without the attack>
    >>> print((10 ** result.worlds[["log10_all", "log10_left"]]).round().to_string(index=False))
     log10_all  log10_left
           6.0         2.0
    """

    worlds: pd.DataFrame

    title: ClassVar[str | None] = "minimality"


def worlds_of(buckets: pd.Index, part: np.ndarray, log_all: np.ndarray, log_left: np.ndarray) -> pd.DataFrame:
    """The table of assignments, from natural logarithms, one a bucket."""
    columns = {"part": part, "log10_all": log_all / np.log(10), "log10_left": log_left / np.log(10)}
    return pd.DataFrame(columns, index=buckets)


# Tables drawn by chains that swap values within blocks, where there are too many to ask of each.


#: Chains, each from a table of its own; and batches of each, whose means tell its standard error.
CHAINS, BATCHES = 4, 10
#: The share of a chain that is left out in the beginning.
BURN_IN = 0.2
#: How often a block is dealt anew: only so chains come from one kind of tables to another that has little in common.
ANEW = 1 / 3
#: Tables that the search for a first one asks of, for each person; the records by which a worse one may be worse.
PATIENCE, TEMPERATURE = 50, 0.5


def swapped(box: BlackBox, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Estimate P(s | q) by the Metropolis algorithm.

    A proposal deals the values of one random block anew, every third time; else it swaps the values of a random pair of
    a block, and of another with probability 1/2, and so on. It is as likely as its reverse, and is accepted with
    probability P(new) P(release | new) / (P(old) P(release | old))).

    Parameters
    ----------
    box : BlackBox
    n : int
        Tables that are asked of, all chains together.
    rng : Generator

    Returns
    -------
    p, standard_error : ndarray, shape (tuples, values)
        The standard error is the larger one of what batches and of what chains differ by; at least one table in all
        that chains moved to, where something between 0 and 1 is estimated.

    Raises
    ------
    Inaccurate
        If no first table is found, or a chain never moves.
    """
    search = min(PATIENCE * len(box.people), n)
    chains = [_chain(box, n // CHAINS, search, rng) for _ in range(CHAINS)]
    means = np.stack([found for found, _ in chains])
    of_batches = means.reshape(-1, *means.shape[2:]).std(axis=0, ddof=1) / np.sqrt(len(means) * means.shape[1])
    of_chains = means.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(CHAINS)
    baseline = box.people.baseline()
    least = np.where((baseline > 0) & (baseline < 1), 1 / sum(moves for _, moves in chains), 0.0)
    return means.mean(axis=(0, 1)), np.maximum.reduce([of_batches, of_chains, least])


def _chain(box: BlackBox, n: int, search: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """The mean P(s | q) of each batch of one chain, and how often it moved."""
    numbers = np.arange(len(box.people.view.sensitive_values))
    state, weight = _first(box, search, rng)
    burn_in, moves = int(n * BURN_IN), 0
    size = -(-(n - burn_in) // BATCHES)
    sums = np.zeros((BATCHES, len(box.people), len(numbers)))
    taken = np.zeros(BATCHES)
    for step in range(n):  # sequential by nature
        other = _proposal(box, state, rng)
        likelihood = box.ask(other)[0]
        if np.log(rng.random()) + weight < likelihood:
            moves += 1
            state, weight = other, likelihood
        if step >= burn_in:
            batch = (step - burn_in) // size
            sums[batch] += state[:, None] == numbers
            taken[batch] += 1
    if not moves:
        raise Inaccurate(f"in {n} attempts no swap of values leaves the release as it is: its tables cannot be sampled")
    kept = taken > 0
    means = [box.people.by_tuple(one / k) for one, k in zip(sums[kept], taken[kept], strict=True)]
    return np.stack(means), moves


def _first(box: BlackBox, search: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Search a table of which the release can be, and its logarithmic weight: swaps bring its release nearer."""
    people = box.people
    order = np.lexsort((rng.random(len(people)), people.block))
    state = np.empty_like(people.value)
    state[np.argsort(people.block, kind="stable")] = people.value[order]
    weight, off = box.ask(state)
    for _ in range(search):
        if weight > -np.inf:
            return state, weight
        other = _proposal(box, state, rng)
        likelihood, distance = box.ask(other)
        if distance <= off or rng.random() < np.exp((off - distance) / TEMPERATURE):
            state, weight, off = other, likelihood, distance
    raise Inaccurate(
        f"no table was found in {search} attempts of which the algorithm makes this release: its "
        "parameters may be others, or such tables are too rare to be sampled; a larger n= searches longer"
    )


def _proposal(box: BlackBox, state: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal a block anew, or swap the values of a random pair of a block, once or more often."""
    other = state.copy()
    if rng.random() < ANEW:
        members = np.flatnonzero(box.people.block == rng.choice(box.people.block))
        other[members] = rng.permutation(other[members])
        return other
    for _ in range(rng.geometric(0.5)):
        one = rng.integers(len(state))
        two = rng.choice(np.flatnonzero(box.people.block == box.people.block[one]))
        other[[one, two]] = other[[two, one]]
    return other


#: The arguments with which a posterior is computed without asking the algorithm. With any other it is asked of tables.
MODELLED: dict[Callable[..., Any], set[str]] = {
    anatomy: {"qi", "sa", "l", "exempt", "safe"},
    mondrian: {"qi", "sa", "k", "l", "id"},
    similar_linkage: {"qi", "sa", "prior", "r", "condition", "exempt", "suppress"},
}
#: Tables that a chain may be asked of, at least: with fewer its batches say nothing.
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

    The adversary knows the release, the exact QI of everybody in it, and the algorithm with its parameters. P(table) is
    the same for all assignments of each bucket's values to its people; with a prior it is in proportion to the product
    of P(s | q) over the records. That a group was not cut further, say, tells that cutting would have left too few
    values in a half (the minimality attack).

    Parameters
    ----------
    release : Release
        As it was published.
    algorithm : function
        From a table, with the columns of QI and sensitive values, to a Release; always the same for the same table. Of
        a table that it refuses with a TableError it publishes nothing. A ``functools.partial`` of
        :func:`maxent_cvx.anonymize.anatomy`, :func:`~maxent_cvx.anonymize.mondrian` without `safe`, or
        :func:`~maxent_cvx.anonymize.similar_linkage` is recognised, see the notes.
    population : DataFrame, optional
        The QI of everybody in the release, a row each: needed where the release has them generalised. The algorithm is
        given tables in this order of rows; by default people are sorted.
    seeds : list of int, optional
        The algorithm is called with a table and ``seed=``, one of these; which one the publisher took is unknown, and
        all are equally likely.
    prior : QIDistribution, optional
        What the adversary believes of people beforehand, P(s | signature), of one attribute set. The baseline is then
        what follows from it and the release alone, as in :func:`maxent_cvx.worlds.linkage`.
    limit : int
        Tables up to which the algorithm is asked of each; more are sampled. Without effect for an algorithm that is
        recognised.
    n : int
        Tables that sampling asks of, at least 2,000. Each of its four chains asks of up to n more to find a first one.
    seed : int
        Of sampling.
    progress : bool, optional
        Show how many tables were asked of, as a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    MinimalityResult
        P(s | QI tuple); its `error` is 0.0 where the answer is exact, else standard errors.

    Raises
    ------
    Infeasible
        If the algorithm makes the release of no table.
    Inaccurate
        If sampling does not find tables of which it does.
    GroupTooLarge
        If similar linkage has put people together whom its prior distinguishes; or a bucket is too large to be
        counted with a prior of one's own.
    TableError
        If the population is not the people of the release.
    StatementError
        If `release` is no Release, `algorithm` no function or one of other columns, a number is out of range, or there
        is a prior, and the groups overlap.
    UnknownName
        If the population lacks a column, or the prior a signature or a value.

    Notes
    -----
    Anatomy, without a seed in the partial: the seed is taken to be unknown, although the default is 0. Then exchanging
    the values of two records of a bucket changes no probability, since Anatomy looks at sensitive values alone: the
    posterior is the baseline. Similar linkage looks at signatures of the prior, too: the same holds in buckets of one
    signature. From a seed and an order of people that are both known, much can be inferred: put the seed into the
    partial. Of both it is checked that the buckets have the sizes and values that the arguments demand.

    Mondrian without `l` looks at QI alone, and nothing is told. With `l` its cuts can be followed without a sensitive
    value, since a cut along the borders of published groups is never refused; every cut that was tried before, or of a
    published group, was refused, so that one of its halves has fewer than l values. The assignments for which that
    holds are counted by dynamic programming, independently in groups that no refused cut links. Where that is too much
    work, as many cuts as possible are counted with, and the others decide which of n sampled assignments are kept.

    Any other function, and these with any other argument, such as Mondrian with `safe`, is asked of each table, or is
    sampled by chains of swaps (which may not come from one table of the release to another where these have little in
    common: then their standard errors are too small).

    References
    ----------
    Wong, R. C.-W., Fu, A. W.-C., Wang, K. and Pei, J. (2007). Minimality attack in privacy preserving data publishing.
    VLDB, 543-554.

    Examples
    --------
    Eight people are published as one group, two of whom have HIV. A cut between the ages would have left two people and
    six, and was refused: both who have it are on one side, in 1 table among the two people and in 15 among the six:

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
    limit, n, seed = check_int(limit, "limit", 1), check_int(n, "n", FEWEST), check_int(seed, "seed", 0)
    if population is not None:
        check_dataframe(population, "population")
        check_columns(population, {"quasi-identifiers of the release": release.qi}, "the population")
    known = None if seeds is None else [check_int(one, "seeds", 0) for one in check_list(seeds, "seeds", "numbers")]
    if known is not None and not known:
        raise StatementError("seeds must be a list of at least one number")
    if prior is not None:
        check_instance(prior, QIDistribution, "prior")
    people = People.of(release, population, prior)
    rng = np.random.default_rng(seed)
    given = _recognised(release, algorithm, known)
    if given is None:
        with progress_bar(None, "minimality", progress, unit=" tables") as bar:
            return _of_black_box(BlackBox(people, release, algorithm, known, bar.update), limit, n, rng)
    func: Callable[..., Any] = algorithm.func  # type: ignore[attr-defined]
    if func is mondrian:
        k, l = check_int(given.get("k"), "k of the algorithm", 1), given.get("l")
        l = None if l is None else check_int(l, "l of the algorithm", 1)
        found = mondrian_posterior(release, people, k, l, n, rng)
        error = None if found.error is None else people.by_tuple(found.error)
        return _result(people, people.by_tuple(found.p), error, _in_parts(release, found.part, found.log_share))
    if func is anatomy:
        p = exchangeable(people, None)
        check_anatomy(release, given)
    else:
        p = exchangeable(people, check_instance(given.get("prior"), QIDistribution, "prior of the algorithm"))
        check_similar_linkage(release, given)
    n_buckets = len(release.buckets)
    return _result(people, p, None, _in_parts(release, np.arange(n_buckets), np.zeros(n_buckets)))


def _recognised(release: Release, algorithm: Callable[..., Any], seeds: list[int] | None) -> dict[str, Any] | None:
    """The arguments of an algorithm whose posterior is known for all of them; None of any other."""
    if type(algorithm) is not partial or algorithm.func not in MODELLED:
        return None
    given = algorithm.keywords
    if algorithm.func is mondrian and seeds is not None:
        raise StatementError("seeds are given, and Mondrian draws nothing at random: leave them out")
    for role, has in (("qi", release.qi), ("sa", release.sensitive)):
        if role in given and names(given[role], role) != has:
            raise StatementError(
                f"the algorithm has {role}={short_repr(given[role])}, and the release {', '.join(has)}"
            )
    given = {name: value for name, value in given.items() if not (name == "safe" and value is None)}
    if algorithm.args or seeds is not None or not given.keys() <= MODELLED[algorithm.func]:
        return None
    return given


def _of_black_box(box: BlackBox, limit: int, n: int, rng: np.random.Generator) -> MinimalityResult:
    """Ask of all tables, or of some."""
    people = box.people
    part = np.zeros(len(people.view.buckets), dtype=np.int64)
    log_all = np.full(len(part), math.log(people.n_assignments))
    if people.n_assignments > limit:
        p, error = swapped(box, n, rng)
        return _result(people, p, error, worlds_of(people.view.buckets, part, log_all, np.full(len(part), np.nan)))
    p, left = enumerated(box)
    log_left = np.full(len(part), math.log(left))
    return _result(people, people.by_tuple(p), None, worlds_of(people.view.buckets, part, log_all, log_left))


def _in_parts(release: Release, part: np.ndarray, log_share: np.ndarray) -> pd.DataFrame:
    """How many assignments parts have, and what is left of them."""
    n_sb = release.n_sb
    of_values = sp.csr_array((gammaln(n_sb.data + 1), n_sb.indices, n_sb.indptr), shape=n_sb.shape)
    of_bucket = gammaln(n_sb.sum(axis=0) + 1) - of_values.sum(axis=0)
    log_all = np.bincount(part, of_bucket)[part]
    return worlds_of(release.buckets, part, log_all, log_all + log_share)


def _result(people: People, p: np.ndarray, error: np.ndarray | None, worlds: pd.DataFrame) -> MinimalityResult:
    """Label what was found."""
    view, columns = people.view, people.view.sensitive_values
    return MinimalityResult(
        table=pd.DataFrame(p, people.index, columns),
        baseline=pd.DataFrame(people.baseline(), people.index, columns),
        records=pd.Series(view.n_q, people.index, name="records"),
        error=0.0 if error is None else pd.DataFrame(error, people.index, columns),
        worlds=worlds,
    )
