"""An algorithm that is asked whether it makes the release of this table, and of that."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ....errors import Inaccurate, Infeasible
from ..difference import difference
from .cells import Cells

__all__ = ["Asked"]

#: Chains, each from a table of its own; and batches of each, whose means tell its standard error.
CHAINS, BATCHES = 4, 10
#: The share of a chain that is left out in the beginning.
BURN_IN = 0.2
#: Tables that the search for a first one asks of, for each record; the records by which a worse one may be worse.
PATIENCE, TEMPERATURE = 50, 0.5


@dataclass(frozen=True, eq=False)
class Asked:
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
