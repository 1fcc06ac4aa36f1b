"""What is told of a solve while it runs, and what stops it: by a clock of one's own, never by the machine's speed."""

from __future__ import annotations

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import Inaccurate, SolverError
from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.solvers.monitor import Iteration, Monitor
from support.depot import SQUARE, p, publish
from support.helpers import refused

#: Buckets of one shape; knowledge of each makes as many independent components.
BUCKETS = 16
SOLVERS_OF_OURS = ["DUAL_NEWTON", "DUAL_LBFGS"]


@pytest.fixture
def sixteen() -> mx.MaxEnt:
    """Sixteen buckets, with a statement about a QI tuple of each."""
    model = mx.MaxEnt(
        publish([(f"q{3 * i}*4 q{3 * i + 1}*5 q{3 * i + 2}*3", "s1*4 s2*5 s3*3") for i in range(BUCKETS)])
    )
    return model.add(*[p("s1", f"q{3 * i}") + p("s2", f"q{3 * i + 1}") == 0.66 + 0.02 * i for i in range(BUCKETS)])


def ticking(step: float = 1.0):
    """A clock that is a second later whenever somebody looks."""
    ticks = itertools.count()
    return lambda: step * next(ticks)


def test_a_solver_that_tells_nothing_has_one_row(sixteen, capsys):
    """What CVXPY's solvers tell is how they ended: iterations, residual, seconds and status."""
    post = sixteen.solve("CLARABEL", presolve=False, verbose=True)
    size, _, line, *_ = capsys.readouterr().out.splitlines()
    assert size.startswith("CLARABEL is given")
    assert post.certificate.holds
    assert len(post.log) == 1
    assert post.log["status"].item() == post.status
    assert line.split()[0] == str(post.log["iteration"].item())
    assert post.log["residual"].item() < 1e-6


def test_thousands_of_iterations_are_dozens_of_lines():
    """Beyond fifty iterations every tenth is printed, beyond five hundred every hundredth."""
    written = []
    monitor = Monitor(verbose=True, write=written.append)
    for i in range(5_000):
        monitor.tell({"iteration": i, "residual": 1.0, "seconds": 0.0})
    numbers = [int(line.split()[0]) for line in written[1:]]
    assert numbers == [*range(50), *range(50, 500, 10), *range(500, 5000, 100)]


@pytest.mark.parametrize("solver", SOLVERS_OF_OURS)
def test_callback(sixteen, solver):
    """The callback is told of every iteration in the log, and cannot change what it is told."""
    told: list[Iteration] = []
    post = sixteen.solve(solver, callback=told.append)
    assert [one.iteration for one in told] == post.log["iteration"].tolist()
    assert [one.residual for one in told] == post.log["residual"].tolist()
    with pytest.raises(AttributeError):
        told[0].residual = 0.0


@pytest.mark.parametrize("solver", SOLVERS_OF_OURS)
def test_a_callback_stops_the_solve(sixteen, solver):
    """Where it returns True, the answer so far is an error that says so, or on request returned with a certificate."""

    def enough(told: Iteration) -> bool:
        return told.iteration >= 1

    with refused(Inaccurate, f"{solver} was stopped by its callback, in iteration 1", "allow_inaccurate=True"):
        sixteen.solve(solver, callback=enough)
    post = sixteen.solve(solver, callback=enough, allow_inaccurate=True)
    assert post.status is Status.LIMIT
    assert not post.certificate.holds
    exact = sixteen.solve()
    assert post.certificate.bound >= np.abs(post.conditional() - exact.conditional()).to_numpy().max()


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_cvxpy_solvers_are_given_what_is_left(sixteen, solver, monkeypatch):
    """Conic solvers get their own option, what is left of the time; without any they are not called."""
    given = []
    solve = cp.Problem.solve
    monkeypatch.setattr(cp.Problem, "solve", lambda self, **options: given.append(options) or solve(self, **options))
    sixteen.solve(solver, time_limit=1e6, polish=True)
    name = {"CLARABEL": "time_limit", "SCS": "time_limit_secs"}[solver]
    left = [options[name] for options in given if name in options]
    assert len(left) == 1
    assert 0 < left[0] < 1e6
    given.clear()
    with refused(SolverError, f"{solver} was stopped by its time limit of 0 seconds before it had an answer"):
        sixteen.solve(solver, time_limit=0)
    assert not given


@pytest.mark.parametrize("limit", [-1, math.nan, "x", True])
def test_wrong_time_limits(sixteen, limit):
    """A time limit is a number of seconds."""
    with pytest.raises(mx.MaxEntError, match="time_limit must be"):
        sixteen.solve(time_limit=limit)


def test_a_solver_of_ones_own_is_monitored(sixteen):
    """Where its solve has a parameter `monitor`, it can tell its iterations, and is told to stop."""
    newton = SOLVERS["DUAL_NEWTON"]

    class Own:
        name = "OWN"

        def solve(self, form, start=None, monitor=None):
            return newton.solve(form, start, monitor=monitor)

    class Deaf:
        name = "DEAF"

        def solve(self, form, start=None):
            return newton.solve(form, start)

    told = []
    sixteen.solve(Own(), callback=told.append)
    assert len(told) > 1
    with refused(Inaccurate, "OWN was stopped by its time limit"):
        sixteen.solve(Own(), time_limit=0)
    with refused(SolverError, "DEAF cannot be given a time limit"):
        sixteen.solve(Deaf(), time_limit=0)
    with refused(mx.UnknownName, "'monitor' is not an option of OWN"):
        sixteen.solve(Own(), monitor=3)


def test_convex_constraints_are_told_and_timed(capsys):
    """With a convex constraint, each problem of rows that is solved is told as an iteration; it can be stopped."""
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
