"""Redundant rows: the others imply them, so that they can be left out with the multiplier 0."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..parameters.size_limits import PRESOLVE_SIZES
from ..parameters.tolerances import PRESOLVE
from ..program.linear_form import LinearForm
from .bound_propagation import activity

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
    least, most = activity(form)(np.zeros(form.shape[1]), np.minimum(form.upper_bound, n_records))
    found = ~form.is_equation & (least >= form.low) & (most <= form.high)
    found[: form.n_published] = dependent(form)
    found[form.n_published :] |= repeated(form)
    return found


def dependent(form: LinearForm) -> np.ndarray:
    """Mark published rows that depend linearly on earlier ones, by elimination on the Gram matrices of all buckets."""
    buckets = form.bucket_blocks
    none = np.zeros(form.n_published, dtype=bool)
    if not 0 < buckets.width <= PRESOLVE_SIZES.widest_block or not form.is_equation[: form.n_published].all():
        return none
    gram = buckets.matrices(np.ones(form.shape[1]))  # lower triangles only
    gram = gram + np.tril(gram, -1).transpose(0, 2, 1)
    size = np.einsum("bii->bi", gram).copy()
    zero = np.zeros(size.shape, dtype=bool)
    for i in range(buckets.width):
        zero[:, i] = gram[:, i, i] <= PRESOLVE.zero_pivot * size[:, i]
        column = np.where(zero[:, i, None], 0.0, gram[:, :, i])
        pivot = np.where(zero[:, i], 1.0, gram[:, i, i])
        gram -= column[:, :, None] * (column / pivot[:, None])[:, None, :]
    none[:] = zero.ravel()[buckets.slot]
    return none


def repeated(form: LinearForm) -> np.ndarray:
    """Mark rows of knowledge with the coefficients and sides of an earlier one, compared by random products."""
    n, distinct = form.n_published, form.known.distinct
    hashes = distinct @ np.random.default_rng(1).uniform(1, 2, distinct.shape[1])
    found = pd.DataFrame({"row": hashes, "low": form.low[n:], "high": form.high[n:]}).duplicated().to_numpy(copy=True)
    found[form.n_hard - n :] = False  # two soft rows that say the same cost twice as much
    return found
