"""The model as a CVXPY problem, and other solvers through CVXPY: statuses, limits, signs of multipliers."""

from __future__ import annotations

import math
import warnings

import cvxpy as cp
import cvxpy.settings
import numpy as np
import pandas as pd
import pytest

from maxent_cvx import Inaccurate, Infeasible, MaxEnt, QITable, SolverError, UnknownName
from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.backends import SOLVERS, STATUS, CvxpyBackend, available, find
from maxent_cvx.solvers.certificate import ACCURACY
from support.depot import CUBE, FIGURE_1C, SOLVABLE, SQUARE, Case, p, publish
from support.random_models import from_multipliers, random_model
from support.solving import CONIC, DEFAULT, INSTALLED, error

INTERIOR = [case for case in SOLVABLE if case.interior and case.prior is None]
#: For each solver, so few iterations that no answer can be precise.
LIMITS = {
    "DUAL_NEWTON": {"max_iterations": 1},
    "DUAL_LBFGS": {"max_iterations": 1},
    "CLARABEL": {"max_iter": 2},
    "ECOS": {"max_iters": 2},
    "SCS": {"max_iters": 20},
}
limited = pytest.mark.parametrize("solver", [name for name in LIMITS if name in INSTALLED])


def hard() -> Case:
    """A case that presolve leaves to the solver."""
    return next(case for case in SOLVABLE if case.name == "one value or another")


# -- the problem -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", INTERIOR, ids=lambda case: case.name)
def test_problem_is_plain(case: Case):
    """The model is a plain CVXPY problem over the counts, and its value is the posterior's H(Q, S, B) (Eq. (3)).

    Of soft rows it has by how much they are missed, too, and their costs divided by N.
    """
    model = case.model()
    assert type(model.problem) is cp.Problem
    own = [variable.id for variable in model.problem.variables() if variable.name() != "missed"]
    assert own == [model.space.counts.id]
    assert (len(model.problem.variables()) > 1) == case.needs_soft_rows
    assert model.problem.is_dcp()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # a status at 60,000 records
        value = model.problem.solve(solver="CLARABEL")
    share = case.expected(model.space) / model.view.n_records
    post = model.solve()
    costs = post.penalties.sum() / model.view.n_records
    assert value == pytest.approx(-(share * np.log(share)).sum() - costs, abs=1e-6)
    assert post.entropy == pytest.approx(value + costs, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_problem_of_a_random_model(seed: int):
    """The same with inequalities and zeros, where the value of a solver is less precise."""
    model, _ = random_model(seed)
    assert model.problem.solve(solver="CLARABEL") == pytest.approx(model.solve().entropy, abs=1e-5)


def test_entropy_by_hand():
    """Nine equally likely terms have log 9 nats."""
    model = MaxEnt(publish(CUBE))
    assert model.solve().entropy == pytest.approx(math.log(9), abs=1e-12)
    assert model.problem.solve(solver="CLARABEL") == pytest.approx(math.log(9), abs=1e-7)


def test_problem_can_be_extended():
    """A constraint added to the CVXPY problem has the same effect as in the model."""
    model = MaxEnt(publish(SQUARE))
    extra = model.space.prob("s1", {"Q": "q1"}) <= 0.4
    extended = cp.Problem(model.problem.objective, [*model.problem.constraints, extra])
    extended.solve(solver="CLARABEL")
    assert extended.value == pytest.approx(model.copy().add(p("s1", "q1") <= 0.4).solve().entropy, abs=1e-6)


def test_problem_follows_the_model():
    """Adding and removing knowledge makes another problem; a copy keeps its own."""
    model = MaxEnt(publish(SQUARE))
    alone, twin = model.problem.solve(solver="CLARABEL"), model.copy()
    model.add(p("s1", "q1") == 0.4, label="known")
    assert model.problem.solve(solver="CLARABEL") < alone - 1e-3
    assert twin.problem.solve(solver="CLARABEL") == pytest.approx(alone, abs=1e-7)
    assert model.remove("known").problem.solve(solver="CLARABEL") == pytest.approx(alone, abs=1e-7)


# -- how a solve ends --------------------------------------------------------------------------------


def words() -> set[str]:
    """Every status word of the installed CVXPY: those in the lists of its settings that hold one we know."""
    lists = [value for value in vars(cvxpy.settings).values() if isinstance(value, list | tuple | set)]
    return {word for some in lists if set(some) & {"optimal", "infeasible", "solver_error"} for word in some}


def test_every_word_is_known():
    """Each of CVXPY's statuses has a meaning here, and only "optimal" means optimal."""
    assert len(words()) >= 8
    assert words() <= set(STATUS), words() - set(STATUS)
    assert [word for word, meaning in STATUS.items() if meaning is Status.OPTIMAL] == [cvxpy.settings.OPTIMAL]


@pytest.mark.parametrize("word", sorted({*STATUS, "a_word_of_tomorrow"} - {cvxpy.settings.OPTIMAL}))
def test_almost_is_never_optimal(word: str, monkeypatch: pytest.MonkeyPatch):
    """Any other status is kept as the message; a certified answer is accepted nevertheless."""
    monkeypatch.setattr(cp.Problem, "status", property(lambda self: word))
    case = hard()
    post = case.model().solve("CLARABEL")
    assert post.status is not Status.OPTIMAL
    assert error(post, case.expected(post.space)) <= post.certificate.bound <= ACCURACY


@limited
def test_limits(solver: str):
    """Out of iterations: refused by name with the size of the possible error, unless the user allows it."""
    case = hard()
    with pytest.raises(Inaccurate, match=solver) as refused:
        case.model().solve(solver, **LIMITS[solver])
    assert "allow_inaccurate=True" in str(refused.value)
    post = case.model().solve(solver, allow_inaccurate=True, **LIMITS[solver])
    assert post.status is not Status.OPTIMAL
    assert not post.certificate.holds
    assert error(post, case.expected(post.space)) <= post.certificate.bound


@limited
def test_contradictions_at_the_limit(solver: str):
    """A contradiction is reported even if the solver stopped before it could find it."""
    with pytest.raises(Infeasible):
        MaxEnt(publish(CUBE)).add(p(["s1", "s2"], "q1") == 0.9, p("s3", "q1") >= 0.2).solve(
            solver, presolve=False, **LIMITS[solver]
        )


# -- names and options -------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "meant"), [("CLARABELL", "CLARABEL"), ("DUALNEWTON", "DUAL_NEWTON")])
def test_unknown_solver(typed: str, meant: str):
    """A solver that does not exist is refused with the one that was meant."""
    with pytest.raises(UnknownName, match=f"'{typed}'.*did you mean '{meant}'"):
        hard().model().solve(typed)


@pytest.mark.parametrize("typed", ["clarabel", "Gurobi", ""])
def test_unknown_solver_without_near_miss(typed: str):
    """If no name is similar, all names are listed."""
    with pytest.raises(UnknownName, match="CLARABEL"):
        hard().model().solve(typed)


@pytest.mark.parametrize("typed", [None, 3, cp.Problem])
def test_solver_is_a_name(typed: object):
    """Solvers are chosen by name."""
    with pytest.raises(SolverError, match="by name"):
        hard().model().solve(typed)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in INSTALLED])
def test_not_installed(solver: str):
    """A solver that is known and not installed is refused with those that are."""
    with pytest.raises(SolverError, match=f"{solver} is not installed.*{DEFAULT}"):
        hard().model().solve(solver)
    assert not available().loc[solver, "installed"]


def test_available():
    """The table of solvers is the table of names that solve takes, and "auto" is its first."""
    assert list(available().index)[: len(SOLVERS)] == list(SOLVERS)
    assert find("auto").name == DEFAULT
    assert available().loc[INSTALLED, "installed"].all()


@pytest.mark.parametrize("buckets", [CUBE, FIGURE_1C], ids=["left to the solver", "nothing left"])
def test_unknown_option(buckets: tuple):
    """An option that does not exist is refused, even where presolve leaves nothing to solve."""
    model = MaxEnt(publish(buckets))
    if buckets is CUBE:
        model.add(p(["s1", "s2"], "q1") == 0.9)
    with pytest.raises(UnknownName, match=r"'max_iteration'.*'max_iterations'"):
        model.solve(max_iteration=3)


@pytest.mark.parametrize("solver", CONIC)
def test_unknown_option_of_a_conic_solver(solver: str):
    """The same for a solver behind CVXPY, with that solver's message."""
    with pytest.raises(SolverError, match="max_iteration"):
        hard().model().solve(solver, max_iteration=3)


# -- signs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("solver", INSTALLED)
def test_multipliers(solver: str, seed: int):
    """With every solver's multipliers x = exp(A' m - 1); they are positive at a low side, negative at a high side."""
    exact = from_multipliers(seed)
    form, n = exact.form, exact.form.n_published
    answer = SOLVERS[solver].solve(form)
    assert answer.counts is not None, answer.message
    assert answer.multipliers is not None, answer.message
    m = answer.multipliers
    np.testing.assert_allclose(answer.counts, exact.counts, atol=1e-3)
    np.testing.assert_allclose(form.matrix.T @ m - 1, np.log(exact.counts), atol=1e-2)
    assert (m[n:][np.isinf(form.high[n:])] >= -1e-4).all()
    assert (m[n:][np.isinf(form.low[n:])] <= 1e-4).all()
    slack = ~form.is_equation & (exact.multipliers == 0)
    assert (np.abs(m[slack]) <= 1e-3).all()


# -- tolerances --------------------------------------------------------------------------------------


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
    assert given["MSK_DPAR_INTPNT_CO_TOL_PFEAS"] == 1e-5
    assert given["MSK_IPAR_NUM_THREADS"] == 1
    assert given["MSK_DPAR_INTPNT_CO_TOL_REL_GAP"] <= 1e-10
    assert mosek.tighter(own) is None
    assert CvxpyBackend("UNKNOWN").options_with({"a": 1}) == {"a": 1}


@pytest.mark.parametrize("solver", ["CLARABEL", "ECOS", "SCS"])
@pytest.mark.parametrize(
    "statement", ["P(yes | age=32) >= 0.5", "P(yes | age=22) = 0.1", "P(yes | age=42) = 0.4 +- 0.02"]
)
def test_conic_solvers_are_certified_without_options(solver: str, statement: str):
    """Groups of unlike size, as surveys have them."""
    sizes = [3, 40, 250, 1200, 7]
    view = QITable(
        pd.DataFrame({"age": [22, 27, 32, 37, 42], "n": sizes}), qi="age", sa="affair",
        sa_distribution=pd.Series({"yes": 480, "no": 1020}), count="n",
    )  # fmt: skip
    post, exact = MaxEnt(view).add(statement).solve(solver), MaxEnt(view).add(statement).solve()
    assert post.certificate.holds
    error = np.abs(np.asarray(post.counts) - np.asarray(exact.counts)).reshape(5, 2).max(axis=1) / sizes
    assert error.max() <= post.certificate.bound + exact.certificate.bound
