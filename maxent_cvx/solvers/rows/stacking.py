"""Rows over probabilities, stacked into one system over counts, with what rounding did to each of them.

Two things are done to the numbers that sources emit, and both are accounted for: published counts are whole, and are
made whole again (n / N * N need not be n in floating point); and a row is scaled so that its largest coefficient is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...terms.rows import Rows
from .sparse import entry_rows, most_by_row

__all__ = ["LAST_PLACES", "Stacked", "stacked"]

#: Units in the last place by which a coefficient or a side can be off: a share, its inverse, the factor of the
#: statement, the scale, and the product with the value are rounded, each by half a unit.
LAST_PLACES = 4 * float(np.finfo(float).eps)


class Stacked(NamedTuple):
    """low <= matrix @ x <= high over counts.

    Attributes
    ----------
    matrix : csr_array, shape (rows, terms)
    low, high : ndarray
        People; infinite where a side is open.
    scale : ndarray
        A value v as typed is v * scale people.
    doubt : ndarray
        How far off a row may be for having been rounded, people: its value less its sides, at any x >= 0 that
        satisfies the published rows.
    blur : ndarray
        How far off any coefficient of a row may be for that reason.
    """

    matrix: sp.csr_array
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    doubt: np.ndarray
    blur: np.ndarray


def stacked(published: Sequence[Rows], facts: Sequence[Rows], knowledge: Sequence[Rows], n_records: int) -> Stacked:
    """Stack rows over p into one system over counts; published ones and other facts are counts of people."""
    counted, blocks = [*published, *facts], [*published, *facts, *knowledge]
    matrix = sp.csr_array(sp.vstack([rows.matrix for rows in blocks], format="csr"))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    n_facts = sum(map(len, counted))
    largest = most_by_row(np.abs(matrix.data), matrix)
    largest = np.where(largest > 0, largest, 1.0)  # also of a row that touches no term
    matrix.data = matrix.data / largest[entry_rows(matrix)]
    place = n_facts
    for rows in knowledge:
        if rows.typed:
            _write_exactly(matrix, place, rows.typed)
        place += len(rows)
    scale = n_records / largest
    low, high = (np.concatenate([getattr(rows, side) for rows in blocks]) * scale for side in ("low", "high"))
    is_fact = np.arange(len(low)) < n_facts
    low, high = (np.where(is_fact, made_whole(side), side) for side in (low, high))
    # Of one coefficient for all terms, what rounding does to it is done to the side.
    mixed = np.bincount(entry_rows(matrix), np.abs(matrix.data) != 1, len(low)) > 0
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)))
    whole = (np.rint(low) == low) & (np.rint(high) == high)
    doubt = np.where(is_fact & whole & ~mixed, 0.0, LAST_PLACES * (n_records * mixed + size))
    return Stacked(matrix, low, high, scale, doubt, np.where(mixed, LAST_PLACES, 0.0))


def made_whole(side: np.ndarray) -> np.ndarray:
    """Counts that are whole but for rounding, whole."""
    with np.errstate(invalid="ignore"):
        nearest = np.rint(side)
        return np.where(np.abs(side - nearest) <= LAST_PLACES * np.abs(side), nearest, side)


def _write_exactly(matrix: sp.csr_array, row: int, typed: Sequence[tuple[Fraction, np.ndarray]]) -> None:
    """Round the quotient of every coefficient and the largest once, so that multiples of a row are the same row."""
    largest = max(abs(a) for a, _ in typed)
    dense = np.zeros(matrix.shape[1])
    for a, terms in typed:
        dense[terms] = float(a / largest)
    entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
    matrix.data[entries] = dense[matrix.indices[entries]]
