"""Pivots: the published equation that is subtracted from a row, and the term whose coefficient this eliminates."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import SUBSTITUTION
from ..program.linear_form import LinearForm
from ..rows.sparse import canonical, entry_rows

__all__ = ["Equations", "Pivots", "equation_blocks", "largest_terms", "pivots"]


class Equations(NamedTuple):
    """A block of published rows with coefficients 1, of which no two have a term in common.

    Attributes
    ----------
    first : int
        The number of the first of these rows among all rows.
    matrix : csr_array, shape (rows, terms)
    of_term : ndarray of int, one a term
        The row of the block that has the term, if it is an equation with an exact integer side; -1 otherwise.
    """

    first: int
    matrix: sp.csr_array
    of_term: np.ndarray


class Pivots(NamedTuple):
    """For pairs of a row and an equation, the term whose coefficient in the row is eliminated by the equation.

    Attributes
    ----------
    row, equation, term : ndarray of int, one a pair
    equations : Equations
    """

    row: np.ndarray
    equation: np.ndarray
    term: np.ndarray
    equations: Equations

    def multiples(self, rows: sp.csr_array) -> sp.csr_array:
        """The multiple of each equation that is subtracted from each row: the coefficient of the pivot term."""
        a = _entries_at(rows, self.row, self.term)
        return sp.csr_array((a, (self.row, self.equation)), shape=(rows.shape[0], self.equations.matrix.shape[0]))


def equation_blocks(form: LinearForm) -> list[Equations]:
    """Find the blocks of hard constraints with coefficients 1 whose rows have no term in common."""
    found = []
    ends = np.empty(0, dtype=int) if form.origin is None else form.origin.starts
    for start, end in itertools.pairwise(ends[ends <= form.n_facts].tolist()):
        matrix = form.rows(np.arange(start, end))
        side = form.low[start:end]
        exact = (side == form.high[start:end]) & (np.rint(side) == side) & (form.side_error[start:end] == 0)
        of_term = np.full(form.shape[1], -1)
        of_term[matrix.indices] = np.where(exact, np.arange(end - start), -1)[entry_rows(matrix)]
        if (matrix.data == 1).all() and len(np.unique(matrix.indices)) == matrix.nnz:
            found.append(Equations(start, matrix, of_term))
    return found


def pivots(rows: sp.csr_array, equations: Equations, upper: np.ndarray) -> Pivots:
    """Choose pivots for the pairs of a row and an equation where elimination reduces the largest contribution.

    The contribution of a term to a row is |coefficient| times the term's upper bound. The largest one over the terms of
    the equation must fall to the share ``SUBSTITUTION.least_reduction`` or less.
    """
    pairs = largest_terms(rows, equations, upper)
    most = SUBSTITUTION.least_reduction * pairs.contribution
    # What is left of the common terms is known without a product of matrices, and is too much for most rows.
    possible = np.flatnonzero(_left_of_common(rows, pairs, upper) <= most)
    row, equation = np.divmod(pairs.pair[possible], equations.matrix.shape[0])
    tried = Pivots(row, equation, rows.indices[pairs.entry[possible]], equations)
    if not len(row):
        return tried
    some, own = np.unique(row, return_inverse=True)
    multiples = Pivots(own, equation, tried.term, equations).multiples(chosen := rows[some])
    left = largest_terms(sp.csr_array(chosen - multiples @ equations.matrix), equations, upper)
    after = np.zeros(len(some) * equations.matrix.shape[0])
    after[left.pair] = left.contribution
    better = after[own * equations.matrix.shape[0] + equation] <= most[possible]
    return Pivots(row[better], equation[better], tried.term[better], equations)


class Pairs(NamedTuple):
    """Pairs of a row and an equation with a common term.

    Attributes
    ----------
    pair : ndarray of int, ascending
        Row number times the number of equations, plus the equation's number.
    entry : ndarray of int, one a pair
        The entry of the rows to eliminate: among those whose contribution is near the largest, the one with the least
        coefficient, so that subtracting this multiple adds little to the other terms.
    contribution : ndarray, one a pair
        The largest |coefficient| times upper bound over the common terms, records.
    common, of_common : ndarray of int
        The entries of all common terms, and the pair of each.
    """

    pair: np.ndarray
    entry: np.ndarray
    contribution: np.ndarray
    common: np.ndarray
    of_common: np.ndarray


def largest_terms(rows: sp.csr_array, equations: Equations, upper: np.ndarray) -> Pairs:
    """Find a pivot for every row and equation with a common term."""
    equation = equations.of_term[rows.indices]
    inside = np.flatnonzero(equation >= 0)
    sizes = np.abs(rows.data[inside])
    pair = entry_rows(rows)[inside] * np.int64(equations.matrix.shape[0]) + equation[inside]
    pairs, at = _numbered(pair, rows.shape[0] * equations.matrix.shape[0])
    contribution, largest = sizes * upper[rows.indices[inside]], np.zeros(len(pairs))
    np.maximum.at(largest, at, contribution)
    near = np.flatnonzero(contribution >= SUBSTITUTION.least_reduction * largest[at])
    least = np.full(len(pairs), np.inf)
    np.minimum.at(least, at[near], sizes[near])
    chosen = near[sizes[near] == least[at[near]]][::-1]
    entry = np.zeros(len(pairs), dtype=np.int64)
    entry[at[chosen]] = inside[chosen]  # the first of several
    return Pairs(pairs, entry, largest, inside, at)


def _left_of_common(rows: sp.csr_array, pairs: Pairs, upper: np.ndarray) -> np.ndarray:
    """The largest |coefficient| times upper bound that elimination leaves of the common terms of each pair, records."""
    left = np.abs(rows.data[pairs.common] - rows.data[pairs.entry][pairs.of_common])
    found = np.zeros(len(pairs.pair))
    np.maximum.at(found, pairs.of_common, left * upper[rows.indices[pairs.common]])
    return found


def _numbered(values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ones of some integers from 0 to n - 1, ascending, and the place of each among them."""
    if n > len(values):  # a table would be larger than what is sorted
        return np.unique(values, return_inverse=True)
    occurs = np.zeros(n, dtype=bool)
    occurs[values] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[values]


def _entries_at(matrix: sp.csr_array, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The entries in some places, by binary search: a place is looked up among all entries of a row otherwise."""
    matrix = canonical(matrix)
    width = np.int64(matrix.shape[1])
    places, asked = entry_rows(matrix) * width + matrix.indices, row * width + column
    at = np.minimum(np.searchsorted(places, asked), len(places) - 1)
    return np.where(places[at] == asked, matrix.data[at], 0.0) if len(places) else np.zeros(len(asked))
