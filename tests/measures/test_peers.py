"""Against pycanon, which measures equivalence classes where we measure what an adversary infers.

A release in which every bucket is one equivalence class, all of its people with the same QI values,
tells an adversary P(s | q) = the share of s in the class: then the two must agree.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx

pycanon = pytest.importorskip("pycanon")
anonymity = pytest.importorskip("pycanon.anonymity")

pytestmark = pytest.mark.filterwarnings("ignore:In a future version, the keys of:Warning")  # pandas, to pycanon
PROPERTY = settings(deadline=None, max_examples=25)
TEXT, NUMBERS = ["Flu", "Gout", "HIV", "Mumps"], [1, 5, 10, 50]


@st.composite
def classes(draw: st.DrawFn, values: list) -> pd.DataFrame:
    """Draw one to five equivalence classes of one to six people, with at least two values among them all."""
    one = st.lists(st.sampled_from(values), min_size=1, max_size=6)
    drawn = draw(st.lists(one, min_size=1, max_size=5).filter(lambda groups: len(set().union(*groups)) > 1))
    records = [(f"zone {i}", s) for i, group in enumerate(drawn) for s in group]
    frame = pd.DataFrame(draw(st.permutations(records)), columns=["Zone", "S"])
    return frame.assign(Bucket=frame["Zone"])


def worst(frame: pd.DataFrame, **options: object) -> pd.Series:
    """What our measures say of the whole release."""
    release = mx.Release.from_buckets(frame, qi="Zone", sa="S", bucket="Bucket")
    return mx.measures.disclosure(mx.MaxEnt(release).solve(), worst=True, **options).iloc[0]


@PROPERTY
@given(classes(TEXT))
def test_k_alpha_and_l(frame):
    """k-anonymity, (alpha, k)-anonymity and distinct l-diversity are those of the equivalence classes."""
    found = worst(frame)
    assert found["people"] == anonymity.k_anonymity(frame, ["Zone"])
    alpha, k = anonymity.alpha_k_anonymity(frame, ["Zone"], ["S"])
    assert (found["max_p"], found["people"]) == (pytest.approx(alpha), k)
    assert found["distinct_l"] == anonymity.l_diversity(frame, ["Zone"], ["S"])


@PROPERTY
@given(classes(TEXT))
def test_entropy_l_diversity(frame):
    """Entropy l-diversity agrees; pycanon cuts it down to a whole number, where rounding can cost it 1."""
    ours, theirs = worst(frame)["entropy_l"], anonymity.entropy_l_diversity(frame, ["Zone"], ["S"])
    assert theirs in {math.floor(ours - 1e-9), math.floor(ours + 1e-9)}


@PROPERTY
@given(st.lists(st.integers(2, 4), min_size=1, max_size=4), st.integers(1, 3))
def test_recursive_c_l_diversity(sizes, repeat):
    """Recursive (c, l)-diversity agrees where a class holds its values equally often.

    pycanon takes the l that holds, and the least whole c above r_1 / (r_l + ... + r_m); it sorts the
    counts r upwards and so puts the rarest value where Machanavajjhala et al. (2006) put the most
    frequent one. Where all counts of a class are equal the two are the same; elsewhere they are not comparable.
    """
    records = [(f"zone {i}", value) for i, n in enumerate(sizes) for value in TEXT[:n] * repeat]
    frame = pd.DataFrame(records, columns=["Zone", "S"]).assign(Bucket=lambda table: table["Zone"])
    c, l = anonymity.recursive_c_l_diversity(frame, ["Zone"], ["S"])
    found = worst(frame, l=l)
    assert found["distinct_l"] == l
    assert math.floor(found["recursive_c"] + 1e-9) + 1 == c


@PROPERTY
@given(classes(TEXT))
def test_t_closeness_of_categories(frame):
    """Of text, t-closeness takes equal distances, for both."""
    theirs = anonymity.t_closeness(frame, ["Zone"], ["S"])
    assert worst(frame)["t"] == pytest.approx(theirs, abs=1e-12)


@PROPERTY
@given(classes(NUMBERS))
def test_t_closeness_of_numbers(frame):
    """Of numbers, t-closeness takes the distances of their ranks, for both."""
    theirs = anonymity.t_closeness(frame, ["Zone"], ["S"])
    assert worst(frame)["t"] == pytest.approx(theirs, abs=1e-12)


def test_part_of_adult():
    """All of it at once on 300 people of Adult, in classes of sex and race."""
    adult = mx.datasets.load_adult().head(300)
    frame = adult[["education"]].rename(columns={"education": "S"}).assign(Zone=adult["sex"] + " " + adult["race"])
    frame["Bucket"] = frame["Zone"]
    found = worst(frame)
    args = (frame, ["Zone"], ["S"])
    assert found["people"] == anonymity.k_anonymity(frame, ["Zone"])
    assert found["max_p"] == pytest.approx(anonymity.alpha_k_anonymity(*args)[0])
    assert found["distinct_l"] == anonymity.l_diversity(*args)
    assert np.floor(found["entropy_l"]) == anonymity.entropy_l_diversity(*args)
    assert found["t"] == pytest.approx(anonymity.t_closeness(*args))
