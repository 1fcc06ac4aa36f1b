"""Maximum entropy over linear rows that is equivalent to a cone program, and the solution of that program from its own.

With f(u; w) = u log(w / u) we have a f(u; w) = f(a u; a w). So any sum of a f(u; w) - c' u with a > 0 is a sum of
f(y; v) over y = a u: the logarithms of the weights v = a w exp(-c / a) contain the factors and the linear part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from scipy.special import xlogy

from .cone_program import ConeProgram
from .elimination import Elimination
from .mixed_program import MixedProgram
from .separable_program import SeparableProgram

__all__ = ["Bounded", "EntropyProgram"]


class Bounded(NamedTuple):
    """A program whose inequalities of one term are bounds.

    Attributes
    ----------
    program : SeparableProgram
    rows : ndarray of int
        The rows that are left.
    bounds, terms : ndarray of int
        Rows that were bounds of terms, for each side of a term the tightest, and these terms.
    """

    program: SeparableProgram
    rows: np.ndarray
    bounds: np.ndarray
    terms: np.ndarray


@dataclass(frozen=True, eq=False)
class EntropyProgram:
    """Maximise sum y log(v / y) over rows M y = or <= r, and how y determines the solution of a cone program.

    Attributes
    ----------
    program : ConeProgram
    rows : SeparableProgram
        Without bounds, in units in which an average y is about 1, as absolute tolerances require.
    scale : float
        y in the units of the rows, divided by y in those of the program.
    kept, per_row : ndarray
        The rows of the elimination that are left, and the number by which each was divided.
    out : Elimination
        The columns of the program as affine functions of the heights t and the arguments u of the cones.
    term, share : ndarray, one a cone
        The argument of a cone is `share` times the argument of the term `term`.
    weight, factor : ndarray, one a cone
        w, and the factor a of its entropy in the objective.
    total : ndarray, one a term
        y divided by the argument of the term: the sum of a times `share` over the cones of the term.
    others : csr_array, shape (rows, variables)
        Coefficients of the variables v that have no entropy and that no row determines.
    unit : float
        v divided by the variables of the program.
    cost, curvature : ndarray, csc_array
        q' v + v' P v / 2 is subtracted from the objective.
    """

    program: ConeProgram
    rows: SeparableProgram
    scale: float
    kept: np.ndarray
    per_row: np.ndarray
    out: Elimination
    term: np.ndarray
    share: np.ndarray
    weight: np.ndarray
    factor: np.ndarray
    total: np.ndarray
    others: sp.csr_array
    unit: float
    cost: np.ndarray
    curvature: sp.csc_array

    def restore(
        self, counts: np.ndarray, multipliers: np.ndarray, others: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The solution z of the cone program, and the dual value of each of its rows, from those of the rows.

        On the boundary of a cone, t = u log(w / u), the dual value is a (-1, log(w / u) - 1, u / w).
        """
        program, factor = self.program, self.factor
        with np.errstate(over="ignore", invalid="ignore"):
            argument = counts / (self.scale * self.total)
            u = self.share * argument[self.term]
            heights = u * np.log(self.weight) - xlogy(u, u)
            v = np.empty(0) if others is None else others / (self.scale * self.unit)
            z = self.out.constant + self.out.matrix @ np.concatenate([heights, argument, v])
            exponent = self.rows.matrix.T @ multipliers + self.rows.log_weights - 1
            log_argument = exponent - np.log(self.scale * self.total)
            log_ratio = np.log(self.weight) - log_argument[self.term] - np.log(self.share)
            dual = np.zeros(len(program.b))
            n = program.linear.stop
            dual[n::3], dual[n + 1 :: 3], dual[n + 2 :: 3] = (
                -factor,
                factor * (log_ratio - 1),
                factor * np.exp(-log_ratio),
            )
            # The rows of the elimination: t of each cone, u of each term, then the rows of the program.
            first = len(factor) + len(self.total) + len(v)
            real = self.kept >= first
            dual[self.kept[real] - first] = -multipliers[real] / self.per_row[real]
            own = self.out.used >= first
            if own.any():  # duals of eliminated rows: the reduced cost of a variable that a row determined is 0
                rows, columns = self.out.used[own] - first, self.out.gives[own]
                missing = -(program.c + program.A.T @ dual)[columns]  # none is in a quadratic term
                dual[rows] = splu(sp.csc_matrix(program.A[rows][:, columns].T)).solve(missing)
        return z, dual

    def scaled(self, by: float) -> EntropyProgram:
        """The same in other units."""
        rows = replace(self.rows, right=self.rows.right * by, log_weights=self.rows.log_weights + np.log(by))
        curvature = sp.csc_array(self.curvature / by) if len(self.cost) else self.curvature
        return replace(self, rows=rows, scale=self.scale * by, curvature=curvature)

    @cached_property
    def bounded(self) -> Bounded | None:
        """The same with bounds in place of inequalities of one term; None if no y > 0 satisfies these."""
        rows = self.rows
        length = np.diff(rows.matrix.indptr)
        single = np.flatnonzero((length == 1) & (np.diff(self.others.indptr) == 0) & ~rows.is_equation)
        if not len(single):
            return Bounded(rows, np.arange(len(length)), single, single)
        term, a = (part[rows.matrix.indptr[single]] for part in (rows.matrix.indices, rows.matrix.data))
        side, n_terms = rows.right[single] / a, rows.matrix.shape[1]
        least, most = np.zeros(n_terms), np.full(n_terms, np.inf)
        above, below = np.flatnonzero(a > 0), np.flatnonzero(a < 0)
        np.minimum.at(most, term[above], side[above])
        np.maximum.at(least, term[below], side[below])
        if (most <= 0).any() or (least > most).any():
            return None
        above, below = (at[np.lexsort((sign * side[at], term[at]))] for at, sign in ((above, 1), (below, -1)))
        tightest = np.concatenate([at[np.unique(term[at], return_index=True)[1]] for at in (above, below)])
        left = np.setdiff1d(np.arange(len(length)), single, assume_unique=True)
        program = replace(
            rows, matrix=rows.matrix[left], right=rows.right[left], is_equation=rows.is_equation[left],
            least=least if least.any() else None, most=most if np.isfinite(most).any() else None,
        )  # fmt: skip
        return Bounded(program, left, single[tightest], term[tightest])

    def mixed(self, bounded: Bounded) -> MixedProgram:
        """The same with bounds, and the variables that have no entropy."""
        others = self.others[bounded.rows]
        return MixedProgram(bounded.program, sp.csr_array(others), self.cost, self.curvature)

    def multipliers(self, bounded: Bounded, counts: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Multipliers of all rows from those of the rows that are no bounds: a bound's is log y less the exponent."""
        found = np.zeros(len(self.rows.right))
        found[bounded.rows] = multipliers
        if len(bounded.bounds):
            terms, at = bounded.terms, bounded.bounds
            a = self.rows.matrix.data[self.rows.matrix.indptr[at]]
            exponent = bounded.program.exponent(multipliers)[terms]
            with np.errstate(divide="ignore"):
                own = (np.log(counts[terms]) - exponent) / a
            side = self.rows.right[at] / a
            found[at] = np.where((counts[terms] == side) & (own < 0), own, 0.0)
        return found
