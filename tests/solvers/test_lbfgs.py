"""DUAL_LBFGS, the solver that the papers use: bounds on multipliers, statuses, and precision in floating point."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.backends import BoundedDual, lbfgs
from maxent_cvx.solvers.costs import Penalties
from maxent_cvx.solvers.newton import newton
from support.problems import CONTRADICTORY
from support.random_models import linear_form, random_model

OPEN = np.inf


@pytest.fixture(autouse=True)
def _no_overflow():
    """NumPy gives no warning, whatever points a line search tries."""
    with np.errstate(all="raise", under="ignore"):
        yield


def test_soft_rows():
    """Ten records of which six would be free in one of three terms: the answer is Newton's, whatever missing them costs."""
    for cost, *row in (("square", 0.5, OPEN), ("huber", 0.5, 0.7), ("absolute", 0.0, 0.3), ("divergence", 0.0, OPEN)):
        temperature, target = (np.array([2.0]), np.array([6.0])) if cost == "divergence" else (None, None)
        side = 0.0 if cost == "divergence" else 6.0
        penalties = Penalties(*(np.array([value]) for value in row), temperature, target)
        form = replace(linear_form([[1, 1, 1], [1, 0, 0]], [10, side], [10, side]), n_facts=1, penalties=penalties)
        answer, expected = lbfgs(form), newton(form)
        assert answer.status is expected.status is Status.OPTIMAL
        np.testing.assert_allclose(answer.counts, expected.counts, atol=1e-7)
        np.testing.assert_allclose(answer.multipliers, expected.multipliers, atol=1e-7)


def test_beyond_the_largest_exponent():
    """The function does not depend on its origin: it is exp up to the largest exponent, and its tangent beyond."""
    for start, step in itertools.product([0.0, 11.0, 40.0, 800.0], [-50.0, -0.5, 0.0, 1e-3, 0.5, 30.0, 1e3]):
        dual = BoundedDual(linear_form([[1, 1]], [10], [10]), np.array([start]))
        most, e = 10 + np.log(10), start + step - 1
        value = np.exp(min(e, most)) * (1 + max(e - most, 0))
        assert dual.value + dual.at(dual.origin + step)[0] == pytest.approx(2 * value - 10 * (start + step), rel=1e-9)
    # Near its origin it is precise relative to its own size, where a plain difference is only rounding.
    dual = BoundedDual(linear_form([[1, 1]], [1e6], [1e6]), np.array([np.log(5e5) + 1]))
    assert dual.at(dual.origin + 1e-9)[0] == pytest.approx(1e6 * 1e-18 / 2, rel=1e-3)


def test_how_it_ends():
    """The iterations ran out; contradictory rows are recognised early; with a tolerance below rounding it is inaccurate."""
    answer = lbfgs(random_model(4)[0].form, max_iterations=2)
    assert (answer.status, answer.iterations) == (Status.LIMIT, 2)
    for problem in CONTRADICTORY:  # the dual function falls below its lower bound for feasible rows
        answer = lbfgs(problem.model().form)
        assert (answer.status, answer.counts) == (Status.INFEASIBLE, None)
        assert answer.iterations < 100
    statuses = {}
    for seed in range(4, 12):
        answer = lbfgs(random_model(seed)[0].form, tolerance=1e-30)
        statuses[answer.status] = "gradient 0.0e+00" in answer.message
    assert statuses.pop(Status.INACCURATE) is False
    assert statuses in ({}, {Status.OPTIMAL: True})
