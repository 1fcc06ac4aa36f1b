"""What presolve may settle in a question about whole assignments: whole numbers of people only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..presolve.reduce import Reduced

__all__ = ["settled_whole"]

#: A bound on a term, in people, is a whole number if it is no further from one: bounds are moved by no less than 1e-7.
ROUNDING = 1e-6


def settled_whole(reduced: Reduced) -> Reduced:
    """Take for settled only those terms on which presolve finds a whole number of people, rounding taken off.

    A fraction of a person is where no whole assignment exists. Were such a term left settled, nobody would ask
    whether there is one; left open, its rows are part of the integer program, which has no solution then.
    """
    nearest = np.rint(reduced.counts)
    fixed = reduced.fixed & (np.abs(reduced.counts - nearest) <= ROUNDING)
    return replace(reduced, fixed=fixed, counts=np.where(fixed, nearest, reduced.counts))
