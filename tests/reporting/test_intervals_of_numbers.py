"""The section on intervals counts what is close to a number, as the answer of the page does."""

from __future__ import annotations

import pandas as pd

import maxent_cvx as mx
from maxent_cvx.reporting.data import ReportData, Settings
from maxent_cvx.reporting.tables import interval_tables


def test_close_values_are_certain_together():
    """Three people have 100, 101 and 102 in some order: nobody's value is certain, but all are within 2 of it."""
    table = pd.DataFrame({"g": [1, 1, 1, 2, 2, 2], "pay": [100, 101, 102, 0, 50, 200]})
    release = mx.Release.from_buckets(table.assign(b=table["g"]), qi="g", sa="pay", bucket="b")
    data = ReportData("", mx.MaxEnt(release).solve(), Settings(within=2.0))
    found = interval_tables(data, data.intervals.value)
    assert (found["certain"], found["possible"]) == (3, 3)  # each has P = 1/3, and the others differ by 50
    assert data.exposure.people == 3
    plain = interval_tables(single := ReportData("", data.post, Settings(within=0.0)), single.intervals.value)
    assert (plain["certain"], plain["possible"]) == (0, 0)
