"""The code that is shown makes the model that is explored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer.state import assumptions_of, typed

HOSPITAL = mx.datasets.load_hospital()
RELEASE = mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
MEN = P("Flu", given={"Gender": "male"})
IRIS = {"Iris": {"Gender": "female", "Degree": "graduate"}}


def run(parts, state, **names):
    """Run the code of a state, and compare its answer with that of the state's model."""
    there = {"release": parts.model.view, "original": HOSPITAL, "explored": parts.model, **names}
    exec(typed(parts, state), there)  # our own lines
    np.testing.assert_allclose(there["post"].counts, parts.model_at(state).solve().counts, atol=1e-9)
    return there["model"]


def test_all_kinds_of_knowledge():
    """Statements with and without labels, soft ones, functions, what is not known, and K: all of it is typed."""
    model = mx.MaxEnt(RELEASE).add(MEN.about(0.3, eps=0.05), "P(HIV) ~ 0.2 +- 0.05").add("P(Flu) <= 0.5", label="own")
    model.add(lambda space: space.conditional("s", given="q") <= 1, label="shares")
    parts = assumptions_of(model, HOSPITAL, 0.8, 2, None)
    run(parts, parts.start)
    moved = parts.start.moved("own", value=0.4).moved("0.25 <= P(Flu | Gender=male) <= 0.35", known=False)
    found = run(parts, replace(moved, positive=1, negative=2))
    assert {"own", "shares"} < set(found.knowledge)


@pytest.mark.parametrize("is_mined", [False, True])
def test_associations_of_the_model(is_mined):
    """Associations that the model holds are taken from it, with their support, or as they were mined."""
    given = HOSPITAL, {"min_support": 2}
    if is_mined:
        given = mx.mine_associations(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", min_support=2), {}
    model = mx.MaxEnt(RELEASE).add(mx.StrongestAssociations(given[0], 1, 1, **given[1]))
    parts = assumptions_of(model, None, 0.8, 3, None)
    run(parts, parts.start)
    run(parts, replace(parts.start, positive=2, negative=4))
    assert len(run(parts, replace(parts.start, positive=0, negative=0)).knowledge) == 0


def test_people_and_values_that_no_text_can_hold():
    """Named people are an argument; a statement about dates, which no text is read as, is taken from the model."""
    parts = assumptions_of(mx.MaxEnt(RELEASE, people=IRIS).add("P(HIV | Iris) = 0.2"), None, 0.8, 3, None)
    run(parts, parts.start.moved("P(HIV | Iris) = 0.2", value=0.3), people=IRIS)
    dated = HOSPITAL.assign(Degree=pd.to_datetime("2020-01-01") + pd.to_timedelta(HOSPITAL["Bucket"], unit="D"))
    release = mx.Release.from_buckets(dated, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    model = mx.MaxEnt(release).add(P("HIV", given={"Degree": dated["Degree"][0]}) <= 0.9)
    parts = assumptions_of(model, None, 0.8, 3, None)
    assert "explored.knowledge[" in typed(parts, parts.start)
    run(parts, parts.start)
    (label,) = parts.adjustable
    run(parts, parts.start.moved(label, value=0.2))
    soft = mx.MaxEnt(release).add(P("HIV", given={"Degree": dated["Degree"][0]}).softly(0.4, sd=0.05, delta=0.1))
    parts = assumptions_of(soft, None, 0.8, 3, None)
    (label,) = parts.adjustable
    run(parts, parts.start.moved(label, value=0.1, vagueness=0.01))
