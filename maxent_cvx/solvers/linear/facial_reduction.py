"""Facial reduction: one recession direction that proves as many small terms as possible zero in every solution.

The solutions x >= 0 of A x = b lie on a face of the orthant, where some terms are zero. A direction d of the
multipliers with (A' d)_j < 0 for these terms and (A' d)_j = 0 for all others proves it (see
:mod:`.presolve.zero_proofs`). Newton's steps approach such directions, but not closely enough for a proof if thousands
of terms are zero, some of them because others are.
"""

from __future__ import annotations

import numpy as np

from ..linear_algebra.newton_system import newton_system
from ..parameters.dual_methods import FACIAL_REDUCTION
from ..program.linear_form import LinearForm

__all__ = ["facial_reduction"]


def facial_reduction(
    form: LinearForm, counts: np.ndarray, small: float = FACIAL_REDUCTION.small, rounds: int = FACIAL_REDUCTION.rounds
) -> np.ndarray:
    """Find a direction d with (A' d)_j < 0 for as many small terms as possible, and (A' d)_j = 0 for all other terms.

    Parameters
    ----------
    form : LinearForm
    counts : ndarray, one a term
        An answer, records; it may be imprecise. Small counts are candidates, which the direction then proves zero.
    small : float
        Records: a term that holds less may be zero.
    rounds : int
        How often terms that the direction hardly lowers may be given up.

    Returns
    -------
    ndarray, one a row
        Zeros if there is no such direction. It is 0 for inequalities.

    Notes
    -----
    The least-squares solution of

        min  v sum over small terms ((A' d)_j + 1)^2  +  sum over all other terms (A' d)_j^2

    with the weight v = ``FACIAL_REDUCTION.weight``. Small terms that d hardly lowers are counted among the others, and
    the problem is solved again, until d lowers all small terms that remain.
    """
    system, is_small = newton_system(form), counts < small
    equations = np.flatnonzero(form.is_equation[form.n_published :])

    def solution(weights: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """The least-squares solution of (A' d)_j = aim_j."""
        right = np.where(form.is_equation, form.matvec(weights * aim), 0.0)
        return system.at(weights, FACIAL_REDUCTION.ridge).solve(right, equations, FACIAL_REDUCTION.precision)

    for _ in range(rounds):
        if not is_small.any():
            break
        direction = solution(np.where(is_small, FACIAL_REDUCTION.weight, 1.0), np.where(is_small, -1.0, 0.0))
        for _ in range(FACIAL_REDUCTION.repairs):
            direction = direction - solution(np.where(is_small, 0.0, 1.0), form.rmatvec(direction))
        lowered = is_small & (form.rmatvec(direction) < -FACIAL_REDUCTION.lowered)
        if np.array_equal(lowered, is_small):
            return direction
        is_small = lowered
    return np.zeros(form.shape[0])
