"""Whom a certain inference is about: everybody with a QI tuple, a named person, or the others; against all worlds."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P
from support.named_worlds import random_named, spoken, subjects
from support.patience import AGES

seeds = st.integers(0, 10**6)


@pytest.fixture
def trio() -> mx.Release:
    """Two people with a, one with b; three values."""
    table = pd.DataFrame({"Q": list("aab"), "S": ["flu", "hiv", "cold"], "B": 1})
    return mx.Release.from_buckets(table, qi=["Q"], sa="S", bucket="B")


ALICE = {"Alice": {"Q": "a"}}


@pytest.mark.parametrize("integer", [True, False])
def test_the_others_are_not_everybody(trio, integer):
    """Alice has a and the flu: one half of those with a have it, all in all, and none of the others."""
    model = MaxEnt(trio, people=ALICE).add(P("flu", who="Alice") == 1)
    assert model.bounds(P("flu", given={"Q": "a"}), integer=True, time_limit=AGES) == pytest.approx((0.5, 0.5))
    found = model.solve().certain(integer=integer, time_limit=AGES)
    expected = {"P(flu | Q=b)": 0, "P(flu | Alice)": 1, "P(flu | (others), Q=a)": 0}
    assert found["probability"].to_dict() == expected
    assert found["people"].to_list() == [1, 1, 1]


@pytest.mark.parametrize("integer", [True, False])
def test_everybody_with_a_tuple(trio, integer):
    """What nobody with a has, Alice has not, nor the others with a, which goes without saying."""
    model = MaxEnt(trio, people=ALICE).add(P("cold", given={"Q": "b"}) == 1)
    found = model.solve().certain(integer=integer, time_limit=AGES)
    expected = {"P(cold | Q=a)": 0, "P(cold | Q=b)": 1, "P(cold | Alice)": 0}
    assert found["probability"].to_dict() == expected
    assert found["people"].to_dict() == {"P(cold | Q=a)": 2, "P(cold | Q=b)": 1, "P(cold | Alice)": 1}


@given(seed=seeds)
def test_whole_certainties_are_those_of_all_worlds(seed: int):
    """Every inference is true in every world, and everything that is, and was open before, is listed."""
    model, worlds, records = random_named(seed)
    found = model.solve().certain(integer=True, time_limit=AGES)
    assert found["decided"].all()
    expected: dict[str, float] = {}
    for kind, whom, q, written, values in subjects(worlds, records):
        shares = {value: worlds.share(kind, whom, value) for value in values}
        sure = [value for value, share in shares.items() if share.min() == 1]
        if sure:
            told = {sure[0]: 1.0} if len(values) > 1 else {}
        else:
            told = {value: 0.0 for value, share in shares.items() if share.max() == 0}
        for value, p in told.items():
            if kind != "others" or expected.get(f"P({value} | Q={q})") != p:
                expected[f"P({value} | {written})"] = p
    assert found["probability"].to_dict() == expected


@given(seed=seeds)
def test_whole_bounds_are_those_of_all_worlds(seed: int):
    """The interval over whole assignments is that over all worlds; that over distributions holds it."""
    model, worlds, records = random_named(seed)
    for kind, whom, _, _, values in subjects(worlds, records):
        if kind != "others":
            share = worlds.share(kind, whom, values[seed % len(values)])
            asked = spoken(kind, whom, values[seed % len(values)])
            assert model.bounds(asked, integer=True, time_limit=AGES) == pytest.approx(
                (share.min(), share.max()), abs=1e-6
            )
            low, high = model.bounds(asked)
            assert low - 1e-6 <= share.min()
            assert share.max() <= high + 1e-6


@given(seed=seeds)
def test_certainties_of_the_rows_are_those_of_bounds(seed: int):
    """Without whole numbers, too: of everybody, of names and of others what is listed is what bounds show."""
    model, worlds, records = random_named(seed)
    found = model.solve().certain()["probability"]
    expected: dict[str, float] = {}
    for kind, whom, q, written, values in subjects(worlds, records):
        told = {}
        for value in values:
            asked = spoken("q" if kind == "others" else kind, whom, value)
            n = 1
            if kind == "others":  # all with q, less those with a name
                names = [name for name, own in zip(worlds.names, worlds.q[worlds.owner[0]], strict=True) if own == q]
                n_q = int((worlds.q == q).sum())
                n = n_q - len(names)
                asked = n_q * asked - sum(P(value, who=name) for name in names)
            low, high = model.bounds(asked)
            if high < 1e-7 or low > n - 1e-7:
                told[value] = float(high > 1e-7)
        if 1.0 in told.values():
            told = {value: p for value, p in told.items() if p == 1 and len(values) > 1}
        for value, p in told.items():
            if kind != "others" or expected.get(f"P({value} | Q={q})") != p:
                expected[f"P({value} | {written})"] = p
    assert found.to_dict() == expected
