"""How likely sentences are to come true, while the people whom they mention get their values one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ...errors import GroupTooLarge
from .naming import Knowledge
from .residuals import FALSE, TRUE, Residuals

__all__ = ["Outlook"]

#: What may be left of the sentences, after one person: more than so much is not tabulated.
MOST_LEFT = 100_000


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is left of the sentences before and after each person, and how likely that is to come true.

    Were people's values independent, to draw each in proportion to their own chances times these would draw from the
    values of which all sentences are true.

    Attributes
    ----------
    root : int
        The number of all sentences together.
    left : list of ndarray of int
        One a person: what may be left before, sorted.
    after : list of ndarray of int, shape (left, values)
        What is left then, by the value that the person gets.
    hope : list of ndarray, shape (left, values)
        How likely what is left then is to come true, but for a factor.
    """

    root: int
    left: list[np.ndarray]
    after: list[np.ndarray]
    hope: list[np.ndarray]

    @classmethod
    def of(cls, known: Knowledge, people: np.ndarray, values: np.ndarray, chance: np.ndarray) -> Self:
        """Look ahead, from the last person to the first.

        Parameters
        ----------
        known : Knowledge
        people : ndarray of int
            All who are mentioned, in the order in which they get values.
        values : ndarray of int
            Those that there are.
        chance : ndarray, shape (people, values)
            Probabilities.

        Raises
        ------
        GroupTooLarge
            If too much may be left of the sentences.
        """
        residuals = Residuals()
        root = residuals.every(residuals.of(sentence, known.positions) for sentence in known.sentences)
        left, after = [np.array([root])], []
        for person in people.tolist():
            after.append(
                np.array([[residuals.after(one, person, x) for x in values.tolist()] for one in left[-1].tolist()])
            )
            left.append(np.unique(after[-1]))
            if len(left[-1]) > MOST_LEFT:
                raise GroupTooLarge(
                    f"what is left of the sentences after some of the {len(people)} people is more than {MOST_LEFT} "
                    "different things; write fewer or simpler sentences"
                )
        hope, likely = [], (left[-1] == TRUE).astype(float)
        for j in reversed(range(len(people))):
            hope.append(likely[np.searchsorted(left[j + 1], after[j])])
            likely = hope[-1] @ chance[j]
            likely = np.where(left[j] == FALSE, 0.0, likely / max(likely.max(), np.finfo(float).tiny))
        return cls(root, left[:-1], after, hope[::-1])
