"""Preconditioned conjugate gradients, with the number of products that it took."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..tolerances import NEWTON_SYSTEM

__all__ = ["Found", "conjugate_gradients"]


Product = Callable[[np.ndarray], np.ndarray]


class Found(NamedTuple):
    """A solution, the products that it took, and whether it met the tolerance."""

    solution: np.ndarray
    products: int
    converged: bool


def conjugate_gradients(
    matrix: Product,
    right: np.ndarray,
    precondition: Product,
    tolerance: float,
    most: int,
    start: np.ndarray | None = None,
) -> Found:
    """Solve a positive definite system.

    Parameters
    ----------
    matrix, precondition : callable
        Products with the matrix, and with the inverse of something like it.
    right : ndarray
    tolerance : float
        On the residual, relative to `right`.
    most : int
        Products at most; none is wasted on a system that will need more than twice as many.
    start : ndarray, optional

    Notes
    -----
    SciPy's does not tell how many products it took, nor that rounding made the matrix indefinite.
    """
    solution = np.zeros_like(right) if start is None else start.copy()
    residual = right.copy() if start is None else right - matrix(solution)
    goal = tolerance * np.linalg.norm(right)
    if (first := np.linalg.norm(residual)) <= goal:
        return Found(solution, 0, True)
    z = precondition(residual)
    direction, rz = z.copy(), residual @ z
    rz_0 = rz
    for used in range(1, most + 1):
        image = matrix(direction)
        curvature = direction @ image
        if not (curvature > 0 and rz > 0):
            return Found(solution, used, False)
        solution += (rz / curvature) * direction
        residual -= (rz / curvature) * image
        if np.linalg.norm(residual) <= goal:
            return Found(solution, used, True)
        z = precondition(residual)
        rz, before = residual @ z, rz
        # In the preconditioned norm the residual falls by a factor a product, about.
        if used in NEWTON_SYSTEM.checks and 0 < rz < rz_0 and used * np.log(first / goal) > most * np.log(rz_0 / rz):
            return Found(solution, used, False)
        direction = z + (rz / before) * direction
    return Found(solution, most, False)
