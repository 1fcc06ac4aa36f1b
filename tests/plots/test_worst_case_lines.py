"""The picture of the worst case has a line a table, told apart by more than its colour."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError
from support.helpers import refused


def test_lines_are_the_tables_by_k() -> None:
    """Points are in the order of k, and no two of twenty lines have the same marker and style."""
    tables = {f"release {i}": pd.DataFrame({"k": [2, 0, 1], "disclosure": [1, i / 20, 0.98]}) for i in range(20)}
    ax = mx.plots.worst_case(tables, Figure().subplots())
    lines = ax.get_lines()
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 20
    for i, line in enumerate(lines):
        np.testing.assert_array_equal(line.get_xydata(), [[0, i / 20], [1, 0.98], [2, 1]])
    assert [text.get_text() for text in ax.get_legend().texts] == list(tables)
    assert mx.plots.worst_case(tables["release 3"], Figure().subplots()).get_legend() is None


@pytest.mark.parametrize("empty", [{}, None, [pd.DataFrame()]])
def test_nothing_to_draw(empty: object) -> None:
    """Without a table there is no picture."""
    with refused(StatementError, "no line to draw"):
        mx.plots.worst_case(empty)


def test_tables_of_something_else() -> None:
    """A column, or a number, that is missing is told."""
    with refused(TableError, "no column 'k'"):
        mx.plots.worst_case({"a": pd.DataFrame({"disclosure": [0.5]})})
    for bad in ({"k": [0], "disclosure": [np.nan]}, {"k": [], "disclosure": []}):
        with refused(TableError, "no rows, or k or disclosure is missing"):
            mx.plots.worst_case({"a": pd.DataFrame(bad)})
    with refused(TableError, "must be numbers"):
        mx.plots.worst_case({"a": pd.DataFrame({"k": ["two"], "disclosure": [0.5]})})
