"""Rows over probabilities, stacked into one system over counts, with what rounding did to each of them.

Two things are done to the numbers that sources emit, and both are accounted for: published counts are integers, and
are rounded to integers again (n / N * N need not be n in floating point); and a row is scaled so that its largest
coefficient is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from ..solvers.parameters.tolerances import FEASIBILITY
from ..solvers.program.linear_form import LinearForm
from ..solvers.rows.penalties import Penalties
from ..solvers.rows.sparse import entry_rows, most_by_row
from ..terms.rows import Rows
from .row_blocks import RowBlocks

__all__ = ["stacked"]


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
    matrix = sp.csr_array(sp.vstack([rows.matrix for rows in blocks], format="csr"))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    n_published, n_facts = sum(map(len, published)), sum(map(len, [*published, *facts]))
    largest = most_by_row(np.abs(matrix.data), matrix)
    largest = np.where(largest > 0, largest, 1.0)  # also of a row that touches no term
    matrix.data = matrix.data / largest[entry_rows(matrix)]
    for row in blocks.typed[blocks.typed >= n_facts].tolist():
        _write_exactly(matrix, row, blocks.coefficients(row))
    scale = n_records / largest
    low, high = (np.concatenate([getattr(rows, side) for rows in blocks]) * scale for side in ("low", "high"))
    is_fact = np.arange(len(low)) < n_facts
    low, high = (np.where(is_fact, rounded_to_integers(side), side) for side in (low, high))
    # Where all coefficients are +-1 after scaling, only the sides carry roundoff.
    mixed = np.bincount(entry_rows(matrix), np.abs(matrix.data) != 1, len(low)) > 0
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)))
    is_integer = (np.rint(low) == low) & (np.rint(high) == high)
    side_error = np.where(is_fact & is_integer & ~mixed, 0.0, FEASIBILITY.places * (n_records * mixed + size))
    coefficient_error = np.where(mixed, FEASIBILITY.places, 0.0)
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
        penalties=_penalties([rows for rows in knowledge if rows.penalty is not None], scale),
    )


def _penalties(soft: Sequence[Rows], scale: np.ndarray) -> Penalties | None:
    """The costs of the last rows, soft ones, where a value v is v * scale records."""
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


def _write_exactly(matrix: sp.csr_array, row: int, typed: Sequence[tuple[Fraction, np.ndarray]]) -> None:
    """Round the quotient of every coefficient and the largest once, so that multiples of a row are the same row."""
    largest = max(abs(a) for a, _ in typed)
    dense = np.zeros(matrix.shape[1])
    for a, terms in typed:
        dense[terms] = float(a / largest)
    entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
    matrix.data[entries] = dense[matrix.indices[entries]]
