"""The assignments of values by which every refused cut had a half with fewer than l values: counted, not listed.

Two dynamic programs. Inside a group, records in the same halves, of one prior, are a cell; the values go through one
after the other, each with all ways to spread over the cells. A state is how full the cells are, how many values each
half of the group's own cuts has (l stands for l and more), and of halves that other groups have part in which values
they have. Of the last only those of full cells leave the group. Then the groups go through one after the other, a state
being which values each half has so far, and l of them are all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ....errors import GroupTooLarge
from .group_ways import GroupWays, check_steps, numbered
from .part import Part
from .transitions import Layer, backwards, drawn, forwards

__all__ = ["Counted"]

#: Sensitive values of a part, at most: a set of them is the bits of an integer.
MOST_VALUES = 62


@dataclass(frozen=True, eq=False)
class Counted:
    """The assignments of a part.

    Attributes
    ----------
    part : Part
    groups : list of GroupWays
    layers : list of Layer
        One a group, whose options are what it has of the halves that others have part in.
    sums : list of ndarray
        Forwards through these.
    log_share : float
        The logarithm of their share of all assignments within groups, without a prior; minus infinity if there is none.
    """

    part: Part
    groups: list[GroupWays]
    layers: list[Layer]
    sums: list[np.ndarray]
    log_share: float

    @classmethod
    def of(cls, part: Part) -> Self:
        """Count them.

        Raises
        ------
        GroupTooLarge
            If that is too much work.
        """
        if part.count.shape[1] > MOST_VALUES:
            raise GroupTooLarge(f"refused cuts link groups of {part.count.shape[1]} values; {MOST_VALUES} are allowed")
        groups = [GroupWays(part, number) for number in range(len(part.count))]
        log_share = sum(one.log_share for one in groups)
        if np.isinf(log_share):
            return cls(part, groups, [], [], log_share)
        layers = _across(part, groups)
        sums, log_total = forwards(layers)
        return cls(part, groups, layers, sums, log_share + log_total)

    def probabilities(self) -> np.ndarray:
        """P(value | record), shape (records, values)."""
        p = np.zeros((len(self.part.group), self.part.count.shape[1]))
        shares = backwards(self.layers, self.sums, np.ones(1))
        for one, layer, share in zip(self.groups, self.layers, shares, strict=True):
            p[one.members] = one.probabilities(share / np.where(layer.weight > 0, layer.weight, 1.0))
        return p

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw assignments, all equally likely: the value of each record, shape (n, records)."""
        value = np.empty((n, len(self.part.group)), dtype=np.int64)
        ends = drawn(self.layers, self.sums, np.zeros(n, dtype=np.int64), rng)
        for one, end in zip(self.groups, ends, strict=True):
            value[:, one.members] = one.draw(end, rng)
        return value


def _across(part: Part, groups: list[GroupWays]) -> list[Layer]:
    """Go through the groups."""
    of_half = np.array([np.isin(np.arange(len(groups)), part.group[half]) for half in part.halves])
    last = np.array([np.flatnonzero(has)[-1] for has in of_half])
    state = np.zeros((1, len(part.halves)), dtype=np.int64)
    layers = []
    for one in groups:
        offered = np.zeros((len(one.ends), len(part.halves)), dtype=np.int64)
        offered[:, one.shared] = one.ends
        check_steps(len(state) * len(offered))
        source, option = map(np.ravel, np.indices((len(state), len(offered))))
        union = part.capped(state[source] | offered[option])
        kept = part.refused(union)
        source, option, union = source[kept], option[kept], union[kept]
        union[:, last <= one.number] = 0  # no later group has part in these
        target, state = numbered(union)
        layers.append(Layer(source, option, target, one.sums[-1], len(state)))
    return layers
