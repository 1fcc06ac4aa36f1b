"""Solvers side by side: one row each, whatever becomes of it, and differences from the surest answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Annotation, Text

import maxent_cvx as mx
from maxent_cvx import P, StatementError, UnknownName, plots
from maxent_cvx.solvers.answer import Answer
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.solvers.certificate import ACCURACY
from maxent_cvx.solvers.form import LinearForm
from support.depot import SQUARE, p, publish
from support.helpers import refused
from support.solving import DEFAULT, INSTALLED

mpl.use("Agg")

COLUMNS = [
    "status", "certified", "objective", "residual", "gap", "bound", "difference", "iterations", "compile_seconds",
    "solve_seconds", "message",
]  # fmt: skip
NUMBERS = COLUMNS[2:-1]


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
    assert first["status"] == "optimal"
    assert first["objective"] == post.entropy
    assert first["iterations"] == post.iterations
    for name in ("residual", "gap", "bound"):
        assert first[name] == getattr(post.certificate, name)
    assert (table["message"] == "").all()
    assert (table["certified"] == (table["bound"] <= ACCURACY)).all()
    assert table["certified"].dtype == bool
    assert (table[["compile_seconds", "solve_seconds"]] >= 0).all(axis=None)
    assert table["objective"].to_numpy() == pytest.approx(post.entropy, abs=1e-5)


def test_reference(model):
    """Differences are from the answer with the smallest bound, which is named, and differs from itself by nothing."""
    table = mx.compare_solvers(model)
    reference = table.attrs["reference"]
    assert reference == table["bound"].idxmin()
    assert table.loc[reference, "difference"] == 0
    assert (table["difference"] <= 1e-2).all()


def test_difference_by_hand(square, add):
    """One percent more of everything differs by 0.01, relative to what is exact."""
    add(Fake(factor=1.01))
    table = mx.compare_solvers(square, ["FAKE", DEFAULT])
    assert table.attrs["reference"] == DEFAULT
    assert table.loc["FAKE", "difference"] == pytest.approx(0.01, rel=1e-6)
    assert table.loc["FAKE", "objective"] != pytest.approx(table.loc[DEFAULT, "objective"], abs=1e-3)
    assert not table.loc["FAKE", "certified"]


def test_difference_of_what_is_probable():
    """Probabilities of less than one in a million are not compared: their ratios say nothing."""
    tiny = mx.MaxEnt(publish(SQUARE)).add(p("s1", "q1") >= 0.75 - 1e-7)  # n(q2, s1) = 4e-7 of 6 people
    table = mx.compare_solvers(tiny, [DEFAULT, "DUAL_LBFGS"], options={"DUAL_LBFGS": {"tolerance": 1e-3}})
    exact, rough = (tiny.solve(name, allow_inaccurate=True, **options).joint()
                    for name, options in ((DEFAULT, {}), ("DUAL_LBFGS", {"tolerance": 1e-3})))  # fmt: skip
    ratio = (rough - exact).abs() / exact
    assert exact.min() < 1e-6 < 0.01 < ratio.max()
    assert table.loc["DUAL_LBFGS", "difference"] == pytest.approx(ratio[exact > 1e-6].max())
    assert table.loc["DUAL_LBFGS", "difference"] < 0.01


def test_inaccurate_answers_are_shown(square):
    """An answer that solve refuses is shown with its certificate, and not called certified."""
    table = mx.compare_solvers(square, [DEFAULT, "DUAL_LBFGS"], options={"DUAL_LBFGS": {"max_iterations": 1}})
    assert table["status"].to_list() == ["optimal", "limit"]
    assert table["certified"].to_list() == [True, False]
    assert table.loc["DUAL_LBFGS", "bound"] > ACCURACY
    assert table.loc["DUAL_LBFGS", "difference"] > 0
    assert table.loc["DUAL_LBFGS", "iterations"] == 1


@pytest.mark.parametrize(
    ("fake", "status", "says"),
    [
        (Fake(raises=mx.SolverError("out of memory")), "failed", "out of memory"),
        (Fake(raises=mx.StatementError("cannot be")), "failed", "cannot be"),
        (Fake(installed=False), "not installed", "FAKE is not installed"),
    ],
    ids=["solver error", "other error", "not installed"],
)
def test_failures(square, add, fake, status, says):
    """A solver that fails is a row that says why, and the others are compared all the same."""
    add(fake)
    table = mx.compare_solvers(square, ["FAKE", DEFAULT])
    row = table.loc["FAKE"]
    assert row["status"] == status
    assert says in row["message"]
    assert not row["certified"]
    assert row[NUMBERS].isna().all()
    assert table.loc[DEFAULT, "certified"]
    assert table.columns.to_list() == COLUMNS


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
    table = mx.compare_solvers({"square": square, "again": square}, [*asked, Own("FINE"), DEFAULT], time_limit=60)
    for name in ("square", "again"):
        rows = table.loc[name]
        assert rows["certified"].to_dict() == dict.fromkeys([one.name for one in broken], False) | {
            "FINE": True,
            DEFAULT: True,
        }
        assert rows["status"].to_list()[:5] == ["failed"] * 4 + ["not installed"]
        for solver, says in (("RAISES", "ZeroDivisionError"), ("MEMORY", "Error: "), ("HALF", "2.5")):
            assert says in rows.loc[solver, "message"]
        assert "no time limit" in rows.loc["FINE", "message"]
    plots.solver_comparison(table)
    profile = mx.performance_profile(table)
    assert profile.groupby("solver")["fraction"].max()[["RAISES", "FINE"]].to_list() == [0, 1]


def test_two_solvers_of_one_name(square):
    """A row is one solver; the same one may be given twice, by its name and as an object."""
    fine = Own("FINE")
    assert mx.compare_solvers(square, [fine, "FINE", fine]).index.to_list() == ["FINE"]
    for pair in ([fine, Own("FINE")], [DEFAULT, Own(DEFAULT)]):
        with refused(mx.SolverError, "two solvers"):
            mx.compare_solvers(square, pair)


@pytest.mark.parametrize("presolve", [True, False])
def test_contradiction(release, presolve):
    """Of contradictory knowledge every solver says that it is so, and nothing is the reference."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.9)
    table = mx.compare_solvers(model, presolve=presolve)
    assert table.index.to_list() == INSTALLED
    assert (table["status"] == "infeasible").all()
    assert table["message"].str.contains("contradicts").all()
    assert table[NUMBERS].isna().all(axis=None)
    assert table.attrs["reference"] is None


def test_own_convex_constraint(release):
    """A solver of linear rows alone fails at a convex constraint; the default and a conic one answer."""
    import cvxpy as cp

    model = mx.MaxEnt(release)
    model.add(lambda space: cp.sum_squares(space.p) <= 0.05)
    table = mx.compare_solvers(model, ["DUAL_LBFGS", "CLARABEL", DEFAULT])
    assert table["status"].to_list() == ["failed", "optimal", "optimal"]
    assert "linear rows only" in table.loc["DUAL_LBFGS", "message"]
    assert (table["message"].iloc[1:] == "").all()


def test_whose_answer_it_is(release, monkeypatch):
    """Where the default cannot answer, and a conic solver does in its place, the row says whose answer it is."""
    import cvxpy as cp

    from maxent_cvx.solvers import solve

    def unable(problem, request):
        raise mx.SolverError("no answer")

    monkeypatch.setattr(solve, "solve_convex", unable)
    model = mx.MaxEnt(release).add(lambda space: cp.sum_squares(space.p) <= 0.05)
    assert mx.compare_solvers(model, [DEFAULT])["message"].to_list() == ["the answer of CLARABEL"]


def test_presolve():
    """Presolve is on or off for all of them: on, it leaves nothing to do here."""
    certain = mx.MaxEnt(publish(SQUARE)).add(p("s1", "q1") == 0.75)  # the largest value
    on, off = (mx.compare_solvers(certain, [DEFAULT, "DUAL_LBFGS"], presolve=presolve) for presolve in (True, False))
    assert (on["iterations"] == 0).all()
    assert (off["iterations"] > 0).all()
    assert on["objective"].to_numpy() == pytest.approx(off["objective"].to_numpy(), abs=1e-6)


def test_one_solver_twice(square):
    """More words after a name tell two ways of calling one solver apart; options are of the very row."""
    options = {"DUAL_LBFGS in a hurry": {"max_iterations": 2}}
    table = mx.compare_solvers(square, ["DUAL_LBFGS", "DUAL_LBFGS in a hurry", DEFAULT], options=options)
    assert table["certified"].to_list() == [True, False, True]
    assert table["iterations"].iloc[1] == 2
    # Where no solvers are named, all are compared, and what has options of its own.
    assert mx.compare_solvers(square, options=options).index.to_list() == [*INSTALLED, "DUAL_LBFGS in a hurry"]
    assert mx.compare_solvers(square, DEFAULT).index.to_list() == [DEFAULT]


def test_refused_before_any_work(square, add):
    """What no solver is called, and an option that it does not have, raise before anything is solved."""
    add(Fake(raises=AssertionError("was called")))
    with refused(UnknownName, "'DUAL_NEWTOM'", "'DUAL_NEWTON'"):
        mx.compare_solvers(square, ["FAKE", "DUAL_NEWTOM"])
    with refused(UnknownName, "'memry'", "'memory'"):
        mx.compare_solvers(square, ["FAKE", "DUAL_LBFGS"], options={"DUAL_LBFGS": {"memry": 3}})
    with refused(UnknownName, "'ECOS'", "solver to be compared"):
        mx.compare_solvers(square, ["FAKE"], options={"ECOS": {}})
    with refused(UnknownName, "''"):
        mx.compare_solvers(square, ["FAKE", ""])
    with refused(mx.SolverError, "by name"):
        mx.compare_solvers(square, ["FAKE", 3])


def test_nothing_is_changed(square):
    """Comparing leaves the model, and the options, as they were."""
    options = {"DUAL_LBFGS": {"memory": 5}}
    before = square.describe()
    mx.compare_solvers(square, [DEFAULT, "DUAL_LBFGS"], options=options)
    assert options == {"DUAL_LBFGS": {"memory": 5}}
    pd.testing.assert_frame_equal(square.describe(), before)


# -- the plot ----------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _figures():
    """Start and end without figures."""
    plt.close("all")
    yield
    plt.close("all")


def made(seconds: list[float], bounds: list[float]) -> pd.DataFrame:
    """A table as compare_solvers makes them; no bound is no answer."""
    frame = pd.DataFrame({"compile_seconds": 0.0, "solve_seconds": seconds, "bound": bounds})
    frame["status"] = np.where(frame["bound"].isna(), "failed", "optimal")
    frame["certified"] = frame["bound"] <= ACCURACY
    return frame.set_axis([f"SOLVER_{i}" for i in range(len(frame))])


def boxes(ax: Axes) -> list[Any]:
    """Where the names are."""
    ax.figure.draw_without_rendering()
    return [Text.get_window_extent(text) for text in ax.texts if isinstance(text, Annotation)]


def test_plot(model):
    """A point a solver at its seconds and its bound, by its name, and axes that say what they are."""
    table = mx.compare_solvers(model)
    ax = plots.solver_comparison(table)
    assert isinstance(ax, Axes)
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections])
    seconds = table["compile_seconds"] + table["solve_seconds"]
    assert sorted(drawn[:, 0]) == pytest.approx(sorted(seconds.clip(lower=1e-4)))
    assert sorted(drawn[:, 1]) == pytest.approx(sorted(table["bound"]))
    assert [text.get_text() for text in ax.texts] == table.index.to_list()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert "seconds" in ax.get_xlabel()
    assert "P(s | q)" in ax.get_ylabel()
    assert ax.get_title() == ""


def test_plot_marks_what_is_not_certified():
    """Answers that are not certified have another mark, above the line; one without any bound may be off by 1."""
    ax = plots.solver_comparison(made([1, 2, 3, 4], [1e-7, 2e-3, np.inf, np.nan]))
    certified, others = (np.asarray(dots.get_offsets()) for dots in ax.collections)
    assert certified.tolist() == [[1, 1e-7]]
    assert others.tolist() == [[2, 2e-3], [3, 1]]
    assert ax.lines[0].get_ydata() == [ACCURACY, ACCURACY]
    assert ax.get_title() == "no answer: SOLVER_3 (failed)"


@pytest.mark.parametrize("n", [1, 2, 8])
def test_names_cover_nothing(n):
    """Names of solvers that are all in one place are beside each other, and inside."""
    ax = plots.solver_comparison(made([0.1] * n, [1e-7] * n))
    found = boxes(ax)
    assert len(found) == n
    inside = ax.get_window_extent()
    (point,) = {tuple(place) for dots in ax.collections for place in ax.transData.transform(dots.get_offsets())}
    for i, box in enumerate(found):
        assert not box.contains(*point)
        assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
        assert inside.y0 <= box.y0 <= box.y1 <= inside.y1
        assert not any(box.overlaps(other) for other in found[:i])


def test_more_than_there_is_room_for():
    """Every point has a name, even where names must cover each other."""
    _, ax = plt.subplots(figsize=(2, 1.5))
    assert len(boxes(plots.solver_comparison(made([0.1] * 12, [1e-7] * 12), ax))) == 12


def test_own_axes():
    """With ax= nothing else is drawn on."""
    figure, (left, right) = plt.subplots(1, 2)
    assert plots.solver_comparison(made([1], [1e-7]), ax=right) is right
    assert not left.has_data()
    assert plt.get_fignums() == [figure.number]


def test_nothing_to_draw():
    """Where no solver has an answer there is no plot, and no figure."""
    with refused(StatementError, "no solver", "message"):
        plots.solver_comparison(made([1], [np.nan]))
    assert plt.get_fignums() == []
