"""Sparse matrices: compact index types, reductions over the entries of rows, and selections."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

# Connected components of a system: rows and terms are linked by the nonzero coefficients.


def components(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the connected components of the bipartite graph of rows and terms: for each row, and for each term."""
    n_rows, n_terms = matrix.shape
    links = matrix
    if not links.data.all():
        links = matrix.copy()
        links.eliminate_zeros()
    # Nodes are the rows, followed by the terms; SciPy treats the graph as undirected.
    starts = np.concatenate([links.indptr, np.full(n_terms, links.nnz, dtype=links.indptr.dtype)])
    size = n_rows + n_terms
    graph = csr(links.data, links.indices + n_rows, starts, (size, size))
    component = sp.csgraph.connected_components(graph, directed=False)[1]
    return component[:n_rows], component[n_rows:]


# Matrix-vector products whose long sums are free of roundoff.


#: Records: sums of multiples of it are exact as long as they are below 2^33, about 8 * 10^9 records.
UNIT = 2.0**-20


def split_exactly(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split x into multiples of :data:`UNIT`, whose sums are exact, and remainders of at most half a unit.

    The sums of the remainders are small, and so is their roundoff.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = np.rint(x / UNIT) * UNIT
        return multiples, x - multiples


def exact_matvec(matrix: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """Compute A x without the roundoff of long sums, if all coefficients are 1 or -1."""
    multiples, rest = split_exactly(x)
    with np.errstate(over="ignore", invalid="ignore"):
        return matrix @ multiples + matrix @ rest


def absolute(matrix: sp.csr_array) -> sp.csr_array:
    """Return the absolute values of all coefficients, or the matrix itself if none is negative."""
    return with_data(matrix, np.abs(matrix.data)) if (matrix.data < 0).any() else matrix


def canonical(matrix: sp.csr_array) -> sp.csr_array:
    """Return the matrix with sorted, unique columns in every row and without zeros, or itself if it is so already."""
    if matrix.has_canonical_format and matrix.data.all():
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def compact(matrix: sp.csr_array) -> sp.csr_array:
    """Return the matrix with 32-bit indices if these suffice; SciPy keeps the given type, and NumPy counts in 64."""
    if matrix.indices.dtype == matrix.indptr.dtype == np.int32:
        return matrix
    return csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


def csr(data: np.ndarray, indices: np.ndarray, starts: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Return the matrix with the given entries of all rows in turn, with 32-bit indices if these suffice."""
    kind = np.int32 if max(*shape, len(indices)) <= np.iinfo(np.int32).max else np.int64
    return sp.csr_array((data, indices.astype(kind, copy=False), starts.astype(kind, copy=False)), shape)


def with_data(matrix: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """Return a matrix with the entries in the same places; SciPy's constructor checks and counts them again."""
    same = copy.copy(matrix)
    same.data = data
    return same


def pattern(matrix: sp.csr_array) -> sp.csr_array:
    """Return a matrix with 1 in place of every stored entry."""
    return with_data(matrix, np.ones(matrix.nnz))


def condensed(matrix: sp.csr_array) -> sp.csr_array:
    """Return the matrix for storage: with 32-bit indices, and a single number if all coefficients are equal.

    SciPy expands the coefficients temporarily for computations. They are read-only.
    """
    matrix = compact(matrix)
    if matrix.nnz < 2 or matrix.data.strides == (0,) or not (matrix.data == matrix.data[0]).all():
        return matrix
    if not matrix.has_canonical_format:  # otherwise SciPy would write to it later
        return matrix
    return with_data(matrix, np.broadcast_to(matrix.data[0].copy(), matrix.nnz))


def stacked(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    """Stack matrices vertically; SciPy's vstack takes several times as long for small ones."""
    if len(matrices) == 1:
        return matrices[0]
    starts = np.cumsum([0, *(len(matrix.indices) for matrix in matrices)])
    ends = [matrix.indptr[1:] + start for matrix, start in zip(matrices, starts, strict=False)]
    data, indices = (np.concatenate([getattr(block, part) for block in matrices]) for part in ("data", "indices"))
    return sp.csr_array((data, indices, np.concatenate([[0], *ends])), (sum(map(len, ends)), matrices[0].shape[1]))


def with_ones_of(matrix: sp.csr_array, other: sp.csr_array) -> sp.csr_array:
    """Return the matrix with the coefficients of another one if all are 1, so that they are stored only once."""
    enough = matrix.nnz <= other.nnz and matrix.data is not other.data
    if enough and (matrix.data == 1).all() and (other.data[: matrix.nnz] == 1).all():
        matrix.data = other.data[: matrix.nnz]
    return matrix


_ones = np.ones(1)


def with_shared_ones(matrix: sp.csr_array) -> sp.csr_array:
    """Return the matrix; if all coefficients are 1, they are a view of one array shared by the whole process.

    They are read-only.
    """
    global _ones
    if not (matrix.data == 1).all():
        return matrix
    if len(_ones) < matrix.nnz:
        longer = np.ones(matrix.nnz)
        longer.flags.writeable = False
        _ones = longer
    matrix.data = _ones[: matrix.nnz]
    return matrix


def entry_rows(matrix: sp.csr_array) -> np.ndarray:
    """Return the row index of every stored entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def least_by_row(of_entry: np.ndarray, matrix: sp.csr_array, of_none: float = np.inf) -> np.ndarray:
    """Return the minimum over the entries of each row, given one number per entry; `of_none` for an empty row."""
    return _by_row(np.minimum, of_entry, matrix, of_none)


def most_by_row(of_entry: np.ndarray, matrix: sp.csr_array) -> np.ndarray:
    """Return the maximum over the entries of each row, given one number per entry; 0 for an empty row."""
    return _by_row(np.maximum, of_entry, matrix, 0.0)


def _by_row(extreme: np.ufunc, of_entry: np.ndarray, matrix: sp.csr_array, of_none: float) -> np.ndarray:
    entries = np.diff(matrix.indptr)
    if len(of_entry) == 2 * len(entries) and (entries == 2).all():
        return extreme(of_entry[::2], of_entry[1::2])
    extremes, nonempty = np.full(matrix.shape[0], of_none), entries > 0
    if len(of_entry):
        extremes[nonempty] = extreme.reduceat(of_entry, matrix.indptr[:-1][nonempty])
    return extremes


def with_entries_in(matrix: sp.csr_array, columns: np.ndarray) -> sp.csr_array:
    """Return the matrix, of the same shape, with only the entries in the marked columns."""
    kept = columns[matrix.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr].astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], ends), shape=matrix.shape)
