"""Solvers agree with each other, within what they certify, on random models that are true of a hidden table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from maxent_cvx import Infeasible, Posterior, SolverError
from support.random_models import contradictory_model, random_model
from support.solving import INSTALLED, error

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
