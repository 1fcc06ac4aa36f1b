"""One group's values spread over its cells, the records of one prior that are in the same halves of refused cuts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.special import gammaln, xlogy

from ....errors import GroupTooLarge
from ....tables.coding import group_codes
from .part import Part
from .transitions import Layer, backwards, drawn, forwards

__all__ = ["GroupWays", "check_steps", "numbered"]

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
