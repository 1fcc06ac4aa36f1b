"""What a source that speaks of one partition must know of all the others.

A row about P(flu | men, college) has the same coefficient on every term in whatever bucket, so that every partition can
emit the coefficients of its own terms. Two things are of the whole: how many records are as described, and which groups
of QI tuples and values occur at all, by which blocks are labelled. Both are answered by the release as coarse as the
source sees it: the combinations of values of a few QI attributes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...errors import StatementError
from ...tables.coding import group_codes, multi_index
from ...tables.selection import choose

__all__ = ["MOST_COMBINATIONS", "Combinations", "Needed", "Surroundings", "described_as"]

#: Up to so many combinations of QI values a source can speak of by labels: every partition holds a term for each of
#: them with each sensitive value, and a partition has some hundreds of thousands of terms of its own.
MOST_COMBINATIONS = 20_000


class Needed(Exception):
    """Something of the whole that is not known yet: it is counted, and the source asked again.

    No error for users, and none of the package's, so that no source takes it for one.

    Attributes
    ----------
    columns : frozenset of str
        The QI attributes whose combinations must be known, beyond those that are.
    """

    def __init__(self, columns: frozenset[str]) -> None:
        super().__init__(columns)
        self.columns = columns


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of values that some QI attributes have in the whole.

    Attributes
    ----------
    columns : tuple of str
        The attributes, in the order of the release.
    codes : ndarray of int, shape (combinations, attributes)
        Positions of values in the levels of the QI tuples; sorted.
    records : ndarray of int
        Records of the whole with each.
    values : ndarray of bool, shape (combinations, sensitive values)
        Whether a value is in some bucket together with the combination.
    """

    columns: tuple[str, ...]
    codes: np.ndarray
    records: np.ndarray
    values: np.ndarray

    def of(self, tuples: pd.MultiIndex) -> np.ndarray:
        """The combination that each QI tuple has; -1 of one that has none of these."""
        known, own = np.zeros(len(self.codes), dtype=np.int64), np.zeros(len(tuples), dtype=np.int64)
        for column, codes in zip(self.columns, self.codes.T, strict=True):
            place = tuples.names.index(column)
            size, code = len(tuples.levels[place]), np.asarray(tuples.codes[place])
            # Dense again after each column, so that the mixed-radix key cannot overflow.
            keys, known = np.unique(known * size + codes, return_inverse=True)
            own = _find(keys, np.where(own < 0, -1, own * size + code))
        return own if len(self.codes) else np.full(len(tuples), -1)

    def tuples(self, like: pd.MultiIndex) -> pd.MultiIndex:
        """The combinations as QI tuples, which have the other attributes of nobody in particular."""
        codes = [np.zeros(len(self.codes), dtype=np.int64) for _ in like.names]
        for column, own in zip(self.columns, self.codes.T, strict=True):
            codes[like.names.index(column)] = own
        return multi_index(like.levels, codes, list(like.names))

    @classmethod
    def counted(
        cls, columns: frozenset[str], tuples: pd.MultiIndex, records: np.ndarray, n_values: int
    ) -> Combinations:
        """Count the records of every combination that occurs; that every value goes with each is still to be seen.

        Raises
        ------
        StatementError
            If there are too many.
        """
        ordered = tuple(str(name) for name in tuples.names if name in columns)
        places = [tuples.names.index(column) for column in ordered]
        of_tuple = np.zeros(len(tuples), dtype=np.int64)
        if ordered:
            of_tuple = group_codes(
                [np.asarray(tuples.codes[i]) for i in places], [len(tuples.levels[i]) for i in places]
            )
        known, first = np.unique(of_tuple, return_index=True)
        if len(known) > MOST_COMBINATIONS:
            raise StatementError(
                f"what is said by {', '.join(ordered)} cannot be divided among partitions: {len(known):,} combinations "
                f"of their values occur, and up to {MOST_COMBINATIONS:,} can be told apart; speak of fewer attributes"
            )
        codes = np.empty((len(known), len(places)), dtype=np.int64)
        for at, i in enumerate(places):
            codes[:, at] = np.asarray(tuples.codes[i])[first]
        n = np.bincount(of_tuple, records, len(known)).astype(np.int64)
        return cls(ordered, codes, n, np.ones((len(known), n_values), dtype=bool))


def _find(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The place of each wanted key among sorted ones; -1 of one that is not there."""
    if not len(keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What is known of the whole in every partition.

    Attributes
    ----------
    combinations : Combinations
        Of the attributes that the source speaks of by labels.
    named : Combinations
        The QI tuples of people who have names, with all attributes.
    described : dict
        Records of the whole that are as described, by :func:`described_as`.
    names : Index
        The names of people.
    of_name : ndarray of int
        The place of each one's QI tuple among those of `named`.
    """

    combinations: Combinations
    named: Combinations
    described: Mapping[Hashable, int] = field(default_factory=dict)
    names: pd.Index = field(default_factory=lambda: pd.Index([], dtype=object, name="who"))
    of_name: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def records(self, given: Mapping[str, object] | None) -> int:
        """The records of the whole that are as described."""
        return self.described[described_as(given)]


def described_as(given: Mapping[str, object] | None) -> Hashable:
    """A description of people as something that can be looked up, whatever the order in which it was written."""
    return frozenset((name, choose(chosen, name)) for name, chosen in (given or {}).items())
