"""The paper's example, for all tests."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

import maxent_cvx as mx

# Not collected for doctests: files of one name in several folders cannot be imported as modules.
collect_ignore_glob = ["*/conftest.py"]

# Every property is tried on 12 examples, the same ones in every run, unless its test asks for another number. How long
# an example takes is a matter of what else the computer does, and no failure: without this each example has 200 ms.
settings.register_profile(
    "tests", max_examples=12, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

#: Privacy-MaxEnt, Fig. 1(a), with the bucket numbers of Fig. 1(b).
FIG_1 = [
    ("Allen", "male", "college", "Flu", 1),
    ("Brian", "male", "college", "Pneumonia", 1),
    ("Cathy", "female", "college", "Breast Cancer", 1),
    ("David", "male", "high school", "Flu", 1),
    ("Ethan", "male", "college", "HIV", 2),
    ("Frank", "male", "high school", "Pneumonia", 2),
    ("Grace", "female", "junior", "Breast Cancer", 2),
    ("Helen", "female", "college", "HIV", 3),
    ("Iris", "female", "graduate", "Lung Cancer", 3),
    ("James", "male", "graduate", "Flu", 3),
]


@pytest.fixture
def hospital() -> pd.DataFrame:
    """Ten patients in three buckets."""
    return pd.DataFrame(FIG_1, columns=["Name", "Gender", "Degree", "Disease", "Bucket"])


@pytest.fixture
def release(hospital: pd.DataFrame) -> mx.Release:
    """What is published of them."""
    return mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")


@pytest.fixture
def space(release: mx.Release) -> mx.Space:
    """The terms of a model of the ten patients."""
    return mx.MaxEnt(release).space
