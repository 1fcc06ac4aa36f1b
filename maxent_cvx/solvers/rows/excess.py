"""d - 1 + exp(-d), the divergence of one number from another by the logarithm d of their ratio."""

from __future__ import annotations

import numpy as np

__all__ = ["excess"]

#: |d| below which d - 1 + exp(-d) is evaluated by its Taylor series; above, cancellation is harmless.
SERIES_BELOW = 1e-2


def excess(d: np.ndarray) -> np.ndarray:
    """Evaluate d - 1 + exp(-d) >= 0 to full relative precision."""
    series = d * d * (0.5 - d * (1 / 6 - d * (1 / 24 - d * (1 / 120 - d * (1 / 720 - d / 5040)))))
    return np.where(np.abs(d) < SERIES_BELOW, series, d + np.expm1(-d))
