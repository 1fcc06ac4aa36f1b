"""Independent parts of a system: rows and terms that share an entry belong together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["components"]


def components(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the independent parts of a system, rows and terms that share an entry: for each row, and each term."""
    n_rows, n_terms = matrix.shape
    links = sp.csr_array(matrix)
    links.eliminate_zeros()
    # A graph of rows and, after them, terms; SciPy follows a link both ways.
    starts = np.concatenate([links.indptr, np.full(n_terms, links.nnz)])
    size = n_rows + n_terms
    graph = sp.csr_array((links.data, links.indices + n_rows, starts), shape=(size, size))
    part = sp.csgraph.connected_components(graph, directed=False)[1]
    return part[:n_rows], part[n_rows:]
