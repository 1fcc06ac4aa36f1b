"""Rows over probabilities, stacked into one system over counts, with what rounding did to each of them.

Two things are done to the numbers that sources emit, and both are accounted for: published counts are integers, and
are rounded to integers again (n / N * N need not be n in floating point); and a row is scaled so that its largest
coefficient is 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from ..solvers.parameters.tolerances import FEASIBILITY
from ..solvers.program.linear_form import LinearForm
from ..solvers.program.shared_columns import SharedColumns
from ..solvers.program.split_matrix import SplitMatrix
from ..solvers.rows.penalties import Penalties
from ..solvers.rows.sparse import canonical, compact, entry_rows, most_by_row
from ..terms.rows import Rows
from .row_blocks import RowBlocks

__all__ = ["penalties", "rounding_errors", "sides", "stacked"]


def stacked(
    published: Sequence[Rows], facts: Sequence[Rows], knowledge: Sequence[Rows], n_records: int, weights: np.ndarray
) -> LinearForm:
    """Stack rows over p into one system over counts x = N p; the sides of hard constraints are numbers of records.

    Parameters
    ----------
    published : sequence of Rows
        Rows that involve the terms of one bucket each.
    facts : sequence of Rows
        The other hard constraints.
    knowledge : sequence of Rows
        Soft rows last.
    n_records : int
        N.
    weights : ndarray, one a term
        w of the objective sum x log(w / x).
    """
    blocks = RowBlocks([*published, *facts, *knowledge], len(published) + len(facts))
    n_published, n_facts = sum(map(len, published)), sum(map(len, [*published, *facts]))
    largest = np.concatenate([_largest(rows.matrix) for rows in blocks])
    ends = itertools.pairwise(blocks.starts.tolist())
    scaled = [
        _scaled(rows, largest[start:end], exactly=start >= n_facts)
        for rows, (start, end) in zip(blocks, ends, strict=True)
    ]
    n = len(published)
    first = sp.vstack(scaled[:n], format="csr") if n else sp.csr_array((0, len(weights)))
    others = SharedColumns(scaled[n:] or sp.csr_array((0, len(weights))))
    matrix = SplitMatrix(canonical(compact(sp.csr_array(first))), others)
    scale = n_records / largest
    is_fact = np.arange(len(scale)) < n_facts
    low, high = sides(blocks, scale, is_fact)
    # Where all coefficients are +-1 after scaling, and were so as typed, only the sides carry roundoff.
    mixed = np.concatenate([_has_other_coefficients(some) for some in (matrix.published, others.distinct)])
    for rows, start in zip(blocks, blocks.starts.tolist(), strict=False):
        if rows.typed and len({abs(a) for a, _ in rows.typed}) > 1:
            mixed[start] = True
    side_error, coefficient_error = rounding_errors(low, high, mixed, is_fact, n_records)
    return LinearForm(
        matrix,
        low,
        high,
        scale,
        blocks,
        n_published,
        n_facts,
        weights,
        side_error=side_error,
        coefficient_error=coefficient_error,
        penalties=penalties(knowledge, scale),
    )


def sides(blocks: Sequence[Rows], scale: np.ndarray, is_fact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high sides of all rows, records; those of facts are numbers of records."""
    none = np.empty(0)
    low, high = (np.concatenate([none, *(getattr(rows, side) for rows in blocks)]) * scale for side in ("low", "high"))
    return np.where(is_fact, rounded_to_integers(low), low), np.where(is_fact, rounded_to_integers(high), high)


def rounding_errors(
    low: np.ndarray, high: np.ndarray, mixed: np.ndarray, is_fact: np.ndarray, n_records: int
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on the errors of the residual and of the coefficients of each row that come from rounding.

    Parameters
    ----------
    low, high : ndarray
        Records.
    mixed : ndarray of bool
        Which rows have other coefficients than 1 and -1, after scaling.
    is_fact : ndarray of bool
        Which rows are facts, whose sides are known to be integers if they are.
    n_records : int
    """
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)))
    is_integer = (np.rint(low) == low) & (np.rint(high) == high)
    side_error = np.where(is_fact & is_integer & ~mixed, 0.0, FEASIBILITY.places * (n_records * mixed + size))
    return side_error, np.where(mixed, FEASIBILITY.places, 0.0)


def penalties(blocks: Sequence[Rows], scale: np.ndarray) -> Penalties | None:
    """The costs of the last rows, soft ones, where a value v is v * scale records."""
    soft = [rows for rows in blocks if rows.penalty is not None]
    if not sum(map(len, soft)):
        return None
    both = [rows.penalty.variance_and_slope(len(rows)) for rows in soft if rows.penalty is not None]
    variance, slope = (np.concatenate(part) for part in zip(*both, strict=True))
    return Penalties(variance, slope).scaled(scale[-len(variance) :])


def rounded_to_integers(side: np.ndarray) -> np.ndarray:
    """Round the counts that are integers up to roundoff; the others stay."""
    with np.errstate(invalid="ignore"):
        nearest = np.rint(side)
        return np.where(np.abs(side - nearest) <= FEASIBILITY.places * np.abs(side), nearest, side)


def _largest(matrix: sp.csr_array) -> np.ndarray:
    """The largest absolute value of a coefficient of each row; 1 of a row that touches no term."""
    largest = most_by_row(np.abs(matrix.data), matrix)
    return np.where(largest > 0, largest, 1.0)


def _scaled(rows: Rows, largest: np.ndarray, *, exactly: bool) -> sp.csr_array:
    """Divide every row by its largest coefficient.

    Where coefficients were typed, the quotient of each and the largest is rounded once, so that multiples of a row are
    the same row.
    """
    matrix = rows.matrix
    if exactly and rows.typed and len({abs(a) for a, _ in rows.typed}) > 1:
        data = _typed_quotients(matrix, rows.typed)
    elif (largest == 1).all():
        return matrix
    elif matrix.data.strides == (0,):  # one number in place of coefficients that are all the same
        data = np.broadcast_to(np.sign(matrix.data[0]), matrix.nnz)
    else:
        data = matrix.data / largest[entry_rows(matrix)]
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _typed_quotients(matrix: sp.csr_array, typed: Sequence[tuple[Fraction, np.ndarray]]) -> np.ndarray:
    """The coefficients of a single row by the largest, one an entry, from how they were typed."""
    largest, dense = max(abs(a) for a, _ in typed), np.zeros(matrix.shape[1])
    for a, terms in typed:
        dense[terms] = float(a / largest)
    return dense[matrix.indices]


def _has_other_coefficients(matrix: sp.csr_array) -> np.ndarray:
    """Mark rows with coefficients other than 1 and -1."""
    return np.bincount(entry_rows(matrix), np.abs(matrix.data) != 1, matrix.shape[0]) > 0
