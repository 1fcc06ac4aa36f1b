"""Intervals: what a probability can be at all, over every distribution that is consistent with what is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .solvers.extremes import extremes
from .solvers.linear_form import LinearForm
from .solvers.presolve import Reduced, remaining
from .sources import Probability
from .space import Space

__all__ = ["intervals"]


def intervals(
    asked: Iterable[Probability], space: Space, form: LinearForm, smaller: Reduced
) -> Iterator[tuple[float, float]]:
    """Find the least and the largest value of each of some linear combinations of probabilities.

    Parameters
    ----------
    asked : iterable of Probability
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
    settled, bucket = np.where(smaller.fixed, smaller.counts, 0.0), space.codes["bucket"]
    part = form.parts(~smaller.fixed)[1]
    untouched = (np.bincount(bucket, form.known.touched | smaller.fixed) == 0)[bucket]
    for combination in asked:
        rows = [(coefficient, event.row(space)) for event, coefficient in combination.terms.items()]
        weight = np.zeros(len(space))
        for coefficient, row in rows:
            weight[row.indices] += coefficient * row.data / space.n_records
        low = high = combination.constant + float(weight @ settled)
        free = ~smaller.fixed & np.isin(part, part[weight != 0])
        if len(rows) == 1:  # one coefficient, and in every bucket a rectangle of QI tuples and values
            at = np.flatnonzero(free & untouched & (weight != 0))
            ends = weight[at[:1]].sum() * _frechet(space, at)
            low, high = low + ends.min(), high + ends.max()
            free &= ~untouched
        if free.any():
            least, most = extremes(remaining(form, free, form.speak_of(free), form.sums(settled)), weight[free])
            low, high = low + least, high + most
        # What is possible at all is a bound, too: rounding shall not lead out of it.
        low, high = np.clip((low, high), *combination.attainable())
        yield float(low), float(high)


def _frechet(space: Space, at: np.ndarray) -> np.ndarray:
    """Least and most people that rectangles of QI tuples and values, one a bucket, can hold, added up."""
    view, bucket = space.view, space.codes["bucket"][at]
    n = []
    for axis, table in (("q", view.n_qb), ("s", view.n_sb)):
        pairs = np.unique(np.column_stack([space.codes[axis][at], bucket]), axis=0)
        people = np.asarray(table[pairs[:, 0], pairs[:, 1]]).ravel()
        n.append(np.bincount(pairs[:, 1], people, len(view.buckets)))
    n_b = np.asarray(view.n_qb.sum(axis=0))
    held = np.unique(bucket)
    return np.array([np.maximum(n[0] + n[1] - n_b, 0)[held].sum(), np.minimum(*n).sum()])
