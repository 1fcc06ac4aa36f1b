"""Where a dual solver begins: with counts that rows with large coefficients leave within reach."""

from __future__ import annotations

import numpy as np

from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from ..tolerances import DUAL_FUNCTION

__all__ = ["within_reach"]


def within_reach(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Move the multipliers of rows with steep coefficients a so that no term with one holds more than (side) / a.

    In a sum of incomes with one of 10^10, a term that can hold 10^-8 people would begin at one, and shrink by a
    factor e in every step of Newton's method, while the row hides what it says of all others.

    Parameters
    ----------
    form : LinearForm
    multipliers : ndarray, one a row

    Returns
    -------
    ndarray
        The multipliers, of most problems as they were.
    """
    known, n = form.known, form.n_published
    steep = np.flatnonzero(np.abs(known.distinct.data) >= DUAL_FUNCTION.large_coefficient)
    if not len(steep):
        return multipliers
    a, row = known.distinct.data[steep], n + entry_rows(known.distinct)[steep]
    exponent = np.full(known.distinct.shape[1], -np.inf)
    np.maximum.at(exponent, known.of_term, form.exponent(multipliers))
    sides = np.stack([np.where(np.isfinite(side), np.abs(side), 0.0) for side in (form.low, form.high)]).max(axis=0)
    above = exponent[known.distinct.indices[steep]] - np.log(np.maximum(sides[row], 1.0) / np.abs(a))
    change = np.where(above > 0, -above / a, 0.0)
    order = np.argsort(np.abs(change), kind="stable")  # the largest change of a row is the last one written
    moved = np.zeros(len(multipliers))
    moved[row[order]] = change[order]
    return form.project_to_dual_cone(multipliers + moved)
