"""The terms of a model: what each stands for in the entropy, and their labels."""

from __future__ import annotations

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx.terms.people import People

PEOPLE = {"Alice": {"Gender": "female", "Degree": "college"}, "Bob": {"Gender": "male", "Degree": "college"}}


@pytest.fixture(scope="module")
def hospital():
    return mx.datasets.load_hospital()


@pytest.fixture(scope="module")
def release(hospital) -> mx.Release:
    return mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


def test_prior(hospital, release):
    """The prior of a term is that of its value, given the signature of its QI tuple; where it is 0, rows say so."""
    G = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease")
    space = mx.Space.of(release, prior=G)
    gender = space.index.get_level_values("Gender")
    expected = [G["Gender"].loc[g, s] for g, s in zip(gender, space.index.get_level_values("Disease"), strict=True)]
    assert space.prior == pytest.approx(expected)
    assert (space.prior == 0).any()
    assert np.array_equal(space.prior_density, np.where(space.prior > 0, space.prior, 1))


def test_earlier_names(release):
    """What the weights were called before is there still, and says what to use instead."""
    space = mx.Space.of(release, People.of(PEOPLE, release))
    with pytest.warns(DeprecationWarning, match="use Space.multiplicities"):
        assert space.pseudonyms is space.multiplicities
    with pytest.warns(DeprecationWarning, match="use Space.prior_density"):
        assert space.believed is space.prior_density
