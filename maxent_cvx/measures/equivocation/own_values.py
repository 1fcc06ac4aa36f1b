"""Equivocation of distributions with few possible values each, each over its own values."""

from __future__ import annotations

import numpy as np

from .covering import information

__all__ = ["own_curves", "own_runs"]

#: Numbers in a table: what fits into the caches.
TABLE = 2**21


def own_runs(support: np.ndarray) -> float:
    """How many runs are evaluated for distributions with so many possible values each."""
    return float((support.astype(float) ** 4 / 4).sum())


def own_curves(units: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The exact curves of distributions over values of their own, all of the same number k.

    Parameters
    ----------
    units : ndarray of int64, shape (distributions, k)
        Increasing in every row.
    p : ndarray, shape (distributions, k)
        Probabilities above 0.

    Returns
    -------
    widths, entropy : ndarray, shape (distributions, k (k - 1) / 2 + 1)
        All differences of two values, increasing from 0, and H at each.

    Notes
    -----
    The recurrence of :func:`.covering.least_entropy`, for all rows at once: O(k^4) each.
    """
    k = p.shape[1]
    late, early = np.tril_indices(k, -1)
    widths = np.sort(np.c_[np.zeros(len(p), dtype=np.int64), units[:, late] - units[:, early]], axis=1)
    entropy = np.empty(widths.shape)
    at_once = max(TABLE // (widths.shape[1] * (k + 1)), 1)
    for start in range(0, len(p), at_once):
        some = slice(start, start + at_once)
        entropy[some] = _least(units[some], p[some], widths[some])
    return widths, entropy


def _least(units: np.ndarray, p: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """H of every row at its own widths."""
    cumulated = np.c_[np.zeros(len(p)), p.cumsum(axis=1)]
    least = np.zeros((p.shape[1] + 1, *widths.shape))
    for i in range(p.shape[1]):
        least[i + 1] = np.inf
        for j in range(i, -1, -1):
            last = information(cumulated[:, i + 1] - cumulated[:, j])[:, None]
            fits = (units[:, i] - units[:, j])[:, None] <= widths
            np.minimum(least[i + 1], np.where(fits, least[j] + last, np.inf), out=least[i + 1])
    return least[-1]
