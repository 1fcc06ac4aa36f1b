"""The least entropy of values that are covered by windows, by dynamic programming."""

from __future__ import annotations

import numpy as np

__all__ = ["cost", "cover", "information", "least_entropy"]

#: Widths that are treated together, runs that are evaluated at once for all of them, and numbers in a table of least
#: entropies: what fits into the caches. Fewer widths together than FEWEST are slower than one after the other.
TOGETHER, FEWEST, AT_ONCE, TABLE = 64, 16, 2**17, 2**22
#: In place of 0 in a logarithm; the product with 0 is 0.
TINY = 1e-300


def least_entropy(units: np.ndarray, p: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """H(eps) = min over partitions of the values into runs no wider than eps of -sum q log2 q, q a run's probability.

    With C the cumulated probabilities and f(q) = -q log2 q, the first i values have

        H(eps, i) = min over j with x_i - x_j <= eps of H(eps, j - 1) + f(C_i - C_(j-1)).

    Runs of consecutive values suffice: if two sets of that width interleave, moving the values between them into the
    more probable one lowers the entropy.

    Parameters
    ----------
    units : ndarray of int64, shape (values,)
        Increasing.
    p : ndarray, shape (distributions, values)
        Probabilities; zeros are allowed.
    widths : ndarray of int64, shape (widths,)
        eps, increasing.

    Returns
    -------
    ndarray, shape (distributions, widths)
        Bits.

    Notes
    -----
    CAE, section 4. O(n w) additions and logarithms for n values of which a window holds w, for every width and
    distribution; O(n) memory.
    """
    found = np.empty((len(p), len(widths)))
    most = int((np.arange(len(units)) - np.searchsorted(units, units - widths[-1:].max(initial=0))).max()) + 1
    together = min(AT_ONCE // most, TOGETHER) if most * FEWEST <= AT_ONCE else 1
    for first in range(0, len(widths), together):
        some = slice(first, min(first + together, len(widths)))
        at_once = max(min(TABLE // len(units), AT_ONCE // most) // (some.stop - first), 1)
        for start in range(0, len(p), at_once):
            those = slice(start, start + at_once)
            found[those, some] = _together(units, p[those], widths[some])
    return found


def _together(units: np.ndarray, p: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The least entropies of some distributions for some widths."""
    n = len(units)
    begins = np.searchsorted(units, units - widths[:, None])  # the first value in a window that ends at value i
    widest, narrowest = begins[-1].tolist(), begins[0].tolist()
    cumulated = np.concatenate([np.zeros((1, len(p))), p.T.cumsum(axis=0)])
    least = np.zeros((n + 1, len(p), len(widths)))  # of the first i values
    places = np.arange(n)[:, None]
    for i in range(n):
        wide, narrow = widest[i], narrowest[i]
        last = information(cumulated[i + 1] - cumulated[wide : i + 1])[:, :, None]
        best = (least[narrow : i + 1] + last[narrow - wide :]).min(axis=0)
        if wide < narrow:  # values that only the wider windows reach
            outside = (places[wide:narrow] < begins[:, i])[:, None, :]
            reached = least[wide:narrow] + last[: narrow - wide]
            np.copyto(reached, np.inf, where=outside)
            np.minimum(best, reached.min(axis=0), out=best)
        least[i + 1] = best
    return least[n]


def information(q: np.ndarray) -> np.ndarray:
    """-q log2 q, bits; 0 of 0."""
    return -q * np.log2(np.maximum(q, TINY))


def cover(units: np.ndarray, p: np.ndarray, width: int) -> np.ndarray:
    """The first value of every run of a partition with the least entropy, in increasing order.

    Among optimal partitions the last run is the longest possible, then the one before it, and so on.
    """
    begins = np.searchsorted(units, units - width)
    cumulated = np.concatenate([[0.0], p.cumsum()])
    least = np.zeros(len(units) + 1)
    chosen = np.empty(len(units), dtype=np.int64)
    for i, begin in enumerate(begins.tolist()):
        entropy = least[begin : i + 1] + information(cumulated[i + 1] - cumulated[begin : i + 1])
        best = int(entropy.argmin())
        chosen[i], least[i + 1] = begin + best, entropy[best]
    starts = [int(chosen[-1])]
    while starts[-1]:
        starts.append(int(chosen[starts[-1] - 1]))
    return np.array(starts[::-1])


def cost(units: np.ndarray, width: int) -> int:
    """How many runs are evaluated for one width; time is proportional to it."""
    return int((np.arange(1, len(units) + 1) - np.searchsorted(units, units - width)).sum())
