"""Upper bounds of P(t : x), by comparing worlds that differ in the swap of two values."""

from __future__ import annotations

import numpy as np

__all__ = ["odds_ratios", "upper_bounds"]


def odds_ratios(f: np.ndarray) -> np.ndarray:
    """kappa_x, the largest f_t(x) f_j(y) / (f_t(y) f_j(x)), of groups with equally many signatures and values.

    Parameters
    ----------
    f : ndarray, shape (groups, signatures, values)

    Returns
    -------
    ndarray, shape (groups, values)
        At least 1; infinite where t can have x and not y, or j y and not x.
    """
    found, log_f = np.zeros((len(f), f.shape[2])), _log(f)
    for y in range(f.shape[2]):
        with np.errstate(invalid="ignore"):
            ratio = log_f - log_f[:, :, [y]]  # log f_t(x) / f_t(y); NaN if t can have neither: it is in no such swap
            found = np.fmax(found, np.fmax.reduce(ratio, axis=1) - np.fmin.reduce(ratio, axis=1))
    with np.errstate(over="ignore"):
        return np.exp(found)


def upper_bounds(f: np.ndarray, n: np.ndarray, m: np.ndarray) -> np.ndarray:
    """P(t : x) <= m / (m + S), by swaps, of groups with equally many signatures and values.

    Parameters
    ----------
    f : ndarray, shape (groups, signatures, values)
        Prior probabilities.
    n, m : ndarray of int, shape (groups, signatures) and (groups, values)
        Tuples of each signature, and how often each value occurs.

    Returns
    -------
    ndarray, shape (groups, signatures, values)
        Probabilities.
    """
    bounds = np.empty(f.shape)
    for t in range(f.shape[1]):
        among = n.copy()
        among[:, t] -= 1  # the other tuples
        swap = _swaps(f, f[:, [t]], among)
        least = np.maximum(_least_sum(swap, among, m, 3, 1), _least_sum(swap, among, m, 1, 3))
        bounds[:, t] = m / (m + least)
    return np.where(f > 0, bounds, 0.0)


def _swaps(f: np.ndarray, own: np.ndarray, among: np.ndarray) -> np.ndarray:
    """h_j(y) of every x, shape (groups, signatures j, values x, values y); infinite for y = x and where f_j(y) = 0.

    Parameters
    ----------
    f : ndarray, shape (groups, signatures, values)
    own : ndarray, shape (groups, 1, values)
        That of t.
    among : ndarray of int, shape (groups, signatures)
        The other tuples.
    """
    log_f, log_own = _log(f), _log(own)
    has = (f > 0) & (among[:, :, None] > 0)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN of an x that t cannot have, which is not looked at
        take = np.where(f > 0, log_f - log_own, -np.inf)  # log f_j(x) / f_t(x)
        give = np.where(has, log_own - log_f, -np.inf)  # log f_t(y) / f_j(y)
        swap = np.exp(take[:, :, :, None] + give[:, :, None, :])
    swap = np.where(has[:, :, None, :], swap, np.inf)
    x = np.arange(f.shape[2])
    swap[:, :, x, x] = np.inf
    return swap


def _least_sum(swap: np.ndarray, among: np.ndarray, m: np.ndarray, first: int, then: int) -> np.ndarray:
    """S: a share of every swap for its tuple (axis 3 first), or for its place (axis 1), of what is left for the other.

    Returns
    -------
    ndarray, shape (groups, values x)
    """
    total = np.zeros(m.shape)
    rest = swap
    for axis in (first, then):
        least = rest.min(axis=axis)
        with np.errstate(invalid="ignore"):
            rest = np.where(np.isinf(rest), np.inf, rest - np.expand_dims(least, axis))
        if axis == 3:
            total += _without_largest(least, among[:, :, None], m[:, None, :] - 1)
        else:
            x = np.arange(m.shape[1])
            least[:, x, x] = 0.0
            total += (least * m[:, None, :]).sum(axis=2)
    return total


def _without_largest(least: np.ndarray, among: np.ndarray, spared: np.ndarray) -> np.ndarray:
    """Add up over the tuples, but for so many with the largest.

    Parameters
    ----------
    least : ndarray, shape (groups, signatures, values)
    among : ndarray of int, shape (groups, signatures, 1)
    spared : ndarray of int, shape (groups, 1, values)
    """
    order = np.argsort(-least, axis=1, kind="stable")
    many = np.take_along_axis(np.broadcast_to(among, least.shape), order, axis=1)
    kept = many - np.clip(spared - (np.cumsum(many, axis=1) - many), 0, many)
    sorted_ = np.take_along_axis(least, order, axis=1)
    return np.asarray(np.where(kept > 0, sorted_ * np.maximum(kept, 1), 0.0).sum(axis=1))


def _log(f: np.ndarray) -> np.ndarray:
    """The logarithm; -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(f))
