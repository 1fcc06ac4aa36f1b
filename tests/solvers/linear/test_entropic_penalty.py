"""Linear programs by the entropic penalty: the same optimum as by HiGHS, proved by weak duality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import P
from maxent_cvx.solvers.linear import entropic_penalty
from maxent_cvx.solvers.linear.elastic import elastic_relaxation
from maxent_cvx.solvers.linear.entropic_penalty import by_entropic_penalty
from maxent_cvx.solvers.linear.highs import linear_program
from maxent_cvx.solvers.parameters.size_limits import LINEAR_PROGRAM_SIZES
from maxent_cvx.solvers.program.weak_duality import dual_bound
from support.random_models import contradictory_model, random_model
from support.solving import examples


@examples(100)
@given(seed=st.integers(0, 10_000))
def test_same_optimum(seed: int):
    """The rows hold, the bound is valid, and a cost that is attained and proved is the optimum of HiGHS.

    (Cominetti and San Martin, 1994.) A cost that is attained need not be the least: whoever asks compares the two.
    """
    model, _ = random_model(seed)
    form, rng = model.form, np.random.default_rng(seed)
    cost = rng.choice([-1.0, -0.5, 0.0, 1.0], form.shape[1])
    exact = linear_program(cost, form.matrix, form.low, form.high)
    found = by_entropic_penalty(form, cost)
    assert exact.found
    if found.found:
        value = cost @ exact.x
        attained, bound = cost @ found.x, dual_bound(form, cost, found.multipliers)
        assert bound <= value + 1e-6
        assert attained >= value - 1e-6
        assert form.residual(found.x).max() <= 1e-6
        if attained - bound <= 1e-6:
            assert attained == pytest.approx(value, abs=1e-6)


def test_mostly_found_and_proved():
    """Newton's method converges on most problems, even on small ones with implied zeros."""
    found, proofs = [], []
    for seed in range(100):
        form = random_model(seed)[0].form
        cost = np.random.default_rng(seed).choice([-1.0, -0.5, 0.0, 1.0], form.shape[1])
        optimum = by_entropic_penalty(form, cost)
        found.append(optimum.found)
        if optimum.found:
            proofs.append(cost @ optimum.x - dual_bound(form, cost, optimum.multipliers) < 1e-6)
    assert np.mean(found) >= 0.75
    assert np.mean(proofs) >= 0.75


@examples(60)
@given(seed=st.integers(0, 10_000))
def test_nothing_is_found_where_nothing_is(seed: int):
    """Infeasible rows have no optimum."""
    form = contradictory_model(seed).form
    if elastic_relaxation(form).off.max(initial=0) > 1e-6:
        found = by_entropic_penalty(form, np.zeros(form.shape[1]))
        assert not found.found


@pytest.mark.parametrize("seed", range(30))
def test_large_problems_are_solved_so(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Relaxations and bounds are the same whether or not the entropic penalty is tried first."""
    model, (consistent, records) = contradictory_model(seed), random_model(seed)
    asked = P(str(records["Disease"].iloc[0]), given={"Sex": records["Sex"].iloc[0]})
    before = elastic_relaxation(model.form), consistent.bounds(asked)
    monkeypatch.setattr(entropic_penalty, "LINEAR_PROGRAM_SIZES", replace(LINEAR_PROGRAM_SIZES, large=0))
    after = elastic_relaxation(model.form), consistent.bounds(asked)
    assert after[0].off.sum() == pytest.approx(before[0].off.sum(), abs=1e-6)
    assert after[1] == pytest.approx(before[1], abs=1e-6)
    for form, change in ((model.form, before[0]), (model.form, after[0])):
        assert dual_bound(form, np.zeros(form.shape[1]), change.direction) == pytest.approx(change.off.sum(), abs=1e-6)
