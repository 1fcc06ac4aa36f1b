"""Backends: the registry, solvers from outside the package, and CVXPY's, with their options, statuses and multipliers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import cvxpy as cp
import cvxpy.settings
import numpy as np
import pandas as pd
import pytest
from cvxpy.constraints import ExpCone
from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC

import maxent_cvx as mx
from maxent_cvx import Inaccurate, Infeasible, MaxEnt, P, Posterior, QITable, SolverError, TableError, UnknownName
from maxent_cvx.cli.main import main
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.backends import SOLVERS, STATUS, Backend, CvxpyBackend, available, find, register
from maxent_cvx.solvers.certificate import ACCURACY
from support.problems import CUBE, PROBLEMS, p, publish
from support.random_models import contradictory_model, random_model
from support.solving import CONIC, INSTALLED, error

#: For each solver, so few iterations that no answer can be precise.
LIMITS = {
    "DUAL_NEWTON": {"max_iterations": 1},
    "DUAL_LBFGS": {"max_iterations": 1},
    "CLARABEL": {"max_iter": 2},
    "ECOS": {"max_iters": 2},
    "SCS": {"max_iters": 20},
}


class Scaling:
    """Generalised iterative scaling: one multiplier after the other, until every equation holds."""

    takes_inequalities = False

    def __init__(self, name: str = "SCALING") -> None:
        self.name = name

    def solve(self, form, start=None, *, sweeps=5_000):
        m, a, b = np.zeros(form.shape[0]), form.matrix.toarray(), form.low
        for _ in range(sweeps):
            for i in range(len(m)):
                x = np.exp(form.exponent(m))
                m[i] += (b[i] - a[i] @ x) / max(a[i] ** 2 @ x, 1e-300)
        return Answer(Status.OPTIMAL, np.exp(form.exponent(m)), m)


class WrittenFromThePage:
    """All that the documentation of `register` names, in a plain CVXPY program: soft rows and convex constraints, too."""

    name, takes_soft_rows, takes_convex = "PLAIN", True, True

    def solve(self, form, start=None, *, convex=None):
        n, hard = form.shape[1], form.n_hard
        x, missed = cp.Variable(n, nonneg=True), cp.Variable(form.shape[0])
        values, low, high = form.matrix @ x + missed, form.low, form.high
        below, above = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
        rows = [values[below] >= low[below], values[above] <= high[above], missed[:hard] == 0]
        cost = 0
        for i in range(hard, form.shape[0]):
            v, u = form.penalties.variance[i - hard], form.penalties.slope[i - hard]
            if v == 0:
                cost += u * cp.abs(missed[i])
            elif np.isinf(u):
                cost += cp.square(missed[i]) / (2 * v)
            else:  # cvxpy.huber is r^2 up to its threshold, then 2 threshold r - threshold^2
                cost += cp.huber(missed[i], u * v) / (2 * v)
        curved = [each.tree_copy({id(convex.variable): x}) for each in convex.constraints] if convex else []
        problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + np.log(form.weights) @ x - cost), rows + curved)
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        if x.value is None:
            return Answer(Status.FAILED, None, None, message=problem.status)
        m = np.zeros(form.shape[0])
        m[below] += rows[0].dual_value
        m[above] -= rows[1].dual_value
        for one, twin in zip(convex.constraints if convex else [], curved, strict=True):
            one.save_dual_value(twin.dual_value)
        return Answer(Status.OPTIMAL, x.value, m, message=problem.status)


@pytest.fixture
def model(release) -> MaxEnt:
    return MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)


@pytest.fixture
def registry() -> Iterator[dict[str, Backend]]:
    """The registry, restored after the test."""
    before = dict(SOLVERS)
    yield SOLVERS
    SOLVERS.clear()
    SOLVERS.update(before)


HARD = PROBLEMS["one value or another"]  # presolve leaves it to the solver

# -- the registry ---------------------------------------------------------------------------------------------------


def test_names():
    """Every solver has its own name, is found by it and as an object, and listed once; "auto" is the first."""
    assert [backend.name for backend in SOLVERS.values()] == list(SOLVERS)
    assert next(iter(SOLVERS)) == find("auto").name == "DUAL_NEWTON"
    table = available()
    assert (list(table.columns), table.index.name) == (["installed", "note"], "solver")
    assert list(table.index[: len(SOLVERS)]) == list(SOLVERS)
    assert not table.index.has_duplicates
    for name, backend in SOLVERS.items():
        assert table.loc[name, "installed"] == backend.installed
        if not backend.installed:
            with pytest.raises(SolverError, match=f"{name} is not installed.*DUAL_NEWTON"):
                find(name)
            continue
        assert find(name) is backend is find(backend)
        assert backend.check({}) is None
        assert {backend.takes_inequalities, backend.takes_convex, backend.takes_callback} <= {True, False}


def test_names_that_are_refused():
    """A name is unknown, or that of a solver that lacks exponential cones or is not installed; others are found."""
    for name, meant in (("Dual_Newton", "DUAL_NEWTON"), ("clarabel", "CLARABEL"), ("simplex", "auto")):
        with pytest.raises(UnknownName, match=f"'{meant}'"):
            find(name)
    for name, solver in {**SOLVER_MAP_CONIC, "OSQP": None, "osqp": None}.items():
        takes_cones = solver is not None and ExpCone in solver.SUPPORTED_CONSTRAINTS
        if name not in SOLVERS and takes_cones and name in cp.installed_solvers():
            assert find(name).name == name
            assert available().loc[name, "installed"]
        elif name not in SOLVERS:
            with pytest.raises(SolverError if takes_cones else UnknownName, match=name):
                find(name)


def own(solve: Callable[..., object]) -> object:
    """A solver of one's own."""
    return type("X", (), {"name": "X", "solve": solve})()


def test_wrong_solvers():
    """A solver to register is an object with a name of its own and with solve(form, start)."""
    wrong = (None, 3, ["CLARABEL"], Scaling, object(), Scaling("auto"), Scaling("CLARABEL"))
    for solver in (*wrong, type("X", (), {"name": "X"})(), own(lambda self, form: None)):
        with pytest.raises(SolverError):
            register(solver)


def test_a_registered_solver(model: MaxEnt, registry: dict[str, Backend]):
    """A registered solver is found, listed, compared and certified by its name, until it is removed."""
    scaling = Scaling()
    assert register(scaling) is scaling is register(scaling)
    assert list(registry)[-1] == "SCALING"
    post = model.solve("SCALING", sweeps=2_000)
    assert (post.solver, post.certificate.holds) == ("SCALING", True)
    np.testing.assert_allclose(post.counts, model.solve().counts, atol=1e-6)
    scaling.trouble = "license expired"
    assert available().loc["SCALING"].to_list() == [True, "installed, but not usable: license expired"]
    assert mx.compare_solvers(model, ["SCALING", "DUAL_NEWTON"]).loc["SCALING", "certified"]
    with pytest.raises(SolverError, match="SCALING"):
        register(Scaling())
    del registry["SCALING"]
    with pytest.raises(UnknownName):
        find("SCALING")
    assert model.solve(scaling).certificate.holds  # as an object, without being registered


def test_a_solver_of_soft_rows_and_convex_constraints(release):
    """The documentation is enough to write one: it keeps the contract, and its prices are those of the default solver."""
    special = [each for each in PROBLEMS.values() if each.needs_soft_rows or each.needs_convex]
    mx.testing.check_backend(WrittenFromThePage(), special)
    flu, hiv = P("Flu", given={"Gender": "male"}), P("HIV", given={"Gender": "female"})
    soft = [flu.softly(0.1, sd=0.05), flu.softly(0.2, sd=0.02, delta=0.03), mx.soft(hiv <= 0.1, weight=2)]
    known = MaxEnt(release).add(*soft, lambda space: cp.exp(space.prob("Pneumonia", {"Gender": "male"})) <= 1.2)
    post, prices = known.solve(WrittenFromThePage()), known.solve().prices()["price"]
    assert post.certificate.holds
    pd.testing.assert_series_equal(post.prices()["price"].reindex(prices.index), prices, atol=1e-4, check_exact=False)
    assert (prices != 0).all()
    with pytest.raises(UnknownName):  # not an option, though a parameter
        known.solve(WrittenFromThePage(), convex=None)


def test_what_a_solver_does_not_take(model: MaxEnt):
    """Inequalities, convex constraints and options that a solver does not take are refused before any work."""
    with pytest.raises(SolverError, match="equations only"):
        model.copy().add(P("HIV") <= 0.2).solve(Scaling())
    with pytest.raises(SolverError, match="linear rows only"):
        model.copy().add(lambda space: cp.exp(space.prob("Flu") - 0.1) <= 1.01).solve(Scaling())
    with pytest.raises(UnknownName, match="tolerance"):
        model.solve(Scaling(), tolerance=1e-9)


def test_wrong_answers():
    """Every answer is checked: one of a wrong type or shape is an error that names the field, a wrong one is not certified."""
    form, model = HARD.model().form, HARD.model()
    right = SOLVERS["DUAL_NEWTON"].solve(form)
    for answer, says in (
        (None, "Answer"),
        (Answer(Status.FAILED, None, None, message="out of luck"), "out of luck"),
        (Answer(Status.FAILED, None, None), "failed"),
        (replace(right, status="done"), "'done'"),
        (replace(right, counts=np.ones((4, 1))), r"counts of shape \(4, 1\)"),
        (replace(right, counts=np.ones(4, dtype=int)), "counts of shape .* type int64"),
        (replace(right, counts=np.full(9, np.nan)), "not finite numbers"),
        (replace(right, multipliers=np.ones(3)), r"multipliers of shape \(3,\)"),
        (replace(right, iterations=None), "iterations"),
        (replace(right, solve_seconds=None), "solve_seconds"),
    ):
        with pytest.raises(SolverError, match=says):
            model.solve(own(lambda self, form, start=None, answer=answer: answer), presolve=False)
    with pytest.raises(Inaccurate):
        model.solve(own(lambda self, form, start=None: replace(right, counts=np.ones(9))), presolve=False)


def test_statuses_may_be_texts(model: MaxEnt):
    """A status given as its text is that status."""
    answer = replace(SOLVERS["DUAL_NEWTON"].solve(model.form), status="optimal")
    assert model.solve(own(lambda self, form, start=None: answer), presolve=False).status is Status.OPTIMAL


def test_a_solver_that_overwrites_its_form(model: MaxEnt):
    """Neither the model nor the certificate uses the numbers that a solver writes into the form."""

    def doubles(self, form, start=None):
        form.low[:] = form.high[:] = 2 * form.low
        return SOLVERS["DUAL_NEWTON"].solve(form)

    before = model.solve().counts
    with pytest.raises(Inaccurate):
        model.solve(own(doubles), presolve=False)
    np.testing.assert_array_equal(model.solve().counts, before)


def test_answers_from_anywhere_are_certified(model: MaxEnt):
    """The certified error of given counts is at least their actual error, with multipliers or without."""
    post = model.solve()
    group, n = post.space.groups
    for off in (0.0, 1e-6, 1e-3):
        rounded = post.counts + off * np.random.default_rng(0).uniform(-1, 1, len(post.counts)) * (post.counts > 0.1)
        for multipliers in (None, post.multipliers):
            bound = model.certify(rounded, multipliers).bound
            far = np.abs(np.bincount(group, np.abs(rounded - post.counts))) / n
            assert far.max() / 2 - 1e-12 <= bound <= 1e-6 + 100 * off**0.5
    assert model.certify((10 * post.joint()).sample(frac=1, random_state=0)).bound < 1e-6
    for counts in (None, [1.0], "x", np.full(27, np.nan)):
        with pytest.raises(TableError):
            model.certify(counts)


# -- the CVXPY problem ----------------------------------------------------------------------------------------------


def per_person(model: MaxEnt, value: float) -> float:
    """The entropy less costs, nats per person, of the value of a model's problem."""
    return value / model.view.n_records + math.log(model.view.n_records)


def test_problem_follows_the_model():
    """Constraints can be added to the problem; adding and removing knowledge makes another one, and a copy has its own."""
    model = MaxEnt(publish(CUBE))
    uniform = pytest.approx(math.log(9), abs=1e-7)
    assert per_person(model, model.problem.solve(solver="CLARABEL")) == uniform
    extra = model.space.prob("s1", {"Q": "q1"}) == 0.4
    extended = cp.Problem(model.problem.objective, [*model.problem.constraints, extra])
    alone, twin = extended.solve(solver="CLARABEL"), model.copy()
    model.add(p("s1", "q1") == 0.4, label="known")
    assert model.problem.solve(solver="CLARABEL") == pytest.approx(alone, abs=1e-6)
    assert per_person(twin, twin.problem.solve(solver="CLARABEL")) == uniform
    assert per_person(model, model.remove("known").problem.solve(solver="CLARABEL")) == uniform


# -- how a solve ends, and its options ------------------------------------------------------------------------------


def test_statuses_of_cvxpy(monkeypatch: pytest.MonkeyPatch):
    """Each of CVXPY's statuses has a meaning, only "optimal" means optimal; a certified answer is accepted anyway."""
    lists = [value for value in vars(cvxpy.settings).values() if isinstance(value, list | tuple | set)]
    words = {word for some in lists if set(some) & {"optimal", "infeasible", "solver_error"} for word in some}
    assert len(words) >= 8
    assert words <= set(STATUS)
    assert [word for word, meaning in STATUS.items() if meaning is Status.OPTIMAL] == [cvxpy.settings.OPTIMAL]
    for word in ("optimal_inaccurate", "infeasible_inaccurate", "user_limit", "a_word_of_tomorrow"):
        monkeypatch.setattr(cp.Problem, "status", property(lambda self, word=word: word))
        post = HARD.model().solve("CLARABEL")
        assert post.status is not Status.OPTIMAL
        assert error(post, HARD.expected(post.space)) <= post.certificate.bound <= ACCURACY


@pytest.mark.parametrize("solver", INSTALLED)
def test_limits_and_options(release, solver: str):
    """Out of iterations: refused, or returned on request; unknown options are refused, also if presolve solves all."""
    with pytest.raises((UnknownName, SolverError), match="nonsense"):
        MaxEnt(release).solve(solver, nonsense=1)
    assert MaxEnt(release).solve(solver).solver == "presolve"
    if solver in CONIC:
        with pytest.raises(SolverError, match="convex=1"):
            MaxEnt(release).solve(solver, convex=1)
    if solver not in LIMITS:
        return
    with pytest.raises(Inaccurate, match=solver):
        HARD.model().solve(solver, **LIMITS[solver])
    post = HARD.model().solve(solver, allow_inaccurate=True, **LIMITS[solver])
    assert post.status is not Status.OPTIMAL
    assert not post.certificate.holds
    assert error(post, HARD.expected(post.space)) <= post.certificate.bound
    contradiction = MaxEnt(publish(CUBE)).add(p(["s1", "s2"], "q1") == 0.9, p("s3", "q1") >= 0.2)
    with pytest.raises(Infeasible):
        contradiction.solve(solver, presolve=False, **LIMITS[solver])


@pytest.fixture
def unlicensed(monkeypatch: pytest.MonkeyPatch) -> str:
    """A solver of CVXPY that is installed, and raises an error that CVXPY does not know."""
    solve = cp.Problem.solve

    def refuse(self, *given, solver=None, **options):
        if solver == "MOSEK":
            raise ZeroDivisionError("rescode.err_missing_license_file(1008):\nLicense cannot be located.")
        return solve(self, *given, solver=solver, **options)

    monkeypatch.setattr(cp.Problem, "solve", refuse)
    monkeypatch.setattr(CvxpyBackend, "installed", property(lambda self: self.name in {*CONIC, "MOSEK"}))
    return "MOSEK"


def test_an_error_of_a_solver_is_typed(model: MaxEnt, unlicensed: str, capsys: pytest.CaptureFixture):
    """A solver's own exception is a typed error of one line, and a row of a comparison, in Python and on the command line."""
    for options in ({}, {"verbosity": 1}):
        with pytest.raises(SolverError, match=r"ZeroDivisionError: rescode.err_missing_license_file\(1008\): License"):
            model.solve(unlicensed, **options)
    table = mx.compare_solvers(model, ["DUAL_NEWTON", unlicensed, "CLARABEL"], options={unlicensed: {"x": 1}})
    assert table["word"].to_list() == ["optimal", "failed", "optimal"]
    assert main(["quantify", "hospital", "--know", "P(Flu | Gender=male) = 0.3", "--solver", unlicensed]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# -- multipliers and tolerances -------------------------------------------------------------------------------------


def test_an_inaccurate_answer_names_the_options():
    """Of an answer that is not certified the error names the tolerances, as the solver calls them."""
    for solver, options in (("CLARABEL", ["tol_gap_abs", "tol_gap_rel", "tol_feas"]), ("SCS", ["eps_abs", "eps_rel"])):
        with pytest.raises(Inaccurate, match=options[0]):
            HARD.model().solve(solver, presolve=False, **dict.fromkeys(options, 0.1))


@pytest.mark.parametrize("solver", CONIC)
def test_conic_solvers_by_default(model: MaxEnt, solver: str):
    """The unit of a convex constraint does not matter; groups of unlike size, as surveys have them, are certified."""
    male = {"Gender": "male"}
    exact = MaxEnt(model.view).add(P("Flu", given=male) == 0.3, P("HIV", given=male) >= 0.2).solve()
    for factor in (1e-6, 1e6):
        more = model.copy().add(lambda s, by=factor: by * cp.square(s.prob("HIV", given=male) - 0.3) <= by * 0.01)
        post = more.solve(solver)
        assert error(post, exact.counts) <= post.certificate.bound + exact.certificate.bound + 1e-7
    table = pd.DataFrame({"age": [22, 27, 32, 37, 42], "n": [3, 40, 250, 1200, 7]})
    values = pd.Series({"yes": 480, "no": 1020})
    view = QITable(table, qi="age", sa="affair", sa_distribution=values, count="n")
    for statement in ("P(yes | age=32) >= 0.5", "P(yes | age=42) = 0.4 +- 0.02"):
        post, exact = MaxEnt(view).add(statement).solve(solver), MaxEnt(view).add(statement).solve()
        assert post.certificate.holds
        assert error(post, exact.counts) <= post.certificate.bound + exact.certificate.bound


def test_tolerances_are_merged_with_the_users_options():
    """The user's options win, also inside of MOSEK's parameters; a second call is for those who chose no tolerance."""
    clarabel, mosek = CvxpyBackend("CLARABEL"), CvxpyBackend("MOSEK", {}, ("mosek_params", "TIME"))
    assert clarabel.options_with({"tol_feas": 1e-3})["tol_feas"] == 1e-3
    assert clarabel.options_with({"tol_feas": 1e-3})["tol_gap_rel"] <= 1e-10
    assert clarabel.tighter({"tol_feas": 1e-3}) is None
    stricter = clarabel.tighter({"max_iter": 100})
    assert stricter is not None
    assert stricter.options_with({})["tol_feas"] < clarabel.options_with({})["tol_feas"]
    assert stricter.tighter({}) is None
    own = {"mosek_params": {"MSK_DPAR_INTPNT_CO_TOL_PFEAS": 1e-5, "MSK_IPAR_NUM_THREADS": 1}}
    given = mosek.options_with(own)["mosek_params"]
    assert (given["MSK_DPAR_INTPNT_CO_TOL_PFEAS"], given["MSK_IPAR_NUM_THREADS"]) == (1e-5, 1)
    assert given["MSK_DPAR_INTPNT_CO_TOL_REL_GAP"] <= 1e-10
    assert mosek.tighter(own) is None


# -- every solver against every other, on random models that are true of a hidden table -------------------------------

WAYS = [(solver, presolve) for solver in INSTALLED for presolve in (True, False)]


def compared(seed: int) -> dict[tuple[str, bool], Posterior]:
    """What every solver certifies about one model, with and without presolve; all of it is compared.

    Two certified answers differ by no more than the sum of their bounds. The records that the model is true of satisfy
    its rows, and have no more entropy than any answer.
    """
    model, records = random_model(seed)
    found = {}
    for solver, presolve in WAYS:
        try:
            found[solver, presolve] = model.solve(solver, presolve=presolve)
        except SolverError:  # refused; a claim that the model cannot hold is no SolverError, and fails the test
            continue
    for (way, one), (other, two) in combinations(found.items(), 2):
        allowed = one.certificate.bound + two.certificate.bound + 1e-9
        assert error(one, two.counts) <= allowed, f"{way} and {other} differ at {seed}"
        # P(s | q) adds up the buckets of a QI tuple, and is bounded likewise.
        difference = (one.conditional() - two.conditional()).abs().to_numpy().max()
        assert difference <= allowed, f"{way} and {other} differ at {seed}"
    truth = model.space.count(records)
    assert (model.form.residual(truth) <= model.form.tolerance).all()
    share = truth[truth > 0] / truth.sum()
    assert min(post.entropy for post in found.values()) >= -(share * np.log(share)).sum() - 1e-6
    return found


def test_solvers_agree():
    """With presolve a solver certifies at least as many models as without, and at least half of them."""
    certified = dict.fromkeys(WAYS, 0)
    for seed in range(6):
        for way in compared(seed):
            certified[way] += 1
    for solver in INSTALLED:
        assert certified[solver, True] >= max(certified[solver, False], 3)


def test_contradictions_are_recognised():
    """A model with two values of one probability is infeasible, by every solver."""
    for seed, (solver, presolve) in enumerate(WAYS):
        with pytest.raises(Infeasible):
            contradictory_model(seed % 3).solve(solver, presolve=presolve)


@pytest.mark.slow
def test_solvers_agree_on_many():
    """The same holds of many more models, degenerate, redundant and boundary ones among them."""
    for seed in range(6, 1000):
        compared(seed)
