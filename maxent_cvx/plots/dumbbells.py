"""Pairs of probabilities as dumbbells: from a hollow point to a filled one, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import axes_for, shortened
from .fitting import legend_beside
from .looks import AGAINST, FAINT, FOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_dumbbells"]

#: The size of the rows, inches: their length, and the height that each takes.
LENGTH, EACH = 5.0, 0.32


def draw_dumbbells(
    ax: Axes | None, rows: Sequence[object], first: np.ndarray, second: np.ndarray, labels: tuple[str, str], title: str
) -> Axes:
    """Draw a row for each pair of probabilities, the first row on top."""
    place = np.arange(len(rows))
    with axes_for(ax, LENGTH, EACH * (len(rows) + 0.5)) as drawn:
        drawn.hlines(place, first, second, color=FAINT, linewidth=2, zorder=2)
        hollow: dict[str, Any] = {"facecolor": "white", "edgecolor": AGAINST, "linewidth": 1.8}
        drawn.scatter(first, place, marker="o", s=52, label=labels[0], zorder=3, clip_on=False, **hollow)
        drawn.scatter(second, place, marker="D", s=30, color=FOR, label=labels[1], zorder=4, clip_on=False)
        drawn.set_yticks(place, [shortened(row) for row in rows], parse_math=False)
        drawn.set_ylim(len(rows) - 0.5, -0.5)
        drawn.set_xlim(0.0, 1.0)
        drawn.set_xlabel("probability")
        drawn.set_title(title)
        drawn.grid(axis="x", alpha=0.3)
        legend_beside(drawn)
    return drawn
