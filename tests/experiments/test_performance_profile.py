"""Solvers on several models: one table, and how often each is within a factor of the best (Dolan and Moré, 2002)."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import BadProbability, StatementError, TableError, UnknownName, plots
from support.depot import CUBE, SQUARE, p, publish
from support.helpers import refused
from support.solving import examples

mpl.use("Agg")

TWO = ["DUAL_NEWTON", "DUAL_LBFGS"]


def table_of(seconds: dict[str, list[float]], certified: dict[str, list[bool]] | None = None) -> pd.DataFrame:
    """What compare_solvers gives, of times by solver, a number a model."""
    models = [f"model {i}" for i in range(len(next(iter(seconds.values()))))]
    index = pd.MultiIndex.from_product([models, seconds], names=["model", "solver"])
    frame = pd.DataFrame(seconds, index=models).stack().reindex(index)
    good = True if certified is None else pd.DataFrame(certified, index=models).stack().reindex(index).to_numpy()
    return pd.DataFrame({"certified": good, "compile_seconds": 0.0, "solve_seconds": frame, "iterations": 1})


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
    timeless = [name for name in table.columns if not name.endswith("seconds")]
    for name, model in models.items():
        alone = mx.compare_solvers(model, TWO)
        assert table.attrs["reference"][name] == alone.attrs["reference"]
        pd.testing.assert_frame_equal(table.loc[name][timeless], alone[timeless])


def test_a_time_limit_each(models):
    """Without time no answer is certified; a solver that has no time limit answers, and its message says so."""
    table = mx.compare_solvers(models, time_limit=0, presolve=False)
    assert not table.drop("ECOS", level="solver", errors="ignore")["certified"].any()
    for solver in TWO:
        assert (table.xs(solver, level="solver")["status"] == "limit").all()
    for solver, says in (("CLARABEL", "time limit of 0 seconds"), ("ECOS", "no time limit")):
        if solver in table.index.get_level_values("solver"):
            assert table.xs(solver, level="solver")["message"].str.contains(says).all()
    assert mx.compare_solvers(models, TWO, time_limit=1e6)["certified"].all()
    with pytest.raises(mx.MaxEntError, match="time_limit"):
        mx.compare_solvers(models, TWO, time_limit=-1)


def test_wrong_models(models):
    """Models have names, and there is at least one."""
    with refused(StatementError, "no model is given"):
        mx.compare_solvers({})
    with refused(StatementError, "'x' of what is compared"):
        mx.compare_solvers({"x": 3})


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


def test_what_nobody_solves_counts_for_nobody():
    """A model without an answer lowers the fraction of all, and is no division by infinity."""
    table = table_of({"A": [1.0, 1.0], "B": [2.0, 1.0]}, {"A": [True, False], "B": [True, False]})
    profile = mx.performance_profile(table).set_index(["solver", "tau"])["fraction"]
    assert profile.to_dict() == {("A", 1.0): 0.5, ("A", 2.0): 0.5, ("B", 1.0): 0.0, ("B", 2.0): 0.5}


def test_times_too_short_to_measure():
    """Where presolve has found everything, all are equally fast: below a millisecond there are no ratios."""
    profile = mx.performance_profile(table_of({"A": [0.0, 1e-4], "B": [9e-4, 0.0]}))
    assert profile.to_numpy().tolist() == [["A", 1.0, 1.0], ["B", 1.0, 1.0]]


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


def test_wrong_profiles(models):
    """A table of one model, another cost, ratios below 1: errors that say what is expected."""
    table = table_of({"A": [1.0, 2.0], "B": [2.0, 1.0]})
    with refused(TableError, "several models"):
        mx.performance_profile(table.droplevel("model"))
    with refused(TableError, "lacks a row"):
        mx.performance_profile(table.iloc[:-1])
    with refused(TableError, "twice"):
        mx.performance_profile(pd.concat([table, table]))
    with refused(UnknownName, "'second' is not a cost", "'seconds'"):
        mx.performance_profile(table, "second")
    with refused(BadProbability, "tau=0.5"):
        mx.performance_profile(table, tau=[0.5])
    with refused(BadProbability, "at least one"):
        mx.performance_profile(table, tau=[])


def test_picture(models):
    """A line a solver, from its fraction at 1 to a little beyond the last step; it never falls."""
    seconds = {"A": [1.0, 1.0, 6.0, 1.0], "B": [4.0, 2.0, 2.0, 40.0]}
    table = mx.performance_profile(table_of(seconds))
    ax = plots.performance_profile(table)
    assert [line.get_label() for line in ax.get_lines()] == ["A", "B"]
    for line in ax.get_lines():
        x, y = line.get_data()
        assert x[0] == 1.0
        assert x[-1] > 40.0
        assert (np.diff(y) >= 0).all()
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["A", "B"]
    plt.close(ax.figure)
    with refused(TableError, "performance_profile"):
        plots.performance_profile(table.drop(columns="tau"))
    ax = plots.performance_profile(mx.performance_profile(mx.compare_solvers(models, TWO), "iterations"))
    plt.close(ax.figure)
