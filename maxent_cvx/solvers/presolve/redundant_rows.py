"""Rows that the others imply: leaving them out changes no answer, and their multipliers are 0."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..program.linear_form import LinearForm
from ..size_limits import PRESOLVE_SIZES
from ..tolerances import PRESOLVE
from .bound_propagation import activity

__all__ = ["redundant"]


def redundant(form: LinearForm, n_records: float) -> np.ndarray:
    """Mark rows that need not be solved for.

    These are inequalities that hold within what the published rows leave for their terms (bounds that
    an inequality implied itself would prove nothing), knowledge that repeats other knowledge, and
    published rows that depend linearly on those before them: one a bucket (Privacy-MaxEnt, Theorem
    3), and more where zeros are forced. That dependent rows agree in value is not checked here: the
    answer is checked against all rows.
    """
    least, most = activity(form)(np.zeros(form.shape[1]), np.minimum(form.upper_bound, n_records))
    found = ~form.is_equation & (least >= form.low) & (most <= form.high)
    found[: form.n_published] = dependent(form)
    found[form.n_published :] |= repeated(form)
    return found


def dependent(form: LinearForm) -> np.ndarray:
    """Published rows that are combinations of those before them, by elimination in all buckets at once."""
    buckets = form.bucket_blocks
    none = np.zeros(form.n_published, dtype=bool)
    if not 0 < buckets.width <= PRESOLVE_SIZES.widest_block or not form.is_equation[: form.n_published].all():
        return none
    gram = buckets.matrices(np.ones(form.shape[1]))  # lower triangles
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
    """Rows of knowledge with the coefficients and the values of an earlier one."""
    n, distinct = form.n_published, form.known.distinct
    mark = distinct @ np.random.default_rng(1).uniform(1, 2, distinct.shape[1])
    return pd.DataFrame({"row": mark, "low": form.low[n:], "high": form.high[n:]}).duplicated().to_numpy()
