"""Maximum entropy over linear rows that is equivalent to a cone program, and the solution of that program from its own.

With f(u; w) = u log(w / u) we have a f(u; w) = f(a u; a w). So any sum of a f(u; w) - c' u with a > 0 is a sum of
f(y; v) over y = a u: the weights v = a w exp(-c / a) contain the factors and the linear part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from scipy.special import xlogy

from ..program.linear_form import LinearForm
from .cone_program import ConeProgram
from .elimination import Elimination

__all__ = ["EntropyProgram"]


@dataclass(frozen=True, eq=False)
class EntropyProgram:
    """Maximise sum y log(v / y) over low <= M y <= high, and how y determines the solution of a cone program.

    Attributes
    ----------
    program : ConeProgram
    form : LinearForm
        In units in which an average y is about 1, as absolute tolerances require.
    scale : float
        y in the units of the form, divided by y in those of the program.
    kept, per_row : ndarray
        The rows of the elimination that the form has, and the number by which each was divided.
    out : Elimination
        The columns of the program as affine functions of the heights t and the arguments u of the cones.
    term, share : ndarray, one a cone
        The argument of a cone is `share` times the argument of the term `term`.
    weight, factor : ndarray, one a cone
        w, and the factor a of its entropy in the objective.
    total : ndarray, one a term
        y divided by the argument of the term: the sum of a times `share` over the cones of the term.
    """

    program: ConeProgram
    form: LinearForm
    scale: float
    kept: np.ndarray
    per_row: np.ndarray
    out: Elimination
    term: np.ndarray
    share: np.ndarray
    weight: np.ndarray
    factor: np.ndarray
    total: np.ndarray

    def restore(self, counts: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The solution z of the cone program, and the dual value of each of its rows, from those of the form.

        On the boundary of a cone, t = u log(w / u), the dual value is a (-1, log(w / u) - 1, u / w).
        """
        program, factor = self.program, self.factor
        with np.errstate(over="ignore", invalid="ignore"):
            argument = counts / (self.scale * self.total)
            u = self.share * argument[self.term]
            heights = u * np.log(self.weight) - xlogy(u, u)
            z = self.out.constant + self.out.matrix @ np.concatenate([heights, argument])
            log_argument = self.form.exponent(multipliers) - np.log(self.scale * self.total)
            log_ratio = np.log(self.weight) - log_argument[self.term] - np.log(self.share)
            dual = np.zeros(len(program.b))
            n = program.linear.stop
            dual[n::3], dual[n + 1 :: 3], dual[n + 2 :: 3] = (
                -factor,
                factor * (log_ratio - 1),
                factor * np.exp(-log_ratio),
            )
            # The rows of the elimination: t of each cone, u of each term, then the rows of the program.
            first = len(factor) + len(self.total)
            real = self.kept >= first
            dual[self.kept[real] - first] = -multipliers[real] / self.per_row[real]
            own = self.out.used >= first
            if own.any():  # duals of eliminated rows: the reduced cost of a variable that a row determined is 0
                rows, columns = self.out.used[own] - first, self.out.gives[own]
                missing = -(program.c + program.A.T @ dual)[columns]
                dual[rows] = splu(sp.csc_matrix(program.A[rows][:, columns].T)).solve(missing)
        return z, dual

    def scaled(self, by: float) -> EntropyProgram:
        """The same in other units."""
        form = self.form
        form = LinearForm.plain(form.matrix, form.low * by, form.high * by, form.weights * by)
        return replace(self, form=form, scale=self.scale * by)
