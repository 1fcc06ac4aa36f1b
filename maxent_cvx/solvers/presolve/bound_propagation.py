"""Bound propagation: every row tightens the bounds of its terms by its activity bounds, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..monitoring.deadline import check_step
from ..parameters.tolerances import EPS, FEASIBILITY, PRESOLVE
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows, least_by_row
from .required import require_feasible

__all__ = [
    "ActivityBounds",
    "Propagation",
    "largest_activity",
    "power_of_two_unit",
    "row_rounding",
    "slacks",
    "term_bounds",
]


def term_bounds(form: LinearForm, n_records: float, most: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Bound every term, records: ``lower <= x <= upper`` for every x >= 0 that satisfies the rows as typed.

    Let L be the least activity of a row, its value with every term at the bound that makes it smallest. A term with
    coefficient a > 0 is then at most lower + (high - L) / a; likewise for the other side and the other sign. For rows
    of knowledge the slack is computed once for all terms with the same column.

    Parameters
    ----------
    form : LinearForm
    n_records : float
    most : ndarray, optional
        Upper bounds that are known for other reasons, records.

    Returns
    -------
    lower, upper : ndarray, one a term
        Records.

    Raises
    ------
    Infeasible
        If some row cannot hold within the bounds.

    Notes
    -----
    The bounds are valid in spite of roundoff. All are multiples of a unit that is negligible, and yet so large that
    sums of them are exact; they are rounded outwards, and the slack of each row is increased by a bound on its
    rounding error.
    """
    propagation = Propagation(form, n_records, power_of_two_unit(largest_activity(form, n_records)), most)
    bounds, rounding = propagation.start, row_rounding(form, propagation.unit)
    for _ in range(PRESOLVE.propagation_rounds):
        check_step()
        low, high = propagation.activity(*bounds)
        slack = slacks(form, low, high, rounding(*bounds))
        before, bounds = bounds, propagation.tightened(*bounds, *slack)
        if all(np.array_equal(*pair) for pair in zip(before, bounds, strict=True)):
            break
    return bounds


class Propagation:
    """One round after the other: from bounds on the terms to activity bounds of the rows, and back.

    Parameters
    ----------
    form : LinearForm
    n_records : float
    unit : float
        Records: bounds are multiples of it, see :func:`power_of_two_unit`.
    most : ndarray, optional
        As of :func:`term_bounds`.
    """

    def __init__(self, form: LinearForm, n_records: float, unit: float, most: np.ndarray | None = None) -> None:
        self.form, self.unit = form, unit
        upper = np.ceil(_first_upper(form, n_records) / unit) * unit
        if most is not None:
            upper = np.minimum(upper, np.ceil(most / unit) * unit)
        self.start = np.zeros(form.shape[1]), upper
        self.activity = ActivityBounds(form)
        self._least_move = PRESOLVE.least_move * form.count_scale
        self._least = LeastSlack(form.published_by_term, unit)
        self._least_of_class = LeastSlack(form.known.transposed, unit)

    def tightened(
        self, lower: np.ndarray, upper: np.ndarray, to_high: np.ndarray, to_low: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The bounds that the slack of every row implies.

        Parameters
        ----------
        lower, upper : ndarray, one a term
        to_high, to_low : ndarray, one a row
            As :func:`slacks` gives them.
        """
        n, of_term, unit = self.form.n_published, self.form.known.of_term, self.unit
        rise, fall = self._least(to_high[:n], to_low[:n])
        by_class = self._least_of_class(to_high[n:], to_low[n:])
        new_upper = np.ceil((lower + np.minimum(rise, by_class[0][of_term])) / unit) * unit
        new_lower = np.floor((upper - np.minimum(fall, by_class[1][of_term])) / unit) * unit
        new_upper = np.where(upper - new_upper > self._least_move, new_upper, upper)
        new_lower = np.where(new_lower - lower > self._least_move, new_lower, lower)
        # Roundoff must not make bounds cross. If they do cross, some row cannot hold and is found in the next round.
        return np.minimum(new_lower, new_upper), new_upper


def slacks(form: LinearForm, low: np.ndarray, high: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much the value of each row may rise from its least, and fall from its largest activity, records.

    Parameters
    ----------
    form : LinearForm
    low, high : ndarray, one a row
        The least and the largest activity.
    error : ndarray, one a row
        A bound on the rounding error.

    Raises
    ------
    Infeasible
        If some row cannot hold within these.
    """
    tolerance = FEASIBILITY.multiple * form.tolerance
    require_feasible(form, (low <= form.high + tolerance) & (high >= form.low - tolerance), low, high)
    return np.maximum(form.high - low, 0.0) + error, np.maximum(high - form.low, 0.0) + error


def largest_activity(form: LinearForm, n_records: float) -> float:
    """The largest value of a row, all coefficients taken for positive, within the first bounds; at least one record."""
    upper, known = _first_upper(form, n_records), form.known
    sums = abs(form.published) @ upper, abs(known.distinct) @ known.collect(upper)
    return max(float(n_records), 1.0, *(float(some.max(initial=0.0)) for some in sums))


def power_of_two_unit(largest: float) -> float:
    """A unit, records, of which sums up to the largest activity are exact."""
    return float(2.0 ** (np.ceil(np.log2(largest)) - 52))


def _first_upper(form: LinearForm, n_records: float) -> np.ndarray:
    """The upper bounds that single published rows imply, rounded outwards, and N."""
    upper = np.full(form.shape[1], float(n_records))
    if form.side_error[: form.n_published].any():
        form = replace(form, high=form.high + form.side_error)
    return np.minimum(upper, form.upper_bound * (1 + 8 * EPS * (form.upper_bound != np.rint(form.upper_bound))))


def row_rounding(form: LinearForm, unit: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Bound the rounding error of every row's slack, records, as a function of the bounds on terms.

    It is 0 where the sides are multiples of the unit and all coefficients are 1 or -1, whose sums are exact. With other
    coefficients every product and every partial sum is rounded.
    """
    rounded = np.concatenate([_has_other_coefficients(form.published), _has_other_coefficients(form.known.distinct)])
    products = np.concatenate([np.diff(form.published.indptr), np.diff(form.known.distinct.indptr)])
    sides = np.stack([np.where(np.isfinite(side), side, 0.0) for side in (form.low, form.high)])
    of_sides = np.where(
        (np.rint(sides / unit) * unit == sides).all(axis=0) & (form.side_error == 0), 0.0, form.side_error + 2 * unit
    )
    if not rounded.any():
        return lambda lower, upper: of_sides
    published, known = abs(form.published), abs(form.known.distinct)

    def error(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        size = np.concatenate([published @ upper, known @ form.known.collect(upper)])
        return of_sides + np.where(rounded, EPS * (products + 2) * size, 0.0)

    return error


def _has_other_coefficients(matrix: sp.csr_array) -> np.ndarray:
    """Mark rows with coefficients other than 1 and -1."""
    return np.bincount(entry_rows(matrix), np.abs(matrix.data) != 1, matrix.shape[0]) > 0


class ActivityBounds:
    """A function from lower and upper bounds on the terms to the least and the largest value of every row.

    Parameters
    ----------
    form : LinearForm
    """

    def __init__(self, form: LinearForm) -> None:
        self._known, self._published, self._distinct = form.known, _signs(form.published), _signs(form.known.distinct)

    def __call__(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest values, records, one a row each."""
        below, above = self._known.collect(lower), self._known.collect(upper)
        (positive, negative), (known_positive, known_negative) = self._published, self._distinct
        least = positive @ lower + negative @ upper, known_positive @ below + known_negative @ above
        most = positive @ upper + negative @ lower, known_positive @ above + known_negative @ below
        return np.concatenate(least), np.concatenate(most)


def _signs(matrix: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Split a matrix into its positive and its negative part."""
    if (matrix.data > 0).all():
        return matrix, sp.csr_array(matrix.shape)
    return sp.csr_array(matrix.maximum(0)), sp.csr_array(matrix.minimum(0))


class LeastSlack:
    """How far each column can rise and fall: the minimum over its rows of slack / |a|; infinite without rows.

    Parameters
    ----------
    by_column : csr_array
        A row a column.
    unit : float
        Records: what quotients are rounded up by.
    """

    def __init__(self, by_column: sp.csr_array, unit: float) -> None:
        a = by_column.data
        self._by_column, self._unit, self._size = by_column, unit, np.abs(a)
        self._rises = None if (a > 0).all() else a > 0
        self._divided = None if (self._size == 1).all() else self._size != 1

    def __call__(self, to_high: np.ndarray, to_low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rise and the fall of each column, of what each row leaves to its high side, and to its low side."""
        row = self._by_column.indices
        up, down = to_high[row], to_low[row]
        if self._rises is not None:
            up, down = np.where(self._rises, up, down), np.where(self._rises, down, up)
        return self._least(up), self._least(down)

    def _least(self, slack: np.ndarray) -> np.ndarray:
        if self._divided is not None:  # quotients are rounded, and coefficients may be too
            with np.errstate(over="ignore"):  # a coefficient of 1e-300 implies no bound
                slack = np.where(self._divided, slack / self._size * (1 + 8 * EPS) + self._unit, slack)
        return least_by_row(slack, self._by_column)
