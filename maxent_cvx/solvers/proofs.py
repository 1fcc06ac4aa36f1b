"""Directions of the multipliers that prove terms zero, for implied zeros that bound propagation does not find.

A direction d with A'd <= 0 and d'(sides) >= 0 proves that, in every x >= 0 with low <= A x <= high, the terms with
(A'd)_j < 0 are zero (see :mod:`.duality`, which verifies it). Newton's steps approach such directions, but not closely
enough for a proof if thousands of terms are zero, some of them because others are. The multipliers at the end of a solve
contain such a direction (:func:`recession_part`). A linear program finds all of them at once; over all rows it may take
minutes where Newton's method takes seconds, so it is the last resort. Over the knowledge alone, whose independent
components each involve one sensitive value, it takes seconds.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .form import LinearForm
from .linear import LinearProgram
from .monitor import diagnosing
from .schur import newton_system
from .sparse import components

#: Numbers of a direction this close to multiples of 1/2, 1/3, ... are rounded to them, so that their sums are exact. The
#: distance is absolute for small numbers, and relative for large ones: chains of implications have multipliers of 1e5,
#: which HiGHS determines to about nine digits. It is at most the third one, since any number is near some fraction.
NEAR_FRACTION, RELATIVELY_NEAR, FURTHEST = 1e-6, 1e-7, 0.02
#: The largest denominator tried.
LARGEST_DENOMINATOR = 12


def support_proof(form: LinearForm, among: np.ndarray | None = None) -> np.ndarray:
    """Find one direction of the multipliers that proves every implied zero among some terms; see :mod:`.duality`.

    The feasible set is a polyhedron, which is homogenised by x = (u + v) / t with t >= 0. Then

        max sum u,    0 <= u <= 1,  v >= 0,  low t <= A (u + v) <= high t,

    where u_j = 0 for the other terms, has u_j = 1 if x_j can be positive, and u_j = 0 otherwise. The dual d of its rows then
    has A' d <= 0, with (A' d)_j <= -1 where u_j = 0, and d' (its sides) = 0.
    """
    n_rows, n_terms = form.shape
    terms = np.arange(n_terms) if among is None else np.flatnonzero(among)
    exact = form.is_equation
    upper, lower = np.isfinite(form.high) & ~exact, np.isfinite(form.low) & ~exact
    # A row with two different sides becomes two rows, as both contain t: A (u + v) >= low t, and A (u + v) <= high t.
    rows = np.concatenate([np.flatnonzero(kind) for kind in (exact, upper, lower)])
    kind = np.repeat([0, 1, 2], [np.count_nonzero(exact), np.count_nonzero(upper), np.count_nonzero(lower)])
    side = np.where(kind == 1, form.high[rows], form.low[rows])
    matrix = form.matrix[rows]
    program = LinearProgram(
        sp.csr_array(sp.hstack([matrix[:, terms], matrix, sp.csr_array(-side[:, None])], format="csr")),
        np.where(kind == 1, -np.inf, 0.0),
        np.where(kind == 2, np.inf, 0.0),
        upper=np.repeat([1.0, np.inf], [len(terms), n_terms + 1]),
    )
    direction = np.zeros(n_rows)
    with diagnosing():
        optimum = program.minimum(-np.repeat([1.0, 0.0], [len(terms), n_terms + 1]))
        if optimum.found:
            np.add.at(direction, rows, optimum.multipliers)
    return form.project_to_dual_cone(rationalised(direction))  # up to rounding, it may refer to a missing side


#: Records: terms with smaller counts may be zero.
SMALL = 1e-6
#: Nats: the least decrease of the logarithm of such a term; those that a direction decreases less are not proved by it.
LOWERED = 1.0
#: Rounds of moving such terms to the others, and of removing the effect on the others in each.
ROUNDS, REPAIRS = 20, 3
#: Relative ridge and precision of the least squares.
RIDGE, PRECISION = 1e-13, 1e-6


def recession_part(form: LinearForm, multipliers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the direction along which the multipliers of an answer tend to infinity.

    If terms are forced to zero, the multipliers m are those of the other terms plus a multiple of a direction d with
    (A' d)_j = 0 for all other terms. The least-squares solution z of (A' z)_j = (A' m)_j over the other terms, which is
    small, leaves d = m - z. Small terms that d does not lower may need another direction, and are moved to the others.
    """
    system, is_small = newton_system(form), counts < SMALL
    direction = np.zeros(form.shape[0])
    for _ in range(ROUNDS):
        if not is_small.any():
            break
        direction, others = form.project_to_dual_cone(multipliers), (~is_small).astype(float)
        # The least squares have a limited precision, and the projection changes other terms again: both are repeated.
        for _ in range(REPAIRS):
            active = np.flatnonzero(direction[form.n_published :])
            effect = form.matvec(others * form.rmatvec(direction))
            direction = direction - system.at(others, RIDGE).solve(effect, active, PRECISION)
            # An inequality with the other sign would refer to its other side, at which it is not active.
            direction = np.where(form.is_equation | (direction * multipliers > 0), direction, 0.0)
        raised = is_small & (form.rmatvec(direction) > -LOWERED)
        if not raised.any():
            return direction
        is_small &= ~raised
    return np.zeros(form.shape[0])


def local_proofs(form: LinearForm) -> list[np.ndarray]:
    """Find directions that prove terms zero by the knowledge alone, one for each of its independent components.

    Two overlapping rows with the same value are an example: if P(s | Q) P(Q) = P(s | Q, R) P(Q, R), the terms of s with
    Q but not R are zero.
    """
    known, n = form.known.distinct, form.n_published
    of_row, of_class = components(known)
    proofs = []
    for component in np.flatnonzero(np.bincount(of_row) > 1):  # bound propagation handles single rows
        rows, classes = np.flatnonzero(of_row == component), np.flatnonzero(of_class == component)
        sides = form.low[n + rows], form.high[n + rows]
        direction = np.zeros(form.shape[0])
        direction[n + rows] = support_proof(LinearForm.plain(sp.csr_array(known[rows][:, classes]), *sides))
        proofs.append(direction)
    return proofs


def rationalised(direction: np.ndarray) -> np.ndarray:
    """Round a direction to integers over a common denominator, as is exact for most vertices, or return it unchanged.

    The result is multiplied by that denominator, which does not change the proof.
    """
    near = np.clip(RELATIVELY_NEAR * np.abs(direction), NEAR_FRACTION, FURTHEST)
    for denominator in range(1, LARGEST_DENOMINATOR + 1):
        rounded = np.rint(direction * denominator)
        if (np.abs(rounded / denominator - direction) <= near).all():
            return rounded
    return direction
