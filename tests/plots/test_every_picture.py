"""Every public plot, of few things and many, with long names: all text is there, apart, and off the data."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from maxent_cvx import plots
from maxent_cvx.plots._style import COLOURS
from support.contrast import EYES, apart
from support.layout import on_canvas, overlap, texts, ticks
from support.pictures import PICTURES

mpl.use("Agg")

#: A line of a release.
LINE = pd.DataFrame({"k": [0, 1], "disclosure": [0.5, 1.0]})


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
    for text in texts(picture.figure):
        assert on_canvas(text.get_window_extent(), picture.figure), text.get_text()
    boxes = [Text.get_window_extent(t) for t in picture.texts if t.get_text()]
    assert not any(overlap(one, other) for one, other in itertools.combinations(boxes, 2))
    for ax in picture.figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            for one, other in itertools.pairwise(ticks(axis)):
                if angle := np.radians(one.get_rotation()):  # turned labels are apart across their direction
                    away = np.subtract(*(t.get_transform().transform(t.get_position()) for t in (one, other)))
                    high = one.get_fontsize() * picture.figure.dpi / 72
                    assert abs(away @ [-np.sin(angle), np.cos(angle)]) >= high, (one, other)
                else:
                    assert not overlap(one.get_window_extent(), other.get_window_extent()), (one, other)
    # However long the names are, no side of the box of the data is below half an inch.
    assert picture.get_window_extent().size.min() / picture.figure.dpi >= 0.45


def check_legend(picture) -> None:
    """What a legend names differs in style, marker, form or hatch, without any colour."""
    box = picture.get_legend().get_window_extent()
    assert not overlap(box, picture.get_window_extent())
    assert on_canvas(box, picture.figure)
    handles, _ = picture.get_legend_handles_labels()
    shapes = []
    for handle in handles:
        if hasattr(handle, "get_marker"):
            shapes.append((handle.get_linestyle(), handle.get_marker()))
        elif isinstance(handle, PathCollection):
            filled = handle.get_facecolor()[0][:3].tolist() == handle.get_edgecolor()[0][:3].tolist()
            shapes.append((len(handle.get_paths()[0].vertices), filled))
        else:
            patches = getattr(handle, "patches", None)
            shapes.append(patches[0].get_hatch() if patches else type(handle).__name__)
    assert len(set(map(str, shapes))) == len(shapes), shapes


@pytest.mark.parametrize("eyes", EYES)
def test_colours_are_told_apart_by_all_eyes(eyes) -> None:
    """Any two colours, and each and white, are at least three times as far apart as is just noticeable."""
    rgb = np.array([to_rgb(colour) for colour in (*COLOURS, "white")])
    distance = apart(rgb, eyes)
    assert distance[np.triu_indices(len(rgb), 1)].min() > 3 * 2.3


@pytest.mark.parametrize("engine", [None, "constrained"])
def test_legends_of_given_axes_are_on_the_canvas(engine) -> None:
    """In somebody else's figure the legend is beside the data where there is room, and inside otherwise."""
    figure, ax = plt.subplots(layout=engine)
    size = figure.get_size_inches().tolist()
    plots.worst_case({"costs $5_ or $6^": LINE, "two": LINE}, ax=ax)
    figure.draw_without_rendering()
    assert figure.get_size_inches().tolist() == size
    assert on_canvas(ax.get_legend().get_window_extent(), figure)
    plt.close(figure)


def test_no_figure_is_left_behind_where_drawing_fails() -> None:
    """What fails inside closes the figure that it began."""
    from maxent_cvx.plots._style import axes_for

    before = plt.get_fignums()
    with pytest.raises(RuntimeError, match="stop"), axes_for(None, 2, 2):
        raise RuntimeError("stop")
    assert plt.get_fignums() == before
