"""How likely sentences are to come true, while the people whom they mention get their values one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from .naming import Knowledge
from .residuals import FALSE, TRUE, Residuals

__all__ = ["Outlook"]

#: Different things that may be left of the sentences after one person: where there are more, nobody looks so far ahead.
MOST_LEFT = 2_000


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is left of the sentences before and after each person, and how likely that is to come true.

    Were people's values independent, to draw each in proportion to their own chances times these would draw from the
    values of which all sentences are true. Where too much may be left to look at all of it, it is only seen what makes
    a sentence false at once.

    Attributes
    ----------
    residuals : Residuals
    root : int
        The number of all sentences together.
    people, values : ndarray of int
        All who are mentioned, in the order in which they get values, and the values that there are.
    left : list of ndarray of int
        One a person: what may be left before, sorted; empty where that is too much.
    after : list of ndarray of int, shape (left, values)
        What is left then, by the value that the person gets.
    hope : list of ndarray, shape (left, values)
        How likely what is left then is to come true, but for a factor.
    """

    residuals: Residuals
    root: int
    people: np.ndarray
    values: np.ndarray
    left: list[np.ndarray]
    after: list[np.ndarray]
    hope: list[np.ndarray]

    @classmethod
    def of(cls, known: Knowledge, people: np.ndarray, values: np.ndarray, chance: np.ndarray) -> Self:
        """Look ahead, from the last person to the first.

        Parameters
        ----------
        known : Knowledge
        people, values : ndarray of int
        chance : ndarray, shape (people, values)
            Probabilities.
        """
        residuals = Residuals()
        root = residuals.every(residuals.of(sentence, known.positions) for sentence in known.sentences)
        left: list[np.ndarray] = [np.array([root])]
        after: list[np.ndarray] = []
        for person in people.tolist():
            after.append(residuals.table(left[-1], person, values))
            left.append(np.unique(after[-1]))
            if len(left[-1]) > MOST_LEFT:
                return cls(residuals, root, people, values, [], [], [])
        hope: list[np.ndarray] = []
        likely = (left[-1] == TRUE).astype(float)
        for j in reversed(range(len(people))):
            hope.append(likely[np.searchsorted(left[j + 1], after[j])])
            likely = hope[-1] @ chance[j]
            likely = likely / max(likely.max(), np.finfo(float).tiny)
        return cls(residuals, root, people, values, left[:-1], after, hope[::-1])

    def step(self, j: int, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the j-th person's values do to what is left in each of some worlds.

        Returns
        -------
        which : ndarray of int, one a world
            Its row in both tables.
        after, hope : ndarray, shape (rows, values)
        """
        if self.left:
            return np.searchsorted(self.left[j], residual), self.after[j], self.hope[j]
        left, which = np.unique(residual, return_inverse=True)
        after = self.residuals.table(left, int(self.people[j]), self.values)
        return which.reshape(-1), after, (after != FALSE).astype(float)
