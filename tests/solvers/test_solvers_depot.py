"""Every solver on the depot: problems whose answers, and multipliers, are known by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maxent_cvx import Inaccurate, Infeasible, MaxEnt, P, SolverError
from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.certificate import ACCURACY
from maxent_cvx.solvers.linear import elastic_relaxation
from support.depot import CONTRADICTORY, FIGURE_1C, SOLVABLE, Case, publish
from support.solving import DEFAULT, INSTALLED, error, solution

#: The other solvers run with  pytest -m slow.
QUICK = {DEFAULT, "DUAL_LBFGS", "CLARABEL"}


def on_every_solver(*cases: Case) -> list[Any]:
    """Pair every installed solver with every case; most of the solvers are slow tests."""
    return [
        pytest.param(solver, case, id=f"{solver}-{case.name}", marks=[] if solver in QUICK else pytest.mark.slow)
        for solver in INSTALLED
        for case in cases
    ]


@pytest.mark.parametrize(("solver", "case"), on_every_solver(*SOLVABLE))
def test_answer(solver: str, case: Case):
    """An answer that is returned is certified, and the exact one lies within its bound; any other is refused."""
    for presolve in (True, False):
        check_answer(solver, case, presolve)


def check_answer(solver: str, case: Case, presolve: bool):
    model = case.model()
    try:
        post = model.solve(solver, presolve=presolve)
    except Infeasible as wrong:
        pytest.fail(f"the knowledge can hold: {wrong}")
    except SolverError:
        post = model.solve(solver, presolve=presolve, allow_inaccurate=True)
        assert not post.certificate.holds or post.status is not Status.OPTIMAL
        # What is refused is bounded all the same, if by infinity.
        assert error(post, case.expected(post.space)) <= post.certificate.bound + 1e-6
        assert solver != DEFAULT or not (presolve or case.interior), "this one is for the default solver"
    else:
        assert post.certificate.holds
        assert post.certificate.bound <= ACCURACY
        assert error(post, case.expected(post.space)) <= post.certificate.bound + 1e-6


@pytest.mark.parametrize("solver", sorted(QUICK - {DEFAULT}))
def test_most_are_answered(solver: str):
    """Every other solver certifies nine in ten of the depot: being refused is for the hard ones."""
    refused = []
    for case in SOLVABLE:
        try:
            case.model().solve(solver)
        except Inaccurate:
            refused.append(case.name)
    assert len(refused) <= len(SOLVABLE) / 10, refused


@pytest.mark.parametrize(("solver", "case"), on_every_solver(*(case for case in SOLVABLE if case.dual)))
def test_multipliers(solver: str, case: Case):
    """Multipliers m make x = w exp(A' m - 1): m > 0 presses up from a low side, m < 0 down, and 0 is slack."""
    model = case.model()
    found = solution(model, solver, presolve=False, allow_inaccurate=True)
    if not found.certificate.holds:
        pytest.skip(f"{solver} is not precise enough to tell: {found.certificate}")
    x, m = case.expected(model.space), found.answer.multipliers
    # A cell that is off by 1e-8 people moves its logarithm by 1e-8 / x.
    atol = 1e-6 + 1e-8 / x.min() if solver == DEFAULT else 2e-2
    # A conic solver that misses its tolerances, which are absolute, tells little of the logarithm of a rare cell.
    rarity = 1.0 if found.answer.status is Status.OPTIMAL else np.minimum(x, 1.0)
    np.testing.assert_allclose(m[model.form.n_published :], case.dual, atol=atol / np.min(rarity))
    off = model.form.matrix.T @ m - 1 - np.log(x / model.form.weights)
    assert (np.abs(off) * rarity).max() <= atol


@pytest.mark.parametrize(("solver", "case"), on_every_solver(*CONTRADICTORY))
def test_contradiction(solver: str, case: Case):
    """Knowledge that cannot hold is called so, whichever the solver; it is never merely a failure to solve."""
    for presolve in (True, False):
        with pytest.raises(Infeasible):
            case.model().solve(solver, presolve=presolve)


#: How many people, at the least, contradictory statements are away from what can hold.
AWAY = {
    "more than the largest value": 0.0001 * 4,
    "less than the least value": 0.0001 * 4,
    "two values": 0.4,  # x = 1.6, and n(q2, s1) = 3 - x = 1
    "below and above": 0.4,  # x <= 1.6, and 4 - x <= 2
    "not what is published": 1,  # 3 of 10 people, and there are 2
    "two people one value": 0.1,
    "nobody is left": 1,
    "more than the largest value of a sum": 0.0001 * 4,
    "crosswise and more": 0.2,
}


def test_least_change():
    """What would have to give is the knowledge, by no more than it takes."""
    for name, away in AWAY.items():
        form = next(case for case in CONTRADICTORY if case.name == name).model().form
        change = elastic_relaxation(form).off
        assert (change[: form.n_published] == 0).all()
        assert change.sum() == pytest.approx(away, abs=1e-9), name


def test_published_data_never_give_way():
    """Published numbers stand, even where three statements speak against two of them."""
    three = [P("s1") == 0.3, P("s1") >= 0.3, P("s1") + P("s1") == 0.6]
    form = MaxEnt(publish(FIGURE_1C)).add(*three).form
    np.testing.assert_allclose(elastic_relaxation(form).off[form.n_published :], 1, atol=1e-9)


def test_nothing_has_to_give():
    """Knowledge that can hold is not asked to change."""
    for case in SOLVABLE:
        assert elastic_relaxation(case.model().form.hard).off.max(initial=0) <= 1e-9, case.name
