"""Which published rows can be merged: a colouring of the rows, found by hashing.

The hash of a row or a term is a sum of 64-bit numbers, one for each of its neighbours, so that their order does not
matter. Different neighbourhoods are taken for equal only if their hashes collide; every answer is checked against all
rows.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..monitoring.deadline import check_step
from ..parameters.tolerances import PRESOLVE
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows

__all__ = ["bits", "column_hashes", "equitable_partition", "proportional_rows", "row_sums", "scramble"]


def proportional_rows(form: LinearForm) -> np.ndarray | None:
    """Number the published rows such that rows with the same number can be merged; None if too few can be.

    Two rows can be merged if they are equations with coefficients 1 and positive sides, and if there is a bijection
    between their terms that preserves everything but these rows: weights, columns of knowledge, other published rows.
    The values of corresponding terms are then in the ratio of the sides. No term may be in two rows that are merged,
    so that values of one axis of a bucket are merged in one call, and those of the other axis in the next.
    """
    by_row, by_term, n = form.published, form.published_by_term, form.n_published
    own = scramble(np.arange(n))  # a random number a row
    of_entry = scramble(own[entry_rows(by_row)] ^ bits(by_row.data))
    term = row_sums(scramble(own[by_term.indices] ^ bits(by_term.data)), by_term) + column_hashes(form)
    others = row_sums(scramble(term[by_row.indices] - of_entry), by_row)  # hash of the terms but for this row
    ones = np.bincount(entry_rows(by_row), by_row.data != 1, n) == 0
    able = ones & (form.low[:n] == form.high[:n]) & (form.low[:n] > 0)
    others = np.where(able, others, own)
    kind = pd.factorize(others)[0]
    repeated = (np.bincount(kind) > 1)[kind]
    # No term may be in two rows that are merged: among the candidates of a term the first, or the last, is chosen.
    orders = [_foremost(by_row, by_term, kind, repeated, order) for order in (np.arange(n), np.arange(n)[::-1])]
    chosen = max(orders, key=np.count_nonzero)
    saved = np.count_nonzero(chosen) - len(np.unique(kind[chosen]))
    return pd.factorize(np.where(chosen, others, own))[0] if saved > PRESOLVE.least_saving * n / 2 else None


def _foremost(
    by_row: sp.csr_array, by_term: sp.csr_array, kind: np.ndarray, repeated: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Mark the kinds whose rows all come first, in the given order, among the candidate rows of each of their terms."""
    candidate = np.where(repeated, order, len(order))
    first = np.minimum.reduceat(np.append(candidate[by_term.indices], len(order)), by_term.indptr[:-1])
    follows = candidate[entry_rows(by_row)] != first[by_row.indices]
    out = repeated & (np.bincount(entry_rows(by_row), follows, len(order)) == 0)
    return out & (np.bincount(kind, ~out) == 0)[kind]


def equitable_partition(form: LinearForm) -> np.ndarray | None:
    """Colour the published rows by colour refinement: rows of one colour, and their terms, are interchangeable.

    Rows begin with the colour of their sides, terms with that of their weight and column of knowledge. Each round
    recolours terms by the colours of their rows, and rows by those of their terms, until nothing changes.

    Returns
    -------
    ndarray of int, one a published row, or None
        None if fewer rows than ``PRESOLVE.least_saving`` would be saved, or if ``PRESOLVE.colour_rounds`` do not
        suffice.
    """
    by_row, by_term, n = form.published, form.published_by_term, form.n_published
    of_sides = scramble(bits(form.low[:n]) ^ scramble(bits(form.high[:n])))
    of_columns = column_hashes(form)
    row, n_before = of_sides, 0
    by_row_data, by_term_data = bits(by_row.data), bits(by_term.data)
    for _ in range(PRESOLVE.colour_rounds):
        check_step()
        term = scramble(of_columns + row_sums(scramble(row[by_term.indices] ^ by_term_data), by_term))
        row = scramble(of_sides + row_sums(scramble(term[by_row.indices] ^ by_row_data), by_row))
        colour, distinct = pd.factorize(row)
        if len(distinct) == n_before:
            return colour
        if len(distinct) > (1 - PRESOLVE.least_saving) * n:
            return None
        n_before = len(distinct)
    return None


def column_hashes(form: LinearForm) -> np.ndarray:
    """Hash the weight and the column of knowledge of every term: all but its published rows."""
    return scramble(~scramble(form.known.of_term) ^ bits(form.weights))  # "~" avoids the hashes of row numbers


def scramble(numbers: np.ndarray) -> np.ndarray:
    """Map 64-bit integers to pseudo-random ones, one to one (SplitMix; Steele, Lea and Flood, 2014)."""
    z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def bits(numbers: np.ndarray) -> np.ndarray:
    """The bits of floating-point numbers as 64-bit integers."""
    return np.ascontiguousarray(numbers, dtype=float).view(np.uint64)


def row_sums(of_entry: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    """Sum 64-bit integers given one an entry over every row, modulo 2^64."""
    sums = np.concatenate([np.zeros(1, dtype=of_entry.dtype), np.cumsum(of_entry)])
    return sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]
