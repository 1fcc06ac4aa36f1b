"""A starting point for the dual methods where rows have large coefficients."""

from __future__ import annotations

import numpy as np

from ..parameters.dual_methods import DUAL_FUNCTION
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows

__all__ = ["within_reach"]


def within_reach(form: LinearForm, multipliers: np.ndarray) -> np.ndarray:
    """Change the multipliers of rows with large coefficients a until a count there is at most |side| / |a|.

    In a sum of incomes with one of 10^10, a term that can hold 10^-8 records would start at one record. It would shrink
    by a factor e in every Newton step, and until it is small the row would not constrain the other terms.

    Parameters
    ----------
    form : LinearForm
    multipliers : ndarray, one a row

    Returns
    -------
    ndarray, one a row
        The same multipliers if no coefficient is large.
    """
    known, n = form.known, form.n_published
    large = np.flatnonzero(np.abs(known.distinct.data) >= DUAL_FUNCTION.large_coefficient)
    if not len(large):
        return multipliers
    a, row = known.distinct.data[large], n + entry_rows(known.distinct)[large]
    exponent = np.full(known.distinct.shape[1], -np.inf)
    np.maximum.at(exponent, known.of_term, form.exponent(multipliers))
    sides = np.stack([np.where(np.isfinite(side), np.abs(side), 0.0) for side in (form.low, form.high)]).max(axis=0)
    excess = exponent[known.distinct.indices[large]] - np.log(np.maximum(sides[row], 1.0) / np.abs(a))
    change = np.where(excess > 0, -excess / a, 0.0)
    order = np.argsort(np.abs(change), kind="stable")  # the largest change of a row is the last one written
    shift = np.zeros(len(multipliers))
    shift[row[order]] = change[order]
    return form.project_to_dual_cone(multipliers + shift)
