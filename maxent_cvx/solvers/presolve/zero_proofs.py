"""Cells that every solution leaves empty, proved by one direction of the multipliers.

Take a direction d of the multipliers, and for every row the side that it presses from: its low side
where d > 0, its high side where d < 0. Every x that satisfies the rows then has

    sum_j (A' d)_j x_j  =  d' A x  >=  beta,    beta = sum_i d_i (side)_i.

If no (A' d)_j is positive and beta = 0, each x_j with (A' d)_j < 0 is zero; if beta > 0, there is no
such x at all (Farkas).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..program.linear_form import LinearForm
from ..program.rounding_errors import exact_rmatvec
from ..tolerances import EPS, PRESOLVE

__all__ = ["empty_terms", "most_left", "moved_along_recession"]


def empty_terms(form: LinearForm, direction: np.ndarray, settled: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mark the terms that a direction proves to be empty, whatever rounding does; from the raw rows.

    A term is marked that is left no more than ``form.least`` people, or that part of the people whom the
    published rows allow it. The parameters are those of :func:`most_left`.
    """
    return most_left(form, direction, settled, counts) <= form.zero_tolerance * form.count_scale


def most_left(
    form: LinearForm,
    direction: np.ndarray,
    settled: np.ndarray,
    counts: np.ndarray,
    width: np.ndarray | None = None,
) -> np.ndarray:
    """How many people each term can hold at most, by one direction; infinite if it does not say; from the raw rows.

    Parameters
    ----------
    form : LinearForm
    direction : ndarray, one a row
    settled : ndarray of bool
        Terms whose value is known already.
    counts : ndarray
        That value, people, for those terms.
    width : ndarray, optional
        How far that value may be off.

    Notes
    -----
    In floating point (A' d)_j is only nearly 0 where it should be, and is known no better than to
    rounding; so is beta. What that leaves for a term is found with all other terms as large as the published rows
    allow.
    """
    change, off = exact_rmatvec(form, direction)
    most = change + off
    active = np.flatnonzero(direction)
    along = direction[active]
    side = np.where(along > 0, form.low[active], form.high[active])
    parts = np.concatenate([along * side, -change[settled] * counts[settled]])
    size = np.abs(parts).sum()
    beta = math.fsum(parts) if np.isfinite(size) else -np.inf  # what is left of rounding is that of each product
    rises = ~settled & (most > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = (
            most[rises] @ form.upper_bound[rises]
            + max(-beta, 0.0)
            + EPS * size
            + np.abs(along) @ form.side_error[active]
        )
        if width is not None:
            rest += (np.abs(change) + off)[settled] @ width[settled]
        found = np.where(~settled & (most < 0), rest / -most, np.inf)
    return np.where(np.isnan(found), np.inf, found)  # of no term where the rest is infinite or no number


def moved_along_recession(form: LinearForm, multipliers: np.ndarray, proofs: Sequence[np.ndarray]) -> np.ndarray:
    """Move multipliers along the directions until w exp(A' m - 1) leaves nobody in the empty terms.

    At the optimum those multipliers are infinite. The other terms stay as they are, but for the terms
    that an earlier direction empties: so the last direction goes first.
    """
    empty, found = np.zeros(form.shape[1], dtype=bool), []
    for proof in proofs:
        found.append(empty_terms(form, proof, empty, np.zeros(len(empty))))
        empty = empty | found[-1]
    moved = multipliers
    for proof, terms in zip(reversed(proofs), reversed(found), strict=True):
        if terms.any():
            excess = (form.exponent(moved) - PRESOLVE.vanished_log)[terms] / -(form.matrix.T @ proof)[terms]
            moved = moved + max(float(excess.max()), 0.0) * proof
    return moved
