"""Maximum entropy of blocks of records whose sums are known up to one number."""

from __future__ import annotations

import numpy as np

from ...errors import Inaccurate, Infeasible

__all__ = ["most_entropic"]

#: Numbers in a table of blocks and values that is looked at together.
TABLE = 2**20
#: Steps of Newton's method, or bisections in its place; means of values from 0 to 1, and nats, that are the same.
STEPS, SAME, GAP = 200, 1e-14, 1e-12
#: How far an answer may be missed, of the range of the values and the size of the block.
ACCURACY = 1e-9


def most_entropic(
    values: np.ndarray, allowed: np.ndarray, offset: np.ndarray, sign: np.ndarray, half: int
) -> np.ndarray:
    """Max over t of sum_b l H_b(m_b), H_b the largest entropy over allowed values with mean m_b = (c_b + (-1)^b t) / l.

    The largest entropy with a mean has p(d) ~ exp(lambda d), and H_b'(m) = -lambda; so the objective is concave in t,
    its derivative is -sum_b (-1)^b lambda_b, and Newton's method finds where that is 0, inside a bracket.

    Parameters
    ----------
    values : ndarray, shape (values,)
        The domain, increasing.
    allowed : ndarray of bool, shape (blocks, values)
        Which values a record of each block can have.
    offset, sign : ndarray, shape (blocks,)
        The sum of block b is offset + sign t.
    half : int
        l, records in a block.

    Returns
    -------
    ndarray, shape (blocks, values)
        Probabilities.

    Raises
    ------
    Infeasible
        If no allowed values have these sums.
    Inaccurate
        If the sums are missed, or the optimum; both are looked at again in the end.

    Notes
    -----
    The optimum of the model :attr:`maxent_cvx.sdc.RangeSums.model`, whose rows make a chain, in one dimension.
    """
    start, span = values[0], (values[-1] - values[0]) or 1.0
    z = (values - start) / span
    center, rate = (offset / half - start) / span, sign / (half * span)
    lowest = np.where(allowed, z, np.inf).min(axis=1)
    highest = np.where(allowed, z, -np.inf).max(axis=1)
    ends = np.sort((np.array([lowest, highest]) - center) / rate, axis=0)
    low, high = ends[0].max(), ends[1].min()
    if low > high + ACCURACY * half * span:
        raise Infeasible("no records within the bounds have these sums; pass the sums that were published")
    tilt, t, slope = np.zeros(len(offset)), (low + high) / 2, 0.0
    for _ in range(STEPS):
        mean = np.clip(center + rate * t, lowest, highest)
        tilt, p, variance = _tilted(z, allowed, mean, lowest, highest, tilt)
        free = variance > 0
        slope = -float((half * rate * tilt)[free].sum())
        low, high = (t, high) if slope > 0 else (low, t)
        if abs(slope) * (high - low) <= GAP * half * len(offset) or high - low <= SAME * half * span:
            break
        with np.errstate(divide="ignore"):
            t = t + slope / float((half * rate[free] ** 2 / variance[free]).sum())
        if not low < t < high:
            t = (low + high) / 2
    off = np.abs(p @ z - (center + rate * t)).max()
    if off > ACCURACY or (abs(slope) * (high - low) > ACCURACY * half * len(offset) and high - low > ACCURACY * span):
        raise Inaccurate(
            f"maximum entropy of the sums misses them by {off * half * span:.3g}; take distribution='uniform'"
        )
    return p


def _tilted(
    z: np.ndarray, allowed: np.ndarray, mean: np.ndarray, lowest: np.ndarray, highest: np.ndarray, tilt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lambda, the probabilities ~ exp(lambda z) of allowed values, and the variance, for each block's mean.

    At an end of what is allowed all have that value; the variance is 0 then.
    """
    p, variance = np.zeros(allowed.shape), np.zeros(len(mean))
    tilt = tilt.copy()
    at_end = (mean - lowest <= SAME) | (highest - mean <= SAME)
    nearest = np.where(highest - mean <= SAME, highest, lowest)
    p[at_end] = (allowed & (z == nearest[:, None]))[at_end]
    inside = np.flatnonzero(~at_end)
    at_once = max(TABLE // len(z), 1)
    for first in range(0, len(inside), at_once):
        some = inside[first : first + at_once]
        tilt[some], p[some], variance[some] = _newton(z, allowed[some], mean[some], tilt[some])
    return tilt, p, variance


def _newton(
    z: np.ndarray, allowed: np.ndarray, mean: np.ndarray, tilt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Newton's method on the mean, which rises with lambda, inside brackets that grow."""
    below, above = np.full(len(mean), -np.inf), np.full(len(mean), np.inf)
    exponent = np.where(allowed, 0.0, -np.inf)
    for _ in range(STEPS):
        weight = tilt[:, None] * z + exponent
        weight = np.exp(weight - weight.max(axis=1, keepdims=True))
        p = weight / weight.sum(axis=1, keepdims=True)
        off = p @ z - mean
        variance = (p * (z - (p @ z)[:, None]) ** 2).sum(axis=1)
        if (np.abs(off) <= SAME).all():
            break
        below, above = np.where(off < 0, tilt, below), np.where(off > 0, tilt, above)
        reach = 2 + 2 * np.abs(tilt)
        moved = tilt - np.clip(off / np.maximum(variance, 1e-300), -reach, reach)
        with np.errstate(invalid="ignore"):
            outside = (moved <= below) | (moved >= above)
            middle = (below + above) / 2
        tilt = np.where(outside & np.isfinite(middle), middle, moved)
    return tilt, p, variance
