"""Cells that must vanish, recognised by the direction in which Newton's steps diverge.

A cell that every solution leaves empty shrinks by a factor e with every Newton step, for ever. What the
steps have in common then is a direction that proves it (see :mod:`.presolve.zero_proofs`), once what they do
to other cells has been taken out.
"""

from __future__ import annotations

import numpy as np

from ..linear_algebra.newton_system import System
from ..presolve.zero_proofs import empty_terms
from .dual import Dual, Point

__all__ = ["vanishing"]

#: A cell may vanish that shrinks by e to this power, or faster, in one Newton step, and holds less than so many people.
SHRINKS, SMALL = -0.5, 1e-2
#: Other cells may move by this part of what those that shrink do, or the steps have not settled on a direction yet.
MOST_MOVED = 0.25
#: Rounds of taking out of a direction what it does to other cells, each to some relative precision.
ROUNDS, PRECISION, RIDGE = 6, 1e-4, 1e-13


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
    form, alive = dual.form, ~dual.dropped
    change = np.where(alive, form.spread(step), 0.0)
    shrinks = change < SHRINKS
    if not (shrinks & (point.counts < SMALL)).any():
        return None
    others = np.where(shrinks, 0.0, point.counts)
    direction, before = step, MOST_MOVED * np.abs(change).max()
    for _ in range(ROUNDS):
        rest = np.where(shrinks, 0.0, change)
        if (left := np.abs(rest).max(initial=0.0)) <= 1e-15 * np.abs(change).max() or left > before:
            break
        before = 0.1 * left
        direction = direction - system.factor(others, active, RIDGE)(form.sums(others * rest), PRECISION)
        change = np.where(alive, form.spread(direction), 0.0)
    return direction if empty_terms(form, direction, dual.dropped, np.zeros(len(change))).any() else None
