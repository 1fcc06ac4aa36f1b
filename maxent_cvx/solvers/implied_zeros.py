"""Cells that every solution leaves empty, proved by one direction of the multipliers.

Take a direction d of the multipliers, and for every row the side that it presses from: its low side
where d > 0, its high side where d < 0. Every x that satisfies the rows then has

    sum_j (A' d)_j x_j  =  d' A x  >=  beta,    beta = sum_i d_i (side)_i.

If no (A' d)_j is positive and beta = 0, each x_j with (A' d)_j < 0 is zero; if beta > 0, there is no
such x at all (Farkas).
"""

from __future__ import annotations

import numpy as np

from .linear_form import TOLERANCE, LinearForm

__all__ = ["empty_terms"]


def empty_terms(form: LinearForm, direction: np.ndarray, settled: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mark the terms that a direction proves to be empty, whatever rounding does; from the raw rows.

    Parameters
    ----------
    form : LinearForm
    direction : ndarray, one a row
    settled : ndarray of bool
        Terms whose value is known already.
    counts : ndarray
        That value, people, for those terms.

    Notes
    -----
    In floating point (A' d)_j is only nearly 0 where it should be, and so is beta. A term is marked if
    what that leaves for it, were all other terms as large as the published rows allow, is no more than
    :data:`TOLERANCE` people.
    """
    change = form.matrix.T @ direction
    presses = np.flatnonzero(direction)
    along = direction[presses]
    side = np.where(along > 0, form.low[presses], form.high[presses])
    beta = along @ side - change[settled] @ counts[settled]
    rises = ~settled & (change > 0)
    with np.errstate(invalid="ignore"):
        rest = (
            change[rises] @ form.ceiling[rises] + max(-beta, 0.0) + np.finfo(float).eps * np.abs(along) @ np.abs(side)
        )
    return ~settled & (change * TOLERANCE < -rest)  # nothing is marked where the rest is infinite or not a number
