"""Linear expressions whose least and largest values are asked for, divided by the independent parts of a problem."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import LINEAR_PROGRAMS
from ..presolve.bound_propagation import term_bounds
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows, most_by_row

__all__ = ["Questions"]


class Questions:
    """What is proved, and what is attained, of expressions over the feasible set; both are in units of `size`.

    An expression is the sum of its parts, one a connected component, whose least values add up. So do the largest.

    Parameters
    ----------
    form : LinearForm
    expressions : csr_array, shape (expressions, terms)
    n_records : float
        An upper bound on every term.

    Attributes
    ----------
    of_term, of_row : ndarray of int
        The component of every term and row, of `n_components`.
    matrix : csr_array, shape (parts, terms)
        The largest coefficient of a part is 1 in absolute value.
    size : ndarray, one a part
        What its coefficients were divided by.
    expression, component : ndarray of int, one a part
    of_terms : ndarray, shape (2, terms)
        Bounds of every term, from below and above.
    proved, attained : ndarray, shape (2, parts)
        The least and the largest value: `proved` from outside, by bounds of terms to begin with; and of the feasible
        points found so far, (inf, -inf) to begin with.
    """

    def __init__(self, form: LinearForm, expressions: sp.csr_array, n_records: float) -> None:
        self.n_expressions = expressions.shape[0]
        self.of_row, self.of_term = form.components()
        self.n_components = int(max(self.of_row.max(initial=0), self.of_term.max(initial=0))) + 1
        part_of = entry_rows(expressions) * self.n_components + self.of_term[expressions.indices]
        parts, row = np.unique(part_of, return_inverse=True)
        self.expression, self.component = np.divmod(parts, self.n_components)
        matrix = sp.csr_array((expressions.data, (row, expressions.indices)), shape=(len(parts), form.shape[1]))
        self.size = most_by_row(np.abs(matrix.data), matrix)
        self.matrix = sp.csr_array(sp.diags_array(1 / self.size) @ matrix)
        self.of_terms = np.stack(term_bounds(form, n_records))
        lower, upper = self.of_terms
        positive, negative = sp.csr_array(self.matrix.maximum(0)), sp.csr_array(self.matrix.minimum(0))
        self.proved = np.stack([positive @ lower + negative @ upper, positive @ upper + negative @ lower])
        self.attained = np.stack([np.full(len(parts), np.inf), np.full(len(parts), -np.inf)])

    @property
    def open(self) -> np.ndarray:
        """Which least and which largest values are not yet known, of shape (2, parts)."""
        least, most = self.attained - self.proved
        return np.stack([least > LINEAR_PROGRAMS.gap, most < -LINEAR_PROGRAMS.gap])

    def attain(self, x: np.ndarray, terms: np.ndarray, feasible: np.ndarray) -> None:
        """Take note of the values at a point.

        Parameters
        ----------
        x : ndarray
        terms : ndarray of int
            Where its numbers belong: whole components.
        feasible : ndarray of bool, one a component
            Whether it has values there, which satisfy the rows.
        """
        every = np.zeros(self.matrix.shape[1])
        every[terms] = x
        values = self.matrix @ every
        at = feasible[self.component]
        self.attained[0, at] = np.minimum(self.attained[0, at], values[at])
        self.attained[1, at] = np.maximum(self.attained[1, at], values[at])

    def answer(self, side: np.ndarray | int, part: np.ndarray | int, value: np.ndarray | float) -> None:
        """Take note of least (side 0) or largest (side 1) values that are proved, and attained up to the gap."""
        self.proved[side, part] = self.attained[side, part] = value

    def are_known(self) -> np.ndarray:
        """Which least and which largest values of expressions are attained, of shape (2, expressions)."""
        return np.stack([np.bincount(self.expression, side, self.n_expressions) == 0 for side in self.open])

    def bounds(self) -> np.ndarray:
        """The least and the largest value of every expression, as far as they are proved, of shape (2, expressions)."""
        return np.stack([np.bincount(self.expression, side * self.size, self.n_expressions) for side in self.proved])
