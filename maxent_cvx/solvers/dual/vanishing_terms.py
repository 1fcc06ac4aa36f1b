"""Terms that are zero in every solution, found from the recession direction that Newton's steps approach.

Such a term shrinks by a factor e in every Newton step, without end. What successive steps have in common is a recession
direction of the dual function that proves the term to be zero (see :mod:`.presolve.zero_proofs`), once its effect on
the other terms has been removed.
"""

from __future__ import annotations

import numpy as np

from ..linear_algebra.newton_system import System
from ..parameters.dual_methods import VANISHING_TERMS
from ..presolve.zero_proofs import empty_terms
from .dual import Dual, Point

__all__ = ["recession_direction"]


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
