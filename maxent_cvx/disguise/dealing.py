"""Records dealt into buckets of l different values (Anatomy), and whether there can be such buckets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import TableError, amount, listing
from .drawing import draw, join, shuffled

__all__ = ["check_eligible", "dealt", "exempt_values"]


def exempt_values(frequency: np.ndarray, exempt: int) -> np.ndarray:
    """Mark the most frequent values, which may repeat in a bucket; of equally frequent ones the first."""
    is_exempt = np.zeros(len(frequency), dtype=bool)
    is_exempt[np.argsort(-frequency, kind="stable")[:exempt]] = True
    return is_exempt


def dealt(value: np.ndarray, is_exempt: np.ndarray, l: int, rng: np.random.Generator) -> np.ndarray:
    """Give every record a bucket, from 0 to below floor(n / l), by the number of its value.

    Parameters
    ----------
    value : ndarray of int
        One a record.
    is_exempt : ndarray of bool
        Whether the value of each record may repeat.
    l : int
    rng : Generator
    """
    n = len(value)
    n_buckets = n // l
    # An exempt value counts as more than one value, none too frequent: so often may it occur in a bucket.
    order, rank = shuffled(value, rng)
    part = np.where(is_exempt[order], rank // n_buckets, 0)
    pile = np.unique(value[order] * (n + 1) + part, return_inverse=True)[1]
    found = draw(pile, l, rng)
    left = found < 0  # fewer than l
    found[left] = join(pile[left], found[~left], pile[~left], rng)
    bucket = np.empty(n, dtype=np.int64)
    bucket[order] = found
    return bucket


def check_eligible(frequency: pd.Series, is_exempt: np.ndarray, n_buckets: int, l: int, part: str = "") -> None:
    """Check that every value that counts fits into as many buckets as it has records.

    Parameters
    ----------
    frequency : Series
        Records of every value.
    is_exempt : ndarray of bool
    n_buckets, l : int
    part : str
        The partition that is looked at, if it is not the whole table.
    """
    too_many = frequency[~is_exempt & (frequency.to_numpy() > n_buckets)].sort_values(ascending=False)
    if len(too_many):
        enough = f"exempt the most frequent values (exempt={int(is_exempt.sum()) + len(too_many)})"
        remedy = "spread people evenly over the partitions, exempt more values" if part else enough
        raise TableError(
            f"{part}{': ' * bool(part)}"
            f"{amount(len(too_many), 'value occurs', 'values occur')} more often than once a bucket "
            f"({amount(n_buckets, 'bucket')} of l={l}), "
            f"{listing(too_many.index[:1])} {int(too_many.iloc[0])} times; {remedy}, or choose a smaller l"
        )
