"""The divergence of one number y from another T, y log(y / T) - y + T = y (d - 1 + exp(-d)) for d = log(y / T)."""

from __future__ import annotations

import numpy as np

__all__ = ["divergence_from", "excess", "log_ratio"]

#: |d| below which d - 1 + exp(-d) is evaluated by its Taylor series; above, cancellation is harmless.
SERIES_BELOW = 1e-2


def excess(d: np.ndarray) -> np.ndarray:
    """Evaluate d - 1 + exp(-d) >= 0 to full relative precision."""
    series = d * d * (0.5 - d * (1 / 6 - d * (1 / 24 - d * (1 / 120 - d * (1 / 720 - d / 5040)))))
    return np.where(np.abs(d) < SERIES_BELOW, series, d + np.expm1(-d))


def log_ratio(y: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Evaluate log(y / T) for y >= 0 and T > 0 to nearly full relative precision, also where y is near to T."""
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        ratio = y / target
        plain = np.log(ratio)
        # A quotient that is infinite, or has lost digits at the lower end of the exponents.
        plain = np.where((ratio < np.finfo(float).tiny) | np.isinf(ratio), np.log(y) - np.log(target), plain)
        return np.where((ratio > 0.5) & (ratio < 2), np.log1p((y - target) / target), plain)  # y - T is exact there


def divergence_from(y: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Evaluate y log(y / T) - y + T >= 0 for y >= 0 and T > 0 to nearly full relative precision; it is T at y = 0."""
    d = log_ratio(y, target)
    with np.errstate(over="ignore", invalid="ignore"):
        far_below = (target - y) + np.where(y > 0, y * d, 0.0)
        return np.where(y < target / 2, far_below, y * excess(d))
