"""The answer that most tests of reports are about."""

from __future__ import annotations

import pytest

import maxent_cvx as mx


@pytest.fixture(scope="package")
def post():
    """The posterior of an adversary who knows some medicine about the hospital's patients."""
    roles = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
    release = mx.Release.from_buckets(mx.datasets.load_hospital(), **roles)
    return mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) <= 0.4").solve()
