"""Signatures by similarity: a tree, cut where the odds of their values are furthest apart."""

from __future__ import annotations

import numpy as np

__all__ = ["nested"]


def nested(log_prior: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Halve the signatures again and again where their odds are furthest apart: an order and its parts, smallest first.

    Parameters
    ----------
    log_prior : ndarray, shape (signatures, values)

    Returns
    -------
    order : ndarray of int
        The signatures, similar ones next to each other.
    parts : list of (int, int)
        Ranges of the order: each comes after both halves of it.
    """
    order = np.arange(len(log_prior))
    odds = log_prior - log_prior.mean(axis=1, keepdims=True)
    found, left = [], [(0, len(order))]
    while left:
        low, high = left.pop()
        found.append((low, high))
        if high - low == 1:
            continue
        own = order[low:high]
        column = odds[own, np.argmax(np.ptp(odds[own], axis=0))]
        below = column <= (column.min() + column.max()) / 2
        if below.all():  # signatures with the same odds
            below = np.arange(len(own)) < len(own) // 2
        order[low:high] = np.concatenate([own[below], own[~below]])
        middle = low + int(below.sum())
        left += [(low, middle), (middle, high)]
    return order, found[::-1]
