"""What hangs together through links between two kinds of things, such as people and buckets."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["in_line", "parts"]


def parts(links: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Number the parts that hang together: of every row, and of every column, of a table of links."""
    _, label = sp.csgraph.connected_components(_graph(links), directed=False)
    rows, columns = np.split(label, links.shape[:1])
    return rows, columns


def in_line(links: sp.csr_array) -> np.ndarray:
    """An order of the rows in which those with common columns are near each other (reverse Cuthill-McKee)."""
    order = sp.csgraph.reverse_cuthill_mckee(_graph(links), symmetric_mode=False)
    return np.asarray(order[order < links.shape[0]])


def _graph(links: sp.csr_array) -> sp.csr_array:
    """The graph of which rows and columns are the nodes, and entries the edges."""
    row, column = sp.coo_array(links).coords
    n = sum(links.shape)
    return sp.csr_array((np.ones(len(row)), (row, links.shape[0] + column)), shape=(n, n))
