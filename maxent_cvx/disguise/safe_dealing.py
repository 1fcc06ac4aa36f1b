"""Buckets as small as (c, k)-safety lets them be."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..errors import TableError, amount
from ..worlds.worst.frequencies import Frequencies
from ..worlds.worst.safety import Safety
from .dealing import dealt

__all__ = ["safely_dealt"]


def safely_dealt(value: np.ndarray, is_exempt: np.ndarray, l: int, seed: int, safety: Safety) -> np.ndarray:
    """Give every record a bucket, as :func:`dealt` does, of the smallest number of records from l on that is safe.

    Parameters
    ----------
    value : ndarray of int
        The number of every record's value.
    is_exempt : ndarray of bool
        Which values may repeat, and need not be safe.
    l, seed : int
    safety : Safety

    Raises
    ------
    TableError
        If none is that the values allow: one that is not exempt occurs at most once a bucket.
    """
    n, frequency = len(value), np.bincount(value)
    largest = n // int(frequency[~is_exempt].max(initial=1))
    p = np.inf
    for size in range(l, largest + 1):
        bucket = dealt(value, is_exempt[value], size, np.random.default_rng(seed))
        counts = sp.coo_array((np.ones(n, dtype=np.int64), (value, bucket))).tocsc()
        p = safety.disclosure(Frequencies.of(counts, ~is_exempt))
        if p < safety.c:
            return bucket
    raise TableError(
        f"safe=({safety.c:g}, {safety.k}): with l={largest}, the most that the values allow, the disclosure is still "
        f"{p:.3g} after {amount(safety.k, 'implication')}; choose a larger c or a smaller k, or exempt more values"
    )
