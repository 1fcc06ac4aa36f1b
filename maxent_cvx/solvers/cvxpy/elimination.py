"""Elimination of the variables that have no entropy of their own.

An equation with one remaining variable determines it. So does an inequality, if some optimal solution has the variable
at this bound because no other row and no cost keeps it from there: in |e| <= t <= 1 the variable t may be set to 1, and
in t <= entr(x) with t maximised it is entr(x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

__all__ = ["Elimination", "eliminate"]


@dataclass(frozen=True, eq=False)
class Elimination:
    """Rows and objective over the kept variables, and the eliminated ones as ``constant + matrix @ kept``.

    Attributes
    ----------
    rows, right : csr_array, ndarray
        ``rows @ kept`` is equal to, or at most, `right`; a row that determined a variable is empty.
    cost : ndarray
        The objective over the kept variables.
    matrix, constant : csr_array, ndarray
        The other variables as affine functions of the kept ones.
    used, gives : ndarray of int
        Rows that determined a variable, and the variable, numbered among those that are not kept.
    left : ndarray of int
        Variables that no row determines.
    unbounded : ndarray of int
        Variables in no row that have a cost.
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
    """Eliminate all variables but the first `n_kept` from ``rows @ (kept, others)`` = or <= `right`.

    Parameters
    ----------
    rows : csr_array
        Equations first. If two rows determine a variable, the earlier one is used.
    right, cost : ndarray
        Right-hand sides, and the objective, which is minimised.
    n_kept, n_equations : int

    Returns
    -------
    Elimination
    """
    n_rows, n_others = rows.shape[0], rows.shape[1] - n_kept
    work = sp.csr_array(sp.vstack([rows, sp.csr_array(cost[None, :])], format="csr"))
    right = np.append(right, 0.0)
    undetermined, unused = np.ones(n_others, dtype=bool), np.ones(n_rows, dtype=bool)
    given, used, found, constants = [], [], [], []
    while undetermined.any():
        others = np.flatnonzero(undetermined)
        among = sp.csr_array(work[:, n_kept + others])
        among.eliminate_zeros()
        costs, among = (
            among[[n_rows]].toarray().ravel(),
            sp.csr_array(sp.diags_array(unused * 1.0) @ among[:n_rows]),
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
        undetermined[column], unused[row] = False, False
    others = np.flatnonzero(undetermined)
    touched = np.diff(sp.csc_array(work[:n_rows][np.flatnonzero(unused)][:, n_kept + others]).indptr) > 0
    costs = work[[n_rows]][:, n_kept + others].toarray().ravel() != 0
    idle = others[~touched & ~costs]  # in no row and without a cost: set to 0
    gives, used_rows = _joined(given), _joined(used)
    order = np.argsort(np.concatenate([gives, idle, others[touched | costs]]))
    stacked = sp.vstack([*found, sp.csr_array((len(others), n_kept))], format="csr")
    matrix = sp.csr_array(stacked[order])
    constant = np.concatenate([*constants, np.zeros(len(others))])[order]
    kept = sp.csr_array(sp.diags_array(unused * 1.0) @ work[:n_rows, :n_kept])
    kept.eliminate_zeros()
    return Elimination(
        kept, np.where(unused, right[:n_rows], 0.0), work[[n_rows]][:, :n_kept].toarray().ravel(),
        matrix, constant, used_rows, gives, others[touched], others[~touched & costs],
    )  # fmt: skip


def _pivots(among: sp.csr_array, costs: np.ndarray, n_equations: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose rows with one remaining variable, and that variable; no row and no variable is chosen twice."""
    alone = np.diff(among.indptr) == 1
    single = np.flatnonzero(alone)
    column, first = np.unique(among.indices[among.indptr[single]], return_index=True)
    row = single[first]  # the first row that determines a variable
    exact = row < n_equations
    if exact.any():
        return row[exact], column[exact]
    # No equation determines a variable. An inequality does if the variable is in no equation, if no other inequality
    # bounds it on that side, and if its cost, where it has one, moves it there.
    entries = among.tocoo()
    above = np.bincount(entries.col, entries.data > 0, among.shape[1])
    below = np.bincount(entries.col, entries.data < 0, among.shape[1])
    tied = np.bincount(entries.col, entries.row < n_equations, among.shape[1]) > 0
    up, down = (above == 1) & (costs <= 0) & ~tied, (below == 1) & (costs >= 0) & ~tied
    bounds = alone[entries.row] & np.where(entries.data > 0, up[entries.col], down[entries.col])
    column, first = np.unique(entries.col[bounds], return_index=True)
    return entries.row[bounds][first], column


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([*parts, np.empty(0, dtype=np.int64)]).astype(np.int64)
