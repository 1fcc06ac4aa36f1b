"""DUAL_NEWTON by name in CVXPY: it is found, it refuses to the next solver, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.reductions.solvers import defines

import maxent_cvx as mx
from maxent_cvx.solvers.cvxpy.solver import LISTS


@pytest.fixture
def as_before() -> Iterator[dict[str, list[str]]]:
    """CVXPY's lists of solvers without DUAL_NEWTON, which are put back at the end."""
    lists = {which: getattr(defines, which) for which in LISTS if hasattr(defines, which)}
    kept, solvers = {which: list(names) for which, names in lists.items()}, dict(defines.SOLVER_MAP_CONIC)
    defines.SOLVER_MAP_CONIC.pop("DUAL_NEWTON", None)
    for names in lists.values():
        names[:] = [name for name in names if name != "DUAL_NEWTON"]
    yield {which: list(names) for which, names in lists.items()}
    defines.SOLVER_MAP_CONIC.clear()
    defines.SOLVER_MAP_CONIC.update(solvers)
    for which, names in lists.items():
        names[:] = kept[which]


def die() -> tuple[cp.Variable, cp.Problem]:
    x = cp.Variable(6)
    return x, cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, np.arange(1, 7) @ x == 4.5])


def test_by_name(as_before: dict[str, list[str]]):
    """The name is unknown before the call, and known after it, in capitals or not; a second call changes nothing."""
    x, problem = die()
    with pytest.raises(cp.error.SolverError, match="DUAL_NEWTON is not installed"):
        problem.solve(solver="DUAL_NEWTON")
    for _ in range(2):
        assert mx.solvers.register_with_cvxpy() == "DUAL_NEWTON"
        for which, names in as_before.items():
            assert getattr(defines, which) == [*names, "DUAL_NEWTON"]
    for name in ("DUAL_NEWTON", "dual_newton"):
        problem.solve(solver=name, tolerance=1e-10)
        assert problem.solver_stats.solver_name == "DUAL_NEWTON"
    by_name = x.value
    problem.solve(solver=mx.solvers.DualNewton(), tolerance=1e-10)
    np.testing.assert_allclose(x.value, by_name, rtol=1e-12)
    assert "DUAL_NEWTON" in cp.installed_solvers()


def test_defaults_stay(as_before: dict[str, list[str]]):
    """A problem without the name of a solver is solved by the same solver as before."""
    before, after = die()[1], die()[1]
    before.solve()
    mx.solvers.register_with_cvxpy()
    after.solve()
    assert after.solver_stats.solver_name == before.solver_stats.solver_name != "DUAL_NEWTON"


def test_a_list_of_solvers_falls_back(as_before: dict[str, list[str]]):
    """In CVXPY's list of solvers, a problem that this one refuses goes to the next."""
    mx.solvers.register_with_cvxpy()
    x = cp.Variable(3)
    entropy, norm = cp.Maximize(cp.sum(cp.entr(x))), cp.Minimize(cp.norm(x - 1))
    for objective, by in ((entropy, "DUAL_NEWTON"), (norm, "CLARABEL")):
        problem = cp.Problem(objective, [cp.sum(x) == 1])
        problem.solve(solver_path=["DUAL_NEWTON", "CLARABEL"])
        assert problem.solver_stats.solver_name == by
        np.testing.assert_allclose(x.value, 1 / 3, atol=1e-5)
