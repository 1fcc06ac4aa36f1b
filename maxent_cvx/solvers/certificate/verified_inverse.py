r"""Bounds on A' S^-1 r for S = A X A', by a verified inverse of S.

S is known up to roundoff only. Let Y be an approximate inverse of S, and kappa a bound on the row sums of \|I - Y S\|
that includes all roundoff in S and in the product. If kappa < 1 then S is regular and

    \|S^-1\| <= \|Y\| + kappa / (1 - kappa) max(row sums of \|Y\|)    entry by entry.

Therefore \|z\| <= \|S^-1\| e for S z = r with \|r\| <= e and, as S^-1 = Y + (I - Y S) S^-1,

    \|A' z\| <= \|A' Y\| e + \|A\|' \|I - Y S\| \|S^-1\| e    (Rump, 2010, section 10).

References
----------
Rump, S. M. (2010). Verification methods: rigorous results using floating-point arithmetic. Acta Numerica 19, 287-449.
"""

from __future__ import annotations

import numpy as np

from ..parameters.tolerances import CERTIFICATION, EPS

__all__ = ["bounded_moves"]


def bounded_moves(matrix: np.ndarray, x: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Bound |A' S^-1 r| for all |r| <= residual, where S = A diag(x) A' is rounded; infinite if S may be singular.

    Parameters
    ----------
    matrix : ndarray, shape (..., rows, terms)
        A, or several of them. A row of zeros, whose residual must be 0, pads those that have fewer rows.
    x : ndarray, shape (..., terms)
    residual : ndarray, shape (..., rows)

    Returns
    -------
    ndarray, shape (..., terms)
    """
    unproved = np.full(x.shape, np.inf)
    padding = ~matrix.any(axis=-1) & (residual == 0)
    size = np.sqrt((matrix**2 @ x[..., None])[..., 0])
    if not np.isfinite(size).all():
        return unproved
    regular = (padding | (size > 0)).all(axis=-1)
    scale = np.where(size > 0, size, 1.0)
    matrix, right = matrix / scale[..., None], residual / scale  # S then has a unit diagonal
    weighted = matrix * x[..., None, :]
    system = weighted @ np.swapaxes(matrix, -1, -2)
    sizes = np.abs(weighted) @ np.swapaxes(np.abs(matrix), -1, -2)
    n = system.shape[-1]
    system += np.eye(n) * (size == 0)[..., None]
    try:
        inverse = np.linalg.inv(system)
    except np.linalg.LinAlgError:
        return unproved
    across = np.swapaxes(np.abs(matrix), -1, -2)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # Roundoff: sums of n products; the entries of S are themselves sums over the terms of three rounded factors.
        rest = np.abs(np.eye(n) - inverse @ system)
        rest += (2 * n + x.shape[-1] + 16) * EPS * (np.abs(inverse) @ sizes)
        kappa = rest.sum(axis=-1).max(axis=-1, initial=0.0) * (1 + 4 * n * EPS)
        solution, row_sums = (np.abs(inverse) @ right[..., None])[..., 0], np.abs(inverse).sum(axis=-1)
        largest = row_sums.max(axis=-1, initial=0.0) * right.max(axis=-1, initial=0.0)
        most = solution + (kappa / (1 - kappa) * largest)[..., None]  # of |S^-1| e
        found = (np.abs(np.swapaxes(matrix, -1, -2) @ inverse) @ right[..., None])[..., 0]
        found += (n + 4) * EPS * (across @ solution[..., None])[..., 0]
        found += (across @ (rest @ most[..., None]))[..., 0]
    proved = regular & (kappa <= CERTIFICATION.most_kappa)
    return np.where(proved[..., None], found * (1 + (4 * n + 16) * EPS), unproved)
