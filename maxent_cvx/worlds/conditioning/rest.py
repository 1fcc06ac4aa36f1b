"""What the others of a bucket count when some of its tuples and places are taken by named people, with a prior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import GroupTooLarge
from ..linked import STATES
from ..permanents import Lattice, dealt, shares
from .places import falling

__all__ = ["Rest"]


@dataclass(frozen=True, eq=False)
class Rest:
    """A bucket with a prior, of which n tuples of each signature and m places of each value are to be dealt.

    Either tuples are dealt to values, once for all that people may have taken, or values to tuples, for each of it
    once: whichever takes fewer steps.

    Attributes
    ----------
    log_prior : ndarray, shape (signatures, values)
    tuples, places : ndarray of int
        n and m.
    name : object
        What the bucket is called.
    limit : float
        Steps that are allowed.
    """

    log_prior: np.ndarray
    tuples: np.ndarray
    places: np.ndarray
    name: object
    limit: float

    def log_weights(self, u: np.ndarray, c: np.ndarray) -> np.ndarray:
        """The sum over all worlds of the others, of the product of their priors, as a logarithm but for a constant.

        Parameters
        ----------
        u : ndarray of int, shape (states, signatures)
            Tuples of each signature that are taken.
        c : ndarray of int, shape (states, values)
            Places of each value that are.
        """
        found = np.empty(len(u))
        if self._to_values(u, c):
            for some, taken, which in _alike(u):
                log_factor = np.stack([self.log_prior[self._others(one)] for one in taken])
                found[some] = _gathered(log_factor, self.places, self.places - c[some], which)
            return found
        for some, taken, which in _alike(c):
            log_factor = np.stack([self.log_prior[:, self._left(one)].T for one in taken])
            found[some] = _gathered(log_factor, self.tuples, self.tuples - u[some], which)
        # Dealt are the single places of a value, which are told apart, to the signatures; tuples are told apart.
        return found + falling(self.places, c) - falling(self.tuples, u)

    def shares(self, u: np.ndarray, c: np.ndarray, share: np.ndarray, log_weight: np.ndarray) -> np.ndarray:
        """P(t : x) of the others, where named people have taken u, and c with probabilities `share`.

        Parameters
        ----------
        u : ndarray of int, shape (signatures,)
        c : ndarray of int, shape (states, values)
        share : ndarray, shape (states,)
            Probabilities, all above 0.
        log_weight : ndarray, shape (states,)
            What :meth:`log_weights` says.

        Returns
        -------
        ndarray, shape (signatures, values)
            NaN of signatures that nobody is left of.
        """
        others, found = self._others(u), np.full(self.log_prior.shape, np.nan)
        if not len(others):
            return found
        if self._to_values(np.broadcast_to(u, (len(c), len(u))), c):
            lattice = Lattice(self.places)
            log_ends = np.full(int(np.prod(self.places + 1)), -np.inf)
            log_ends[(self.places - c) @ lattice.stride] = np.log(share) - log_weight
            _, of_each = shares(self.log_prior[others][None], self.places, log_ends)
            found[others] = of_each[0]
            return found
        total = np.zeros_like(self.log_prior)
        left = self.tuples - u
        some = left > 0
        for part in np.array_split(np.arange(len(c)), 1 + len(c) * int(np.prod(left + 1)) // STATES):
            values = np.stack([self._left(one) for one in c[part]])
            _, of_each = shares(self.log_prior[some][:, values].transpose(1, 2, 0), left[some])
            np.add.at(total.T, (values[:, :, None], np.flatnonzero(some)), share[part][:, None, None] * of_each)
        found[some] = total[some] / left[some, None]
        return found

    def _others(self, u: np.ndarray) -> np.ndarray:
        """The signatures of the tuples that are left, one a tuple."""
        return np.repeat(np.arange(len(self.tuples)), self.tuples - u)

    def _left(self, c: np.ndarray) -> np.ndarray:
        """The values that are left, one a place."""
        return np.repeat(np.arange(len(self.places)), self.places - c)

    def _to_values(self, u: np.ndarray, c: np.ndarray) -> bool:
        """Whether it takes fewer steps to deal tuples to values; refuse what takes too many."""
        cost = []
        for taken, kinds in ((u, self.places), (c, self.tuples)):
            cost.append(len(np.unique(taken, axis=0)) * float(np.prod(kinds + 1.0)) * len(kinds))
        if min(cost) > self.limit:
            raise GroupTooLarge(
                f"{self.name!r}, {int(self.places.sum())} tuples of {len(self.tuples)} signatures with "
                f"{len(self.places)} values, of which named people may take some in {len(u)} ways, takes "
                f"{min(cost):.1g} steps (2e7 a second), and {self.limit:.0e} are allowed; allow more with limit=, "
                "write sentences about fewer people, or ask worlds.sample(...)"
            )
        return cost[0] <= cost[1]


def _alike(taken: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The distinct rows with one sum at a time.

    Yields
    ------
    some : ndarray of int
        The rows.
    distinct : ndarray of int, shape (distinct rows, columns)
    which : ndarray of int
        Which of them each row is.
    """
    size = taken.sum(axis=1)
    for one in np.unique(size):
        some = np.flatnonzero(size == one)
        distinct, which = np.unique(taken[some], axis=0, return_inverse=True)
        yield some, distinct, which.reshape(-1)


def _gathered(log_factor: np.ndarray, kinds: np.ndarray, left: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Deal the items of several groups to kinds of places, and look up those that are to be taken, one state a row."""
    lattice = Lattice(kinds)
    layers = lattice.layers()
    found = np.empty(len(left))
    for part in np.array_split(np.arange(len(log_factor)), 1 + len(log_factor) * int(np.prod(kinds + 1)) // STATES):
        rows = np.flatnonzero(np.isin(which, part))
        if len(rows):
            before = dealt(log_factor[part], lattice, layers)
            found[rows] = before[which[rows] - part[0], left[rows] @ lattice.stride]
    return found
