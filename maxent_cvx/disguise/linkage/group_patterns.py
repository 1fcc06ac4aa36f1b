"""Which groups there should be how often: a linear program over safe patterns, found as they are needed.

Records of one signature and value are of one kind, and interchangeable. A pattern says how many of each kind a group
has. How often each is used so that as few records as possible are left over is a cutting-stock problem (Gilmore and
Gomory, 1961): its dual prices say which kinds are hard to place, and a new pattern enters if it is safe and its reduced
cost is negative: its prices add up to more than it costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from ...errors import SolverError
from ...system.progress import progress_bar
from ...worlds.deviation import ROUNDING
from .privacy_criterion import PrivacyCriterion

__all__ = ["GroupPatterns", "distinct_rows"]

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
    """Safe patterns over the kinds of records.

    Attributes
    ----------
    criterion : PrivacyCriterion
    signature, value : ndarray of int
        Of each kind.
    records : ndarray of int
        How many records there are of each kind.
    table : csr_array, shape (patterns, kinds)
        How many of each kind a group of each pattern has; those that there are first.
    there : ndarray of int
        How many groups of each pattern there are; 0 of new ones.
    rng : Generator
    work : float
        What has been spent.
    """

    criterion: PrivacyCriterion
    signature: np.ndarray
    value: np.ndarray
    records: np.ndarray
    table: sp.csr_array
    there: np.ndarray
    rng: np.random.Generator
    work: float = 0.0

    def best(self, work: float) -> np.ndarray:
        """Find patterns until no more is gained, and how many groups of each there should be, integers.

        Parameters
        ----------
        work : float
            How much may be spent on checking new patterns, see :meth:`PrivacyCriterion.work`.
        """
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

    def _program(self, some: np.ndarray) -> tuple[np.ndarray, sp.csc_array, np.ndarray]:
        """Costs, columns and upper bounds: groups that are kept, new groups of some patterns, records left over."""
        n, kinds = self.table.shape[0], len(self.records)
        columns = sp.hstack([self.table.T, self.table[some].T, sp.eye_array(kinds)], format="csc")
        cost = np.concatenate([np.zeros(n), np.full(len(some), COST_OF_NEW), np.ones(kinds)])
        return cost, columns, np.concatenate([self.there, np.full(len(some), np.inf), self.records])

    def _least(self) -> tuple[np.ndarray, np.ndarray]:
        """The fewest records left over, in parts of groups, and what one record more of each kind would cost."""
        n = self.table.shape[0]
        cost, columns, most = self._program(np.arange(n))
        bounds = np.column_stack([np.zeros(len(most)), most])
        found = linprog(cost, A_eq=columns, b_eq=self.records, bounds=bounds, method="highs")  # type: ignore[call-overload]
        if found.x is None:  # everybody can be left over, so that there is an answer
            raise SolverError(f"the linear program over patterns of groups has no answer: {found.message}")
        return found.x[: 2 * n], found.eqlin.marginals

    def _integer(self, used: np.ndarray) -> np.ndarray:
        """Integer numbers of groups, kept ones, then new ones: of many patterns, of those that the program used."""
        n = self.table.shape[0]
        some = np.arange(n) if n <= FEW_PATTERNS else np.flatnonzero(used[n:] > 0)
        cost, columns, most = self._program(some)
        # Of those that stay, not many fewer than the program lets stay: the search is short then.
        low = np.concatenate([np.floor(used[:n] - 1), np.zeros(len(most) - n)]).clip(0)
        found = milp(
            cost,
            integrality=np.concatenate([np.ones(n + len(some)), np.zeros(len(self.records))]),
            bounds=Bounds(low, most),
            constraints=LinearConstraint(columns, self.records, self.records),
            options={"node_limit": NODES},
        )
        answer = np.floor(used + 1e-9)
        if found.x is not None:
            answer = np.zeros(2 * n)
            answer[:n] = np.round(found.x[:n])
            answer[n + some] = np.round(found.x[n : n + len(some)])
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
        """Let groups grow from kinds that are hard to place, by the kind that makes each safest, until they are safe.

        Returns
        -------
        ndarray of int, shape (patterns, records of the largest)
            Kinds; -1 where there are no more.
        """
        hard = np.argsort(-prices)[: max(CHAINS // 3, 1)]
        hard = hard[prices[hard] > COST_OF_NEW]
        found = [np.empty((0, 1), dtype=np.int64)]
        chains = self.rng.choice(hard, CHAINS)[:, None] if len(hard) else found[0]
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
            safe = violation[best] <= 1 + ROUNDING
            found.append(groups[best[safe]])
            chains, price_weight = groups[best[~safe]], price_weight[chain[best[~safe]]]
        width = max(some.shape[1] for some in found)
        return np.concatenate(
            [np.pad(some, ((0, 0), (0, width - some.shape[1])), constant_values=-1) for some in found]
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
    """The first of each of the distinct rows of a table of counts, and the number of every row's among them.

    By a random number for each column two different rows differ in their sums.
    """
    sums = table @ np.random.default_rng(0).random(table.shape[1])
    _, first, number = np.unique(sums, return_index=True, return_inverse=True)
    return first, number
