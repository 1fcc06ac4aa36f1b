"""Which terms presolve may fix in a question about integer points: those whose values are integers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..parameters.tolerances import INTEGER
from ..presolve.reduced import Reduced

__all__ = ["settle_integers"]


def settle_integers(reduced: Reduced) -> Reduced:
    """Keep fixed only the terms whose values are integers up to rounding, which is removed.

    The count of a term is an integer, so that a value that is known to within half a record is known exactly. If
    presolve fixes a term at a fraction of a record, no integer point is feasible. The integer program can find that
    only if the term is not fixed, so that its rows are part of the program.
    """
    nearest = np.rint(reduced.counts)
    fixed = reduced.fixed & (np.abs(reduced.counts - nearest) <= INTEGER.near_integer) & (reduced.width < 0.5)
    counts, width = np.where(fixed, nearest, reduced.counts), np.where(fixed, 0.0, reduced.width)
    return replace(reduced, fixed=fixed, counts=counts, width=width)
