"""Similar linkage: groups of people whom a prior hardly distinguishes (Probabilistic Inference Protection, IV, V)."""

from __future__ import annotations

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
from .._utils.validation import check_instance, check_int, check_label
from ..priors import QIDistribution
from ..releases.release import Release
from ..worlds.conditions import DEVIATION_ROUNDING, deviations, one_r, swap_bounds
from ..worlds.groups import Groups, linked
from .anatomy import draw, exempt_values, rank

#: Steps of enumeration that the worlds of one candidate may take: those of fourteen values.
FEW_STEPS = 3e5


@dataclass(frozen=True, eq=False)
class PrivacyCriterion:
    """P(t : x) <= 1 / r for every tuple t and every value x that counts, whichever attribute set is known."""

    tables: list[tuple[np.ndarray, np.ndarray]]
    protected: np.ndarray  # the sensitive values that are protected; the others may repeat in a group
    r: float
    condition: str  # one of :data:`CONDITIONS`

    def violation(self, group: np.ndarray, signature: np.ndarray, value: np.ndarray) -> np.ndarray:
        """The violation of the condition by each group, relative to what is allowed: up to 1 it is satisfied.

        Records are given by group (from 0), joint signature and value.
        """
        violation = np.zeros(group.max(initial=-1) + 1)
        for position, table in self.tables:  # the groups as each attribute set shows them
            groups = Groups.of_records(table, group, position[signature], value)
            violation = np.maximum(violation, CONDITIONS[self.condition](self, groups))
            if (table[position[signature], value] == 0).any():  # else the truth is one world
                violation[groups.without_world()] = np.inf
        return violation

    def work(self, n: int) -> float:
        """About how much work it is to check a group of n different records, in units of some nanoseconds."""
        steps = n * 2.0**n
        return 10 * steps if self.condition == "exact" and steps <= FEW_STEPS else 5 * float(n) ** 4

    def largest(self, groups: Groups, p: np.ndarray) -> np.ndarray:
        """The largest probability that counts of each group, in units of 1 / r; one a pair is given."""
        counted = self.protected[groups.values.indices[groups.pairs[2]]]
        return np.asarray(self.r * np.maximum.reduceat(np.where(counted, p, 0.0), groups.start[:-1]))

    def sound(self, groups: Groups) -> np.ndarray:
        """By swaps."""
        return self.largest(groups, swap_bounds(groups)[0])

    def exact(self, groups: Groups) -> np.ndarray:
        """By all possible worlds; by swaps, where these are too many."""
        violation = self.largest(groups, linked(groups, FEW_STEPS, strict=False))
        return np.where(np.isnan(violation), self.sound(groups), violation) if np.isnan(violation).any() else violation

    def delta(self, groups: Groups) -> np.ndarray:
        """By the paper's condition, Delta_max <= Delta_ceil, of values that occur once."""
        deviation, ceiling, holds = deviations(groups, self.r)
        violation = np.divide(deviation, ceiling, out=np.full(len(ceiling), np.inf), where=ceiling > 0)
        violation[holds] = np.minimum(violation[holds], 1.0)  # but for rounding; and where all must be equal, and are
        violation[groups.values.data > 1] = np.inf
        violation[~self.protected[groups.values.indices]] = 0.0
        return np.asarray(np.maximum.reduceat(violation, groups.values.indptr[:-1]))


#: How it is decided whether a group is safe: proved by swaps, computed from all worlds, or as the paper does.
CONDITIONS: Mapping[str, Callable[[PrivacyCriterion, Groups], np.ndarray]] = {
    "sound": PrivacyCriterion.sound,
    "exact": PrivacyCriterion.exact,
    "delta": PrivacyCriterion.delta,
}


# Which groups there should be how often: a linear program over safe patterns, found as they are needed.
#
# Records of one signature and value are of one kind, and interchangeable. A pattern says how many of each kind a group
# has. How often each is used so that as few records as possible are left over is a cutting-stock problem (Gilmore and
# Gomory, 1961): its dual prices say which kinds are hard to place, and a new pattern enters if it is safe and its
# reduced cost is negative: its prices add up to more than it costs.


#: The cost of a new group, where a record that is left over costs 1: groups that there are should stay.
COST_OF_NEW = 1e-3
#: Chains that grow at once, kinds that each is offered, and the shares of the kinds that they are offered from.
CHAINS, OFFERED, SHARES = 24, 60, (0.4, 0.9)
#: Records of a pattern, at the most.
LONGEST = 24
#: Rounds without gain, after which the search for patterns ends.
ROUNDS_WITHOUT_GAIN = 8
#: Records left over, in the linear program, that count as none.
NO_RECORDS = 1e-6
#: Nodes of the integer program: a fixed number, so that the same seed gives the same release; and patterns up to which
#: it chooses among all.
NODES, FEW_PATTERNS = 500, 1_000


@dataclass(eq=False)
class GroupPatterns:
    """Safe patterns over the kinds of records."""

    criterion: PrivacyCriterion
    signature: np.ndarray  # of each kind
    value: np.ndarray  # of each kind
    records: np.ndarray  # of each kind, counts
    table: sp.csr_array  # (patterns, kinds)
    there: np.ndarray  # how many groups of each pattern there are; 0 of new ones
    rng: np.random.Generator
    work: float = 0.0  # what has been spent

    def best(self, work: float) -> np.ndarray:
        """Find patterns until no more is gained, and how many groups of each there should be, integers."""
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
        """The records of each kind that are in groups; `used` is of kept groups, then of new ones, a pattern each."""
        return np.asarray(self.table.T @ used.reshape(2, -1).sum(axis=0))

    def _program(self, doubled: np.ndarray) -> tuple[np.ndarray, sp.csc_array, np.ndarray]:
        """Costs, columns and upper bounds: groups that are kept, new groups of some patterns, records left over."""
        n, kinds = self.table.shape[0], len(self.records)
        columns = sp.hstack([self.table.T, self.table[doubled].T, sp.eye_array(kinds)], format="csc")
        cost = np.concatenate([np.zeros(n), np.full(len(doubled), COST_OF_NEW), np.ones(kinds)])
        return cost, columns, np.concatenate([self.there, np.full(len(doubled), np.inf), self.records])

    def _least(self) -> tuple[np.ndarray, np.ndarray]:
        """The fewest records left over, in parts of groups, and what one record more of each kind would cost."""
        n = self.table.shape[0]
        cost, columns, most = self._program(np.arange(n))
        bounds = np.column_stack([np.zeros(len(most)), most])
        answer = linprog(cost, A_eq=columns, b_eq=self.records, bounds=bounds, method="highs")  # type: ignore[call-overload]
        if answer.x is None:  # everybody can be left over, so that there is an answer
            raise SolverError(f"the linear program over patterns of groups has no answer: {answer.message}")
        return answer.x[: 2 * n], answer.eqlin.marginals

    def _integer(self, used: np.ndarray) -> np.ndarray:
        """Integer numbers of groups, kept ones, then new ones: of many patterns, of those that the program used."""
        n = self.table.shape[0]
        doubled = np.arange(n) if n <= FEW_PATTERNS else np.flatnonzero(used[n:] > 0)
        cost, columns, most = self._program(doubled)
        # Of those that stay, not many fewer than the program lets stay: the search is short then.
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
        """Add patterns, given as rows of kinds, -1 where there are no more; those that are there are not added."""
        row, place = np.nonzero(members >= 0)
        new = sp.csr_array((np.ones(len(row)), (row, members[row, place])), shape=(len(members), len(self.records)))
        both = sp.vstack([self.table, new], format="csr")
        both.sum_duplicates()
        first = np.sort(distinct_rows(both)[0])
        self.table = both[first]
        self.there = np.concatenate([self.there, np.zeros(len(first) - len(self.there), dtype=np.int64)])

    def _grown(self, prices: np.ndarray, share: float, work: float) -> np.ndarray:
        """Let groups grow from kinds that are hard to place, by the kind that makes each safest."""
        # Pricing: a new pattern helps if its dual prices add up to more than its cost. Chains start with expensive kinds
        # and are extended greedily, by violation less a random weight times price, until they are safe.
        hard = np.argsort(-prices)[: max(CHAINS // 3, 1)]
        hard = hard[prices[hard] > COST_OF_NEW]
        grown = [np.empty((0, 1), dtype=np.int64)]
        chains = self.rng.choice(hard, CHAINS)[:, None] if len(hard) else grown[0]
        price_weight = self.rng.choice([0.0, 0.3, 1.0], len(chains))  # of dual prices, beside the violation
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
        """Kinds that each chain may take: of another value, if that counts, while its prices are worth a group."""
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
    """The first of each of the distinct rows of a table of counts, and the number of every row's among them."""
    # By a random number for each column two different rows differ in their sums.
    sums = table @ np.random.default_rng(0).random(table.shape[1])
    _, first, number = np.unique(sums, return_index=True, return_inverse=True)
    return first, number


# Groups from piles of values, as small as a privacy criterion allows, from the bottom up.


#: Larger groups are not tried, unless r needs them.
LARGEST = 24


@dataclass(eq=False)
class Grouping:
    """Records, and the group that each is in so far."""

    criterion: PrivacyCriterion
    signature: np.ndarray  # of each record; similar signatures have numbers next to each other
    value: np.ndarray  # of each record
    rng: np.random.Generator
    group: np.ndarray = field(init=False)  # of each record; -1 of those that are left over
    next: int = 0  # the number of the next group

    def __post_init__(self) -> None:
        self.group = np.full(len(self.value), -1)

    @property
    def smallest(self) -> int:
        """The records that a group needs at least, r if that is an integer."""
        return int(np.ceil(self.criterion.r))

    @property
    def left(self) -> np.ndarray:
        """The records that are in no group."""
        return np.flatnonzero(self.group < 0)

    def from_the_bottom(self, parts: list[tuple[int, int]]) -> None:
        """Group those with one signature; who is left over goes up, to be grouped with those of similar signatures."""
        records = self.rng.permutation(len(self.value))
        records = records[np.argsort(self.signature[records], kind="stable")]
        start = np.searchsorted(self.signature[records], np.arange(parts[-1][1] + 1))
        waiting: dict[int, tuple[int, np.ndarray]] = {}  # by where a part begins, its end and who is left over of it
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
        """Number the new groups of a pool after all others."""
        self.group[pool] = np.where(group >= 0, group + self.next, -1)
        self.next += int(group.max(initial=-1)) + 1

    def drawn(self, pool: np.ndarray, size: int, tries: int) -> tuple[np.ndarray, int]:
        """Draw groups from the largest piles of a pool; those that violate the criterion are drawn again, larger."""
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
        """Which groups satisfy the criterion."""
        violation = self.criterion.violation(group, self.signature[records], self.value[records])
        return np.asarray(violation <= 1 + DEVIATION_ROUNDING)

    def pile(self, records: np.ndarray, size: int) -> np.ndarray:
        """The pile of each record: its value; a value that may repeat makes more than one pile, none too large."""
        value = self.value[records]
        order = np.argsort(value, kind="stable")
        nth = np.empty(len(value), dtype=np.int64)
        nth[order] = rank(value[order])
        part = np.where(self.criterion.protected[value], 0, nth // max(len(records) // size, 1))
        return part * len(self.criterion.protected) + value


# Groups taken apart and made anew, as a linear program over safe patterns of groups says.


#: More kinds of records, by signature and value, are not rearranged.
MOST_KINDS = 5_000


def rearrange(grouping: Grouping, work: float) -> bool:
    """Choose among safe patterns of groups so that fewer are left over; groups that can stay do."""
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
    # Of each pattern the first groups stay; all other records are dealt to new groups, kind by kind, at random.
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


# A local search: some groups are taken apart and drawn anew with some of those who are left over.


#: Records that are placed at a time, and groups that are taken apart for each of them at first.
AT_A_TIME, AMONG = 4, 8
#: Attempts with groups of one size, before larger ones are tried.
TRIES = 3


def place_left(grouping: Grouping, patience: int) -> None:
    """Take groups apart and draw them anew with some of those who are left over, as long as that places more."""
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
    """The records of n groups: some with the most similar signatures, the others any."""
    inside = np.flatnonzero(grouping.group >= 0)
    names, group = np.unique(grouping.group[inside], return_inverse=True)
    near = np.sort(grouping.signature[batch])
    at = grouping.signature[inside]
    after = np.searchsorted(near, at)
    gap = np.minimum(np.abs(at - near[np.minimum(after, len(near) - 1)]), np.abs(at - near[np.maximum(after - 1, 0)]))
    least = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(least, group, gap)
    order = np.lexsort((grouping.rng.random(len(names)), least))
    similar = int(n * grouping.rng.choice([0.3, 0.5, 0.7]))
    chosen = np.zeros(len(names), dtype=bool)
    chosen[order[:similar]] = True
    chosen[grouping.rng.permutation(order[similar:])[: n - similar]] = True
    return inside[chosen[group]]


def _join(grouping: Grouping, pool: np.ndarray, group: np.ndarray, n: int) -> None:
    """Give those who are left over of a pool to one of its new groups each, if that satisfies the criterion then."""
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
    """Who joins which group: a random one for each, without its value if that counts, and another for everybody."""
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


# Signatures by similarity: a tree, cut where the odds of their values are furthest apart.


def nested(log_prior: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Halve the signatures repeatedly where their odds are furthest apart: an order, and its parts, smallest first."""
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


# Similar linkage, the search: signatures by similarity, groups from the bottom up, and who is left over placed.


#: The logarithm of a prior of 0, where signatures are compared: further apart than any others.
IMPOSSIBLE = -1e3
#: Rounding of sums over worlds, relative: no more than this in groups of any size.
ROUNDING = 1e-9
#: Records left over up to which it is tried again, while that places some.
FEW_LEFT = 50
#: Work on new patterns of groups, see :meth:`PrivacyCriterion.work`; and where it is only asked what else would do.
WORK, WORK_OF_ADVICE = 2e10, 5e9
#: Attempts of the local search that place nobody, before it takes more groups apart.
PATIENCE = 20


@dataclass(frozen=True, eq=False)
class Linking:
    """The records of a table as the adversary's prior shows them."""

    value: np.ndarray  # the sensitive value of each record, by its position in `values`
    values: pd.Index
    signature: np.ndarray  # the joint signature of each record; similar ones have numbers next to each other
    parts: list[tuple[int, int]]  # ranges of signatures, each after both halves of it
    tables: list[tuple[np.ndarray, np.ndarray]]
    protected: np.ndarray  # the sensitive values that count
    seed: int

    @classmethod
    def of(cls, data: Microdata, prior: QIDistribution, exempt: int, seed: int) -> Self:
        """Number values and signatures; the `exempt` most frequent values do not count."""
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
        """Group the records, but for at most `suppress`, so that P(t : x) <= 1 / r in every possible world."""
        self._check_frequent(r, suppress)
        grouping, _ = self._grouped(r, condition, WORK)
        if len(grouping.left) > suppress:
            others = [(r, "exact")] if condition == "sound" else []
            others += [(less, condition) for less in range(int(np.ceil(r)) - 1, 1, -1)]
            trials = ((other, *self._grouped(*other, WORK_OF_ADVICE)) for other in others)
            # What ends before its work is spent ends so with more, too: who follows the advice gets what it says.
            works = next((other for other, trial, spent in trials if not len(trial.left) and not spent), None)
            raise self._left_over(grouping, suppress, works)
        _check_worlds(grouping)
        return grouping

    def _grouped(self, r: float, condition: str, work: float) -> tuple[Grouping, bool]:
        """Group the records, and say whether all work was spent."""
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
        """Check that every value that counts has as many groups to be in as it has records, but for some left out."""
        frequency = pd.Series(np.bincount(self.value, minlength=len(self.values)), index=self.values)
        n, least = int(frequency.sum()), int(np.ceil(r))
        too_many = frequency[self.protected & (frequency.to_numpy() * least > n)].sort_values(ascending=False)
        if not len(too_many):
            return
        most, enough = int(too_many.iloc[0]), int((~self.protected).sum()) + len(too_many)
        out = -(-(most * least - n) // (least - 1))  # without s of them, most - s <= (n - s) / least
        if out > suppress:
            raise TableError(
                f"{pluralize(len(too_many), 'value is', 'values are')} too frequent to occur once per group of "
                f"{least} records: {join_names(too_many.index[:1])} occurs {most} times, and {n} records make "
                f"{pluralize(n // least, 'group')}; choose an r of at most {n // most}, exempt the "
                f"{pluralize(enough, 'most frequent value')}, or suppress at least {pluralize(out, 'record')}"
            )

    def _left_over(self, grouping: Grouping, suppress: int, works: tuple[float, str] | None) -> TableError:
        """Say who fits nowhere, and what would help."""
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
            f"{len(ungrouped)} of {len(grouping.value)} records fit into no group that keeps "
            f"r = {grouping.criterion.r:g}{allowed}; "
            f"most of them have {most_of}, which the prior makes likely for too many people, and rearranging the groups "
            f"did not help{remedy}. {advice}"
        )


def _check_worlds(grouping: Grouping) -> None:
    """Check the groups against all possible worlds, where these are not too many; else against the sound condition."""
    inside = grouping.group >= 0
    if not inside.any():
        return
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
        Maximum number of records to leave out of the release if they fit into no group.
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
        If values are too frequent for r, or no safe group is found for some records (the message gives an r for which
        all fit); or if the release is not r-robust (condition="delta").
    UnknownName
        If the table lacks a column, the prior lacks a signature or a value, or the condition is unknown.
    StatementError
        If the prior is not a :class:`maxent_cvx.QIDistribution`, or a number is out of range.

    Notes
    -----
    People with the same signature, whom the prior does not distinguish, are grouped as Anatomy does, from the largest
    piles of values. The remaining people are grouped with those of similar signatures, and so on upwards; groups that
    violate the condition are drawn again, and larger. For the final remainder a linear program chooses among safe
    patterns of groups (column generation); then some groups are dissolved and drawn again as long as that places more
    people. Since the conditions are not monotone, merging groups may not help; if records remain, an error is raised.

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
            f"no record can be published: all {len(table)} would be suppressed, as suppress = {suppress} allows; choose "
            "a smaller r"
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
        Named "Bucket", indexed like the table: numbers from 1; 0 for records that are left out.

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
    data = Microdata.of_people(table, names(qi, "qi"), names(sa, "sa"))
    check_instance(prior, QIDistribution, "prior")
    check_label(condition, "condition", CONDITIONS)
    r = one_r(r)
    exempt, suppress = check_int(exempt, "exempt", 0), check_int(suppress, "suppress", 0)
    groups = Linking.of(data, prior, exempt, check_int(seed, "seed", 0)).groups(r, condition, suppress)
    number = np.unique(groups.group, return_inverse=True)[1] + (0 if len(groups.left) else 1)
    return pd.Series(number, index=table.index, name="Bucket")
