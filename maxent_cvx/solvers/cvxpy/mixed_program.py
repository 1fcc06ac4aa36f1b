"""Maximum entropy over rows with other variables, which have no entropy but costs, as soft terms bring them.

maximise sum y (c - log y) - q' v - v' P v / 2  over  M y + N v = r (equations) or <= r, and l <= y <= u.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..linear_algebra.sparse_system import ldl_factor
from ..parameters.tolerances import SEPARABLE
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

    def centred(self) -> tuple[MixedProgram, np.ndarray]:
        """The same problem with c - M' a and q + N' a, as near to 0 as equations can make them, and a.

        Multipliers are m - a: as M y + N v = r, the objective differs by the constant a' r.
        """
        if not len(self.cost):
            terms, a = self.terms.centred()
            return replace(self, terms=terms), a
        terms, a = self.terms, np.zeros(len(self.terms.right))
        at = terms.equations
        rows = sp.csr_array(sp.hstack([terms.matrix[at], self.others[at]]))
        values = np.concatenate([terms.log_weights, -self.cost])
        if len(at):
            factor = ldl_factor(sp.csc_array(rows @ rows.T), SEPARABLE.ridge)
            for _ in range(2):  # the second time for the rounding error of the first, which large constants enlarge
                a[at] += factor.solve(rows @ (values - rows.T @ a[at]))
        smaller = replace(terms, log_weights=terms.log_weights - terms.matrix.T @ a)
        return replace(self, terms=smaller, cost=self.cost + self.others.T @ a), a
