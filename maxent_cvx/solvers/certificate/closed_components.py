"""Buckets of which nothing is known, and whose answer therefore is P(q, b) P(s, b) / P(b) (Privacy-MaxEnt, Eq. (9))."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from ..tolerances import EPS

__all__ = ["ClosedComponents", "closed_components"]


class ClosedComponents(NamedTuple):
    """Parts of a problem that have a closed form.

    Attributes
    ----------
    rows : ndarray of bool, one a row
    terms : ndarray of int
    moves : ndarray, one of the terms
        How far the count at hand may be from that, as a part of itself.
    """

    rows: np.ndarray
    terms: np.ndarray
    moves: np.ndarray


def closed_components(
    form: LinearForm, x: np.ndarray, free: np.ndarray, component_of_row: np.ndarray, component_of_term: np.ndarray
) -> ClosedComponents:
    """Find complete buckets of which only published equations speak, and compare counts with the closed form.

    Every free term of such a part is in two rows with coefficient 1, and there is one for every pair of a row of the
    one kind and a row of the other; as many people are in the rows of either kind, and weights are 1.
    """
    n, by_term, n_rows = form.n_published, form.published_by_term, form.shape[0]
    n_components = int(max(component_of_row.max(initial=-1), component_of_term.max(initial=-1))) + 1
    uneven = np.zeros(n_rows, dtype=bool)
    uneven[:n] = np.bincount(entry_rows(form.published), form.published.data != 1, n) > 0
    other = uneven | (np.arange(n_rows) >= n) | (form.low != form.high) | (form.side_error > 0)
    plain = free & (np.diff(by_term.indptr) == 2) & (form.weights == 1) & (x > 0)
    ok = np.bincount(component_of_term, ~plain, n_components) == 0
    ok &= np.bincount(component_of_row, other & (np.diff(form.matrix.indptr) > 0), n_components) == 0
    terms = np.flatnonzero(ok[component_of_term])
    ends = by_term.indices[by_term.indptr[terms][:, None] + np.arange(2)] if len(terms) else np.empty((0, 2), dtype=int)
    first, second = ends.min(axis=1), ends.max(axis=1)
    either = np.unique(first), np.unique(second)
    rows, people = (
        [np.bincount(component_of_row[kind], weight[kind], n_components) for kind in either]
        for weight in (np.ones(n_rows), form.low)
    )
    pairs = np.unique(first * np.int64(n_rows) + second)
    found = np.bincount(component_of_row[pairs // n_rows], minlength=n_components)
    ok &= (rows[0] * rows[1] == found) & (found == np.bincount(component_of_term[terms], minlength=n_components))
    ok &= (people[0] == people[1]) & ~np.isin(np.arange(n_components), component_of_row[np.intersect1d(*either)])
    kept = ok[component_of_term[terms]]
    terms, first, second = terms[kept], first[kept], second[kept]
    exact = form.low[first] * form.low[second] / people[0][component_of_term[terms]]
    return ClosedComponents(ok[component_of_row] & ~other, terms, np.abs(x[terms] / exact - 1) + 8 * EPS)
