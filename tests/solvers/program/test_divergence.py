"""The computed divergence is an upper bound on the exact one, and not much larger."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx.solvers.certificate import gaps_of_terms
from maxent_cvx.solvers.form import LinearForm
from support.random_models import from_multipliers


def exactly(form: LinearForm, x: np.ndarray, multipliers: np.ndarray) -> list[Decimal]:
    """KL(x || y), x log(x / y) - x + y, to fifty digits."""
    matrix = form.matrix.toarray()
    with localcontext() as context:
        context.prec = 50
        found = []
        for count, column in zip(x, matrix.T, strict=True):
            terms = (Decimal(float(a)) * Decimal(float(m)) for a, m in zip(column, multipliers, strict=True))
            y = (sum(terms, start=Decimal(-1))).exp()
            own = Decimal(float(count))
            found.append(y if own == 0 else own * (own.ln() - y.ln()) - own + y)
        return found


@given(seed=st.integers(0, 10**6), off=st.floats(-16, 0).map(lambda power: 10.0**power))
def test_divergence(seed: int, off: float):
    """Compared with fifty digits, for relative errors of the answer from roundoff to 1."""
    exact, rng = from_multipliers(seed), np.random.default_rng(seed)
    x = exact.counts * np.exp(off * rng.normal(size=len(exact.counts)))
    x[rng.random(len(x)) < 0.1] = 0.0
    _, found = gaps_of_terms(exact.form, x, exact.multipliers)
    for claimed, true, count in zip(found, exactly(exact.form, x, exact.multipliers), x, strict=True):
        assert claimed >= float(true) * (1 - 1e-12)
        assert claimed <= 2 * float(true) + 1e-24 * max(count, 1.0)


@pytest.mark.parametrize("x", [1e-320, 1e-200, 1e200])
def test_far_away(x: float):
    """Counts beyond the range of exp give a finite bound."""
    exact = from_multipliers(3)
    _, found = gaps_of_terms(exact.form, np.full(len(exact.counts), x), exact.multipliers)
    assert np.isfinite(found).all()
    assert (found > 0).all()
