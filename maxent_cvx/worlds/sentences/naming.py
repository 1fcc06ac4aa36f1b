"""Knowledge about the people and values of a group or a release: sentences whose names are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from ...errors import StatementError, arguments, shown
from .reader import listed
from .syntax import Has, Sentence, atoms

__all__ = ["Knowledge"]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Sentences, and where the people and values of their atoms are among those that there are.

    Attributes
    ----------
    sentences : list of Sentence
    positions : dict of Has to tuple of int
        Of every atom the positions of person and value.
    """

    sentences: list[Sentence]
    positions: dict[Has, tuple[int, int]]

    @classmethod
    def of(cls, knowledge: object, people: pd.Index, values: pd.Index, who: str) -> Self:
        """Find everybody and everything that is spoken of.

        Parameters
        ----------
        knowledge : list of Sentence or str
        people, values : Index
            Who, and what, can be spoken of; `who` is what the people are called in messages.

        Raises
        ------
        StatementError
            If something is no sentence, or a name or value is not a single one.
        UnknownName
            If there is no such person or value.
        """
        sentences = listed(knowledge)
        spoken = dict.fromkeys(atom for sentence in sentences for atom in atoms(sentence))
        at = {atom: (_at(people, atom.person, who), _at(values, atom.value, "value")) for atom in spoken}
        return cls(sentences, at)

    @property
    def people(self) -> np.ndarray:
        """Everybody whom the sentences mention, by position, sorted."""
        return np.array(sorted({person for person, _ in self.positions.values()}), dtype=np.int64)

    def about(self, sentence: Sentence) -> set[int]:
        """Whom a sentence mentions."""
        return {self.positions[atom][0] for atom in atoms(sentence)}


def _at(known: pd.Index, label: object, what: str) -> int:
    """The position of a label, which is there once."""
    at = known.get_loc(arguments.known_label(label, what, known))
    if not isinstance(at, int | np.integer):
        whole = f"; write a tuple of {', '.join(map(str, known.names))}" * (known.nlevels > 1)
        raise StatementError(f"{shown(label)} is more than one {what}: a sentence is about one{whole}")
    return int(at)
