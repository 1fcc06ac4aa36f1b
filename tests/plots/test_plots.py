"""Plots: each returns its Axes, takes others, says what it shows, and leaves no figure behind."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import maxent_cvx as mx
from maxent_cvx import StatementError, plots
from support.helpers import refused
from support.posteriors import made

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _figures():
    """Start and end without figures."""
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def post(release) -> mx.Posterior:
    return mx.MaxEnt(release).solve()


def curve(scores: list[float]) -> pd.DataFrame:
    """A table as quantify makes them."""
    return pd.DataFrame({"K+": range(len(scores)), "K-": [2 * k for k in range(len(scores))], "score": scores})


def labels(axis) -> list[str]:
    return [tick.get_text() for tick in axis.get_ticklabels()]


def test_posterior(post):
    """A heat map of P(s | q) from 0 to 1: a row a QI tuple, a column a value, and the title says whose."""
    ax = plots.posterior(post)
    assert isinstance(ax, Axes)
    assert ax.get_title() == "P(Disease | Gender, Degree)"
    assert labels(ax.xaxis) == ["Breast Cancer", "Flu", "HIV", "Lung Cancer", "Pneumonia"]
    assert labels(ax.yaxis)[:2] == ["female, college", "female, graduate"]
    image = ax.images[0]
    assert np.allclose(image.get_array(), post.conditional().to_numpy())
    assert image.get_clim() == (0, 1)
    assert len(ax.texts) == 6 * 5
    assert ax.texts[0].get_text() in {".12", ".13"}  # P*(Breast Cancer | female, college) = 1/8
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["probability"]


def test_posterior_of_one_attribute(hospital):
    """With one quasi-identifier its values label the rows."""
    release = mx.Release.from_buckets(hospital, qi="Gender", sa="Disease", bucket="Bucket")
    ax = plots.posterior(mx.MaxEnt(release).solve())
    assert labels(ax.yaxis) == ["female", "male"]
    assert ax.get_title() == "P(Disease | Gender)"


@pytest.mark.parametrize("values", [["a", "b"], [True, False], [1, 2], [0.5, 1.5]], ids=str)
@pytest.mark.parametrize("max_rows", [1, 2])
def test_rows_of_any_type(values, max_rows):
    """Rows are chosen by position, whatever their labels are."""
    frame = pd.DataFrame({"Q": values * 2, "S": list("xyzz"), "K": [1, 2, 1, 2]})
    post = mx.MaxEnt(mx.Release.from_buckets(frame, qi="Q", sa="S", bucket="K")).solve()
    assert len(labels(plots.posterior(post, max_rows=max_rows).yaxis)) == max_rows


def test_most_exposed_rows():
    """With too many tuples the most exposed are drawn, the surest first, and the title says how many of how many."""
    post, _ = made([[0.5, 0.5], [0.9, 0.1], [0.3, 0.7], [0, 1]], [4, 4, 4, 4])
    ax = plots.posterior(post, max_rows=3)
    assert labels(ax.yaxis) == ["q3", "q1", "q2"]
    assert np.allclose(ax.images[0].get_array(), [[0, 1], [0.9, 0.1], [0.3, 0.7]])
    assert "the 3 most exposed of 4" in ax.get_title()
    assert "exposed" not in plots.posterior(post, max_rows=4).get_title()


def test_quantification():
    """Scores against K = K+ + K-, a line a kind of knowledge, with axis labels and a legend (Fig. 5)."""
    ax = plots.quantification({"K+": curve([3, 2, 1]), "K-": curve([3, 1, 0])})
    assert isinstance(ax, Axes)
    assert [line.get_xdata().tolist() for line in ax.lines] == [[0, 3, 6]] * 2
    assert [line.get_ydata().tolist() for line in ax.lines] == [[3, 2, 1], [3, 1, 0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["K+", "K-"]
    assert "K = K+ + K-" in ax.get_xlabel()
    assert "bits" in ax.get_ylabel()


@pytest.mark.parametrize(("base", "unit"), [(2, "bits"), (np.e, "nats"), (10, "10")])
def test_unit(base, unit):
    """The label names the unit of the logarithm that the score was taken with."""
    label = plots.quantification({"K+": curve([1, 0])}, base=base).get_ylabel()
    assert unit in label
    assert [name for name in ("bits", "nats") if name in label] == [unit] * (unit in ("bits", "nats"))


def test_many_curves():
    """However many curves there are, all are drawn."""
    ax = plots.quantification({f"T = {t}": curve([t, 0]) for t in range(1, 12)})
    assert len(ax.lines) == 11


def test_nothing_to_draw():
    """No curve is no plot."""
    with refused(StatementError, "no curve", "quantify"):
        plots.quantification({})


def test_of_quantify(hospital, release):
    """What quantify returns can be drawn as it is."""
    table = mx.quantify(release, hospital, [(0, 0), (1, 1), (2, 2)], min_support=1)
    ax = plots.quantification({"both": table})
    assert ax.lines[0].get_xdata().tolist() == [0, 2, 4]
    assert ax.lines[0].get_ydata().tolist() == table["score"].tolist()


def test_own_axes(post):
    """With ax= nothing else is drawn on, and no figure is made."""
    figure, (left, right) = plt.subplots(1, 2)
    assert plots.posterior(post, ax=left) is left
    assert plots.quantification({"K+": curve([1, 0])}, ax=right) is right
    assert plt.get_fignums() == [figure.number]
    assert right.get_title() == ""
    assert not right.images


def test_figures(post, tmp_path):
    """Without ax= each plot makes one figure, the caller's to save and to close."""
    for n, ax in enumerate((plots.posterior(post), plots.quantification({"K+": curve([1, 0])})), start=1):
        assert len(plt.get_fignums()) == 2
        ax.figure.savefig(tmp_path / f"{n}.png")
        assert (tmp_path / f"{n}.png").read_bytes().startswith(b"\x89PNG")
    for number in plt.get_fignums():
        plt.close(number)
    assert plt.get_fignums() == []


def test_prices(release):
    """A bar a statement, the dearest on top; what has no limit says so, and how many do not fit is said."""
    model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) = 0.4", "P(HIV) <= 0.9")
    table = model.solve().prices()
    ax = mx.plots.prices(table)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(table.index)
    assert [text.get_text() for text in ax.texts] == ["no limit: forces zeros"]
    assert sum(bar.get_width() > 0 for bar in ax.patches) == 2
    assert "the 1 dearest of 3" in mx.plots.prices(table, max_rows=1).get_title()
    with refused(mx.StatementError, "no price to draw"):
        mx.plots.prices(mx.MaxEnt(release).solve().prices())


def test_sweep(release):
    """A line a value against eps, or a line an eps against the value, whichever there are more of."""
    asked = mx.P("HIV", given={"Gender": "male"})
    table = mx.sweep(mx.MaxEnt(release), asked, value=[0.1, 0.2], eps=[0, 0.05, 0.1])
    ax = mx.plots.sweep(table, "entropy")
    assert [line.get_label() for line in ax.lines] == ["value = 0.1", "value = 0.2"]
    assert list(ax.lines[0].get_ydata()) == table["entropy"][:3].tolist()
    assert ax.get_ylabel() == "entropy, nats"
    other = mx.plots.sweep(mx.sweep(mx.MaxEnt(release), asked, value=[0.1, 0.2, 0.3, 0.9]))
    assert other.get_xlabel() == "the value that is known"
    with refused(mx.UnknownName, "'entrpy'", "did you mean 'entropy'?"):
        mx.plots.sweep(table, "entrpy")
