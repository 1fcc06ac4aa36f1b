"""A cone program read as maximum entropy over linear rows, if it is one, and the way back.

With f(u; w) = u log(w / u), a f(u; w) = f(a u; a w). So any sum a f(u; w) - c' u with a > 0 is a sum f(y; v) over
y = a u, whatever its factors: the weights v take them up, and the linear part too, v = a w exp(-c / a).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from scipy.special import xlogy

from ...errors import SolverError
from ..program.linear_form import LinearForm
from ..tolerances import CONIC_PROGRAM
from .cone_program import ConeProgram
from .elimination import Elimination, eliminate

__all__ = ["EntropyProgram", "read"]

#: What the solver takes; the end of every refusal.
TAKES = (
    "DUAL_NEWTON takes sums of entr(x), rel_entr(x, w) and kl_div(x, w) with constant w > 0, plus linear terms, under "
    "linear constraints on what has an entropy; use a general conic solver such as cp.CLARABEL for this problem"
)


@dataclass(frozen=True, eq=False)
class EntropyProgram:
    """Maximise sum y log(v / y) over low <= M y <= high, and what y says of the cone program it stands for.

    Attributes
    ----------
    program : ConeProgram
    form : LinearForm
        In units in which an average y is about 1, as absolute tolerances need it.
    scale : float
        y of the form per y of the program.
    kept, per_row : ndarray
        Which rows of the program the form has, and by what each was divided.
    out : Elimination
        What the columns of the program are, given each height t and each argument u.
    term, share : ndarray
        Each cone's argument is so many times a term's.
    weight, factor : ndarray
        w of each cone, and a: its entropy's factor in the objective.
    total : ndarray
        The sum of a over a term's cones: y is so many times the term's argument.
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
        """Say what y and multipliers of the form mean for the cone program: z, and the dual value of each of its rows.

        On a cone's boundary, t = u log(w / u), the dual is a (-1, log(w / u) - 1, u / w).
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
            # Rows of the elimination are t of each cone, u of each term, then those of the program.
            first = len(factor) + len(self.total)
            real = self.kept >= first
            dual[self.kept[real] - first] = -multipliers[real] / self.per_row[real]
            own = self.out.used >= first
            if own.any():  # the objective does not change along a column that a row gave
                rows, columns = self.out.used[own] - first, self.out.gives[own]
                missing = -(program.c + program.A.T @ dual)[columns]
                dual[rows] = splu(sp.csc_matrix(program.A[rows][:, columns].T)).solve(missing)
        return z, dual

    def scaled(self, by: float) -> EntropyProgram:
        """The same in other units."""
        form = self.form
        form = LinearForm.plain(form.matrix, form.low * by, form.high * by, form.weights * by)
        return replace(self, form=form, scale=self.scale * by)


def read(program: ConeProgram) -> EntropyProgram:
    """Read a cone program as maximum entropy.

    Raises
    ------
    SolverError
        If it is something else.
    """
    weight = _weights(program)
    term, share, first, per = _terms(program)
    n_cones, n_terms = len(term), len(first)
    n_kept, n_ties = n_cones + n_terms, n_cones + n_terms
    heights, arguments = program.triple(0), program.triple(1)
    ties = sp.vstack([heights[0], sp.csr_array(sp.diags_array(1 / per) @ arguments[0][first])])
    linear = program.A[program.linear]
    right = program.b[program.linear].copy()
    open_ended = right == np.inf
    right[open_ended] = 0.0
    linear = sp.diags_array(~open_ended * 1.0) @ linear
    columns = sp.vstack([ties, linear], format="csr")
    rows = sp.hstack([sp.eye_array(columns.shape[0], n_kept), columns], format="csr")
    rows.eliminate_zeros()
    cost = np.concatenate([np.zeros(n_kept), program.c])
    sides = np.concatenate([heights[1], arguments[1][first] / per, right])
    out = eliminate(sp.csr_array(rows), sides, cost, n_kept, n_ties + program.n_zero)
    _refuse_left(program, out)
    factor = -out.cost[:n_cones]
    wrong = np.unique(out.rows[:, :n_cones].indices)
    if len(wrong) or (factor <= 0).any():
        at = wrong if len(wrong) else np.flatnonzero(factor <= 0)
        raise SolverError(
            f"{_entropy_of(program, at)} stands in a constraint, or inside another function, or has no positive weight "
            f"in the objective; entropies are expected in the objective, each with a factor above 0. {TAKES}"
        )
    total = np.bincount(term, factor * share, n_terms)
    mean = np.bincount(term, factor * share * (np.log(weight) - np.log(share)), n_terms)
    log_v = np.log(total) + (mean - out.cost[n_cones:]) / total
    matrix = sp.csr_array(out.rows[:, n_cones:] @ sp.diags_array(1 / total))
    form, kept, per_row = _form(matrix, out.right, n_ties + program.n_zero, log_v)
    plain = EntropyProgram(program, form, 1.0, kept, per_row, out, term, share, weight, factor, total)
    sides = np.abs(np.concatenate([form.low, form.high]))
    mass = sides[np.isfinite(sides)].max(initial=0.0) or form.weights.sum() / np.e
    return plain.scaled(n_terms / mass)


def _weights(program: ConeProgram) -> np.ndarray:
    """The w of each triple, which must be a constant."""
    if not program.n_exp:
        raise SolverError(f"there is no entropy in the problem, which is linear: use cp.HIGHS for it. {TAKES}")
    of_u, of_w, w = program.triple(1)[0], *program.triple(2)
    if len(other := np.flatnonzero(np.diff(of_w.indptr) > 0)):
        column = _name(program, of_w[other[:1]].indices)
        if np.diff(of_u.indptr)[other[0]]:
            found = f"a relative entropy to a reference that contains the variable {column}; a constant one is expected"
        else:
            at = _name(program, program.triple(0)[0][other[:1]].indices)
            found = f"a logarithm or exponential, between {at} and {column}; entropies are expected"
        raise SolverError(f"{found}. {TAKES}")
    if len(bad := np.flatnonzero(w <= 0)):
        raise SolverError(
            f"{_entropy_of(program, bad)} is relative to the reference {w[bad[0]]:g}, and references above 0 are "
            f"expected. A reference of 0 forces its term to 0: leave such terms out. {TAKES}"
        )
    return w


def _terms(program: ConeProgram) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the cones whose arguments are multiples of one column, and so of one term.

    Returns
    -------
    term, share : ndarray, one a cone
    first, per : ndarray, one a term
        A cone that has it, and how many times it that cone's argument is.
    """
    matrix, constant = program.triple(1)
    n = len(constant)
    plain = (np.diff(matrix.indptr) == 1) & (constant == 0)
    multiple, key = np.ones(n), np.arange(n) + matrix.shape[1]
    multiple[plain] = -matrix.data[matrix.indptr[:-1][plain]]
    plain &= multiple > 0
    multiple[~plain] = 1.0
    key[plain] = matrix.indices[matrix.indptr[:-1][plain]]
    _, first, term = np.unique(key, return_index=True, return_inverse=True)
    return term, multiple, first, multiple[first]


def _form(
    matrix: sp.csr_array, right: np.ndarray, n_equations: int, log_v: np.ndarray
) -> tuple[LinearForm, np.ndarray, np.ndarray]:
    """Make rows of the form, each with 1 as its largest coefficient, and leave out those that hold for any y > 0."""
    if len(steep := np.flatnonzero(np.abs(log_v) > CONIC_PROGRAM.largest_log_weight)):
        raise SolverError(
            f"the linear part of the objective is up to exp({np.abs(log_v[steep]).max():.0f}) to one against the "
            f"entropy, and numbers up to exp({CONIC_PROGRAM.largest_log_weight:.0f}) "
            f"are expected; give the entropy a larger factor. {TAKES}"
        )
    n_rows = len(right)
    size = abs(matrix)
    largest = np.asarray(size.max(axis=1).todense()).ravel()
    is_equation = np.arange(n_rows) < n_equations
    empty = largest == 0
    most = np.asarray(matrix.max(axis=1).todense()).ravel()
    idle = np.where(is_equation, empty & (right == 0), (most <= 0) & (right >= 0))
    kept = np.flatnonzero(~idle)
    per_row = np.where(empty, 1.0, largest)[kept]
    rows = sp.csr_array(sp.diags_array(1 / per_row) @ matrix[kept])
    high = right[kept] / per_row
    low = np.where(is_equation[kept], high, -np.inf)
    return LinearForm.plain(rows, low, high, np.exp(log_v)), kept, per_row


def _refuse_left(program: ConeProgram, out: Elimination) -> None:
    """Refuse what has no entropy and is not given by the rest."""
    if len(out.unbounded):
        raise SolverError(
            f"{_name(program, out.unbounded)} is in the objective, and no constraint limits it: the problem is "
            f"unbounded. {TAKES}"
        )
    if len(out.left):
        raise SolverError(
            f"{_name(program, out.left)} has no entropy in the objective, and no equation says what it is in terms of "
            "what has one. (A name you do not know is that of a variable that CVXPY puts in for a function, such as "
            f"max or norm1.) {TAKES}"
        )


def _entropy_of(program: ConeProgram, cones: np.ndarray) -> str:
    """Name entropies by what they are of."""
    columns = program.triple(1)[0][cones[:1]].indices
    return f"the entropy of {_name(program, columns)}" if len(columns) else "the entropy of a constant"


def _name(program: ConeProgram, columns: Iterable[int]) -> str:
    """Name the first few of some columns."""
    names = [program.where(int(column)) for column in list(columns)[:4]]
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)
