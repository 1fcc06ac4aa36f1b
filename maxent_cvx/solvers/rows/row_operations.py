"""What was done to rows of knowledge as a whole: multiples of published equations subtracted, and a new scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

__all__ = ["RowOperations"]


@dataclass(frozen=True, eq=False)
class RowOperations:
    """Row i became ``by[i] * (row i - sum over k of times[i, k] * row k)``; the problem is the same.

    Attributes
    ----------
    times : csr_array, shape (rows, rows)
        Of no row k that is rewritten itself.
    by : ndarray, one a row
    """

    times: sp.csr_array
    by: np.ndarray

    def there(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the rewritten rows, from those of the rows as they were."""
        return (multipliers + self.times.T @ multipliers) / self.by

    def back(self, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of the rows as they were, from those of the rewritten rows."""
        own = multipliers * self.by
        return own - self.times.T @ own
