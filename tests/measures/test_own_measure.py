"""A measure of one's own, as somebody would write it who has only read the documentation."""

from __future__ import annotations

from functools import partial

import pytest

import maxent_cvx as mx


def most_certain(post):
    """The largest P(s | q) of anybody."""
    return post.conditional().max(axis=None)


def guessed(post, original, threshold=0.5):
    """The share of the records whose value is inferred with at least that probability."""
    p = post.conditional().stack().rename("p").reset_index()
    p.columns = [*original[["Gender", "Degree", "Disease"]], "p"]
    return float((original.merge(p, how="left")["p"] >= threshold - 1e-9).mean())


def by_value(post):
    """P(s) of every value."""
    return post.joint().groupby("Disease", observed=True).sum()


def test_in_quantify(release, hospital):
    """It scores bounds on what is known, alone or beside others, with the original bound where it needs that."""
    bounds = [(0, 0), (2, 2), (4, 8)]
    found = mx.quantify(release, hospital, bounds, min_support=2, measure=most_certain)
    assert found["score"].tolist() == pytest.approx([0.417, 1, 1], abs=1e-3)
    found = mx.quantify(
        release, hospital, bounds, min_support=2, measure=[most_certain, partial(guessed, original=hospital)]
    )
    assert list(found)[2:4] == ["most_certain", "guessed"]
    assert found["guessed"].iloc[0] < found["guessed"].iloc[-1]


def test_in_sweep(release, hospital):
    """It is observed along a sweep."""
    measures = {"most": most_certain, "guessed": partial(guessed, original=hospital, threshold=0.9)}
    found = mx.sweep(mx.MaxEnt(release), "P(Breast Cancer | Gender=male)", value=[0.2, 0.1, 0.0], measure=measures)
    assert found["most"].iloc[-1] == pytest.approx(1)  # Grace, the only junior
    assert found["guessed"].tolist() == pytest.approx([0, 0, 0.1])


def test_in_prices(release, hospital):
    """It tells what a statement is worth in one's own unit."""
    post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) <= 0.5").solve()
    found = post.prices(leave_one_out=True, measure=partial(guessed, original=hospital, threshold=0.9))
    assert found["change"]["P(Breast Cancer | Gender=male) = 0"] == pytest.approx(-0.1)
    assert found["change"]["P(Flu | Gender=male) <= 0.5"] == pytest.approx(0)


def test_several_numbers(release):
    """A Series is a column for each of its labels; what is published does not change."""
    found = mx.sweep(mx.MaxEnt(release), "P(Flu | Gender=male)", value=[0.3, 0.4], measure=by_value)
    assert found["by_value[Flu]"].tolist() == pytest.approx([0.3, 0.3])
    assert found.filter(like="by_value[").sum(axis=1).tolist() == pytest.approx([1, 1])
