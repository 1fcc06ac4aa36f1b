"""Which cuts Mondrian must have refused, since its release shows that they were not made.

At every group of its recursion Mondrian tries cuts in an order that QI alone decide, and makes the first that leaves l
values on both sides. Every published group has l values, if there are two at least, so that a cut along the borders of
published groups is never refused: the cuts that were made are the first such cuts, and the whole recursion can be
followed without a sensitive value. All cuts that were tried before them, and all of groups that were published uncut,
were refused. That is all that the release says besides its groups and their values: each refused cut had a half with
fewer than l values, which contains no whole group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....disguise.cutting import Scales
from ....errors import Infeasible

__all__ = ["RefusedCuts"]


@dataclass(frozen=True, eq=False)
class RefusedCuts:
    """Halves of which one of each cut has fewer than l values.

    Attributes
    ----------
    halves : list of ndarray
        Records of each half that holds no whole group.
    cuts : list of tuple of int
        The halves of each refused cut, one or two.
    order : ndarray of int
        The groups in the order in which the recursion ends with them: those of a group that was cut are neighbours.
    """

    halves: list[np.ndarray]
    cuts: list[tuple[int, ...]]
    order: np.ndarray

    @classmethod
    def of(cls, scales: Scales, group: np.ndarray, k: int) -> RefusedCuts:
        """Follow the recursion that ends with the published groups.

        Parameters
        ----------
        scales : Scales
            The exact QI.
        group : ndarray of int
            The published group of each record.
        k : int

        Raises
        ------
        Infeasible
            If no recursion does, whatever the sensitive values are.
        """
        size = np.bincount(group)
        halves: list[np.ndarray] = []
        cuts: list[tuple[int, ...]] = []
        order: list[int] = []
        left = [np.arange(len(group))]
        while left:  # the same recursion as Mondrian's
            records = left.pop()
            made = None
            inside = np.bincount(group[records], minlength=len(size)) > 0
            for low in scales.cuts(records, k):
                n_low = np.bincount(group[records], low, len(size))
                split = (n_low > 0) & (n_low < size) & inside
                if not split.any():
                    made = low
                    break
                sides = [records[low], records[~low]]
                whole = [(n_low == size)[inside].any(), (n_low == 0)[inside].any()]
                cuts.append(tuple(range(len(halves), len(halves) + 2 - sum(whole))))
                halves += [side for side, holds in zip(sides, whole, strict=True) if not holds]
            if made is not None:
                left += [records[made], records[~made]]
            elif inside.sum() == 1:
                order.append(int(group[records[0]]))
            else:
                _refuse()
        if any(not cut for cut in cuts):
            _refuse()
        return cls(halves, cuts, np.array(order))


def _refuse() -> None:
    raise Infeasible(
        "Mondrian with these parameters makes this release of no table: are they, or the population, others?"
    )
