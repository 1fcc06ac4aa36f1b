"""How many records are estimated to have each exact combination of values, by a release or a posterior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..model.posterior import Posterior
from ..views import Release
from ..views.generalized import Hierarchies, covers

__all__ = ["estimated_counts", "shares_covered"]


def estimated_counts(published: Release | Posterior) -> np.ndarray:
    """N P(q, s), records, of every QI tuple and value; of a release n(q, b) n(s, b) / n(b), summed over buckets.

    n(b) is how many values the bucket holds, which counterfeits make more than its people.
    """
    if isinstance(published, Posterior):
        return published.table
    n_b = np.asarray(published.n_sb.sum(axis=0))
    return np.asarray((published.n_qb @ sp.diags_array(1 / n_b) @ published.n_sb.T).todense())


def shares_covered(published: pd.Index, values: pd.Index, attribute: str, nodes: Hierarchies) -> np.ndarray:
    """The share of each exact value in each published one, which may be generalised; shape (published, exact).

    Parameters
    ----------
    published, values : Index
        Values as they are published, and exact ones.
    attribute : str
        For errors, and to find its hierarchy.
    nodes : dict of dict
        What the nodes of each attribute's hierarchy stand for.

    Raises
    ------
    TableError
        If a published value stands for none of the exact ones, or can be read in two ways.
    """
    same = published.dtype == values.dtype
    at = values.get_indexer(pd.Index(published, dtype=values.dtype)) if same else np.array([-1])
    if (at >= 0).all():
        return np.eye(len(values))[at]
    texts = pd.Index(values.map(str))
    rows = []
    for value in published:
        exact = np.asarray(texts == str(value))
        rows.append(exact if exact.any() else covers(value, values, attribute, nodes))
    mask = np.array(rows, dtype=float)
    return np.asarray(mask / mask.sum(axis=1, keepdims=True))
