"""Anatomy: buckets of l people in which no value but the exempt ones occurs twice (Xiao and Tao, 2006)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import TableError, UnknownName
from maxent_cvx.anonymize.anatomy import anatomy, anatomy_buckets

ROLES = {"qi": ["A"], "sa": "S"}


@st.composite
def people(draw: st.DrawFn) -> tuple[pd.DataFrame, int]:
    """Draw a table of one to 40 people, some of its values frequent, and an l that its size allows."""
    values = draw(st.lists(st.sampled_from("aaaaabbbccdefgh"), min_size=1, max_size=40))
    return pd.DataFrame({"A": np.arange(len(values)) % 3, "S": values}), draw(st.integers(1, min(6, len(values))))


def needed(frame: pd.DataFrame, l: int) -> int:
    """How many values are too frequent to stand in every bucket once."""
    return int((frame["S"].value_counts() > len(frame) // l).sum())


@given(people(), st.integers(0, 2), st.integers(0, 10))
def test_buckets(drawn, more, seed):
    """Buckets: floor(N/l) of them, of l records or more, with no value twice but the most frequent, exempt ones."""
    frame, l = drawn
    exempt = needed(frame, l) + more
    bucket = anatomy_buckets(frame, **ROLES, l=l, exempt=exempt, seed=seed)
    assert bucket.name == "Bucket"
    assert sorted(bucket.unique()) == list(range(1, len(frame) // l + 1))
    sizes = bucket.value_counts()
    assert sizes.min() >= l
    assert sizes.sum() == len(frame)
    counts = frame["S"].value_counts()
    least = counts.iloc[min(exempt, len(counts)) - 1] if exempt else np.inf
    kept_apart = frame[frame["S"].map(counts) < least]
    repeats = kept_apart.groupby([bucket.loc[kept_apart.index], "S"]).size()
    assert (repeats == 1).all()
    ties = counts[counts == least].index  # of the values at the border as many repeat as are exempt
    twice = frame[frame["S"].isin(ties)].groupby([bucket, "S"]).size()
    assert twice[twice > 1].index.get_level_values("S").nunique() <= exempt - (counts > least).sum()
    release = anatomy(frame, **ROLES, l=l, exempt=exempt, seed=seed)
    expected = mx.Release.from_buckets(frame.assign(Bucket=bucket), **ROLES, bucket="Bucket")
    assert release.bucket == "Bucket"
    for name in ("n_qb", "n_sb"):
        assert np.array_equal(getattr(release, name).toarray(), getattr(expected, name).toarray())


@given(people())
def test_eligibility(drawn):
    """A table with a value in more than 1/l of it is refused, unless the values that are too frequent are exempt."""
    frame, l = drawn
    k = needed(frame, l)
    for exempt in range(k):
        with pytest.raises(TableError, match=f"exempt the {k} "):
            anatomy_buckets(frame, **ROLES, l=l, exempt=exempt)
    assert len(anatomy_buckets(frame, **ROLES, l=l, exempt=k)) == len(frame)


@pytest.mark.parametrize(
    ("error", "change"),
    [
        *((TableError, {"l": wrong}) for wrong in (0, 9, 2.5)),
        (TableError, {"exempt": -1}),
        (TableError, {"seed": -1}),
        (UnknownName, {"qi": "B"}),
    ],
)
def test_wrong_arguments(error, change):
    frame = pd.DataFrame({"A": range(8), "S": list("aabbccdd")})
    with pytest.raises(error):
        anatomy(frame, **{**ROLES, "l": 2, **change})


def test_column_called_bucket(hospital):
    """A quasi-identifier may be called Bucket: the published column takes another name."""
    frame = hospital.rename(columns={"Gender": "Bucket", "Bucket": "Old"})
    release = anatomy(frame, qi=["Bucket", "Degree"], sa="Disease", l=2)
    assert release.qi == ("Bucket", "Degree")
    assert release.bucket not in {"Bucket", "Degree", "Disease"}
    assert sorted(release.quasi_identifiers.levels[0]) == ["female", "male"]
    assert mx.MaxEnt(release).solve().conditional().shape == (6, 5)


def test_the_size_of_the_papers_experiment():
    """14,210 people of Adult, education, l = 5 but for two values: 2,842 buckets of five (section 7, footnote 3)."""
    adult = mx.datasets.load_adult().head(14_210)
    roles = {"qi": list(mx.datasets.ADULT_QI), "sa": "education", "l": 5}
    bucket = anatomy_buckets(adult, **roles, exempt=2)
    assert bucket.value_counts().tolist() == [5] * 2842
    repeats = adult.groupby([bucket, "education"]).size()
    assert set(repeats[repeats > 1].index.get_level_values("education")) == {"HS-grad", "Some-college"}
    with pytest.raises(TableError, match="exempt the 2 "):
        anatomy_buckets(adult, **roles, exempt=1)
