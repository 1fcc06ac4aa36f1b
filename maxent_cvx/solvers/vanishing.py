"""Cells that must vanish, recognised by the direction in which Newton's steps diverge.

A cell that every solution leaves empty shrinks by a factor e with every Newton step, for ever. What the
steps have in common then is a direction that proves it (see :mod:`.implied_zeros`), once what they do
to other cells has been taken out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .dual import Dual, Point
from .implied_zeros import empty_terms

__all__ = ["vanishing"]

#: A cell may vanish that shrinks by e to this power, or faster, in one Newton step, and holds less than so many people.
SHRINKS, SMALL = -0.5, 1e-2
#: Rounds of taking out of a direction what it does to other cells, each to some relative precision.
ROUNDS, PRECISION = 6, 1e-4


def vanishing(dual: Dual, point: Point, step: np.ndarray, solve: Callable[..., np.ndarray]) -> np.ndarray | None:
    """Make of a Newton step a direction that proves some terms empty; None if there is nothing in it.

    Parameters
    ----------
    dual : Dual
    point : Point
    step : ndarray
        The Newton step from there.
    solve : callable
        Solves systems of the Hessian at the point.
    """
    form, alive = dual.form, ~dual.dropped
    change = np.where(alive, form.spread(step), 0.0)
    shrinks = change < SHRINKS
    if not (shrinks & (point.counts < SMALL)).any():
        return None
    direction, before = step, np.inf
    for _ in range(ROUNDS):
        rest = np.where(shrinks, 0.0, change)
        if (left := np.abs(rest).max(initial=0.0)) <= 1e-15 * np.abs(change).max() or left > 0.1 * before:
            break
        before = left
        direction = direction - solve(form.sums(point.counts * rest), PRECISION)
        change = np.where(alive, form.spread(direction), 0.0)
    return direction if empty_terms(form, direction, dual.dropped, np.zeros(len(change))).any() else None
