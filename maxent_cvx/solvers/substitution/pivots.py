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
    pair, entry, contribution = largest_terms(rows, equations, upper)
    row, equation = np.divmod(pair, equations.matrix.shape[0])
    tried = Pivots(row, equation, rows.indices[entry], equations)
    left = sp.csr_array(rows - tried.multiples(rows) @ equations.matrix)
    pair_left, _, contribution_left = largest_terms(left, equations, upper)
    after = np.zeros(len(pair))
    after[np.searchsorted(pair, pair_left)] = contribution_left
    better = after <= SUBSTITUTION.least_reduction * contribution
    return Pivots(row[better], equation[better], tried.term[better], equations)


def largest_terms(
    rows: sp.csr_array, equations: Equations, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find a pivot for every row and equation with a common term.

    Returns
    -------
    pair : ndarray of int, ascending
        Row number times the number of equations, plus the equation's number.
    entry : ndarray of int, one a pair
        The entry of `rows` to eliminate: among those whose contribution is near the largest, the one with the least
        coefficient, so that subtracting this multiple adds little to the other terms.
    contribution : ndarray, one a pair
        The largest |coefficient| times upper bound over the common terms, records.
    """
    equation = equations.of_term[rows.indices]
    inside = np.flatnonzero(equation >= 0)
    sizes = np.abs(rows.data[inside])
    pair = entry_rows(rows)[inside] * np.int64(equations.matrix.shape[0]) + equation[inside]
    pairs, at = np.unique(pair, return_inverse=True)
    contribution, largest = sizes * upper[rows.indices[inside]], np.zeros(len(pairs))
    np.maximum.at(largest, at, contribution)
    near = np.flatnonzero(contribution >= SUBSTITUTION.least_reduction * largest[at])
    least = np.full(len(pairs), np.inf)
    np.minimum.at(least, at[near], sizes[near])
    chosen = near[sizes[near] == least[at[near]]][::-1]
    entry = np.zeros(len(pairs), dtype=np.int64)
    entry[at[chosen]] = inside[chosen]  # the first of several
    return pairs, entry, largest


def _entries_at(matrix: sp.csr_array, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The entries in some places, by binary search: a place is looked up among all entries of a row otherwise."""
    matrix = canonical(matrix)
    width = np.int64(matrix.shape[1])
    places, asked = entry_rows(matrix) * width + matrix.indices, row * width + column
    at = np.minimum(np.searchsorted(places, asked), len(places) - 1)
    return np.where(places[at] == asked, matrix.data[at], 0.0) if len(places) else np.zeros(len(asked))
