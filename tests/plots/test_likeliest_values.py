"""The line of a table is the share of records whose likeliest value has at least a probability."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import maxent_cvx as mx


def test_the_line_is_the_share_of_records_at_or_above_each_probability() -> None:
    """Three rows of 1, 2 and 5 records."""
    table = pd.DataFrame({"x": [0.9, 0.5, 0.3], "y": [0.1, 0.5, 0.7]})
    ax = mx.plots.likeliest_values({"a": table}, pd.Series([1, 2, 5]), Figure().subplots())
    at, share = (np.asarray(side, dtype=float) for side in ax.get_lines()[0].get_data())
    for t in (0.2, 0.5, 0.6, 0.7, 0.8, 0.9):
        expected = np.array([1, 2, 5])[table.max(axis=1) >= t].sum() / 8
        assert share[np.searchsorted(at, t)] == pytest.approx(expected)  # steps fall just after a probability
