"""Where a step function that never rises changes: at every place it could, or by bisection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import GroupTooLarge
from .covering import TOGETHER, cost

__all__ = ["Steps", "differences", "refined", "stepwise"]

#: Entropies closer than this are the same, bits: what rounding makes of it.
SAME = 1e-11
#: Runs that are tried for a curve by bisection, and for an exact one, which is faster by the run: a minute or two.
MOST_RUNS, MOST_EXACT = 3 * 10**10, 8 * 10**10


@dataclass(frozen=True, eq=False)
class Steps:
    """What is known of H.

    Attributes
    ----------
    width : ndarray
        From 0 on, increasing.
    entropy : ndarray
        H there, bits.
    is_open : ndarray of bool, one fewer
        Between two widths: that H changes, nobody knows where; elsewhere it is constant up to the second one.
    """

    width: np.ndarray
    entropy: np.ndarray
    is_open: np.ndarray


def stepwise(width: np.ndarray, entropy: np.ndarray) -> Steps:
    """Of every width H is known, and it changes nowhere else."""
    return Steps(width, entropy, np.zeros(len(width) - 1, dtype=bool))


def differences(units: np.ndarray, most: int) -> np.ndarray | None:
    """The distinct differences of two values, increasing, 0 among them; None if there are more than `most` besides."""
    if len(units) - 1 > most:  # from the first value alone
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
    """Find H wherever it can change, or else bisect where most of the area is open.

    Parameters
    ----------
    units : ndarray of int64
        The values, increasing.
    entropy : callable
        H of increasing widths.
    evaluations : int
        For how many widths H is found, at most; fewer where that means too many runs to try.

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
    """Leave out the widths at which nothing changes, but for the ends of what is open."""
    ends = np.append(steps.is_open, True) | np.insert(steps.is_open, 0, True)
    kept = ends | np.insert(-np.diff(steps.entropy) > SAME, 0, True)
    at = np.flatnonzero(kept)
    return Steps(steps.width[at], steps.entropy[at], steps.is_open[at[1:] - 1])
