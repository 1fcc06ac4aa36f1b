"""Assignments drawn from those that are counted with some of the cuts, of which the other cuts keep some."""

from __future__ import annotations

import numpy as np

from ....errors import GroupTooLarge, Inaccurate, amount
from .counting import Counted
from .part import Part

__all__ = ["sampled"]

#: Assignments that must be kept, so that standard errors are reliable.
FEWEST = 100


def sampled(part: Part, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Estimate P(value | record) where counting with all cuts is too much work.

    Parameters
    ----------
    part : Part
    n : int
        Assignments that are drawn, independently.
    rng : Generator

    Returns
    -------
    p, standard_error : ndarray, shape (records, values)
        A standard error is at least 1 / (kept assignments) where something between 0 and 1 is estimated.
    log_share : float
        An estimate, too.

    Raises
    ------
    Inaccurate
        If too few are kept.
    GroupTooLarge
        If counting with one cut is too much work.
    """
    cuts: list[tuple[int, ...]] = []
    counted = None
    for cut in part.cuts:  # in the order of the recursion
        try:
            counted = Counted.of(part.of_cuts([*cuts, cut]))
        except GroupTooLarge:
            continue
        cuts.append(cut)
    if counted is None:
        raise GroupTooLarge(f"a group of {len(part.group)} records is too large to count with one of its refused cuts")
    value = counted.draw(n, rng)
    value = value[part.holds(value)]
    if len(value) < FEWEST:
        raise Inaccurate(
            f"of {n} sampled assignments {amount(len(value), 'is', 'are')} such that all {len(part.cuts)} cuts of "
            f"{amount(len(part.count), 'group')} were refused; {FEWEST} are needed: sample more (n=...)"
        )
    p = np.stack([(value == one).mean(axis=0) for one in range(part.count.shape[1])], axis=1)
    error = np.sqrt(p * (1 - p) / len(value))
    held = part.count[part.group]
    uncertain = (held > 0) & (held < held.sum(axis=1, keepdims=True))
    least = np.where(uncertain, 1 / len(value), 0.0)
    return p, np.maximum(error, least), counted.log_share + float(np.log(len(value) / n))
