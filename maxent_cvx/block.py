"""Blocks: labelled families of linear expressions, compared with values label by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .errors import BadProbability, LabelMismatch, listing
from .rows import Rows

if TYPE_CHECKING:
    import cvxpy as cp

    from .space import Space

__all__ = ["Block"]


@dataclass(frozen=True, eq=False)
class Block:
    """Many linear expressions over the terms at once, one a label: ``matrix @ p``.

    ``block == series``, ``<=`` and ``>=`` give :class:`~maxent_cvx.rows.Rows`. A Series is aligned
    by its labels, in any order, as pandas does it; a label too few or too many is an error. A number
    is the value of every row.

    Attributes
    ----------
    space : Space
    matrix : csr_array, shape (rows, terms)
    index : Index
        The labels of the rows.
    label : str
        What the rows are, "P(Gender, Disease)" say.
    """

    space: Space
    matrix: sp.csr_array
    index: pd.Index
    label: str

    __array_ufunc__ = None  # so that NumPy arrays and pandas objects on the left leave the comparison to us
    __pandas_priority__ = 10_000
    __hash__ = None  # type: ignore[assignment]

    @property
    def expr(self) -> cp.Expression:
        """The CVXPY expression, one entry a label, for knowledge that no comparison can say."""
        return self.matrix @ self.space.p

    def __len__(self) -> int:
        return self.matrix.shape[0]

    def __eq__(self, value: pd.Series | float) -> Rows:  # type: ignore[override]
        exact = self._align(value)
        return self._rows(exact, exact)

    def __le__(self, value: pd.Series | float) -> Rows:
        return self._rows(np.full(len(self), -np.inf), self._align(value))

    def __ge__(self, value: pd.Series | float) -> Rows:
        return self._rows(self._align(value), np.full(len(self), np.inf))

    def between(self, low: pd.Series | float, high: pd.Series | float) -> Rows:
        """Say ``low <= block <= high``, each side a Series or a number."""
        return self._rows(self._align(low), self._align(high))

    def about(self, value: pd.Series | float, eps: float) -> Rows:
        """Say ``value - eps <= block <= value + eps`` (Privacy-MaxEnt, section 4.5)."""
        middle = self._align(value)
        return self._rows(middle - eps, middle + eps)

    def _rows(self, low: np.ndarray, high: np.ndarray) -> Rows:
        return Rows(self.matrix, low, high, self.label, self.index)

    def _align(self, value: pd.Series | float) -> np.ndarray:
        """Bring the values into the order of the rows, by label."""
        if np.isscalar(value) and not isinstance(value, str | bytes):
            return np.full(len(self), float(value))  # type: ignore[arg-type]
        if not isinstance(value, pd.Series):
            raise LabelMismatch(
                f"{self.label} is compared with a {type(value).__name__}, whose entries have no labels; "
                f"pass a number, or a Series indexed by {list(self.index.names)}"
            )
        if not value.index.equals(self.index):
            value = self._by_label(value)
        numbers = value.to_numpy(dtype=float)
        if np.isnan(numbers).any():
            raise BadProbability(f"the values for {self.label} hold NaN at {listing(value.index[np.isnan(numbers)])}")
        return numbers

    def _by_label(self, value: pd.Series) -> pd.Series:
        """Reorder a Series, refusing labels that are missing, extra or repeated."""
        mine, theirs = list(self.index.names), list(value.index.names)
        if set(mine) != set(theirs) and not (len(mine) == len(theirs) and set(theirs) == {None}):
            raise LabelMismatch(f"{self.label} is indexed by {mine}, the values by {theirs}; name the levels alike")
        if len(mine) > 1 and set(mine) == set(theirs):
            value = value.reorder_levels(mine)  # type: ignore[arg-type]
        if value.index.has_duplicates:
            twice = value.index[value.index.duplicated()].unique()
            raise LabelMismatch(f"the values for {self.label} repeat the labels {listing(twice)}; one value a label")
        missing, extra = self.index.difference(value.index), value.index.difference(self.index)
        if len(missing) or len(extra):
            parts = [
                f"{what} {listing(labels)}" for what, labels in (("lack", missing), ("have", extra)) if len(labels)
            ]
            raise LabelMismatch(
                f"the values for {self.label} {' and '.join(parts)}; exactly the {len(self)} labels "
                "of its rows are expected: reindex the Series, or take a coarser marginal"
            )
        return value.reindex(self.index)
