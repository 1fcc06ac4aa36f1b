"""Intervals: what a probability can be at all, over every distribution that is consistent with what is known."""

from __future__ import annotations

import numpy as np

from .solvers.extremes import extremes
from .solvers.linear_form import LinearForm
from .solvers.presolve import Reduced, remaining
from .sources import Probability
from .space import Space

__all__ = ["interval"]


def interval(asked: Probability, space: Space, form: LinearForm, smaller: Reduced) -> tuple[float, float]:
    """The least and the largest value of a combination of probabilities.

    Parameters
    ----------
    asked : Probability
    space : Space
    form : LinearForm
        All rows.
    smaller : Reduced
        What presolve has settled.

    Notes
    -----
    In a bucket that no knowledge speaks of, n(Q, S) people of n(Q) and n(S) among n(b) are between
    max(0, n(Q) + n(S) - n(b)) and min(n(Q), n(S)) (Frechet); the rest is a linear program over those
    independent parts of the model that the probability is about.
    """
    rows = {event: event.row(space) for event in asked.terms}
    weight = np.zeros(len(space))
    for event, coefficient in asked.terms.items():
        weight[rows[event].indices] += coefficient * rows[event].data / space.n_records
    low = high = asked.constant + float(weight[smaller.fixed] @ smaller.counts[smaller.fixed])
    free = ~smaller.fixed & _together(form, ~smaller.fixed, np.flatnonzero(weight))
    if len(rows) == 1:
        alone = free & _untouched(space, form, smaller)
        at = np.flatnonzero(alone & (weight != 0))
        if len(at):
            least, most = _frechet(space, at)
            low, high = low + weight[at[0]] * least, high + weight[at[0]] * most
            low, high = min(low, high), max(low, high)
        free &= ~alone
    settled = np.where(smaller.fixed, smaller.counts, 0.0)
    spoken = form.speak_of(free)
    if free.any():
        least, most = extremes(remaining(form, free, spoken, form.sums(settled)), weight[free])
        low, high = low + least, high + most
    # Every probability is one, which is a bound, too: rounding shall not lead out of it.
    possible = asked.attainable()
    return float(np.clip(low, *possible)), float(np.clip(high, *possible))


def _together(form: LinearForm, free: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Mark the terms of the independent parts that have some wanted term."""
    part = form.parts(free)[1]
    return np.isin(part, np.unique(part[wanted]))


def _untouched(space: Space, form: LinearForm, smaller: Reduced) -> np.ndarray:
    """Mark the terms of buckets that no knowledge speaks of and in which nothing is settled."""
    bucket = space.codes["bucket"]
    return (np.bincount(bucket, form.known.touched | smaller.fixed) == 0)[bucket]


def _frechet(space: Space, at: np.ndarray) -> tuple[float, float]:
    """How many people can be in a rectangle of QI tuples and values of every bucket, added up over the buckets."""
    view, bucket = space.view, space.codes["bucket"][at]
    n = []
    for axis, table in (("q", view.n_qb), ("s", view.n_sb)):
        pairs = np.unique(np.column_stack([space.codes[axis][at], bucket]), axis=0)
        people = np.asarray(table[pairs[:, 0], pairs[:, 1]]).ravel()
        n.append(np.bincount(pairs[:, 1], people, len(view.buckets)))
    n_b = np.asarray(view.n_qb.sum(axis=0))
    return float(np.maximum(n[0] + n[1] - n_b, 0)[np.unique(bucket)].sum()), float(np.minimum(*n).sum())
