"""A cone program read as an entropy program; what is not one is refused with an error that says why."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from ...errors import SolverError
from ..parameters.tolerances import CONIC_PROGRAM
from ..program.linear_form import LinearForm
from .cone_program import ConeProgram
from .elimination import Elimination, eliminate
from .entropy_program import EntropyProgram

__all__ = ["TAKES", "read"]

#: What the solver takes; every refusal ends with it.
TAKES = (
    "DUAL_NEWTON takes sums of entr(x), rel_entr(x, w) and kl_div(x, w) with constant w > 0, plus linear terms, under "
    "linear constraints on what has an entropy; use a general conic solver such as cp.CLARABEL for this problem"
)


def read(program: ConeProgram) -> EntropyProgram:
    """Read a cone program as an entropy program.

    Raises
    ------
    SolverError
        If it is not one.
    """
    weight = _weights(program)
    term, share, first, per = _terms(program)
    n_cones, n_terms = len(term), len(first)
    n_kept, n_ties = n_cones + n_terms, n_cones + n_terms
    heights, arguments = program.triple(0), program.triple(1)
    ties = sp.vstack([heights[0], sp.csr_array(sp.diags_array(1 / per) @ arguments[0][first])])
    linear = program.A[program.linear]
    right = program.b[program.linear].copy()
    unconstrained = right == np.inf
    right[unconstrained] = 0.0
    linear = sp.diags_array(~unconstrained * 1.0) @ linear
    columns = sp.vstack([ties, linear], format="csr")
    rows = sp.hstack([sp.eye_array(columns.shape[0], n_kept), columns], format="csr")
    rows.eliminate_zeros()
    cost = np.concatenate([np.zeros(n_kept), program.c])
    sides = np.concatenate([heights[1], arguments[1][first] / per, right])
    out = eliminate(sp.csr_array(rows), sides, cost, n_kept, n_ties + program.n_zero)
    _refuse_undetermined(program, out)
    factor = -out.cost[:n_cones]
    constrained = np.unique(out.rows[:, :n_cones].indices)
    if len(constrained) or (factor <= 0).any():
        at = constrained if len(constrained) else np.flatnonzero(factor <= 0)
        raise SolverError(
            f"{_entropy_of(program, at)} stands in a constraint, or inside another function, or has no positive weight "
            f"in the objective; entropies are expected in the objective, each with a factor above 0. {TAKES}"
        )
    total = np.bincount(term, factor * share, n_terms)
    mean = np.bincount(term, factor * share * (np.log(weight) - np.log(share)), n_terms)
    log_v = np.log(total) + (mean - out.cost[n_cones:]) / total
    matrix = sp.csr_array(out.rows[:, n_cones:] @ sp.diags_array(1 / total))
    form, kept, per_row = _form(matrix, out.right, n_ties + program.n_zero, log_v)
    unscaled = EntropyProgram(program, form, 1.0, kept, per_row, out, term, share, weight, factor, total)
    sides = np.abs(np.concatenate([form.low, form.high]))
    mass = sides[np.isfinite(sides)].max(initial=0.0) or form.weights.sum() / np.e
    return unscaled.scaled(n_terms / mass)


def _weights(program: ConeProgram) -> np.ndarray:
    """The w of each cone, which must be a constant."""
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
    """Find the cones whose arguments are multiples of one column, and so belong to one term.

    Returns
    -------
    term, share : ndarray, one a cone
        The argument of the cone is `share` times that column, or has a term of its own.
    first, per : ndarray, one a term
        One of its cones, and the share of that.
    """
    matrix, constant = program.triple(1)
    n = len(constant)
    is_multiple = (np.diff(matrix.indptr) == 1) & (constant == 0)
    multiple, key = np.ones(n), np.arange(n) + matrix.shape[1]
    multiple[is_multiple] = -matrix.data[matrix.indptr[:-1][is_multiple]]
    is_multiple &= multiple > 0
    multiple[~is_multiple] = 1.0
    key[is_multiple] = matrix.indices[matrix.indptr[:-1][is_multiple]]
    _, first, term = np.unique(key, return_index=True, return_inverse=True)
    return term, multiple, first, multiple[first]


def _form(
    matrix: sp.csr_array, right: np.ndarray, n_equations: int, log_v: np.ndarray
) -> tuple[LinearForm, np.ndarray, np.ndarray]:
    """The form, each row divided by its largest coefficient, without rows that hold for any y > 0."""
    if len(extreme := np.flatnonzero(np.abs(log_v) > CONIC_PROGRAM.largest_log_weight)):
        raise SolverError(
            f"the linear part of the objective is up to exp({np.abs(log_v[extreme]).max():.0f}) to one against the "
            f"entropy, and numbers up to exp({CONIC_PROGRAM.largest_log_weight:.0f}) "
            f"are expected; give the entropy a larger factor. {TAKES}"
        )
    n_rows = len(right)
    size = abs(matrix)
    largest = np.asarray(size.max(axis=1).todense()).ravel()
    is_equation = np.arange(n_rows) < n_equations
    empty = largest == 0
    most = np.asarray(matrix.max(axis=1).todense()).ravel()
    always_holds = np.where(is_equation, empty & (right == 0), (most <= 0) & (right >= 0))
    kept = np.flatnonzero(~always_holds)
    per_row = np.where(empty, 1.0, largest)[kept]
    rows = sp.csr_array(sp.diags_array(1 / per_row) @ matrix[kept])
    high = right[kept] / per_row
    low = np.where(is_equation[kept], high, -np.inf)
    return LinearForm.plain(rows, low, high, np.exp(log_v)), kept, per_row


def _refuse_undetermined(program: ConeProgram, out: Elimination) -> None:
    """Refuse variables that have no entropy and are not determined by variables that have one."""
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
    """The first of some entropies, by the name of its argument."""
    columns = program.triple(1)[0][cones[:1]].indices
    return f"the entropy of {_name(program, columns)}" if len(columns) else "the entropy of a constant"


def _name(program: ConeProgram, columns: Iterable[int]) -> str:
    """The names of the first few of some columns."""
    names = [program.where(int(column)) for column in list(columns)[:4]]
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)
