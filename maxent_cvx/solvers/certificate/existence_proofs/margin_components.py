r"""Components of published rows alone, some of whose terms are fixed: a transport problem with forbidden cells.

Where knowledge fixes some terms of a bucket and restricts no others, every term that is left has coefficient 1 in one
row of either kind (QI values and sensitive values). Terms are then the edges of a bipartite graph whose vertices are
the rows. A connected one has n rows of rank n - 1: the sum of the rows of one kind is that of the other kind, and any
n - 1 rows are independent (the incidence matrix of a connected graph). No elimination is needed to know which rows
depend on others, and many components are examined in one batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...parameters.size_limits import EXISTENCE_PROOF_SIZES, NEWTON_COSTS
from ...parameters.tolerances import CERTIFICATION
from ...program.linear_form import LinearForm
from ...rows.sparse import entry_rows
from ..residuals import residual_bounds
from .active_rows import ActiveRows
from .verified_inverse import bounded_moves_of_batch

__all__ = ["MarginComponents", "margin_components"]


class MarginComponents(NamedTuple):
    """The components for which a point is proved to exist that satisfies their rows exactly.

    Attributes
    ----------
    rows : ndarray of bool, one a row
        Whether the row is in such a component.
    terms : ndarray of int
        The terms of these components that are not fixed.
    moves : ndarray, one of the terms
        A bound on the relative change of the count to that point.
    """

    rows: np.ndarray
    terms: np.ndarray
    moves: np.ndarray


def margin_components(
    form: LinearForm,
    x: np.ndarray,
    active: ActiveRows,
    free: np.ndarray,
    left: np.ndarray,
    of_row: np.ndarray,
    of_term: np.ndarray,
) -> MarginComponents:
    """Prove for components of published rows alone that their rows hold exactly at a point nearby.

    Parameters
    ----------
    form : LinearForm
    x : ndarray, one a term
        Counts, records.
    active : ActiveRows
    free : ndarray of bool, one a term
        Terms that are not fixed.
    left : ndarray of bool, one a row
        Active rows that involve such a term, and for which nothing has been proved yet.
    of_row, of_term : ndarray of int
        The connected component of each row, and of each term.
    """
    first, second = _ends(form, free)
    rows, terms = _selected(form, free, left, first, second, of_row, of_term)
    found = np.zeros(len(left), dtype=bool)
    if not len(rows):
        return MarginComponents(found, terms, np.empty(0))
    numbers, of = np.unique(of_term[terms], return_inverse=True)
    size = np.bincount(np.searchsorted(numbers, of_row[rows]))
    place, residual = np.full(form.shape[0], -1), np.zeros(form.shape[0])
    place[rows] = np.arange(len(rows)) - np.repeat(np.cumsum(size) - size, size)
    residual[rows] = residual_bounds(form, x, rows, active.side[rows]) + active.side_error[rows]
    ends, moves = np.stack([first[terms], second[terms]]), np.full(len(terms), np.inf)
    for batch, height in _batches(size):
        at = np.full(len(numbers), -1)
        at[batch] = np.arange(len(batch))
        own = np.flatnonzero(at[of] >= 0)
        own = own[np.argsort(at[of[own]], kind="stable")]
        system, width = at[of[own]], np.bincount(at[of[own]])
        local = np.arange(len(own)) - np.repeat(np.cumsum(width) - width, width)
        matrix = np.zeros((len(batch), height, int(width.max())))
        counts, off = np.zeros((len(batch), matrix.shape[2])), np.zeros(matrix.shape[:2])
        counts[system, local] = x[terms[own]]
        for end in ends[:, own]:
            kept = place[end] < size[of[own]] - 1  # the last row of each component depends on the others
            matrix[system[kept], place[end[kept]], local[kept]] = 1.0
            off[system[kept], place[end[kept]]] = residual[end[kept]]
        moves[own] = bounded_moves_of_batch(matrix, counts, off)[system, local]
    moves = np.where((x[terms] > 0) | np.isinf(moves), moves, 0.0)  # counts of 0 do not change
    proved = np.bincount(of, ~(moves <= CERTIFICATION.most_moved), len(numbers)) == 0
    found[rows] = proved[np.searchsorted(numbers, of_row[rows])]
    return MarginComponents(found, terms[proved[of]], moves[proved[of]])


def _selected(
    form: LinearForm,
    free: np.ndarray,
    left: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    of_row: np.ndarray,
    of_term: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The rows, one component after the other, and the terms of components of published rows of two kinds."""
    n_components = int(max(of_row.max(initial=-1), of_term.max(initial=-1))) + 1
    size = np.bincount(of_row[left], minlength=n_components)
    ok = (size > 0) & (size <= EXISTENCE_PROOF_SIZES.largest_component)
    ok &= np.bincount(of_term[free], first[free] < 0, n_components) == 0
    ok[of_row[_others(form, free)]] = False
    chosen = np.flatnonzero(free & ok[of_term])
    ok[of_row[np.intersect1d(first[chosen], second[chosen])]] = False  # not bipartite, or not seen to be
    if (size[ok].astype(float) ** 3).sum() > EXISTENCE_PROOF_SIZES.most_work:
        ok[:] = False
    rows = np.flatnonzero(left & ok[of_row])
    return rows[np.argsort(of_row[rows], kind="stable")], chosen[ok[of_term[chosen]]]


def _ends(form: LinearForm, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last published row of each term that is free and has exactly two; -1 for other terms."""
    by_term = form.published_by_term
    plain = np.flatnonzero(free & (np.diff(by_term.indptr) == 2))
    pair = by_term.indices[by_term.indptr[plain]], by_term.indices[by_term.indptr[plain] + 1]
    first, second = np.full(len(free), -1), np.full(len(free), -1)
    first[plain], second[plain] = np.minimum(*pair), np.maximum(*pair)
    return first, second


def _others(form: LinearForm, free: np.ndarray) -> np.ndarray:
    """Mark the rows that involve a free term and are not published equations with coefficients 1."""
    n, published = form.n_published, form.published
    not_unit = np.bincount(entry_rows(published), published.data != 1, n) > 0
    restricts = np.isfinite(form.low) | np.isfinite(form.high)
    others = np.concatenate([not_unit | (form.low[:n] != form.high[:n]), restricts[n:]])
    return others & form.rows_involving(free)


def _batches(size: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Divide components by their number of rows, less one, into batches that are padded to the same power of two."""
    height = np.exp2(np.ceil(np.log2(np.maximum(size - 1, 1)))).astype(np.int64)
    for common in np.unique(height).tolist():
        batch = np.flatnonzero(height == common)
        step = max(NEWTON_COSTS.batch // (4 * common**2), 1)
        for start in range(0, len(batch), step):
            yield batch[start : start + step], common
