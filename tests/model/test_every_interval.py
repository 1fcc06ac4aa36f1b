"""bounds() of every P(s | q): the same as asking one by one, and as linear programs over the whole problem."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P
from model.test_intervals import by_linear_programs
from support.random_models import random_model


def asked_of(model: MaxEnt, label: tuple) -> mx.sources.Probability:
    """The probability that a row of bounds() is about."""
    view = model.view
    of_value = dict(zip(view.sensitive, label[len(view.qi) :], strict=True))
    return P(of_value, given=dict(zip(view.qi, label, strict=False)))


@given(seed=st.integers(0, 10**6), statements=st.integers(0, 6))
def test_all_at_once_is_one_by_one(seed: int, statements: int):
    """Shared programs, filtering and closed forms change nothing; the posterior lies inside."""
    model = random_model(seed, statements=statements)[0]
    every = model.bounds()
    post = model.solve().conditional()
    view = model.view
    held = post.stack().loc[lambda share: share > 1e-6].index
    assert set(held) <= set(every.index)  # what is left out is impossible
    assert (every["exact"] == "both").all()
    every = every[["low", "high"]]
    for label, (low, high) in zip(every.index, every.to_numpy(), strict=True):
        assert (low, high) == pytest.approx(by_linear_programs(model, asked_of(model, label)), abs=1e-6)
        q, s = label[: len(view.qi)], label[len(view.qi) :]
        expected = post.loc[q if len(q) > 1 else q[0], s if len(s) > 1 else s[0]]
        assert low - 1e-6 <= expected <= high + 1e-6
    pd.testing.assert_frame_equal(
        every.reset_index(drop=True),
        model.bounds([asked_of(model, label) for label in every.index]).reset_index(drop=True),
        atol=1e-6,
    )


@given(seed=st.integers(0, 10**6))
def test_whole_assignments(seed: int):
    """With integer=True the same as one by one, and within the linear bounds, wherever there is an assignment."""
    model = random_model(seed, statements=1)[0]
    linear = model.bounds()
    try:
        whole = model.bounds(integer=True)
    except mx.Infeasible:
        return
    asked = [asked_of(model, label) for label in whole.index]
    np.testing.assert_allclose(whole[["low", "high"]], model.bounds(asked, integer=True), atol=1e-9)
    assert (whole["low"] >= linear["low"] - 1e-6).all()
    assert (whole["high"] <= linear["high"] + 1e-6).all()


def test_views_of_every_kind(hospital):
    """QI tables, populations, series, several sensitive attributes and named people: as one by one."""
    records = pd.DataFrame({"Age": ["*", "*", 45, 30], "Sex": list("FFMM"), "Salary": [30, 80, 40, 50]})
    everybody = pd.DataFrame({"Age": [21, 25, 30, 45, 50, 45, 30, 45], "Sex": list("FFFMMMMF")})
    frame = hospital.assign(Ward=["a", "b"] * 5)
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    people = {"Iris": {"Gender": "female", "Degree": "graduate"}}
    models = [
        MaxEnt(mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])).add("P(Flu) = 0.3"),
        MaxEnt(mx.QITable(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])),
        MaxEnt(mx.Release.from_generalized(records, qi=["Age", "Sex"], sa="Salary", population=everybody)),
        MaxEnt(mx.Release.from_buckets(frame, qi="Gender", sa=["Disease", "Ward"], bucket="Bucket")),
        MaxEnt(release, people=people).add("P(HIV | Iris) <= 0.2"),
        MaxEnt(release, people=people),
    ]
    for model in models:
        every = model.bounds()
        for label, ends in zip(every.index, every[["low", "high"]].to_numpy(), strict=True):
            assert ends == pytest.approx(by_linear_programs(model, asked_of(model, label)), abs=1e-6), label


def test_a_view_of_ones_own_has_its_own_closed_bounds(hospital):
    """Closed bounds that a subclass writes are those that are used, of one probability and of all."""
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    model = MaxEnt(release)
    at = np.arange(len(model.space))
    group = model.space.cells
    codes, number = np.unique(group, return_inverse=True)
    fast = model.invariants.closed_bounds_of_each(model.space, at, number, len(codes))

    class Halved(mx.BucketInvariants):
        """Half of what is true."""

        def closed_bounds(self, space, at):
            """Half of each."""
            low, high = super().closed_bounds(space, at)
            return low / 2, high / 2

    slow = Halved(release).closed_bounds_of_each(model.space, at, number, len(codes))
    np.testing.assert_allclose(np.array(slow) * 2, fast)
