"""Columns that are a height or an argument of a cone, up to a factor: they are renamed, and nothing is eliminated.

A problem is stated in columns z, an entropy program in the heights t and the arguments u of its cones. Where t or u is
a multiple of one column, as it is for entropies of plain variables, that column is replaced at once, by new numbers and
factors for the entries of the rows. Only what is left goes through :mod:`.elimination`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..rows.sparse import entry_rows
from .elimination import Elimination, eliminate

__all__ = ["eliminate_columns"]


@dataclass(frozen=True, eq=False)
class _Renaming:
    """A column is ``constant + factor`` times a kept variable, or one of those that are left, by its new number."""

    number: np.ndarray
    factor: np.ndarray
    constant: np.ndarray
    left: np.ndarray
    n_kept: int

    def apply(self, rows: sp.csr_array, right: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
        """Express rows in the kept variables and in the columns that are left."""
        shape = (rows.shape[0], self.n_kept + len(self.left))
        data = rows.data if (self.factor == 1).all() else rows.data * self.factor[rows.indices]
        renamed = sp.csr_array((data, self.number[rows.indices], rows.indptr), shape)
        return renamed, right - rows @ self.constant if self.constant.any() else right


def eliminate_columns(
    ties: tuple[sp.csr_array, np.ndarray], linear: tuple[sp.csr_array, np.ndarray], cost: np.ndarray, n_zero: int
) -> tuple[Elimination, np.ndarray]:
    """Express a program in the variables that ties name, and eliminate all columns.

    Parameters
    ----------
    ties : (csr_array, ndarray)
        A row B and a side d for each kept variable k: k + B z = d.
    linear : (csr_array, ndarray)
        The rows and sides of the program, `n_zero` equations first.
    cost : ndarray, one a column
    n_zero : int

    Returns
    -------
    out : Elimination
        Its `matrix` and `constant` are those of all columns, and `gives`, `left` and `unbounded` number them all.
    number : ndarray of int
        For each row of `out`, its number among the ties and then the rows of the program.
    """
    of_ties, sides = ties
    n_kept, n_columns = of_ties.shape
    renaming, plain = _rename(of_ties, sides)
    open_ties = np.flatnonzero(~plain)
    number = np.concatenate([open_ties, n_kept + np.arange(linear[0].shape[0])])
    rows, right = renaming.apply(linear[0], linear[1])
    costs = np.bincount(renaming.number, cost * renaming.factor, rows.shape[1])
    if len(open_ties):
        tied, tied_right = renaming.apply(of_ties[open_ties], sides[open_ties])
        own = sp.csr_array((np.ones(len(open_ties)), (np.arange(len(open_ties)), open_ties)), tied.shape)
        rows, right = sp.vstack([tied + own, rows], format="csr"), np.concatenate([tied_right, right])
    if not len(renaming.left):
        nothing = np.empty(0, dtype=np.int64)
        empty = sp.csr_array((0, n_kept))
        found = Elimination(rows, right, costs, empty, np.empty(0), nothing, nothing, nothing, nothing)
    else:
        found = eliminate(rows, right, costs, n_kept, len(open_ties) + n_zero)
    return _for_all_columns(found, renaming, number, n_columns), number


def _rename(of_ties: sp.csr_array, sides: np.ndarray) -> tuple[_Renaming, np.ndarray]:
    """Find ties with one column that no earlier one has; return the new names, and which ties are so plain."""
    n_kept, n_columns = of_ties.shape
    alone = np.flatnonzero(np.diff(of_ties.indptr) == 1)
    named = of_ties.indices[of_ties.indptr[alone]]
    tie_of = np.full(n_columns, -1)
    tie_of[named[::-1]] = alone[::-1]  # the first of several is written last
    column = np.flatnonzero(tie_of >= 0)
    tie = tie_of[column]
    per = of_ties.data[of_ties.indptr[tie]]
    is_left = np.ones(n_columns, dtype=bool)
    is_left[column] = False
    left = np.flatnonzero(is_left)
    number, factor, constant = np.empty(n_columns, dtype=of_ties.indices.dtype), np.ones(n_columns), np.zeros(n_columns)
    number[column], factor[column], constant[column] = tie, -1 / per, sides[tie] / per
    number[left] = n_kept + np.arange(len(left))
    plain = np.zeros(n_kept, dtype=bool)
    plain[tie] = True
    return _Renaming(number, factor, constant, left, n_kept), plain


def _for_all_columns(found: Elimination, renaming: _Renaming, number: np.ndarray, n_columns: int) -> Elimination:
    """The same elimination, with the columns that were renamed among those that are expressed."""
    left, n_kept = renaming.left, renaming.n_kept
    named = renaming.number < n_kept
    ends = np.concatenate([[0], np.cumsum(named)]).astype(renaming.number.dtype)
    matrix = sp.csr_array((renaming.factor[named], renaming.number[named], ends), shape=(n_columns, n_kept))
    constant = renaming.constant.copy()
    if len(left):
        of_left = (found.matrix.data, (left[entry_rows(found.matrix)], found.matrix.indices))
        matrix = sp.csr_array(matrix + sp.csr_array(of_left, shape=matrix.shape))
        constant[left] = found.constant
    return Elimination(
        found.rows, found.right, found.cost, matrix, constant, number[found.used], left[found.gives],
        left[found.left], left[found.unbounded],
    )  # fmt: skip
