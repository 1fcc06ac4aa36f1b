"""The breakpoints of a non-increasing step function: all candidates, or by bisection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import GroupTooLarge
from .covering import TOGETHER, cost

__all__ = ["Steps", "differences", "refined", "stepwise"]

#: Bits: entropies closer than this are equal but for rounding.
SAME = 1e-11
#: The most runs that are evaluated for a curve by bisection, and for an exact one, where each run takes less time: a
#: minute or two.
MOST_RUNS, MOST_EXACT = 3 * 10**10, 8 * 10**10


@dataclass(frozen=True, eq=False)
class Steps:
    """The known part of the curve H(eps).

    Attributes
    ----------
    width : ndarray
        eps, increasing from 0.
    entropy : ndarray
        H there, bits.
    is_open : ndarray of bool, one fewer
        Whether H changes at an unknown place between two widths; otherwise it is constant up to the second one.
    """

    width: np.ndarray
    entropy: np.ndarray
    is_open: np.ndarray


def stepwise(width: np.ndarray, entropy: np.ndarray) -> Steps:
    """A curve that is known wherever it changes."""
    return Steps(width, entropy, np.zeros(len(width) - 1, dtype=bool))


def differences(units: np.ndarray, most: int) -> np.ndarray | None:
    """The distinct differences of two values, increasing, with 0; None if there are more than `most` besides 0."""
    if len(units) - 1 > most:  # so many are the differences from the first value alone
        return None
    found = np.zeros(1, dtype=np.int64)
    at_once = max(2**20 // len(units), 1)
    for i in range(0, len(units), at_once):
        apart = units[None, i:] - units[i : i + at_once, None]
        found = np.union1d(found, apart[apart > 0])
        if len(found) > most + 1:
            return None
    return found


def refined(units: np.ndarray, entropy: Callable[[np.ndarray], np.ndarray], evaluations: int) -> Steps:
    """Evaluate H wherever it can change or, where that is too much, bisect where most of the area is undetermined.

    Parameters
    ----------
    units : ndarray of int64
        The values, increasing.
    entropy : callable
        H of increasing widths.
    evaluations : int
        The most widths at which H is evaluated; fewer where that means too many runs.

    Raises
    ------
    GroupTooLarge
        If not even some dozens of widths are affordable.
    """
    span = int(units[-1] - units[0])
    every = differences(units, evaluations)
    if every is not None and len(every) * cost(units, span) <= MOST_EXACT:
        return _changes(stepwise(every, entropy(every)))
    if min(TOGETHER, evaluations) * cost(units, span // 2) > MOST_RUNS:
        raise GroupTooLarge(
            f"the whole curve of {len(units)} distinct values takes too long; ask for .at(eps), or round the values"
        )
    width = np.array([0, span], dtype=np.int64)
    found, left, runs = entropy(width), evaluations - 2, MOST_RUNS
    while left > 0:
        gap, drop = np.diff(width), -np.diff(found)
        open_ = np.flatnonzero((gap > 1) & (drop > SAME))
        worst = open_[np.argsort(-(gap * drop)[open_], kind="stable")][: min(TOGETHER, left)]
        middle = np.sort(width[worst] + gap[worst] // 2)
        runs -= sum(cost(units, int(one)) for one in middle)
        if not len(worst) or runs < 0:
            break
        width, at = np.unique(np.concatenate([width, middle]), return_index=True)
        found = np.concatenate([found, entropy(middle)])[at]
        left -= len(middle)
    return _changes(Steps(width, found, (np.diff(width) > 1) & (-np.diff(found) > SAME)))


def _changes(steps: Steps) -> Steps:
    """Drop the widths at which H does not change, except the ends of undetermined intervals."""
    ends = np.append(steps.is_open, True) | np.insert(steps.is_open, 0, True)
    kept = ends | np.insert(-np.diff(steps.entropy) > SAME, 0, True)
    at = np.flatnonzero(kept)
    return Steps(steps.width[at], steps.entropy[at], steps.is_open[at[1:] - 1])
