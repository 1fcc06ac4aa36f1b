"""Styles of lines, labels beside points, and texts that fit their axes."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError, join_names
from .._utils.errors import short_repr as written
from .._utils.tables import check_labels
from .._utils.validation import check_dataframe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

__all__ = [
    "AGAINST",
    "BARS",
    "COLOURS",
    "FAINT",
    "FOR",
    "LINES",
    "MARKERS",
    "READABLE",
    "STYLES",
    "axes_for",
    "check_table",
    "legend_beside",
    "line_style",
    "name_points",
    "shortened",
]

# Figures as large as their text needs, and legends beside the data.


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
    """Make the figure as large as a box of the data of this size, inches, needs with all that is written around it."""
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


def disable_mathtext(ax: Axes) -> None:
    """Show names with dollar signs as they are, where Matplotlib would read formulas; ticks say it themselves."""
    legend = ax.get_legend()
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts, *(legend.get_texts() if legend else ())):
        text.set_parse_math(False)


def legend_beside(ax: Axes) -> None:
    """Write the legend to the right of the axes, where no data are, from above; long names are wrapped."""
    handles, labels = ax.get_legend_handles_labels()
    names = [textwrap.fill(label, WRAPPED) if len(label) > WRAPPED else label for label in labels]
    columns = math.ceil(sum(name.count("\n") + 1 for name in names) / COLUMN)
    common: dict[str, Any] = {"fontsize": "small", "ncols": columns}
    ax.legend(handles, names, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0, frameon=False, **common)
    figure = ax.get_figure(root=True)
    assert figure is not None
    disable_mathtext(ax)
    if figure.get_layout_engine() is None and not _inside(ax, figure):
        ax.legend(handles, names, loc="best", **common)


def _inside(ax: Axes, figure: Figure) -> bool:
    """Whether the legend is on the canvas."""
    figure.draw_without_rendering()
    legend = ax.get_legend()
    assert legend is not None
    box, canvas = legend.get_window_extent().extents, figure.bbox.extents
    return bool(np.all(box[:2] >= canvas[:2]) and np.all(box[2:] <= canvas[2:]))


# What every plot needs: Axes to draw in, as large as its text needs; a check of the table; names cut to a length.


#: QI tuples that a heat map still shows with readable labels.
READABLE = 40
#: The size of the box of lines or points, inches, without its labels and legend.
LINES = (5.4, 3.6)
#: Characters of a name beside an axis: a third of what a page is wide.
LONGEST = 44


def check_table(table: object, columns: tuple[str, ...], maker: str, numbers: tuple[str, ...] = ()) -> None:
    """Check that something is the table that another function makes; `numbers` are its columns of numbers."""
    check_dataframe(table, f"what is drawn, a table of {maker},")
    if missing := [name for name in columns if name not in table.columns]:  # type: ignore[attr-defined]
        raise TableError(f"the table has no column {join_names(missing)}; what {maker} returns is drawn")
    assert isinstance(table, pd.DataFrame)
    for name in columns:
        column = table[name]
        if isinstance(column, pd.DataFrame):
            raise TableError(f"the table has more than one column {name!r}; what {maker} returns is drawn")
        check_labels(column, f"a cell of column {name!r} of the table")
        if name in numbers and (column.dtype == object or column.dtype.kind not in "fiub"):
            raise TableError(f"column {name!r} of the table must hold numbers, not {column.dtype}")


@contextmanager
def axes_for(ax: Axes | None, width: float, height: float) -> Iterator[Axes]:
    """Lend the given axes, or new ones whose figure in the end has room for all text around a box of this size, inches."""
    if ax is not None:
        if not callable(getattr(ax, "set_xlabel", None)):
            raise StatementError(f"ax must be Axes of Matplotlib, not {written(ax)}")
        yield ax
        disable_mathtext(ax)
        return
    import matplotlib.pyplot as plt  # half a second to load, which no other part needs

    figure, new = plt.subplots(figsize=(width + ROOM, height + ROOM), layout="constrained")
    try:
        yield new
        disable_mathtext(new)
        fit(new, width, height)
    except BaseException:
        plt.close(figure)
        raise


def shortened(name: object, longest: int = LONGEST) -> str:
    """Write a name; of a long one its beginning and its end, which often is what tells two names apart."""
    text = " ".join(str(name).split())
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end].rstrip()}…{text[-end:].lstrip()}"


# What tells lines and points apart: colour, line style and marker together, for every eye and in grey.


#: Colours in turn, by Okabe and Ito (2008, "Color Universal Design"), without their yellow, which is too pale for a
#: line on white: told apart with any deficiency of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#E69F00", "#CC79A7", "#56B4E9")
#: Markers in turn, as many as colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Line styles in turn. Their number and that of the markers have no common divisor: 28 lines differ in one or both.
STYLES = ("-", "--", "-.", ":")
#: The two colours of what is good and bad, more and less, before and after.
FOR, AGAINST = COLOURS[:2]
#: The hatches of bars of these two colours, which tell them apart in grey.
BARS = {FOR: "", AGAINST: "////"}
#: The grey of what is there for comparison.
FAINT = "0.5"
#: Markers of a line, about: more would hide its style.
MARKED = 12


def line_style(number: int, points: int = 0) -> dict[str, Any]:
    """How the line of a number looks: arguments of ``Axes.plot``; of many points, some are marked."""
    apart = max(points // MARKED, 1)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[number % len(STYLES)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 5,
        "linewidth": 1.6,
        # Lines that lie on each other are marked in different places.
        "markevery": (number * apart // 4 % apart, apart),
    }


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
