"""Redundant rows: the others imply them, so that they can be left out with the multiplier 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..parameters.size_limits import PRESOLVE_SIZES
from ..parameters.tolerances import PRESOLVE
from ..program.linear_form import LinearForm
from ..rows.sparse import entry_rows
from .bound_propagation import ActivityBounds

__all__ = ["redundant"]


def redundant(form: LinearForm, n_records: float) -> np.ndarray:
    """Mark redundant rows.

    These are

    * inequalities that hold for all counts within the bounds that published rows imply; bounds that were derived from
      an inequality itself would not prove it redundant,
    * hard rows of knowledge that repeat an earlier one,
    * published rows that depend linearly on earlier ones: one a bucket (Privacy-MaxEnt, Theorem 3), and more where
      terms have been fixed at zero.

    Whether the sides of dependent rows are consistent is not checked here: the answer is checked against all rows.

    Parameters
    ----------
    form : LinearForm
    n_records : float

    Returns
    -------
    ndarray of bool, one a row
    """
    least, most = ActivityBounds(form)(np.zeros(form.shape[1]), np.minimum(form.upper_bound, n_records))
    found = ~form.is_equation & (least >= form.low) & (most <= form.high)
    found[: form.n_published] = dependent(form)
    found[form.n_published :] |= repeated(form)
    return found


def dependent(form: LinearForm) -> np.ndarray:
    """Mark published rows that depend linearly on earlier ones."""
    none = np.zeros(form.n_published, dtype=bool)
    if not form.is_equation[: form.n_published].all():
        return none
    last = last_of_bipartite(form)
    return dependent_by_elimination(form) if last is None else last


def last_of_bipartite(form: LinearForm) -> np.ndarray | None:
    """Mark the last row of each bucket if every term has coefficient 1 in one row of either of two kinds, else None.

    Terms are then the edges of a connected bipartite graph whose vertices are the rows: these have rank n - 1.
    """
    by_term, n = form.published_by_term, form.n_published
    if not n or not (np.diff(by_term.indptr) == 2).all() or not (by_term.data == 1).all():
        return None
    pair = by_term.indices.reshape(-1, 2)
    kinds = np.zeros((2, n), dtype=bool)
    kinds[0, pair.min(axis=1)] = kinds[1, pair.max(axis=1)] = True
    if (kinds[0] & kinds[1]).any():
        return None
    of_row = form.bucket[0]
    last = np.full(int(of_row.max()) + 1, -1)
    last[of_row] = np.arange(n)  # the last one written
    found = np.zeros(n, dtype=bool)
    found[last[last >= 0]] = True
    return found


def dependent_by_elimination(form: LinearForm) -> np.ndarray:
    """The same for any published rows, by elimination on the Gram matrices of all buckets, if these are small."""
    n, published = form.n_published, form.published
    none, (block, used) = np.zeros(n, dtype=bool), pd.factorize(form.bucket[0])
    size = np.bincount(block, minlength=len(used))
    width = int(size.max(initial=0))
    if not 0 < width <= PRESOLVE_SIZES.widest_block:
        return none
    order = np.argsort(block, kind="stable")
    local = np.empty(n, dtype=np.int64)
    local[order] = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
    products = sp.csr_array(published @ form.published_by_term)
    row, column = entry_rows(products), products.indices
    gram = np.zeros((len(used), width, width))
    gram[block[row], local[row], local[column]] = products.data
    size_of = np.einsum("bii->bi", gram).copy()
    zero = np.zeros(size_of.shape, dtype=bool)
    for i in range(width):
        zero[:, i] = gram[:, i, i] <= PRESOLVE.zero_pivot * size_of[:, i]
        column = np.where(zero[:, i, None], 0.0, gram[:, :, i])
        pivot = np.where(zero[:, i], 1.0, gram[:, i, i])
        gram -= column[:, :, None] * (column / pivot[:, None])[:, None, :]
    return zero[block, local]


def repeated(form: LinearForm) -> np.ndarray:
    """Mark rows of knowledge with the coefficients and sides of an earlier one, compared by random products."""
    n, distinct = form.n_published, form.known.distinct
    hashes = distinct @ np.random.default_rng(1).uniform(1, 2, distinct.shape[1])
    found = pd.DataFrame({"row": hashes, "low": form.low[n:], "high": form.high[n:]}).duplicated().to_numpy(copy=True)
    found[form.n_hard - n :] = False  # two soft rows that say the same cost twice as much
    return found
