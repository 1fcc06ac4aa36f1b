"""The curve of exposure is what measures.exposed counts, at every threshold."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import maxent_cvx as mx
from maxent_cvx import StatementError
from support.helpers import refused
from support.posteriors import chosen, made


def counted(line, threshold: float) -> float:
    """The people at a threshold, read off the steps."""
    at, people = (np.asarray(side, dtype=float) for side in line.get_data())
    return float(people[np.searchsorted(at, threshold, side="left")])


@settings(max_examples=40, deadline=None)
@given(chosen(), st.sampled_from([None, "overall"]), st.booleans())
def test_the_curve_is_what_is_counted_at_each_threshold(drawn, baseline, some) -> None:
    """On steps, between them and at the ends; for all values and for one; with and without a baseline."""
    post, _ = made(*drawn)
    sensitive = ["s1"] if some else None
    ax = mx.plots.exposure(post, Figure().subplots(), sensitive=sensitive, baseline=baseline)
    overall = post.space.view.n_s / post.space.view.n_records
    between = np.linspace(0, 1, 14)
    for t in {*post.conditional().to_numpy().ravel().round(12), *overall.round(12), *between}:
        for line, other in zip(ax.get_lines(), (baseline, None), strict=False):
            found = mx.measures.exposed(post, min(t, 1), sensitive=sensitive, baseline=other)
            assert counted(line, min(t, 1)) == found.people


def test_lines_are_of_whom_they_are_called(release) -> None:
    """Without names or baseline one line needs no legend; with a baseline there are two; of several one each."""
    post = mx.MaxEnt(release).solve()
    assert mx.plots.exposure(post, Figure().subplots()).get_legend() is None
    names = lambda ax: [text.get_text() for text in ax.get_legend().get_texts()]  # noqa: E731
    alone = mx.plots.exposure(post, Figure().subplots(), baseline="overall")
    assert names(alone) == ["above the baseline", "without a baseline"]
    assert names(mx.plots.exposure({"a": post, "b": post}, Figure().subplots(), baseline="overall")) == ["a", "b"]


@pytest.mark.parametrize("nothing", [{}, None, []])
def test_nothing_to_draw(nothing) -> None:
    """Without a posterior there is no line."""
    with refused(StatementError, "no line to draw"):
        mx.plots.exposure(nothing)
