"""What tests of blocks have in common."""

from __future__ import annotations

import pandas as pd
import pytest

import maxent_cvx as mx


@pytest.fixture
def smokers():
    """Who smokes, by age and sex: nobody of 50 is a man."""
    table = pd.DataFrame(
        [(20, "m", "no"), (20, "f", "no"), (20, "m", "yes"), (30, "m", "yes"), (30, "f", "no")] * 2
        + [(40, "m", "yes"), (40, "f", "no"), (40, "m", "no"), (50, "f", "yes"), (50, "f", "no")],
        columns=["age", "sex", "s"],
    )
    return mx.Release.from_buckets(table.assign(b=1), qi=["age", "sex"], sa="s", bucket="b")
