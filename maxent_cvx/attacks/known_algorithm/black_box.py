"""An algorithm that is asked: whether it makes a release of this table, and of that."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import Infeasible
from ...views import Release
from .difference import difference
from .people import People

__all__ = ["BlackBox", "assignments", "enumerated"]


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
