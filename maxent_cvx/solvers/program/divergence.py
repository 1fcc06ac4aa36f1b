"""The generalised Kullback-Leibler divergence between the counts and those given by the multipliers, bounded above."""

from __future__ import annotations

import numpy as np

from ..parameters.tolerances import EPS
from .linear_form import LinearForm
from .rounding_errors import rmatvec_coefficient_error, rmatvec_rounding

__all__ = ["divergence"]

#: |d| below which d - 1 + exp(-d) is evaluated by its Taylor series; above, cancellation is harmless.
SERIES_BELOW = 1e-2


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
        near = x * np.maximum(_excess(d - error), _excess(d + error))
        y = np.exp(exponent + error)
        far = x * d - x + y + 2 * error * (x + y)  # x and y differ so much that nothing cancels
        return np.where(x == 0, y, np.where(np.abs(d) < 1, near, far))


def _excess(d: np.ndarray) -> np.ndarray:
    """Evaluate d - 1 + exp(-d) >= 0 to full relative precision."""
    series = d * d * (0.5 - d * (1 / 6 - d * (1 / 24 - d * (1 / 120 - d * (1 / 720 - d / 5040)))))
    return np.where(np.abs(d) < SERIES_BELOW, series, d + np.expm1(-d))
