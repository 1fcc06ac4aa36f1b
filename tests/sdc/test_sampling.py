"""Sampling: what an intruder infers is counted by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import sdc
from support.techniques import BOTH, people


@given(st.integers(1, 30), st.floats(0.05, 1), st.integers(0, 99))
def test_sampling_counts(n, factor, seed):
    """p_i = f_i/|Mo| + (|Mo| - |Ms|)/(|Mo| |D|), counted by hand (CAE, "Details of experiments")."""
    table = people(n, seed)
    size = round(Fraction(f"{factor:.15g}") * n)
    if not size:
        return
    technique = sdc.Sampling(factor, seed)
    sample = technique.publish(table, "Salary")
    assert len(sample) == size
    known = {"Sex": table["Sex"].iloc[0], "Age": pd.Interval(16, table["Age"].iloc[0], **BOTH)}
    mo = table[(table["Sex"] == known["Sex"]) & (table["Age"] <= table["Age"].iloc[0])]
    ms = sample.table[(sample.table["Sex"] == known["Sex"]) & (sample.table["Age"] <= table["Age"].iloc[0])]
    domain = sorted(set(table["Salary"]))
    expected = [(ms["Salary"] == d).sum() / len(mo) + (len(mo) - len(ms)) / len(mo) / len(domain) for d in domain]
    p = technique.infer(sample, known, table.drop(columns="Salary"))
    assert list(p.index) == domain
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert p.sum() == pytest.approx(1)
    view = mx.QITable(table, qi=["Age", "Sex"], sa="Salary", sa_values=domain)
    pd.testing.assert_series_equal(technique.infer(sample, known, view), p)


def test_sampling_is_without_replacement():
    """Every record is in at most once, all equally often, and smaller samples are part of larger ones."""
    table = people(50).assign(Id=range(50))
    seen = np.zeros(50)
    for seed in range(100):
        sample = sdc.Sampling(0.2, seed).publish(table, "Salary").table
        assert sample["Id"].is_unique
        assert set(sample["Id"]) <= set(sdc.Sampling(0.5, seed).publish(table, "Salary").table["Id"])
        seen[sample["Id"]] += 1
    assert abs(seen - 20).max() < 5 * math.sqrt(100 * 0.2 * 0.8)
