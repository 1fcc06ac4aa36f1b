"""A cone program read as an entropy program, if it is one."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import CONIC_PROGRAM
from ..rows.sparse import entry_rows, least_by_row, most_by_row
from .cone_program import ConeProgram
from .elimination import Elimination
from .entropy_program import EntropyProgram
from .plain_columns import eliminate_columns
from .separable_program import SeparableProgram

__all__ = ["TAKES", "read"]

#: What the solver takes; refusals end with it.
TAKES = (
    "DUAL_NEWTON takes entropies, logarithms and exponentials with linear constraints and linear or quadratic terms; "
    "use a general conic solver such as cp.CLARABEL for this problem"
)


def read(program: ConeProgram) -> EntropyProgram | None:
    """Read a cone program as an entropy program; None if it is not one.

    It is one if every w is a positive constant, and if every height t has a negative cost and is in no constraint.
    """
    of_w, weight = program.triple(2)
    if of_w.nnz or not program.n_exp or (weight <= 0).any():
        return None
    term, share, first, per = _terms(program)
    n_cones, n_terms = len(term), len(first)
    n_kept = n_cones + n_terms
    heights, arguments = program.triple(0), program.triple(1)
    some = slice(None) if n_terms == n_cones else first
    of_arguments = arguments[0][some] if n_terms < n_cones else arguments[0].copy()
    of_arguments.data /= np.repeat(per, np.diff(of_arguments.indptr))
    ties = sp.vstack([heights[0], of_arguments], format="csr"), np.concatenate([heights[1], arguments[1][some] / per])
    out, number, others = _eliminate(program, ties)
    factor = -out.cost[:n_cones]
    if len(out.unbounded) or (factor <= 0).any() or (out.rows.indices < n_cones).any():
        return None
    total = np.bincount(term, factor * share, n_terms)
    mean = np.bincount(term, factor * share * (np.log(weight) - np.log(share)), n_terms)
    log_v = np.log(total) + (mean - out.cost[n_cones:n_kept]) / total
    unit = float(total.mean())  # of the variables without entropy, so that their coefficients are like those of y
    per_term = np.concatenate([np.ones(n_cones), total, np.full(len(others), unit)])
    data = out.rows.data if (total == 1).all() else out.rows.data / per_term[out.rows.indices]
    matrix = sp.csr_array((data, out.rows.indices - n_cones, out.rows.indptr), (len(out.right), n_terms + len(others)))
    is_equation = number < n_kept + len(others) + program.n_zero
    matrix, right, kept, per_row = _rows(matrix, out.right, is_equation, n_terms)
    P = sp.csc_array((len(others), len(others))) if program.P is None else program.P[others][:, others]
    of_terms = matrix[:, :n_terms] if len(others) else matrix
    of_others = matrix[:, n_terms:] if len(others) else sp.csr_array((len(right), 0))
    rows = SeparableProgram(of_terms, right, is_equation[kept], log_v)
    unscaled = EntropyProgram(
        program, rows, 1.0, number[kept], per_row, out, term, share, weight, factor, total,
        of_others, unit, out.cost[n_kept:] / unit, sp.csc_array(P / unit**2),
    )  # fmt: skip
    return unscaled.scaled(1 / _average(unscaled.rows))


def _average(rows: SeparableProgram) -> float:
    """An estimate of the average y: the one that satisfies equations best if all y are equal, if it is positive."""
    sums, n_terms = rows.matrix @ np.ones(rows.matrix.shape[1]), rows.matrix.shape[1]
    of_equations = float(sums[rows.is_equation] @ rows.right[rows.is_equation])
    if of_equations > 0:
        return of_equations / float(sums[rows.is_equation] @ sums[rows.is_equation])
    largest = np.abs(rows.right).max(initial=0.0)
    return (largest or np.exp(min(_log_sum(rows.log_weights) - 1, CONIC_PROGRAM.largest_log_weight))) / n_terms


def _eliminate(
    program: ConeProgram, ties: tuple[sp.csr_array, np.ndarray]
) -> tuple[Elimination, np.ndarray, np.ndarray]:
    """Eliminate all columns but those in quadratic terms, and those that no row determines, which are returned."""
    linear, right = program.linear_rows, program.b[program.linear].copy()
    unconstrained = right == np.inf
    if unconstrained.any():
        right[unconstrained] = 0.0
        linear = sp.csr_array(sp.diags_array(~unconstrained * 1.0) @ linear)
        linear.eliminate_zeros()
    others = np.empty(0, dtype=np.int64) if program.P is None else np.unique(program.P.indices)
    while True:
        n_columns, n_others, tied = linear.shape[1], len(others), ties
        if n_others:
            own = sp.csr_array((-np.ones(n_others), (np.arange(n_others), others)), shape=(n_others, n_columns))
            tied = sp.vstack([ties[0], own], format="csr"), np.append(ties[1], np.zeros(n_others))
        out, number = eliminate_columns(tied, (linear, right), program.c, program.n_zero)
        if not len(out.left):
            return out, number, others
        others = np.union1d(others, out.left)


def _log_sum(logarithms: np.ndarray) -> float:
    top = float(logarithms.max())
    return top + float(np.log(np.exp(logarithms - top).sum()))


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
    of_key = np.full(n + matrix.shape[1], -1)
    of_key[key[::-1]] = np.arange(n)[::-1]  # the first of several is written last
    used = np.flatnonzero(of_key >= 0)
    first = of_key[used]
    of_key[used] = np.arange(len(used))
    term = of_key[key]
    return term, multiple, first, multiple[first]


def _rows(
    matrix: sp.csr_array, right: np.ndarray, is_equation: np.ndarray, n_terms: int
) -> tuple[sp.csr_array, np.ndarray, np.ndarray, np.ndarray]:
    """The rows, each divided by its largest coefficient, without those that hold for any y > 0."""
    most, least = most_by_row(matrix.data, matrix), least_by_row(matrix.data, matrix)
    largest = np.maximum(most, np.where(least < np.inf, -least, 0.0))
    empty = largest == 0
    if matrix.shape[1] > n_terms:
        most[np.bincount(entry_rows(matrix), matrix.indices >= n_terms, len(most)) > 0] = np.inf
    always_holds = np.where(is_equation, empty & (right == 0), (most <= 0) & (right >= 0))
    kept = np.flatnonzero(~always_holds)
    per_row = np.where(empty, 1.0, largest)[kept]
    rows = matrix[kept] if len(kept) < len(right) else matrix
    if not (per_row == 1).all():
        per_entry = np.repeat(per_row, np.diff(rows.indptr))
        data = np.divide(rows.data, per_entry, out=per_entry)
        rows = sp.csr_array((data, rows.indices, rows.indptr), rows.shape)
    return rows, right[kept] / per_row, kept, per_row
