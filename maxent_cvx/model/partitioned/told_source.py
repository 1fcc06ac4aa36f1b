"""A source of a model in partitions: what it says the same everywhere, and how it is asked in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError
from ...terms.partitioned.part_space import PartSpace
from ...terms.partitioned.patterns import Pattern, joint_of
from ...terms.partitioned.surroundings import Needed
from ...terms.rows import Rows
from ..emitted_rows import EmittedRows, StoredSource, emit

__all__ = ["ToldSource", "in_order"]

#: Rows over patterns that are emitted at a time: a partition holds the terms of each until their columns are collected.
AT_A_TIME = 50


@dataclass(frozen=True, eq=False)
class ToldSource(EmittedRows):
    """One source in a model in partitions; the columns of its rows are emitted in every partition.

    Attributes
    ----------
    label : str or None
        That under which it was added.
    columns : frozenset of str
        The QI attributes that it tells apart.
    called : str or None
        What its rows are called instead, where another source calls its rows alike.
    patterns : tuple of Pattern
        Of a source that was asked of all QI tuples, the sums P(Q, s) that it takes; its rows are over these.
    """

    label: str | None = None
    columns: frozenset[str] = frozenset()
    called: str | None = None
    patterns: tuple[Pattern, ...] = ()

    @classmethod
    def of(cls, emitted: EmittedRows, label: str | None, columns: frozenset[str]) -> ToldSource:
        """Keep the names and sides of what a source emitted on the driver."""
        return cls(emitted.source, tuple(map(without_terms, emitted.rows)), label=label, columns=columns)

    @classmethod
    def of_patterns(cls, emitted: EmittedRows, label: str | None, patterns: Sequence[Pattern]) -> ToldSource:
        """Keep the rows of a source that was asked of all QI tuples, over the patterns that it speaks of."""
        n = len(patterns)
        rows = tuple(replace(one, matrix=sp.csr_array(one.matrix[:, :n]), view=None) for one in emitted.rows)
        return cls(emitted.source, rows, label=label, patterns=tuple(patterns))

    @property
    def sent(self) -> ToldSource:
        """What partitions are told: of patterns not what they were mined of, which may be all records."""
        return (
            replace(self, source=StoredSource(type(self.source).__name__, self.source.label, ()))
            if self.patterns
            else self
        )

    @property
    def without_terms(self) -> ToldSource:
        """What the driver keeps of it while partitions emit."""
        return replace(self, rows=tuple(map(without_terms, self.rows)), patterns=())

    def named(self, label: str) -> ToldSource:
        """The same with rows that are called by `label`."""
        called = super().named(label)
        return replace(self, rows=called.rows, called=label)

    def says_the_same(self, other: EmittedRows) -> bool:
        """Whether the other emitted the same rows: coefficients are in the partitions, so that it cannot be said."""
        return False

    def emitted_in(self, space: PartSpace) -> Iterable[Rows]:
        """Emit the rows of a partition, and check that they are what was told of the whole.

        Raises
        ------
        StatementError
            If the source says something else of this partition than of others.
        """
        if self.patterns:
            return self._of_patterns(space)
        try:
            emitted = emit(self.source, space, self.label)
        except Needed as needed:
            raise StatementError(
                f"{self._name} cannot be divided: in one partition it asks for {', '.join(sorted(needed.columns))}, in "
                "others not; let it ask for the same whatever the terms are"
            ) from None
        if self.called is not None:
            emitted = emitted.named(self.called)
        if len(emitted.rows) != len(self.rows):
            raise self.differs(f"{len(emitted.rows)} blocks of rows, and elsewhere {len(self.rows)}")
        for own, told in zip(emitted.rows, self.rows, strict=True):
            self._check(own, told)
        return emitted.rows

    def _of_patterns(self, space: PartSpace) -> Iterator[Rows]:
        """The rows over the terms of a partition, some at a time."""
        for rows in self.rows:
            for start in range(0, len(rows), AT_A_TIME):
                some = rows.at(np.arange(start, min(start + AT_A_TIME, len(rows))))
                used, place = np.unique(some.matrix.indices, return_inverse=True)
                of_used = (some.matrix.data, place, some.matrix.indptr)
                matrix = sp.csr_array(of_used, shape=(len(some), len(used)))
                yield replace(some, matrix=sp.csr_array(matrix @ joint_of([self.patterns[i] for i in used], space)))

    @property
    def _name(self) -> str:
        return repr(self.called or self.label or self.source.label)

    def _check(self, own: Rows, told: Rows) -> None:
        """Check that a block has the same names and sides as everywhere."""
        if own.label != told.label or len(own) != len(told) or not _same_labels(own.index, told.index):
            raise self.differs(f"other rows of {own.label} than elsewhere")
        if not np.array_equal(own.low, told.low) or not np.array_equal(own.high, told.high):
            raise self.differs(f"other values of {own.label} than elsewhere")
        if (own.penalty is None) != (told.penalty is None) or not (
            own.penalty is None or own.penalty.same_as(told.penalty)
        ):
            raise self.differs(f"other costs of {own.label} than elsewhere")

    def differs(self, what: str) -> StatementError:
        """Say that the source cannot be divided, and why."""
        return StatementError(
            f"{self._name} cannot be divided: of one partition it says {what}; let it use space.marginal, "
            "space.conditional, space.prob and space.records_described only, which are of the whole release"
        )


def without_terms(rows: Rows) -> Rows:
    """The rows without coefficients: names, sides and costs."""
    return replace(rows, matrix=sp.csr_array((len(rows), 0)), typed=None, view=None)


def _same_labels(own: pd.Index | None, told: pd.Index | None) -> bool:
    if own is None or told is None:
        return own is told
    return own.equals(told) and list(own.names) == list(told.names)


def in_order(sources: Sequence[ToldSource], n_facts: int) -> np.ndarray:
    """The order of the rows of all sources, emitted one after the other, in the system: soft rows last."""
    blocks = [rows for source in sources for rows in source.rows]
    facts = sum(len(source.rows) for source in sources[:n_facts])
    is_soft = np.repeat(
        [i >= facts and rows.penalty is not None for i, rows in enumerate(blocks)], list(map(len, blocks))
    )
    return np.argsort(is_soft.astype(bool), kind="stable")
