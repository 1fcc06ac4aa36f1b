"""The linear form of a model: its rows as one sparse system in people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import Infeasible
from ..rows import Rows

__all__ = ["TOLERANCE", "LinearForm", "PublishedRow", "parts"]

#: Rounding, relative to the size of a row's value in people, that no row is blamed for.
TOLERANCE = 1e-9


class PublishedRow(Infeasible):
    """A published row cannot hold: some knowledge is to blame, which is still to be found."""


@dataclass(frozen=True, eq=False)
class LinearForm:
    """``low <= matrix @ x <= high`` over the counts x = N p, people.

    Every row is scaled so that its largest coefficient is 1: an invariant, or P(S | Q) = c times
    P(Q), then speaks of people, whatever the unit it was typed in.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
    low, high : ndarray
        People. Equal for an equation, infinite where a side is open.
    scale : ndarray
        People per unit of the value as typed.
    blocks : sequence of Rows
        Where the rows come from, in order; for their names.
    n_published : int
        How many leading rows come from the published view, not from knowledge.
    weights : ndarray
        w > 0, one a term: the objective is sum x log(w / x), which is entropy where they are 1, and
        minus the relative entropy to a prior w elsewhere.
    """

    matrix: sp.csr_array
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    blocks: Sequence[Rows]
    n_published: int
    weights: np.ndarray

    @classmethod
    def of(cls, published: Sequence[Rows], knowledge: Sequence[Rows], n_records: int) -> LinearForm:
        """Stack rows over p into one system over counts."""
        blocks = [*published, *knowledge]
        matrix = sp.csr_array(sp.vstack([rows.matrix for rows in blocks], format="csr"))
        matrix.eliminate_zeros()
        largest = np.asarray(abs(matrix).max(axis=1).todense()).ravel()
        largest[largest == 0] = 1.0  # a row that touches no term
        scale = n_records / largest
        low, high = (np.concatenate([getattr(rows, side) for rows in blocks]) * scale for side in ("low", "high"))
        unit = sp.csr_array(sp.diags_array(1 / largest) @ matrix)
        return cls(unit, low, high, scale, blocks, sum(map(len, published)), np.ones(unit.shape[1]))

    @classmethod
    def plain(
        cls, matrix: sp.csr_array, low: np.ndarray, high: np.ndarray, weights: np.ndarray | None = None
    ) -> LinearForm:
        """Take rows over counts as they are, from nowhere in particular and without names."""
        n_rows, n_terms = matrix.shape
        weights = np.ones(n_terms) if weights is None else weights
        return cls(matrix, low, high, np.ones(n_rows), (), 0, weights)

    def select(self, rows: np.ndarray | slice) -> LinearForm:
        """Keep some of the rows; for computing only, names are those of the whole."""
        kept = np.arange(self.shape[0])[rows]
        return replace(
            self,
            matrix=self.matrix[kept],
            low=self.low[kept],
            high=self.high[kept],
            scale=self.scale[kept],
            n_published=int((kept < self.n_published).sum()),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and terms."""
        return self.matrix.shape

    @property
    def is_equation(self) -> np.ndarray:
        """Which rows are equations."""
        return self.low == self.high

    @property
    def tolerance(self) -> np.ndarray:
        """Rounding, in people, that each row is forgiven."""
        size = np.maximum(np.abs(np.where(np.isfinite(self.low), self.low, 0)),
                          np.abs(np.where(np.isfinite(self.high), self.high, 0)))  # fmt: skip
        return TOLERANCE * np.maximum(size, 1.0)

    def exponent(self, multipliers: np.ndarray) -> np.ndarray:
        """The logarithms of x = w exp(matrix' m - 1), the counts that multipliers stand for."""
        exponent = self.matrix.T @ multipliers - 1
        return exponent + np.log(self.weights) if self.is_weighted else exponent

    @cached_property
    def is_weighted(self) -> bool:
        """Whether some weight is not 1."""
        return bool((self.weights != 1).any())

    def residual(self, counts: np.ndarray) -> np.ndarray:
        """How many people each row is away from holding, >= 0."""
        value = self.matrix @ counts
        return np.maximum(np.maximum(self.low - value, value - self.high), 0.0)

    def name(self, row: int) -> str:
        """The label of a row."""
        for rows in self.blocks:
            if row < len(rows):
                return rows.name(row)
            row -= len(rows)
        raise IndexError(row)

    def require(self, holds: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Raise if some row cannot hold, naming the first piece of knowledge and what is possible.

        Parameters
        ----------
        holds : ndarray of bool, one a row
        low, high : ndarray
            The least and largest value that each row can take, people.

        Raises
        ------
        PublishedRow
            If only published rows cannot hold: they are true, so other rows must be found to blame.
        Infeasible
            Otherwise.
        """
        if holds.all():
            return
        bad = np.flatnonzero(~holds)
        if not (bad >= self.n_published).any():
            raise PublishedRow("a published row cannot hold")
        row = int(bad[bad >= self.n_published][0])
        unit = self.scale[row]
        raise Infeasible(
            f"the knowledge contradicts the published data or itself: {self.name(row)!r} cannot hold; "
            f"with everything else it lies between {low[row] / unit:.6g} and {high[row] / unit:.6g}. "
            "Correct it, make it vague with .about(value, eps), or remove a statement"
        )


def parts(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the independent parts of a system, rows and terms that share an entry: for each row, and each term."""
    links = sp.csr_array(matrix)
    links.eliminate_zeros()
    graph: Any = sp.block_array([[None, links], [links.T, None]], format="csr")
    part = sp.csgraph.connected_components(graph, directed=False)[1]
    return part[: matrix.shape[0]], part[matrix.shape[0] :]
