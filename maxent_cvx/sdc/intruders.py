"""Intruders who read one publication, each knowing more or less of one person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, shown
from ..measures.equivocation.areas import areas
from ..measures.equivocation.units import in_units
from ..tables.coding import sort_distinct
from ..tables.numbers import as_numbers
from .domains import domain_of
from .technique import Technique

__all__ = ["DRAWS", "Intruders"]

DRAWS = ("people", "values")
#: What is told of every intruder.
COLUMNS = ["technique", "strength", "repetition", "size", "attributes", "target", "people", "truth"]
#: How far the probabilities of a technique may be from a sum of 1.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intruders:
    """Who they ask about, what they know, and how they are judged; see :func:`maxent_cvx.sdc.experiment`.

    Attributes
    ----------
    table : DataFrame
    confidential : str
    attributes : list of str
        What may be known.
    sizes : list of int
        How many of these are known.
    targets : int
        People of each size.
    draw : {"people", "values"}
    eps : list of float
    """

    table: pd.DataFrame
    confidential: str
    attributes: Sequence[str]
    sizes: Sequence[int]
    targets: int
    draw: str
    eps: Sequence[float]

    def read(self, name: str, make: Callable[..., Technique], strength: Any, seeds: Sequence[int]) -> pd.DataFrame:
        """Publish the table, and tell what each intruder infers from it: a row an intruder."""
        rng = np.random.default_rng(seeds)  # the same for every technique and strength
        seed = int(rng.integers(2**31))
        order = [self.attributes[i] for i in rng.permutation(len(self.attributes))]
        technique = make(strength, seed=seed)
        if not isinstance(technique, Technique):
            raise StatementError(f"{name} makes {shown(technique)}, which has not both publish and infer")
        published = technique.publish(self.table.copy(), self.confidential)  # whatever it does to its table
        population = self.table.drop(columns=self.confidential)
        domain, truth = domain_of(self.table[self.confidential]), self.table[self.confidential]
        rows, inferred, seen = [], [], {}
        for size in self.sizes:
            those = sorted(order[:size], key=list(self.table.columns).index)
            for person in self._targets(those, size, seeds):
                known = {attribute: _plain(self.table[attribute].iloc[person]) for attribute in those}
                if (key := (size, *(self.table[attribute].iloc[person] for attribute in those))) not in seen:
                    seen[key] = _checked(technique.infer(published, known, population), domain, name)
                like = [(self.table[attribute] == self.table[attribute].iloc[person]).to_numpy() for attribute in those]
                people = int(np.logical_and.reduce(like).sum()) if those else len(self.table)
                true = seen[key][domain.get_loc(truth.iloc[person])]
                rows.append((name, strength, seeds[-1], size, ", ".join(those), person, people, true))
                inferred.append(seen[key])
        _, units, unit = in_units(domain, self.confidential)
        judged = areas(units, unit, np.array(inferred), self.eps)
        return pd.concat([pd.DataFrame(rows, columns=COLUMNS), judged], axis=1)

    def _targets(self, attributes: list[str], size: int, seeds: Sequence[int]) -> list[int]:
        """Places of people in the table: the same for each size, or anew from the combinations that somebody has."""
        chances = np.random.default_rng([*seeds, 0 if self.draw == "people" else size]).random((self.targets, 2))
        if self.draw == "people" or not attributes:
            return [int(place) for place in chances[:, 0] * len(self.table)]
        code, tuples = sort_distinct(self.table[attributes])
        order, people = np.argsort(code, kind="stable"), np.bincount(code)
        drawn = (chances[:, 0] * len(tuples)).astype(int)
        among = np.cumsum(people)[drawn] - people[drawn] + (chances[:, 1] * people[drawn]).astype(int)
        return [int(place) for place in order[among]]


def _plain(value: object) -> object:
    """A value as it is known; in a list if it could be read as more than one."""
    return [value] if isinstance(value, tuple | pd.Interval) else value


def _checked(p: object, domain: pd.Index, name: str) -> np.ndarray:
    """The probabilities that a technique gives, over the domain."""
    if not isinstance(p, pd.Series) or not p.index.isin(domain).all() or p.index.has_duplicates:
        what = shown(p) if not isinstance(p, pd.Series) else "one with other values, or a value twice"
        raise TableError(f"{name}.infer must give a Series of probabilities by value of the domain, not {what}")
    share = as_numbers(p.reindex(domain).fillna(0.0), f"what {name}.infer gives").astype(float)
    if not (share >= 0).all():
        raise TableError(f"{name}.infer gives {share.min():.12g}, which is no probability")
    if abs(share.sum() - 1) > ROUNDING:
        raise TableError(f"{name}.infer gives numbers that sum to {share.sum():.12g}; probabilities are expected")
    return share
