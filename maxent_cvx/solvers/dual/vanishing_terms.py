"""Cells that must vanish, recognised by the direction in which Newton's steps diverge.

A cell that every solution leaves empty shrinks by a factor e with every Newton step, for ever. What the
steps have in common then is a direction that proves it (see :mod:`.presolve.zero_proofs`), once what they do
to other cells has been taken out.
"""

from __future__ import annotations

import numpy as np

from ..linear_algebra.newton_system import System
from ..presolve.zero_proofs import empty_terms
from ..tolerances import VANISHING_TERMS
from .dual import Dual, Point

__all__ = ["vanishing"]


def vanishing(dual: Dual, point: Point, step: np.ndarray, system: System, active: np.ndarray) -> np.ndarray | None:
    """Make of a Newton step a direction that proves some terms empty; None if there is nothing in it.

    Parameters
    ----------
    dual : Dual
    point : Point
    step : ndarray
        The Newton step from there.
    system : System
        What solved for it.
    active : ndarray of int
        The rows of knowledge that took part.
    """
    form, alive = dual.form, ~dual.removed
    change = np.where(alive, form.rmatvec(step), 0.0)
    shrinks = change < VANISHING_TERMS.shrinks
    if not (shrinks & (point.counts < VANISHING_TERMS.small)).any():
        return None
    others = np.where(shrinks, 0.0, point.counts)
    direction, before = step, VANISHING_TERMS.most_moved * np.abs(change).max()
    for _ in range(VANISHING_TERMS.rounds):
        rest = np.where(shrinks, 0.0, change)
        if (left := np.abs(rest).max(initial=0.0)) <= VANISHING_TERMS.nothing * np.abs(change).max() or left > before:
            break
        before = 0.1 * left
        direction = direction - system.factor(others, active, VANISHING_TERMS.ridge)(
            form.matvec(others * rest), VANISHING_TERMS.precision
        )
        change = np.where(alive, form.rmatvec(direction), 0.0)
    return direction if empty_terms(form, direction, dual.removed, np.zeros(len(change))).any() else None
