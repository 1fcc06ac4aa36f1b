"""Common parts of plots: axes that fit their text, line styles, legends, and names beside points."""

from __future__ import annotations

import itertools
import math
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from .._utils import errors
from .._utils.errors import StatementError, TableError, join_names, pluralize, short_repr
from .._utils.formatting import iso_text
from .._utils.tables import check_labels, real_numbers
from .._utils.validation import check_dataframe, check_mapping

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

#: The maximum number of characters per line of a title or a label below, of a label on the left, and of a legend.
WRAPPED_ACROSS, WRAPPED_UPWARDS, WRAPPED_LEGEND = 56, 42, 34
#: The maximum number of lines in a column of a legend, which is then about as high as the axes.
LEGEND_LINES = 16
#: The distance, in inches, between the text and the edge of a new figure.
PADDING = 0.08
#: The maximum number of rows of a plot with readable labels.
READABLE = 40
#: The size, in inches, of the axes of lines or points.
LINES = (5.4, 3.6)
#: The maximum number of characters of a name beside an axis: a third of the width of a page.
LONGEST = 44


def check_table(table: object, columns: tuple[str, ...], maker: str, numbers: tuple[str, ...] = ()) -> None:
    """Check that a table is the result of another function; `numbers` are its numeric columns."""
    table = check_dataframe(table, f"the table of {maker}")
    if missing := [name for name in columns if name not in table.columns]:
        raise TableError(f"the table has no column {join_names(missing)}; pass the result of {maker}")
    for name in columns:
        column = table[name]
        if isinstance(column, pd.DataFrame):
            raise TableError(f"the table has several columns {name!r}; pass the result of {maker}")
        check_labels(column, f"a cell of column {name!r} of the table")
        if name in numbers and (column.dtype == object or column.dtype.kind not in "fiub"):
            raise TableError(f"column {name!r} of the table must contain numbers, not {column.dtype}")


def as_floats(data: pd.DataFrame | pd.Series, what: str) -> np.ndarray:
    """Return the numbers of a table or a column, which must be finite."""
    numbers = real_numbers(data, what)
    if (missing := ~np.isfinite(numbers)).any():
        rows = data.index[missing if missing.ndim == 1 else missing.any(axis=1)]
        raise TableError(f"{what} must be finite, but are not at {join_names(rows, 3)}; drop these rows")
    return numbers


def check_lines(given: object, kind: type[T], what: str, maker: str) -> Mapping[str, T]:
    """Read one object to plot, or several by name; a single one has the name ""."""
    expected = f"{{name: {maker}}} or one {kind.__name__}"
    named = {"": given} if isinstance(given, kind) else check_mapping(given, f"the {what}s to plot", expected)
    if not named:
        raise StatementError(f"there is no {what} to plot; pass a {maker}, or {{name: {maker}}}")
    return named


@contextmanager
def axes_for(ax: Axes | None, width: float, height: float) -> Iterator[Axes]:
    """Yield the given axes, or new ones of this size in inches, whose figure finally fits all text around them."""
    if ax is not None:
        if not callable(getattr(ax, "set_xlabel", None)):
            raise StatementError(f"ax must be a Matplotlib Axes, not {short_repr(ax)}")
        yield ax
        _disable_mathtext(ax)
        _keep_legend(ax)
        return
    import matplotlib.pyplot as plt  # takes half a second, and no other part needs it

    figure = plt.figure(figsize=(width, height))
    new = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    try:
        yield new
        _disable_mathtext(new)
        for text, most in (
            (new.title, WRAPPED_ACROSS),
            (new.xaxis.label, WRAPPED_ACROSS),
            (new.yaxis.label, WRAPPED_UPWARDS),
        ):
            lines = text.get_text().splitlines()
            text.set_text("\n".join(textwrap.fill(line, most, break_long_words=False) for line in lines))
        # The size of the axes, and thus their ticks, stay the same; the figure grows by the text around them.
        figure.draw_without_rendering()
        box = new.get_tightbbox()
        assert box is not None
        left, bottom, right, top = np.array(box.padded(PADDING * figure.dpi).extents) / figure.dpi
        figure.set_size_inches(right - left, top - bottom)
        new.set_position(
            (-left / (right - left), -bottom / (top - bottom), width / (right - left), height / (top - bottom))
        )
    except BaseException:
        plt.close(figure)
        raise


def _disable_mathtext(ax: Axes) -> None:
    """Show dollar signs in names literally; tick labels are created without mathtext."""
    legend = ax.get_legend()
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts, *(legend.get_texts() if legend else ())):
        text.set_parse_math(False)


def legend_beside(ax: Axes) -> None:
    """Put the legend to the right of the axes; long names are wrapped."""
    handles, labels = ax.get_legend_handles_labels()
    names = [textwrap.fill(label, WRAPPED_LEGEND) if len(label) > WRAPPED_LEGEND else label for label in labels]
    columns = math.ceil(sum(name.count("\n") + 1 for name in names) / LEGEND_LINES)
    ax.legend(
        handles, names, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0, frameon=False, fontsize="small",
        ncols=columns,
    )  # fmt: skip


def legend_name(name: object) -> str:
    """Format a name for a legend, from which Matplotlib omits names that begin with an underscore."""
    return f"\u200b{name}" if str(name).startswith("_") else str(name)


def describe(ax: Axes, x: str, y: str, *, has_legend: bool = True) -> None:
    """Name the axes, draw a grid, and put a legend beside them."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(alpha=0.3)
    if has_legend:
        legend_beside(ax)


def _keep_legend(ax: Axes) -> None:
    """Move the legend of given axes inside them if their figure has no space for it beside them."""
    figure, legend = ax.get_figure(root=True), ax.get_legend()
    if legend is None or figure is None or figure.get_layout_engine() is not None:
        return
    figure.draw_without_rendering()
    box, canvas = legend.get_window_extent().extents, figure.bbox.extents
    others = [other.get_window_extent().extents for other in figure.axes if other is not ax]
    covers = any(np.all(box[:2] < other[2:]) and np.all(box[2:] > other[:2]) for other in others)
    if covers or np.any(box[:2] < canvas[:2]) or np.any(box[2:] > canvas[2:]):
        legend.set_bbox_to_anchor(None)
        legend.set_loc("best")
        legend.set_frame_on(True)


def joined(name: object) -> str:
    """Format a name, or a combination with commas."""
    return ", ".join(map(iso_text, name)) if isinstance(name, tuple) else iso_text(name)


def shortened(name: object, longest: int = LONGEST) -> str:
    """Format a name or a combination; shorten long ones to beginning and end."""
    return errors.shortened(" ".join(joined(name).split()), longest)


def shortened_apart(names: Iterable[object], longest: int = LONGEST) -> list[str]:
    """Format names as :func:`shortened` does, but with more characters if different names would look alike."""
    full = [shortened(name, sys.maxsize) for name in names]
    while len(set(short := [shortened(name, longest) for name in full])) < len(set(full)):
        longest += LONGEST // 2
    return short


#: Colours in turn, by Okabe and Ito (2008, "Color Universal Design"), distinguishable with any deficiency of colour
#: vision; without their yellow, which is too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#E69F00", "#CC79A7", "#56B4E9")
#: Markers in turn, as many as colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Line styles in turn. Their number and that of the markers are coprime, so that 28 lines differ in one or both.
STYLES = ("-", "--", "-.", ":")
#: The two colours of good and bad, more and less, before and after.
FOR, AGAINST = COLOURS[:2]
#: The hatches of bars of these two colours, which distinguish them in grey.
BARS = {FOR: "", AGAINST: "////"}
#: The grey of lines for comparison.
FAINT = "0.5"
#: The approximate number of marked points of a line; more would hide its style.
MARKED = 12


def draw_lines(ax: Axes, lines: Iterable[tuple[object, Any, Any]], drawstyle: Any = "default", **options: Any) -> None:
    """Draw lines, each given by its name, x and y, in different styles; only some of many points are marked.

    The title says how many values of y are not finite, and therefore not shown.
    """
    n_infinite = n_missing = 0
    for number, (name, x, y) in enumerate(lines):
        step = max(len(x) // MARKED, 1)
        ax.plot(
            x, y, label=legend_name(name), drawstyle=drawstyle, color=COLOURS[number % len(COLOURS)],
            linestyle=STYLES[number % len(STYLES)], marker=MARKERS[number % len(MARKERS)], markersize=5, linewidth=1.6,
            markevery=(number * step // 4 % step, step),  # lines that coincide are marked at different points
            **options,
        )  # fmt: skip
        n_infinite, n_missing = n_infinite + int(np.isinf(y).sum()), n_missing + int(np.isnan(y).sum())
    not_shown = ((n_infinite, "infinite value"), (n_missing, "missing value"))
    if remarks := [pluralize(n, what) for n, what in not_shown if n]:
        ax.set_title(f"not shown: {', '.join(remarks)}", fontsize="small")


#: Positions of a point's name, best first: to the right (1) or left (-1), above (1) or below (-1).
BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


def name_points(ax: Axes, points: np.ndarray, names: list[str]) -> None:
    """Write a name beside each point, or further away if it would cover a point or another name; of many, those that fit."""
    from matplotlib.text import Text

    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # positions are only known after a layout
    scale = figure.dpi / 72
    half = 5 * scale  # half a marker and some distance
    at = ax.transData.transform(points)
    occupied, inside = np.c_[at - half, at + half], ax.get_window_extent().extents
    common: dict[str, Any] = {"fontsize": "small", "parse_math": False}
    for point, place, name in zip(points, at, names, strict=True):
        measured = ax.text(0, 0, name, **common)
        size = np.asarray(Text.get_window_extent(measured).size)
        measured.remove()
        for away, (right, up) in itertools.product(range(6, 80, 12), BESIDE):
            middle = place + np.array([right, up]) * (away * scale + size / 2)
            box = np.r_[middle - size / 2, middle + size / 2]
            covers = ((box[:2] < occupied[:, 2:]) & (box[2:] > occupied[:, :2])).all(axis=1).any()
            if not covers and (box[:2] > inside[:2]).all() and (box[2:] < inside[2:]).all():
                break
        else:  # no space
            if len(points) > READABLE:
                continue
            away, right, up = 6, 1, 0  # over another label
            middle = place + np.array([6 * scale + size[0] / 2, 0])
        ax.annotate(
            name, point, (away * right, away * up), textcoords="offset points", **common,
            ha=("center", "left", "right")[right], va=("center", "bottom", "top")[up],
            arrowprops={"arrowstyle": "-", "color": "0.6", "shrinkB": 4} if away > 6 else None,
        )  # fmt: skip
        occupied = np.r_[occupied, [np.r_[middle - size / 2, middle + size / 2]]]
