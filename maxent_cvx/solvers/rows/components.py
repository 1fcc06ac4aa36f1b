"""Connected components of a system: rows and terms are linked by the non-zero coefficients."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["components"]


def components(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the connected components of the bipartite graph of rows and terms: for each row, and for each term."""
    n_rows, n_terms = matrix.shape
    links = matrix
    if not links.data.all():
        links = matrix.copy()
        links.eliminate_zeros()
    # Nodes are the rows and, after them, the terms; SciPy treats the graph as undirected.
    starts = np.concatenate([links.indptr, np.full(n_terms, links.nnz, dtype=links.indptr.dtype)])
    size = n_rows + n_terms
    graph = sp.csr_array((links.data, links.indices + n_rows, starts), shape=(size, size))
    component = sp.csgraph.connected_components(graph, directed=False)[1]
    return component[:n_rows], component[n_rows:]
