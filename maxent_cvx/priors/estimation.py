"""Priors from records: shares of the sensitive values, by signature, perhaps smoothed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..tables.microdata import Microdata

__all__ = ["shares"]


def shares(data: Microdata, smoothing: float) -> pd.DataFrame:
    """(n(s, x) + a) / (n(s) + a |X|) of every signature s that occurs, and every value x; a is the smoothing, records.

    Returns
    -------
    DataFrame
        Probabilities: a row a signature, a column a value.
    """
    (s, signatures), (x, values) = data.tuples(), data.values()
    n = np.bincount(s * len(values) + x, minlength=len(signatures) * len(values)).reshape(-1, len(values))
    total = n.sum(axis=1, keepdims=True) + smoothing * len(values)
    return pd.DataFrame((n + smoothing) / total, index=signatures, columns=values)
