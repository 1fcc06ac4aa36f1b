"""Activity bounds: what each row, by itself, implies for its terms, applied until nothing changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows, least_by_row
from ..tolerances import EPS, FEASIBILITY, PRESOLVE
from .required import require

__all__ = ["activity", "term_bounds"]


def term_bounds(form: LinearForm, n_records: float, most: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Bound every term, in people: ``lower <= x <= upper`` for every x that satisfies the rows as typed.

    A row with least activity L (each term at the bound that makes the row smallest) leaves a term
    with coefficient a > 0 no more than lower + (high - L) / a; and so for the other side and sign.
    That is the same for all terms of one column.

    Parameters
    ----------
    form : LinearForm
    n_records : float
    most : ndarray, optional
        What is known of the terms for other reasons: no more people than so.

    Returns
    -------
    lower, upper : ndarray, one a term

    Raises
    ------
    Infeasible
        If some row cannot hold within the bounds that the others imply.

    Notes
    -----
    Whatever rounding does, they are bounds: all are multiples of a unit so small that it does not matter, and so large
    that sums of them are exact. They are rounded outwards, and each row is given the room of what was rounded in it.
    """
    n, known, tolerance = form.n_published, form.known, form.tolerance
    lower, upper = np.zeros(form.shape[1]), np.full(form.shape[1], float(n_records))
    if not form.side_error[:n].any():
        upper = np.minimum(upper, form.upper_bound * (1 + 8 * EPS * (form.upper_bound != np.rint(form.upper_bound))))
    largest = max(float(n_records), 1.0, float((abs(form.published) @ upper).max(initial=0.0)))
    largest = max(largest, float((abs(known.distinct) @ known.collect(upper)).max(initial=0.0)))
    unit = 2.0 ** (np.ceil(np.log2(largest)) - 52)
    upper = np.ceil(upper / unit) * unit
    if most is not None:
        upper = np.minimum(upper, np.ceil(most / unit) * unit)
    least_move, within = PRESOLVE.least_move * form.count_scale, activity(form)
    rounding = row_rounding(form, unit)
    for _ in range(PRESOLVE.propagation_rounds):
        low, high = within(lower, upper)
        require(
            form,
            (low <= form.high + FEASIBILITY.multiple * tolerance)
            & (high >= form.low - FEASIBILITY.multiple * tolerance),
            low,
            high,
        )
        off = rounding(lower, upper)
        # Room that a row leaves each of its terms above its lower and below its upper bound.
        to_high, to_low = np.maximum(form.high - low, 0.0) + off, np.maximum(high - form.low, 0.0) + off
        rise, fall = _least_room(form.published_by_term, to_high[:n], to_low[:n], unit)
        by_class = _least_room(known.transposed, to_high[n:], to_low[n:], unit)
        new_upper = np.ceil((lower + np.minimum(rise, by_class[0][known.of_term])) / unit) * unit
        new_lower = np.floor((upper - np.minimum(fall, by_class[1][known.of_term])) / unit) * unit
        new_upper = np.where(upper - new_upper > least_move, new_upper, upper)
        new_lower = np.where(new_lower - lower > least_move, new_lower, lower)
        # Rounding must not make the two cross; a real crossing shows as a row that cannot hold.
        new_lower = np.minimum(new_lower, new_upper)
        still = np.array_equal(lower, new_lower) and np.array_equal(upper, new_upper)
        lower, upper = new_lower, new_upper
        if still:
            break
    return lower, upper


def row_rounding(form: LinearForm, unit: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Say how far a row's room can be off, as a function of the bounds: none, where it is a difference of whole units.

    Coefficients of 1 and -1 make exact sums; of others every product, and every sum of them, is rounded.
    """
    uneven = np.concatenate([_uneven(form.published), _uneven(form.known.distinct)])
    products = np.concatenate([np.diff(form.published.indptr), np.diff(form.known.distinct.indptr)])
    sides = np.stack([np.where(np.isfinite(side), side, 0.0) for side in (form.low, form.high)])
    said = np.where(
        (np.rint(sides / unit) * unit == sides).all(axis=0) & (form.side_error == 0), 0.0, form.side_error + 2 * unit
    )
    if not uneven.any():
        return lambda lower, upper: said
    published, known = abs(form.published), abs(form.known.distinct)

    def off(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        size = np.concatenate([published @ upper, known @ form.known.collect(upper)])
        return said + np.where(uneven, EPS * (products + 2) * size, 0.0)

    return off


def _uneven(matrix: sp.csr_array) -> np.ndarray:
    """Rows with other coefficients than 1 and -1."""
    return np.bincount(entry_rows(matrix), np.abs(matrix.data) != 1, matrix.shape[0]) > 0


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


def _least_room(
    by_column: sp.csr_array, to_high: np.ndarray, to_low: np.ndarray, unit: float
) -> tuple[np.ndarray, np.ndarray]:
    """The least that the rows of each column let it rise and fall; infinite for a column of no row."""
    a, row = by_column.data, by_column.indices
    up = np.where(a > 0, to_high[row], to_low[row])
    down = np.where(a > 0, to_low[row], to_high[row])
    if (np.abs(a) != 1).any():  # a quotient is rounded, and a coefficient may be off in its last places
        divided = np.abs(a) != 1
        with np.errstate(over="ignore"):  # a coefficient of 1e-300 bounds nothing
            up, down = (np.where(divided, room / np.abs(a) * (1 + 8 * EPS) + unit, room) for room in (up, down))
    return least_by_row(up, by_column), least_by_row(down, by_column)
