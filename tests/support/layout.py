"""Where the texts of a figure are: which are shown, whether they overlap, and whether they are on the canvas."""

from __future__ import annotations

import numpy as np
from matplotlib.text import Text

__all__ = ["on_canvas", "overlap", "texts", "ticks"]

#: A pixel of rounding.
PIXEL = 1.0


def ticks(axis):
    """The labels of an axis that are shown: those inside the limits."""
    low, high = sorted(axis.get_view_interval())
    low, high = low - 1e-9 * abs(low), high + 1e-9 * abs(high)
    shown = [t for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
    return [label for tick in shown for label in (tick.label1, tick.label2) if label.get_visible() and label.get_text()]


def texts(figure):
    """Everything that is written in a figure."""
    of_ticks = {id(t) for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for t in axis.findobj(Text)}
    labels = [axis.label for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    others = [t for t in figure.findobj(Text) if id(t) not in of_ticks]
    shown = [t for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for t in ticks(axis)]
    return [t for t in [*others, *labels, *shown] if t.get_visible() and t.get_text().strip()]


def overlap(one, other) -> bool:
    """Whether two boxes overlap by more than a pixel."""
    a, b = one.extents, other.extents
    return bool((np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) > PIXEL).all())


def on_canvas(box, figure) -> bool:
    """Whether a box is inside the figure."""
    canvas = figure.bbox.extents
    return bool((box.extents[:2] >= canvas[:2] - PIXEL).all() and (box.extents[2:] <= canvas[2:] + PIXEL).all())
