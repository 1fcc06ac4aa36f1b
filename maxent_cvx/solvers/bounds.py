"""Activity bounds: what each row, by itself, implies for its terms, applied until nothing changes."""

from __future__ import annotations

import numpy as np

from .linear_form import LinearForm

__all__ = ["term_bounds"]

#: Rounds of propagation. Stopping early is safe: the bounds are then merely wider.
MAX_ROUNDS = 30


def term_bounds(form: LinearForm, n_records: float) -> tuple[np.ndarray, np.ndarray]:
    """Bound every term, in people: ``lower <= x <= upper`` for every x that satisfies the rows.

    A row with least activity L (each term at the bound that makes the row smallest) leaves a term
    with coefficient a > 0 no more than lower + (high - L) / a; and so for the other side and sign.

    Returns
    -------
    lower, upper : ndarray, one a term

    Raises
    ------
    Infeasible
        If some row cannot hold within the bounds that the others imply.
    """
    by_term = form.matrix.tocsc()
    row, a = by_term.indices, by_term.data
    size = np.abs(a)
    starts, touched = by_term.indptr[:-1], np.diff(by_term.indptr) > 0
    positive, negative = form.matrix.maximum(0), form.matrix.minimum(0)
    tolerance = form.tolerance
    lower, upper = np.zeros(form.shape[1]), np.full(form.shape[1], float(n_records))
    for _ in range(MAX_ROUNDS):
        least, most = positive @ lower + negative @ upper, positive @ upper + negative @ lower
        form.require((least <= form.high + 10 * tolerance) & (most >= form.low - 10 * tolerance), least, most)
        # Room that a row leaves each of its terms above its lower and below its upper bound.
        to_high, to_low = (np.where(np.abs(room) <= tolerance, 0.0, np.maximum(room, 0.0))
                           for room in (form.high - least, most - form.low))  # fmt: skip
        rise = np.where(a > 0, to_high[row], to_low[row]) / size
        fall = np.where(a > 0, to_low[row], to_high[row]) / size
        new_upper, new_lower = upper.copy(), lower.copy()
        new_upper[touched] = np.minimum(upper, lower + _least(rise, starts, touched, len(upper)))[touched]
        new_lower[touched] = np.maximum(lower, upper - _least(fall, starts, touched, len(upper)))[touched]
        # Rounding must not make the two cross; a real crossing shows as a row that cannot hold.
        new_lower = np.minimum(new_lower, new_upper)
        moved = max(np.max(upper - new_upper, initial=0), np.max(new_lower - lower, initial=0))
        lower, upper = new_lower, new_upper
        if moved <= 1e-7:
            break
    return lower, upper


def _least(values: np.ndarray, starts: np.ndarray, touched: np.ndarray, n: int) -> np.ndarray:
    """The least of each term's values, infinite for a term in no row."""
    least = np.full(n, np.inf)
    if len(values):
        least[touched] = np.minimum.reduceat(values, starts[touched])
    return least
