"""What sums tell of each record: the least and the largest value that is consistent with all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...errors import Infeasible, SolverError, TableError, number, whole
from ...solvers.linear import LinearProgram
from ...tables.numbers import as_numbers

__all__ = ["block_sums", "half_overlapping_bounds", "record_bounds"]

#: Tolerance for the rounding of sums, relative to the largest of them.
ROUNDING = 1e-9
NO_RECORDS = "no records between {:g} and {:g} have these sums; pass the sums that were published"


def half_overlapping_bounds(sums: np.ndarray, half: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the records of every block b_0, ..., b_k, given the sums of b_0 + b_1, b_1 + b_2, ...

    With t the sum of b_0, all others follow: that of b_j is c_j + (-1)^j t with c_0 = 0, c_(j+1) = S_j - c_j. That
    every block's sum is between l low and l high bounds t, which bounds every block; and a record is at most what is
    left if the others of its block are as low as they can be. These bounds are attained.

    Parameters
    ----------
    sums : ndarray, shape (k,)
        S_j, of the 2l records in two neighbouring blocks.
    half : int
        l, records in a block.
    low, high : float
        The ends of the domain.

    Returns
    -------
    low, high : ndarray, shape (k + 1,)
        Of each record in a block.

    Raises
    ------
    Infeasible
        If no records have these sums.
    TableError, BadProbability
        If sums are no numbers, an end of the domain is none, or `low` is above `high`.
    StatementError
        If `half` is no integer of at least 1.

    Notes
    -----
    CAE, section 5 (query restriction); O(k), instead of two linear programs a record.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.half_overlapping_bounds([12, 4], half=1, low=0, high=10)          # two sums of two records
    (array([8., 2., 0.]), array([10.,  4.,  2.]))
    """
    sums, low, high = _checked(sums, low, high)
    whole(half, "half", 1)
    offset, sign = block_sums(sums)
    ends = np.sort(sign * (np.array([[half * low], [half * high]]) - offset), axis=0)
    least, most = ends[0].max(), ends[1].min()
    slack = ROUNDING * max(np.abs(sums).max(initial=0.0), half * max(abs(low), abs(high)))
    if least > most + slack:
        raise Infeasible(NO_RECORDS.format(low, high))
    block = np.sort(offset + sign * np.array([[least], [max(most, least)]]), axis=0)
    return np.maximum(low, block[0] - (half - 1) * high), np.minimum(high, block[1] - (half - 1) * low)


def block_sums(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C and (-1)^j of the sums c_j + (-1)^j t of all blocks: c_j = S_(j-1) - S_(j-2) + ..., an alternating sum."""
    sign = (-1.0) ** np.arange(len(sums) + 1)
    return np.concatenate([[0.0], -sign[1:] * np.cumsum(sign[:-1] * sums)]), sign


def _checked(sums: Any, low: float, high: float) -> tuple[np.ndarray, float, float]:
    """Read sums, and the ends of the domain."""
    low, high = number(low, "low"), number(high, "high")
    if low > high:
        raise TableError(f"low={low:g} is above high={high:g}; swap the two")
    return as_numbers(sums, "sums").astype(float), low, high


def record_bounds(system: Any, sums: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of every record, min and max r_i over all low <= r <= high with A r = sums, by linear programming.

    Parameters
    ----------
    system : array or sparse array, shape (queries, records)
        A: how often each record is in each query.
    sums : ndarray, shape (queries,)
    low, high : float
        The ends of the domain.

    Returns
    -------
    low, high : ndarray, shape (records,)

    Raises
    ------
    Infeasible
        If no records have these sums.
    TableError, BadProbability
        If the system, the sums or the ends of the domain are no numbers, or do not go together.
    SolverError
        If the solver stops without an answer.

    Notes
    -----
    CAE, section 5 (query restriction): for any system of queries. Records that are in the same queries have the same
    bounds, and two programs together (HiGHS).

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.record_bounds([[1, 1, 0], [0, 1, 1]], [12, 4], low=0, high=10)
    (array([8., 2., 0.]), array([10.,  4.,  2.]))
    """
    answers, low, high = _checked(sums, low, high)
    try:
        matrix = sp.csc_array(system)
        matrix = matrix if np.iscomplexobj(matrix.data) else matrix.astype(float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"system must be a table of numbers, queries by records: {error}") from error
    if np.iscomplexobj(matrix.data) or not np.isfinite(matrix.data).all():
        raise TableError("system must hold finite real numbers, how often each record is in each query")
    if matrix.ndim != 2 or answers.shape != matrix.shape[:1]:
        raise TableError(f"{matrix.shape} entries of queries and records, and {answers.shape} sums; one sum a query")
    matrix.sum_duplicates()
    columns: dict[bytes, int] = {}
    kind = np.empty(matrix.shape[1], dtype=np.int64)
    for i, (start, end) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        column = matrix.indices[start:end].tobytes() + matrix.data[start:end].tobytes()
        kind[i] = columns.setdefault(column, len(columns))
    first = np.unique(kind, return_index=True)[1]
    span = high - low or 1.0  # records are low + span x, and x from 0 to 1
    target = (answers - low * np.asarray(matrix.sum(axis=1))) / span
    found = np.empty((2, len(first)))
    program = LinearProgram(sp.csr_array(matrix), target, target, upper=float(high > low))
    for at, record in enumerate(first):
        for side, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(matrix.shape[1])
            cost[record] = sign
            best = program.minimum(cost)
            if best.infeasible:
                raise Infeasible(NO_RECORDS.format(low, high))
            if not best.found:
                raise SolverError(f"the bounds of record {record} were not found: {best.message}")
            found[side, at] = low + span * best.x[record]
    return found[0][kind], found[1][kind]
