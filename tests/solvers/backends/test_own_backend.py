"""A solver from outside the package: registered or given as an object, validated, and certified like any other."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.constraints import ExpCone
from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC

import maxent_cvx as mx
from maxent_cvx import Inaccurate, P, SolverError, TableError, UnknownName
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.backends import SOLVERS
from support.helpers import refused

MEN = {"Gender": "male"}


class Scaling:
    """Generalised iterative scaling: one multiplier after the other, until every equation holds; a dozen lines."""

    name = "SCALING"
    takes_inequalities = False

    def solve(self, form, start=None, *, sweeps=5_000):
        m, a, b = np.zeros(form.shape[0]), form.matrix.toarray(), form.low
        for _ in range(sweeps):
            for i in range(len(m)):
                x = np.exp(form.exponent(m))
                m[i] += (b[i] - a[i] @ x) / max(a[i] ** 2 @ x, 1e-300)
        return Answer(Status.OPTIMAL, np.exp(form.exponent(m)), m)


@pytest.fixture
def model(release) -> mx.MaxEnt:
    return mx.MaxEnt(release).add(P("Flu", given=MEN) == 0.3)


@pytest.fixture
def scaling():
    yield mx.solvers.register(Scaling())
    del SOLVERS["SCALING"]


def test_by_name(model, scaling):
    """Once registered it is found, listed, compared and certified by its name."""
    post = model.solve("SCALING", sweeps=2_000)
    assert post.solver == "SCALING"
    assert post.certificate.bound < 1e-6
    np.testing.assert_allclose(post.counts, model.solve().counts, atol=1e-6)
    assert mx.solvers.available().loc["SCALING", "installed"]
    assert mx.compare_solvers(model, ["SCALING", "DUAL_NEWTON"]).loc["SCALING", "certified"]
    assert mx.solvers.register(scaling) is scaling  # to register it twice is no error


def test_as_an_object(model):
    """It can be used without being registered."""
    assert model.solve(solver=Scaling()).certificate.holds
    assert "SCALING" not in SOLVERS


def test_what_it_does_not_take(model):
    """One sentence says what it does not take, what the model holds, and which solvers do."""
    with refused(SolverError, "SCALING takes equations only", "1 inequalities", "P(HIV)", "DUAL_NEWTON"):
        model.copy().add(P("HIV") <= 0.2).solve(Scaling())
    convex = model.copy().add(lambda space: cp.exp(space.prob("Flu") - 0.1) <= 1.01)
    with refused(SolverError, "linear rows only", "convex constraint", "CLARABEL"):
        convex.solve(Scaling())
    with refused(UnknownName, "tolerance", "SCALING", "sweeps"):
        model.solve(Scaling(), tolerance=1e-9)


@pytest.mark.parametrize(
    ("backend", "says"),
    [
        (object(), "no such name"),
        (Scaling, "no such name"),
        (type("X", (), {"name": "X"})(), "no solve"),
        (type("X", (), {"name": "auto", "solve": print})(), "no such name"),
        (type("X", (), {"name": "CLARABEL", "solve": print})(), "already"),
    ],
)
def test_what_is_no_solver(backend, says):
    """An object without a name or without solve, or with the name of another solver, is not registered."""
    with refused(SolverError, says):
        mx.solvers.register(backend)


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (lambda form: None, SolverError, "must return"),
        (lambda form: Answer(Status.OPTIMAL, np.ones(3), np.zeros(2)), SolverError, "floats is expected"),
        (
            lambda form: Answer(Status.OPTIMAL, np.full(form.shape[1], np.nan), np.zeros(form.shape[0])),
            SolverError,
            "no answer",
        ),
        (lambda form: Answer(Status.FAILED, None, None, message="out of luck"), SolverError, "out of luck"),
        (lambda form: Answer(Status.OPTIMAL, np.ones(form.shape[1]), np.zeros(form.shape[0])), Inaccurate, "certified"),
    ],
)
def test_what_is_no_answer(model, answer, error, says):
    """Every answer is checked: one of a wrong type or shape is an error, a wrong one is not certified."""
    backend = type("X", (), {"name": "X", "solve": lambda self, form, start=None: answer(form)})()
    with refused(error, says):
        model.solve(backend)


def test_answers_from_anywhere_are_certified(model):
    """The certified error of given counts is no less than their actual error, with multipliers or without."""
    post = model.solve()
    exact = post.conditional().to_numpy()
    for off in (0.0, 1e-6, 1e-3):
        rounded = post.counts + off * np.random.default_rng(0).uniform(-1, 1, len(post.counts)) * (post.counts > 0.1)
        for multipliers in (None, post.multipliers):
            bound = model.certify(rounded, multipliers).bound
            group, n = post.space.groups
            far = np.abs(np.bincount(group, np.abs(rounded - post.counts))) / n
            assert bound >= far.max() / 2 - 1e-12
            assert bound <= 1e-6 + 100 * off**0.5
    assert exact.sum() == pytest.approx(len(exact))
    shuffled = (10 * post.joint()).sample(frac=1, random_state=0)
    assert model.certify(shuffled).bound < 1e-6


@pytest.mark.parametrize("counts", [None, [1.0], "x", np.full(27, np.nan)])
def test_what_are_no_counts(model, counts):
    """There must be a finite number for every term."""
    with refused(TableError, "27"):
        model.certify(counts)
    with refused(TableError, "multipliers"):
        model.certify(model.solve().counts, {"x": np.zeros(2)})


def test_solvers_of_cvxpy_by_name():
    """Each solver of CVXPY that takes exponential cones is found by its name, installed or not; no other is."""
    for name, solver in SOLVER_MAP_CONIC.items():
        if name in SOLVERS:
            continue
        if ExpCone not in solver.SUPPORTED_CONSTRAINTS:
            with refused(UnknownName, name):
                mx.solvers.find(name)
        elif name in cp.installed_solvers():
            assert mx.solvers.find(name).name == name
            assert mx.solvers.available().loc[name, "installed"]
        else:
            with refused(SolverError, f"{name} is not installed"):
                mx.solvers.find(name)


def test_a_solver_without_a_license(monkeypatch):
    """A solver that is installed but always raises is listed as unusable, with its own message."""

    class Unlicensed:
        name = "UNLICENSED"
        trouble = "no license found"

        def solve(self, form, start=None):
            raise RuntimeError(self.trouble)

    monkeypatch.setitem(SOLVERS, "UNLICENSED", mx.solvers.find(Unlicensed()))
    table = mx.solvers.available()
    assert table.loc["UNLICENSED", "note"] == "installed, but not usable: no license found"
    assert (table.drop(index="UNLICENSED")["note"] == "").all()
