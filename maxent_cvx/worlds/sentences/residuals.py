"""What is left of sentences when it is known what some of the people have.

Every sentence is a count, "from low to high of these are true"; sentences that are written alike once what is known is
taken out are one, with a number. What is left is all that the values of people who are done with matter for, so that a
dynamic program remembers a number in place of who has what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce

import numpy as np

from .syntax import Counted, Has, Implication, Sentence

__all__ = ["FALSE", "TRUE", "Residuals"]

FALSE, TRUE = 0, 1


class Residuals:
    """All that sentences were found to come to, each by its number: FALSE, TRUE, atoms, and counts."""

    def __init__(self) -> None:
        #: (person, value) of an atom, (low, high, numbers of the parts) of a count.
        self.held: list[tuple[int, ...]] = [(FALSE,), (TRUE,)]
        self.number: dict[tuple[object, ...], int] = {}
        self.people_of: list[frozenset[int]] = [frozenset(), frozenset()]
        self._after: dict[tuple[int, int, int], int] = {}

    def of(self, sentence: Sentence, atom: dict[Has, tuple[int, int]]) -> int:
        """Number a sentence, whose atoms are given as the positions of person and value."""
        if isinstance(sentence, Has):
            return self._numbered(atom[sentence], frozenset(atom[sentence][:1]))
        parts = [self.of(part, atom) for part in sentence.parts]
        if isinstance(sentence, Implication):
            return self.any([self.negation(parts[0]), parts[1]])
        assert isinstance(sentence, Counted)
        return self.count(sentence.low, sentence.high, parts)

    def every(self, parts: Iterable[int]) -> int:
        """All are true."""
        parts = list(parts)
        return self.count(len(parts), len(parts), parts)

    def any(self, parts: Iterable[int]) -> int:
        """At least one is true."""
        parts = list(parts)
        return self.count(1, len(parts), parts)

    def negation(self, part: int) -> int:
        """It is not true."""
        return self.count(0, 0, [part])

    def count(self, low: int, high: int, parts: Iterable[int]) -> int:
        """From low to high of the parts are true; what is written alike gets one number."""
        known = Counter(parts)
        low, high = low - known[TRUE], high - known[TRUE]
        left = sorted(part for part in known.elements() if part not in (FALSE, TRUE))
        n = len(left)
        low, high = max(low, 0), min(high, n)
        if low > high or (low, high) == (0, n):
            return FALSE if low > high else TRUE
        if n == 1:
            return left[0] if low else self._negated(left[0])
        if high == 0:
            return self.every(self.negation(part) for part in left)
        if low == n or (low, high) == (1, n):
            return self._flat(left, every=low == n)
        return self._numbered((low, high, *left), self._people(left))

    def after(self, residual: int, person: int, value: int) -> int:
        """What is left when a person has a value: -1 for one that no sentence mentions."""
        if person not in self.people_of[residual]:
            return residual
        key = (residual, person, value)
        if (found := self._after.get(key)) is None:
            held = self.held[residual]
            if len(held) == 2:
                found = TRUE if held[1] == value else FALSE
            else:
                found = self.count(held[0], held[1], [self.after(part, person, value) for part in held[2:]])
            self._after[key] = found
        return found

    def table(self, residuals: np.ndarray, person: int, values: np.ndarray) -> np.ndarray:
        """What is left of each residual when a person has each value, shape (residuals, values)."""
        after = [[self.after(one, person, value) for value in values.tolist()] for one in residuals.tolist()]
        return np.array(after, dtype=np.int64).reshape(len(residuals), len(values))

    def _flat(self, parts: list[int], *, every: bool) -> int:
        """All (or any) of the parts, of which those that are of the same kind are taken apart, and each counts once."""
        opened: set[int] = set()
        for part in parts:
            held = self.held[part]
            n = len(held) - 2
            same = n > 1 and (held[:2] == (n, n) if every else held[:2] == (1, n))
            opened |= set(held[2:]) if same else {part}
        if len(opened) == 1:
            return opened.pop()
        if any(self._negated(part, new=False) in opened for part in opened):
            return FALSE if every else TRUE
        n = len(opened)
        return self._numbered((n if every else 1, n, *sorted(opened)), self._people(opened))

    def _negated(self, part: int, *, new: bool = True) -> int:
        """The number of "not"; -1 if it has none yet and is to have none."""
        held = self.held[part]
        low, high, n = held[0], held[1], len(held) - 2
        if n == 1:  # not not
            return held[2]
        if n > 1 and (low == 0 or high == n):
            bounds = (high + 1, n) if low == 0 else (0, low - 1)
            if new:
                return self.count(*bounds, held[2:])
            return self.number.get((*bounds, *held[2:]), -1)
        return self._numbered((0, 0, part), self.people_of[part]) if new else self.number.get((0, 0, part), -1)

    def _numbered(self, held: tuple[int, ...], people: frozenset[int]) -> int:
        """The number of what is written so."""
        if (found := self.number.get(held)) is None:
            found = self.number[held] = len(self.held)
            self.held.append(held)
            self.people_of.append(people)
        return found

    def _people(self, parts: Iterable[int]) -> frozenset[int]:
        """Whom the parts mention."""
        return reduce(frozenset.union, (self.people_of[part] for part in parts), frozenset())
