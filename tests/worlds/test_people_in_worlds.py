"""What is known of people, by its rows and by possible worlds: the rows are necessary, and not sufficient.

A world says which record is whose, and which record of a bucket has which value; before anything is known all are
equally likely. Who knows something of people keeps the worlds in which it is true. The rows of Privacy-MaxEnt, section
6, hold on the average over these, and so do other distributions; which one maximum entropy takes is another matter.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import Count, P
from support.fig_4 import FIG_4
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


@pytest.fixture
def worlds(hospital: pd.DataFrame) -> pd.DataFrame:
    """All worlds of Fig. 4: 6 ways to be a record, 12 x 6 x 6 ways to deal the diseases."""
    found = of_people(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket", people=FIG_4)
    assert len(found) == 6 * 12 * 6 * 6
    return found


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
