"""Maximum entropy over who is in both of two releases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ...model.maxent import MaxEnt
from ...priors import QIDistribution
from .matched_records import MatchedRecords, PublishedSlots
from .overlap import Overlap
from .slots import Slots

__all__ = ["Joint", "joint"]


class Joint(NamedTuple):
    """P(s | q, in both) with the bound on its error, and between which shares it lies for certain; (QI tuples, values).

    Attributes
    ----------
    p : ndarray
    error : float
    low, high : ndarray
    """

    p: np.ndarray
    error: float
    low: np.ndarray
    high: np.ndarray


def joint(slots: tuple[Slots, Slots], overlap: Overlap, values: pd.Index, pi: np.ndarray) -> Joint:
    """Solve the model of both releases, with the prior 1 / pi(s) of those in both; pi may have a row a QI tuple.

    Raises
    ------
    Infeasible
        If so many people, or those, cannot be in both.
    """
    view = MatchedRecords(slots, overlap, values)
    weight = np.full((len(view.n_q), len(values)), 1 / len(values))
    each = np.broadcast_to(1 / np.where(pi > 0, pi, 1.0), (len(view.both), len(values)))
    weight[view.both] = each / each.sum(axis=1, keepdims=True)
    prior = QIDistribution(pd.DataFrame(weight, pd.RangeIndex(len(weight), name="kind"), view.sensitive_values))
    post = MaxEnt(view, prior=prior).add(PublishedSlots(view)).solve()
    here = view.tuple_of >= 0
    x = np.zeros((len(overlap.tuples), len(values)))
    np.add.at(x, (view.tuple_of[here], view.terms()["s"][here]), post.counts[here])
    n = x.sum(axis=1, keepdims=True)
    p = x / np.where(n > 0, n, 1.0)
    low, high = _shares(slots, overlap)
    return Joint(p, _error(post.certificate.bound, overlap, n), low, high)


def _error(bound: float, overlap: Overlap, n: np.ndarray) -> float:
    """The certificate is of shares of all in both: where x and n are off by d, x / n is by at most 2 d / (n - d)."""
    if overlap.people is not None:
        return float(bound)
    off = bound * overlap.number
    least = float(n[n > 0].min())
    return min(2 * off / (least - off), 1.0) if least > off else 1.0


def _shares(slots: tuple[Slots, Slots], overlap: Overlap) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on shares of those in both, from the buckets of each QI tuple alone."""
    can = np.all([one.shares() > 0 for one in slots], axis=0)
    if overlap.people is None:
        return 1.0 * (can & (can.sum(axis=1, keepdims=True) == 1)), 1.0 * can
    most = np.min([_most(one) for one in slots], axis=0)
    high = np.where(can, np.minimum(most / overlap.people[:, None], 1.0), 0.0)
    return np.maximum(1.0 - (high.sum(axis=1, keepdims=True) - high), 0.0) * can, high


def _most(slots: Slots) -> np.ndarray:
    """How many people of a QI tuple can have a value: in each kind of records no more than its bucket holds of it."""
    found = np.zeros((slots.may_be.shape[0], slots.n_sb.shape[0]))
    q, u = slots.may_be.nonzero()
    by_bucket = slots.n_sb.T.tocsr()
    held = by_bucket[slots.bucket[u]].tocoo()
    np.add.at(found, (q[held.row], held.col), np.minimum(held.data, slots.n[u[held.row]]))
    return found
