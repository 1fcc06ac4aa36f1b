r"""Bounds on A' S^-1 r for S = A X A', by a verified inverse of S.

S is known up to roundoff only. Let Y be an approximate inverse of S, and kappa a bound on the row sums of \|I - Y S\|
that includes all roundoff in S and in the product. If kappa < 1 then S is regular and

    \|S^-1\| <= \|Y\| + kappa / (1 - kappa) max(row sums of \|Y\|)    entry by entry.

Therefore \|z\| <= \|S^-1\| e for S z = r with \|r\| <= e and, as S^-1 = Y + (I - Y S) S^-1,

    \|A' z\| <= \|A' Y\| e + \|A\|' \|I - Y S\| \|S^-1\| e    (Rump, 2010, section 10).

A row of S is 0 if x is 0 wherever the row of A is not. Nothing changes such a row: it needs no z if its residual is 0,
and nothing is proved otherwise.

References
----------
Rump, S. M. (2010). Verification methods: rigorous results using floating-point arithmetic. Acta Numerica 19, 287-449.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...parameters.size_limits import EXISTENCE_PROOF_SIZES
from ...parameters.tolerances import CERTIFICATION, EPS
from ...rows.sparse import entry_rows

__all__ = ["bounded_moves", "bounded_moves_of_batch"]


class _Bounds(NamedTuple):
    """Bounds on the solutions z of S z = r for one system or several; see the module."""

    inverse: np.ndarray
    """Y, an approximate inverse of S."""
    rest: np.ndarray
    r"""A bound on \|I - Y S\|."""
    solution: np.ndarray
    r"""\|Y\| e."""
    most: np.ndarray
    r"""A bound on \|S^-1\| e."""
    proved: np.ndarray
    """Whether S is regular, one a system."""


def bounded_moves(matrix: sp.csr_array, x: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Bound |A' S^-1 r| for all |r| <= residual, where S = A diag(x) A' is rounded; infinite if S may be singular.

    Parameters
    ----------
    matrix : csr_array, shape (rows, terms)
        A.
    x : ndarray, shape (terms,)
    residual : ndarray, shape (rows,)

    Returns
    -------
    ndarray, shape (terms,)
    """
    unproved, row = np.full(x.shape, np.inf), entry_rows(matrix)
    size = np.sqrt(np.bincount(row, matrix.data**2 * x[matrix.indices], len(residual)))
    empty = np.bincount(row, (matrix.data != 0) & (x[matrix.indices] > 0), len(residual)) == 0
    if not np.isfinite(size).all() or residual[empty].any() or not (size[~empty] > 0).all():
        return unproved
    size = np.where(empty, 1.0, size)
    scaled = sp.csr_array((matrix.data / size[row], matrix.indices, matrix.indptr), shape=matrix.shape)
    weighted = sp.csr_array((scaled.data * x[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape)
    system, right = (weighted @ scaled.T).toarray() + np.diag(empty), residual / size
    bounds = _bounds(system, (abs(weighted) @ abs(scaled).T).toarray(), right, len(x))
    if bounds is None or not bounds.proved:
        return unproved
    across, found = scaled.T.tocsr(), np.empty(len(x))
    for start in range(0, len(x), step := max(EXISTENCE_PROOF_SIZES.batch // max(len(right), 1), 1)):
        terms = slice(start, start + step)
        found[terms] = _moves(abs(across[terms]), np.abs(across[terms] @ bounds.inverse), bounds, right)
    return found * (1 + (4 * len(right) + 16) * EPS)


def bounded_moves_of_batch(matrix: np.ndarray, x: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Bound |A' S^-1 r| as :func:`bounded_moves` does, for several small systems at once.

    Parameters
    ----------
    matrix : ndarray, shape (systems, rows, terms)
        A row of zeros without a residual pads those that have fewer rows.
    x : ndarray, shape (systems, terms)
    residual : ndarray, shape (systems, rows)

    Returns
    -------
    ndarray, shape (systems, terms)
    """
    unproved = np.full(x.shape, np.inf)
    size = np.sqrt((matrix**2 @ x[..., None])[..., 0])
    empty = ~((matrix != 0) & (x[..., None, :] > 0)).any(axis=-1)
    if not np.isfinite(size).all():
        return unproved
    regular = np.where(empty, residual == 0, size > 0).all(axis=-1)
    scale = np.where(size > 0, size, 1.0)
    matrix, right = matrix / scale[..., None], residual / scale
    weighted, across = matrix * x[..., None, :], np.swapaxes(matrix, -1, -2)
    system = weighted @ across + np.eye(scale.shape[-1]) * (size == 0)[..., None]
    bounds = _bounds(system, np.abs(weighted) @ np.abs(across), right, x.shape[-1])
    if bounds is None:
        return unproved
    found = _moves(np.abs(across), np.abs(across @ bounds.inverse), bounds, right)
    return np.where((regular & bounds.proved)[..., None], found * (1 + (4 * scale.shape[-1] + 16) * EPS), unproved)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _bounds(system: np.ndarray, sizes: np.ndarray, right: np.ndarray, n_terms: int) -> _Bounds | None:
    """Bound the solutions for systems with a unit diagonal; None if one of them is singular in floating point.

    Roundoff: `system` and `sizes`, the same of absolute values, are sums over the terms of three rounded factors.
    """
    n = system.shape[-1]
    try:
        inverse = np.linalg.inv(system)
    except np.linalg.LinAlgError:
        return None
    rest = np.abs(np.eye(n) - inverse @ system)
    rest += (2 * n + n_terms + 16) * EPS * (np.abs(inverse) @ sizes)
    kappa = rest.sum(axis=-1).max(axis=-1, initial=0.0) * (1 + 4 * n * EPS)
    solution, row_sums = (np.abs(inverse) @ right[..., None])[..., 0], np.abs(inverse).sum(axis=-1)
    largest = row_sums.max(axis=-1, initial=0.0) * right.max(axis=-1, initial=0.0)
    most = solution + (kappa / (1 - kappa) * largest)[..., None]
    return _Bounds(inverse, rest, solution, most, kappa <= CERTIFICATION.most_kappa)


@np.errstate(over="ignore", invalid="ignore")
def _moves(across: Any, moved: np.ndarray, bounds: _Bounds, right: np.ndarray) -> np.ndarray:
    r"""The bound on \|A' z\|, where `across` is \|A\|', and `moved` is \|A' Y\|."""
    spread = (bounds.rest @ bounds.most[..., None]) + (right.shape[-1] + 4) * EPS * bounds.solution[..., None]
    return (moved @ right[..., None] + across @ spread)[..., 0]
