"""An algorithm that is asked: whether it makes a release of this table, and of that."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...errors import Infeasible, TableError, arguments
from ...views import Release
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
        """P(release | table), and the fewest records by which a release differs from it.

        Parameters
        ----------
        value : ndarray of int
            Of each person.
        """
        self.asked()
        table = self.people.assigned(value)
        options: list[dict[str, int]] = [{}] if self.seeds is None else [{"seed": seed} for seed in self.seeds]
        off = np.array([self._off(table, given) for given in options])
        return float((off == 0).mean()), float(off.min())

    def _off(self, table: pd.DataFrame, given: dict[str, int]) -> float:
        """By how many records the algorithm's release differs from the published one."""
        try:
            found = self.algorithm(table, **given)
        except TableError:  # of such a table it publishes nothing
            return float(2 * len(self.people))
        arguments.instance(found, Release, "what the algorithm returns")
        if found.qi != self.release.qi or found.sensitive != self.release.sensitive:
            return float(2 * len(self.people))
        differences = [_difference(found.published[key].to_dict(), counts) for key, counts in self._wanted.items()]
        return float(sum(differences))

    @cached_property
    def _wanted(self) -> dict[tuple[str, ...], dict[Hashable, int]]:
        """What was published."""
        return {key: counts.to_dict() for key, counts in self.release.published.items()}


def _difference(one: dict[Hashable, int], other: dict[Hashable, int]) -> float:
    """Half of the sum of absolute differences of counts."""
    return sum(abs(one.get(key, 0) - other.get(key, 0)) for key in one.keys() | other.keys()) / 2


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
    weight = np.array([box.ask(value)[0] for value in values])
    if not weight.any():
        raise Infeasible(
            "the algorithm makes this release of no table of these people; are its parameters, its seed and the order "
            "of the people those of the publisher?"
        )
    numbers = np.arange(len(box.people.view.sensitive_values))
    p = np.stack([weight @ (values == number) for number in numbers], axis=1) / weight.sum()
    return p, int((weight > 0).sum())


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
