"""Options are checked before any work, and what a solver raises is a row of the comparison, or a typed error."""

from __future__ import annotations

import cvxpy as cp
import pytest

import maxent_cvx as mx
from maxent_cvx import P, SolverError
from maxent_cvx.cli.main import main
from maxent_cvx.solvers.backends import SOLVERS, CvxpyBackend
from support.helpers import refused

CONIC = [name for name in ("CLARABEL", "SCS", "ECOS") if SOLVERS[name].installed]


class LicenseError(Exception):
    """What an unlicensed solver raises: no error that CVXPY knows."""


@pytest.fixture
def release() -> mx.Release:
    return mx.Release.from_buckets(mx.datasets.load_hospital(), qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


@pytest.fixture
def unlicensed(monkeypatch) -> str:
    """A solver that is installed, and raises whatever it is asked."""
    solve = cp.Problem.solve

    def refuse(self, *given, solver=None, **options):
        if solver == "MOSEK":
            raise LicenseError("rescode.err_missing_license_file(1008):\nLicense cannot be located.")
        return solve(self, *given, solver=solver, **options)

    monkeypatch.setattr(cp.Problem, "solve", refuse)
    monkeypatch.setattr(CvxpyBackend, "installed", property(lambda self: self.name in {*CONIC, "MOSEK"}))
    return "MOSEK"


@pytest.mark.parametrize("solver", ["DUAL_NEWTON", *CONIC])
def test_what_never_ran_is_not_named(release, solver):
    """Where presolve finds everything, the posterior says so, and names no solver."""
    post = mx.MaxEnt(release).solve(solver)
    assert post.solver == "presolve"
    assert "by presolve" in repr(post)
    assert mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3).solve(solver).solver == solver


@pytest.mark.parametrize("solver", CONIC)
def test_options_are_checked_first(release, solver):
    """An option that the solver does not have is refused, also where the solver would not have run."""
    with refused(SolverError, f"{solver} does not take nonsense=1", "leave it out"):
        mx.MaxEnt(release).solve(solver=solver, nonsense=1)
    with refused(SolverError, f"{solver} does not take convex=1"):
        mx.MaxEnt(release).solve(solver=solver, convex=1)


def test_own_options_are_checked_first(release):
    """So are the options of the dual solvers, and their values."""
    with refused(mx.UnknownName, "'nonsense' is not an option of DUAL_NEWTON"):
        mx.MaxEnt(release).solve(nonsense=1)
    with refused(mx.StatementError, "memory='x'"):
        mx.MaxEnt(release).solve("DUAL_LBFGS", memory="x")


def test_an_early_stop_is_no_wrong_option(release):
    """That a solver stops early, as it is told to, does not make the option wrong."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
    with pytest.raises(SolverError, match=r"SCS (stopped|gave no answer)"):
        model.solve("SCS", max_iters=2)


def test_unlicensed(release, unlicensed):
    """A solver's own exception is a typed error of one line, with the solver's words."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
    with refused(SolverError, "MOSEK gave no answer (LicenseError: rescode.err_missing_license_file(1008): License"):
        model.solve(unlicensed)
    with refused(SolverError, "MOSEK does not take verbosity=1 (LicenseError"):
        model.solve(unlicensed, verbosity=1)


def test_unlicensed_is_a_row(release, unlicensed):
    """One solver that raises does not lose the answers of the others."""
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
    table = mx.compare_solvers(model, ["DUAL_NEWTON", unlicensed, "CLARABEL"], options={unlicensed: {"x": 1}})
    assert table["status"].to_list() == ["optimal", "failed", "optimal"]
    assert "LicenseError" in table["message"][unlicensed]


def test_unlicensed_on_the_command_line(unlicensed, capsys):
    """The command line lists the row and ends well; asked for this solver alone, it ends with one line."""
    assert (
        main(["compare", "hospital", "--solvers", f"DUAL_NEWTON,{unlicensed}", "--known", "2", "--min-support", "1"])
        == 0
    )
    told = capsys.readouterr()
    assert "LicenseError" in told.out
    assert "certified" in told.out
    know = "P(Flu | Gender=male) = 0.3"
    assert main(["quantify", "hospital", "--know", know, "--solver", unlicensed]) == 2
    assert capsys.readouterr().err.count("\n") == 1
