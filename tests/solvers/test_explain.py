"""Contradictions, rows that force zeros, and multipliers: by brute force and by linear programs of the tests."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, Infeasible, MaxEnt, NotDecided, UnknownName
from maxent_cvx.solvers import monitor as deadline
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.explain import determined, failure, multipliers_from_counts
from maxent_cvx.solvers.monitor import within
from maxent_cvx.solvers.proofs import support_proof
from support.helpers import refused
from support.linear_programs import extreme
from support.problems import PROBLEMS, SOLVABLE
from support.random_models import contradictory_model, from_multipliers, linear_form, random_model

MEN, WOMEN = {"Gender": "male"}, {"Gender": "female"}


def holds(model: MaxEnt, labels: list[str]) -> bool:
    """Whether statements are consistent with the published data, by a linear program of this test."""
    form = MaxEnt(model.view).add(*(model.knowledge[label] for label in labels)).form
    form = replace(form, low=form.low - 1e-7, high=form.high + 1e-7)
    return extreme(form, np.zeros(form.shape[1])).status != 2


@given(seed=st.integers(0, 10_000))
def test_diagnosis(seed: int):
    """The set is infeasible, and feasible without any one of its statements; published rows are not in it.

    There is one exactly where solving raises Infeasible, which carries the same table: of each statement the range where
    the others hold, and its distance from what was stated.
    """
    model = contradictory_model(seed)
    clash = model.diagnose()
    if clash.empty:
        model.solve()
        return
    with pytest.raises(Infeasible) as caught:
        model.solve()
    pd.testing.assert_frame_equal(caught.value.conflict, clash)
    labels = list(clash.index)
    assert set(labels) <= set(model.knowledge)
    assert not holds(model, labels)
    for label, row in clash.iterrows():
        others = [other for other in labels if other != label]
        assert holds(model, others)
        expression = sum(a * mx.sources.Probability({e: 1.0}) for e, a in model.knowledge[str(label)].terms)
        low, high = MaxEnt(model.view).add(*(model.knowledge[other] for other in others)).bounds(expression)
        assert (low, high) == pytest.approx((row["least"], row["most"]), abs=1e-6)
        assert row["move"] == pytest.approx(max(low - row["high"], row["low"] - high), abs=1e-6)


@given(seed=st.integers(0, 10_000))
def test_relaxed(seed: int):
    """The relaxed model can be solved, differs by the reported changes only, and their total is minimal."""
    for model in (contradictory_model(seed), random_model(seed)[0]):
        relaxed = model.relax()
        relaxed.model.solve()
        assert (relaxed.changes["move"] > 0).all()
        assert (len(model.diagnose()) == 0) == (len(relaxed.changes) == 0)
        kept = [source for label, source in model.knowledge.items() if label not in relaxed.changes.index]
        assert set(kept) <= set(relaxed.model.knowledge.values())
        form = model.form
        scale = {form.name(row): form.scale[row] for row in range(form.n_facts, form.shape[0])}
        total = sum(row["move"] * scale[str(label)] for label, row in relaxed.changes.iterrows())
        assert total == pytest.approx(least_total(model), abs=1e-6)


def least_total(model: MaxEnt) -> float:
    """The least total change of the knowledge, records, by a linear program of this test."""
    form = model.form
    change = np.eye(form.shape[0])[:, form.n_facts :]
    cost = np.concatenate([np.zeros(form.shape[1]), np.ones(2 * change.shape[1])])
    return float(
        extreme(linear_form(np.hstack([form.matrix.toarray(), change, -change]), form.low, form.high), cost).fun
    )


@pytest.fixture
def rumours(release) -> MaxEnt:
    """Two statements that together claim more flu than is published, and one about a named person."""
    model = MaxEnt(release, people={"Alice": {"Gender": "female", "Degree": "college"}})
    model.add("P(Flu | Gender=male) = 0.4", "P(HIV | Alice) >= 0.1")
    return model.add("P(Flu | Gender=female) = 0.4", label="gossip")


@pytest.mark.parametrize("statement", ["P(Lung Cancer | Gender=male) >= {}", "P(Lung Cancer | Gender=male) = {}"])
def test_the_proposed_value_can_be_typed(release, statement: str):
    """At most one man in six has lung cancer; the error says so in as many digits as a statement needs to hold."""
    with pytest.raises(Infeasible) as error:
        MaxEnt(release).add(statement.format(0.4)).solve()
    proposed = re.search(r" to (\S+) \(by", str(error.value)).group(1)
    assert MaxEnt(release).add(statement.format(proposed)).solve().certificate.holds


def test_priorities(rumours):
    """Statements of infinite priority are kept, and the others are changed."""
    firm = rumours.relax({"gossip": math.inf})
    assert firm.changes.index.tolist() == ["P(Flu | Gender=male) = 0.4"]
    assert firm.changes["new_low"].iloc[0] == pytest.approx(7 / 30, abs=1e-8)
    assert firm.model.knowledge["gossip"] is rumours.knowledge["gossip"]
    assert rumours.relax({"gossip": 10}).changes.index.tolist() == ["P(Flu | Gender=male) = 0.4"]
    loose = rumours.relax({"gossip": 0.1})
    assert loose.changes.index.tolist() == ["gossip"]
    assert loose.model.solve().prob("Flu", WOMEN) == pytest.approx(0.15, abs=1e-8)
    # The original is as it was.
    assert list(rumours.knowledge) == ["P(Flu | Gender=male) = 0.4", "P(HIV | Alice) >= 0.1", "gossip"]
    with refused(Infeasible, "'gossip' to 0.15 (by 0.25)"):
        rumours.relax(dict.fromkeys(rumours.knowledge, math.inf))
    with refused(UnknownName):
        rumours.relax({"gosip": 2})
    for value in (0, -1, True, "high", math.nan):
        with refused(BadProbability):
            rumours.relax({"gossip": value})


def test_a_firm_contradiction_names_the_firm_statement(release):
    """If statements of infinite priority contradict the release, the error is about them, whatever comes before them."""
    known = mx.MaxEnt(release).add("P(HIV) <= 0.9", "P(Flu) <= 0.2")  # three of ten have the flu
    with pytest.raises(mx.Infeasible, match=r"'P\(Flu\) <= 0\.2' to 0\.3 \(by 0\.1\)"):
        known.relax({"P(Flu) <= 0.2": np.inf})


def test_rows_of_a_source_are_relaxed(hospital, release):
    """Of a source with many rows, only those that must are changed, and the source keeps its name."""
    model = MaxEnt(release).add(mx.StrongestAssociations(hospital, positive=3, negative=3, min_support=1))
    (name,) = model.knowledge
    model.add(lambda space: space.conditional("Disease", given="Gender") <= 0.45)
    relaxed = model.relax({name: 0.001})
    assert list(relaxed.model.knowledge) == list(model.knowledge)
    relaxed.model.solve()
    assert all("association" in label for label in relaxed.changes.index)


seeds = st.integers(0, 10**6)


@given(seed=seeds)
@example(seed=256)  # the least-squares solution has several wrong signs
def test_they_reproduce_the_counts(seed: int):
    """The counts are w exp(A' m - 1); inactive rows have 0, and the others the sign of a side that they have."""
    exact = from_multipliers(seed)
    form, x = exact.form, exact.counts
    m = multipliers_from_counts(form, x)
    np.testing.assert_allclose(np.log(form.weights) + form.matrix.T @ m - 1, np.log(x), atol=1e-7)
    value = form.matrix @ x
    assert (m[(value > form.low + 1e-6) & (value < form.high - 1e-6)] == 0).all()
    assert (m[np.isinf(form.low)] <= 1e-6).all()
    assert (m[np.isinf(form.high)] >= -1e-6).all()


def test_multipliers_of_known_answers():
    """The exact multipliers where they are unique; infinite if and only if some term is forced to zero; else NaN."""
    for problem in SOLVABLE:
        if problem.needs_soft_rows:
            continue
        model = problem.model()
        form, x = model.form, problem.expected(model.space)
        m = multipliers_from_counts(form, x)
        assert not np.isnan(m).any()
        assert (x > 0).all() == np.isfinite(m).all()
        assert problem.name != "largest value" or m[-1] == np.inf  # a smaller value makes zeros positive
        if not np.isfinite(m).all():
            infinite = np.where(np.isfinite(m), 0.0, np.sign(m))
            assert np.abs(form.matrix[:, x == 0].T @ np.abs(infinite)).min() > 0
            continue
        np.testing.assert_allclose(form.weights * np.exp(form.matrix.T @ m - 1), x, rtol=1e-6)
        if problem.dual is not None:
            free, n = ~determined(form), form.n_published
            np.testing.assert_allclose(m[n:][free[n:]], np.array(problem.dual)[free[n:]], atol=1e-6)
    form = linear_form([[1, 1, 1]], [3], [3])
    assert np.isnan(multipliers_from_counts(form, np.array([2, 0.5, 0.5]))).all()


def test_rows_that_hard_constraints_determine():
    """A linear combination of hard constraints has the multiplier 0; a row that only nearly is one has its own."""
    hard = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]]
    known = [[1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 1, 0.99]]
    x = np.array([1.2, 0.8, 0.8, 1.2])
    matrix = np.array([*hard, *known])
    form = replace(linear_form(matrix, matrix @ x, matrix @ x), n_published=0, n_facts=3)
    np.testing.assert_array_equal(determined(form), [False] * 3 + [True, True, False, False])
    m = multipliers_from_counts(form, x)
    assert (m[3:5] == 0).all()
    np.testing.assert_allclose(np.exp(matrix.T @ m - 1), x, atol=1e-8)


def test_undecided(monkeypatch: pytest.MonkeyPatch):
    """The search for a contradiction ends after a while, and the error says so; that of an outer limit is its own."""
    model = PROBLEMS["largest value"].model()
    problem, answer = model.posed, Answer(Status.FAILED, None, None)
    assert "the knowledge is consistent" in str(failure(problem, "X", answer, None))
    with pytest.raises(NotDecided), within(0.0):
        failure(problem, "X", answer, None)
    monkeypatch.setattr(deadline, "DIAGNOSIS", 0.0)
    assert "not decided" in str(failure(problem, "X", answer, None))
    assert not support_proof(problem.form).any()
