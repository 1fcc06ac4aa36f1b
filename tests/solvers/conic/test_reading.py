"""What DUAL_NEWTON does not take is refused, by an error of this package that CVXPY knows as its own."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from maxent_cvx import SolverError, UnknownName
from maxent_cvx.solvers import DualNewton


def refused() -> dict[str, tuple[cp.Problem, str]]:
    """Problems of another form, and what the refusal must name."""
    x, y, s = cp.Variable(4, name="x"), cp.Variable(4, name="y"), cp.Variable(name="s")
    entropy, one = cp.sum(cp.entr(x)), cp.sum(x) == 1
    low, high = cp.Minimize, cp.Maximize
    return {
        "reference": (cp.Problem(low(cp.sum(cp.rel_entr(x, y))), [one, y <= 1]), r"reference.*y\[0\]"),
        "zero reference": (cp.Problem(low(cp.sum(cp.rel_entr(x, [1, 1, 0, 1]))), [one]), r"entropy of x\[2\].*above 0"),
        "log": (cp.Problem(high(cp.sum(cp.log(x))), [one]), r"logarithm or exponential.*x\[0\]"),
        "exp": (cp.Problem(low(cp.sum(cp.exp(x)) - entropy), [one]), r"logarithm or exponential.*x\[0\]"),
        "constraint": (cp.Problem(high(entropy), [one, cp.sum(cp.entr(x[:2])) >= 0.1]), r"x\[0\] stands in a constr"),
        "no weight": (cp.Problem(high(s), [s <= 1, entropy >= 0.5, one]), "stands in a constraint"),
        "other variable": (
            cp.Problem(high(entropy), [one, x >= y, 2 * x >= y, y >= x / 3, y >= x[0]]),
            r"y\[0\].*has no entropy",
        ),
        "norm1": (cp.Problem(high(entropy), [one, cp.norm1(x - 0.2) <= 0.1]), "has no entropy.*norm1"),
        "max": (cp.Problem(high(entropy - cp.max(x)), [one]), "has no entropy.*max"),
        "unbounded": (cp.Problem(high(entropy + s), [one]), "s is in the objective.*unbounded"),
        "linear": (cp.Problem(high(x[0]), [one, x >= 0]), "no entropy in the problem"),
    }


@pytest.mark.parametrize("name", refused())
def test_refused(name: str):
    """Other problems are refused with what was found, what is expected, and what to use instead."""
    problem, found = refused()[name]
    with pytest.raises(SolverError, match=f"{found}.*DUAL_NEWTON takes sums of entr.*CLARABEL"):
        problem.solve(solver=DualNewton())


@pytest.mark.parametrize("kind", ["SOC", "quadratic", "integer", "PSD"])
def test_refused_cones(kind: str):
    """Other cones are refused by this package's error or, in older releases of CVXPY, by CVXPY's."""
    x = cp.Variable(4, integer=kind == "integer")
    also = {"SOC": [cp.norm(x) <= 1], "PSD": [cp.diag(x) >> 0.1 * np.eye(4)]}.get(kind, [])
    square = cp.sum_squares(x) if kind == "quadratic" else 0
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) - square), [cp.sum(x) == 1, *also])
    with pytest.raises((SolverError, cp.error.SolverError), match=r"DUAL_NEWTON|no conic solvers"):
        problem.solve(solver=DualNewton())


def test_unknown_option():
    """An option that does not exist is refused with the one that was meant."""
    x = cp.Variable(3)
    with pytest.raises(UnknownName, match=r"'max_iter'.*'max_iterations'"):
        cp.Problem(cp.Maximize(cp.sum(cp.entr(x)))).solve(solver=DualNewton(), max_iter=3)


def test_refusals_are_cvxpys_too():
    """A refusal is both an error of CVXPY, after which it tries the next solver, and one of this package."""
    for problem, _ in refused().values():
        with pytest.raises(cp.error.SolverError) as caught:
            problem.solve(solver=DualNewton())
        assert isinstance(caught.value, SolverError)
    x = cp.Variable(3)
    with pytest.raises(cp.error.SolverError, match="max_iter"):
        cp.Problem(cp.Maximize(cp.sum(cp.entr(x)))).solve(solver=DualNewton(), max_iter=3)
