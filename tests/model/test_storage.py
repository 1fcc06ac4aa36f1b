"""Saved posteriors, models and views: they are loaded as they were saved, to the last bit and with the types of labels."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import os
import pickle
import random
import subprocess
import sys
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Count, MaxEntError, P, RepeatedStatement, StatementError, TableError
from maxent_cvx.model import storage
from maxent_cvx.model.storage import read_view, same_labels, same_system, view_parts
from maxent_cvx.releases.base import restored, stored
from support.helpers import refused
from support.problems import PROBLEMS
from support.random_models import random_model
from support.saving import forgeries, posteriors, room_for
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
    """Joint, conditional, entropy, certificate and answers of any table come back as they were."""
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
    """The posterior of a release with these labels in a role."""
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
    """Labels that would be loaded as different ones are refused before anything is written."""
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


@given(seed=st.integers(0, 10**6))
def test_random_models(seed: int, tmp_path_factory):
    """Statements come back with their rational coefficients, their sides and their names."""
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
def informed(hospital, release) -> mx.MaxEnt:
    """A model with knowledge of every kind, hard and soft."""
    allen = {"Allen": {"Gender": "male", "Degree": "college"}, 7: {"Gender": "male", "Degree": "college"}}
    model = mx.MaxEnt(release, people=allen)
    noisy = pd.Series([3.2, 1.9], pd.Index(["Flu", "HIV"], name="Disease"))
    rows = model.space.marginal("s") >= 0.01
    model.add(Count("HIV", who=["Allen", 7]) <= 1.5, label="who has it")
    model.add(mx.StrongestAssociations(hospital, positive=2, negative=2, min_support=1))
    model.add(mx.NoisyMarginal(noisy, scipy.stats.norm(scale=1.0)))
    model.add(lambda space: space.conditional("s", given="Gender") <= 0.9)
    model.add(lambda space: space.prob("Flu", given={"Gender": "male"}) <= 0.6, label="an affine constraint")
    model.add(FLU.about(1 / 3, eps=0.1), FLU.softly(0.3, sd=0.05, delta=0.1), rows)
    model.add(P("HIV", given={"Gender": "male"}).softly(0.1, weight=50))
    return model.add(mx.soft(rows, weight=np.arange(len(rows)) + 3.0), label="soft rows")


@pytest.mark.parametrize(
    "values",
    [pd.to_datetime(["2024-01-31", "2023-02-01"]), np.array([0.1, 0.2], dtype="float32")],
    ids=["dates", "32 bits"],
)
def test_statements_about_typed_values_remain_statements(values, tmp_path):
    """A statement about a date or a number of 32 bits is restored as one, so that a sweep replaces it."""
    table = pd.DataFrame({"q": values.repeat(6), "s": list("xyz") * 4, "b": 1})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="b"))
    about = P("x", given={"q": values[0]})
    again = through_a_file(model.add(about == 0.4), tmp_path)
    assert mx.sweep(again, about, value=0.2)["probability"].tolist() == pytest.approx([0.2])
    assert again.latex() == model.latex()


def test_knowledge_of_every_kind(informed, tmp_path):
    """Sources come back as the rows that they emitted, under their labels and with their costs."""
    again = through_a_file(informed, tmp_path)
    assert_same(informed, again)
    assert again.describe()["source"].tolist() == informed.describe()["source"].tolist()
    for mine, other in zip(informed.blocks, again.blocks, strict=True):
        assert (mine.penalty is None) == (other.penalty is None)
        assert mine.penalty is None or mine.penalty.same_as(other.penalty)
    assert_same(informed, through_a_file(again, tmp_path))  # also a second time
    assert again.remove("who has it").solve().counts.shape == informed.solve().counts.shape
    with pytest.warns(RepeatedStatement):
        again.add(FLU.about(1 / 3, eps=0.1))


def test_a_prior_that_rules_out(hospital, release, tmp_path):
    """The rows of a prior that excludes values come back, and cannot be removed."""
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
    """A model with a convex constraint is refused, and nothing is written."""
    model = mx.MaxEnt(release).add(FLU == 0.3)
    model.add(lambda space: cp.sum_squares(space.marginal("s").expr) <= 0.5, label="not too sure")
    with refused(StatementError):
        model.save(tmp_path / "model.parquet")
    assert not list(tmp_path.iterdir())
    assert_same(model.copy().remove("not too sure"), through_a_file(model.copy().remove("not too sure"), tmp_path))


def test_nothing_is_run_from_a_file(informed, tmp_path):
    """Another process reads the model without its functions, because the file does not contain code."""
    informed.save(tmp_path / "model.parquet")
    code = "import maxent_cvx as mx, sys; print(mx.MaxEnt.load(sys.argv[1]).solve().counts.tobytes().hex())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.parquet")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == informed.solve().counts.tobytes().hex()
    assert b"pickle" not in (tmp_path / "model.parquet").read_bytes()
    columns = pd.read_parquet(tmp_path / "model.parquet").columns.tolist()  # any program reads the coefficients
    assert columns == ["row", "term", "coefficient", "typed"]


def test_a_model_is_no_posterior(informed, tmp_path):
    """A file of the other kind, and no file, are refused."""
    informed.save(tmp_path / "model.parquet")
    informed.solve().save(tmp_path / "post.parquet")
    for use in (
        lambda: mx.load_posterior(tmp_path / "model.parquet"),
        lambda: mx.MaxEnt.load(tmp_path / "post.parquet"),
        lambda: mx.MaxEnt.load(tmp_path / "no.parquet"),
        lambda: informed.save(3),
    ):
        with refused(TableError):
            use()


def test_a_pickled_model_of_many_terms_is_solved():
    """A model can be pickled; the arrays of a large one are views of the loaded bytes."""
    n = 3000
    table = pd.DataFrame({"q": np.arange(n) // 3, "s": np.arange(n) % 3, "bucket": np.arange(n) // 6})
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="bucket")).add("P(1 | q=0) = 0.5")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.solve().counts, model.solve().counts)


@pytest.mark.parametrize(
    "knowledge",
    [
        lambda space: space.conditional("Disease", given="Gender")["Flu"] == 0.3,
        lambda space: space.p[0] <= 0.01,
        lambda space: cp.sum_squares(space.p) <= 0.0424,
    ],
    ids=["rows", "affine", "convex"],
)
def test_a_pickled_model_keeps_its_rows_and_constraints(release, knowledge):
    """Rows and CVXPY constraints are pickled with the model, under their label, and have the same answer.

    This includes a model whose problem CVXPY has solved, although Clarabel's solver cannot be pickled.
    """
    model = mx.MaxEnt(release)
    model.add(knowledge(model.space))
    model.problem.solve(solver="CLARABEL")
    post = model.solve()
    again = pickle.loads(pickle.dumps(post))
    assert list(again.model.knowledge) == ["your own"]
    np.testing.assert_array_equal(again.model.solve().counts, post.counts)
    assert np.abs(post.counts - mx.MaxEnt(release).solve().counts).max() > 1e-3


# Views: every kind comes back as its own class with all that it publishes, or is refused before it is written.


def saved(view: mx.View, folder: Path) -> mx.View:
    """The view of a posterior that was saved and loaded."""
    mx.MaxEnt(view).solve().save(folder / "post.parquet")
    return mx.load_posterior(folder / "post.parquet").space.view


def assert_same_view(first: mx.View, second: mx.View) -> None:
    """The same class, roles, labels with their types, terms and published counts."""
    assert type(first) is type(second)
    assert repr(first) == repr(second)
    assert (first.qi, first.sensitive, first.n_records) == (second.qi, second.sensitive, second.n_records)
    assert list(first.axes) == list(second.axes)
    for role, (columns, index) in first.axes.items():
        assert columns == second.axes[role][0]
        assert same_labels(index, second.axes[role][1])
    for role, codes in first.terms().items():
        np.testing.assert_array_equal(codes, second.terms()[role])
    for by, counts in first.published.items():
        pd.testing.assert_series_equal(counts, second.published[by])
    np.testing.assert_array_equal(first.n_q, second.n_q)
    np.testing.assert_array_equal(first.n_s, second.n_s)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_view(kind, tmp_path):
    """A view comes back from its own tables and from text, and from a file with the model, its people and its prior."""
    model = KINDS[kind]()
    again = through_a_file(model, tmp_path)
    assert_same(model, again)
    view = model.view
    for copy in (
        type(view).from_frames(view.to_frames()),
        read_view(view_parts(view)),
        saved(view, tmp_path),
        again.view,
    ):
        assert_same_view(view, copy)
    assert (again.prior is None) == (model.prior is None)
    if model.prior is not None:
        for attributes, table in model.prior.tables.items():
            pd.testing.assert_frame_equal(again.prior.tables[attributes], table)
    assert list(again.space.people.names) == list(model.space.people.names)


def test_what_a_release_has_besides_its_tables(tmp_path):
    """Pseudonyms, that QI are generalised, and counterfeits come back; so do columns with the name Count."""
    first, second = mx.datasets.load_patients()
    roles = {"sa": "Disease", "bucket": "Bucket", "id": "Pseudonym"}
    release = mx.Release.from_buckets(first.rename(columns={"Gender": "Count"}), qi="Count", **roles)
    again = saved(release, tmp_path)
    for name in ("names", "q", "bucket"):
        np.testing.assert_array_equal(getattr(again.persons, name), getattr(release.persons, name))
    assert again.persons.id == "Pseudonym"
    bare = mx.Release.from_buckets(second, qi=[], **roles)
    assert_same_view(bare, saved(bare, tmp_path))
    records = pd.DataFrame({"Age": ["[20, 29]", "*"], "S": ["a", "b"]})
    assert saved(mx.Release.from_generalized(records, qi="Age", sa="S"), tmp_path).generalized
    people, values = pd.DataFrame({"Q": ["x"], "K": [1]}), pd.DataFrame({"S": ["a", "b"], "K": [1, 1]})
    more = mx.Release.from_tables(people, values, qi="Q", sa="S", bucket="K", counterfeits=True)
    assert saved(more, tmp_path).with_counterfeits.tolist() == [True]


class OwnRelease(mx.Release):
    """A release without additions."""


class OwnTable(mx.QITable):
    """A table without additions."""


class Audited(mx.QITable):
    """Has more than the parent writes."""

    def __init__(self, people: pd.DataFrame, auditor: str = "nobody", **roles: Any) -> None:
        super().__init__(people, **roles)
        self.auditor = auditor


class Signed(Audited):
    """Writes all that it has."""

    def to_frames(self) -> dict[str, Any]:
        return {**super().to_frames(), "auditor": self.auditor}

    @classmethod
    def from_frames(cls, frames: Any) -> Signed:
        plain = mx.QITable.from_frames({name: table for name, table in frames.items() if name != "auditor"})
        people = plain.quasi_identifiers.to_frame(index=False).assign(n=plain.n_q)
        values = plain.sensitive_values
        return cls(people, frames["auditor"], qi=plain.qi, sa=plain.sa, sa_values=values, count="n")


class Strict(mx.QITable):
    """Cannot be made as its parent is."""

    def __init__(self, people: pd.DataFrame) -> None:
        super().__init__(people, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])


class Stray(mx.QITable):
    """Comes back as its parent."""

    @classmethod
    def from_frames(cls, frames: Any) -> mx.QITable:
        return mx.QITable.from_frames(frames)


TABLE = {"qi": "Gender", "sa": "Disease", "sa_values": ["Flu", "HIV"]}


def test_subclasses_come_back_as_themselves(hospital, tmp_path):
    """A subclass without additions is written with its parent's tables under its own name, also inside a series."""
    roles = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
    assert type(saved(OwnRelease.from_buckets(hospital, **roles), tmp_path)) is OwnRelease
    assert type(saved(OwnTable(hospital, **TABLE), tmp_path)) is OwnTable
    signed = saved(Signed(hospital, "Iris", **TABLE), tmp_path)
    assert (type(signed), signed.auditor) == (Signed, "Iris")
    series = mx.ReleaseSeries([OwnRelease.from_buckets(hospital, id="Name", **roles)])
    assert type(saved(series, tmp_path).releases[0]) is OwnRelease


@pytest.mark.parametrize("made", [lambda table: Audited(table, "Iris", **TABLE), Strict, lambda t: Stray(t, **TABLE)])
def test_subclasses_that_would_come_back_as_others(hospital, tmp_path, made):
    """A subclass with more data, that cannot be made, or that comes back as its parent is refused; the file is unchanged."""
    before = mx.MaxEnt(OwnTable(hospital, **TABLE)).solve()
    before.save(tmp_path / "post.parquet")
    post = mx.MaxEnt(made(hospital)).solve()
    with refused(TableError):
        post.save(tmp_path / "post.parquet")
    assert mx.load_posterior(tmp_path / "post.parquet").joint().equals(before.joint())
    assert len(list(tmp_path.iterdir())) == 1


class Silent(mx.View):
    """Two people of two kinds, and nothing about files."""

    noun = "view"
    qi, sensitive, n_s = ("Q",), ("S",), None
    quasi_identifiers = pd.MultiIndex.from_arrays([["x", "y"]], names=["Q"])
    sensitive_values = pd.Index(["a", "b"], name="S")
    n_q = np.array([1, 1])
    published = {("q",): pd.Series([1, 1], quasi_identifiers.get_level_values(0))}  # noqa: RUF012

    def terms(self) -> dict[str, np.ndarray]:
        return {"q": np.array([0, 0, 1, 1]), "s": np.array([0, 1, 0, 1])}


@dataclasses.dataclass(eq=False)
class Holds(Silent):
    """A dataclass: written by its fields."""

    held: Any


HELD = pd.DataFrame({"n": [1, 2], "c": pd.Categorical(["b", "a"], ["b", "a"])})


def test_what_can_be_written(tmp_path):
    """Tables come back with their types, and so does whatever JSON holds, inside lists, tuples and dictionaries."""
    for held in (
        HELD,
        [HELD, 1.5, None],
        {"a": {"b": ("x", 2)}},
        (),
        True,
        "text",
        np.int64(3),
        [[HELD]],
        HELD.head(0),
    ):
        again = saved(Holds(held), tmp_path).held
        assert type(again) is (int if isinstance(held, np.int64) else type(held))
        if isinstance(held, pd.DataFrame):
            pd.testing.assert_frame_equal(again, held)
        else:
            assert repr(again) == repr(held.item() if isinstance(held, np.int64) else held)


def test_what_cannot_be_written(tmp_path):
    """Anything else is refused, and nothing is written."""
    for held in (
        pd.Series([1]),
        pd.Index([1]),
        [np.zeros(3)],
        {1: 2},
        {1, 2},
        HELD.set_index("c"),
        HELD.set_axis([0, 1], axis=1),
        HELD.set_axis(["n", "n"], axis=1),
        pd.DataFrame(index=range(2)),
        pd.DataFrame({"n": [(1, 2)]}),
    ):
        with refused(TableError):
            mx.MaxEnt(Holds(held)).solve().save(tmp_path / "post.parquet")
    assert list(tmp_path.iterdir()) == []


def test_names_of_classes():
    """A class is stored by module and name, or as `stored_as`; two classes cannot share a name."""
    parts = stored(OwnTable(mx.datasets.load_hospital(), **TABLE))
    assert parts["kind"] == f"{__name__}.OwnTable"
    kinds = [stored(KINDS[kind]().view)["kind"] for kind in ("release", "table", "series", "generalized")]
    assert kinds == ["Release", "QITable", "ReleaseSeries", "GroupedRelease"]
    for name in ("Release", 3):
        with refused(StatementError):
            type("Other", (mx.View,), {"stored_as": name})
    pinned = []
    for _ in range(2):  # as if a cell ran twice
        pinned.append(type("Pinned", (OwnTable,), {"stored_as": "tests: pinned", "__module__": __name__}))
        assert restored({"kind": "tests: pinned", "frames": parts["frames"]}).__class__ is pinned[-1]
    with refused(TableError):
        stored(pinned[0](mx.datasets.load_hospital(), **TABLE))


@pytest.mark.parametrize("kind", ["release", "table", "series", "generalized"])
def test_wrong_tables(kind):
    """Tables that are missing, left over, or of another kind are refused, whatever the kind of view."""
    view = KINDS[kind]().view
    frames = view.to_frames()
    for wrong in (
        {},
        3,
        frames | {"more": 1},
        *({other: table for other, table in frames.items() if other != name} for name in frames),
        *(frames | {name: 3.5} for name in frames if name != "id"),
        *(frames | {name: table.iloc[:, :0]} for name, table in frames.items() if isinstance(table, pd.DataFrame)),
    ):
        with pytest.raises(mx.MaxEntError):
            type(view).from_frames(wrong)


@pytest.mark.parametrize(
    "values",
    [[10, 20, 10], [0.5, 0.1, 2.0], [True, False, True], pd.Categorical([3, 1, 3])],
    ids=["int", "float", "bool", "category"],
)
def test_values_of_a_population_that_are_no_texts(values, tmp_path):
    """Beside the text that stands for people who are not in the release, also in the labels of rows."""
    records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "S": values})
    view = mx.Release.from_generalized(records, qi="Age", sa="S", population=pd.DataFrame({"Age": [21, 22, 25, 31]}))
    assert_same_view(view, saved(view, tmp_path))
    model = mx.MaxEnt(view).add(lambda space: space.conditional("S", given="Age") <= 0.9, label="unsure")
    model.save(tmp_path / "model.parquet")
    again = mx.MaxEnt.load(tmp_path / "model.parquet")
    assert again.solve().joint().equals(model.solve().joint())


# -- damaged and forged files, and saving that goes wrong -------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such limits and files")


@pytest.fixture(scope="module")
def known() -> list[mx.Posterior]:
    """Two posteriors of one release."""
    return posteriors()


@pytest.fixture
def path(tmp_path, known) -> Path:
    """The first of them in a file."""
    known[0].save(tmp_path / "post.parquet")
    return tmp_path / "post.parquet"


@pytest.mark.parametrize("version", ["now", "0.2.0"])
def test_changed_bytes_are_refused(path, version):
    """A truncated file is refused, one with additional bytes, and one with a flipped bit of anything, or the checksum."""
    whole, draw = path.read_bytes(), random.Random(17)
    if version != "now":
        whole = (Path(__file__).parents[1] / "support" / "saved" / version / "release.parquet").read_bytes()
    changed = [whole[:size] for size in (0, 1, 8, *range(40, len(whole), 97), len(whole) - 1)]
    changed += [whole + b"\0", whole + b"PAR1", whole + whole]
    for at in (*draw.sample(range(len(whole)), 80), *range(len(whole) - 8, len(whole))):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << draw.randrange(8)
        changed.append(bytes(flipped))
    for data in changed:
        path.write_bytes(data)
        with refused(TableError):
            mx.load_posterior(path)


def test_nothing_is_decoded_before_the_checksum(path, monkeypatch):
    """A damaged file, which may claim any size, is refused before Parquet reads it."""
    whole = bytearray(path.read_bytes())
    whole[100] ^= 1
    path.write_bytes(whole)
    for reader in ("read_table", "read_metadata"):
        monkeypatch.setattr(pq, reader, lambda *_: pytest.fail("the file was decoded"))
    with refused(TableError):
        mx.load_posterior(path)


def test_rewritten_files(path, known, monkeypatch):
    """Files without a checksum, of another format, with other fields or with other counts are refused.

    The checksum is not a signature: who forges counts or the model with it is found out if the file is verified.
    """
    table, metadata = pq.read_table(path), pq.read_metadata(path).metadata[storage.METADATA]
    monkeypatch.setattr(storage, "POSTERIOR", 1)
    with refused(TableError):
        mx.load_posterior(path)
    monkeypatch.undo()
    space, counts, about, _ = storage.read_terms(path, "it")
    about["certificate"]["luck"] = 1.0
    storage.write_terms(path, space, counts, about)
    with refused(TableError):
        mx.load_posterior(path)
    pq.write_table(table.replace_schema_metadata({storage.METADATA: metadata}), path)  # as any program writes it
    with refused(TableError):
        mx.load_posterior(path)

    last = table.column_names[-1]
    shuffled = table.set_column(table.num_columns - 1, last, table[last].take(pa.array(range(len(table)))[::-1]))
    of_another_type = [json.dumps({**json.loads(metadata), "model": model}).encode() for model in ("text", 1, [])]
    for forged, said in ((shuffled, metadata), *((table, said) for said in of_another_type)):
        path.write_bytes(storage.sealed(forged.replace_schema_metadata({storage.METADATA: said})))
        with refused(TableError):
            mx.load_posterior(path, verify=True)
    path.write_bytes(storage.sealed(shuffled.replace_schema_metadata({storage.METADATA: metadata})))
    assert mx.load_posterior(path).certificate.holds


def test_what_is_no_file(tmp_path, known):
    """A folder, an empty file, a file in no folder and what is not the name of a file are refused."""
    (tmp_path / "empty.parquet").touch()
    for name in (None, b"post.parquet", "", "a\0b", tmp_path, tmp_path / "no" / "x"):
        with refused(TableError):
            mx.load_posterior(name)
        with refused(TableError):
            known[0].save(name)
    with refused(TableError):
        mx.load_posterior(tmp_path / "empty.parquet")


@posix
def test_devices_and_pipes(tmp_path, known):
    """Loading does not wait for a pipe or read an endless device, and saving does not replace them."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/full"):
        with refused(TableError):
            mx.load_posterior(path)
        with refused(TableError):
            known[0].save(path)


@posix
def test_a_full_disk(path, known):
    """If the disk is full, the earlier posterior stays, and nothing is left beside it."""
    for room in (0, 5, 1000):
        with refused(TableError), room_for(room):
            known[1].save(path)
        assert mx.load_posterior(path).joint().equals(known[0].joint())
        assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("verify", [False, True])
def test_forged_posteriors(path, verify):
    """A file with a valid checksum is a posterior that can be used, or refused by type, whatever it contains."""
    for forged in forgeries(path.read_bytes(), 80, random.Random(1)):
        path.write_bytes(forged)
        try:
            post = mx.load_posterior(path, verify)
        except mx.TableError:
            continue
        assert post.conditional().to_numpy().min() >= 0
        assert str(post.certificate) in repr(post)
        assert not verify or post.certificate.holds


def test_forged_models(path, release):
    """A model from a file with a valid checksum can be solved, or is refused by type, whatever its rows are."""
    mx.MaxEnt(release).add("P(HIV | Gender=male) ~ 0.3 +- 0.1", lambda space: space.marginal("s") <= 0.5).save(path)
    for forged in forgeries(path.read_bytes(), 80, random.Random(1)):
        path.write_bytes(forged)
        with suppress(mx.TableError):
            model = mx.MaxEnt.load(path)
            assert len(model.describe()) == len(model.knowledge) + 1
            with suppress(MaxEntError):
                model.solve()


def test_what_was_saved_is_verified(tmp_path):
    """A saved posterior is certified again, with the knowledge of its model."""
    for problem in list(PROBLEMS.values())[::4]:
        model = problem.model()
        if not problem.feasible or model.convex:
            continue
        post = model.solve()
        post.save(tmp_path / "post.parquet")
        again = mx.load_posterior(tmp_path / "post.parquet", verify=True)
        assert again.certificate.holds
        assert np.array_equal(again.counts, post.counts)
        assert list(again.model.knowledge) == list(model.knowledge)
        assert list(again.multipliers) == list(post.multipliers)


def test_a_statement_is_verified_as_it_reads(path, release):
    """If a forged file shows another statement than that of its rows, the counts are not an answer to it."""
    mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.5").solve().save(path)
    table = storage.unsealed(path, "file", "writer")
    metadata = json.loads(table.schema.metadata[storage.METADATA])
    text = "P(Flu | Gender=male) = 0.3"
    metadata["model"]["knowledge"][0].update(label=text, own_label=text, statement=text)
    forged = table.replace_schema_metadata({storage.METADATA: json.dumps(metadata).encode()})
    path.write_bytes(storage.sealed(forged))
    with refused(mx.TableError, "maximum-entropy answer"):
        mx.load_posterior(path, verify=True)


def test_what_cannot_be_verified(path, release):
    """A file without the knowledge of its model, of a convex statement or an earlier version, is not verified."""
    mx.MaxEnt(release).add(lambda space: cp.sum(cp.entr(space.p)) >= 2).solve().save(path)
    assert mx.load_posterior(path).certificate.holds
    earlier = Path(__file__).parents[1] / "support" / "saved" / "0.2.0" / "release.parquet"
    for file in (path, earlier):
        with refused(TableError):
            mx.load_posterior(file, verify=True)


def test_what_does_not_come_back_is_not_written(path, known, monkeypatch):
    """A file is read again before it replaces another one: a view that would come back as another one is refused."""
    read = storage.read_view

    def another(parts: dict[str, Any]) -> mx.Release:
        frames = read(parts).to_frames()
        return mx.Release.from_frames({**frames, "sa_table": frames["sa_table"].assign(Disease="Flu")})

    monkeypatch.setattr(storage, "read_view", another)
    with refused(TableError):
        known[1].save(path)
    monkeypatch.undo()
    assert mx.load_posterior(path).joint().equals(known[0].joint())
