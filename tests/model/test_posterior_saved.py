"""Saving a posterior: what is loaded is what was saved, to the last bit and with every label's type and order."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import maxent_cvx as mx
from maxent_cvx import P, TableError
from support.helpers import refused
from support.strategies import microdata, publish

TEXT_AND_NUMBERS = ("text", "whole", "real", "truth", "ranked")  # what one Parquet column can hold
MEN = {"Gender": "male"}
ZONES = [(1, "UTC"), (2, "Europe/Berlin"), (3, "UTC")]


@pytest.fixture
def post(release) -> mx.Posterior:
    """What follows from Fig. 1 and P(Flu | male) = 0.3 (section 4.1)."""
    return mx.MaxEnt(release).add(P("Flu", given=MEN) == 0.3).solve()


def stored(post: mx.Posterior, folder: Path) -> mx.Posterior:
    """Save, and load what was saved."""
    post.save(folder / "post.parquet")
    return mx.load_posterior(folder / "post.parquet")


def assert_same(one: mx.Posterior, other: mx.Posterior) -> None:
    pd.testing.assert_series_equal(one.joint(), other.joint(), check_exact=True)
    pd.testing.assert_frame_equal(one.conditional(), other.conditional(), check_exact=True)
    assert one.entropy == other.entropy
    for name in ("certificate", "status", "solver", "iterations", "compile_seconds", "solve_seconds"):
        assert getattr(one, name) == getattr(other, name), name


@given(frame=microdata(TEXT_AND_NUMBERS))
def test_round_trip(tmp_path_factory, frame):
    """Whatever the table, joint, conditional, entropy, certificate and answers come back as they were."""
    post = mx.MaxEnt(publish(frame)).solve()
    again = stored(post, tmp_path_factory.mktemp("saved"))
    assert_same(post, again)
    for s in again.space.view.sensitive_values:
        assert again.prob(s) == post.prob(s)


LABELS = {
    "whole": [3, 1, 20],
    "small whole": np.array([3, 1, 20], dtype=np.int8),
    "real": [0.1, -1.5, math.inf],
    "truth": [True, False, True],
    "date": pd.to_datetime(["2008-06-09", "1957-05-15", "2008-06-12"]),
    "interval": pd.arrays.IntervalArray.from_tuples([(0, 10), (10, 20), (20, 30)], closed="left"),
    "cut": pd.cut([5, 15, 25], [0, 10, 20, 30]),
    "category": pd.Categorical(["mid", "low", "high"], categories=["low", "mid", "high", "never"], ordered=True),
    "category of numbers": pd.Categorical([1, 2, 3], categories=[3, 1, 2], ordered=True),
    "whole objects": np.array([3, 1, 20], dtype=object),
    "text objects": np.array(["a", "b\0", "ä"], dtype=object),
    "large whole": np.array([2**63, 2**64 - 1, 0], dtype=np.uint64),
    "masked whole": pd.array([3, 1, 20], dtype="Int64"),
    "masked truth": pd.array([True, False, True], dtype="boolean"),
    "pandas text": pd.array(["a", "b", "c"], dtype="string"),
    "Arrow whole": pd.array([3, 1, 20], dtype="int64[pyarrow]"),
    "half precision": np.array([0.5, 1, 2], dtype=np.float16),
    "date in seconds": pd.to_datetime(["2008-06-09", "1957-05-15", "2008-06-12"]).as_unit("s"),
    "date with a zone": pd.to_datetime(["2008-06-09", "1957-05-15", "2008-06-12"]).tz_localize("Europe/Berlin"),
    "day": np.array([datetime.date(2008, 6, day) for day in (9, 8, 12)], dtype=object),
    "period": pd.period_range("2008-06", periods=3, freq="M"),
    "span": pd.to_timedelta([3, 1, 2], unit="h"),
    "decimal": np.array([Decimal("1.10"), Decimal("2.50"), Decimal("3.00")], dtype=object),
    "bytes": np.array([b"a", b"b", b"\xff"], dtype=object),
    "category of periods": pd.Categorical(pd.period_range("2008-06", periods=3, freq="M")),
}
#: Labels that a release can have and no file can hold so that they come back, and what is said of them.
UNSTORABLE = {
    "tuples": ([(1, 2), (2, 3), (1, 4)], "tuple"),
    "mixed tuples": ([(1, "a"), (2, "b"), (1, "c")], "tuple"),
    "sets": ([frozenset("a"), frozenset("b"), frozenset("c")], "frozenset"),
    "wide whole": ([2**70, 2**71, 1], "more than 64 bits"),
    "whole and real": ([1, 2.5, 3], "float, int"),
    "truth and whole": ([True, 2, 3], "bool, int"),
    "fractions": ([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)], "Fraction"),
    "decimals of several scales": ([Decimal("1.10"), Decimal("2.5"), Decimal(3)], "Decimal"),
    "complex": (np.array([1j, 2j, 3j]), "complex"),
    "sparse": (pd.arrays.SparseArray([0, 0, 1]), ".sparse.to_dense()"),
    "category of tuples": (pd.Categorical([("a", 1), ("b", 1), ("c", 1)]), "tuple"),
    "instants of several zones": ([pd.Timestamp(2020, 1, day, tz=zone) for day, zone in ZONES], "Timestamp"),
}


def solved(labels: object, role: str) -> mx.Posterior:
    """What follows from a release with these labels in a role."""
    frame = pd.DataFrame({"Q": list("xyx"), "S": list("aab"), "K": 1}).loc[[0, 1, 2, 2, 1, 0]]
    values = pd.Series(labels, dtype=getattr(labels, "dtype", object))  # pandas would guess other types of objects
    frame[{"qi": "Q", "sa": "S", "bucket": "K"}[role]] = values.take([0, 1, 2, 0, 1, 2]).set_axis(frame.index)
    return mx.MaxEnt(mx.Release.from_buckets(frame, qi="Q", sa="S", bucket="K")).solve()


@pytest.mark.parametrize("kind", LABELS)
def test_round_trip_of_labels(tmp_path, kind):
    """Labels of every type keep type and order in every role."""
    labels = LABELS[kind] if hasattr(LABELS[kind], "dtype") else pd.Series(LABELS[kind]).array
    for role in ("qi", "sa"):
        post = solved(labels, role)
        assert_same(post, again := stored(post, tmp_path))
        for one, other in zip(post.joint().index, again.joint().index, strict=True):
            assert [*map(type, one)] == [*map(type, other)]


@pytest.mark.parametrize("kind", UNSTORABLE)
def test_labels_that_would_come_back_as_others(tmp_path, kind):
    """Labels that would not come back as they are: refused when saving, by column, before anything is written."""
    labels, says = UNSTORABLE[kind]
    for role, column in (("qi", "'Q'"), ("sa", "'S'")):
        with refused(TableError, column, says):
            solved(labels, role).save(tmp_path / "post.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["Count", "P(q, s, b)"])
def test_round_trip_of_names(tmp_path, hospital, name):
    """A quasi-identifier may be called what the file calls its own columns."""
    frame = hospital.rename(columns={"Gender": name})
    post = mx.MaxEnt(mx.Release.from_buckets(frame, qi=[name, "Degree"], sa="Disease", bucket="Bucket")).solve()
    assert_same(post, stored(post, tmp_path))
