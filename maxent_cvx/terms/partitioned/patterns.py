"""Sources that look at every QI tuple: what they say is told to partitions as patterns of QI values.

An association or a rule is mined of all QI tuples together, and is about those with some values. The source is asked
once, where all tuples are known and no terms; of each sum P(Q, s) that it takes, partitions are told the values of Q.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError
from ..people import People
from ..space import Space
from .seen_part import SeenPart

__all__ = ["NoPattern", "Pattern", "PatternSpace", "joint_of"]

#: Columns that stand for patterns while a source is asked: more sums P(Q, s) than that take hours to emit.
MOST_PATTERNS = 2**20


class NoPattern(Exception):
    """A source says something else than sums over patterns; no error for users."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """A set of QI tuples with some values, and a sensitive value.

    Attributes
    ----------
    codes : dict of int to ndarray
        Of the levels of QI tuples that it sets, the codes it has.
    s : int
    """

    codes: Mapping[int, np.ndarray]
    s: int

    def marks(self, tuples: pd.MultiIndex) -> np.ndarray:
        """Mark the QI tuples that have the values."""
        mask = np.ones(len(tuples), dtype=bool)
        for level, some in self.codes.items():
            chosen = np.zeros(len(tuples.levels[level]), dtype=bool)
            chosen[some] = True
            mask &= chosen[np.asarray(tuples.codes[level])]
        return mask


class NoTerms(Mapping[str, np.ndarray]):
    """The codes of terms of which there are none: who looks at them says no pattern."""

    def __getitem__(self, role: str) -> np.ndarray:
        raise NoPattern

    def __iter__(self) -> Iterator[str]:
        raise NoPattern

    def __len__(self) -> int:
        raise NoPattern


@dataclass(frozen=True, eq=False, repr=False)
class PatternSpace(Space):
    """The space of all QI tuples and no terms, whose columns stand for the sums P(Q, s) that a source takes.

    Attributes
    ----------
    taken : list of Pattern
        One a column, in order.
    """

    taken: list[Pattern] = field(default_factory=list)

    @classmethod
    def over(cls, tuples: SeenPart, people: People) -> PatternSpace:
        """The space of all QI tuples."""
        return cls(tuples, people, NoTerms())

    def __len__(self) -> int:
        return MOST_PATTERNS

    @property
    def counts(self) -> None:  # type: ignore[override]
        """No variable of CVXPY stands for patterns."""
        raise NoPattern

    def joint(self, members: sp.csr_array, s: np.ndarray) -> sp.csr_array:
        """Coefficients of P(Q, s) on the columns that stand for them."""
        start, tuples = len(self.taken), self.view.axes["q"][1]
        assert isinstance(tuples, pd.MultiIndex)
        if members.shape[1] != len(tuples) or (members.data != 1).any():
            raise NoPattern
        self.taken.extend(pattern_of(members.indices[a:b], int(value), tuples) for a, b, value in zip(
            members.indptr, members.indptr[1:], np.asarray(s), strict=False
        ))  # fmt: skip
        n = members.shape[0]
        if len(self.taken) > MOST_PATTERNS:
            raise StatementError(f"{len(self.taken):,} patterns cannot be divided among partitions; say fewer")
        return sp.csr_array((np.ones(n), np.arange(start, start + n), np.arange(n + 1)), shape=(n, MOST_PATTERNS))


def pattern_of(members: np.ndarray, s: int, tuples: pd.MultiIndex) -> Pattern:
    """The values that QI tuples have, if all tuples with these are among them."""
    codes = {}
    for level, values in enumerate(tuples.levels):
        has = np.zeros(len(values), dtype=bool)
        has[np.asarray(tuples.codes[level])[members]] = True
        if not has.all():
            codes[level] = np.flatnonzero(has)
    found = Pattern(codes, s)
    if np.count_nonzero(found.marks(tuples)) != len(members):
        raise NoPattern
    return found


def joint_of(patterns: Sequence[Pattern], space: Space) -> sp.csr_array:
    """Coefficients of P(Q, s) on the terms of a space, a row a pattern."""
    tuples = space.view.axes["q"][1]
    assert isinstance(tuples, pd.MultiIndex)
    found = [np.flatnonzero(one.marks(tuples)) for one in patterns]
    ends = np.cumsum([0, *map(len, found)])
    indices = np.concatenate([np.empty(0, dtype=np.int64), *found])
    members = sp.csr_array((np.ones(len(indices)), indices, ends), shape=(len(patterns), len(tuples)))
    return space.joint(members, np.array([one.s for one in patterns], dtype=np.int64))
