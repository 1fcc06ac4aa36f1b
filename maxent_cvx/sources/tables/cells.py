"""Cells of a table over the terms of a model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...terms.axes import level_of
from ...terms.blocks.labels import find, pick, subset_keys
from ...terms.space import Space
from ...views import OUTSIDE

__all__ = ["cell_terms", "unknown_values"]


def cell_terms(space: Space, cells: pd.Index, is_total: np.ndarray) -> sp.csr_array:
    """Mark the terms of every cell: those of each margin are found together.

    Parameters
    ----------
    space : Space
    cells : Index
        The labels of the cells; the names of its levels are columns of the view.
    is_total : ndarray of bool, shape (cells, attributes)
        Whether a cell is a sum over an attribute.
    """
    margins, margin = np.unique(is_total, axis=0, return_inverse=True)
    margin = margin.ravel()
    parts, order = [], []
    for i, total in enumerate(margins):
        at = np.flatnonzero(margin == i)
        by = [str(name) for name, over in zip(cells.names, total, strict=True) if not over]
        if by:
            block = space.marginal(by)
            parts.append(pick(block.matrix, find(block.index, subset_keys(cells[at], by))))
        else:
            parts.append(sp.csr_array(np.ones((len(at), len(space)))))
        order.append(at)
    back = np.argsort(np.concatenate(order), kind="stable")
    inside = np.asarray(space.view.sensitive_values.to_flat_index() != OUTSIDE)[space.codes["s"]]  # of a population
    matrix = sp.csr_array(sp.vstack(parts, format="csr")[back])
    return matrix if inside.all() else _without_zeros(sp.csr_array(matrix @ sp.diags_array(inside.astype(float))))


def unknown_values(
    space: Space, cells: pd.Index, is_total: np.ndarray, attribute: int
) -> Iterator[tuple[object, np.ndarray]]:
    """Give each value of an attribute that the view does not know, and the cells with it."""
    codes, values = level_of(cells, attribute)
    known = space.axes.of_column(str(cells.names[attribute]))[1]
    unknown = ~values.isin(known)
    if not unknown.any():
        return
    for code in np.flatnonzero(unknown):
        at = np.flatnonzero((codes == code) & ~is_total[:, attribute])
        if len(at):
            yield values.to_list()[code], at


def _without_zeros(matrix: sp.csr_array) -> sp.csr_array:
    matrix.eliminate_zeros()
    return matrix
