"""Sweeps over values and vagueness."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, StatementError
from support.helpers import refused
from support.random_models import random_event, random_model
from support.solving import examples

MEN, WOMEN = {"Gender": "male"}, {"Gender": "female"}


def test_eps_goes_to_the_equality(release):
    """P(s | q) moves one way as eps goes 0.2, 0.05, 0.01, 0, towards the equality's answer (section 4.5)."""
    model = MaxEnt(release).add("P(HIV | Gender=female) >= 0.1")
    said = P("Breast Cancer", given=WOMEN)
    assert model.solve().prob("Breast Cancer", WOMEN) < 0.25
    found = mx.sweep(model, said, value=0.45, eps=[0.2, 0.05, 0.01, 0], measure=lambda post: post.conditional().stack())
    assert found["probability"].tolist() == pytest.approx([0.25, 0.4, 0.44, 0.45], abs=1e-6)  # its bound is active
    exact = model.copy().add(said == 0.45).solve().conditional().stack()
    tables = list(found[[f"measure[{', '.join(labels)}]" for labels in exact.index]].to_numpy())
    exact = exact.to_numpy()
    np.testing.assert_allclose(tables[-1], exact, atol=1e-6)
    distance = [np.abs(table - exact).max() for table in tables]
    assert distance == sorted(distance, reverse=True)
    for before, after in itertools.pairwise(tables):  # towards it, everywhere
        assert (((after - before) * (exact - before)) >= -1e-9).all()
    assert (found["entropy"].diff().dropna() < 0).all()


@examples(40)
@given(seed=st.integers(0, 10_000))
def test_more_vagueness_is_more_entropy(seed: int):
    """H rises with eps, and the probability comes no closer to its value."""
    model, records = random_model(seed)
    value, who, truth = random_event(np.random.default_rng(seed), records)
    found = mx.sweep(model, P(value, who), value=truth, eps=[0, 0.02, 0.1, 0.3])
    assert (found["status"] == "optimal").all()
    assert (found["entropy"].diff().dropna() >= -1e-9).all()
    assert ((found["probability"] - truth).abs().diff().dropna() >= -1e-6).all()
    assert ((found["probability"] - truth).abs() <= found["eps"] + 1e-9).all()


def test_values(release):
    """Values that contradict the rest are said to, and the others are each what a model of its own says."""
    model = MaxEnt(release).add("P(Flu | Gender=female) = 0.25", label="known")
    found = mx.sweep(
        model, "P(HIV | Gender=male)", value=[0, 0.1, 0.3, 0.9], measure={"flu": lambda p: p.prob("Flu", MEN)}
    )
    assert found["status"].tolist() == ["optimal", "optimal", "optimal", "infeasible"]
    assert found.loc[3, ["probability", "entropy", "flu"]].isna().all()
    assert found["probability"].tolist()[:3] == pytest.approx([0, 0.1, 0.3], abs=1e-9)
    alone = model.copy().add("P(HIV | Gender=male) = 0.1").solve()
    assert found["entropy"][1] == pytest.approx(alone.entropy, abs=1e-9)
    assert found["flu"][1] == pytest.approx(alone.prob("Flu", MEN), abs=1e-6)
    assert list(model.knowledge) == ["known"]


def test_the_models_own_statement(release):
    """Without a value, that of the model's own statement is meant, which is replaced."""
    model = MaxEnt(release).add("P(Flu | Gender=male) = 0.4 +- 0.1", "P(HIV) <= 0.9")
    found = mx.sweep(model, P("Flu", given=MEN), eps=[0, 0.1])
    assert found["value"].tolist() == pytest.approx([0.4, 0.4])
    assert found["entropy"][1] == pytest.approx(model.solve().entropy)
    pd.testing.assert_frame_equal(found, mx.sweep(model, "P(Flu | Gender=male)", value=0.4, eps=[0, 0.1]))


def test_refusals(release):
    """What is swept must be a probability, with a value."""
    model = MaxEnt(release).add("P(Flu | Gender=male) >= 0.2")
    with refused(
        StatementError, "the model holds 1 statements of P(Flu | Gender=male), not one with a value", "value=..."
    ):
        mx.sweep(model, P("Flu", given=MEN), eps=[0.1])
    with refused(StatementError, "a sweep is of a probability such as P('Flu'), not of 3"):
        mx.sweep(model, 3, value=0.1)
    with refused(StatementError, "measure='entropy': a function of the posterior is expected"):
        mx.sweep(model, P("Flu"), value=0.3, measure="entropy")


@pytest.mark.parametrize(
    "text", ["P(Flu | Gender=male) <= 0.2", "2 P(Flu | Gender=male) = 0.4", "-1 P(Flu | Gender=male) = -0.2"]
)
def test_what_is_replaced(release, text):
    """Whatever the model says of the same probability, or of a multiple of it, is replaced."""
    model = MaxEnt(release).add(text)
    found = mx.sweep(model, P("Flu", given=MEN), value=[0.2, 0.4])
    assert (found["status"] == "optimal").all()
    if "<=" not in text:
        assert mx.sweep(model, P("Flu", given=MEN), eps=[0])["value"].tolist() == pytest.approx([0.2])


def test_arguments(release):
    """What cannot be swept or measured is refused by name."""
    model, asked = MaxEnt(release), P("Flu", given=MEN)
    with refused(StatementError, "a sweep solves a MaxEnt model"):
        mx.sweep(release, asked, value=0.3)
    with refused(mx.BadProbability, "value must be a finite number, not 'a'"):
        mx.sweep(model, asked, value="a")
    with refused(mx.BadProbability, "eps must be a finite number, not a list"):
        mx.sweep(model, asked, value=0.3, eps=[[0, 0.1]])
    with refused(StatementError, "leave warm_start out"):
        mx.sweep(model, asked, value=0.3, warm_start=model.solve())
    with refused(StatementError, "a measure cannot be called 'entropy'"):
        mx.sweep(model, asked, value=0.3, measure={"entropy": lambda post: 1})
    with refused(StatementError, "measure=3: a function of the posterior is expected"):
        mx.sweep(model, asked, value=0.3, measure={"x": 3})
    assert len(mx.sweep(model.copy().add(P("HIV") <= 0.5, label="swept"), asked, value=0.3)) == 1
