"""Terms that are zero in every solution, found from the recession direction that Newton's steps approach.

Such a term shrinks by a factor e in every Newton step, without end. What successive steps have in common is a recession
direction of the dual function that proves the term to be zero (see :mod:`.presolve.zero_proofs`), once its effect on
the other terms has been removed.

Least squares find one direction for many terms at once (facial reduction: the solutions lie on a face of the orthant;
Borwein and Wolkowicz, 1981), given an answer in which these terms are small.
"""

from __future__ import annotations

import numpy as np

from ..linear_algebra.newton_system import System, newton_system
from ..parameters.dual_methods import VANISHING_TERMS
from ..presolve.zero_proofs import consequence, empty_terms
from ..program.linear_form import LinearForm
from ..program.rounding_errors import exact_rmatvec
from .dual import Dual, Point

__all__ = ["facial_reduction", "recession_direction", "vanished_terms"]

#: Records: a term that holds less may be zero.
SMALL = 1e-6
#: The same once the tolerance is met, and how often candidates may then be given up: each forms a Schur complement.
VANISHED, VANISHED_ROUNDS = 1e-9, 3
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


def recession_direction(
    dual: Dual, point: Point, step: np.ndarray, system: System, active: np.ndarray
) -> np.ndarray | None:
    """Turn a Newton step into a recession direction that proves some terms to be zero.

    Parameters
    ----------
    dual : Dual
    point : Point
    step : ndarray
        The Newton step from that point.
    system : System
        The Newton system that it solves.
    active : ndarray of int
        The rows of knowledge that were active in it.

    Returns
    -------
    ndarray, one a row, or None
        None if nothing is proved.

    Notes
    -----
    Each round subtracts the least-squares solution of A' d = (change of the other terms), weighted by their counts.
    """
    form, alive = dual.form, ~dual.removed
    if dual.has_soft_rows:  # they can be missed, and prove nothing
        step, active = form.extend_to_soft(step[: form.n_hard]), active[active < form.n_hard - form.n_published]
    change = np.where(alive, form.rmatvec(step), 0.0)
    shrinks = change < VANISHING_TERMS.shrinks
    if not (shrinks & (point.counts < VANISHING_TERMS.small)).any():
        return None
    others = np.where(shrinks, 0.0, point.counts)
    of_newton, factor = system.schur, system.at(others, VANISHING_TERMS.ridge, point.curvature)
    direction, largest_allowed = step, VANISHING_TERMS.most_moved * min(np.abs(change).max(), 1.0)
    for _ in range(VANISHING_TERMS.rounds):
        rest = np.where(shrinks, 0.0, change)
        largest = np.abs(rest).max(initial=0.0)
        if largest <= VANISHING_TERMS.nothing * np.abs(change).max() or largest > largest_allowed:
            break
        largest_allowed = 0.1 * largest
        direction = direction - factor.solve(form.matvec(others * rest), active, VANISHING_TERMS.precision)
        change = np.where(alive, form.rmatvec(direction), 0.0)
    system.schur = of_newton or system.schur  # one that was formed here preconditions Newton's own systems badly
    return direction if empty_terms(form, direction, dual.removed, np.zeros(len(change))).any() else None


def vanished_terms(dual: Dual, point: Point) -> np.ndarray | None:
    """Find a recession direction that proves zero some terms that hold next to nothing once the tolerance is met.

    The steps can meet the tolerance before their recession directions show. The certificate cannot tell rows apart that
    differ by such terms alone.
    """
    form, removed = dual.form, dual.removed
    vanished = ~removed & (point.counts < VANISHED * np.minimum(form.weights, 1.0))
    if dual.has_soft_rows or not vanished.any():
        return None
    counts = np.where(vanished, 0.0, 1.0)
    proof = facial_reduction(form, counts, VANISHED_ROUNDS, removed)
    if not proof.any():
        return None
    # The side of a row with P = 1e-9 is as small as such terms, but it is not the rounding error of 0.
    found = consequence(form, proof, *exact_rmatvec(form, proof), removed, np.zeros(len(removed)))
    if -found.beta > found.error or not empty_terms(form, proof, removed, np.zeros(len(removed))).any():
        return None
    return proof


def facial_reduction(
    form: LinearForm, counts: np.ndarray, rounds: int = ROUNDS, removed: np.ndarray | None = None
) -> np.ndarray:
    """Find a direction d with (A' d)_j < 0 for as many small terms as possible, and (A' d)_j = 0 for all other terms.

    Parameters
    ----------
    form : LinearForm
    counts : ndarray, one a term
        An answer, records; it may be imprecise. Small counts are candidates, which the direction then proves zero.
    rounds : int
        How often terms that the direction hardly lowers may be given up.
    removed : ndarray of bool, one a term, optional
        Terms that are known to be zero; (A' d)_j is arbitrary there.

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
    known = np.zeros(len(counts), dtype=bool) if removed is None else removed
    system, is_small = newton_system(form), ~known & (counts < SMALL)
    equations = np.flatnonzero(form.is_equation[form.n_published :])

    def solution(weights: np.ndarray, aim: np.ndarray) -> np.ndarray:
        """The least-squares solution of (A' d)_j = aim_j."""
        right = np.where(form.is_equation, form.matvec(weights * aim), 0.0)
        return system.at(weights, RIDGE).solve(right, equations, LEAST_SQUARES)

    for _ in range(rounds):
        if not is_small.any():
            break
        direction = solution(np.where(is_small, WEIGHT, ~known), np.where(is_small, -1.0, 0.0))
        for _ in range(REPAIRS):
            direction = direction - solution(np.where(is_small | known, 0.0, 1.0), form.rmatvec(direction))
        lowered = is_small & (form.rmatvec(direction) < -LOWERED)
        if np.array_equal(lowered, is_small):
            return direction
        is_small = lowered
    return np.zeros(form.shape[0])
