"""Similar linkage: groups of people with similar priors (Probabilistic Inference Protection, IV, V)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from .._utils.errors import SolverError, TableError, join_names, pluralize
from .._utils.progress import progress_bar
from .._utils.tables import Microdata, densely, names, tally
from .._utils.validation import check_instance, check_int, check_label, check_seed
from ..priors import QIDistribution
from ..releases.release import Release
from ..worlds.conditions import DEVIATION_ROUNDING, deviations, one_r, swap_bounds
from ..worlds.groups import Groups, linked
from .anatomy import draw, exempt_values, rank

#: Largest number of steps to enumerate the worlds of one candidate, as needed for fourteen values.
FEW_STEPS = 3e5


@dataclass(frozen=True, eq=False)
class PrivacyCriterion:
    """P(t : x) <= 1 / r for every tuple t and every protected value x, for each known attribute set."""

    tables: list[tuple[np.ndarray, np.ndarray]]
    protected: np.ndarray  # mask of the protected sensitive values; the others may repeat in a group
    r: float
    condition: str  # one of :data:`CONDITIONS`

    def violation(self, group: np.ndarray, signature: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Compute the violation of the condition by each group, relative to the limit: the condition holds up to 1.

        Records are given by group (from 0), joint signature and value.
        """
        violation = np.zeros(group.max(initial=-1) + 1)
        for position, table in self.tables:  # one per attribute set
            groups = Groups.of_records(table, group, position[signature], value)
            violation = np.maximum(violation, CONDITIONS[self.condition](self, groups))
            if (table[position[signature], value] == 0).any():  # otherwise the truth is a possible world
                violation[groups.without_world()] = np.inf
        return violation

    def work(self, n: int) -> float:
        """Estimate the work to check a group of n different records, in units of a few nanoseconds."""
        steps = n * 2.0**n
        return 10 * steps if self.condition == "exact" and steps <= FEW_STEPS else 5 * float(n) ** 4

    def largest(self, groups: Groups, p: np.ndarray) -> np.ndarray:
        """Compute the largest probability of a protected value in each group, in units of 1 / r, from one p per pair."""
        counted = self.protected[groups.values.indices[groups.pairs[2]]]
        return np.asarray(self.r * np.maximum.reduceat(np.where(counted, p, 0.0), groups.start[:-1]))

    def sound(self, groups: Groups) -> np.ndarray:
        """Compute violations by swaps."""
        return self.largest(groups, swap_bounds(groups)[0])

    def exact(self, groups: Groups) -> np.ndarray:
        """Compute violations by all possible worlds; by swaps if there are too many."""
        violation = self.largest(groups, linked(groups, FEW_STEPS, strict=False))
        return np.where(np.isnan(violation), self.sound(groups), violation) if np.isnan(violation).any() else violation

    def delta(self, groups: Groups) -> np.ndarray:
        """Compute violations of the paper's condition, Delta_max <= Delta_ceil, for values that occur once."""
        deviation, ceiling, holds = deviations(groups, self.r)
        violation = np.divide(deviation, ceiling, out=np.full(len(ceiling), np.inf), where=ceiling > 0)
        violation[holds] = np.minimum(violation[holds], 1.0)  # for rounding, and if all must be equal and are
        violation[groups.values.data > 1] = np.inf
        violation[~self.protected[groups.values.indices]] = 0.0
        return np.asarray(np.maximum.reduceat(violation, groups.values.indptr[:-1]))


#: Tests of whether a group is safe: a proof by swaps, all possible worlds, or the condition of the paper.
CONDITIONS: Mapping[str, Callable[[PrivacyCriterion, Groups], np.ndarray]] = {
    "sound": PrivacyCriterion.sound,
    "exact": PrivacyCriterion.exact,
    "delta": PrivacyCriterion.delta,
}


# The number of groups of each pattern: a linear program over safe patterns with column generation.
#
# Records with the same signature and value are of the same kind, and interchangeable. A pattern is the number of records
# of each kind in a group. To choose the number of groups of each pattern so that the fewest records remain is a
# cutting-stock problem (Gilmore and Gomory, 1961): its dual prices show which kinds are hard to place, and a new pattern
# enters if it is safe and has a negative reduced cost, that is, if the sum of its prices exceeds its cost.


#: The cost of a new group, relative to 1 for a remaining record, so that existing groups are preferred.
COST_OF_NEW = 1e-3
#: Number of chains extended at once, of kinds offered to each, and the shares of all kinds from which these are drawn.
CHAINS, OFFERED, SHARES = 24, 60, (0.4, 0.9)
#: Largest number of records of a pattern.
LONGEST = 24
#: Rounds without gain, after which the search for patterns ends.
ROUNDS_WITHOUT_GAIN = 8
#: Numbers of remaining records below this, in the linear program, count as 0.
NO_RECORDS = 1e-6
#: Node limit of the integer program, fixed so that the same seed gives the same release; and the largest number of
#: patterns that it chooses from without a selection.
NODES, FEW_PATTERNS = 500, 1_000


@dataclass(eq=False)
class GroupPatterns:
    """Safe patterns over the kinds of records."""

    criterion: PrivacyCriterion
    signature: np.ndarray  # one per kind
    value: np.ndarray  # one per kind
    records: np.ndarray  # one count per kind
    table: sp.csr_array  # (patterns, kinds)
    there: np.ndarray  # number of existing groups of each pattern; 0 for new patterns
    rng: np.random.Generator
    work: float = 0.0  # total work so far

    def best(self, work: float) -> np.ndarray:
        """Search for patterns until there is no gain, and return the integer number of groups of each."""
        used, prices = self._least()
        least = [(self.records - self._taken(used)).sum()]
        with progress_bar(None, "rearranging groups", unit=" rounds", leave=False) as bar:
            while self.work < work and least[-1] >= NO_RECORDS:
                if len(least) > ROUNDS_WITHOUT_GAIN and least[-1 - ROUNDS_WITHOUT_GAIN] - least[-1] < NO_RECORDS:
                    break
                for share in SHARES:
                    self._add(self._grown(prices, share, work))
                used, prices = self._least()
                least.append((self.records - self._taken(used)).sum())
                bar.update()
        return self._integer(used)

    def _taken(self, used: np.ndarray) -> np.ndarray:
        """Count the records of each kind in groups; `used` has one number per pattern, of kept, then of new groups."""
        return np.asarray(self.table.T @ used.reshape(2, -1).sum(axis=0))

    def _program(self, doubled: np.ndarray) -> tuple[np.ndarray, sp.csc_array, np.ndarray]:
        """Build costs, columns and upper bounds: kept groups, new groups of some patterns, remaining records."""
        n, kinds = self.table.shape[0], len(self.records)
        columns = sp.hstack([self.table.T, self.table[doubled].T, sp.eye_array(kinds)], format="csc")
        cost = np.concatenate([np.zeros(n), np.full(len(doubled), COST_OF_NEW), np.ones(kinds)])
        return cost, columns, np.concatenate([self.there, np.full(len(doubled), np.inf), self.records])

    def _least(self) -> tuple[np.ndarray, np.ndarray]:
        """Solve the linear program; return fractional numbers of groups, and the dual price of each kind."""
        n = self.table.shape[0]
        cost, columns, most = self._program(np.arange(n))
        bounds = np.column_stack([np.zeros(len(most)), most])
        answer = linprog(cost, A_eq=columns, b_eq=self.records, bounds=bounds, method="highs")  # type: ignore[call-overload]
        if answer.x is None:  # unexpected, since leaving all records over is feasible
            raise SolverError(f"the linear program over patterns of groups has no answer: {answer.message}")
        return answer.x[: 2 * n], answer.eqlin.marginals

    def _integer(self, used: np.ndarray) -> np.ndarray:
        """Solve the integer program for kept, then new groups; if there are many patterns, with the used ones only."""
        n = self.table.shape[0]
        doubled = np.arange(n) if n <= FEW_PATTERNS else np.flatnonzero(used[n:] > 0)
        cost, columns, most = self._program(doubled)
        # The numbers of kept groups are close to those of the linear program, which shortens the search.
        low = np.concatenate([np.floor(used[:n] - 1), np.zeros(len(most) - n)]).clip(0)
        result = milp(
            cost,
            integrality=np.concatenate([np.ones(n + len(doubled)), np.zeros(len(self.records))]),
            bounds=Bounds(low, most),
            constraints=LinearConstraint(columns, self.records, self.records),
            options={"node_limit": NODES},
        )
        answer = np.floor(used + 1e-9)
        if result.x is not None:
            answer = np.zeros(2 * n)
            answer[:n] = np.round(result.x[:n])
            answer[n + doubled] = np.round(result.x[n : n + len(doubled)])
        return answer.astype(np.int64) if (self._taken(answer) <= self.records).all() else np.floor(used).astype(int)

    def _add(self, members: np.ndarray) -> None:
        """Add patterns, given as rows of kinds padded by -1, without duplicates."""
        row, place = np.nonzero(members >= 0)
        new = sp.csr_array((np.ones(len(row)), (row, members[row, place])), shape=(len(members), len(self.records)))
        both = sp.vstack([self.table, new], format="csr")
        both.sum_duplicates()
        first = np.sort(distinct_rows(both)[0])
        self.table = both[first]
        self.there = np.concatenate([self.there, np.zeros(len(first) - len(self.there), dtype=np.int64)])

    def _grown(self, prices: np.ndarray, share: float, work: float) -> np.ndarray:
        """Build groups from kinds that are hard to place, extended by the kind that makes each safest."""
        # Pricing: a new pattern is useful if the sum of its dual prices exceeds its cost. Chains start with expensive kinds
        # and are extended greedily, by violation minus a random weight times price, until they are safe.
        hard = np.argsort(-prices)[: max(CHAINS // 3, 1)]
        hard = hard[prices[hard] > COST_OF_NEW]
        grown = [np.empty((0, 1), dtype=np.int64)]
        chains = self.rng.choice(hard, CHAINS)[:, None] if len(hard) else grown[0]
        price_weight = self.rng.choice([0.0, 0.3, 1.0], len(chains))  # of dual prices relative to the violation
        longest = min(len(self.criterion.protected), LONGEST)
        while len(chains) and chains.shape[1] < longest and self.work < work:
            chain, kind = self._offers(chains, prices, share)
            if not len(chain):
                break
            groups = np.column_stack([chains[chain], kind])
            self.work += len(groups) * self.criterion.work(groups.shape[1])
            of = np.repeat(np.arange(len(groups)), groups.shape[1])
            violation = self.criterion.violation(of, self.signature[groups.ravel()], self.value[groups.ravel()])
            order = np.lexsort((violation - price_weight[chain] * prices[kind], chain))
            best = order[np.unique(chain[order], return_index=True)[1]]
            safe = violation[best] <= 1 + DEVIATION_ROUNDING
            grown.append(groups[best[safe]])
            chains, price_weight = groups[best[~safe]], price_weight[chain[best[~safe]]]
        width = max(patterns.shape[1] for patterns in grown)
        return np.concatenate(
            [np.pad(patterns, ((0, 0), (0, width - patterns.shape[1])), constant_values=-1) for patterns in grown]
        )

    def _offers(self, chains: np.ndarray, prices: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Draw kinds for each chain, without its protected values, if the prices would exceed the cost of a group."""
        values = self.value[chains]
        has = np.zeros((len(chains), len(self.criterion.protected)), dtype=bool)
        has[np.arange(len(chains))[:, None], values] = True
        worth = prices[chains].sum(axis=1)[:, None] + prices > COST_OF_NEW
        possible = worth & ~(has & self.criterion.protected)[:, self.value]
        lot = np.where(possible & (self.rng.random(possible.shape) < share), self.rng.random(possible.shape), np.inf)
        chosen = np.argsort(lot, axis=1)[:, :OFFERED]
        chain, place = np.nonzero(np.isfinite(np.take_along_axis(lot, chosen, axis=1)))
        return chain, chosen[chain, place]


def distinct_rows(table: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the first occurrence of each distinct row of a table of counts, and the number of each row among them."""
    # With a random weight for each column, different rows have different sums.
    sums = table @ np.random.default_rng(0).random(table.shape[1])
    _, first, number = np.unique(sums, return_index=True, return_inverse=True)
    return first, number


# Groups drawn from piles of values, as small as the privacy criterion allows, from similar signatures upwards.


#: Largest size of groups that are tried, unless r requires larger ones.
LARGEST = 24


@dataclass(eq=False)
class Grouping:
    """Records, and the current group of each."""

    criterion: PrivacyCriterion
    signature: np.ndarray  # one per record; similar signatures have adjacent numbers
    value: np.ndarray  # one per record
    rng: np.random.Generator
    group: np.ndarray = field(init=False)  # one per record; -1 for records without a group
    next: int = 0  # the number of the next group

    def __post_init__(self) -> None:
        self.group = np.full(len(self.value), -1)

    @property
    def smallest(self) -> int:
        """The smallest size of a group, r rounded up."""
        return int(np.ceil(self.criterion.r))

    @property
    def left(self) -> np.ndarray:
        """The records without a group."""
        return np.flatnonzero(self.group < 0)

    def from_the_bottom(self, parts: list[tuple[int, int]]) -> None:
        """Group records with equal signatures; group the remaining ones with those of similar signatures, upwards."""
        records = self.rng.permutation(len(self.value))
        records = records[np.argsort(self.signature[records], kind="stable")]
        start = np.searchsorted(self.signature[records], np.arange(parts[-1][1] + 1))
        waiting: dict[int, tuple[int, np.ndarray]] = {}  # by the start of a part: its end and its remaining records
        for low, high in parts:
            if high - low == 1:
                pool = records[start[low] : start[high]]
            else:
                middle, first = waiting.pop(low)
                pool = np.concatenate([first, waiting.pop(middle)[1]])
            group, _ = self.drawn(pool, self.smallest, tries=1)
            self.accept(pool, group)
            waiting[low] = high, pool[group < 0]

    def accept(self, pool: np.ndarray, group: np.ndarray) -> None:
        """Accept the new groups of a pool, numbered after all existing groups."""
        self.group[pool] = np.where(group >= 0, group + self.next, -1)
        self.next += int(group.max(initial=-1)) + 1

    def drawn(self, pool: np.ndarray, size: int, tries: int) -> tuple[np.ndarray, int]:
        """Draw groups from the largest piles of a pool; draw those that violate the criterion again, and larger."""
        group, n, again = np.full(len(pool), -1), 0, tries
        ungrouped = np.arange(len(pool))
        while len(ungrouped):
            pile = self.pile(pool[ungrouped], size)  # as Anatomy does: one record from each of the largest piles
            order = np.argsort(pile, kind="stable")
            ungrouped = ungrouped[order]
            drawn = draw(pile[order], size, self.rng)
            got = np.flatnonzero(drawn >= 0)
            if not len(got):
                break
            is_safe = self.kept(pool[ungrouped[got]], drawn[got])
            safe = got[is_safe[drawn[got]]]
            group[ungrouped[safe]] = (np.cumsum(is_safe) - 1 + n)[drawn[safe]]
            n += int(is_safe.sum())
            ungrouped = np.delete(ungrouped, safe)
            if is_safe.all():
                break
            again -= 1  # an unsafe draw is repeated some times before larger groups are tried
            if not again:
                size, again = size + 1 + size // 4, tries
            if size > max(LARGEST, self.smallest):
                break
            ungrouped = ungrouped if again == tries else self.rng.permutation(ungrouped)
        return group, n

    def kept(self, records: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return a mask of the groups that satisfy the criterion."""
        violation = self.criterion.violation(group, self.signature[records], self.value[records])
        return np.asarray(violation <= 1 + DEVIATION_ROUNDING)

    def pile(self, records: np.ndarray, size: int) -> np.ndarray:
        """Return the pile of each record, which is its value; values that may repeat are split into several piles."""
        value = self.value[records]
        order = np.argsort(value, kind="stable")
        nth = np.empty(len(value), dtype=np.int64)
        nth[order] = rank(value[order])
        part = np.where(self.criterion.protected[value], 0, nth // max(len(records) // size, 1))
        return part * len(self.criterion.protected) + value


# Groups dissolved and rebuilt according to a linear program over safe patterns.


#: Largest number of kinds of records, by signature and value, that are rearranged.
MOST_KINDS = 5_000


def rearrange(grouping: Grouping, work: float) -> bool:
    """Rearrange groups by safe patterns so that fewer records remain; return whether all work was spent."""
    n_values = len(grouping.criterion.protected)
    kinds, kind = np.unique(grouping.signature * n_values + grouping.value, return_inverse=True)
    if not len(grouping.left) or len(kinds) > MOST_KINDS:
        return False
    inside = np.flatnonzero(grouping.group >= 0)
    group = densely(grouping.group[inside])
    table = tally(group, kind[inside], (int(group.max(initial=-1)) + 1, len(kinds)), None)
    first, pattern = distinct_rows(table)
    patterns = GroupPatterns(
        grouping.criterion, kinds // n_values, kinds % n_values, np.bincount(kind), table[first], np.bincount(pattern),
        grouping.rng,
    )  # fmt: skip
    used = patterns.best(work)
    n = patterns.table.shape[0]
    # The first groups of each pattern are kept; all other records are assigned to new groups at random, by kind.
    stays = rank(np.sort(pattern))[np.argsort(np.argsort(pattern, kind="stable"))] < used[:n][pattern]
    grouping.group[inside[~stays[group]]] = -1
    new = sp.csr_array(patterns.table[np.repeat(np.arange(n), used[n:])])
    row = np.repeat(np.arange(new.shape[0]), np.diff(new.indptr))
    slot_group, slot_kind = (np.repeat(x, new.data.astype(int)) for x in (row, new.indices))
    ungrouped = grouping.rng.permutation(grouping.left)
    ungrouped = ungrouped[np.argsort(kind[ungrouped], kind="stable")]
    slots = np.argsort(slot_kind, kind="stable")
    start = np.searchsorted(kind[ungrouped], slot_kind[slots])
    grouping.accept(ungrouped[start + rank(slot_kind[slots])], slot_group[slots])
    return patterns.work >= work


# A local search: some groups are dissolved and drawn again together with some of the remaining records.


#: Number of records placed at a time, and the initial number of groups dissolved for each of them.
AT_A_TIME, AMONG = 4, 8
#: Number of attempts with groups of one size before larger groups are tried.
TRIES = 3


def place_left(grouping: Grouping, patience: int) -> None:
    """Dissolve groups and draw them again with some of the remaining records, as long as more records are placed."""
    among, failed = AMONG, 0
    while len(ungrouped := grouping.left) and failed < 3 * patience:
        batch = grouping.rng.permutation(ungrouped)[:AT_A_TIME]
        pool = np.concatenate([batch, _members(grouping, batch, among * len(batch))])
        piles = np.bincount(np.unique(grouping.pile(pool, grouping.smallest), return_inverse=True)[1])
        most = max(min(len(piles), len(pool) // int(piles.max()), LARGEST), grouping.smallest)
        grouping.rng.shuffle(pool)
        group, n = grouping.drawn(pool, int(grouping.rng.integers(grouping.smallest, most + 1)), TRIES)
        _join(grouping, pool, group, n)
        if (group < 0).sum() < len(batch):
            grouping.accept(pool, group)
            failed = 0
        else:
            failed += 1
            among *= 2 if failed % patience == 0 else 1


def _members(grouping: Grouping, batch: np.ndarray, n: int) -> np.ndarray:
    """Return the records of n groups: some with the most similar signatures, the others at random."""
    inside = np.flatnonzero(grouping.group >= 0)
    names, group = np.unique(grouping.group[inside], return_inverse=True)
    gap = np.abs(grouping.signature[inside][:, None] - grouping.signature[batch]).min(axis=1)  # few in the batch
    least = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(least, group, gap)
    order = np.lexsort((grouping.rng.random(len(names)), least))
    similar = int(n * grouping.rng.choice([0.3, 0.5, 0.7]))
    chosen = np.zeros(len(names), dtype=bool)
    chosen[order[:similar]] = True
    chosen[grouping.rng.permutation(order[similar:])[: n - similar]] = True
    return inside[chosen[group]]


def _join(grouping: Grouping, pool: np.ndarray, group: np.ndarray, n: int) -> None:
    """Add remaining records of a pool to its new groups, one per group, if the criterion is still satisfied."""
    for _ in range(2 * TRIES):
        ungrouped = np.flatnonzero(group < 0)
        who, where = _offers(grouping, pool, group, ungrouped, n)
        if not len(who):
            return
        number = np.full(n, -1)
        number[where] = np.arange(len(where))
        inside = np.flatnonzero((group >= 0) & (number[group] >= 0))
        records = np.concatenate([pool[inside], pool[who]])
        is_safe = grouping.kept(records, np.concatenate([number[group[inside]], np.arange(len(who))]))
        group[who[is_safe]] = where[is_safe]


def _offers(grouping: Grouping, pool: np.ndarray, group: np.ndarray, ungrouped: np.ndarray, n: int) -> np.ndarray:
    """Match records to different random groups without their value, if protected."""
    inside = group >= 0
    has = np.zeros((n, len(grouping.criterion.protected)), dtype=bool)
    has[group[inside], grouping.value[pool[inside]]] = True
    has &= grouping.criterion.protected
    free = np.ones(n, dtype=bool)
    pairs = []
    for who in grouping.rng.permutation(ungrouped):  # few
        possible = np.flatnonzero(free & ~has[:, grouping.value[pool[who]]])
        if len(possible):
            chosen = int(grouping.rng.choice(possible))
            free[chosen] = False
            pairs.append((who, chosen))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


# A tree of signatures by similarity, split where the odds of their values differ most.


def nested(log_prior: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Split signatures recursively where their odds differ most; return an order, and its parts, smallest first."""
    order = np.arange(len(log_prior))
    odds = log_prior - log_prior.mean(axis=1, keepdims=True)
    parts, pending = [], [(0, len(order))]
    while pending:
        low, high = pending.pop()
        parts.append((low, high))
        if high - low == 1:
            continue
        part = order[low:high]
        column = odds[part, np.argmax(np.ptp(odds[part], axis=0))]
        below = column <= (column.min() + column.max()) / 2
        if below.all():  # signatures with the same odds
            below = np.arange(len(part)) < len(part) // 2
        order[low:high] = np.concatenate([part[below], part[~below]])
        middle = low + int(below.sum())
        pending += [(low, middle), (middle, high)]
    return order, parts[::-1]


# The search: signatures by similarity, groups from the bottom up, and placement of the remaining records.


#: The logarithm of a prior of 0 in comparisons of signatures: further away than any other value.
IMPOSSIBLE = -1e3
#: Bound on the relative rounding error of sums over worlds, for groups of any size.
ROUNDING = 1e-9
#: Largest number of remaining records for which the search is repeated while it places some.
FEW_LEFT = 50
#: Limits of the work on new patterns, see :meth:`PrivacyCriterion.work`, for a release, and for advice in an error.
WORK, WORK_OF_ADVICE = 2e10, 5e9
#: Number of unsuccessful attempts of the local search before it dissolves more groups.
PATIENCE = 20


@dataclass(frozen=True, eq=False)
class Linking:
    """The records of a table, with their signatures under the adversary's prior."""

    value: np.ndarray  # one per record: the sensitive value, by its position in `values`
    values: pd.Index
    signature: np.ndarray  # one per record: the joint signature; similar ones have adjacent numbers
    parts: list[tuple[int, int]]  # ranges of signatures, each after its two halves
    tables: list[tuple[np.ndarray, np.ndarray]]
    protected: np.ndarray  # mask of the protected sensitive values
    seed: int

    @classmethod
    def of(cls, data: Microdata, prior: QIDistribution, exempt: int, seed: int) -> Self:
        """Number values and signatures; the `exempt` most frequent values are not protected."""
        value, values = data.values()
        protected = ~exempt_values(np.bincount(value), exempt)
        tuples, quasi_identifiers = data.tuples()
        column = prior.columns(values)
        rows = np.column_stack([prior.rows(quasi_identifiers, key) for key in prior.attribute_sets])
        distinct, of_tuple = np.unique(rows, axis=0, return_inverse=True)
        p = [prior.tables[key].to_numpy()[:, column] for key in prior.attribute_sets]
        with np.errstate(divide="ignore"):
            log_prior = np.concatenate([np.log(table[distinct[:, i]]) for i, table in enumerate(p)], axis=1)
        order, parts = nested(np.maximum(log_prior, IMPOSSIBLE))
        tables = [(distinct[order, i], table) for i, table in enumerate(p)]
        signature = np.argsort(order)[of_tuple.reshape(-1)][tuples]
        return cls(value, values, signature, parts, tables, protected, seed)

    def groups(self, r: float, condition: str, suppress: int) -> Grouping:
        """Group all records except at most `suppress` so that P(t : x) <= 1 / r over the possible worlds."""
        self._check_frequent(r, suppress)
        grouping, _ = self._grouped(r, condition, WORK)
        if len(grouping.left) > suppress:
            others = [(r, "exact")] if condition == "sound" else []
            others += [(less, condition) for less in range(int(np.ceil(r)) - 1, 1, -1)]
            trials = ((other, *self._grouped(*other, WORK_OF_ADVICE)) for other in others)
            # A search that ends before the work limit also ends with a larger limit, so the advice is reliable.
            works = next((other for other, trial, spent in trials if not len(trial.left) and not spent), None)
            raise self._left_over(grouping, suppress, works)
        _check_worlds(grouping)
        return grouping

    def _grouped(self, r: float, condition: str, work: float) -> tuple[Grouping, bool]:
        """Group the records; also return whether all work was spent."""
        criterion = PrivacyCriterion(self.tables, self.protected, r, condition)
        grouping = Grouping(criterion, self.signature, self.value, np.random.default_rng(self.seed))
        grouping.from_the_bottom(self.parts)
        spent = False
        while before := len(grouping.left):
            spent |= rearrange(grouping, work)
            place_left(grouping, PATIENCE)
            if len(grouping.left) >= min(before, FEW_LEFT):
                break
        return grouping, spent

    def _check_frequent(self, r: float, suppress: int) -> None:
        """Raise TableError if a protected value is in more records than there can be groups, after suppression."""
        frequency = pd.Series(np.bincount(self.value, minlength=len(self.values)), index=self.values)
        n, least = int(frequency.sum()), int(np.ceil(r))
        too_many = frequency[self.protected & (frequency.to_numpy() * least > n)].sort_values(ascending=False)
        if not len(too_many):
            return
        most, enough = int(too_many.iloc[0]), int((~self.protected).sum()) + len(too_many)

        def fitting(n_groups: int) -> int:
            """Return how many records fit into groups without a protected value twice."""
            return int(np.where(self.protected, np.minimum(frequency, n_groups), frequency).sum())

        # A concave function of the number of groups exceeds a linear one, the records needed, up to some number.
        n_groups = bisect_left(range(1, n // least + 1), True, key=lambda g: fitting(g) < g * least)
        out = n - fitting(n_groups) if n_groups else n
        if out > suppress:
            suppress_them = f", or suppress at least {pluralize(out, 'record')}" if n_groups else ""
            raise TableError(
                f"{pluralize(len(too_many), 'value is', 'values are')} too frequent to occur once per group of "
                f"{least} records: {join_names(too_many.index[:1])} occurs {most} times, and {n} records make "
                f"{pluralize(n // least, 'group')}; choose an r of at most {n // most}, or exempt the "
                f"{pluralize(enough, 'most frequent value')}{suppress_them}"
            )

    def _left_over(self, grouping: Grouping, suppress: int, works: tuple[float, str] | None) -> TableError:
        """Build the error for remaining records, with advice."""
        ungrouped = grouping.left
        often = pd.Series(grouping.value[ungrouped]).value_counts()
        allowed = f", and at most {suppress} may be suppressed" if suppress else ""
        remedy = (
            "" if works is None else f"; all records would fit with r = {works[0]:g} and the condition {works[1]!r}"
        )
        most_of = join_names(self.values.take(often.index[:3].to_numpy()))
        suppress_them = f"Suppress {pluralize(len(ungrouped), 'record')}, or exempt the value"
        advice = suppress_them if len(ungrouped) < len(grouping.value) else "Choose a smaller r"
        return TableError(
            f"{len(ungrouped)} of {len(grouping.value)} records fit into no group that satisfies "
            f"r = {grouping.criterion.r:g}{allowed}; "
            f"most of them have {most_of}, which the prior makes likely for too many people, and rearranging the groups "
            f"did not help{remedy}. {advice}"
        )


def _check_worlds(grouping: Grouping) -> None:
    """Raise TableError if a group is unsafe by all possible worlds, or by swaps if there are too many worlds."""
    inside = grouping.group >= 0
    criterion = grouping.criterion
    violation = replace(criterion, condition="exact").violation(
        densely(grouping.group[inside]), grouping.signature[inside], grouping.value[inside]
    )
    if (unsafe := violation > 1 + ROUNDING).any():
        groups = pluralize(len(unsafe), "group that satisfies", "groups that satisfy")
        are = "is" if unsafe.sum() == 1 else "are"
        raise TableError(
            f"{int(unsafe.sum())} of {groups} the condition {criterion.condition!r} {are} not safe: "
            f"P(t : x) is up to {violation.max() / criterion.r:.4g}, above 1 / {criterion.r:g}; use the condition 'sound' "
            "(maxent_cvx.worlds.delta_condition explains what the paper's condition guarantees)"
        )


def similar_linkage(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    prior: QIDistribution,
    r: float,
    condition: str = "sound",
    exempt: int = 0,
    suppress: int = 0,
    seed: int = 0,
) -> Release:
    """Publish a table as buckets with P(t : x) <= 1 / r for everybody and an adversary with this prior: r-robust.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    qi, sa : str or list of str
        Column names.
    prior : QIDistribution
        Beliefs of the adversary, by one attribute set or several; the release is r-robust for each.
    r : float
        At least 1.
    condition : str
        How groups are checked. "sound": by :func:`maxent_cvx.worlds.sound_condition`, which is sufficient. "exact": by
        :func:`maxent_cvx.worlds.posterior`, which is necessary, too; groups with more than about fourteen values as if
        "sound". "delta": by the paper's condition, which is neither; an error is raised if the release is not r-robust.
    exempt : int
        Number of most frequent sensitive values that are not protected, and may repeat in a bucket.
    suppress : int
        Maximum number of records to omit from the release if they fit into no group.
    seed : int
        Random seed.

    Returns
    -------
    Release
        Buckets without repeated values (except exempt ones), of ceil(r) records where the condition holds for these;
        smaller if all values are exempt.

    Raises
    ------
    TableError
        If values are too frequent for r, or no safe group is found for some records (the message gives an r with which
        all fit, if one was found); or if the release is not r-robust (condition="delta").
    UnknownName
        If the table lacks a column, the prior lacks a signature or a value, or the condition is unknown.
    StatementError
        If the prior is not a :class:`maxent_cvx.QIDistribution`, or a number is out of range.

    Notes
    -----
    People with the same signature, which the prior does not distinguish, are grouped as by Anatomy, from the largest
    piles of values. The remaining people are grouped with those of similar signatures, recursively; groups that violate
    the condition are drawn again, and larger. For the final remainder a linear program chooses among safe patterns of
    groups (column generation); then some groups are dissolved and drawn again as long as this places more people. Since
    the conditions are not monotone, merging groups may not help; if records remain, an error is raised.

    Probabilistic Inference Protection, sections IV and V. With `condition` "sound" or "exact" the release is r-robust,
    which is checked over all possible worlds before it is returned (by swaps in groups with many values). The guarantee
    is about adversaries who do not reason about how the groups were chosen.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> release = mx.anonymize.similar_linkage(hospital, qi=["Gender", "Degree"], sa="Disease", prior=prior, r=2)
    >>> release
    <Release: 10 records in 5 buckets; 6 distinct (Gender, Degree), 5 values of 'Disease'>
    >>> mx.worlds.r_robustness(release, prior)["r"].min().round(6).item()       # no P(t : x) is above 1/2
    2.0
    """
    group = similar_linkage_groups(
        table, qi=qi, sa=sa, prior=prior, r=r, condition=condition, exempt=exempt, suppress=suppress, seed=seed
    )
    qi, sa = names(qi, "qi"), names(sa, "sa")
    name = "Bucket"
    while name in (*qi, *sa):
        name = f"_{name}"
    published = table[[*qi, *sa]].assign(**{name: group})[(group > 0).to_numpy()]
    if published.empty:
        raise TableError(
            f"no record can be published: all {len(table)} would be suppressed, within suppress = {suppress}; choose a "
            "smaller r"
        )
    return Release.from_buckets(published, qi=qi, sa=sa, bucket=name)


def similar_linkage_groups(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    prior: QIDistribution,
    r: float,
    condition: str = "sound",
    exempt: int = 0,
    suppress: int = 0,
    seed: int = 0,
) -> pd.Series:
    """Assign every record to a bucket, as :func:`similar_linkage` does; the assignment must stay secret.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    qi, sa : str or list of str
        Column names.
    prior, r, condition, exempt, suppress, seed
        As in :func:`similar_linkage`.

    Returns
    -------
    Series
        Named "Bucket", indexed like the table: numbers from 1; 0 for omitted records.

    Raises
    ------
    TableError, UnknownName, StatementError
        As :func:`similar_linkage`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
    >>> qi = ["Gender", "Degree"]
    >>> bucket = mx.anonymize.similar_linkage_groups(hospital, qi=qi, sa="Disease", prior=prior, r=2)
    >>> bucket.value_counts().to_list()
    [2, 2, 2, 2, 2]
    >>> bool((hospital["Gender"].groupby(bucket).nunique() == 1).all())     # one signature per bucket
    True
    """
    data = Microdata.of_people(table, qi, sa)
    check_instance(prior, QIDistribution, "prior")
    check_label(condition, "condition", CONDITIONS)
    r = one_r(r)
    exempt, suppress = check_int(exempt, "exempt", 0), check_int(suppress, "suppress", 0)
    groups = Linking.of(data, prior, exempt, check_seed(seed)).groups(r, condition, suppress)
    number = np.unique(groups.group, return_inverse=True)[1] + (0 if len(groups.left) else 1)
    return pd.Series(number, index=table.index, name="Bucket")
