"""Unknowns without an entropy of their own, replaced by what the rows say they are.

An equation in which one unknown is left gives it. So does an inequality, where the unknown is pressed against
it and against no other: the bound t of |e| <= t <= 1 may as well be 1, and the t of t <= entr(x) is entr(x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

__all__ = ["Elimination", "eliminate"]


@dataclass(frozen=True, eq=False)
class Elimination:
    """Rows and objective over the kept columns, and the others as ``constant + matrix @ kept``.

    Attributes
    ----------
    rows, right : csr_array, ndarray
        ``rows @ kept`` is to be equal to, or at most, `right`; a row that was used is empty.
    cost : ndarray
        The objective over the kept columns.
    matrix, constant : csr_array, ndarray
        What each other column is.
    used, gives : ndarray of int
        Rows that gave a column, and which, counted among the others.
    left : ndarray of int
        Columns that nothing gave.
    unbounded : ndarray of int
        Columns in no row that the objective presses nevertheless.
    """

    rows: sp.csr_array
    right: np.ndarray
    cost: np.ndarray
    matrix: sp.csr_array
    constant: np.ndarray
    used: np.ndarray
    gives: np.ndarray
    left: np.ndarray
    unbounded: np.ndarray


def eliminate(rows: sp.csr_array, right: np.ndarray, cost: np.ndarray, n_kept: int, n_equations: int) -> Elimination:
    """Eliminate all columns but the first `n_kept` from ``rows @ (kept, others)`` = or <= `right`.

    Parameters
    ----------
    rows : csr_array
        Equations first: of two that give a column the earlier one is taken.
    right, cost : ndarray
    n_kept, n_equations : int
    """
    n_rows, n_others = rows.shape[0], rows.shape[1] - n_kept
    work = sp.csr_array(sp.vstack([rows, sp.csr_array(cost[None, :])], format="csr"))
    right = np.append(right, 0.0)
    loose, free = np.ones(n_others, dtype=bool), np.ones(n_rows, dtype=bool)
    given, used, found, constants = [], [], [], []
    while loose.any():
        others = np.flatnonzero(loose)
        among = sp.csr_array(work[:, n_kept + others])
        among.eliminate_zeros()
        costs, among = (
            among[[n_rows]].toarray().ravel(),
            sp.csr_array(sp.diags_array(free * 1.0) @ among[:n_rows]),
        )
        among.eliminate_zeros()
        row, at = _pivots(among, costs, n_equations)
        if not len(row):
            break
        pivot = np.asarray(among[row, at]).ravel()
        column = others[at]
        giving, value = work[row], right[row]
        share = sp.csr_array(work[:, n_kept + column] @ sp.diags_array(1 / pivot))
        work = sp.csr_array(work - share @ giving)
        right = right - share @ value
        found.append(sp.csr_array(sp.diags_array(-1 / pivot) @ giving[:, :n_kept]))
        constants.append(value / pivot)
        given.append(column)
        used.append(row)
        loose[column], free[row] = False, False
    others = np.flatnonzero(loose)
    touched = np.diff(sp.csc_array(work[:n_rows][np.flatnonzero(free)][:, n_kept + others]).indptr) > 0
    costs = work[[n_rows]][:, n_kept + others].toarray().ravel() != 0
    idle = others[~touched & ~costs]  # in no row and without a cost: 0 is as good as any value
    gives, used_rows = _joined(given), _joined(used)
    order = np.argsort(np.concatenate([gives, idle, others[touched | costs]]))
    stacked = sp.vstack([*found, sp.csr_array((len(others), n_kept))], format="csr")
    matrix = sp.csr_array(stacked[order])
    constant = np.concatenate([*constants, np.zeros(len(others))])[order]
    kept = sp.csr_array(sp.diags_array(free * 1.0) @ work[:n_rows, :n_kept])
    kept.eliminate_zeros()
    return Elimination(
        kept, np.where(free, right[:n_rows], 0.0), work[[n_rows]][:, :n_kept].toarray().ravel(),
        matrix, constant, used_rows, gives, others[touched], others[~touched & costs],
    )  # fmt: skip


def _pivots(among: sp.csr_array, costs: np.ndarray, n_equations: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows in which one column is left, and that column: a row a column, a column a row."""
    alone = np.diff(among.indptr) == 1
    single = np.flatnonzero(alone)
    column, first = np.unique(among.indices[among.indptr[single]], return_index=True)
    row = single[first]  # the first row that gives a column
    exact = row < n_equations
    if exact.any():
        return row[exact], column[exact]
    # No equation gives one: is a column that no equation speaks of pressed against a single inequality?
    entries = among.tocoo()
    above = np.bincount(entries.col, entries.data > 0, among.shape[1])
    below = np.bincount(entries.col, entries.data < 0, among.shape[1])
    tied = np.bincount(entries.col, entries.row < n_equations, among.shape[1]) > 0
    up, down = (above == 1) & (costs <= 0) & ~tied, (below == 1) & (costs >= 0) & ~tied
    stops = alone[entries.row] & np.where(entries.data > 0, up[entries.col], down[entries.col])
    column, first = np.unique(entries.col[stops], return_index=True)
    return entries.row[stops][first], column


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([*parts, np.empty(0, dtype=np.int64)]).astype(np.int64)
