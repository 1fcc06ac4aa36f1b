"""Intervals: what a probability can be at all, over every distribution that is consistent with what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..solvers.linear.bounds import linear_bounds
from ..solvers.presolve.reduce import remaining
from ..solvers.presolve.reduced import Reduced
from ..solvers.program.linear_form import LinearForm
from ..sources import Probability
from ..terms.space import Space

__all__ = ["intervals"]


def intervals(
    asked: Iterable[Probability],
    space: Space,
    form: LinearForm,
    smaller: Reduced,
    closed: np.ndarray,
    closed_bounds: Callable[[Space, np.ndarray], tuple[float, float]],
    program: Callable[[LinearForm, np.ndarray], tuple[float, float]] = linear_bounds,
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
    closed : ndarray of bool
        The terms of buckets whose bounds have a closed form where no knowledge speaks of them.
    closed_bounds : callable
        How many people any of some terms can hold together, as far as the published rows alone say.
    program : callable
        The least and the largest value of a linear expression over everything that rows allow.

    Notes
    -----
    What no knowledge speaks of has a closed form; the rest is a linear program over those independent parts of
    the model that the probability is about.
    """
    settled, bucket = np.where(smaller.fixed, smaller.counts, 0.0), form.bucket[1]
    part = form.components(~smaller.fixed)[1]
    untouched = (np.bincount(bucket, form.known.touched | smaller.fixed | ~closed) == 0)[bucket]
    for combination in asked:
        rows = [(coefficient, event.row(space)) for event, coefficient in combination.terms.items()]
        weight = np.zeros(len(space))
        for coefficient, row in rows:
            weight[row.indices] += coefficient * row.data / space.n_records
        low = high = combination.constant + float(weight @ settled)
        free = ~smaller.fixed & np.isin(part, part[weight != 0])
        if len(rows) == 1:  # one coefficient, and in every bucket a rectangle of QI tuples and values
            at = np.flatnonzero(free & untouched & (weight != 0))
            ends = weight[at[:1]].sum() * np.array(closed_bounds(space, at) if len(at) else (0.0, 0.0))
            low, high = low + ends.min(), high + ends.max()
            free &= ~untouched
        if free.any():
            least, most = program(remaining(form, free, form.rows_involving(free), form.matvec(settled)), weight[free])
            low, high = low + least, high + most
        # What is possible at all is a bound, too: rounding shall not lead out of it.
        low, high = np.clip((low, high), *combination.attainable())
        yield float(low), float(high)
