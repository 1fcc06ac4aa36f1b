"""Activity bounds: what each row, by itself, implies for its terms, applied until nothing changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from .entries import least_by_row
from .linear_form import LinearForm

__all__ = ["activity", "term_bounds"]

#: Rounds of propagation. Stopping early is safe: the bounds are then merely wider.
MAX_ROUNDS = 30
#: A bound is moved by no less than this, people or part of those that there is room for. Round by round, rows
#: can make a rounding error many times as large: what it does to a bound at first must not count.
LEAST_MOVE = 1e-7


def term_bounds(form: LinearForm, n_records: float, zeros: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Bound every term, in people: ``lower <= x <= upper`` for every x that satisfies the rows.

    A row with least activity L (each term at the bound that makes the row smallest) leaves a term
    with coefficient a > 0 no more than lower + (high - L) / a; and so for the other side and sign.
    That is the same for all terms of one column.

    Parameters
    ----------
    form : LinearForm
    n_records : float
    zeros : ndarray of bool, optional
        Terms that are known to be empty for other reasons.

    Returns
    -------
    lower, upper : ndarray, one a term

    Raises
    ------
    Infeasible
        If some row cannot hold within the bounds that the others imply.
    """
    n, known, tolerance = form.n_published, form.known, form.tolerance
    lower, upper = np.zeros(form.shape[1]), np.full(form.shape[1], float(n_records))
    if zeros is not None:
        upper[zeros] = 0.0
    least_move, within = LEAST_MOVE * form.room, activity(form)
    for _ in range(MAX_ROUNDS):
        least, most = within(lower, upper)
        form.require((least <= form.high + 10 * tolerance) & (most >= form.low - 10 * tolerance), least, most)
        # Room that a row leaves each of its terms above its lower and below its upper bound.
        to_high, to_low = np.maximum(form.high - least, 0.0), np.maximum(most - form.low, 0.0)
        rise, fall = _least_room(form.published_by_term, to_high[:n], to_low[:n])
        by_class = _least_room(known.transposed, to_high[n:], to_low[n:])
        new_upper = lower + np.minimum(rise, by_class[0][known.of_term])
        new_lower = upper - np.minimum(fall, by_class[1][known.of_term])
        new_upper = np.where(upper - new_upper > least_move, new_upper, upper)
        new_lower = np.where(new_lower - lower > least_move, new_lower, lower)
        # Rounding must not make the two cross; a real crossing shows as a row that cannot hold.
        new_lower = np.minimum(new_lower, new_upper)
        still = np.array_equal(lower, new_lower) and np.array_equal(upper, new_upper)
        lower, upper = new_lower, new_upper
        if still:
            break
    return lower, upper


def activity(form: LinearForm) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Give the least and the largest value of every row, as a function of lower and upper bounds on the terms."""
    positive, negative = _signs(form.published)
    known_positive, known_negative = _signs(form.known.distinct)

    def within(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below, above = form.known.collect(lower), form.known.collect(upper)
        least = positive @ lower + negative @ upper, known_positive @ below + known_negative @ above
        most = positive @ upper + negative @ lower, known_positive @ above + known_negative @ below
        return np.concatenate(least), np.concatenate(most)

    return within


def _signs(matrix: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Split a matrix into its positive and its negative entries."""
    if (matrix.data > 0).all():
        return matrix, sp.csr_array(matrix.shape)
    return sp.csr_array(matrix.maximum(0)), sp.csr_array(matrix.minimum(0))


def _least_room(by_column: sp.csr_array, to_high: np.ndarray, to_low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least that the rows of each column let it rise and fall; infinite for a column of no row."""
    a, row = by_column.data, by_column.indices
    up = np.where(a > 0, to_high[row], to_low[row]) / np.abs(a)
    down = np.where(a > 0, to_low[row], to_high[row]) / np.abs(a)
    return least_by_row(up, by_column), least_by_row(down, by_column)
