"""What DUAL_NEWTON does not take is refused, by an error of this package that CVXPY knows as its own."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from maxent_cvx import SolverError, UnknownName
from maxent_cvx.solvers.cvxpy.solver import DualNewton


def refused() -> dict[str, tuple[cp.Problem, str]]:
    """Problems without exponential cones, and what the refusal must name."""
    x = cp.Variable(4, name="x")
    return {
        "linear": (cp.Problem(cp.Maximize(x[0]), [cp.sum(x) == 1, x >= 0]), "no entropy in the problem"),
        "quadratic": (cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1]), "no entropy in the problem"),
    }


@pytest.mark.parametrize("name", refused())
def test_refused(name: str):
    """Other problems are refused with what was found, what is expected, and what to use instead."""
    problem, found = refused()[name]
    with pytest.raises(SolverError, match=f"{found}.*DUAL_NEWTON takes.*CLARABEL"):
        problem.solve(solver=DualNewton())


@pytest.mark.parametrize("kind", ["SOC", "integer", "PSD"])
def test_refused_cones(kind: str):
    """Other cones are refused by this package's error or, in older releases of CVXPY, by CVXPY's."""
    x = cp.Variable(4, integer=kind == "integer")
    also = {"SOC": [cp.norm(x) <= 1], "PSD": [cp.diag(x) >> 0.1 * np.eye(4)]}.get(kind, [])
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, *also])
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
