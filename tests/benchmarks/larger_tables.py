"""Tables of any size with Adult's shape: its attributes, its values, and much of how they depend on each other."""

from __future__ import annotations

import numpy as np
import pandas as pd

import maxent_cvx as mx

#: How likely a value is to come from another record.
MIXED = 0.25


def larger_adult(n_records: int, seed: int = 0) -> pd.DataFrame:
    """Draw records of Adult, and exchange QI values, each with probability 1/4, among those of the same education.

    So there are many more QI tuples than Adult has, as a larger population would have.
    """
    rng = np.random.default_rng(seed)
    adult = mx.datasets.load_adult().sort_values("education", kind="stable", ignore_index=True)
    drawn = rng.integers(len(adult), size=n_records)
    codes = pd.factorize(adult["education"])[0]
    first, size = np.searchsorted(codes, np.arange(codes.max() + 1)), np.bincount(codes)
    columns = {}
    for attribute in mx.datasets.ADULT_QI:
        of_same = codes[drawn]
        other = first[of_same] + (rng.random(n_records) * size[of_same]).astype(np.int64)
        source = np.where(rng.random(n_records) < MIXED, other, drawn)
        columns[attribute] = adult[attribute].to_numpy()[source]
    return pd.DataFrame({**columns, "education": adult["education"].to_numpy()[drawn]})
