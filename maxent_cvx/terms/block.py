"""Blocks: labelled families of linear expressions, compared with values label by label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import BadProbability, LabelMismatch, StatementError, arguments, listing, number
from .rows import Rows
from .terms import Terms

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Block"]

#: How far outside [0, 1] a published probability may be, for its rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Block:
    """Many linear expressions over the terms at once, one a label: ``matrix @ p``.

    ``block == series``, ``<=`` and ``>=`` give :class:`~maxent_cvx.terms.rows.Rows`. A Series is aligned
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

    Examples
    --------
    A published table, P(Disease | Gender), is knowledge; its entries may be in any order:

    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> block = mx.MaxEnt(release).space.conditional("Disease", given="Gender")
    >>> table = pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index").stack()
    >>> model = mx.MaxEnt(release).add(block == table)
    >>> round(model.solve().prob("Flu", given={"Degree": "college"}), 3)
    0.267
    """

    space: Terms
    matrix: sp.csr_array
    index: pd.Index
    label: str

    __array_ufunc__ = None  # so that NumPy arrays and pandas objects on the left leave the comparison to us
    __pandas_priority__ = 10_000
    __hash__ = None  # type: ignore[assignment]

    @property
    def expr(self) -> cp.Expression:
        """The :class:`cvxpy.Expression`, one entry a label, for knowledge that no comparison can say."""
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

    def __ne__(self, value: object) -> Rows:  # type: ignore[override]
        raise StatementError("'not equal' is not linear knowledge; write <= or >=")

    def __lt__(self, value: object) -> Rows:
        raise StatementError("a strict < has no maximum-entropy answer of its own; write <=")

    def __gt__(self, value: object) -> Rows:
        raise StatementError("a strict > has no maximum-entropy answer of its own; write >=")

    def between(self, low: pd.Series | float, high: pd.Series | float) -> Rows:
        """Say ``low <= block <= high``, each side a Series or a number.

        Parameters
        ----------
        low, high : Series or float
            Probabilities, one a label, or one for all.

        Returns
        -------
        Rows

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block, or what is given has none.
        BadProbability
            If a value is no probability, or a low one is above its high one.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.MaxEnt(release).space
        >>> mx.MaxEnt(release).add(space.conditional("Disease", given="Gender").between(0.05, 0.6)).solve().status.value
        'optimal'
        """
        return self._rows(self._align(low), self._align(high))

    def about(self, value: pd.Series | float, eps: float) -> Rows:
        """Say ``value - eps <= block <= value + eps``; a side outside [0, 1] says nothing and is left out.

        Privacy-MaxEnt, section 4.5.

        Parameters
        ----------
        value : Series or float
            Probabilities, one a label, or one for all.
        eps : float
            The vagueness, not negative.

        Returns
        -------
        Rows
            Those that say something.

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block, or what is given has none.
        BadProbability
            If a value is no probability, or eps is negative.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> shares = hospital["Disease"].value_counts(normalize=True)
        >>> rows = mx.MaxEnt(release).space.marginal("Disease").about(shares, eps=0.15)
        >>> rows.low.round(2).tolist(), rows.high.round(2).tolist()
        ([0.05, 0.15, 0.05, -inf, 0.05], [0.35, 0.45, 0.35, 0.25, 0.35])
        """
        middle, eps = self._align(value), number(eps, f"eps for {self.label}")
        if eps < 0:
            raise BadProbability(f"eps for {self.label} must not be negative: {eps:.12g}")
        low = np.where(middle - eps > 0, middle - eps, -np.inf)
        high = np.where(middle + eps < 1, middle + eps, np.inf)
        said = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        return Rows(self.matrix[said], low[said], high[said], self.label, self.index[said], self.space.view)

    def at(self, rows: np.ndarray) -> Block:
        """Keep some of the rows, by a mask or by position.

        Parameters
        ----------
        rows : ndarray of bool or of int

        Returns
        -------
        Block

        Raises
        ------
        StatementError
            If it is neither a mask of the rows nor positions of some.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> block = mx.MaxEnt(release).space.marginal(["Gender", "Disease"])
        >>> men = block.at(block.index.get_level_values("Gender") == "male")
        >>> len(block), len(men)
        (10, 5)
        """
        rows = arguments.places(rows, "rows", len(self))
        return replace(self, matrix=self.matrix[rows], index=self.index[rows])

    def _rows(self, low: np.ndarray, high: np.ndarray) -> Rows:
        return Rows(self.matrix, low, high, self.label, self.index, self.space.view)

    def _align(self, value: pd.Series | float) -> np.ndarray:
        """Bring the values into the order of the rows, by label; each must be a probability."""
        if isinstance(value, pd.Series):
            numbers = self._by_label(value)
        elif not isinstance(value, Block | dict | list | tuple | set) and not getattr(value, "shape", ()):
            numbers = np.full(len(self), number(value, f"the value of every {self.label}"))
        else:
            raise LabelMismatch(
                f"{self.label} is compared with a {type(value).__name__}, whose entries have no labels; "
                f"pass a number, or a Series indexed by {list(self.index.names)}"
            )
        bad = ~((numbers >= -ROUNDING) & (numbers <= 1 + ROUNDING))
        if bad.any():
            what = "NaN" if np.isnan(numbers[bad]).any() else f"{numbers[bad][0]:.12g}, which is no probability,"
            raise BadProbability(f"the values for {self.label} hold {what} at {listing(self.index[bad])}")
        return numbers

    def _by_label(self, value: pd.Series) -> np.ndarray:
        """Reorder a Series, refusing labels that are missing, extra or repeated, and what is no number."""
        mine, theirs = list(self.index.names), list(value.index.names)
        named = set(theirs) != {None}
        if len(mine) != len(theirs) or (named and set(mine) != set(theirs)):
            raise LabelMismatch(f"{self.label} is indexed by {mine}, the values by {theirs}; name the levels alike")
        if not pd.api.types.is_numeric_dtype(value) or pd.api.types.is_bool_dtype(value):
            raise BadProbability(f"the values for {self.label} must be numbers, not of type {value.dtype}")
        if named and mine != theirs:
            value = value.reorder_levels(mine)  # type: ignore[arg-type]
        if not value.index.equals(self.index):
            self._check_labels(value.index)
            value = value.reindex(self.index)
        return value.to_numpy(dtype=float)

    def _check_labels(self, labels: pd.Index) -> None:
        """Check that labels are those of the rows, in some order."""
        if labels.has_duplicates:
            twice = labels[labels.duplicated()].unique()
            raise LabelMismatch(f"the values for {self.label} repeat the labels {listing(twice)}; one value a label")
        missing, extra = self.index.difference(labels), labels.difference(self.index)
        if len(missing) or len(extra):
            parts = [f"{what} {listing(some)}" for what, some in (("lack", missing), ("have", extra)) if len(some)]
            raise LabelMismatch(
                f"the values for {self.label} {' and '.join(parts)}; exactly the {len(self)} labels "
                "of its rows are expected: reindex the Series, or take a coarser marginal"
            )
