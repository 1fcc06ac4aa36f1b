"""Multipliers that are fitted to an answer, and certificates of counts by a certified point nearby."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from maxent_cvx import Inaccurate, MaxEnt, P
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.backends import SOLVERS
from maxent_cvx.solvers.certificate import ACCURACY, fitted
from support.problems import CUBE, SOLVABLE, p, publish
from support.random_models import from_multipliers, random_model
from support.solving import CONIC, error


class Noisy:
    """The default solver's counts, each changed by a share of up to `noise`; as multipliers it has nothing or nonsense."""

    name = "NOISY"
    takes_soft_rows = takes_convex = True

    def __init__(self, noise: float, multipliers: str = "none") -> None:
        self.noise, self.multipliers = noise, multipliers
        self.generator = np.random.default_rng(7)

    def solve(self, form, start=None, convex=None):
        solver = SOLVERS["CLARABEL" if convex else "DUAL_NEWTON"]
        answer = solver.solve(form, convex=convex) if convex else solver.solve(form)
        counts = answer.counts * (1 + self.noise * self.generator.uniform(-1, 1, len(answer.counts)))
        nonsense = self.generator.normal(size=form.shape[0])
        return Answer(Status.OPTIMAL, counts, None if self.multipliers == "none" else nonsense)


def test_multipliers_of_exact_counts():
    """Where x = w exp(A' m - 1), and its equations and active inequalities are known, the fit has the same A' m."""
    for seed in range(4):
        exact = from_multipliers(seed)
        form, n = exact.form, exact.form.n_published
        fit = fitted(form, exact.counts, np.zeros(form.shape[0]))
        assert fit is not None
        np.testing.assert_allclose(form.exponent(fit), np.log(exact.counts), atol=1e-6)
        assert (fit[n:][np.isinf(form.high[n:])] >= 0).all()
        assert (fit[n:][np.isinf(form.low[n:])] <= 0).all()


@pytest.mark.parametrize("multipliers", ["none", "nonsense"])
def test_bounds_hold_whatever_the_multipliers(multipliers: str):
    """The certified error is at least the true one; counts that are right to far below 1e-4 are certified."""
    for i, problem in enumerate(SOLVABLE[::2]):
        model, noise = problem.model(), [1e-9, 1e-6, 3e-5, 1e-2][i % 4]
        post = model.solve(Noisy(noise, multipliers), allow_inaccurate=True)
        assert error(post, problem.expected(model.space)) <= post.certificate.bound + 1e-12
        assert post.certificate.holds or noise > 3e-5


@pytest.mark.parametrize("presolve", [True, False])
def test_bounds_of_random_models(presolve: bool):
    """The same with inequalities, zeros and the default solver's answer in place of the exact one."""
    for seed in range(4):
        model, _ = random_model(seed)
        exact = model.solve()
        for noise in (1e-7, 1e-5, 1e-3):
            post = model.solve(Noisy(noise, "nonsense"), presolve=presolve, allow_inaccurate=True)
            assert error(post, exact.counts) <= post.certificate.bound + exact.certificate.bound
            assert post.certificate.holds or noise > 1e-5


def test_bounds_beside_a_convex_constraint(release):
    """A convex constraint, whose multiplier is fitted, too."""
    male = {"Gender": "male"}
    model = MaxEnt(release).add(lambda space: cp.square(space.prob("Flu", given=male) - 0.2) <= 0.01)
    exact = MaxEnt(release).add(P("Flu", given=male) <= 0.3).solve()
    for noise in (1e-8, 1e-5, 1e-2):
        post = model.solve(Noisy(noise), allow_inaccurate=True)
        assert error(post, exact.counts) <= post.certificate.bound + 1e-6
        assert post.certificate.holds == (noise < 1e-2)


def test_wrong_counts_are_refused():
    """No multipliers certify counts that are far from the answer, also where every row holds."""
    model = MaxEnt(publish(CUBE)).add(p(["s1", "s2"], "q1") == 0.9)
    other = MaxEnt(publish(CUBE)).add(p(["s1", "s2"], "q1") == 0.9, p("s1", "q1") == 0.5)

    class Other:
        name = "OTHER"

        def solve(self, form, start=None):
            return Answer(Status.OPTIMAL, other.solve().counts, None)

    with pytest.raises(Inaccurate):
        model.solve(Other(), presolve=False)
    post = model.solve(Other(), presolve=False, allow_inaccurate=True)
    assert error(post, model.solve().counts) <= post.certificate.bound


@pytest.mark.parametrize("solver", CONIC)
def test_loose_tolerances(solver: str):
    """With tolerances of 1e-6 an answer is certified if it is right to far below 1e-4, and never more exactly than it is."""
    names = {"CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"), "ECOS": ("abstol", "reltol", "feastol")}
    options = dict.fromkeys(names.get(solver, ("eps_abs", "eps_rel")), 1e-6)
    for problem in SOLVABLE[1::6]:
        model = problem.model()
        post = model.solve(solver, allow_inaccurate=True, **options)
        off = error(post, problem.expected(model.space))
        assert off <= post.certificate.bound + 1e-12
        values = np.bincount(post.space.groups[0]).max()
        assert post.certificate.holds or off * values > ACCURACY / 2
