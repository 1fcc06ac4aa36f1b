"""The divergence of an answer from what its multipliers say, term by term, and no smaller for rounding."""

from __future__ import annotations

import numpy as np

from ..tolerances import EPS
from .linear_form import LinearForm
from .rounding_errors import rmatvec_coefficient_error, rmatvec_rounding

__all__ = ["divergence"]

#: Below this, u - 1 + exp(-u) is a series; above, it loses nothing to cancellation.
SMALL = 1e-2


def divergence(form: LinearForm, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """KL(x || y) term by term, x log(x / y) - x + y for y = w exp(A' m - 1), people; an upper bound in floating point.

    With d = log(x / y) it is x (d - 1 + exp(-d)), about x d^2 / 2: no difference of nearly equal
    numbers, so that rounding only enters through d.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exponent = form.exponent(multipliers)
        log_x = np.log(x)
        # Of the sum, of the weight and of the logarithms, each a few units in the last place.
        sizes = 1 + np.abs(exponent) + np.abs(np.log(form.weights)) + np.where(x > 0, np.abs(log_x), 0.0)
        off = rmatvec_rounding(form, multipliers) + rmatvec_coefficient_error(form, multipliers) + 4 * EPS * sizes
        d = log_x - exponent
        near = x * np.maximum(_excess(d - off), _excess(d + off))
        y = np.exp(exponent + off)
        far = x * d - x + y + 2 * off * (x + y)  # where x and y are so different, nothing cancels
        return np.where(x == 0, y, np.where(np.abs(d) < 1, near, far))


def _excess(d: np.ndarray) -> np.ndarray:
    """The function d - 1 + exp(-d) >= 0, to full precision."""
    series = d * d * (0.5 - d * (1 / 6 - d * (1 / 24 - d * (1 / 120 - d * (1 / 720 - d / 5040)))))
    return np.where(np.abs(d) < SMALL, series, d + np.expm1(-d))
