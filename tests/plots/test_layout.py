"""Every public plot, of few things and many, with long names: all text is there, apart, and off the data."""

from __future__ import annotations

import itertools
from functools import partial

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text

import maxent_cvx as mx
from maxent_cvx import plots
from maxent_cvx.plots._style import COLOURS
from support.posteriors import posterior_with

mpl.use("Agg")

# -- what is drawn -----------------------------------------------------------------------------------


#: A name that is longer than any picture is wide, with what Matplotlib would take for a formula.
LONG = "whoever lives in the third district and was born before the year 1950, or has paid $5_ or $6^ since then"


def _names(kind: str, n: int) -> list[str]:
    """Names of n things, short or long."""
    return [f"{LONG} ({i})" if kind == "long" else f"{kind} {i}" for i in range(n)]


def _posterior(rows: int, values: int) -> mx.Posterior:
    """A posterior of so many QI tuples and sensitive values."""
    p = np.random.default_rng(1).dirichlet(np.ones(values), rows)
    return posterior_with(p.tolist(), [max(4, values)] * rows)[0]


def _posterior_with_long_names(rows: int = 3, values: int = 2) -> mx.Posterior:
    people = [*itertools.product(_names("long", rows), _names("long", values))] * 2
    qi, sa = "a quasi-identifier with a rather long name", "a sensitive attribute with a rather long name"
    table = pd.DataFrame(people, columns=[qi, sa]).assign(B=0)
    return mx.MaxEnt(mx.Release.from_buckets(table, qi=qi, sa=sa, bucket="B")).solve()


def _two_posteriors(values: int) -> tuple[mx.Posterior, ...]:
    rng = np.random.default_rng(7)
    return tuple(posterior_with(rng.dirichlet(np.ones(values), 2).tolist(), [values] * 2)[0] for _ in range(2))


def _prices(kind: str, n: int) -> pd.DataFrame:
    price = np.linspace(2, -2, n) if n > 1 else np.array([1.0])
    table = pd.DataFrame({"side": "=", "price": price}, index=pd.Index(_names(kind, n), name="statement"))
    if n > 1:
        table.iloc[0, 1] = np.inf
    return table


def _sweep(n: int) -> pd.DataFrame:
    eps = np.linspace(0, 0.5, 21)
    return pd.DataFrame(
        [(v, e, "", 0.9 * v + e / 3, 2 + v * e) for v in np.linspace(0, 1, n) for e in eps],
        columns=["value", "eps", "message", "probability", "entropy"],
    )


def _quantification(kind: str, n: int) -> dict[str, pd.DataFrame]:
    k = np.arange(0, 200, 20)
    return {
        name: pd.DataFrame({"K+": k, "K-": k, "score": 3 * np.exp(-k / (50 + 20 * i)) + 0.1 * i})
        for i, name in enumerate(_names(kind, n))
    }


def _solvers(kind: str, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    bound, seconds = 10.0 ** rng.uniform(-12, -3, n), 10.0 ** rng.uniform(-3, 2, n)
    table = pd.DataFrame({"bound": bound, "certified": bound < 1e-4, "seconds": seconds, "word": "optimal"})
    if n > 1:
        table.loc[n - 1, ["bound", "word"]] = [np.nan, "no answer within the time limit"]
    return table.set_axis(_names(kind, n))


def _profile(kind: str, n: int, largest: float = 40.0) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (name, tau, min(1.0, (i + 1) / n * 0.4 + 0.6 * np.log(tau) / np.log(largest)))
            for i, name in enumerate(_names(kind, n))
            for tau in np.geomspace(1, largest, 8)
        ],
        columns=["solver", "tau", "fraction"],
    )


def _equivocation(kind: str, n: int) -> dict[str, mx.measures.Equivocation]:
    return {
        name: mx.measures.equivocation([50 + i, 80, 90 + 3 * i, 140], [0.25] * 4)
        for i, name in enumerate(_names(kind, n))
    }


def _tables(kind: str, n: int) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(3)
    return {name: pd.DataFrame(rng.dirichlet(np.full(4, 1 / (i + 1)), 50)) for i, name in enumerate(_names(kind, n))}


def _worst_cases(kind: str, n: int) -> pd.DataFrame | dict[str, pd.DataFrame]:
    k = np.arange(6)
    tables = {
        name: pd.DataFrame({"k": k, "disclosure": np.minimum(1, 0.2 + (k + 1) * (0.8 - i / n) / 5)})
        for i, name in enumerate(_names(kind, n))
    }
    return tables if n > 1 else tables[f"{kind} 0"]


def _roc(kind: str, n: int) -> pd.DataFrame:
    x = np.linspace(0, 1, 40)
    return pd.concat(
        pd.DataFrame({"group": name, "threshold": 1 - x, "false_positive": x, "true_positive": x ** (1 / (1 + i))})
        for i, name in enumerate(_names(kind, n))
    )


def _channels(kind: str, n: int) -> pd.DataFrame:
    p = np.random.default_rng(4).random((n, 2))
    table = pd.DataFrame({"person": _names(kind, n), "value": "Flu", "release": 1})
    return table.assign(alone=p[:, 0], together=p[:, 1])


def _bounds(kind: str, n: int) -> pd.DataFrame:
    ends = np.sort(np.random.default_rng(5).random((n, 2)), axis=1)
    return pd.DataFrame(ends, columns=["low", "high"], index=_names(kind, n))


def _releases(kind: str, n: int) -> pd.DataFrame:
    points = np.random.default_rng(6).random((n, 2))
    return pd.DataFrame(points, columns=["risk", "utility"], index=_names(kind, n))


def _intervals(bounds: pd.DataFrame) -> plt.Axes:
    return plots.intervals(bounds, bounds.mean(axis=1))


#: Each plot with what makes its argument, a short kind of names, and the numbers of things with short and long names.
TABLES = {
    plots.prices: (_prices, "P(s) =", [1, 60], 3),
    plots.quantification: (_quantification, "T =", [1, 7, 20], 4),
    plots.solver_comparison: (_solvers, "SOLVER", [1, 9], 4),
    plots.performance_profile: (_profile, "SOLVER", [10], 4),
    plots.equivocation: (_equivocation, "v", [1, 8], 3),
    plots.likeliest_values: (_tables, "t", [1, 9], 3),
    plots.worst_case: (_worst_cases, "r", [1, 12], 3),
    plots.roc: (_roc, "in", [1, 6], 3),
    plots.inference_channels: (_channels, "i", [1, 60], 3),
    _intervals: (_bounds, "P", [1, 60], 3),
    plots.risk_utility: (_releases, "l =", [1, 14, 200], 4),
}
PICTURES = {
    f"{plot.__name__}, {n} {kind}": partial(lambda plot, make, *names: plot(make(*names)), plot, make, kind, n)
    for plot, (make, short, numbers, number_of_long) in TABLES.items()
    for kind, n in [*((short, n) for n in numbers), ("long", number_of_long)]
} | {
    "posterior, 2 x 2": lambda: plots.posterior(_posterior(2, 2)),
    "posterior, 1 x 1": lambda: plots.posterior(_posterior(1, 1)),
    "posterior, 100 x 14": lambda: plots.posterior(_posterior(100, 14)),
    "posterior, 6 x 60": lambda: plots.posterior(_posterior(6, 60)),
    "posterior, long names": lambda: plots.posterior(_posterior_with_long_names()),
    "sweep, 1": lambda: plots.sweep(_sweep(1)),
    "sweep, 4": lambda: plots.sweep(_sweep(4)),
    "sweep, 15": lambda: plots.sweep(_sweep(15), "entropy"),
    "performance_profile, 2": lambda: plots.performance_profile(_profile("SOLVER", 2, 3.0)),
    "before_and_after, 2": lambda: plots.before_and_after(*_two_posteriors(2), {"Q": "q0"}),
    "before_and_after, 30": lambda: plots.before_and_after(*_two_posteriors(30), {"Q": "q0"}, labels=(LONG, "now")),
    "before_and_after, long names": lambda: plots.before_and_after(
        *[_posterior_with_long_names()] * 2, {"a quasi-identifier with a rather long name": f"{LONG} (0)"}
    ),
    "exposure, 1": lambda: plots.exposure(_posterior(20, 3), baseline="overall"),
    "exposure, 8": lambda: plots.exposure({f"release {i}": _posterior(9, 2 + i) for i in range(8)}),
    "exposure, long names": lambda: plots.exposure({name: _posterior(9, 3) for name in _names("long", 3)}),
    "risk_utility, loss": lambda: plots.risk_utility(_releases("l =", 5), loss=True),
}


# -- texts -------------------------------------------------------------------------------------------


#: A pixel of rounding.
PIXEL = 1.0


def shown_labels(axis):
    """The labels of an axis that are shown: those inside the limits."""
    low, high = sorted(axis.get_view_interval())
    ticks = [t for t in axis.get_major_ticks() if low - 1e-9 * abs(low) <= t.get_loc() <= high + 1e-9 * abs(high)]
    return [label for tick in ticks for label in (tick.label1, tick.label2) if label.get_visible() and label.get_text()]


def shown_texts(figure):
    """Everything that is written in a figure."""
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    of_ticks = {id(text) for axis in axes for text in axis.findobj(Text)}
    texts = [text for text in figure.findobj(Text) if id(text) not in of_ticks]
    texts += [text for axis in axes for text in [axis.label, *shown_labels(axis)]]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def overlap(first, second) -> bool:
    """Whether two boxes overlap by more than a pixel."""
    a, b = first.extents, second.extents
    return bool((np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) > PIXEL).all())


def is_on_canvas(box, figure) -> bool:
    """Whether a box is inside the figure."""
    canvas = figure.bbox.extents
    return bool((box.extents[:2] >= canvas[:2] - PIXEL).all() and (box.extents[2:] <= canvas[2:] + PIXEL).all())


@pytest.mark.parametrize("name", PICTURES)
def test_layout(name) -> None:
    """All text is on the canvas; neighbours on an axis, texts among the data, and a legend and the data are apart."""
    picture = PICTURES[name]()
    picture.figure.draw_without_rendering()
    check_texts(picture)
    if picture.get_legend() is not None:
        check_legend(picture)
    plt.close(picture.figure)


def check_texts(picture) -> None:
    for text in shown_texts(picture.figure):
        assert is_on_canvas(text.get_window_extent(), picture.figure), text.get_text()
    boxes = [Text.get_window_extent(text) for text in picture.texts if text.get_text()]
    assert not any(itertools.starmap(overlap, itertools.combinations(boxes, 2)))
    for axis in (axis for ax in picture.figure.axes for axis in (ax.xaxis, ax.yaxis)):
        for first, second in itertools.pairwise(shown_labels(axis)):
            if angle := np.radians(first.get_rotation()):  # turned labels are apart across their direction
                away = np.subtract(*(t.get_transform().transform(t.get_position()) for t in (first, second)))
                height = first.get_fontsize() * picture.figure.dpi / 72
                assert abs(away @ [-np.sin(angle), np.cos(angle)]) >= height, (first, second)
            else:
                assert not overlap(first.get_window_extent(), second.get_window_extent()), (first, second)
    # However long the names are, no side of the box of the data is below half an inch.
    assert picture.get_window_extent().size.min() / picture.figure.dpi >= 0.45


def check_legend(picture) -> None:
    """The entries of a legend differ in style, marker, form or hatch, without any colour."""
    box = picture.get_legend().get_window_extent()
    assert not overlap(box, picture.get_window_extent())
    assert is_on_canvas(box, picture.figure)
    shapes = []
    for handle in picture.get_legend_handles_labels()[0]:
        if hasattr(handle, "get_marker"):
            shapes.append((handle.get_linestyle(), handle.get_marker()))
        elif isinstance(handle, PathCollection):
            filled = handle.get_facecolor()[0][:3].tolist() == handle.get_edgecolor()[0][:3].tolist()
            shapes.append((len(handle.get_paths()[0].vertices), filled))
        else:
            patches = getattr(handle, "patches", None)
            shapes.append(patches[0].get_hatch() if patches else type(handle).__name__)
    assert len(set(map(str, shapes))) == len(shapes), shapes


def test_legends_of_given_axes_do_not_cover_other_axes() -> None:
    """Between two plots in one figure there is no room for a legend."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
    for ax in (left, right):
        plots.worst_case({LONG: pd.DataFrame({"k": [0, 1], "disclosure": [0.5, 1.0]})}, ax=ax)
    figure.draw_without_rendering()
    assert not overlap(left.get_legend().get_window_extent(), right.get_window_extent())
    plt.close(figure)


def test_no_figure_is_left_behind_where_drawing_fails() -> None:
    """An error while a plot is drawn closes the figure that it began."""
    from maxent_cvx.plots._style import axes_for

    before = plt.get_fignums()
    with pytest.raises(RuntimeError, match="stop"), axes_for(None, 2, 2):
        raise RuntimeError("stop")
    assert plt.get_fignums() == before


# -- colours -----------------------------------------------------------------------------------------


#: What each deficiency makes of linear RGB, wholly without a kind of cones (Machado, Oliveira and Fernandes, "A
#: physiologically-based model for simulation of color vision deficiency", 2009, Table 1, severity 1).
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
#: From linear sRGB to CIE XYZ, with the white of daylight D65 (IEC 61966-2-1).
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(rgb: np.ndarray, eyes: str) -> np.ndarray:
    """CIE L*a*b* of colours in sRGB, shape (n, 3), as these eyes see them; L* is the lightness, 0 to 100."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ EYES[eyes].T, 0, 1) @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f.T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", EYES)
def test_colours_are_told_apart_by_all_eyes(eyes) -> None:
    """Any two colours, and each and white, are at least three times as far apart as is just noticeable.

    A distance of 2.3 in L*a*b* is just noticeable (Mahy et al., 1994).
    """
    colours = lab(np.array([to_rgb(colour) for colour in (*COLOURS, "white")]), eyes)
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2)) > 3 * 2.3
