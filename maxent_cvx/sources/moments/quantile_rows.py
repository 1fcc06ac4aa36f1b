"""Rows of a quantile, in counts of people."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError
from ...terms.rows import Rows
from ...terms.space import Space
from .order_statistics import Count, Quantile
from .subjects import Subjects

__all__ = ["alternatives", "check_attainable", "quantile_rows"]

#: What may be amiss with a quantile that nobody can have.
REMEDY = "was it rounded, decimals=..., or computed in another way, method=...?"


def quantile_rows(counts: Iterable[Count], people: Subjects, space: Space, label: str) -> Rows:
    """Write counts as rows; those that no number of people could violate are left out.

    Parameters
    ----------
    counts : iterable of Count
    people : Subjects
        Of whom.
    space : Space
    label : str
        What the rows are called by.
    """
    told = list(dict.fromkeys(counts))
    weights = np.array([count.weights(people.x) for count in told])
    row, at = np.nonzero(weights)
    data = weights[row, at] * float(space.n_records)
    matrix = sp.csr_array((data, (row, people.terms[at])), shape=(len(told), len(space)))
    low, high = (np.array([float(getattr(count, side)) for count in told]) for side in ("low", "high"))
    index = pd.Index([f"number {'<=' if count.included else '<'} {count.value:.12g}" for count in told])
    # 0 <= #(x < least) <= i - 1 and the like hold anyway.
    least, most = weights.min(axis=1), weights.max(axis=1)
    anyway = (least == 0) & (most == 0) & (low <= 0) & (high >= 0)
    if people.n is not None:
        same = least == most
        anyway |= same & (least * people.n >= low) & (least * people.n <= high)
    if anyway.all():
        raise StatementError(f"{label}: everybody's number is such anyway, so nothing is said")
    is_count = all(count.share == 0 for count in told)
    return Rows(matrix, low, high, label, index, space.view, exact=is_count).at(np.flatnonzero(~anyway))


def check_attainable(quantile: Quantile, people: Subjects, label: str, remedy: str = REMEDY) -> None:
    """Check that somebody, or two neighbours, can have the value; the remedy says what to do if not.

    Raises
    ------
    StatementError
        If nobody can.
    """
    x = people.x
    if people.n is None:
        fits = quantile.fits(x).any() or (x.min() < quantile.low and x.max() > quantile.high)
    else:
        first, last = quantile.places(people.n)
        fits = len(quantile.pairs(people)) > 0 if first < last else quantile.fits(x).any()
    if not fits:
        raise StatementError(
            f"{label}: nobody as described can have it, by values from {x.min():.12g} to {x.max():.12g}; {remedy}"
        )


def alternatives(quantile: Quantile, people: Subjects, space: Space, label: str) -> list[Rows]:
    """What can be meant, one of which is true: the pairs of neighbours that have the value between them.

    Of a quantile that is one of the numbers, or of an unknown number of people, it is what is said anyway.
    """
    if people.n is None or len(set(quantile.places(people.n))) == 1:
        return [quantile_rows(quantile.counts(people), people, space, label)]
    pairs = quantile.pairs(people)
    return [
        quantile_rows(quantile.of_pair(a, b, people.n), people, space, f"{label}, of {a:.12g} and {b:.12g}")
        for a, b in pairs.tolist()
    ]
