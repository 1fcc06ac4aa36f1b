"""The log, the callback and the limits of a solve; no test depends on the speed of the machine."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import cvxpy as cp
import highspy
import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import Inaccurate, NotDecided, SolverError
from maxent_cvx.solvers import certificate
from maxent_cvx.solvers import monitor as deadline
from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.solvers.linear import LinearProgram
from maxent_cvx.solvers.monitor import Iteration, Monitor, check_time, seconds_left, within
from support.helpers import refused
from support.problems import SQUARE, p, publish

#: Buckets of one shape; knowledge of each makes as many independent components.
BUCKETS = 16


@pytest.fixture
def sixteen() -> mx.MaxEnt:
    """Sixteen buckets, with a statement about a QI tuple of each."""
    model = mx.MaxEnt(
        publish([(f"q{3 * i}*4 q{3 * i + 1}*5 q{3 * i + 2}*3", "s1*4 s2*5 s3*3") for i in range(BUCKETS)])
    )
    return model.add(*[p("s1", f"q{3 * i}") + p("s2", f"q{3 * i + 1}") == 0.66 + 0.02 * i for i in range(BUCKETS)])


def test_thousands_of_iterations_are_dozens_of_lines():
    """Beyond fifty iterations every tenth is printed, beyond five hundred every hundredth."""
    written = []
    monitor = Monitor(verbose=True, write=written.append)
    for i in range(5_000):
        monitor.tell({"iteration": i, "residual": 1.0, "seconds": 0.0})
    numbers = [int(line.split()[0]) for line in written[1:]]
    assert numbers == [*range(50), *range(50, 500, 10), *range(500, 5000, 100)]


def test_log(sixteen, capsys):
    """One line per iteration, from 0, which verbose=True prints; the dual function never rises by more than roundoff."""
    post = sixteen.solve(presolve=False, verbose=True)
    size, header, *lines, end = capsys.readouterr().out.splitlines()
    rows, terms = sixteen.form.shape
    assert size.startswith(f"DUAL_NEWTON is given {rows} rows and {terms} terms")
    assert header.split()[:4] == ["iter", "residual", "gap", "dual"]
    assert end.endswith(str(post.certificate))
    log = post.log
    assert {"iteration", "residual", "gap", "dual", "dropped", "products", "seconds"} <= set(log.columns)
    assert [int(line.split()[0]) for line in lines] == log["iteration"].tolist() == [*range(post.iterations + 1)]
    assert log["residual"].iloc[-1] <= 1e-8
    assert log["gap"].iloc[-1] <= 1e-8
    assert (np.diff(log["dual"]) <= 1e-9).all()
    assert log["seconds"].is_monotonic_increasing
    assert (log["dropped"] == 0).all()
    post = sixteen.solve("CLARABEL", presolve=False, verbose=True)  # a solver that reports its end only
    size, _, line, *_ = capsys.readouterr().out.splitlines()
    assert size.startswith("CLARABEL is given")
    assert post.log["status"].item() == post.status == "optimal"
    assert line.split()[0] == str(post.log["iteration"].item())
    assert post.log["residual"].item() < 1e-6
    sixteen.solve(presolve=False)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("solver", ["DUAL_NEWTON", "DUAL_LBFGS"])
def test_callback(sixteen, solver):
    """The callback gets every iteration in the log, and cannot change what it gets; if it returns True, the solve stops."""
    told: list[Iteration] = []
    post = sixteen.solve(solver, callback=told.append)
    assert [one.iteration for one in told] == post.log["iteration"].tolist()
    assert [one.residual for one in told] == post.log["residual"].tolist()
    assert (np.diff(post.log["dual"]) <= 1e-9).all()  # it never rises by more than roundoff
    with pytest.raises(AttributeError):
        told[0].residual = 0.0

    def enough(told: Iteration) -> bool:
        return told.iteration >= 1

    with refused(Inaccurate, f"{solver} was stopped by its callback"):
        sixteen.solve(solver, callback=enough)
    stopped = sixteen.solve(solver, callback=enough, allow_inaccurate=True)
    assert stopped.status is Status.LIMIT
    assert not stopped.certificate.holds
    assert stopped.certificate.bound >= np.abs(stopped.conditional() - post.conditional()).to_numpy().max()


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_cvxpy_solvers_are_given_what_is_left(sixteen, solver, monkeypatch):
    """Conic solvers get the remaining time as their own option; without any time they are not called."""
    given = []
    solve = cp.Problem.solve
    monkeypatch.setattr(cp.Problem, "solve", lambda self, **options: given.append(options) or solve(self, **options))
    sixteen.solve(solver, time_limit=100, polish=True)
    name = {"CLARABEL": "time_limit", "SCS": "time_limit_secs"}[solver]
    left = [options[name] for options in given if name in options]
    assert len(left) == 1
    assert 0 < left[0] < 95  # its answer is to be certified, too
    given.clear()
    with refused(SolverError, f"{solver} was stopped by its time limit of 0 seconds before it had an answer"):
        sixteen.solve(solver, time_limit=0)
    assert not given


def test_a_users_solver_is_monitored(sixteen):
    """A user's solver whose `solve` has a parameter `monitor` reports its iterations, which are the log, and stops."""
    newton = SOLVERS["DUAL_NEWTON"]

    class Own:
        name = "OWN"

        def solve(self, form, start=None, monitor=None):
            return replace(newton.solve(form, start, monitor=monitor), log=())

    class Deaf:
        name = "DEAF"

        def solve(self, form, start=None):
            return newton.solve(form, start)

    told = []
    post = sixteen.solve(Own(), callback=told.append)
    assert len(told) > 1
    assert [one.iteration for one in told] == post.log["iteration"].tolist()
    with refused(Inaccurate, "OWN was stopped by its time limit"):
        sixteen.solve(Own(), time_limit=0)
    with refused(SolverError, "DEAF cannot be given a time limit"):
        sixteen.solve(Deaf(), time_limit=0)
    with refused(mx.UnknownName, "'monitor' is not an option of OWN"):
        sixteen.solve(Own(), monitor=3)
    for limit in (-1, np.nan, "x", True):
        with pytest.raises(mx.MaxEntError):
            sixteen.solve(time_limit=limit)


def test_convex_constraints_are_reported_and_timed(capsys):
    """With a convex constraint, each solved problem of rows is reported as an iteration; the solve can be stopped."""
    model = mx.MaxEnt(publish(SQUARE)).add(lambda space: cp.square(space.prob("s1", {"Q": "q1"})) <= 0.16)
    told = []
    post = model.solve(callback=told.append, verbose=True)
    assert post.certificate.holds
    assert [one.iteration for one in told] == post.log["iteration"].tolist() == list(range(len(told)))
    assert capsys.readouterr().out.splitlines()[-1].endswith(str(post.certificate))
    with pytest.raises(SolverError, match="was stopped by its time limit of 0 seconds"):
        model.solve(time_limit=0)
    with pytest.raises(SolverError, match="was stopped by its callback"):
        model.solve(callback=lambda one: True)


# -- time limits of questions about a model ---------------------------------------------------------------------------


@pytest.fixture
def model(release) -> mx.MaxEnt:
    """The hospital with knowledge as in section 3.1, some of it certain."""
    return mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) >= 0.3")


def test_the_inner_limit_is_the_shorter_one(monkeypatch):
    """Limits nest: an inner one has no more time than the outer one, which applies again afterwards."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    assert deadline.seconds_left() == math.inf
    with within(10):
        with within(1e6):
            assert seconds_left() == 10
        with within(3):
            now[0] = 102.0
            assert seconds_left() == 1
            now[0] = 103.5
            assert seconds_left() == 0
            with refused(NotDecided):
                check_time()
        check_time()
    assert seconds_left() == math.inf


def test_no_time_for_questions(model):
    """Without time, bounds, diagnosis and relaxation are errors; with enough time they are those without a limit."""
    asked = "P(Flu | Degree=college)"
    for ask in (
        lambda: model.bounds(asked, time_limit=0),
        lambda: model.bounds(asked, integer=True, time_limit=0),
        lambda: model.diagnose(time_limit=0),
        lambda: model.relax(time_limit=0),
    ):
        with refused(NotDecided):
            ask()
    assert model.bounds(asked, time_limit=1e6) == model.bounds(asked)
    assert model.diagnose(time_limit=1e6).empty
    assert model.relax(time_limit=1e6).changes.empty


def test_the_limit_of_a_solve_is_over_everything(model, monkeypatch):
    """If the time is over before the solver begins, or while its answer is certified, nothing is certified."""
    assert model.solve(time_limit=1e6).certificate.holds
    monkeypatch.setattr(deadline, "LEAST_GRACE", 0.0)
    with refused(NotDecided):
        model.copy().solve(time_limit=0)
    monkeypatch.setattr(deadline, "LEAST_GRACE", 1e6)

    def late(*given):
        raise NotDecided("late")

    monkeypatch.setattr(certificate, "project", late)
    with refused(Inaccurate):
        model.solve(time_limit=0)
    post = model.solve(time_limit=0, allow_inaccurate=True)
    assert post.certificate.bound == math.inf
    assert post.certificate.residual == pytest.approx(model.form.residual(post.counts).max())


def test_highs_is_given_what_is_left(monkeypatch):
    """A linear program gets the seconds that are left after the programs before it; more is an error."""
    matrix = mx.Space.of(publish(SQUARE)).marginal("s").matrix
    one = np.ones(2)
    program = LinearProgram(matrix, one, one)
    assert program.minimum(np.ones(4)).found
    assert program.highs.getOptionValue("time_limit")[1] == np.inf
    monkeypatch.setattr(program.highs, "getRunTime", lambda: 1e9)  # the clock of HiGHS runs on
    with within(1e6):
        assert program.minimum(np.arange(4.0)).found
    assert 1e9 < program.highs.getOptionValue("time_limit")[1] <= 1e9 + 1e6
    monkeypatch.setattr(program, "run", lambda cost, seconds: highspy.HighsModelStatus.kTimeLimit)
    with within(1e6), refused(NotDecided):
        program.minimum(np.ones(4))
