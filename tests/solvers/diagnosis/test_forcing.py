"""What single rows force by bounds: no row that proves anything is passed over."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import Infeasible, MaxEnt, P, Release
from maxent_cvx.solvers.diagnosis.forcing import zeros_by_bounds
from maxent_cvx.solvers.parameters.tolerances import FEASIBILITY
from maxent_cvx.solvers.presolve.bound_propagation import term_bounds
from support.random_models import contradictory_model, random_model
from support.solving import examples


@examples(150)
@given(seed=st.integers(0, 10**6), contradictory=st.booleans())
def test_every_row_that_proves_something_is_asked(seed: int, contradictory: bool):
    """Rows are passed over if propagation of all bounds with that row alone proves nothing zero."""
    model = contradictory_model(seed) if contradictory else random_model(seed, statements=6)[0]
    form, n = model.form, float(model.view.n_records)
    known = np.arange(form.n_facts, form.shape[0])
    found = dict(zeros_by_bounds(form, known, n))
    for row in known.tolist():
        try:
            alone = form.select_knowledge(np.array([row]))
            zeros = term_bounds(alone, n)[1] <= FEASIBILITY.relative * alone.count_scale
        except Infeasible:
            zeros = np.zeros(form.shape[1], dtype=bool)
        np.testing.assert_array_equal(found.get(row, np.zeros(form.shape[1], dtype=bool)), zeros)


@pytest.mark.parametrize(("share", "asked"), [(0.0, True), (0.25, False), (0.5, False), (1.0, True)])
def test_a_row_that_leaves_all_open_is_passed_over(share: float, asked: bool):
    """Of four u, one in each bucket, none or all have a: that forces their values; that one or two have it does not."""
    table = pd.DataFrame({"q": list("uv") * 4, "s": list("ab") * 4, "bucket": np.arange(8) // 2})
    release = Release.from_buckets(table, qi="q", sa="s", bucket="bucket")
    form = MaxEnt(release).add(P("a", given={"q": "u"}) == share).form
    found = dict(zeros_by_bounds(form, np.array([form.n_facts]), 8.0))
    assert bool(found) is asked
    assert all(zeros.sum() == 8 for zeros in found.values())
