"""How probable each noisy record is, if its true values are drawn from a population."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ..tables import group_codes
from .channel import Channel

__all__ = ["likelihood"]

#: Pairs of a true and a published tuple that are looked at together.
AT_ONCE = 2**22


def likelihood(
    true: Sequence[np.ndarray], share: np.ndarray, published: Sequence[np.ndarray], channels: Sequence[Channel]
) -> np.ndarray:
    """sum_x pi(x) prod_a T_a(x_a, y_a), for every published record y.

    Parameters
    ----------
    true : list of ndarray, one an attribute, of shape (rows,)
        Places in the domain.
    share : ndarray, shape (rows,)
        pi, of each row; equal rows add up.
    published : list of ndarray, one an attribute, of shape (records,)
    channels : list of Channel, one an attribute

    Notes
    -----
    Noise reaches some places only. Pairs are those that the attribute of the shortest reach leaves, so the time is
    their number, of distinct true and published tuples, times the attributes.
    """
    of_tuple, x = _distinct(true, channels)
    of_record, y = _distinct(published, channels)
    pi = np.bincount(of_tuple, share)
    reach = np.array([(channel.limit + 1) / channel.places for channel in channels])
    first = int(reach.argmin())
    there = sp.csr_array(
        (np.ones(len(y[first])), (y[first], np.arange(len(y[first])))), shape=(channels[first].places, len(y[first]))
    )
    reached = sp.csr_array(channels[first].matrix @ there)  # from a true place to published tuples
    found = np.zeros(len(y[first]))
    at_once = max(int(AT_ONCE / (max(min(reach[first], 1), 1 / channels[first].places) * len(found))), 1)
    for start in range(0, len(pi), at_once):
        some = slice(start, start + at_once)
        pairs = sp.coo_array(reached[x[first][some]])
        at, to, p = pairs.row + start, pairs.col, pairs.data * pi[pairs.row + start]
        for a in np.argsort(reach)[1:]:
            p = p * channels[a].probability(x[a][at], y[a][to])
            kept = p > 0
            at, to, p = at[kept], to[kept], p[kept]
        found += np.bincount(to, p, len(found))
    return found[of_record]


def _distinct(places: Sequence[np.ndarray], channels: Sequence[Channel]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Number the distinct tuples; their places."""
    key = group_codes(places, [channel.places for channel in channels])
    first = np.unique(key, return_index=True)[1]
    return key, [place[first] for place in places]
