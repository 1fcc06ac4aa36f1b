"""Saved posteriors and models: what is loaded is what was saved, to the last bit and with every label's type."""

from __future__ import annotations

import datetime
import math
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Count, P, RepeatedStatement, StatementError, TableError
from maxent_cvx.model.storage import same_labels, same_system
from support.helpers import refused
from support.random_models import random_model
from support.stored_views import KINDS
from support.strategies import microdata, publish

FLU = P("Flu", given={"Gender": "male"})

# Posteriors.


def assert_same_posterior(post: mx.Posterior, folder: Path) -> mx.Posterior:
    """Save, load, and compare all that is inferred."""
    post.save(folder / "post.parquet")
    again = mx.load_posterior(folder / "post.parquet")
    pd.testing.assert_series_equal(post.joint(), again.joint(), check_exact=True)
    pd.testing.assert_frame_equal(post.conditional(), again.conditional(), check_exact=True)
    assert post.entropy == again.entropy
    for name in ("certificate", "status", "solver", "iterations", "compile_seconds", "solve_seconds"):
        assert getattr(post, name) == getattr(again, name), name
    return again


@given(frame=microdata(("text", "whole", "real", "truth", "ranked")))  # what one Parquet column can hold
def test_round_trip(tmp_path_factory, frame):
    """Whatever the table, joint, conditional, entropy, certificate and answers come back as they were."""
    post = mx.MaxEnt(publish(frame)).solve()
    again = assert_same_posterior(post, tmp_path_factory.mktemp("saved"))
    for s in again.space.view.sensitive_values:
        assert again.prob(s) == post.prob(s)


DATES = pd.to_datetime(["2008-06-09", "1957-05-15", "2008-06-12"])
LABELS = {
    "small whole": np.array([3, 1, 20], dtype=np.int8),
    "real": [0.1, -1.5, math.inf],
    "date": DATES,
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
    "date in seconds": DATES.as_unit("s"),
    "date with a zone": DATES.tz_localize("Europe/Berlin"),
    "day": np.array([datetime.date(2008, 6, day) for day in (9, 8, 12)], dtype=object),
    "period": pd.period_range("2008-06", periods=3, freq="M"),
    "span": pd.to_timedelta([3, 1, 2], unit="h"),
    "decimal": np.array([Decimal("1.10"), Decimal("2.50"), Decimal("3.00")], dtype=object),
    "bytes": np.array([b"a", b"b", b"\xff"], dtype=object),
    "numbers beside a text": np.array([3, 20, "(not in the release)"], dtype=object),
    "reals beside a text": np.array([0.1, math.inf, "ä"], dtype=object),
    "category of periods": pd.Categorical(pd.period_range("2008-06", periods=3, freq="M")),
}
#: Labels that a release can have and no file can hold so that they come back.
UNSTORABLE = {
    "mixed tuples": [(1, "a"), (2, "b"), (1, "c")],
    "sets": [frozenset("a"), frozenset("b"), frozenset("c")],
    "wide whole": [2**70, 2**71, 1],
    "wide whole beside a text": [2**70, 2**71, "a"],
    "whole and real": [1, 2.5, 3],
    "truth and whole": [True, 2, 3],
    "fractions": [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)],
    "decimals of several scales": [Decimal("1.10"), Decimal("2.5"), Decimal(3)],
    "complex": np.array([1j, 2j, 3j]),
    "sparse": pd.arrays.SparseArray([0, 0, 1]),
    "category of tuples": pd.Categorical([("a", 1), ("b", 1), ("c", 1)]),
    "instants of several zones": [
        pd.Timestamp(2020, 1, day, tz=zone) for day, zone in [(1, "UTC"), (2, "Europe/Berlin"), (3, "UTC")]
    ],
}


def solved(labels: object, role: str) -> mx.Posterior:
    """What follows from a release with these labels in a role."""
    frame = pd.DataFrame({"Q": list("xyx"), "S": list("aab"), "K": 1}).loc[[0, 1, 2, 2, 1, 0]]
    values = pd.Series(labels, dtype=getattr(labels, "dtype", object))  # pandas would guess other types of objects
    frame[{"qi": "Q", "sa": "S"}[role]] = values.take([0, 1, 2, 0, 1, 2]).set_axis(frame.index)
    return mx.MaxEnt(mx.Release.from_buckets(frame, qi="Q", sa="S", bucket="K")).solve()


@pytest.mark.parametrize("kind", LABELS)
def test_round_trip_of_labels(tmp_path, kind):
    """Labels of every type keep type and order in every role."""
    labels = LABELS[kind] if hasattr(LABELS[kind], "dtype") else pd.Series(LABELS[kind]).array
    for role in ("qi", "sa"):
        post = solved(labels, role)
        again = assert_same_posterior(post, tmp_path)
        for one, other in zip(post.joint().index, again.joint().index, strict=True):
            assert [*map(type, one)] == [*map(type, other)]


@pytest.mark.parametrize("kind", UNSTORABLE)
def test_labels_that_would_come_back_as_others(tmp_path, kind):
    """Labels that would not come back as they are: refused when saving, before anything is written."""
    for role in ("qi", "sa"):
        with refused(TableError):
            solved(UNSTORABLE[kind], role).save(tmp_path / "post.parquet")
    assert list(tmp_path.iterdir()) == []


def test_round_trip_of_names(tmp_path, hospital):
    """A quasi-identifier may be called what the file calls its own columns."""
    for name in ("Count", "P(q, s, b)"):
        frame = hospital.rename(columns={"Gender": name})
        release = mx.Release.from_buckets(frame, qi=[name, "Degree"], sa="Disease", bucket="Bucket")
        assert_same_posterior(mx.MaxEnt(release).solve(), tmp_path)


def test_labels_are_compared_with_their_types():
    """1, 1.0 and True are three labels, and order counts; a NumPy number is the number."""
    for one, other, same in (
        ([1, 2], [1, 2], True),
        ([1, 2], [np.int64(1), 2], True),
        ([1, 2], [1.0, 2], False),
        ([1, 0], [True, 0], False),
        (["a", "b"], ["b", "a"], False),
        ([(1,), (2,)], [[1], [2]], False),
    ):
        indices = [pd.Index(pd.Series([*labels, None], dtype=object)[:2], dtype=object) for labels in (one, other)]
        assert same_labels(*indices) == same


# Models.


def through_a_file(model: mx.MaxEnt, folder: Path) -> mx.MaxEnt:
    """Save, and load."""
    model.save(folder / "model.parquet")
    return mx.MaxEnt.load(folder / "model.parquet")


def assert_same(model: mx.MaxEnt, again: mx.MaxEnt) -> None:
    """Everything a user sees is the same, and the answer to the last digit."""
    assert type(again) is type(model)
    assert type(again.view) is type(model.view)
    assert list(again.knowledge) == list(model.knowledge)
    pd.testing.assert_frame_equal(again.describe(), model.describe())
    n_rows = model.form.shape[0]
    assert [again.form.name(i) for i in range(n_rows)] == [model.form.name(i) for i in range(n_rows)]
    assert same_system(model.form, again.form)
    one, other = model.solve(), again.solve()
    np.testing.assert_array_equal(one.counts, other.counts)
    assert one.certificate == other.certificate
    pd.testing.assert_frame_equal(one.prices(), other.prices())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_view(kind: str, tmp_path):
    """A model comes back with its view, its people, and its prior."""
    model = KINDS[kind]()
    again = through_a_file(model, tmp_path)
    assert_same(model, again)
    assert (again.prior is None) == (model.prior is None)
    if model.prior is not None:
        for attributes, table in model.prior.tables.items():
            pd.testing.assert_frame_equal(again.prior.tables[attributes], table)
    assert list(again.space.people.names) == list(model.space.people.names)


@given(seed=st.integers(0, 10**6))
def test_random_models(seed: int, tmp_path_factory):
    """Whatever statements say: their rational coefficients, their sides, their names."""
    model = random_model(seed)[0]
    again = through_a_file(model, tmp_path_factory.mktemp("models"))
    assert same_system(model.form, again.form)
    assert list(again.knowledge.values()) == list(model.knowledge.values())  # statements come back as statements
    for mine, other in zip(model.blocks, again.blocks, strict=True):
        assert (mine.label, mine.exact, mine.remedy, len(mine)) == (other.label, other.exact, other.remedy, len(other))
        if mine.typed is not None:
            theirs = {a: sorted(terms.tolist()) for a, terms in other.typed}
            assert theirs == {a: sorted(terms.tolist()) for a, terms in mine.typed}


@pytest.fixture
def told(hospital, release) -> mx.MaxEnt:
    """A model that knows something of every kind."""
    allen = {"Allen": {"Gender": "male", "Degree": "college"}, 7: {"Gender": "male", "Degree": "college"}}
    model = mx.MaxEnt(release, people=allen)
    noisy = pd.Series([3.2, 1.9], pd.Index(["Flu", "HIV"], name="Disease"))
    model.add(Count("HIV", who=["Allen", 7]) <= 1.5, label="who has it")
    model.add(mx.StrongestAssociations(hospital, positive=2, negative=2, min_support=1))
    model.add(mx.NoisyMarginal(noisy, scipy.stats.norm(scale=1.0)))
    model.add(lambda space: space.conditional("s", given="Gender") <= 0.9)
    model.add(lambda space: space.prob("Flu", given={"Gender": "male"}) <= 0.6, label="an affine constraint")
    model.add(FLU.about(1 / 3, eps=0.1))
    return model.add(model.space.marginal("s") >= 0.01)


def test_knowledge_of_every_kind(told, tmp_path):
    """Sources come back as the rows that they emitted, under their labels; what they were is told."""
    again = through_a_file(told, tmp_path)
    assert_same(told, again)
    assert again.describe()["source"].tolist() == told.describe()["source"].tolist()
    assert_same(told, through_a_file(again, tmp_path))  # also a second time
    assert again.remove("who has it").solve().counts.shape == told.solve().counts.shape
    with pytest.warns(RepeatedStatement):
        again.add(FLU.about(1 / 3, eps=0.1))


def test_soft_knowledge(release, tmp_path):
    """What it costs to miss a row comes back with it, a number a row or one for all."""
    model = mx.MaxEnt(release).add(FLU.softly(0.3, sd=0.05, delta=0.1))
    model.add(P("HIV", given={"Gender": "male"}).softly(0.1, weight=50))
    rows = model.space.marginal("s") >= 0.12
    model.add(mx.soft(rows, weight=np.arange(len(rows)) + 3.0), "P(Flu | Degree=college) <= 0.4")
    again = through_a_file(model, tmp_path)
    assert_same(model, again)
    for mine, other in zip(model.blocks, again.blocks, strict=True):
        assert (mine.penalty is None) == (other.penalty is None)
        assert mine.penalty is None or mine.penalty.same_as(other.penalty)


def test_a_prior_that_rules_out(hospital, release, tmp_path):
    """What a prior holds to be impossible is known before and after, and cannot be taken out."""
    prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease")
    model = mx.MaxEnt(release, prior=prior).add("P(Flu | Degree=college) <= 0.4")
    again = through_a_file(model, tmp_path)
    assert_same(model, again)
    assert again.ruled_out == model.ruled_out != range(0)
    with pytest.raises(StatementError):
        again.remove(next(iter(again.knowledge)))
    less = model.without_row(model.form.n_facts)
    assert same_system(less.form, through_a_file(less, tmp_path).form)


def test_what_is_convex_is_refused(release, tmp_path):
    """No file holds a convex constraint: nothing is written."""
    model = mx.MaxEnt(release).add(FLU == 0.3)
    model.add(lambda space: cp.sum_squares(space.marginal("s").expr) <= 0.5, label="not too sure")
    with refused(StatementError):
        model.save(tmp_path / "model.parquet")
    assert not list(tmp_path.iterdir())
    assert_same(model.copy().remove("not too sure"), through_a_file(model.copy().remove("not too sure"), tmp_path))


def test_nothing_is_run_from_a_file(told, tmp_path):
    """A function is not in the file: another process, which has never seen it, reads the model."""
    told.save(tmp_path / "model.parquet")
    code = "import maxent_cvx as mx, sys; print(mx.MaxEnt.load(sys.argv[1]).solve().counts.tobytes().hex())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.parquet")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == told.solve().counts.tobytes().hex()
    assert b"pickle" not in (tmp_path / "model.parquet").read_bytes()
    columns = pd.read_parquet(tmp_path / "model.parquet").columns.tolist()  # any program reads the coefficients
    assert columns == ["row", "term", "coefficient", "typed"]


def test_models_and_posteriors_are_told_apart(told, tmp_path):
    """A file of the other kind, and no file, are refused."""
    told.save(tmp_path / "model.parquet")
    told.solve().save(tmp_path / "post.parquet")
    for use in (
        lambda: mx.load_posterior(tmp_path / "model.parquet"),
        lambda: mx.MaxEnt.load(tmp_path / "post.parquet"),
        lambda: mx.MaxEnt.load(tmp_path / "no.parquet"),
        lambda: told.save(3),
    ):
        with refused(TableError):
            use()


def test_a_pickled_model_of_many_terms_is_solved():
    """A model goes through pickle, as to other processes; the arrays of a large one come back on top of bytes."""
    n = 3000
    table = pd.DataFrame({"q": np.arange(n) // 3, "s": np.arange(n) % 3, "bucket": np.arange(n) // 6})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="bucket")).add("P(1 | q=0) = 0.5")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.solve().counts, model.solve().counts)
