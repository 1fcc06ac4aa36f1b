"""Each plot shows the numbers that it is given."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import maxent_cvx as mx
from maxent_cvx import StatementError, TableError, UnknownName, plots
from maxent_cvx._utils.tables import undominated
from support.posteriors import chosen, posterior_with

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _figures():
    """End without figures."""
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
    """The heat map shows P(s | q) from 0 to 1, with one row per QI tuple and one column per value."""
    ax = plots.posterior(post)
    assert ax.get_title() == "P(Disease | Gender, Degree)"
    assert labels(ax.xaxis) == ["Breast Cancer", "Flu", "HIV", "Lung Cancer", "Pneumonia"]
    assert labels(ax.yaxis)[:2] == ["female, college", "female, graduate"]
    image = ax.images[0]
    assert np.allclose(image.get_array(), post.conditional().to_numpy())
    assert image.get_clim() == (0, 1)
    assert len(ax.texts) == 6 * 5
    assert ax.texts[0].get_text() in {".12", ".13"}  # P*(Breast Cancer | female, college) = 1/8
    assert [child.get_ylabel() for child in ax.child_axes] == ["probability"]


def test_most_exposed_rows():
    """Of too many tuples the most exposed are drawn, the surest first, and the title says how many of how many."""
    post, _ = posterior_with([[0.5, 0.5], [0.9, 0.1], [0.3, 0.7], [0, 1]], [4, 4, 4, 4])
    ax = plots.posterior(post, max_rows=3)
    assert labels(ax.yaxis) == ["q3", "q1", "q2"]
    assert np.allclose(ax.images[0].get_array(), [[0, 1], [0.9, 0.1], [0.3, 0.7]])
    assert "the 3 most exposed of 4" in ax.get_title()
    assert "exposed" not in plots.posterior(post, max_rows=4).get_title()


def test_quantification():
    """One line per kind of knowledge shows the scores against K = K+ + K- (Fig. 5)."""
    ax = plots.quantification({"K+": curve([3, 2, 1]), "K-": curve([3, 1, 0])})
    assert [line.get_xdata().tolist() for line in ax.lines] == [[0, 3, 6]] * 2
    assert [line.get_ydata().tolist() for line in ax.lines] == [[3, 2, 1], [3, 1, 0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["K+", "K-"]
    assert "K = K+ + K-" in ax.get_xlabel()
    assert "bits" in ax.get_ylabel()


def test_prices(release):
    """One bar per statement, the largest price on top; infinite prices and prices left out are mentioned."""
    model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) = 0.4", "P(HIV) <= 0.9")
    table = model.solve().prices()
    ax = plots.prices(table)
    assert labels(ax.yaxis) == list(table.index)
    assert [text.get_text() for text in ax.texts] == ["no limit: forces zeros"]
    assert sum(bar.get_width() > 0 for bar in ax.patches) == 2
    assert "the 1 largest prices of 3" in plots.prices(table, max_rows=1).get_title()


def test_sweep(release):
    """There is one line per value against eps, or one per eps against the value, whichever has more points."""
    probability = mx.P("HIV", given={"Gender": "male"})
    table = mx.sweep(mx.MaxEnt(release), probability, value=[0.1, 0.2], eps=[0, 0.05, 0.1])
    ax = plots.sweep(table, "entropy")
    assert [line.get_label() for line in ax.lines] == ["value = 0.1", "value = 0.2"]
    assert list(ax.lines[0].get_ydata()) == table["entropy"][:3].tolist()
    assert ax.get_ylabel() == "entropy, nats"
    other = plots.sweep(mx.sweep(mx.MaxEnt(release), probability, value=[0.1, 0.2, 0.3, 0.9]))
    assert other.get_xlabel() == "the value that is known"


def height(line, x: float) -> float:
    """The height of a line of steps, which fall just after x."""
    steps, heights = (np.asarray(side, dtype=float) for side in line.get_data())
    return float(heights[np.searchsorted(steps, x, side="left")])


@given(chosen(), st.sampled_from([None, "overall"]), st.booleans())
def test_exposure(drawn, baseline, some) -> None:
    """The height of the curve at each threshold is the number of exposed people, with and without a baseline."""
    post, _ = posterior_with(*drawn)
    sensitive = ["s1"] if some else None
    ax = plots.exposure(post, Figure().subplots(), sensitive=sensitive, baseline=baseline)
    overall = post.space.view.n_s / post.space.view.n_records
    between = np.linspace(0, 1, 6)
    for t in {*post.conditional().to_numpy().ravel().round(12), *overall.round(12), *between}:
        for line, of_line in zip(ax.get_lines(), (baseline, None), strict=False):
            exposure = mx.measures.exposed(post, min(t, 1), sensitive=sensitive, baseline=of_line)
            assert height(line, min(t, 1)) == exposure.people


def test_likeliest_values() -> None:
    """The line shows the share of records whose likeliest value has at least each probability."""
    table = pd.DataFrame({"x": [0.9, 0.5, 0.3], "y": [0.1, 0.5, 0.7]})
    ax = plots.likeliest_values({"a": table}, pd.Series([1, 2, 5]), Figure().subplots())
    for t in (0.2, 0.5, 0.6, 0.7, 0.8, 0.9):
        expected = np.array([1, 2, 5])[table.max(axis=1) >= t].sum() / 8
        assert height(ax.get_lines()[0], t) == pytest.approx(expected)


MEN = {"Gender": "male"}


def points(ax) -> list[np.ndarray]:
    offsets = (np.asarray(collection.get_offsets()) for collection in ax.collections)
    return [places[:, 0] for places in offsets if len(places) > 1]


def test_before_and_after_are_the_two_posteriors(release) -> None:
    """Hollow points are P(s | q) before, filled ones after, the likeliest value after on top."""
    model = mx.MaxEnt(release)
    before, after = model.solve(), model.copy().add("P(Flu | Gender=male) = 0.45").solve()
    ax = plots.before_and_after(before, after, MEN, Figure().subplots(), labels=("_release", "rumour"))
    assert labels(ax.yaxis)[0] == "Flu"
    hollow, filled = points(ax)
    np.testing.assert_allclose(hollow, [before.prob(value, MEN) for value in labels(ax.yaxis)])
    np.testing.assert_allclose(filled, [after.prob(value, MEN) for value in labels(ax.yaxis)])
    assert (np.diff(filled) <= 0).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["\u200b_release", "rumour"]


def test_a_value_that_one_release_lacks_has_no_probability_there() -> None:
    """The values of both releases are drawn."""
    first, _ = posterior_with([[0.25, 0.75]], [4], ["a", "b"])
    second, _ = posterior_with([[0.5, 0.5]], [4], ["b", "c"])
    ax = plots.before_and_after(first, second, {"Q": "q0"}, Figure().subplots())
    pairs = dict(zip(labels(ax.yaxis), zip(*points(ax), strict=True), strict=True))
    assert pairs == {"a": (0.25, 0.0), "b": (0.75, 0.5), "c": (0.0, 0.5)}


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


def test_intervals_of_expressions(release) -> None:
    """Estimates are computed from the texts of expressions; a Series is taken by its labels, not by its order."""
    model = mx.MaxEnt(release)
    bounds, post = model.bounds(["P(Flu | Gender=male)", "P(HIV) - P(Flu)"]), model.solve()
    expected = [post.prob("Flu", MEN), post.prob("HIV") - post.prob("Flu")]
    for estimates in (post, pd.Series(expected, index=bounds.index)[::-1]):
        ax = plots.intervals(bounds, estimates, Figure().subplots())
        np.testing.assert_allclose(points(ax)[-1], expected)
        assert ax.get_xlim()[0] < 0  # a difference of probabilities can be negative


def test_channels_are_drawn_by_their_change() -> None:
    """The largest change is on top, whichever its direction."""
    table = pd.DataFrame({"person": [1, 2, 3], "value": ["x", ("y", 1), "z"], "release": 1})
    table = table.assign(alone=[0.5, 0.9, 0.2], together=[0.4, 0.1, 0.5])
    ax = plots.inference_channels(table, Figure().subplots())
    assert labels(ax.yaxis) == ["2: y, 1 (release 1)", "3: z (release 1)", "1: x (release 1)"]
    assert [p.tolist() for p in points(ax)] == [[0.9, 0.2, 0.5], [0.1, 0.5, 0.4]]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8), st.booleans())
def test_a_release_is_efficient_if_no_other_is_preferable(pairs, loss) -> None:
    """The frontier has all efficient releases as corners, and each of its steps is horizontal or vertical."""
    risk, use = np.array(pairs, dtype=float).T
    cost = use if loss else -use
    better = [
        any(r <= risk[i] and c <= cost[i] and (r, c) != (risk[i], cost[i]) for r, c in zip(risk, cost, strict=True))
        for i in range(len(risk))
    ]
    efficient = undominated(np.column_stack([risk, cost]))
    assert efficient.tolist() == [not is_worse for is_worse in better]
    table = pd.DataFrame({"risk": risk, "use": use})
    frontier = plots.risk_utility(table, "risk", "use", ax=Figure().subplots(), loss=loss).lines
    steps = [mpl.cbook.STEP_LOOKUP_MAP[line.get_drawstyle()](*line.get_data()).T for line in frontier]
    path = np.vstack(steps) if steps else np.unique(np.column_stack([use, risk])[efficient], axis=0)
    assert len(steps) == (len(path) > 1)
    assert {*zip(use[efficient], risk[efficient], strict=True)} <= {tuple(corner) for corner in path.tolist()}
    assert ((np.diff(path, axis=0) == 0).any(axis=1)).all()
    for x, y in path:  # to no point of the frontier is an efficient release preferable in both
        assert not any((r < y) and (c < (x if loss else -x)) for r, c in zip(risk, cost, strict=True))
        assert any((r <= y) and (c <= (x if loss else -x)) for r, c in zip(risk, cost, strict=True))


def test_long_names_that_differ_in_the_middle_look_different() -> None:
    """Names are shortened in the middle, but not where only that distinguishes two of them."""
    rows = pd.MultiIndex.from_product([[f"{'q' * 40}{i}" for i in range(3)], ["s" * 40, "t" * 40]])
    bounds = pd.DataFrame({"low": 0.1, "high": 0.2}, index=rows)
    names = labels(plots.intervals(bounds, ax=Figure().subplots()).yaxis)
    assert len(set(names)) == len(rows)
    alone = labels(plots.intervals(bounds[::6], ax=Figure().subplots()).yaxis)[0]
    assert len(alone) < len(names[0]) < len(", ".join(rows[0]))


def test_days_have_no_time() -> None:
    """A day is written as in statements."""
    bounds = pd.DataFrame(
        {"low": 0.1, "high": 0.2}, index=pd.MultiIndex.from_arrays([pd.to_datetime(["2024-01-05"]), ["A"]])
    )
    assert labels(plots.intervals(bounds, ax=Figure().subplots()).yaxis) == ["2024-01-05, A"]


TABLE = pd.DataFrame(
    {
        "group": ["x"] * 3 + ["y"] * 3,
        "threshold": [np.inf, 0.7, 0.2] * 2,
        "false_positive": [0.0, 0.25, 1.0] * 2,
        "true_positive": [0.0, 0.5, 1.0, 0.0, 1.0, 1.0],
    }
)


def test_lines_are_the_rates_and_legends_the_areas() -> None:
    """Trapezoids by hand: 1/16 + 9/16, and 1/8 + 3/4; lines differ in style and in marker."""
    ax = plots.roc(TABLE, Figure().subplots())
    first, second, chance = ax.get_lines()
    assert first.get_xydata().tolist() == [[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]]
    assert first.get_label() == f"x (area {0.0625 + 0.5625:.2f})"
    assert second.get_label() == f"y (area {0.125 + 0.75:.2f})"
    assert chance.get_label() == "by chance"
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()


def test_lines_are_the_tables_by_k() -> None:
    """Points are in the order of k, no two of twenty lines have the same marker and style, and all are in the legend."""
    tables = {f"_release {i}": pd.DataFrame({"k": [2, 0, 1], "disclosure": [1, i / 20, 0.98]}) for i in range(20)}
    ax = plots.worst_case(tables, Figure().subplots())
    lines = ax.get_lines()
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 20
    for i, line in enumerate(lines):
        np.testing.assert_array_equal(line.get_xydata(), [[0, i / 20], [1, 0.98], [2, 1]])
    assert [text.get_text() for text in ax.get_legend().texts] == [f"\u200b{name}" for name in tables]
    assert plots.worst_case(tables["_release 3"], Figure().subplots()).get_legend() is None


def test_uncertain_knowledge_is_the_probability_of_so_many_or_more(release) -> None:
    result = mx.uncertain(mx.MaxEnt(release), {"P(Breast Cancer | Gender=male) = 0": 0.1}, progress=False)
    line, mean = plots.uncertain_knowledge(result, Figure().subplots()).get_lines()
    np.testing.assert_allclose(line.get_ydata(), [1, 1, 0.1, 0])
    assert mean.get_xdata()[0] == pytest.approx(0.1)


def test_titles_mention_values_that_are_not_finite() -> None:
    """Infinite and missing values have no place on the axes; the title counts them."""
    steps = pd.DataFrame({"K+": [0, 1, 2], "K-": 0, "score": [1.0, np.inf, np.inf]})
    ax = plots.quantification({"both kinds": steps, "one kind": steps.head(2)}, Figure().subplots())
    assert "3 infinite values" in ax.get_title()
    assert "missing" not in ax.get_title()
    assert not plots.quantification({"finite": steps.head(1)}, Figure().subplots()).get_title()
    table = pd.DataFrame({"value": [0.1, 0.2, 0.3], "eps": 0.0, "probability": [np.nan, 0.2, np.inf]})
    title = plots.sweep(table, ax=Figure().subplots()).get_title()
    assert "1 infinite value" in title
    assert "1 missing value" in title


@pytest.mark.parametrize("others", [[np.inf], [-np.inf], [np.nan], [-np.inf, np.inf, np.nan]])
@pytest.mark.parametrize("finite", [[1.0, 2.0], []])
def test_a_measure_without_a_finite_value_is_mentioned(release, finite, others) -> None:
    """Each point of the curve is P(measure >= v), also if the measure may be infinite or missing."""
    result = mx.uncertain(mx.MaxEnt(release), {"P(Breast Cancer | Gender=male) = 0": 0.1}, progress=False)
    index = pd.Index(sorted([*finite, *others], key=lambda v: (np.isnan(v), v)), name="divergence")
    distribution = pd.Series(1 / len(index), index)
    ax = plots.uncertain_knowledge(replace(result, distribution=distribution, expected=np.nan), Figure().subplots())
    for v, p in ax.get_lines()[0].get_xydata():
        assert p == pytest.approx(distribution[distribution.index >= v].sum())
    assert f"{len(others) / len(index):.3g}" in ax.get_title()


def test_values_of_a_heat_map(release):
    """Chosen values are drawn in the order given; True and False are labels, and a text is one value."""
    table = pd.DataFrame({"Q": list("xxyy"), "S": [False, True, True, True], "B": [1, 1, 2, 2]})
    of_truth = mx.MaxEnt(mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")).solve()
    of_hospital = mx.MaxEnt(release).solve()
    for post, sensitive, drawn in (
        (of_truth, [True, False], ["True", "False"]),
        (of_truth, True, ["True"]),
        (of_hospital, "Flu", ["Flu"]),
    ):
        assert labels(plots.posterior(post, ax=Figure().subplots(), sensitive=sensitive).xaxis) == drawn


LINE = pd.DataFrame({"k": [0, 1], "disclosure": [0.5, 1.0]})
CHANNELS = pd.DataFrame({"person": [1], "value": "x", "release": 1, "alone": [0.5], "together": [0.4]})
BOUNDS = pd.DataFrame({"low": [0.1, 0.2], "high": [0.5, 0.6]}, index=["P(a)", "P(b)"])
RISKS = pd.DataFrame({"risk": [0.1, 0.2], "utility": [1.0, np.nan]}, index=["a", "b"])


@pytest.mark.parametrize(
    ("error", "draw"),
    [
        (StatementError, lambda post: plots.quantification({})),
        *((StatementError, lambda post, given=given: plots.exposure(given)) for given in ({}, None, [])),
        *((StatementError, lambda post, given=given: plots.worst_case(given)) for given in ({}, None, [LINE])),
        (StatementError, lambda post: plots.prices(post.prices())),
        (StatementError, lambda post: plots.uncertain_knowledge(LINE)),
        (StatementError, lambda post: plots.before_and_after(posterior_with([[0.5, 0.5]], [4])[0], post, MEN)),
        (UnknownName, lambda post: plots.before_and_after(post, post, {"Gendr": "male"})),
        (StatementError, lambda post: plots.before_and_after(post, post, MEN, labels=("one",))),
        (TableError, lambda post: plots.intervals(BOUNDS, pd.Series([0.5], index=["P(a)"]))),
        (TableError, lambda post: plots.intervals(BOUNDS.iloc[:0])),
        (TableError, lambda post: plots.intervals(BOUNDS.rename(columns={"low": "high", "high": "low"}))),
        (StatementError, lambda post: plots.inference_channels(CHANNELS.iloc[:0])),
        (TableError, lambda post: plots.inference_channels(CHANNELS.assign(alone=2.0))),
        (TableError, lambda post: plots.risk_utility(RISKS)),
        (TableError, lambda post: plots.risk_utility(RISKS, "exposed")),
        (TableError, lambda post: plots.risk_utility(RISKS.iloc[:0])),
        (TableError, lambda post: plots.risk_utility(RISKS.assign(utility="much"))),
        (TableError, lambda post: plots.roc(TABLE.iloc[:0])),
        (TableError, lambda post: plots.roc(TABLE.assign(true_positive="much"))),
        (TableError, lambda post: plots.roc(TABLE.assign(false_positive=1.5))),
        (TableError, lambda post: plots.worst_case({"a": LINE[["disclosure"]]})),
        (TableError, lambda post: plots.worst_case({"a": LINE.iloc[:0]})),
        (TableError, lambda post: plots.worst_case({"a": LINE.assign(disclosure=np.nan)})),
        (TableError, lambda post: plots.worst_case({"a": LINE.assign(k="two")})),
        (UnknownName, lambda post: plots.sweep(pd.DataFrame({"value": [0.1], "eps": 0.0, "entropy": 1.0}), "entrpy")),
    ],
)
def test_wrong_arguments(post, error, draw):
    """Empty tables and tables of another kind are refused."""
    with pytest.raises(error):
        draw(post)
