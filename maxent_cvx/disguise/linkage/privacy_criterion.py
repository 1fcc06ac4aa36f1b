"""Which groups are safe: the conditions of possible worlds, asked of many candidate groups at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...worlds.conditions import deviations, swap_bounds
from ...worlds.deviation import ROUNDING
from ...worlds.groups import Groups
from ...worlds.linked import linked

__all__ = ["CONDITIONS", "PrivacyCriterion"]


#: Steps of enumeration that the worlds of one candidate may take: those of fourteen values.
FEW_STEPS = 3e5


@dataclass(frozen=True, eq=False)
class PrivacyCriterion:
    """P(t : x) <= 1 / r for every tuple t and every value x that counts, whichever attribute set is known.

    Attributes
    ----------
    tables : list of (ndarray, ndarray)
        For every attribute set the position of each joint signature in its table, and the table, probabilities.
    protected : ndarray of bool
        The sensitive values that are protected; the others may repeat in a group.
    r : float
    condition : str
        One of :data:`CONDITIONS`.
    """

    tables: list[tuple[np.ndarray, np.ndarray]]
    protected: np.ndarray
    r: float
    condition: str

    def kept(self, group: np.ndarray, signature: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Which groups satisfy the condition; records are given by group (from 0), joint signature and value."""
        return np.asarray(self.violation(group, signature, value) <= 1 + ROUNDING)

    def violation(self, group: np.ndarray, signature: np.ndarray, value: np.ndarray) -> np.ndarray:
        """The violation of the condition by each group, relative to what is allowed: up to 1 it is satisfied."""
        violation = np.zeros(group.max(initial=-1) + 1)
        for (position, table), groups in zip(self.tables, self.groups(group, signature, value), strict=True):
            violation = np.maximum(violation, CONDITIONS[self.condition](self, groups))
            if (table[position[signature], value] == 0).any():  # else the truth is one world
                violation[groups.without_world()] = np.inf
        return violation

    def work(self, n: int) -> float:
        """About how much work it is to check a group of n different records, in units of some nanoseconds."""
        steps = n * 2.0**n
        return 10 * steps if self.condition == "exact" and steps <= FEW_STEPS else 5 * float(n) ** 4

    def groups(self, group: np.ndarray, signature: np.ndarray, value: np.ndarray) -> Iterator[Groups]:
        """The groups as each attribute set shows them."""
        for position, table in self.tables:
            yield Groups.of_records(table, group, position[signature], value)

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
