"""Certain inferences: what is forced, by what, and nothing else."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Statement
from support.random_models import QI, SA, random_model


def span(model: MaxEnt, labels: list[str], inference: str) -> tuple[float, float]:
    """What an inference can be, given some statements only."""
    return MaxEnt(model.view).add(*(model.knowledge[label] for label in labels)).bounds(inference)


@given(seed=st.integers(0, 10_000))
def test_reasons_are_irreducible(seed: int):
    """The statements force the inference, and no fewer of them do; it was open before."""
    model, _ = random_model(seed, statements=5)
    for inference, found in model.solve().certain().iterrows():
        because = found["because"]
        assert because
        assert set(because) <= set(model.knowledge)
        assert span(model, because, str(inference)) == pytest.approx((found["probability"],) * 2, abs=1e-6)
        for label in because:
            low, high = span(model, [other for other in because if other != label], str(inference))
            assert high - low > 1e-6


@given(seed=st.integers(0, 10_000))
def test_nothing_is_missing(seed: int):
    """Every P(s | q) that the knowledge forces to 0 or 1, and the release does not, is there."""
    model, records = random_model(seed, statements=5)
    found = model.solve().certain()["probability"]
    tuples, values = records[list(QI)].drop_duplicates().to_dict("records"), sorted(set(records[SA]))
    asked = [P(s, given=q) for q in tuples for s in values]
    before, after = (one.bounds(asked).to_numpy().reshape(len(tuples), -1, 2) for one in (MaxEnt(model.view), model))
    for i, q in enumerate(tuples):
        certain = {}
        for s, was, now in zip(values, before[i], after[i], strict=True):
            if was[1] - was[0] > 1e-6 and now[1] - now[0] < 1e-7 and round(now[0], 6) in (0, 1):
                certain[str(P(s, given=q))] = round(now[0], 6)
        if 1 in certain.values():  # the others go without saying
            certain = {text: value for text, value in certain.items() if value == 1}
        described = {text for text in found.index if str(text).endswith(str(P("x", given=q))[3:])}
        assert {text: found[text] for text in described} == certain


def test_hospital(release):
    """Grace's bucket gives her away, as soon as men are known not to have breast cancer (section 1)."""
    people = {"Grace": {"Gender": "female", "Degree": "junior"}, "Cathy": {"Gender": "female", "Degree": "college"}}
    model = MaxEnt(release, people=people).add(P("Breast Cancer", given={"Gender": "male"}) == 0, label="common sense")
    model.add("P(Flu | Gender=female) = 0.25")
    found = model.solve().certain()
    assert found.loc["P(Breast Cancer | Grace)"].tolist() == [1, 1, ["common sense"]]
    assert found.loc["P(Breast Cancer | Degree=junior, Gender=female)", "because"] == ["common sense"]
    both = ["common sense", "P(Flu | Gender=female) = 0.25"]
    assert sorted(found.loc["P(Pneumonia | Cathy)", "because"]) == sorted(both)
    assert found.loc["P(Pneumonia | Cathy)", "probability"] == 0
    assert "P(Flu | Grace)" not in found.index  # goes without saying
    assert all(mx.MaxEnt(release, people=people).solve().certain().columns == found.columns)


@pytest.mark.parametrize("solver", ["DUAL_LBFGS", "CLARABEL"])
def test_answers_that_are_not_exact(release, solver):
    """What is certain is proved, not read off the answer: a few millionths of a person do not hide it."""
    model = MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(HIV | Gender=male) >= 0.1")
    rough = model.solve(solver, presolve=False, allow_inaccurate=True)
    assert rough.certain().equals(model.solve().certain())


def scaled(statement: Statement, factor: float) -> Statement:
    """Say the same, each coefficient and value multiplied."""
    terms = frozenset((event, a * factor) for event, a in statement.terms)
    return Statement(terms, statement.low * factor, statement.high * factor)


@pytest.fixture
def trio() -> mx.Release:
    """Three people and three values in one bucket."""
    table = pd.DataFrame({"Q": list("abc"), "S": ["flu", "hiv", "cold"], "B": 1})
    return mx.Release.from_buckets(table, qi=["Q"], sa="S", bucket="B")


@pytest.mark.parametrize("factor", [2, 3, 0.1, 1 / 3, 7])
def test_said_twice(trio, factor):
    """Two people with one half each leave no flu to the third; that the third hardly has it, said twice, does not."""
    model = MaxEnt(trio).add("P(flu | Q=b) >= 0.5", "P(flu | Q=c) >= 0.5", "P(flu | Q=a) <= 0.005")
    found = model.solve().certain()
    assert found["because"].to_dict() == {"P(flu | Q=a)": ["P(flu | Q=b) >= 0.5", "P(flu | Q=c) >= 0.5"]}
    for label in ("P(flu | Q=b) >= 0.5", "P(flu | Q=a) <= 0.005"):
        model.add(scaled(model.knowledge[label], factor), label=f"{label}, scaled")
    again = model.solve().certain()
    assert list(again.index) == list(found.index)
    (because,) = again["because"]
    assert {label.removesuffix(", scaled") for label in because} == set(found["because"].iloc[0])
    assert len(because) == 2
