"""Bounds of expressions: the least and largest value of each over every distribution that satisfies the rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...solvers.intervals import Ends, bounds
from ...system.progress import progress_bar
from ..adversary import Adversary
from .alternatives import has_alternatives, over_alternatives
from .asked import Asked

__all__ = ["bounds_of"]


def bounds_of(
    asked: Asked, model: Adversary, integer: bool, seconds: float, progress: bool | None, exact: bool | None = True
) -> Ends:
    """Find the least and the largest value of linear expressions.

    Parameters
    ----------
    asked : Asked
    model : Adversary
        Of linear knowledge only.
    integer : bool
        Over integer counts only: every record has exactly one value.
    seconds : float
        For all linear programs together, presolve included; or for each integer program.
    progress : bool or None
        Whether to show a progress bar.
    exact : bool or None
        Whether all ends are to be attained; by default those of small independent parts.

    Returns
    -------
    Ends
        Of shape (2, expressions).

    Raises
    ------
    Infeasible
        If the rows are infeasible, with an irreducible infeasible subsystem (IIS).
    """
    if integer and has_alternatives(model):
        value = over_alternatives(model, lambda one: bounds_of(asked, one, integer, seconds, progress).value)
        return Ends(value, np.ones(value.shape, dtype=bool))
    with progress_bar(None, "bounds", progress, total=2 * asked.matrix.shape[0]) as bar:
        found = bounds(
            model.posed,
            asked.matrix,
            is_rectangle=asked.is_rectangle,
            of_rectangles=partial(model.invariants.closed_bounds_of_each, model.space),
            integer=integer,
            exact=exact,
            seconds=seconds,
            answered=bar.update,
        )
    # A probability is between 0 and 1: roundoff must not lead outside of what is attainable at all.
    return Ends(np.clip(asked.constant + found.value, *asked.attainable), found.is_exact)
