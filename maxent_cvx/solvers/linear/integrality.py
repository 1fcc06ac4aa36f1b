"""What presolve may settle in a question about whole assignments: whole numbers of people only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..presolve.reduced import Reduced
from ..tolerances import INTEGER

__all__ = ["settle_integers"]


def settle_integers(reduced: Reduced) -> Reduced:
    """Take for settled only those terms on which presolve finds a whole number of people, rounding taken off.

    A fraction of a person is where no whole assignment exists. Were such a term left settled, nobody would ask
    whether there is one; left open, its rows are part of the integer program, which has no solution then.
    """
    nearest = np.rint(reduced.counts)
    fixed = reduced.fixed & (np.abs(reduced.counts - nearest) <= INTEGER.near_integer)
    return replace(reduced, fixed=fixed, counts=np.where(fixed, nearest, reduced.counts))
