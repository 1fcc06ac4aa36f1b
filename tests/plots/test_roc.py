"""A line of the ROC goes through the rates of its group; its legend has the area."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import maxent_cvx as mx

TABLE = pd.DataFrame(
    {
        "group": ["x"] * 3 + ["y"] * 3,
        "threshold": [np.inf, 0.7, 0.2] * 2,
        "false_positive": [0.0, 0.25, 1.0] * 2,
        "true_positive": [0.0, 0.5, 1.0, 0.0, 1.0, 1.0],
    }
)


def test_lines_are_the_rates_and_legends_the_areas() -> None:
    """Trapezoids by hand: 1/16 + 9/16, and 1/8 + 3/4; lines differ in style and in marker."""
    ax = mx.plots.roc(TABLE, Figure().subplots())
    first, second, chance = ax.get_lines()
    assert first.get_xydata().tolist() == [[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]]
    assert first.get_label() == f"x (area {0.0625 + 0.5625:.2f})"
    assert second.get_label() == f"y (area {0.125 + 0.75:.2f})"
    assert chance.get_label() == "by chance"
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()


def test_what_are_no_rates_is_refused() -> None:
    """No rows, texts, and shares above 1."""
    for bad in (TABLE.iloc[:0], TABLE.assign(true_positive="much"), TABLE.assign(false_positive=1.5)):
        with pytest.raises(mx.TableError):
            mx.plots.roc(bad, Figure().subplots())
