"""Contradictions: an irreducible infeasible set of statements, and the least change that resolves them."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import maxent_cvx as mx
from maxent_cvx import BadProbability, Count, Infeasible, MaxEnt, SolverError, UnknownName
from support.helpers import refused
from support.random_models import contradictory_model, random_model
from support.solving import examples
from tests.benchmarks.contradictions import contradictory_adult

MEN, WOMEN = {"Gender": "male"}, {"Gender": "female"}


def holds(model: MaxEnt, labels: list[str]) -> bool:
    """Whether statements are consistent with the published data, by a linear program of this test."""
    some = MaxEnt(model.view).add(*(model.knowledge[label] for label in labels))
    form = some.form
    sides = [(form.matrix, form.high), (-form.matrix, -form.low)]
    rows = np.vstack([matrix.toarray()[np.isfinite(side)] for matrix, side in sides])
    values = np.concatenate([side[np.isfinite(side)] for _, side in sides])
    return linprog(np.zeros(form.shape[1]), A_ub=rows, b_ub=values + 1e-7, method="highs").status != 2


@examples(60)
@given(seed=st.integers(0, 10_000))
def test_irreducible(seed: int):
    """The set is infeasible, and feasible without any one of its statements; published rows are not in it."""
    model = contradictory_model(seed)
    clash = model.diagnose()
    assume(len(clash))
    labels = list(clash.index)
    assert set(labels) <= set(model.knowledge)
    assert not holds(model, labels)
    assert all(holds(model, [other for other in labels if other != label]) for label in labels)


@examples(60)
@given(seed=st.integers(0, 10_000))
def test_diagnosis_agrees_with_the_solver(seed: int):
    """A contradiction is found exactly where solving raises Infeasible, and the error carries the same table."""
    model = contradictory_model(seed)
    clash = model.diagnose()
    if clash.empty:
        model.solve()
        return
    with pytest.raises(Infeasible) as caught:
        model.solve()
    pd.testing.assert_frame_equal(caught.value.conflict, clash)
    assert all(repr(label) in str(caught.value) for label in clash.index[:5])


@examples(60)
@given(seed=st.integers(0, 10_000))
def test_moves(seed: int):
    """The table has each statement's range where the others hold, and its distance from what was stated."""
    model = contradictory_model(seed)
    clash = model.diagnose()
    assume(len(clash))
    for label, said in clash.iterrows():
        others = [model.knowledge[other] for other in clash.index if other != label]
        (event, coefficient), *rest = model.knowledge[str(label)].terms
        expression = sum(
            (a * mx.sources.Probability({e: 1.0}) for e, a in rest), coefficient * mx.sources.Probability({event: 1.0})
        )
        low, high = MaxEnt(model.view).add(*others).bounds(expression)
        assert (low, high) == pytest.approx((said["least"], said["most"]), abs=1e-6)
        assert said["move"] == pytest.approx(max(low - said["high"], said["low"] - high), abs=1e-6)


@examples(60)
@given(seed=st.integers(0, 10_000))
def test_relaxed(seed: int):
    """The relaxed model can be solved, differs by the reported changes only, and their total is minimal."""
    model = contradictory_model(seed)
    relaxed = model.relax()
    relaxed.model.solve()
    assert (relaxed.changes["move"] > 0).all()
    assert len(model.diagnose()) == 0 or len(relaxed.changes) > 0
    kept = [source for label, source in model.knowledge.items() if label not in relaxed.changes.index]
    assert set(kept) <= set(relaxed.model.knowledge.values())
    form = model.form
    scale = {form.name(row): form.scale[row] for row in range(form.n_facts, form.shape[0])}
    total = sum(said["move"] * scale[str(label)] for label, said in relaxed.changes.iterrows())
    assert total == pytest.approx(least_total(model), abs=1e-6)


def least_total(model: MaxEnt) -> float:
    """The least total change of the knowledge, records, by a linear program of this test."""
    form = model.form
    n_rows, n = form.shape
    change = np.zeros((n_rows, n_rows - form.n_facts))
    change[form.n_facts :] = np.eye(n_rows - form.n_facts)
    matrix = np.hstack([form.matrix.toarray(), change, -change])
    rows = np.vstack([matrix[np.isfinite(form.high)], -matrix[np.isfinite(form.low)]])
    values = np.concatenate([form.high[np.isfinite(form.high)], -form.low[np.isfinite(form.low)]])
    cost = np.concatenate([np.zeros(n), np.ones(2 * change.shape[1])])
    return float(linprog(cost, A_ub=rows, b_ub=values, method="highs").fun)


@examples(40)
@given(seed=st.integers(0, 10_000))
def test_consistent_knowledge(seed: int):
    """True knowledge has no contradiction, and relaxing it changes nothing."""
    model, _ = random_model(seed)
    assert model.diagnose().empty
    relaxed = model.relax()
    assert relaxed.changes.empty
    assert relaxed.model.knowledge == model.knowledge


@pytest.fixture
def rumours(release) -> MaxEnt:
    """Two statements that together claim more flu than is published, and one about a named person."""
    model = MaxEnt(release, people={"Alice": {"Gender": "female", "Degree": "college"}})
    model.add("P(Flu | Gender=male) = 0.4", "P(HIV | Alice) >= 0.1")
    return model.add("P(Flu | Gender=female) = 0.4", label="gossip")


def test_table(rumours):
    """Three of ten have flu, but 0.4 of six men and 0.4 of four women are four: one of the two must be changed."""
    clash = rumours.diagnose()
    assert list(clash.columns) == ["low", "high", "least", "most", "move"]
    assert clash.loc["gossip"].tolist() == pytest.approx([0.4, 0.4, 0.15, 0.15, 0.25])
    assert clash.loc["P(Flu | Gender=male) = 0.4"].tolist() == pytest.approx([0.4, 0.4, 7 / 30, 7 / 30, 1 / 6])
    assert len(clash) == 2


def test_message(rumours):
    """The error says which, by how much, and what to do."""
    with refused(
        Infeasible,
        "the knowledge contradicts the published data or itself: of these 2 statements one would have to move, "
        "'gossip' by 0.25 to 0.15, or 'P(Flu | Gender=male) = 0.4' by 0.166667 to 0.233333. "
        "Correct it, make it vague with .about(value, eps), or remove it",
    ):
        rumours.solve()
    with refused(Infeasible, "of these 2 statements one would have to move, 'gossip' by 0.25 to 0.15"):
        rumours.bounds("P(HIV)")


def test_one_statement_alone(release):
    """A statement that contradicts the published data alone is reported alone."""
    model = MaxEnt(release).add("P(Lung Cancer | Degree=junior) = 0.1", "P(HIV | Gender=male) = 0.1")
    with refused(
        Infeasible,
        "one statement would have to move, 'P(Lung Cancer | Degree=junior) = 0.1' by 0.1 to 0. Correct it,",
        never="HIV",
    ):
        model.solve()


def test_people_are_counted(release):
    """Three people cannot have what two have."""
    people = {name: {"Gender": "male", "Degree": "college"} for name in ("Alan", "Bob", "Carl")}
    model = MaxEnt(release, people=people).add(Count("HIV", who=list(people)) >= 2.5)
    assert model.diagnose().iloc[0][["least", "most", "move"]].tolist() == pytest.approx([0, 1, 1.5])


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
    with refused(Infeasible, "'gossip' by 0.25 to 0.15"):
        rumours.relax(dict.fromkeys(rumours.knowledge, math.inf))


def test_rows_of_a_source_are_relaxed(hospital, release):
    """Of a source with many rows, only those that must are changed, and the source keeps its name."""
    model = MaxEnt(release).add(mx.StrongestAssociations(hospital, positive=3, negative=3, min_support=1))
    (name,) = model.knowledge
    model.add(lambda space: space.conditional("Disease", given="Gender") <= 0.45)
    relaxed = model.relax({name: 0.001})
    assert list(relaxed.model.knowledge) == list(model.knowledge)
    relaxed.model.solve()
    assert all("association" in label for label in relaxed.changes.index)
    assert "moved" in repr(relaxed)
    assert "<table" in relaxed._repr_html_()


def test_refusals(rumours):
    """Priorities are of labels, and positive; convex knowledge is not relaxed."""
    with refused(UnknownName, "'gosip'", "did you mean 'gossip'?"):
        rumours.relax({"gosip": 2})
    for value in (0, -1, True, "high", math.nan):
        with refused(BadProbability, "the priority of 'gossip' is", "a number above 0 is expected"):
            rumours.relax({"gossip": value})
    rumours.add(lambda space: cp.exp(space.prob("Flu", MEN)) <= 1.5)
    with refused(SolverError, "convex"):
        rumours.relax()


def test_three_of_five_hundred():
    """On Adult, of 500 statements the three that clash are found (issue of scale: 59,611 terms, 26,609 rows)."""
    model, clashing = contradictory_adult(500)
    clash = model.diagnose()
    assert set(clash.index) == set(clashing)
    assert len(clash) == 3


def test_priorities_that_cannot_be_weighed(rumours):
    """Priorities beyond a factor of a million are refused: a linear program cannot resolve the smaller ones."""
    with refused(BadProbability, "too far apart", "inf to what must not move"):
        rumours.relax({"gossip": 1e15})
    assert rumours.relax({"gossip": np.float64(1e5)}).changes.index.tolist() == ["P(Flu | Gender=male) = 0.4"]
    assert rumours.relax({"gossip": np.int64(5)}).changes.index.tolist() == ["P(Flu | Gender=male) = 0.4"]


def test_two_statements_that_become_one(release):
    """Two statements that become the same by relaxation stay two."""
    relaxed = MaxEnt(release).add("P(HIV) <= 0.1", "P(HIV) <= 0.05").relax()
    assert len(relaxed.changes) == 2
    assert len(relaxed.model.knowledge) == 2
    assert relaxed.model.solve().prob("HIV") == pytest.approx(0.2)


@pytest.mark.parametrize(("value", "end"), [(0.2222222, "0.222222222222"), (0.222, "0.22222222"), (0.2, "0.222222")])
def test_digits_of_a_small_move(value, end):
    """A small move is reported with enough digits for the values to differ."""
    table = pd.DataFrame({"A": list("aabbbabab"), "S": list("xyzzzxyzz"), "B": 1})
    model = MaxEnt(mx.Release.from_buckets(table, qi="A", sa="S", bucket="B")).add(mx.P("x") == value)
    with refused(Infeasible, f"to {end}. Correct it"):
        model.solve()
