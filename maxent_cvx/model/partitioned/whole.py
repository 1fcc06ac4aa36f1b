"""What the driver knows of a release in partitions, and counts of it when a source asks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError
from ...sources import Source
from ...system.executors import Executor
from ...terms.events import tuples_described
from ...terms.partitioned.part_space import PartSpace
from ...terms.partitioned.patterns import NoPattern, PatternSpace
from ...terms.partitioned.seen_part import SeenPart
from ...terms.partitioned.surroundings import Combinations, Needed, Surroundings, described_as
from ...terms.people import People
from ...views.partitioned.partitioned_release import PartitionedRelease
from ...views.partitioned.release_part import ReleasePart
from ..emitted_rows import emit
from .told_source import ToldSource

__all__ = ["Whole"]

T = TypeVar("T")


class AllTuples(Exception):
    """A source tells every QI tuple apart; no error for users."""


@dataclass(frozen=True, eq=False)
class CountingSurroundings(Surroundings):
    """Surroundings on the driver, where records as described are counted, and noted down for all partitions.

    Attributes
    ----------
    whole : SeenPart
        All QI tuples.
    """

    whole: SeenPart = None  # type: ignore[assignment]  # always given
    described: dict[Hashable, int] = field(default_factory=dict)

    def records(self, given: Mapping[str, object] | None) -> int:
        """The records of the whole that are as described."""
        mask = tuples_described(self.whole, given)
        return self.described.setdefault(described_as(given), int(self.whole.records[mask].sum()))


class Whole:
    """A release in partitions as its sources see it: few combinations of QI values at a time.

    Parameters
    ----------
    release : PartitionedRelease
    people : dict of dict, or DataFrame, optional
        As of :class:`maxent_cvx.MaxEnt`.
    executor : Executor

    Attributes
    ----------
    people : People
        By the numbers of QI tuples in the whole.
    """

    def __init__(self, release: PartitionedRelease, people: Any, executor: Executor) -> None:
        self.release, self.executor = release, executor
        self.described: dict[Hashable, int] = {}
        self._combinations: dict[frozenset[str], Combinations] = {}
        self.people = People.of(people, self._tuples)

    @cached_property
    def parts(self) -> list[Any]:
        """Handles of the partitions, which are made when they are asked for first."""
        return self.executor.made(self.release.makers)

    def move_to(self, executor: Executor) -> None:
        """Have the partitions elsewhere; what was counted of them stays known."""
        self.executor = executor
        self.__dict__.pop("parts", None)

    @cached_property
    def empty(self) -> ReleasePart:
        """A partition without buckets."""
        release, nothing = self.release, np.empty(0, dtype=np.int64)
        n_values = len(release.sensitive_values)
        return ReleasePart(
            release.qi, release.sensitive, release.bucket, release.quasi_identifiers[:0], release.sensitive_values,
            pd.Index([], name=release.bucket), sp.csr_array((0, 0), dtype=np.int64),
            sp.csr_array((n_values, 0), dtype=np.int64), q_numbers=nothing, n_q_whole=nothing, n_s_whole=release.n_s,
            n_whole=release.n_records,
        )  # fmt: skip

    @cached_property
    def _tuples(self) -> SeenPart:
        """All QI tuples with their records, and no terms."""
        release = self.release
        every = Combinations(
            release.qi, np.empty((0, len(release.qi)), dtype=np.int64), np.empty(0, dtype=np.int64),
            np.empty((0, len(release.sensitive_values)), dtype=bool),
        )  # fmt: skip
        nowhere = np.empty(0, dtype=np.int64)
        known = Surroundings(every, every)
        return SeenPart(self.empty, known, release.quasi_identifiers, release.n_q, nowhere, nowhere)

    @cached_property
    def named(self) -> Combinations:
        """The QI tuples of people who have names."""
        release = self.release
        numbers = np.unique(self.people.q)
        codes = np.column_stack([np.asarray(codes)[numbers] for codes in release.quasi_identifiers.codes])
        found = Combinations(
            release.qi, codes.astype(np.int64), release.n_q[numbers], np.ones((len(numbers), 1), dtype=bool)
        )
        return self._with_values(found)

    def combinations(self, columns: frozenset[str]) -> Combinations:
        """The combinations of values of some QI attributes in the whole; each set of attributes is counted once."""
        if columns not in self._combinations:
            release = self.release
            found = Combinations.counted(columns, release.quasi_identifiers, release.n_q, len(release.sensitive_values))
            self._combinations[columns] = self._with_values(found) if columns else found
        return self._combinations[columns]

    def _with_values(self, found: Combinations) -> Combinations:
        """Find in all partitions which values are in some bucket together with each combination."""
        if not len(found.codes):
            values = np.empty((0, len(self.release.sensitive_values)), dtype=bool)
        else:
            each = self.executor.map(values_beside, self.parts, common=(found,))
            values = self.executor.reduce(any_of, each)
        return Combinations(found.columns, found.codes, found.records, values)

    def surroundings(self, columns: frozenset[str]) -> Surroundings:
        """What every partition is told for a source that tells these attributes apart."""
        combined, of_name = self.combinations(columns), np.searchsorted(np.unique(self.people.q), self.people.q)
        return Surroundings(combined, self.named, self.described, self.people.names, of_name)

    def told(self, source: Source, label: str | None) -> ToldSource:
        """Let a source speak where there are no terms, until all that it must know of the whole is counted.

        A source that looks at every QI tuple is asked once, of all of them, if what it says is of patterns of values.

        Raises
        ------
        MaxEntError
            Whatever the source finds wrong with the release, and if it cannot be divided.
        """
        try:
            emitted, columns = self._asked(lambda space: emit(source, space, label))
            found = ToldSource.of(emitted, label, columns)
        except AllTuples:
            if (of_patterns := self._of_patterns(source, label)) is not None:
                return of_patterns
            emitted, columns = self._asked(lambda space: emit(source, space, label), frozenset(self.release.qi))
            found = ToldSource.of(emitted, label, columns)
        if emitted.convex or emitted.parametric:
            kind = "a constraint of CVXPY that is convex only" if emitted.convex else "a parameter of CVXPY"
            raise StatementError(
                f"{label or source.label!r} cannot be divided among partitions: it holds {kind}; say it by linear "
                "rows and numbers, or solve the release in memory"
            )
        return found

    def _of_patterns(self, source: Source, label: str | None) -> ToldSource | None:
        """What a source says of all QI tuples, if it is of patterns of values."""
        space = PatternSpace.over(self._tuples, self.people)
        try:
            return ToldSource.of_patterns(emit(source, space, label), label, space.taken)
        except NoPattern:
            return None

    def asked(self, row: Callable[[PartSpace], Any]) -> frozenset[str]:
        """The attributes that a function of the space tells apart; what it must know of the whole is counted."""
        try:
            return self._asked(row)[1]
        except AllTuples:
            return self._asked(row, frozenset(self.release.qi))[1]

    def described_tuples(self, given: Mapping[str, object]) -> np.ndarray:
        """Mark the QI tuples of the whole that are as described."""
        return tuples_described(self._tuples, given)

    def _asked(
        self, function: Callable[[PartSpace], T], columns: frozenset[str] = frozenset()
    ) -> tuple[T, frozenset[str]]:
        """What a function of the space gives where there are no terms, and the attributes that it tells apart."""
        while True:
            known = self.surroundings(columns)
            counting = CountingSurroundings(
                known.combinations, known.named, self.described, known.names, known.of_name, self._tuples
            )
            try:
                return function(PartSpace.around(self.empty, counting)), columns
            except Needed as needed:
                columns |= needed.columns
                if columns == set(self.release.qi):
                    raise AllTuples from None


def values_beside(part: ReleasePart, found: Combinations) -> np.ndarray:
    """Mark the values that are in some bucket of a partition together with each combination."""
    terms, n_values = part.terms(), len(part.sensitive_values)
    group = found.of(part.quasi_identifiers)[terms["q"]]
    marked = np.zeros(len(found.codes) * n_values, dtype=bool)
    marked[(group * n_values + terms["s"])[group >= 0]] = True
    return marked.reshape(len(found.codes), n_values)


def any_of(marks: list[np.ndarray]) -> np.ndarray:
    """Mark what is marked in any partition."""
    return np.logical_or.reduce(marks)
