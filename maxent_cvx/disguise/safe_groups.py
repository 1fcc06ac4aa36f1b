"""Groups that wait to be cut, and whether all groups together stay (c, k)-safe."""

from __future__ import annotations

import numpy as np

from ..errors import TableError, amount
from ..worlds.worst.frequencies import Frequencies
from ..worlds.worst.least import Least, least_of_counts
from ..worlds.worst.safety import Safety

__all__ = ["SafeGroups"]


class SafeGroups:
    """What implications can do to a table whose groups are on a stack: the last is taken, and cut in two or kept.

    Implications may link people of different groups, so that all groups count. Of those that wait, each one and all
    below it, and of all that are kept it is known what they let be done; cutting adds to that, and taking the last
    group takes it away.

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
                f"{float(p):.3g} after {amount(safety.k, 'implication')}; choose a larger c, or a smaller k"
            )
        self._kept = safety.of_nothing()
        self._waiting = [self._kept, *self._least([np.arange(len(value))])]
        self._halves: list[Least] = []

    def allows(self, halves: list[np.ndarray]) -> bool:
        """Whether all groups are safe if the last one that waits is cut so."""
        self._halves = self._least(halves)
        first, second = self._halves
        return self.safety.holds(self._kept & self._waiting[-2] & first & second)

    def cut(self) -> None:
        """Cut the last group as was allowed; both halves wait."""
        self._waiting.pop()
        for half in self._halves:
            self._waiting.append(self._waiting[-1] & half)

    def keep(self, records: np.ndarray) -> None:
        """Keep the last group."""
        self._waiting.pop()
        (one,) = self._least([records])
        self._kept = self._kept & one

    def _least(self, groups: list[np.ndarray]) -> list[Least]:
        counts = np.array([np.bincount(self.value[records], minlength=self._n_values) for records in groups])
        return least_of_counts(counts, self.safety.k)
