"""Equilibration: rows and columns of a cone program scaled until their largest entries are about 1 (Ruiz, 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..parameters.dual_methods import INTERIOR

__all__ = ["Equilibrated", "equilibrated"]


@dataclass(frozen=True, eq=False)
class Equilibrated:
    """A program in other units.

    Attributes
    ----------
    P, A : csc_array
    q, b : ndarray
    columns, rows : ndarray
        x is `columns` times that of the scaled program; a row was multiplied by `rows`.
    cost : float
        By what the objective was multiplied.
    unit : float
        x and s are `unit` times those of the scaled program, beyond `columns` and `rows`; 1 if no side is very large.
    """

    P: sp.csc_array
    q: np.ndarray
    A: sp.csc_array
    b: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    cost: float
    unit: float


def equilibrated(P: sp.csc_array, q: np.ndarray, A: sp.csc_array, b: np.ndarray, n_linear: int) -> Equilibrated:
    """Scale a program; the three rows of an exponential cone have one factor."""
    columns, rows, cost = np.ones(len(q)), np.ones(len(b)), 1.0
    for _ in range(INTERIOR.equilibrations):
        of_columns = np.maximum(_largest(P, 0), _largest(A, 0))
        of_rows = _largest(A, 1)
        threes = of_rows[n_linear:].reshape(-1, 3)
        # A row of constants counts as one of coefficients 1.
        of_rows[n_linear:] = np.repeat(np.where(threes > 0, threes, 0.0).max(axis=1, initial=0.0), 3)
        by_column, by_row = (_inverse_root(size) for size in (of_columns, of_rows))
        P = sp.csc_array(sp.diags_array(by_column) @ P @ sp.diags_array(by_column))
        A = sp.csc_array(sp.diags_array(by_row) @ A @ sp.diags_array(by_column))
        q, b = q * by_column, b * by_row
        columns, rows = columns * by_column, rows * by_row
        mean = float(_largest(P, 0).mean()) if P.nnz else 0.0
        size = max(mean, float(np.abs(q).max(initial=0.0)))
        by = float(np.clip(1 / size, 1 / INTERIOR.widest, INTERIOR.widest)) if size > 0 else 1.0
        P, q, cost = P * by, q * by, cost * by
    unit = float(np.abs(b).max(initial=0.0))
    unit = unit if unit > INTERIOR.largest_side else 1.0
    return Equilibrated(P * unit, q, A, b / unit, columns, rows, cost, unit)


def _largest(matrix: sp.csc_array, axis: int) -> np.ndarray:
    size = abs(matrix)
    if not matrix.nnz:
        return np.zeros(matrix.shape[1 - axis])
    return np.asarray(size.max(axis=axis).todense(), dtype=float).ravel()


def _inverse_root(size: np.ndarray) -> np.ndarray:
    bounded = np.clip(size, 1 / INTERIOR.widest, INTERIOR.widest)
    return np.where(size > 0, 1 / np.sqrt(bounded), 1.0)
