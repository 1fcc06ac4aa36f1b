"""Preconditioned conjugate gradients, with the number of products that they took."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..parameters.size_limits import NEWTON_COSTS

__all__ = ["LinearSolution", "conjugate_gradients"]


Product = Callable[[np.ndarray], np.ndarray]


class LinearSolution(NamedTuple):
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
) -> LinearSolution:
    """Solve a system with a positive definite matrix.

    Parameters
    ----------
    matrix, precondition : callable
        Products with the matrix, and with an approximation of its inverse.
    right : ndarray
        The right-hand side.
    tolerance : float
        Of the residual, relative to `right`.
    most : int
        The largest number of products. The method stops early if it estimates to need more than twice as many.
    start : ndarray, optional

    Notes
    -----
    SciPy's version reports neither the number of products nor that rounding made the matrix indefinite.
    """
    solution = np.zeros_like(right) if start is None else start.copy()
    residual = right.copy() if start is None else right - matrix(solution)
    goal = tolerance * np.linalg.norm(right)
    if (first := np.linalg.norm(residual)) <= goal:
        return LinearSolution(solution, 0, True)
    z = precondition(residual)
    direction, rz = z.copy(), residual @ z
    rz_0 = rz
    for used in range(1, most + 1):
        image = matrix(direction)
        curvature = direction @ image
        if not (curvature > 0 and rz > 0):
            return LinearSolution(solution, used, False)
        solution += (rz / curvature) * direction
        residual -= (rz / curvature) * image
        if np.linalg.norm(residual) <= goal:
            return LinearSolution(solution, used, True)
        z = precondition(residual)
        rz, before = residual @ z, rz
        # The estimate: in the preconditioned norm each product reduces the residual by about the same factor.
        if used in NEWTON_COSTS.checks and 0 < rz < rz_0 and used * np.log(first / goal) > most * np.log(rz_0 / rz):
            return LinearSolution(solution, used, False)
        direction = z + (rz / before) * direction
    return LinearSolution(solution, most, False)
