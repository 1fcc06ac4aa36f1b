"""What is known of people, by its rows and by possible worlds: the rows are necessary, and not sufficient.

A world says which record is whose, and which record of a bucket has which value; before anything is known all are
equally likely. Who knows something of people keeps the worlds in which it is true. The rows of Privacy-MaxEnt, section
6, hold on the average over these, and so do other distributions; which one maximum entropy takes is another matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import Count, P, SameValue
from support.fig_4 import FIG_4
from support.helpers import refused
from support.worlds import of_people

#: What each kind of knowledge of section 6 says of a world, for Fig. 4.
KINDS: dict[str, tuple[mx.Statement, Callable[[pd.DataFrame], pd.Series]]] = {
    "(2)": (
        P(["Breast Cancer", "HIV"], who="Alice") == 1,
        lambda worlds: worlds["Alice"].isin(["Breast Cancer", "HIV"]),
    ),
    "(3)": (Count("HIV", who=list(FIG_4)) == 2, lambda worlds: (worlds == "HIV").sum(axis=1) == 2),
    "(3), at least": (Count("HIV", who=list(FIG_4)) >= 2, lambda worlds: (worlds == "HIV").sum(axis=1) >= 2),
}


def in_worlds(worlds: pd.DataFrame) -> pd.DataFrame:
    """P(value | person), all of these worlds being equally likely."""
    return worlds.apply(lambda has: has.value_counts(normalize=True)).fillna(0.0).T


def published(buckets: Mapping[int, str]) -> pd.DataFrame:
    """Records, each with a quasi-identifier of its own; Alice is the first of bucket 1, Bob the first of bucket 2."""
    records = [(value, bucket) for bucket, values in buckets.items() for value in values]
    table = pd.DataFrame(records, columns=["S", "B"])
    first = table.drop_duplicates("B").index
    return table.assign(Q=[f"q{n}" for n in table.index]).rename(index=dict(zip(first, ["Alice", "Bob"], strict=False)))


def model_of(table: pd.DataFrame, *names: str) -> mx.MaxEnt:
    """The model of a table, in which some are known by name."""
    release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")
    return mx.MaxEnt(release, people=table.loc[list(names), ["Q"]])


@pytest.fixture
def worlds(hospital: pd.DataFrame) -> pd.DataFrame:
    """All worlds of Fig. 4: 6 ways to be a record, 12 x 6 x 6 ways to deal the diseases."""
    found = of_people(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket", people=FIG_4)
    assert len(found) == 6 * 12 * 6 * 6
    return found


def test_a_name_alone(release, worlds):
    """Before anything is known, maximum entropy and worlds agree: Eq. (9)."""
    post = mx.MaxEnt(release, people=FIG_4).solve().people()
    np.testing.assert_allclose(post, in_worlds(worlds).reindex(index=post.index, columns=post.columns), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_necessary(release, worlds, kind):
    """What the worlds say satisfies the rows: it lies within their bounds."""
    statement, true = KINDS[kind]
    said = in_worlds(worlds[true(worlds)])
    model = mx.MaxEnt(release, people=FIG_4).add(statement)
    asked = [P(value, who=name) for name in said.index for value in said.columns]
    bounds = model.bounds(asked, progress=False)
    assert (bounds["low"].to_numpy() - 1e-6 <= said.to_numpy().ravel()).all()
    assert (said.to_numpy().ravel() <= bounds["high"].to_numpy() + 1e-6).all()


@pytest.mark.parametrize(
    ("kind", "who", "value", "exactly", "by_rows"),
    [
        ("(2)", "Alice", "Breast Cancer", 5 / 7, 0.731),
        ("(2)", "Alice", "HIV", 2 / 7, 0.269),
        ("(3)", "Bob", "HIV", 1 / 3, 0.382),
        ("(3)", "Charlie", "HIV", 2 / 3, 0.618),
        ("(3), at least", "Bob", "HIV", 1 / 3, 0.382),
        ("(3), at least", "Charlie", "HIV", 2 / 3, 0.618),
    ],
)
def test_fig_4(release, worlds, kind, who, value, exactly, by_rows):
    """An erratum of section 6: the constraints that it lists do not give what the knowledge says of Fig. 4."""
    statement, true = KINDS[kind]
    assert in_worlds(worlds[true(worlds)]).loc[who, value] == pytest.approx(exactly)
    people = mx.MaxEnt(release, people=FIG_4).add(statement).solve().people()
    assert people.loc[who, value] == pytest.approx(by_rows, abs=5e-4)


@pytest.mark.parametrize(("three", "six"), [("xyz", "xuvwyz"), ("xyy", "xyyyyy")])
def test_one_of_two(three, six):
    """Alice, of a bucket of three with one x, or Bob, of one of six, has it, not both: 5/7 and 2/7, not .585 and .415.

    Count(...) == 1 fixes the mean only. The worlds that have this mean, and most entropy, would say .613 and .387; the
    rest of the difference is that the model's entropy is that of P(q, s, b), not that of the worlds.
    """
    table = published({1: three, 2: six})
    worlds = of_people(
        table, qi=["Q"], sa="S", bucket="B", people={n: {"Q": table.loc[n, "Q"]} for n in ("Alice", "Bob")}
    )
    n_x = (worlds == "x").sum(axis=1)
    assert in_worlds(worlds[n_x == 1])["x"].tolist() == pytest.approx([5 / 7, 2 / 7])
    odds = np.sqrt(10.0) ** n_x  # exp(m n_x) with the m at which the mean is 1
    assert np.average(n_x, weights=odds) == pytest.approx(1)
    of_the_mean = [np.average(worlds[name] == "x", weights=odds) for name in ("Alice", "Bob")]
    assert of_the_mean == pytest.approx([0.6126, 0.3874], abs=5e-5)
    model = model_of(table, "Alice", "Bob").add(Count("x", who=["Alice", "Bob"]) == 1)
    assert model.solve().people()["x"].tolist() == pytest.approx([0.5846, 0.4154], abs=5e-5)


def test_a_certainty_passes_on():
    """The mean does tell the model something of the other: if Alice has x for certain, Bob has not."""
    model = model_of(published({1: "xyz", 2: "xuvwyz"}), "Alice", "Bob").add(Count("x", who=["Alice", "Bob"]) == 1)
    assert model.bounds("P(x | Alice)") == pytest.approx((0, 1), abs=1e-6)
    assert model.add("P(x | Alice) = 1").solve().prob("x", who="Bob") == pytest.approx(0, abs=1e-6)


def test_the_same_where_it_cannot_be():
    """A bucket of two with two values: no world has Alice and Bob alike, and the rows take it for certain."""
    table = published({1: "xy"}).set_axis(["Alice", "Bob"])
    worlds = of_people(table, qi=["Q"], sa="S", bucket="B", people={n: {"Q": table.loc[n, "Q"]} for n in table.index})
    assert not (worlds["Alice"] == worlds["Bob"]).any()
    model = model_of(table, "Alice", "Bob").add(SameValue("Alice", "Bob", at_least=1))
    np.testing.assert_allclose(model.solve().people(), 0.5, atol=1e-9)
    with refused(mx.Infeasible, "no whole assignment"):
        model.bounds("P(x | Alice)", integer=True)


def test_the_same_for_certain():
    """Alice of {x, y} and Bob of {x, y, y} are alike: worlds say 1/3 for x, the rows .425."""
    table = published({1: "xy", 2: "xyy"})
    worlds = of_people(
        table, qi=["Q"], sa="S", bucket="B", people={n: {"Q": table.loc[n, "Q"]} for n in ("Alice", "Bob")}
    )
    said = in_worlds(worlds[worlds["Alice"] == worlds["Bob"]])
    assert said["x"].tolist() == pytest.approx([1 / 3, 1 / 3])
    people = model_of(table, "Alice", "Bob").add(SameValue("Alice", "Bob", at_least=1)).solve().people()
    assert people["x"].tolist() == pytest.approx([0.425, 0.425], abs=5e-4)
