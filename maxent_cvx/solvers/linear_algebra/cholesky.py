"""A Cholesky factor of a positive semidefinite matrix that rounding can make indefinite."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.linalg.blas

from ..parameters.dual_methods import NEWTON_SYSTEM
from ..parameters.size_limits import NEWTON_COSTS

__all__ = ["Solve", "regularized_cholesky"]

Solve = Callable[[np.ndarray], np.ndarray]


def regularized_cholesky(matrix: np.ndarray, raised: np.ndarray, *, is_inverted: bool = True) -> Solve:
    """Factor a matrix some of whose rows may be redundant: of their diagonal, elimination leaves only the ridge.

    Parameters
    ----------
    matrix : ndarray
        Symmetric and positive semidefinite but for rounding.
    raised : ndarray
        What is added to its diagonal. A further relative ridge is added, and increased until the factor exists.
    is_inverted : bool
        Whether the factor of a matrix of moderate size is inverted, which pays if it solves for many right-hand sides.

    Returns
    -------
    callable
        Solves for a right-hand side.
    """
    size = np.maximum(matrix.diagonal() + raised, NEWTON_SYSTEM.vanished_diagonal)
    root = np.where(size > NEWTON_SYSTEM.vanished_diagonal, 1 / np.sqrt(size), 0.0)
    scaled = matrix * root[:, None]  # to a diagonal of 1, so that one ridge is right for all rows
    scaled *= root
    diagonal = np.einsum("ii->i", scaled)
    diagonal += raised / size
    ridge = NEWTON_SYSTEM.first_ridge
    while ridge < 1:
        diagonal += ridge
        try:
            # Transposed, as LAPACK reads it in column-major order: then it copies the matrix only once.
            factor = scipy.linalg.cholesky(scaled.T, lower=True, check_finite=False)
        except np.linalg.LinAlgError:  # the rounding error was larger than the ridge
            ridge *= 100
            continue
        if not is_inverted or len(size) > NEWTON_COSTS.most_inverted:
            # In single precision there would be half as much to read, but the preconditioner would fail where terms
            # tend to zero and rows are nearly redundant.
            return lambda right: root * _solved(factor, root * right)
        inverse = np.linalg.inv(factor)
        return lambda right: root * (inverse.T @ (inverse @ (root * right)))
    return lambda right: right / size


def _solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve L L' v = right for one right-hand side, for which this takes half the time of LAPACK's dpotrs."""
    if not len(right):  # which BLAS refuses
        return right
    half = scipy.linalg.blas.dtrsv(factor, right, lower=1)
    return np.asarray(scipy.linalg.blas.dtrsv(factor, half, lower=1, trans=1))
