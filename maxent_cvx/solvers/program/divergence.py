"""The generalised Kullback-Leibler divergence between the counts and those given by the multipliers, bounded above."""

from __future__ import annotations

import numpy as np

from ..parameters.tolerances import EPS
from ..rows.excess import excess
from .linear_form import LinearForm
from .rounding_errors import rmatvec_coefficient_error, rmatvec_rounding

__all__ = ["divergence"]


def divergence(form: LinearForm, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """Bound x log(x / y) - x + y from above, one a term, records, for y = w exp(A' m - 1).

    With d = log(x / y) it is x (d - 1 + exp(-d)), about x d^2 / 2. It is not computed as a difference of nearly equal
    numbers, so that roundoff enters through d only; the largest value over the error interval of d is taken.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exponent = form.exponent(multipliers)
        log_x = np.log(x)
        # Roundoff of the sum, the weight and the logarithms, a few units in the last place each.
        sizes = 1 + np.abs(exponent) + np.abs(np.log(form.weights)) + np.where(x > 0, np.abs(log_x), 0.0)
        error = rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + 4 * EPS * sizes
        d = log_x - exponent
        near = x * np.maximum(excess(d - error), excess(d + error))
        y = np.exp(exponent + error)
        far = x * d - x + y + 2 * error * (x + y)  # x and y differ so much that nothing cancels
        return np.where(x == 0, y, np.where(np.abs(d) < 1, near, far))
