"""The answer to a problem with independent components consists of the answers to these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import Infeasible, MaxEnt, P
from maxent_cvx.solvers.answer import Status
from maxent_cvx.solvers.form import LinearForm
from maxent_cvx.solvers.newton import newton
from support.depot import SQUARE, p, publish
from support.random_models import random_model

seeds = st.integers(0, 10**6)


def side_by_side(forms: list[LinearForm]) -> LinearForm:
    """One form of several without common terms, the published rows of all first."""
    matrix = sp.csr_array(sp.block_diag([form.matrix for form in forms]))
    low, high, weights = (np.concatenate([getattr(f, name) for f in forms]) for name in ("low", "high", "weights"))
    published = np.concatenate([np.arange(form.shape[0]) < form.n_published for form in forms])
    form = replace(LinearForm.plain(matrix, low, high, weights), n_published=len(published))
    order = np.argsort(~published, kind="stable")
    return replace(form.select(order), coefficients=matrix[order], n_published=int(published.sum()))


def forms(seed: int, n: int) -> list[LinearForm]:
    """Random models, each with its own weights."""
    rng = np.random.default_rng(seed)
    found = [random_model(seed + i, statements=4, buckets=(1, 1))[0].form for i in range(n)]
    return [replace(form, weights=rng.exponential(size=form.shape[1]) + 0.1) for form in found]


@given(seed=seeds, n=st.sampled_from([2, 3, 19]))
def test_components_are_solved_as_by_themselves(seed: int, n: int):
    """A component has the same answer by itself and in the whole problem."""
    each = forms(seed, n)
    form = side_by_side(each)
    found = newton(form)
    alone = np.concatenate([newton(component).counts for component in each])
    assert found.status is Status.OPTIMAL
    np.testing.assert_allclose(found.counts, alone, atol=1e-4)  # entropy is flat at its top
    assert form.residual(found.counts).max() <= 1e-6
    sure = found.counts > 1e-6  # at a zero the multipliers are infinite
    np.testing.assert_allclose(found.counts[sure], np.exp(form.exponent(found.multipliers))[sure], rtol=1e-6)


def test_a_contradiction_in_one_component():
    """A contradiction in one bucket makes the model infeasible, whatever holds in the others."""
    twice = [*SQUARE, ("q3*4 q4*2", "s1*3 s2*3")]
    model = MaxEnt(publish(twice)).add(p("s1", "q1") == 0.4, p("s1", "q3") == 0.4)
    np.testing.assert_allclose(model.solve().prob(P("s1", {"Q": "q4"})), 0.7, atol=1e-9)  # 3 - 1.6 of 2
    with pytest.raises(Infeasible):
        model.add(p("s1", "q4") == 0.6).solve()
