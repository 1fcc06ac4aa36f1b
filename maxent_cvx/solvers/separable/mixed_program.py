"""Maximum entropy over rows with other variables, which have no entropy but costs, as soft terms bring them.

    maximise sum y (c - log y) - q' v - v' P v / 2  over  M y + N v = r (equations) or <= r, and l <= y <= u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .separable_program import SeparableProgram

__all__ = ["MixedProgram"]


@dataclass(frozen=True, eq=False)
class MixedProgram:
    """A separable program and variables v beside its terms.

    Attributes
    ----------
    terms : SeparableProgram
        M, r, c and the bounds.
    others : csr_array, shape (rows, variables)
        N.
    cost : ndarray, one a variable
        q.
    curvature : csc_array, shape (variables, variables)
        P, symmetric and positive semidefinite.
    """

    terms: SeparableProgram
    others: sp.csr_array
    cost: np.ndarray
    curvature: sp.csc_array
