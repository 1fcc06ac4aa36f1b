"""Figures as large as their text needs, and legends beside the data."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ROOM", "as_written", "fit", "legend_beside"]

#: Inches that a new figure is larger than the box of its data, until its labels are measured.
ROOM = 9.0
#: How often sizes are measured at most: ticks change with the size, and labels with the ticks.
MEASURED = 5
#: Inches that the box may miss its size by.
PRECISE = 0.02
#: Characters of a line of a title or of a label below, and of a label on the left.
WRAPPED_ACROSS, WRAPPED_UPWARDS = 56, 42
#: Characters of a line of a legend.
WRAPPED = 34
#: Lines of text in a column of a legend, which then is about as high as the box of the data.
COLUMN = 16


def fit(ax: Axes, width: float, height: float) -> None:
    """Make the figure as large as a box of the data of this size, inches, needs with all that is written around it.

    Constrained layout takes what labels and legends need from the box; here the figure grows instead. That layout does
    not measure titles and labels of axes along their axis: long ones are wrapped, and the box is as long as they are.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    for text, most in ((ax.title, WRAPPED_ACROSS), (ax.xaxis.label, WRAPPED_ACROSS), (ax.yaxis.label, WRAPPED_UPWARDS)):
        lines = text.get_text().splitlines()
        text.set_text("\n".join(textwrap.fill(line, most, break_long_words=False) for line in lines))
    wanted = np.array([width, height])
    for _ in range(MEASURED):
        figure.draw_without_rendering()
        box = ax.get_window_extent()
        wanted = np.maximum(wanted, _longest(ax) / figure.dpi)
        missing = wanted - np.array([box.width, box.height]) / figure.dpi
        if np.abs(missing).max() < PRECISE:
            break
        figure.set_size_inches(np.maximum(figure.get_size_inches() + missing, 0.5))


def _longest(ax: Axes) -> np.ndarray:
    """How wide the title and the label below are, and how high the label on the left is, pixels."""
    across, below, left = (text.get_window_extent() for text in (ax.title, ax.xaxis.label, ax.yaxis.label))
    return np.array([max(across.width, below.width), left.height])


def as_written(ax: Axes) -> None:
    """Show names with dollar signs as they are, where Matplotlib would read formulas; ticks say it themselves."""
    legend = ax.get_legend()
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts, *(legend.get_texts() if legend else ())):
        text.set_parse_math(False)


def legend_beside(ax: Axes) -> None:
    """Write the legend to the right of the axes, where no data are, from above; long names are wrapped.

    Axes of somebody else's figure that leaves no room there have it inside, where the fewest data are.
    """
    handles, labels = ax.get_legend_handles_labels()
    names = [textwrap.fill(label, WRAPPED) if len(label) > WRAPPED else label for label in labels]
    columns = math.ceil(sum(name.count("\n") + 1 for name in names) / COLUMN)
    common: dict[str, Any] = {"fontsize": "small", "ncols": columns}
    ax.legend(handles, names, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0, frameon=False, **common)
    figure = ax.get_figure(root=True)
    assert figure is not None
    as_written(ax)
    if figure.get_layout_engine() is None and not _inside(ax, figure):
        ax.legend(handles, names, loc="best", **common)


def _inside(ax: Axes, figure: Figure) -> bool:
    """Whether the legend is on the canvas."""
    figure.draw_without_rendering()
    legend = ax.get_legend()
    assert legend is not None
    box, canvas = legend.get_window_extent().extents, figure.bbox.extents
    return bool(np.all(box[:2] >= canvas[:2]) and np.all(box[2:] <= canvas[2:]))
