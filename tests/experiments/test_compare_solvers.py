"""compare_solvers and performance_profile."""

from __future__ import annotations

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

#: What only an answer has.
NUMBERS = [name for name in COLUMNS[2:-1] if name != "seconds"]
TIMES = ["build", "solve", "certify", "seconds"]


@dataclass(frozen=True)
class Fake:
    """A solver that is off: it multiplies the default's counts by `factor`, or raises."""

    name: str = "FAKE"
    factor: float = 1.0
    raises: Exception | None = None
    installed: bool = True

    def check(self, options: dict[str, Any]) -> None:
        pass

    def solve(self, form: LinearForm, start: np.ndarray | None = None, **options: Any) -> Answer:
        if self.raises is not None:
            raise self.raises
        answer = SOLVERS[DEFAULT].solve(form, start)
        return replace(answer, counts=answer.counts * self.factor, message="fake")


@pytest.fixture
def model(release) -> mx.MaxEnt:
    """The hospital, and what section 3.1 knows, vaguely."""
    return mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)


@pytest.fixture
def square() -> mx.MaxEnt:
    """Four terms whose answer is 1.6, 2.4, 1.4, 0.6 of six people, and which presolve leaves to the solver."""
    return mx.MaxEnt(publish(SQUARE)).add(p("s1", "q1") <= 0.4)


@pytest.fixture
def add(monkeypatch):
    """Put a solver into the table."""
    return lambda fake: monkeypatch.setitem(SOLVERS, fake.name, fake)


def test_every_solver(model):
    """By default all that are installed, in the table's order, with what a posterior says of itself."""
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


def test_reference(model):
    """Errors are from the answer with the smallest bound, which is named, and are within both bounds."""
    table = mx.compare_solvers(model)
    reference = table.attrs["reference"]
    assert reference == table["bound"].idxmin()
    assert table.loc[reference, "error"] == 0
    assert (table["error"] <= table["bound"] + table.loc[reference, "bound"]).all()


def test_difference_by_hand(square, add):
    """One percent more of everything differs by a hundredth of the largest P(s | q)."""
    add(Fake(factor=1.01))
    table = mx.compare_solvers(square, ["FAKE", DEFAULT])
    assert table.attrs["reference"] == DEFAULT
    assert table.loc["FAKE", "error"] == pytest.approx(0.01 * square.solve().conditional().to_numpy().max(), rel=1e-6)
    assert table.loc["FAKE", "objective"] != pytest.approx(table.loc[DEFAULT, "objective"], abs=1e-3)
    assert not table.loc["FAKE", "certified"]


@dataclass
class Own:
    """A solver from outside the package, without a time limit: the default's answer, changed or not returned."""

    name: str
    change: Callable[[Answer], object] = lambda answer: answer
    installed: bool = True

    def solve(self, form: LinearForm, start: np.ndarray | None = None) -> Any:
        return self.change(SOLVERS[DEFAULT].solve(form, start))


@pytest.mark.parametrize("is_registered", [True, False])
def test_whatever_a_solver_raises_the_others_are_compared(square, monkeypatch, is_registered):
    """Errors of any type, answers that cannot be read and solvers that are not installed are rows with the reason."""
    broken = [
        Own("RAISES", lambda answer: 1 / 0),
        Own("MEMORY", lambda answer: np.empty(2**59)),
        Own("HALF", lambda answer: replace(answer, iterations=2.5)),
        Own("NOTHING", lambda answer: None),
        Own("ABSENT", installed=False),
    ]
    for one in broken if is_registered else ():
        monkeypatch.setitem(SOLVERS, one.name, one)
    asked = [one.name if is_registered else one for one in broken]
    table = mx.compare_solvers(
        {"square": square, "again": square}, [*asked, Own("FINE"), DEFAULT], time_limit=None if is_registered else 60
    )
    for name in ("square", "again"):
        rows = table.loc[name]
        assert rows["certified"].to_dict() == dict.fromkeys([one.name for one in broken], False) | {
            "FINE": True,
            DEFAULT: True,
        }
        assert rows["word"].to_list()[:5] == ["failed"] * 4 + ["not installed"]
        for solver, says in (("RAISES", "ZeroDivisionError"), ("MEMORY", "Error: "), ("HALF", "2.5")):
            assert says in rows.loc[solver, "reason"]
    plt.close(plots.solver_comparison(table).figure)
    profile = mx.performance_profile(table)
    assert profile.groupby("solver")["fraction"].max()[["RAISES", "FINE"]].to_list() == [0, 1]


@pytest.mark.parametrize("presolve", [True, False])
def test_contradiction(release, presolve):
    """Of contradictory knowledge every solver says that it is so, and nothing is the reference."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.9)
    table = mx.compare_solvers(model, presolve=presolve)
    assert table.index.to_list() == INSTALLED
    assert (table["word"] == "infeasible").all()
    assert table["reason"].str.contains("contradicts").all()
    assert table[NUMBERS].isna().all(axis=None)
    assert table.attrs["reference"] is None


def test_wrong_arguments(square, add):
    """What no solver is called, and an option that it does not have, raise before anything is solved."""
    add(Fake(raises=AssertionError("was called")))
    for error, models, solvers, options in [
        (UnknownName, square, ["FAKE", "DUAL_NEWTOM"], {}),
        (UnknownName, square, ["FAKE", ""], {}),
        (mx.SolverError, square, ["FAKE", 3], {}),
        (UnknownName, square, ["FAKE", "DUAL_LBFGS"], {"options": {"DUAL_LBFGS": {"memry": 3}}}),
        (UnknownName, square, ["FAKE"], {"options": {"ECOS": {}}}),
        (StatementError, {}, ["FAKE"], {}),
        (StatementError, {"x": 3}, ["FAKE"], {}),
        (mx.MaxEntError, square, ["FAKE"], {"time_limit": -1}),
    ]:
        with pytest.raises(error):
            mx.compare_solvers(models, solvers, **options)


TWO = ["DUAL_NEWTON", "DUAL_LBFGS"]


def table_of(seconds: dict[str, list[float]], certified: dict[str, list[bool]] | None = None) -> pd.DataFrame:
    """What compare_solvers gives, of times by solver, a number a model."""
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


def test_several_models(models):
    """A row a model and solver; the rows of a model are those that it has by itself, times apart."""
    table = mx.compare_solvers(models, TWO)
    assert table.index.names == ["model", "solver"]
    assert table.index.to_list() == [(name, solver) for name in models for solver in TWO]
    timeless = [name for name in table.columns if name not in TIMES]
    for name, model in models.items():
        alone = mx.compare_solvers(model, TWO)
        assert table.attrs["reference"][name] == alone.attrs["reference"]
        pd.testing.assert_frame_equal(table.loc[name][timeless], alone[timeless])
    listed = mx.compare_solvers(list(models.values()), TWO)
    assert listed.index.to_list() == [(number, solver) for number in (0, 1) for solver in TWO]
    assert np.array_equal(listed["objective"], table["objective"])


def test_a_time_limit_each(models):
    """Without time no answer is certified; a solver that has no time limit is stopped."""
    table = mx.compare_solvers(models, time_limit=0, presolve=False)
    assert not table["certified"].any()
    for solver in TWO:
        assert (table.xs(solver, level="solver")["word"] == "limit").all()
    for solver, says in (("CLARABEL", "time limit of 0 seconds"), ("ECOS", "stopped after 0 seconds")):
        if solver in table.index.get_level_values("solver"):
            assert table.xs(solver, level="solver")["reason"].str.contains(says).all()
    assert mx.compare_solvers(models, TWO, time_limit=1e6)["certified"].all()


def sleeping(form: LinearForm, start: np.ndarray | None = None) -> Answer:
    """A solver that never ends."""
    while True:
        time.sleep(1)


def test_a_solver_that_does_not_end_is_killed(square):
    """A solver without a time limit runs in a process of its own; what it returns in time is its answer."""
    endless, able = Own("ENDLESS"), Own("ABLE")
    endless.solve = sleeping
    table = mx.compare_solvers(square, [endless], time_limit=1)
    assert (table["word"].to_list(), table["certified"].to_list()) == (["time limit"], [False])
    table = mx.compare_solvers(square, [able, DEFAULT], time_limit=600)
    assert (table["word"].to_list(), table["certified"].to_list()) == (["optimal"] * 2, [True] * 2)


def test_an_accuracy():
    """A model counts as solved where the bound is within the accuracy."""
    table = table_of({"A": [1.0, 1.0]}).assign(bound=[1e-5, 1e-8])
    assert mx.performance_profile(table)["fraction"].max() == 1.0
    assert mx.performance_profile(table, accuracy=1e-6)["fraction"].max() == 0.5


def test_a_profile_by_hand():
    """Four models: A is best twice and solves three, B is best twice and solves all, once at four times the cost."""
    seconds = {"A": [1.0, 1.0, 6.0, 1.0], "B": [4.0, 2.0, 2.0, 9.0]}
    table = table_of(seconds, {"A": [True, True, True, False], "B": [True] * 4})
    profile = mx.performance_profile(table).pivot(index="tau", columns="solver", values="fraction")
    assert profile.index.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert profile["A"].tolist() == [0.5, 0.5, 0.75, 0.75]
    assert profile["B"].tolist() == [0.5, 0.75, 0.75, 1.0]
    some = mx.performance_profile(table, tau=[1, 3.5])
    assert some.to_numpy().tolist() == [["A", 1.0, 0.5], ["A", 3.5, 0.75], ["B", 1.0, 0.5], ["B", 3.5, 0.75]]


@examples(60)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.floats(1e-2, 1e3), min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
def test_profiles_are_distribution_functions(times):
    """They rise from how often a solver is the best to how often it solves; brute force agrees; units do not matter."""
    seconds = {f"s{i}": one for i, one in enumerate(times)}
    profile = mx.performance_profile(table_of(seconds))
    best = np.min(times, axis=0)
    for solver, part in profile.groupby("solver"):
        assert part["fraction"].is_monotonic_increasing
        assert part["fraction"].iloc[-1] == 1.0
        for tau, fraction in zip(part["tau"], part["fraction"], strict=True):
            assert fraction == np.mean([t / b <= tau for t, b in zip(seconds[solver], best, strict=True)])
    assert profile[profile["tau"] == 1]["fraction"].sum() > 1 - 1e-9  # somebody is the best at every model
    scaled = mx.performance_profile(table_of({name: [4 * t for t in one] for name, one in seconds.items()}))
    pd.testing.assert_frame_equal(scaled, profile)


def test_wrong_profiles():
    """A table of one model, or of some solvers twice; another cost; ratios below 1."""
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
