"""A solve for which somebody waits ends soon, whether there is an answer or not."""

from __future__ import annotations

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.explorer import state as solving
from maxent_cvx.explorer.state import Contradiction, solved

HOSPITAL = mx.datasets.load_hospital()
RELEASE = mx.Release.from_buckets(HOSPITAL, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
#: A third of the men at least have the flu, if none has breast cancer: presolve does not see that, nor Newton at once.
NEARLY = ["P(Breast Cancer | Gender=male) = 0", "0.23 <= P(Flu | Gender=male) <= 0.33"]


@pytest.mark.parametrize("patience", [0, 16])
def test_consistent_knowledge_has_its_answer(monkeypatch, patience):
    """An answer is the same, also where it took so long that it was asked whether there is any."""
    monkeypatch.setattr(solving, "PATIENCE", patience)
    model = mx.MaxEnt(RELEASE).add(P("Flu", given={"Gender": "male"}) == 0.3)
    np.testing.assert_array_equal(solved(model, 60.0).counts, model.solve().counts)


def test_contradictions_are_told_as_they_are_diagnosed():
    """What Newton's method does not see at once is diagnosed, and nobody waits for it to give up."""
    model = mx.MaxEnt(RELEASE).add(*NEARLY)
    with pytest.raises(Contradiction) as told:
        solved(model, 60.0)
    assert told.value.conflict.equals(model.diagnose())
    assert sorted(told.value.conflict.index) == sorted(NEARLY)
