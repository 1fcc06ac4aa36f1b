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

__all__ = ["face_proof"]

#: A term with fewer people may be empty.
SMALL = 1e-6
#: What such a term weighs beside one that must not move.
LIGHT = 1e-5
#: A term that the direction lowers by less than this, where 1 is aimed at, is no longer asked to move at all.
LOWERED = 0.3
#: Rounds of asking fewer terms to move, and in each of taking back what the others did.
ROUNDS, REPAIRS = 20, 3
#: Relative precision of the least-squares solutions, and their ridge.
PRECISION, RIDGE = 1e-8, 1e-14


def face_proof(form: LinearForm, counts: np.ndarray) -> np.ndarray:
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
    system, small = newton_system(form), counts < SMALL
    equations = np.flatnonzero(form.is_equation[form.n_published :])

    def solution(weights: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """The least-squares direction for (A' d)_j = aim_j."""
        right = np.where(form.is_equation, form.sums(weights * aim), 0.0)
        return system.factor(weights, equations, RIDGE)(right, PRECISION)

    for _ in range(ROUNDS):
        if not small.any():
            break
        direction = solution(np.where(small, LIGHT, 1.0), np.where(small, -1.0, 0.0))
        for _ in range(REPAIRS):
            direction = direction - solution(np.where(small, 0.0, 1.0), form.spread(direction))
        lowered = small & (form.spread(direction) < -LOWERED)
        if np.array_equal(lowered, small):
            return direction
        small = lowered
    return np.zeros(form.shape[0])
