"""Views in files: every kind comes back as its own class with all that it says, or is refused before it is written."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError
from maxent_cvx.model.storage import read_view, same_labels, view_parts
from maxent_cvx.releases.base import restored, stored
from support.helpers import refused
from support.stored_views import KINDS as MODELS

VIEWS = {name: made().view for name, made in MODELS.items()}


def saved(view: mx.View, folder: Path) -> mx.View:
    """The view of a posterior that was saved and loaded."""
    mx.MaxEnt(view).solve().save(folder / "post.parquet")
    return mx.load_posterior(folder / "post.parquet").space.view


def assert_same(one: mx.View, other: mx.View) -> None:
    """The same class, roles, labels with their types, terms and published counts."""
    assert type(one) is type(other)
    assert repr(one) == repr(other)
    assert (one.qi, one.sensitive, one.n_records) == (other.qi, other.sensitive, other.n_records)
    assert list(one.axes) == list(other.axes)
    for role, (columns, index) in one.axes.items():
        assert columns == other.axes[role][0]
        assert same_labels(index, other.axes[role][1])
    for role, codes in one.terms().items():
        np.testing.assert_array_equal(codes, other.terms()[role])
    for by, counts in one.published.items():
        pd.testing.assert_series_equal(counts, other.published[by])
    np.testing.assert_array_equal(one.n_q, other.n_q)
    np.testing.assert_array_equal(one.n_s, other.n_s)


@pytest.mark.parametrize("kind", VIEWS)
def test_every_kind_comes_back(kind, tmp_path):
    """Through its own tables, through text, and through a file."""
    view = VIEWS[kind]
    assert_same(view, type(view).from_frames(view.to_frames()))
    assert_same(view, read_view(view_parts(view)))
    assert_same(view, saved(view, tmp_path))


def test_what_a_release_says_besides_its_tables(tmp_path):
    """Pseudonyms, that QI are generalised, and counterfeits come back; so do columns that are called Count."""
    first, second = mx.datasets.load_patients()
    roles = {"sa": "Disease", "bucket": "Bucket", "id": "Pseudonym"}
    release = mx.Release.from_buckets(first.rename(columns={"Gender": "Count"}), qi="Count", **roles)
    again = saved(release, tmp_path)
    for name in ("names", "q", "bucket"):
        np.testing.assert_array_equal(getattr(again.persons, name), getattr(release.persons, name))
    assert again.persons.id == "Pseudonym"
    bare = mx.Release.from_buckets(second, qi=[], **roles)
    assert_same(bare, saved(bare, tmp_path))
    records = pd.DataFrame({"Age": ["[20, 29]", "*"], "S": ["a", "b"]})
    assert saved(mx.Release.from_generalized(records, qi="Age", sa="S"), tmp_path).generalized
    people = pd.DataFrame({"Q": ["x"], "K": [1]})
    values = pd.DataFrame({"S": ["a", "b"], "K": [1, 1]})
    more = mx.Release.from_tables(people, values, qi="Q", sa="S", bucket="K", counterfeits=True)
    assert saved(more, tmp_path).with_counterfeits.tolist() == [True]


class OwnRelease(mx.Release):
    """As the parent: nothing more to say."""


class OwnTable(mx.QITable):
    """As the parent."""


class Audited(mx.QITable):
    """Holds more than the parent writes."""

    def __init__(self, people: pd.DataFrame, auditor: str = "nobody", **roles: Any) -> None:
        super().__init__(people, **roles)
        self.auditor = auditor


class Signed(Audited):
    """Says how it is written."""

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
    """A subclass that adds nothing is written by its parent's tables, and by its own name; also inside a series."""
    roles = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
    assert type(saved(OwnRelease.from_buckets(hospital, **roles), tmp_path)) is OwnRelease
    assert type(saved(OwnTable(hospital, **TABLE), tmp_path)) is OwnTable
    signed = saved(Signed(hospital, "Iris", **TABLE), tmp_path)
    assert (type(signed), signed.auditor) == (Signed, "Iris")
    series = mx.ReleaseSeries([OwnRelease.from_buckets(hospital, id="Name", **roles)])
    assert type(saved(series, tmp_path).releases[0]) is OwnRelease


@pytest.mark.parametrize("made", [lambda table: Audited(table, "Iris", **TABLE), Strict, lambda t: Stray(t, **TABLE)])
def test_subclasses_that_would_come_back_as_others(hospital, tmp_path, made):
    """One that holds more, cannot be made, or comes back as its parent: refused, and what was there is unchanged."""
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
    """Tables with their types, and whatever JSON holds, inside lists, tuples and dictionaries."""
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
        elif isinstance(held, list):
            assert repr(again) == repr(held)
        else:
            assert again == held


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
    """A class is known by its module and name, or by what it says itself; two cannot have one name."""
    parts = stored(OwnTable(mx.datasets.load_hospital(), **TABLE))
    assert parts["kind"] == f"{__name__}.OwnTable"
    assert [stored(VIEWS[kind])["kind"] for kind in ("release", "table", "series", "generalized")] == [
        "Release", "QITable", "ReleaseSeries", "GroupedRelease",
    ]  # fmt: skip
    for name in ("Release", 3):
        with refused(StatementError):
            type("Other", (mx.View,), {"stored_as": name})
    pinned = type("Pinned", (OwnTable,), {"stored_as": "tests: pinned", "__module__": __name__})
    assert restored({"kind": "tests: pinned", "frames": parts["frames"]}).__class__ is pinned
    again = type("Pinned", (OwnTable,), {"stored_as": "tests: pinned", "__module__": __name__})  # a cell is run again
    assert restored({"kind": "tests: pinned", "frames": parts["frames"]}).__class__ is again
    with refused(TableError):
        stored(pinned(mx.datasets.load_hospital(), **TABLE))


@pytest.mark.parametrize("kind", ["release", "table", "series", "generalized"])
def test_wrong_tables(kind):
    """Tables that are missing, left over, or of another kind are refused, whatever the kind of view."""
    view = VIEWS[kind]
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
    assert_same(view, saved(view, tmp_path))
    model = mx.MaxEnt(view).add(lambda space: space.conditional("S", given="Age") <= 0.9, label="unsure")
    model.save(tmp_path / "model.parquet")
    again = mx.MaxEnt.load(tmp_path / "model.parquet")
    assert again.solve().joint().equals(model.solve().joint())
