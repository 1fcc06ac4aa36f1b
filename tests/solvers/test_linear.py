"""Linear and integer programs: optima proved by weak duality, and integer points against enumeration."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Sequence

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxent_cvx import Infeasible, MaxEnt, NotDecided, P, Release, ReleaseSeries, SolverError
from maxent_cvx.solvers import linear
from maxent_cvx.solvers.duality import dual_bound
from maxent_cvx.solvers.linear import LinearProgram, by_entropic_penalty, elastic_relaxation
from maxent_cvx.solvers.sparse import condensed
from support.helpers import refused
from support.patience import AGES
from support.random_models import contradictory_model, random_model
from support.series import assignments, patients, published, random_tables


@given(seed=st.integers(0, 10**6))
def test_many_costs_over_one_polyhedron(seed: int):
    """Each minimum is that of a program of its own by SciPy, and its multipliers prove it by weak duality."""
    rng = np.random.default_rng(seed)
    n_rows, n = int(rng.integers(1, 8)), int(rng.integers(1, 12))
    matrix = rng.choice([-1.0, 0.0, 0.0, 0.5, 1.0], (n_rows, n))
    value, width = matrix @ rng.choice([0.0, 1.0, 3.0], n), rng.choice([0.0, 0.5, np.inf], (2, n_rows))
    low, high, upper = value - width[0], value + width[1], 4.0
    program = LinearProgram(sp.csr_array(matrix), low, high, upper=upper)
    rows, sides = np.vstack([matrix, -matrix]), np.concatenate([high, -low])
    finite = np.isfinite(sides)
    for cost in rng.normal(size=(6, n)):
        truth = linprog(cost, rows[finite], sides[finite], bounds=(0, upper))
        found = program.minimum(cost)
        assert found.found
        assert truth.status == 0
        assert cost @ found.x == pytest.approx(truth.fun, abs=1e-7)
        d = found.multipliers
        assert (d[np.isinf(low)] <= 1e-12).all()
        assert (d[np.isinf(high)] >= -1e-12).all()
        side = np.where(d > 0, low, high)
        bound = d[d != 0] @ side[d != 0] + upper * np.minimum(cost - matrix.T @ d, 0).sum()
        assert bound == pytest.approx(truth.fun, abs=1e-7)


def test_programs_without_an_optimum(capfd: pytest.CaptureFixture[str]):
    """Infeasible, unbounded and refused programs are told apart, and HiGHS prints nothing, not even its banner."""
    one, inf = np.ones(1), np.array([np.inf])
    apart = sp.csr_array(np.array([[1.0, -1.0]]))
    contrary = LinearProgram(sp.csr_array(np.ones((2, 2))), np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    assert contrary.minimum(np.ones(2)).infeasible
    free = LinearProgram(apart, one, one)
    unbounded = free.minimum(-np.ones(2))
    assert not unbounded.found
    assert not unbounded.infeasible
    assert free.minimum(np.ones(2)).x == pytest.approx([1.0, 0.0])  # the program is still usable
    refused = LinearProgram(apart, np.array([np.nan]), one).minimum(np.ones(2))
    assert not refused.found
    assert not refused.infeasible
    empty = sp.csr_array((1, 0))
    assert LinearProgram(empty, one, inf).minimum(np.empty(0)).infeasible
    assert LinearProgram(empty, -one, inf).minimum(np.empty(0)).found
    # Coefficients that are all the same number are stored once, and written out for HiGHS, which reads memory.
    matrix = condensed(sp.csr_array(np.full((3, 3), 2.0)))
    found = LinearProgram(matrix, np.full(3, 4.0), np.full(3, 4.0)).minimum(np.array([3.0, 1.0, 2.0]))
    assert found.x == pytest.approx([0.0, 2.0, 0.0])
    code = "import numpy, scipy.sparse as sp; from maxent_cvx.solvers.linear import LinearProgram as L; "
    code += "assert L(sp.csr_array(numpy.eye(2)), numpy.ones(2), numpy.ones(2)).minimum(numpy.ones(2)).found"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert capfd.readouterr().out == ""


@given(seed=st.integers(0, 10_000))
def test_same_optimum(seed: int):
    """The rows hold, the bound is valid, and a cost that is attained and proved is the optimum of HiGHS.

    (Cominetti and San Martin, 1994.) A cost that is attained need not be the least: whoever asks compares the two.
    """
    model, _ = random_model(seed)
    form, rng = model.form, np.random.default_rng(seed)
    cost = rng.choice([-1.0, -0.5, 0.0, 1.0], form.shape[1])
    exact = LinearProgram(form.matrix, form.low, form.high).minimum(cost)
    found = by_entropic_penalty(form, cost)
    assert exact.found
    if found.found:
        value = cost @ exact.x
        attained, bound = cost @ found.x, dual_bound(form, cost, found.multipliers)
        assert bound <= value + 1e-6
        assert attained >= value - 1e-6
        assert form.residual(found.x).max() <= 1e-6
        if attained - bound <= 1e-6:
            assert attained == pytest.approx(value, abs=1e-6)
    form = contradictory_model(seed).form
    if elastic_relaxation(form).off.max(initial=0) > 1e-6:
        assert not by_entropic_penalty(form, np.zeros(form.shape[1])).found


@pytest.mark.parametrize("seed", range(2))
def test_large_problems_are_solved_so(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Relaxations and bounds are the same whether or not the entropic penalty is tried first."""
    model, (consistent, records) = contradictory_model(seed), random_model(seed)
    asked = P(str(records["Disease"].iloc[0]), given={"Sex": records["Sex"].iloc[0]})
    before = elastic_relaxation(model.form), consistent.bounds(asked)
    monkeypatch.setattr(linear, "LARGE", 0)
    after = elastic_relaxation(model.form), consistent.bounds(asked)
    assert after[0].off.sum() == pytest.approx(before[0].off.sum(), abs=1e-6)
    assert after[1] == pytest.approx(before[1], abs=1e-6)
    for form, change in ((model.form, before[0]), (model.form, after[0])):
        assert dual_bound(form, np.zeros(form.shape[1]), change.direction) == pytest.approx(change.off.sum(), abs=1e-6)


seeds = st.integers(0, 10**6)


@given(seed=seeds, releases=st.integers(1, 3))
def test_against_all_assignments(seed: int, releases: int):
    """Bounds and certainties over integer assignments agree with enumeration."""
    tables = random_tables(seed, releases, size=6)
    every = assignments(tables)
    model = MaxEnt(ReleaseSeries(map(published, tables)))
    people, values = model.view.persons, model.view.sensitive_values
    person, value = int(people[seed % len(people)]), values[seed % len(values)]
    share = (every[person] == value).astype(float)
    ends = model.bounds(P(value, who=person), integer=True, time_limit=AGES)
    assert ends == pytest.approx((share.min(), share.max()))
    several = [int(i) for i in people[:3]]
    number = (every[several] == value).sum(axis=1)
    ends = model.bounds(sum(P(value, who=i) for i in several), integer=True, time_limit=AGES)
    assert ends == pytest.approx((number.min(), number.max()))


def test_knowledge_that_no_whole_assignment_has(release: Release):
    """30 % of six men is not an integer; between 30 % and 40 % of them there is one integer, two."""
    flu, other = P("Flu", given={"Gender": "male"}), P("Flu", given={"Gender": "female"})
    with refused(Infeasible, "integer=True"):
        MaxEnt(release).add(flu == 0.3).bounds(other, integer=True, time_limit=AGES)
    model = MaxEnt(release).add(flu.between(0.3, 0.4))
    assert model.bounds(other, integer=True, time_limit=AGES) == pytest.approx((0.25, 0.25))
    assert model.bounds(other)[1] == pytest.approx(0.3)


def test_not_decided():
    """With too little time nothing is decided, and the error says so."""
    model = MaxEnt(patients())
    with refused(NotDecided, "more time"):
        model.bounds(P("Flu", who=1), integer=True, time_limit=0)
    found = model.solve().certain(integer=True, time_limit=0)
    assert not found["decided"].all()
    assert found.loc[~found["decided"], "probability"].isna().all()
    convex = MaxEnt(patients()).add(lambda space: cp.exp(space.p[0]) <= 1.5)
    with refused(SolverError, "convex"):
        convex.bounds(P("Flu", who=1), integer=True, time_limit=AGES)


def aab(values: Sequence[str]) -> pd.DataFrame:
    """Two a and one b, with a value each."""
    return pd.DataFrame({"Q": list("aab"), "S": values, "B": 1})


@given(seed=seeds)
def test_wide_rows_are_those_of_all_assignments(seed: int):
    """Bounds over integer assignments are those of all tables that satisfy the row, whatever its coefficients."""
    rng = np.random.default_rng(seed)
    values, size = ["flu", "hiv", "cold"], [float(10 ** rng.uniform(-7, 0)), 1.0]
    events = [(s, q) for q in "ab" for s in values]

    def shares(table: pd.DataFrame) -> dict[tuple[str, str], float]:
        return {(s, q): float((table.S[q == table.Q] == s).mean()) for s, q in events}

    truth = shares(aab(rng.permutation(values)))
    chosen = [events[i] for i in rng.choice(len(events), 2, replace=False)]
    said = sum(a * P(s, given={"Q": q}) for a, (s, q) in zip(size, chosen, strict=True))
    release = Release.from_buckets(aab(values), qi=["Q"], sa="S", bucket="B")
    model = MaxEnt(release).add(said == sum(a * truth[event] for a, event in zip(size, chosen, strict=True)))
    tables = [shares(aab(order)) for order in itertools.permutations(values)]
    true = [
        table for table in tables
        if abs(sum(a * (table[event] - truth[event]) for a, event in zip(size, chosen, strict=True))) < 1e-9
    ]  # fmt: skip
    for s, q in events:
        ends = [table[s, q] for table in true]
        found = model.bounds(P(s, given={"Q": q}), integer=True, time_limit=AGES)
        assert found == pytest.approx((min(ends), max(ends)), abs=1e-6)
