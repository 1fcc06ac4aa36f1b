"""Random models in 1 to 7 partitions: the answer in memory within both certificates, or an error as there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.releases.partitioned import divided
from support.parts import published, random_records, some_people
from support.said import SAID


def solved(view: Any, people: Any, kinds: list[str], records: pd.DataFrame) -> Any:
    """The answer, or the error that says why there is none."""
    try:
        model = mx.MaxEnt(view, people)
        for kind in kinds:
            model.add(SAID[kind](records), label=kind)
        return model.solve()
    except mx.MaxEntError as error:
        return error


def check(seed: int) -> None:
    """Draw up to three kinds of knowledge, which need not go together, and compare."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    people = some_people(records) if seed % 3 == 0 else None
    release, kinds = published(records), rng.permutation(list(SAID))[: int(rng.integers(1, 4))].tolist()
    one, other = (solved(view, people, kinds, records) for view in (release, divided(release, 1 + seed % 7)))
    if isinstance(one, Exception):
        assert type(other) is type(one)
        return
    bound = one.certificate.bound + other.certificate.bound + 1e-12
    found = other.conditional(release.quasi_identifiers).to_numpy()
    assert np.abs(found - one.conditional().to_numpy()).max() <= bound


@pytest.mark.parametrize("seed", [*range(14), 20, 26, 30])
def test_some_models(seed: int) -> None:
    """Two for each number of partitions, and three contradictions that only the solver finds."""
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14, 200))
def test_two_hundred_models(seed: int) -> None:
    """With those above."""
    check(seed)
