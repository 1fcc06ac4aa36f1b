"""The coefficients of a system: published rows as they are, all other rows by their distinct columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .shared_columns import SharedColumns

__all__ = ["SplitMatrix"]


@dataclass(frozen=True, eq=False)
class SplitMatrix:
    """The published rows of a system, and below them the others, which are about many terms in the same way.

    Attributes
    ----------
    published : csr_array, shape (published rows, terms)
    known : SharedColumns
        The rows that are not published, each distinct column stored once.
    """

    published: sp.csr_array
    known: SharedColumns

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of terms."""
        return self.published.shape[0] + self.known.shape[0], self.published.shape[1]

    def rows(self, numbers: np.ndarray) -> sp.csr_array:
        """Some rows as one sparse matrix, by their numbers in the order given."""
        is_known, n = numbers >= self.published.shape[0], self.published.shape[0]
        if not is_known.any():
            return self.published[numbers]
        if is_known.all():
            return self.known.rows(numbers - n)
        parts = [self.published[numbers[~is_known]], self.known.rows(numbers[is_known] - n)]
        stacked, order = sp.csr_array(sp.vstack(parts, format="csr")), np.argsort(is_known, kind="stable")
        if (order[1:] > order[:-1]).all():
            return stacked
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return stacked[place]

    def columns(self, terms: np.ndarray) -> SplitMatrix:
        """The coefficients of some terms, by their numbers in the order given."""
        return SplitMatrix(sp.csr_array(self.published[:, terms]), self.known.columns(terms))
