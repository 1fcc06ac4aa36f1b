"""A sparse matrix with many identical columns: each distinct column is stored once.

A statement about all men has the same coefficient on every term of a man. With the distinct columns, a product with the
matrix takes one pass over the terms and one over the entries of the distinct columns. It also saves memory, since
hundreds of statements may involve every term many times.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .sparse import canonical, compact, entry_rows, pattern, stacked, with_data

#: Numbers per entry of a matrix up to which a lookup table is faster than a search.
MOST_DENSE = 16


def column_classes(blocks: Sequence[sp.csr_array]) -> tuple[np.ndarray, np.ndarray, sp.csr_array]:
    """Return the class of every column of a matrix, one example column of every class, and the example columns.

    Columns are compared by their product with a random vector: equal columns add the same numbers in the same order.
    Two different columns have the same product with probability about 1e-16, unless they differ by less than rounding.
    The result is checked; if the check fails, sums of the scrambled bits of the entries are compared instead.
    """
    n_columns, seed = blocks[0].shape[1], 0
    while True:
        rng, hashes = np.random.default_rng(seed), np.zeros(n_columns, dtype=np.uint64 if seed else float)
        for chunk in _chunks(blocks):
            hashes += _sums_of_bits(chunk, rng) if seed else chunk.T @ rng.uniform(1, 2, chunk.shape[0])
        of_column, classes = pd.factorize(hashes)
        example = np.empty(len(classes), dtype=np.int64)
        example[of_column] = np.arange(n_columns)
        size, examples = np.bincount(of_column, minlength=len(classes)), []
        for chunk in _chunks(blocks):
            examples.append(chunk[:, example])
            examples[-1].sort_indices()
            if not _repeats(chunk, examples[-1], of_column, size):
                break
        else:
            return of_column, example, compact(stacked(examples))
        seed += 1


def _chunks(blocks: Sequence[sp.csr_array]) -> Iterator[sp.csr_array]:
    """Stack blocks until there are as many entries as columns, so that one pass over all columns is worthwhile."""
    ends = np.cumsum([len(block.indices) for block in blocks]) // max(blocks[0].shape[1], 1)
    starts = np.flatnonzero(np.diff(ends, prepend=0))  # a chunk ends with the block that reaches the next multiple
    for start, end in itertools.pairwise(np.unique([0, *(starts + 1), len(blocks)]).tolist()):
        yield canonical(stacked(blocks[start:end]))


def _sums_of_bits(block: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Sum the bits of the entries of each column, scrambled with their row number, modulo 2^64; one integer per column."""
    of_row, sums = rng.integers(0, 2**64, block.shape[0], dtype=np.uint64), np.zeros(block.shape[1], dtype=np.uint64)
    np.add.at(sums, block.indices, scramble(bits(block.data) ^ of_row[entry_rows(block)]))
    return sums


def scramble(numbers: np.ndarray) -> np.ndarray:
    """Map 64-bit integers to pseudo-random ones, one to one (SplitMix; Steele, Lea and Flood, 2014)."""
    z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def bits(numbers: np.ndarray) -> np.ndarray:
    """Return the bits of floating-point numbers as 64-bit integers."""
    return np.ascontiguousarray(numbers, dtype=float).view(np.uint64)


def _repeats(block: sp.csr_array, examples: sp.csr_array, of_column: np.ndarray, size: np.ndarray) -> bool:
    """Return whether every column of a block equals the example of its class; `size` is the size of each class."""
    if len(size) == len(of_column):
        return True
    if size[examples.indices].sum() != block.nnz:  # a row has no repeated or zero entries
        return False
    table = examples.toarray() if np.prod(examples.shape, dtype=float) <= MOST_DENSE * block.nnz else examples
    expected = table[entry_rows(block), of_column[block.indices]]
    return bool((np.asarray(expected).ravel() == block.data).all())


class SharedColumns:
    """A matrix given by its distinct columns, ``matrix[:, t] == distinct[:, of_term[t]]``."""

    def __init__(self, matrix: sp.csr_array | Sequence[sp.csr_array], of_term: np.ndarray | None = None) -> None:
        blocks = [matrix] if isinstance(matrix, sp.csr_array) else list(matrix)
        of_column, _, self.distinct = column_classes(blocks)
        self.of_term = of_column if of_term is None else of_column[of_term]

    @classmethod
    def of_distinct(cls, distinct: sp.csr_array, of_term: np.ndarray) -> SharedColumns:
        """Build the matrix from columns that are known to be distinct."""
        shared = cls.__new__(cls)
        shared.distinct, shared.of_term = distinct, of_term
        return shared

    @cached_property
    def transposed(self) -> sp.csr_array:
        """Distinct columns as rows, shape (classes, rows)."""
        return self.distinct.T.tocsr()

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and terms."""
        return self.distinct.shape[0], len(self.of_term)

    def rows(self, numbers: np.ndarray) -> sp.csr_array:
        """Return some rows of the matrix, with an entry for every term."""
        rows = self.distinct[numbers][:, self.of_term]
        rows.sort_indices()
        return rows

    def toarray(self) -> np.ndarray:
        """Return the matrix as a dense array."""
        return np.asarray(self.distinct.toarray()[:, self.of_term])

    def select(self, rows: np.ndarray) -> SharedColumns:
        """Return the matrix with the given rows only, in the given order."""
        if np.array_equal(rows, np.arange(self.shape[0])):
            return self
        return SharedColumns(self.distinct[rows], self.of_term)

    def columns(self, terms: np.ndarray) -> SharedColumns:
        """Return the matrix with the columns of the given terms only, in the given order."""
        of_term = self.of_term[terms]
        is_used = np.bincount(of_term, minlength=self.distinct.shape[1]) > 0
        if is_used.all():
            return self.of_distinct(self.distinct, of_term)
        return self.of_distinct(self.distinct[:, np.flatnonzero(is_used)], (np.cumsum(is_used) - 1)[of_term])

    def divided(self, by: np.ndarray) -> SharedColumns:
        """Return the matrix with every row divided by a number."""
        distinct = self.distinct
        return self.of_distinct(with_data(distinct, distinct.data / by[entry_rows(distinct)]), self.of_term)

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Compute A x."""
        return self.distinct @ self.collect(x)

    def rmatvec(self, multipliers: np.ndarray) -> np.ndarray:
        """Compute A' multipliers, one number per term."""
        return (self.transposed @ multipliers)[self.of_term]

    def collect(self, x: np.ndarray) -> np.ndarray:
        """Sum x over the terms of each class of identical columns; the sums of integers are integers."""
        if x.dtype.kind == "i":
            sums = np.zeros(self.distinct.shape[1], dtype=x.dtype)
            np.add.at(sums, self.of_term, x)
            return sums
        return np.bincount(self.of_term, x, self.distinct.shape[1]).astype(float, copy=False)

    @cached_property
    def pattern(self) -> sp.csr_array:
        """Distinct columns with 1 in place of every coefficient."""
        return pattern(self.distinct)

    @cached_property
    def squared(self) -> sp.csr_array:
        """Distinct columns with every coefficient squared."""
        return self.distinct.power(2)

    @property
    def touched(self) -> np.ndarray:
        """Mark the terms that have a coefficient in some row."""
        return (np.diff(self.transposed.indptr) > 0)[self.of_term]


# The coefficients of a system: published rows unchanged, all other rows by their distinct columns.


@dataclass(frozen=True, eq=False)
class SplitMatrix:
    """The published rows of a system, and below them the other rows, in which many terms have equal columns."""

    published: sp.csr_array  # shape (published rows, terms)
    known: SharedColumns  # the rows that are not published, each distinct column stored once

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and terms."""
        return self.published.shape[0] + self.known.shape[0], self.published.shape[1]

    def rows(self, numbers: np.ndarray) -> sp.csr_array:
        """Return the given rows as one sparse matrix, in the given order."""
        is_known, n = numbers >= self.published.shape[0], self.published.shape[0]
        if not is_known.any():
            return self.published[numbers]
        if is_known.all():
            return self.known.rows(numbers - n)
        order = np.argsort(is_known, kind="stable")
        parts = self.published[numbers[~is_known]], self.known.rows(numbers[is_known] - n)
        rows = stacked(parts)
        return rows if (np.diff(order) > 0).all() else rows[np.argsort(order)]

    def columns(self, terms: np.ndarray) -> SplitMatrix:
        """Return the coefficients of the given terms, in the given order."""
        return SplitMatrix(self.published[:, terms], self.known.columns(terms))
