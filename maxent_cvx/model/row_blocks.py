"""The rows that sources emitted, in the order of the system that is solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..solvers.rows.origin import Coefficients, by_coefficient
from ..terms.rows import Rows

__all__ = ["RowBlocks"]


#: What to do about contradictory rows of what is published, and of what is known, where rows do not say it themselves.
PUBLISHED = "correct the published table that is wrong, or make the view without it"
KNOWLEDGE = "correct it, make it vague with .about(value, eps), or remove it"


class RowBlocks(Sequence[Rows]):
    """Blocks of rows over p, numbered through: the origin of the rows of a linear form.

    Parameters
    ----------
    blocks : sequence of Rows
    n_hard : int
        How many leading blocks are true, whatever is known.
    """

    def __init__(self, blocks: Sequence[Rows], n_hard: int = 0) -> None:
        self._blocks, self._n_hard = tuple(blocks), n_hard

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self._blocks[i]

    @cached_property
    def starts(self) -> np.ndarray:
        """The number of the first row of each block and, last, the number of rows."""
        return np.cumsum([0, *map(len, self._blocks)])

    @cached_property
    def by_label(self) -> dict[str, Rows]:
        """The blocks by label, in order; a label met again is numbered: "P(s) (2)"."""
        times: Counter[str] = Counter()
        found = {}
        for rows in self._blocks:
            times[rows.label] += 1
            number = f" ({times[rows.label]})" if times[rows.label] > 1 else ""
            found[rows.label + number] = rows
        return found

    @property
    def labels(self) -> dict[str, slice]:
        """The numbers of the rows of each block, by its label, in order."""
        ends = zip(self.starts, self.starts[1:], strict=False)
        return {label: slice(int(start), int(end)) for label, (start, end) in zip(self.by_label, ends, strict=True)}

    @property
    def typed(self) -> np.ndarray:
        """The numbers of the rows whose coefficients were typed as rational numbers."""
        pairs = zip(self.starts, self._blocks, strict=False)
        return np.array([start for start, rows in pairs if rows.typed], dtype=np.int64)

    def find(self, row: int) -> tuple[Rows, int]:
        """The block that a row is in, and its number there."""
        if not 0 <= row < self.starts[-1]:
            raise IndexError(row)
        block = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self._blocks[block], row - int(self.starts[block])

    def name(self, row: int) -> str:
        """The label of a row."""
        rows, place = self.find(row)
        return rows.name(place)

    def remedy(self, row: int) -> str:
        """What to do about a row that contradicts others."""
        return self.find(row)[0].remedy or (PUBLISHED if row < self.starts[self._n_hard] else KNOWLEDGE)

    def coefficients(self, row: int) -> Coefficients:
        """The different coefficients of a row, as it was typed or else as it stands, and the terms that each is of."""
        as_doubles = self.doubles(row)
        return (self.find(row)[0].typed or ()) if as_doubles is None else by_coefficient(*as_doubles)

    def doubles(self, row: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The coefficients of a row as it stands and their terms; None if it was typed as rational numbers."""
        rows, place = self.find(row)
        if rows.typed is not None:
            return None
        entries = slice(rows.matrix.indptr[place], rows.matrix.indptr[place + 1])
        return rows.matrix.data[entries], rows.matrix.indices[entries]

    def sides(self, row: int) -> tuple[float, float]:
        """The low and the high side of a row as typed; infinite where it is open."""
        rows, place = self.find(row)
        return float(rows.low[place]), float(rows.high[place])

    def is_exact(self, row: int) -> bool:
        """Whether coefficients and sides are what is meant, and not what a source has rounded."""
        return self.find(row)[0].exact
