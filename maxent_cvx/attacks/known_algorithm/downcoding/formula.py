"""Conditions on a table: so many records of some groups lie below a place at most, joined by "and" and "or"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

__all__ = ["ALWAYS", "NEVER", "AtMost", "Every", "Formula", "Some", "all_of", "any_of"]


@dataclass(frozen=True)
class AtMost:
    """At most `most` records of some groups have a value below a place of an attribute, or from it on.

    Attributes
    ----------
    units : tuple of (int, int)
        Groups, each with the attribute.
    place : int
        Between 0 and the number of the attribute's values.
    below : bool
        Whether those below it are counted, or the others.
    most : int
    """

    units: tuple[tuple[int, int], ...]
    place: int
    below: bool
    most: int

    def leaves(self) -> Iterator[AtMost]:
        """The counts that it is about."""
        yield self

    def holds(self, within: Mapping[AtMost, np.ndarray]) -> np.ndarray:
        """Where it holds, if it is known of each count where it is small enough."""
        return within[self]


@dataclass(frozen=True)
class Every:
    """All of several hold."""

    parts: tuple[Formula, ...]

    def leaves(self) -> Iterator[AtMost]:
        """The counts that it is about."""
        for part in self.parts:
            yield from part.leaves()

    def holds(self, within: Mapping[AtMost, np.ndarray]) -> np.ndarray:
        """Where it holds."""
        return np.all([part.holds(within) for part in self.parts], axis=0)


@dataclass(frozen=True)
class Some:
    """One of several holds; they exclude each other."""

    parts: tuple[Formula, ...]

    def leaves(self) -> Iterator[AtMost]:
        """The counts that it is about."""
        for part in self.parts:
            yield from part.leaves()

    def holds(self, within: Mapping[AtMost, np.ndarray]) -> np.ndarray:
        """Where it holds."""
        return np.any([part.holds(within) for part in self.parts], axis=0)


Formula = AtMost | Every | Some

ALWAYS, NEVER = Every(()), Some(())


def all_of(parts: list[Formula]) -> Formula:
    """Join by "and"."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, Every) else (part,))]
    if NEVER in flat:
        return NEVER
    return flat[0] if len(flat) == 1 else Every(tuple(dict.fromkeys(flat)))


def any_of(parts: list[Formula]) -> Formula:
    """Join by "or"."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, Some) else (part,))]
    if ALWAYS in flat:
        return ALWAYS
    return flat[0] if len(flat) == 1 else Some(tuple(dict.fromkeys(flat)))
