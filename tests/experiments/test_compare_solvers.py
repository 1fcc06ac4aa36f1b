"""compare_solvers and performance_profile."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, P, StatementError, TableError, UnknownName, plots
from maxent_cvx.solvers.answer import Answer
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.solvers.certificate import ACCURACY
from maxent_cvx.solvers.form import LinearForm
from support.problems import CUBE, SQUARE, p, publish
from support.solving import CONIC, DEFAULT, INSTALLED, examples

mpl.use("Agg")

COLUMNS = [
    "word", "certified", "bound", "error", "objective", "residual", "gap", "iterations", "tolerance", "build", "solve",
    "certify", "seconds", "reason",
]  # fmt: skip

#: Columns that are NaN without an answer.
NUMBERS = [name for name in COLUMNS[2:-1] if name != "seconds"]
TIMES = ["build", "solve", "certify", "seconds"]


@dataclass
class Changed:
    """A solver from outside the package, without a time limit: the default's answer, changed or not returned."""

    name: str
    change: Callable[[Answer], object] = lambda answer: answer
    installed: bool = True

    def solve(self, form: LinearForm, start: np.ndarray | None = None) -> Any:
        return self.change(SOLVERS[DEFAULT].solve(form, start))


@pytest.fixture
def model(release) -> mx.MaxEnt:
    """The hospital with a statement about men."""
    return mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)


@pytest.fixture
def square() -> mx.MaxEnt:
    """Four terms whose answer is 1.6, 2.4, 1.4, 0.6 of six people, and which presolve leaves to the solver."""
    return mx.MaxEnt(publish(SQUARE)).add(p("s1", "q1") <= 0.4)


def test_every_solver(model):
    """By default the table has all installed solvers in order, with the numbers of their posteriors.

    Errors are differences from the answer with the smallest bound, and are within both bounds.
    """
    table = mx.compare_solvers(model)
    assert table.index.to_list() == INSTALLED
    assert table.index.name == "solver"
    assert table.columns.to_list() == COLUMNS
    post = model.solve(DEFAULT)
    first = table.loc[DEFAULT]
    assert first["word"] == "optimal"
    assert first["objective"] == post.entropy
    assert first["iterations"] == post.iterations
    for name in ("residual", "gap", "bound"):
        assert first[name] == getattr(post.certificate, name)
    assert (table["reason"] == "").all()
    assert (table["certified"] == (table["bound"] <= ACCURACY)).all()
    assert table["certified"].dtype == bool
    assert (table[TIMES] >= 0).all(axis=None)
    assert (table[TIMES[:3]].sum(axis=1) <= table["seconds"] + 1e-3).all()
    assert table["tolerance"].notna().equals(pd.Series([name in CONIC for name in INSTALLED], table.index))
    assert table["objective"].to_numpy() == pytest.approx(post.entropy, abs=1e-5)
    reference = table.attrs["reference"]
    assert reference == table["bound"].idxmin()
    assert table.loc[reference, "error"] == 0
    assert (table["error"] <= table["bound"] + table.loc[reference, "bound"]).all()


def test_difference_by_hand(square):
    """If all counts are one percent too large, the error is a hundredth of the largest P(s | q)."""
    larger = Changed("LARGER", lambda answer: replace(answer, counts=answer.counts * 1.01))
    larger.check = lambda options: None  # a solver may check its options
    table = mx.compare_solvers(square, [larger, DEFAULT])
    assert table.attrs["reference"] == DEFAULT
    largest = square.solve().conditional().to_numpy().max()
    assert table.loc["LARGER", "error"] == pytest.approx(0.01 * largest, rel=1e-6)
    assert table.loc["LARGER", "objective"] != pytest.approx(table.loc[DEFAULT, "objective"], abs=1e-3)
    assert not table.loc["LARGER", "certified"]


@pytest.mark.parametrize("is_registered", [True, False])
def test_whatever_a_solver_raises_the_others_are_compared(square, monkeypatch, is_registered):
    """Errors of any type, invalid answers and solvers that are not installed are rows with a reason."""
    broken = [
        Changed("RAISES", lambda answer: 1 / 0),
        Changed("MEMORY", lambda answer: np.empty(2**59)),
        Changed("HALF", lambda answer: replace(answer, iterations=2.5)),
        Changed("NOTHING", lambda answer: None),
        Changed("ABSENT", installed=False),
    ]
    for solver in broken if is_registered else ():
        monkeypatch.setitem(SOLVERS, solver.name, solver)
    solvers = [solver.name for solver in broken]
    models, limit = {"square": square, "again": square}, None
    if not is_registered:  # with a time limit, solvers run in processes, each of which imports the package
        solvers, models, limit = [broken[0], broken[4]], {"square": square}, 60
    table = mx.compare_solvers(models, [*solvers, Changed("FINE"), DEFAULT], time_limit=limit)
    for name in models:
        rows, n = table.loc[name], len(solvers)
        assert rows["certified"].to_list() == [False] * n + [True] * 2
        assert rows["word"].to_list()[:n] == ["failed"] * (n - 1) + ["not installed"]
        for solver, says in (("RAISES", "ZeroDivisionError"), ("MEMORY", "Error: "), ("HALF", "2.5")):
            assert solver not in rows.index or says in rows.loc[solver, "reason"]
    plt.close(plots.solver_comparison(table).figure)
    profile = mx.performance_profile(table)
    assert profile.groupby("solver")["fraction"].max()[["RAISES", "FINE"]].to_list() == [0, 1]


@pytest.mark.parametrize("presolve", [True, False])
def test_contradiction(release, presolve):
    """Every solver finds contradictory knowledge infeasible, and there is no reference."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.9)
    table = mx.compare_solvers(model, presolve=presolve)
    assert table.index.to_list() == INSTALLED
    assert (table["word"] == "infeasible").all()
    assert table["reason"].str.contains("contradicts").all()
    assert table[NUMBERS].isna().all(axis=None)
    assert table.attrs["reference"] is None


def test_wrong_arguments(square):
    """Unknown solvers and options raise an error before any model is solved."""

    def never(answer):
        raise AssertionError("solved")

    first = Changed("FIRST", never)
    for error, models, solvers, options in [
        (UnknownName, square, [first, "DUAL_NEWTOM"], {}),
        (mx.SolverError, square, [first, 3], {}),
        (UnknownName, square, [first, "DUAL_LBFGS"], {"options": {"DUAL_LBFGS": {"memry": 3}}}),
        (UnknownName, square, [first], {"options": {"ECOS": {}}}),
        (StatementError, {}, [first], {}),
        (StatementError, {"x": 3}, [first], {}),
        (mx.MaxEntError, square, [first], {"time_limit": -1}),
    ]:
        with pytest.raises(error):
            mx.compare_solvers(models, solvers, **options)


TWO = ["DUAL_NEWTON", "DUAL_LBFGS"]


def table_of(seconds: dict[str, list[float]], certified: dict[str, list[bool]] | None = None) -> pd.DataFrame:
    """A table like that of compare_solvers, from the seconds of every solver for each model."""
    models = [f"model {i}" for i in range(len(next(iter(seconds.values()))))]
    index = pd.MultiIndex.from_product([models, seconds], names=["model", "solver"])
    frame = pd.DataFrame(seconds, index=models).stack().reindex(index)
    good = True if certified is None else pd.DataFrame(certified, index=models).stack().reindex(index).to_numpy()
    return pd.DataFrame({"bound": np.where(good, 1e-5, 0.1), "seconds": frame, "iterations": 1})


@pytest.fixture
def models() -> dict[str, mx.MaxEnt]:
    """Two models that presolve leaves to the solvers."""
    cube = mx.MaxEnt(publish(CUBE)).add(p("s1", "q1") == 0.2)
    return {"square": mx.MaxEnt(publish(SQUARE)).add(p("s1", "q1") <= 0.4), "cube": cube}


def test_a_time_limit(models):
    """No answer is certified within no time; a solver without a time limit is stopped."""
    table = mx.compare_solvers(models, time_limit=0, presolve=False)
    assert not table["certified"].any()
    for solver in TWO:
        assert (table.xs(solver, level="solver")["word"] == "limit").all()
    for solver, says in (("CLARABEL", "time limit of 0 seconds"), ("ECOS", "stopped after 0 seconds")):
        if solver in table.index.get_level_values("solver"):
            assert table.xs(solver, level="solver")["reason"].str.contains(says).all()


def sleeping(form: LinearForm, start: np.ndarray | None = None) -> Answer:
    """A solver that never ends, and ignores the request to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def test_a_solver_that_does_not_end_is_killed(square):
    """A solver without a time limit runs in its own process."""
    endless = Changed("ENDLESS")
    endless.solve = sleeping
    table = mx.compare_solvers(square, [endless], time_limit=1)
    assert (table["word"].to_list(), table["certified"].to_list()) == (["time limit"], [False])


def test_accuracy_and_ratios_of_a_profile():
    """A model is solved if the bound is within the accuracy; the ratios may be given."""
    table = table_of({"A": [1.0, 4.0], "B": [2.0, 1.0]}).assign(bound=[1e-5, 1e-5, 1e-8, 1e-8])
    assert mx.performance_profile(table)["fraction"].max() == 1.0
    assert mx.performance_profile(table, accuracy=1e-6)["fraction"].max() == 0.5
    profile = mx.performance_profile(table, tau=[1, 3.5])
    assert profile.to_numpy().tolist() == [["A", 1.0, 0.5], ["A", 3.5, 0.5], ["B", 1.0, 0.5], ["B", 3.5, 1.0]]


@st.composite
def times_and_successes(draw: st.DrawFn) -> tuple[dict[str, list[float]], dict[str, list[bool]]]:
    """Draw the seconds of up to four solvers for up to six models, and which of these they solve."""
    names, n = [f"s{i}" for i in range(draw(st.integers(1, 4)))], draw(st.integers(1, 6))
    seconds = {name: draw(st.lists(st.floats(1e-2, 1e3), min_size=n, max_size=n)) for name in names}
    return seconds, {name: draw(st.lists(st.booleans(), min_size=n, max_size=n)) for name in names}


@examples(60)
@given(times_and_successes())
def test_profiles_are_distribution_functions(case):
    """A profile is the share of models that a solver solves within tau times the least time; units do not matter."""
    seconds, certified = case
    profile = mx.performance_profile(table_of(seconds, certified))
    costs = {name: np.where(certified[name], seconds[name], np.inf) for name in seconds}
    best = np.min(list(costs.values()), axis=0)
    for solver, part in profile.groupby("solver"):
        assert part["fraction"].is_monotonic_increasing
        assert part["fraction"].iloc[-1] == np.mean(certified[solver])
        for tau, fraction in zip(part["tau"], part["fraction"], strict=True):
            assert fraction == np.mean([t < np.inf and t / b <= tau for t, b in zip(costs[solver], best, strict=True)])
    scaled = mx.performance_profile(
        table_of({name: [4 * t for t in some] for name, some in seconds.items()}, certified)
    )
    pd.testing.assert_frame_equal(scaled, profile)


def test_wrong_profiles():
    """A profile needs a table of several models with each solver once, a known cost, and ratios of at least 1."""
    table = table_of({"A": [1.0, 2.0], "B": [2.0, 1.0]})
    for error, wrong, options in [
        (TableError, table.droplevel("model"), {}),
        (TableError, table.iloc[:-1], {}),
        (TableError, pd.concat([table, table]), {}),
        (UnknownName, table, {"measure": "second"}),
        (BadProbability, table, {"tau": [0.5]}),
        (BadProbability, table, {"tau": []}),
    ]:
        with pytest.raises(error):
            mx.performance_profile(wrong, **options)
