"""The registry: every name finds its solver; an unknown name and a missing solver are typed errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import Infeasible, SolverError, UnknownName
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.backends import SOLVERS, Backend, available, find, register, registered
from support.helpers import refused
from support.problems import find as problem
from support.solving import INSTALLED


class Own:
    """The default solver by another name."""

    def __init__(self, name: str = "OWN") -> None:
        self.name = name

    def solve(self, form, start=None):
        return find("auto").solve(form, start)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict[str, Backend]:
    """The registry, restored after the test."""
    before = dict(SOLVERS)
    yield SOLVERS
    SOLVERS.clear()
    SOLVERS.update(before)


def test_names():
    """Every solver is registered by its own name, the default first; CVXPY's solvers have CVXPY's names."""
    assert [backend.name for backend in SOLVERS.values()] == list(SOLVERS)
    assert next(iter(SOLVERS)) == find("auto").name == "DUAL_NEWTON"
    assert {"DUAL_LBFGS", "CLARABEL", "ECOS", "SCS", "MOSEK"} <= set(SOLVERS)
    assert "auto" not in SOLVERS


@pytest.mark.parametrize("name", INSTALLED)
def test_find(name: str):
    """A name and the solver itself both find the solver, which declares its capabilities."""
    found = find(name)
    assert found is SOLVERS[name]
    assert find(found) is found
    assert found.installed
    assert {found.takes_inequalities, found.takes_convex} <= {True, False}
    assert isinstance(found.trouble, str)
    assert found.check({}) is None


@pytest.mark.parametrize("name", INSTALLED)
def test_options_that_do_not_exist(name: str):
    """An option that a solver does not have is refused before any work, by its check and by a solve."""
    if name.startswith("DUAL"):
        with refused(UnknownName, "'toleranse'", "tolerance"):
            find(name).check({"toleranse": 1e-9})
    with pytest.raises((UnknownName, SolverError), match="no_such_option"):
        problem("one value or another").model().solve(name, no_such_option=1)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Dual_Newton", "did you mean 'DUAL_NEWTON'"),
        ("clarabel", "did you mean 'CLARABEL'"),
        ("simplex", "expected one of"),
        ("", "'auto', 'DUAL_NEWTON'"),
        ("OSQP", "'OSQP' is not a solver"),  # CVXPY's, and without exponential cones
    ],
)
def test_unknown_names(name: str, says: str):
    """An unknown name is refused with similar names, or with all names."""
    with refused(UnknownName, f"{name!r} is not a solver", says):
        find(name)


@pytest.mark.parametrize("wrong", [None, 3, ["CLARABEL"], {"name": "CLARABEL"}, Own, b"CLARABEL", np.float64(1)])
def test_what_is_no_name(wrong: object):
    """A solver is a name, or an object that solves."""
    with refused(SolverError, "no such name"):
        find(wrong)


def test_not_installed(table: dict[str, Backend]):
    """A solver that is known but not installed is listed as such; to use it is an error that names installed ones."""

    class Missing(Own):
        installed = False

    register(Missing("MISSING"))
    assert not available().loc["MISSING", "installed"]
    with refused(SolverError, "MISSING is not installed", "DUAL_NEWTON", "CLARABEL", never="'MISSING'"):
        find("MISSING")
    assert "MISSING" in {backend.name for backend in registered()}


def test_available():
    """Each solver is listed once, in the order of the registry, then those that only CVXPY finds installed."""
    table = available()
    assert list(table.columns) == ["installed", "note"]
    assert table.index.name == "solver"
    assert not table.index.has_duplicates
    assert list(table.index[: len(SOLVERS)]) == list(SOLVERS)
    assert table["installed"].to_dict() == {
        **{name: backend.installed for name, backend in SOLVERS.items()},
        **dict.fromkeys(table.index[len(SOLVERS) :], True),
    }
    for name in table.index[table["installed"]]:
        assert find(name).name == name


def test_register(table: dict[str, Backend]):
    """A registered solver is found until it is removed; it is registered once, and replaces no other."""
    mine = Own()
    assert register(mine) is mine
    assert register(mine) is mine
    assert find("OWN").name == "OWN"
    assert list(table)[-1] == "OWN"
    assert list(available().index).count("OWN") == 1
    for name in ("OWN", "DUAL_NEWTON"):
        with refused(SolverError, f"there is a solver {name!r} already"):
            register(Own(name))
    del table["OWN"]
    with refused(UnknownName, "'OWN'"):
        find("OWN")


def test_put_into_the_table_by_hand(table: dict[str, Backend]):
    """An object put directly into the registry is adapted as a backend, with defaults for what it lacks."""
    table["BY_HAND"] = Own("BY_HAND")
    found = find("BY_HAND")
    assert (found.installed, found.trouble, found.takes_inequalities, found.takes_convex) == (True, "", True, False)
    assert available().loc["BY_HAND", "installed"]
    solved = problem("one value or another")
    post = solved.model().solve("BY_HAND")
    np.testing.assert_allclose(post.counts, solved.expected(post.space), atol=1e-7)


class Unlicensed(Own):
    """A solver that is installed but has no license."""

    trouble = "license expired"

    def solve(self, form, start=None):
        return Answer(Status.FAILED, None, None, message=self.trouble)


def test_without_a_license(table: dict[str, Backend]):
    """It is found, listed with the reason, fails with the solver's message, and does not stop a comparison."""
    register(Unlicensed("UNLICENSED"))
    assert find("UNLICENSED").trouble == "license expired"
    row = available().loc["UNLICENSED"]
    assert row["installed"]
    assert row["note"] == "installed, but not usable: license expired"
    model = problem("one value or another").model()
    with refused(SolverError, "UNLICENSED", "license expired"):
        model.solve("UNLICENSED")
    compared = mx.compare_solvers(model, ["UNLICENSED", "DUAL_NEWTON"])
    assert compared["certified"].fillna(False).to_list() == [False, True]
    assert compared.index.to_list() == ["UNLICENSED", "DUAL_NEWTON"]
    with pytest.raises(Infeasible):  # infeasibility is found without it
        problem("two values").model().solve("UNLICENSED")


def test_a_table_of_ones_own():
    """Each call returns a new table, so that changes of one do not affect another."""
    first = available()
    first["installed"] = False
    pd.testing.assert_frame_equal(available(), available())
    assert available()["installed"].any()
