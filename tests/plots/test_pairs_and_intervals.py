"""Dumbbells, intervals and the frontier of releases show the numbers that they are drawn from."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError, UnknownName, plots
from maxent_cvx.plots.risk import _efficient, _steps
from support.helpers import refused
from support.posteriors import made

MEN = {"Gender": "male"}


def rows(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def points(ax) -> list[np.ndarray]:
    return [np.asarray(one.get_offsets())[:, 0] for one in ax.collections if len(one.get_offsets()) > 1]


def test_before_and_after_are_the_two_posteriors(release) -> None:
    """Hollow points are P(s | q) before, filled ones after, the likeliest value after on top."""
    model = mx.MaxEnt(release)
    before, after = model.solve(), model.copy().add("P(Flu | Gender=male) = 0.45").solve()
    ax = plots.before_and_after(before, after, MEN, Figure().subplots(), labels=("release", "rumour"))
    assert rows(ax)[0] == "Flu"
    hollow, filled = points(ax)
    np.testing.assert_allclose(hollow, [before.prob(value, MEN) for value in rows(ax)])
    np.testing.assert_allclose(filled, [after.prob(value, MEN) for value in rows(ax)])
    assert (np.diff(filled) <= 0).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["release", "rumour"]


def test_before_and_after_of_a_named_person(release) -> None:
    """Of a name, it is P(s | i)."""
    model = mx.MaxEnt(release, people={"Allen": {"Gender": "male", "Degree": "college"}})
    before, after = model.solve(), model.copy().add("P(Flu | Allen) = 0").solve()
    ax = plots.before_and_after(before, after, "Allen", Figure().subplots())
    assert ax.get_title() == "P(Disease | Allen)"
    assert points(ax)[1][rows(ax).index("Flu")] == pytest.approx(0, abs=1e-6)
    assert points(ax)[0][rows(ax).index("Flu")] == pytest.approx(before.people().loc["Allen", "Flu"])


def test_a_value_that_one_release_lacks_has_no_probability_there() -> None:
    """Of two releases with other values all are drawn."""
    first, _ = made([[0.25, 0.75]], [4], ["a", "b"])
    second, _ = made([[0.5, 0.5]], [4], ["b", "c"])
    ax = plots.before_and_after(first, second, {"Q": "q0"}, Figure().subplots())
    pairs = dict(zip(rows(ax), zip(*points(ax), strict=True), strict=True))
    assert pairs == {"a": (0.25, 0.0), "b": (0.75, 0.5), "c": (0.0, 0.5)}


def test_those_that_change_most_are_kept() -> None:
    """Of many values the title says how many are shown, those with the largest changes."""
    first, _ = made([[0.1, 0.2, 0.3, 0.4]], [4])
    second, _ = made([[0.4, 0.2, 0.25, 0.15]], [4])
    ax = plots.before_and_after(first, second, {"Q": "q0"}, Figure().subplots(), max_rows=2)
    assert sorted(rows(ax)) == ["s0", "s3"]
    assert "the 2 values of 4 that change most" in ax.get_title()


def test_two_sensitive_attributes_are_drawn_as_combinations() -> None:
    """A row is a combination of values, with its probability."""
    table = pd.DataFrame({"Q": list("aabb"), "S": list("xyxy"), "T": [1, 2, 2, 1], "B": 0})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="Q", sa=["S", "T"], bucket="B")).solve()
    ax = plots.before_and_after(post, post, {"Q": "a"}, Figure().subplots())
    assert sorted(rows(ax)) == ["x, 1", "x, 2", "y, 1", "y, 2"]
    np.testing.assert_allclose(points(ax)[0], 0.25, atol=1e-6)


def test_what_cannot_be_compared_is_refused(release) -> None:
    """Other attributes, nobody of that kind, no two labels."""
    post = mx.MaxEnt(release).solve()
    other, _ = made([[0.5, 0.5]], [4])
    with refused(StatementError, "['S']", "['Disease']"):
        plots.before_and_after(other, post, MEN)
    with refused(UnknownName, "'Gendr'"):
        plots.before_and_after(post, post, {"Gendr": "male"})
    with refused(StatementError, "two texts"):
        plots.before_and_after(post, post, MEN, labels=("one",))


def test_intervals_hold_the_estimates(release) -> None:
    """Lines go from low to high, and each point, P(s | q) of the posterior, is on its line."""
    model = mx.MaxEnt(release)
    bounds, post = model.bounds(), model.solve()
    ax = plots.intervals(bounds, post, Figure().subplots(), max_rows=100)
    drawn = np.array(ax.collections[0].get_segments())[:, :, 0]
    np.testing.assert_allclose(drawn, bounds[["low", "high"]])
    estimate = points(ax)[-1]
    conditional = post.conditional()
    np.testing.assert_allclose(estimate, [conditional.loc[tuple(q), s] for *q, s in bounds.index])
    assert ((estimate >= drawn[:, 0] - 1e-6) & (estimate <= drawn[:, 1] + 1e-6)).all()


def test_intervals_of_what_was_asked(release) -> None:
    """Statements' probabilities are read from their texts; a Series is taken by its labels, not by its order."""
    model = mx.MaxEnt(release)
    asked = ["P(Flu | Gender=male)", "P(HIV) - P(Flu)"]
    bounds, post = model.bounds(asked), model.solve()
    expected = [post.prob("Flu", MEN), post.prob("HIV") - post.prob("Flu")]
    for estimates in (post, pd.Series(expected, index=bounds.index)[::-1]):
        ax = plots.intervals(bounds, estimates, Figure().subplots())
        np.testing.assert_allclose(points(ax)[-1], expected)
        assert ax.get_xlim()[0] < 0  # a difference of probabilities can be negative
    with refused(TableError, "no estimate of"):
        plots.intervals(bounds, pd.Series([0.5], index=[bounds.index[0]]))
    with refused(TableError, "no rows"):
        plots.intervals(bounds.iloc[:0])
    with refused(TableError, "not above"):
        plots.intervals(bounds.rename(columns={"low": "high", "high": "low"}))


def test_the_intervals_with_the_largest_lower_ends_are_kept() -> None:
    """Of many the title says how many are shown."""
    bounds = pd.DataFrame({"low": [0.1, 0.5, 0.3], "high": 1.0}, index=list("abc"))
    ax = plots.intervals(bounds, ax=Figure().subplots(), max_rows=2)
    assert rows(ax) == ["b", "c"]
    assert "2 with the largest lower ends of 3" in ax.get_title()


def test_channels_are_drawn_by_their_change() -> None:
    """The largest change is on top, whichever its direction."""
    table = pd.DataFrame(
        {
            "person": [1, 2, 3],
            "value": ["x", ("y", 1), "z"],
            "release": 1,
            "alone": [0.5, 0.9, 0.2],
            "together": [0.4, 0.1, 0.5],
        }
    )
    ax = plots.inference_channels(table, Figure().subplots())
    assert rows(ax) == ["2: y, 1 (release 1)", "3: z (release 1)", "1: x (release 1)"]
    assert [one.tolist() for one in points(ax)] == [[0.9, 0.2, 0.5], [0.1, 0.5, 0.4]]
    with refused(StatementError, "no inference channel"):
        plots.inference_channels(table.iloc[:0])
    with refused(TableError, "from 0 to 1"):
        plots.inference_channels(table.assign(alone=2.0))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8), st.booleans())
def test_a_release_is_efficient_if_no_other_is_preferable(pairs, loss) -> None:
    """By comparing each with each; and the frontier has all efficient ones as corners, and goes up or down only."""
    risk, use = np.array(pairs, dtype=float).T
    cost = use if loss else -use
    better = [
        any(r <= risk[i] and c <= cost[i] and (r, c) != (risk[i], cost[i]) for r, c in zip(risk, cost, strict=True))
        for i in range(len(risk))
    ]
    efficient = _efficient(risk, cost)
    assert efficient.tolist() == [not one for one in better]
    path = _steps(use[efficient], risk[efficient], loss)
    assert {*zip(use[efficient], risk[efficient], strict=True)} <= {tuple(corner) for corner in path.tolist()}
    assert ((np.diff(path, axis=0) == 0).any(axis=1)).all()
    for x, y in path:  # to no point of the frontier is an efficient release preferable in both
        assert not any((r < y) and (c < (x if loss else -x)) for r, c in zip(risk, cost, strict=True))
        assert any((r <= y) and (c <= (x if loss else -x)) for r, c in zip(risk, cost, strict=True))


def test_releases_that_cannot_be_placed_are_refused() -> None:
    """Without rows, columns or numbers."""
    table = pd.DataFrame({"risk": [0.1, 0.2], "utility": [1.0, np.nan]}, index=["a", "b"])
    with refused(TableError, "'b'"):
        plots.risk_utility(table)
    with refused(TableError, "no column 'exposed'"):
        plots.risk_utility(table, "exposed")
    with refused(TableError, "no release"):
        plots.risk_utility(table.iloc[:0])
    with refused(TableError, "must hold numbers"):
        plots.risk_utility(table.assign(utility="much"))
