"""Convex constraints in the certificate: also one without a multiplier couples what it is about."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import entr

from maxent_cvx import MaxEnt, P
from maxent_cvx.solvers.certificate import Allowance, Certificate, ConvexTerms, certify
from maxent_cvx.solvers.convex import read_budget
from maxent_cvx.solvers.form import LinearForm
from support.depot import publish
from support.solving import solution

#: Twice two by two: n(q1, s1) = x, then 4 - x, 4 - x, x - 2, for 2 <= x <= 4, and the same of a hundred times as many,
#: n(q3, s3) = y. By eq. (9) x = 16/6, and y a hundred times that.
TWICE = (("q1*4 q2*2", "s1*4 s2*2"), ("q3*400 q4*200", "s3*400 s4*200"))
X, Y = 16 / 6, 1600 / 6


def table(x: float, y: float) -> np.ndarray:
    """The counts of both buckets, in the order of the terms."""
    return np.array([x, 4 - x, 4 - x, x - 2, y, 400 - y, 400 - y, y - 200])


def exact(most: float) -> float:
    """The x of the largest entropy with 10 x + y = most."""
    found = minimize_scalar(
        lambda x: -float(entr(table(x, most - 10 * x)).sum()), bounds=(2, 4), method="bounded", options={"xatol": 1e-12}
    )
    return float(found.x)


def certified(most: float, x: float, y: float, name: str) -> Certificate:
    """Certify (x, y) for 10 x + y <= most, written as a convex constraint whose multiplier is 0.

    Statements that are always true keep the buckets from being solved in closed form.
    """
    model = MaxEnt(publish(TWICE)).add(*(P(s, given={"Q": q}) >= 0.5 for s, q in (("s1", "q1"), ("s3", "q3"))))
    multipliers = solution(model).answer.multipliers
    counts = cp.Variable(len(model.space), nonneg=True)
    both = 10 * counts[0] + counts[4]
    budget = read_budget(
        cp.square(both - 200) - (most - 200) ** 2 if name == "squares" else cp.pos(both - most / 2) - most / 2,
        counts,
        name,
    )
    assert budget is not None
    rows = replace(LinearForm.plain(budget.matrix, budget.low, budget.high), penalties=budget.penalties)
    none = np.empty(0, dtype=np.int64)
    allowance = Allowance(rows, budget.linear, budget.limit, budget.magnitude, 0.0, none)
    return certify(model.form, model.posed.groups, table(x, y), multipliers, convex=ConvexTerms([allowance]))


@pytest.mark.parametrize("name", ["squares", "parts"])
def test_a_constraint_without_a_multiplier_couples(name: str):
    """What one bucket is given is taken from the other: at x = 16/6 the first by itself has no duality gap at all.

    The gap of the second is small for 400 people, and not for four.
    """
    for lacking in (1.0, 5.0, 20.0):
        most = 10 * X + Y - lacking
        for x in (X, exact(most)):
            assert certified(most, x, most - 10 * x, name).bound >= abs(x - exact(most)) / 4


@pytest.mark.parametrize("name", ["squares", "parts"])
def test_a_constraint_that_is_never_active_couples_nothing(name: str):
    """With a little more than 10 x + y without it, nothing changes: the certificate is that of the rows alone."""
    certificate = certified(10 * X + Y + 0.1, X, Y, name)
    assert certificate.backward == 0
    assert certificate.bound <= 1e-7


@pytest.mark.parametrize("name", ["squares", "parts"])
def test_a_violated_constraint_is_measured(name: str):
    """What violates a constraint by 1e-9 is no answer to it as written, and the certificate says how far that is."""
    certificate = certified((10 * X + Y) * (1 - 1e-9), X, Y, name)
    assert 1e-10 < certificate.backward < 1e-8
    assert not certified(10 * X + Y - 1, X, Y, name).holds
