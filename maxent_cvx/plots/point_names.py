"""Labels beside points, placed so that they cover nothing."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["name_points"]

#: Where a point's name may stand: to the right (1) or left (-1), above (1) or below (-1), the best place first.
BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


def name_points(ax: Axes, points: np.ndarray, names: list[str], path: np.ndarray | None = None) -> None:
    """Write a name beside each point, or further away where it would cover a point, a path or other text."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # only a layout tells where things are
    half = 5 * figure.dpi / 72  # half a marker, and some air
    places = ax.transData.transform(points)
    taken = [*np.c_[places - half, places + half], *_along(ax, path)]
    inside = ax.get_window_extent().extents
    for point, name in zip(points, names, strict=True):
        for away, (right, up) in itertools.product(range(6, 80, 12), BESIDE):
            text = ax.annotate(
                name, point, (away * right, away * up), textcoords="offset points", fontsize="small", parse_math=False,
                ha=("center", "left", "right")[right], va=("center", "bottom", "top")[up],
                arrowprops={"arrowstyle": "-", "color": "0.6", "shrinkB": 4} if away > 6 else None,
            )  # fmt: skip
            text.set_in_layout(False)
            box = _extent(text)
            covers = any((box[:2] < other[2:]).all() and (box[2:] > other[:2]).all() for other in taken)
            if not covers and (box[:2] > inside[:2]).all() and (box[2:] < inside[2:]).all():
                break
            text.remove()
        else:  # no free place is left: better over another label than none
            ax.annotate(
                name, point, (6, 0), textcoords="offset points", fontsize="small", parse_math=False, va="center"
            )
        taken.append(box)


def _along(ax: Axes, path: np.ndarray | None) -> np.ndarray:
    """Boxes of two pixels along a path of straight lines, close to each other."""
    if path is None or len(path) < 2:
        return np.empty((0, 4))
    corners = ax.transData.transform(path)
    part = np.linspace(0, 1, 100, endpoint=False)[:, None]
    dots = np.vstack([(1 - part) * a + part * b for a, b in itertools.pairwise(corners)])
    return np.c_[dots - 1, dots + 1]


def _extent(text: Annotation) -> np.ndarray:
    """The box of a text, pixels: left, bottom, right, top; without its line."""
    from matplotlib.text import Text

    text.get_window_extent()  # with its line; puts the text where it belongs
    return np.asarray(Text.get_window_extent(text).extents)
