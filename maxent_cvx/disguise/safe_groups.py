"""Groups of records that are cut in two as long as all groups together stay (c, k)-safe."""

from __future__ import annotations

import numpy as np

from ..errors import TableError, amount
from ..worlds.worst.frequencies import Frequencies
from ..worlds.worst.least import least_of_counts
from ..worlds.worst.safety import Safety

__all__ = ["SafeGroups"]


class SafeGroups:
    """What implications can do to all groups of a table, for they may link people of different groups.

    A group that is cut stays counted, since it leaves no less than its halves together. *Proof.* Take a chain in it. A
    factor (n - i - S_c) / (n - i), or (n - S_c) / n_s of the target, who may be the first person, is no less than the
    fraction of sums over both halves: of what n - i - S_c is there, and of n - i or n_s. So the factor in one of the
    halves is no larger, and there the person goes.

    Parameters
    ----------
    value : ndarray of int
        The sensitive value of every record.
    safety : Safety

    Raises
    ------
    TableError
        If all records as one group are not safe.
    """

    def __init__(self, value: np.ndarray, safety: Safety) -> None:
        self.value, self.safety = value, safety
        self._n_values = int(value.max()) + 1
        if (p := safety.disclosure(Frequencies.of_groups([value], self._n_values))) >= safety.c:
            raise TableError(
                f"safe=({safety.c:g}, {safety.k}): even of the whole table as one group the disclosure is "
                f"{p:.3g} after {amount(safety.k, 'implication')}; choose a larger c, or a smaller k"
            )
        (self._least,) = least_of_counts(self._counts([np.arange(len(value))]), safety.k)

    def cut(self, halves: list[np.ndarray]) -> bool:
        """Cut a group so, if all groups are safe then."""
        first, second = least_of_counts(self._counts(halves), self.safety.k)
        together = self._least & first & second
        allowed = self.safety.holds(together)
        if allowed:
            self._least = together
        return allowed

    def _counts(self, groups: list[np.ndarray]) -> np.ndarray:
        return np.array([np.bincount(self.value[records], minlength=self._n_values) for records in groups])
