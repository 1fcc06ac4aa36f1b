"""Buckets without knowledge, whose solution has the closed form P(q, b) P(s, b) / P(b) (Privacy-MaxEnt, Eq. (9))."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...parameters.tolerances import EPS
from ...program.linear_form import LinearForm
from ...rows.sparse import entry_rows

__all__ = ["ClosedComponents", "closed_components"]


class ClosedComponents(NamedTuple):
    """The connected components of a problem whose solution has a closed form.

    Attributes
    ----------
    rows : ndarray of bool, one a row
        Whether the row is in such a component.
    terms : ndarray of int
        The terms of these components.
    moves : ndarray, one of the terms
        A bound on the relative difference between the count and its closed form.
    """

    rows: np.ndarray
    terms: np.ndarray
    moves: np.ndarray


def closed_components(
    form: LinearForm, x: np.ndarray, free: np.ndarray, component_of_row: np.ndarray, component_of_term: np.ndarray
) -> ClosedComponents:
    """Find the complete buckets without knowledge, and compare counts with the closed form.

    The rows of such a component are published equations of two kinds (QI values and sensitive values). Every free term
    has coefficient 1 in one row of each kind, there is a term for every such pair of rows, the sides of both kinds have
    the same sum, and weights are 1.

    Parameters
    ----------
    form : LinearForm
    x : ndarray, one a term
        Counts, records.
    free : ndarray of bool, one a term
        Terms that are not fixed.
    component_of_row, component_of_term : ndarray of int
        The connected component of each row and of each term.
    """
    n, by_term, n_rows = form.n_published, form.published_by_term, form.shape[0]
    n_components = int(max(component_of_row.max(initial=-1), component_of_term.max(initial=-1))) + 1
    not_unit = np.zeros(n_rows, dtype=bool)
    not_unit[:n] = np.bincount(entry_rows(form.published), form.published.data != 1, n) > 0
    other = not_unit | (np.arange(n_rows) >= n) | (form.low != form.high) | (form.side_error > 0)
    plain = free & (np.diff(by_term.indptr) == 2) & (form.weights == 1) & (x > 0)
    soft = np.flatnonzero(np.isneginf(form.low) & np.isposinf(form.high))  # they do not link terms, but move them
    plain[form.rows(soft).indices] = False
    ok = np.bincount(component_of_term, ~plain, n_components) == 0
    ok &= np.bincount(component_of_row, other & (form.entries > 0), n_components) == 0
    ok[component_of_row[form.rows_involving(~free & (x > 0))]] = False  # sides are not those of the free terms alone
    terms = np.flatnonzero(ok[component_of_term])
    starts = by_term.indptr[terms]
    pair = (by_term.indices[starts], by_term.indices[starts + 1]) if len(terms) else (terms, terms)
    first, second = np.minimum(*pair), np.maximum(*pair)
    kinds = np.zeros((2, n_rows), dtype=bool)
    kinds[0, first] = kinds[1, second] = True
    n_of_kind, records = (
        [np.bincount(component_of_row[kind], weight[kind], n_components) for kind in kinds]
        for weight in (np.ones(n_rows), form.low)
    )
    pairs = np.sort(first * np.int64(n_rows) + second)
    repeated = pairs[1:][pairs[1:] == pairs[:-1]] // n_rows  # the rows of pairs that two terms have
    ok[component_of_row[repeated]] = False
    ok &= n_of_kind[0] * n_of_kind[1] == np.bincount(component_of_term[terms], minlength=n_components)
    ok &= records[0] == records[1]
    ok[component_of_row[kinds[0] & kinds[1]]] = False
    kept = ok[component_of_term[terms]]
    terms, first, second = terms[kept], first[kept], second[kept]
    exact = form.low[first] * form.low[second] / records[0][component_of_term[terms]]
    return ClosedComponents(ok[component_of_row] & ~other, terms, np.abs(x[terms] / exact - 1) + 8 * EPS)
