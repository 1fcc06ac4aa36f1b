"""Solvers agree with each other, within what they certify, on random models that are true of a hidden table."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from maxent_cvx import Infeasible, Posterior, SolverError
from support.random_models import contradictory_model, random_model
from support.solving import INSTALLED, error

MODELS = 20
WAYS = [(solver, presolve) for solver in INSTALLED for presolve in (True, False)]


@cache
def answers(seed: int) -> dict[tuple[str, bool], Posterior]:
    """What every solver certifies about one model, with and without presolve."""
    model, _ = random_model(seed)
    found = {}
    for solver, presolve in WAYS:
        try:
            found[solver, presolve] = model.solve(solver, presolve=presolve)
        except SolverError:  # refused; a claim that the model cannot hold is no SolverError, and fails the test
            continue
    return found


@pytest.mark.parametrize("seed", range(MODELS))
def test_solvers_agree(seed: int):
    """Two certified answers differ by no more than the sum of their bounds, by whichever solver, presolved or not."""
    found = answers(seed)
    for (way, one), (other, two) in combinations(found.items(), 2):
        allowed = one.certificate.bound + two.certificate.bound + 1e-9
        assert error(one, two.counts) <= allowed, f"{way} and {other} differ"
        # P(s | q) adds up the buckets of a QI tuple, and is bounded likewise.
        difference = (one.conditional() - two.conditional()).abs().to_numpy().max()
        assert difference <= allowed, f"{way} and {other} differ"


@pytest.mark.parametrize("solver", INSTALLED)
def test_presolve_helps(solver: str):
    """Presolve takes out what is forced: with it a solver certifies at least as many models as without."""
    certified = [sum((solver, presolve) in answers(seed) for seed in range(MODELS)) for presolve in (True, False)]
    assert certified[0] >= certified[1]
    assert certified[0] >= MODELS / 2, "too few answers for their agreement to mean much"


@pytest.mark.parametrize("seed", range(MODELS))
def test_the_truth_is_possible(seed: int):
    """The records that a model is true of satisfy its rows, and have no more entropy than its answer."""
    model, records = random_model(seed)
    truth = model.space.count(records)
    assert (model.form.residual(truth) <= model.form.tolerance).all()
    share = truth[truth > 0] / truth.sum()
    for post in answers(seed).values():
        assert post.entropy >= -(share * np.log(share)).sum() - 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_contradictions_are_recognised(seed: int):
    """A model that is told two values of one probability cannot hold, and every solver's answer is that."""
    for solver, presolve in WAYS:
        with pytest.raises(Infeasible):
            contradictory_model(seed).solve(solver, presolve=presolve)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(MODELS, 1000))
def test_solvers_agree_on_many(seed: int):
    """The same holds of many more models, degenerate, redundant and boundary ones among them."""
    test_solvers_agree(seed)
    answers.cache_clear()
