"""Pivots: which published equation to subtract from which row, so that which term's coefficient becomes 0."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from ..tolerances import SUBSTITUTION

__all__ = ["Equations", "Pivots", "equations_of", "largest_terms", "pivots"]


class Equations(NamedTuple):
    """Published equations without a term in common, all of coefficients 1.

    Attributes
    ----------
    first : int
        The number of the first among all rows.
    matrix : csr_array
    of_term : ndarray of int
        Which of them each term is in; -1 for none.
    """

    first: int
    matrix: sp.csr_array
    of_term: np.ndarray


class Pivots(NamedTuple):
    """Equations that are subtracted from rows, so often that the coefficient of one term becomes 0.

    Attributes
    ----------
    row, equation, term : ndarray of int
    equations : Equations
    """

    row: np.ndarray
    equation: np.ndarray
    term: np.ndarray
    equations: Equations

    def multiples(self, rows: sp.csr_array) -> sp.csr_array:
        """How often each equation is subtracted from each row: the coefficients that the terms have."""
        a = np.asarray(rows[self.row, self.term]).ravel() if len(self.row) else np.empty(0)
        return sp.csr_array((a, (self.row, self.equation)), shape=(rows.shape[0], self.equations.matrix.shape[0]))


def equations_of(form: LinearForm) -> list[Equations]:
    """The blocks of facts whose rows have no term in common."""
    found = []
    ends = np.empty(0, dtype=int) if form.origin is None else form.origin.starts
    for start, end in itertools.pairwise(ends[ends <= form.n_facts].tolist()):
        matrix = sp.csr_array(form.matrix[start:end])
        whole = (form.low[start:end] == form.high[start:end]) & (np.rint(form.low[start:end]) == form.low[start:end])
        of_term = np.full(form.shape[1], -1)
        of_term[matrix.indices] = np.where(whole & (form.side_error[start:end] == 0), np.arange(end - start), -1)[
            entry_rows(matrix)
        ]
        if (matrix.data == 1).all() and len(np.unique(matrix.indices)) == matrix.nnz:
            found.append(Equations(start, matrix, of_term))
    return found


def pivots(rows: sp.csr_array, equations: Equations, upper: np.ndarray) -> Pivots:
    """Choose, of every equation that a row is about, its largest term, if subtracting that often leaves less of it."""
    pair, entry, amount = largest_terms(rows, equations, upper)
    row, equation = np.divmod(pair, equations.matrix.shape[0])
    tried = Pivots(row, equation, rows.indices[entry], equations)
    left = sp.csr_array(rows - tried.multiples(rows) @ equations.matrix)
    pair_left, _, amount_left = largest_terms(left, equations, upper)
    after = np.zeros(len(pair))
    after[np.searchsorted(pair, pair_left)] = amount_left
    better = after <= SUBSTITUTION.least_reduction * amount
    return Pivots(row[better], equation[better], tried.term[better], equations)


def largest_terms(
    rows: sp.csr_array, equations: Equations, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every row and equation with terms in common a pivot, and what any of the terms can amount to, people.

    That is the entry with the least coefficient of those that amount to most: subtracting it as often leaves few.
    """
    equation = equations.of_term[rows.indices]
    inside = np.flatnonzero(equation >= 0)
    sizes = np.abs(rows.data[inside])
    pair = entry_rows(rows)[inside] * np.int64(equations.matrix.shape[0]) + equation[inside]
    pairs, at = np.unique(pair, return_inverse=True)
    amount, most = sizes * upper[rows.indices[inside]], np.zeros(len(pairs))
    np.maximum.at(most, at, amount)
    order = np.lexsort((sizes, amount <= SUBSTITUTION.least_reduction * most[at], at))
    first = order[np.flatnonzero(np.diff(at[order], prepend=-1))]
    return pairs, inside[first], most
