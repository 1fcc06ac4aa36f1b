"""Directions of the multipliers that prove terms zero, for the implied zeros that bound propagation does not find.

A direction d with A'd <= 0 and d'(sides) >= 0 proves zero, in every x >= 0 with low <= A x <= high, the terms with
(A'd)_j < 0 (see :mod:`.presolve.zero_proofs`, which verifies it). Newton's steps approach such directions, but not
closely enough for a proof if thousands of terms are zero, some of them because others are. They are found by least
squares (facial reduction: the solutions lie on a face of the orthant; Borwein and Wolkowicz, 1981), or by a linear
program, which finds all of them at once. Over all rows the program may take minutes where Newton's method takes
seconds, so it is tried last; over the knowledge alone, whose independent components are about one sensitive value each,
it takes seconds.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .linear import LinearProgram
from .linear_algebra.newton_system import newton_system
from .program.linear_form import LinearForm
from .rows.components import components

__all__ = ["facial_reduction", "local_proofs", "rationalised", "support_proof"]

#: Records: a term that holds less may be zero.
SMALL = 1e-6
#: Weight of such a term in the least squares of facial reduction; a term that must not change has 1.
WEIGHT = 1e-5
#: A small term that the direction lowers by less, where 1 is sought, is no longer a candidate.
LOWERED = 0.3
#: Rounds, with fewer and fewer candidates.
ROUNDS = 20
#: Times in each round that the change of the other terms is subtracted.
REPAIRS = 3
#: Relative precision of the least-squares solutions, and their relative ridge.
LEAST_SQUARES, RIDGE = 1e-8, 1e-14
#: A direction that is so close to multiples of 1/2, 1/3, ... is rounded to them, so that its sums are exact.
NEAR_FRACTION = 1e-6
#: The largest denominator that is tried.
LARGEST_DENOMINATOR = 12


def facial_reduction(
    form: LinearForm, counts: np.ndarray, small: float = SMALL, rounds: int = ROUNDS
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

    with the weight v = ``WEIGHT``. Small terms that d hardly lowers are counted among the others, and
    the problem is solved again, until d lowers all small terms that remain.
    """
    system, is_small = newton_system(form), counts < small
    equations = np.flatnonzero(form.is_equation[form.n_published :])

    def solution(weights: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """The least-squares solution of (A' d)_j = aim_j."""
        right = np.where(form.is_equation, form.matvec(weights * aim), 0.0)
        return system.at(weights, RIDGE).solve(right, equations, LEAST_SQUARES)

    for _ in range(rounds):
        if not is_small.any():
            break
        direction = solution(np.where(is_small, WEIGHT, 1.0), np.where(is_small, -1.0, 0.0))
        for _ in range(REPAIRS):
            direction = direction - solution(np.where(is_small, 0.0, 1.0), form.rmatvec(direction))
        lowered = is_small & (form.rmatvec(direction) < -LOWERED)
        if np.array_equal(lowered, is_small):
            return direction
        is_small = lowered
    return np.zeros(form.shape[0])


def support_proof(form: LinearForm) -> np.ndarray:
    """Find one direction of the multipliers that proves every implied zero; see :mod:`.presolve.zero_proofs`.

    Notes
    -----
    The feasible set is a polyhedron, which is homogenised by x = (u + v) / t with t >= 0. Then

        max sum u,    0 <= u <= 1,  v >= 0,  low t <= A (u + v) <= high t,

    has u = 1 where some x is positive, and u = 0 elsewhere. The dual d of its rows then has A' d <= 0, with
    (A' d)_j <= -1 where u_j = 0, and d' (its sides) = 0.

    Returns
    -------
    ndarray, one a row
        Zeros if HiGHS fails. It is not free of rounding errors, which callers must take into account.
    """
    n_rows, n_terms = form.shape
    exact = form.is_equation
    upper, lower = np.isfinite(form.high) & ~exact, np.isfinite(form.low) & ~exact
    # A row with two different sides becomes two rows, as t is in both: A (u + v) >= low t, and A (u + v) <= high t.
    rows = np.concatenate([np.flatnonzero(kind) for kind in (exact, upper, lower)])
    kind = np.repeat([0, 1, 2], [np.count_nonzero(exact), np.count_nonzero(upper), np.count_nonzero(lower)])
    side = np.where(kind == 1, form.high[rows], form.low[rows])
    matrix = form.matrix[rows]
    program = LinearProgram(
        sp.csr_array(sp.hstack([matrix, matrix, sp.csr_array(-side[:, None])], format="csr")),
        np.where(kind == 1, -np.inf, 0.0),
        np.where(kind == 2, np.inf, 0.0),
        upper=np.repeat([1.0, np.inf], [n_terms, n_terms + 1]),
    )
    optimum = program.minimum(-np.repeat([1.0, 0.0], [n_terms, n_terms + 1]))
    direction = np.zeros(n_rows)
    if optimum.found:
        np.add.at(direction, rows, optimum.multipliers)
    return rationalised(direction)


def local_proofs(form: LinearForm) -> list[np.ndarray]:
    """Find directions that prove terms zero by the knowledge alone, one for each independent component of it.

    Two overlapping rows with the same value are an example: if P(s | Q) P(Q) = P(s | Q, R) P(Q, R), the terms of s with
    Q and not R are zero.
    """
    known, n = form.known.distinct, form.n_published
    of_row, of_class = components(known)
    found = []
    for component in np.flatnonzero(np.bincount(of_row) > 1):  # bound propagation has found what one row implies
        rows, classes = np.flatnonzero(of_row == component), np.flatnonzero(of_class == component)
        sides = form.low[n + rows], form.high[n + rows]
        direction = np.zeros(form.shape[0])
        direction[n + rows] = support_proof(LinearForm.plain(sp.csr_array(known[rows][:, classes]), *sides))
        found.append(direction)
    return found


def rationalised(direction: np.ndarray) -> np.ndarray:
    """Round a direction to integers over a common denominator, as most vertices are; unchanged if it is not near any.

    The direction is multiplied by that denominator, which proves the same.
    """
    for denominator in range(1, LARGEST_DENOMINATOR + 1):
        rounded = np.rint(direction * denominator)
        if np.abs(rounded / denominator - direction).max(initial=0.0) <= NEAR_FRACTION:
            return rounded
    return direction
