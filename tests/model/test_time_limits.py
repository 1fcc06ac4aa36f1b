"""Questions about a model end when their time is over, with an error, and never with half an answer."""

from __future__ import annotations

import math
import time

import highspy
import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import Inaccurate, NotDecided
from maxent_cvx.solvers import certificate
from maxent_cvx.solvers import monitor as deadline
from maxent_cvx.solvers.linear import LinearProgram
from maxent_cvx.solvers.monitor import check_time, seconds_left, within
from support.helpers import refused
from support.problems import SQUARE, publish


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
