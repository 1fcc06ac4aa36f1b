"""What intervals are asked of: linear expressions of the counts of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...sources import Probability, PublishedTable
from ...terms.space import Space

__all__ = ["Asked", "of_combinations", "of_conditionals", "of_table"]


@dataclass(frozen=True, eq=False)
class Asked:
    """Expressions ``matrix @ x + constant`` of the counts x = N p, and what is known of each beforehand.

    Attributes
    ----------
    matrix : csr_array, shape (expressions, terms)
    constant : ndarray
    attainable : ndarray, shape (2, expressions)
        What it can be at all: a probability is from 0 to 1.
    is_rectangle : ndarray of bool
        Whether it is a multiple of the sum of terms that are in every bucket all of some QI tuples with some values.
    index : Index
    """

    matrix: sp.csr_array
    constant: np.ndarray
    attainable: np.ndarray
    is_rectangle: np.ndarray
    index: pd.Index


def of_combinations(combinations: Sequence[Probability], space: Space) -> Asked:
    """Ask for linear combinations of probabilities."""
    rows, every = [], []
    for combination in combinations:
        parts = [coefficient * event.row(space) for event, coefficient in combination.terms.items()]
        every.append(parts)
        rows.append(sum(parts[1:], parts[0]) if parts else sp.csr_array((1, len(space))))
    matrix = sp.csr_array(sp.vstack(rows, format="csr") / space.n_records) if rows else sp.csr_array((0, len(space)))
    matrix.eliminate_zeros()
    return Asked(
        matrix,
        np.array([combination.constant for combination in combinations], dtype=float),
        np.array([combination.attainable() for combination in combinations], dtype=float).reshape(-1, 2).T,
        np.array([_is_multiple(parts) for parts in every], dtype=bool),
        pd.Index(map(str, combinations), name="probability"),
    )


def _is_multiple(parts: list[sp.csr_array]) -> bool:
    """Whether an expression is a multiple of one probability: a mean has several coefficients."""
    return len(parts) == 1 and len(np.unique(parts[0].data)) <= 1


def of_conditionals(space: Space) -> Asked:
    """Ask for every P(s | q) that is not impossible."""
    q, s, n_values = space.codes["q"], space.codes["s"], len(space.view.sensitive_values)
    _, first, pair = np.unique(q * n_values + s, return_index=True, return_inverse=True)
    n, n_terms = len(first), len(space)
    matrix = sp.csr_array((1 / space.view.n_q[q], (pair, np.arange(n_terms))), shape=(n, n_terms))
    attainable = np.stack([np.zeros(n), np.ones(n)])
    index = space.axes.labels(["q", "s"], first)
    return Asked(matrix, np.zeros(n), attainable, np.ones(n, dtype=bool), index)


def of_table(table: PublishedTable, space: Space, cells: np.ndarray) -> Asked:
    """Ask for the number of people in some cells of a table, given by position."""
    n = len(cells)
    attainable = np.stack([np.zeros(n), np.full(n, float(space.n_records))])
    matrix = sp.csr_array(table.matrix(space)[cells])
    return Asked(matrix, np.zeros(n), attainable, np.ones(n, dtype=bool), table.cells.index[cells])
