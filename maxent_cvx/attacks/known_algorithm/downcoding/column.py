"""How often each exact value occurs in one group: draws from a distribution, given least and largest numbers.

Of n records the number that have one of the first j values is a Markov chain in j: given that n - c records are left,
the number with the next value is binomial. So sums over all ways to fill a group are products of small matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln, xlogy

__all__ = ["Column", "Law"]


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
