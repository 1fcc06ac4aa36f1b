"""Which of an answer's small terms are empty in every solution: all that one direction can prove, at once.

Solutions x >= 0 of A x = b lie on a face where some terms are zero. A direction d of the multipliers that
leaves all other terms alone, (A' d)_j = 0, and lowers those, (A' d)_j < 0, proves it (see
:mod:`.presolve.zero_proofs`). Newton's steps come near such directions; where thousands of terms vanish, and some
because others do, not near enough for a proof.
"""

from __future__ import annotations

import numpy as np

from ..linear_algebra.newton_system import newton_system
from ..program.linear_form import LinearForm
from ..tolerances import FACIAL_REDUCTION

__all__ = ["facial_reduction"]


def facial_reduction(form: LinearForm, counts: np.ndarray) -> np.ndarray:
    """Find a direction that lowers as many of the small terms as can be, and moves no other term.

    Parameters
    ----------
    form : LinearForm
    counts : ndarray
        An answer, people, however imprecise; terms are judged by how small they are, and then by proof.

    Returns
    -------
    ndarray, one a row
        Zeros if there is none. Inequalities take no part.

    Notes
    -----
    Least squares, sum over small terms of LIGHT ((A' d)_j + 1)^2 + sum over all others of (A' d)_j^2; what comes
    out hardly lowered joins the others, until all that are left are lowered.
    """
    system, small = newton_system(form), counts < FACIAL_REDUCTION.small
    equations = np.flatnonzero(form.is_equation[form.n_published :])

    def solution(weights: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """The least-squares direction for (A' d)_j = aim_j."""
        right = np.where(form.is_equation, form.matvec(weights * aim), 0.0)
        return system.factor(weights, equations, FACIAL_REDUCTION.ridge)(right, FACIAL_REDUCTION.precision)

    for _ in range(FACIAL_REDUCTION.rounds):
        if not small.any():
            break
        direction = solution(np.where(small, FACIAL_REDUCTION.weight, 1.0), np.where(small, -1.0, 0.0))
        for _ in range(FACIAL_REDUCTION.repairs):
            direction = direction - solution(np.where(small, 0.0, 1.0), form.rmatvec(direction))
        lowered = small & (form.rmatvec(direction) < -FACIAL_REDUCTION.lowered)
        if np.array_equal(lowered, small):
            return direction
        small = lowered
    return np.zeros(form.shape[0])
