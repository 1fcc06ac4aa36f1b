"""Plots of posteriors: heat maps, intervals, changes, prices and sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError, join_names, unknown_name
from .._utils.validation import check_dataframe, check_instance, check_int, check_mapping, check_str, is_several
from ..model.posterior import Posterior
from ..sources.parser import read_probability
from ._style import (
    AGAINST,
    BARS,
    FAINT,
    FOR,
    LINES,
    READABLE,
    as_floats,
    axes_for,
    check_table,
    describe,
    draw_lines,
    joined,
    legend_beside,
    legend_name,
    shortened,
    shortened_apart,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: The length of the rows, and the height of each, in inches.
LENGTH, EACH = 5.0, 0.32


def draw_dumbbells(
    ax: Axes | None,
    rows: Sequence[object] | pd.Index,
    first: np.ndarray,
    second: np.ndarray,
    labels: tuple[str, str],
    title: str,
) -> Axes:
    """Plot one row per pair of probabilities, the first row on top."""
    place = np.arange(len(rows))
    with axes_for(ax, LENGTH, EACH * (len(rows) + 0.5)) as drawn:
        drawn.hlines(place, first, second, color=FAINT, linewidth=2, zorder=2)
        hollow: dict[str, Any] = {"facecolor": "white", "edgecolor": AGAINST, "linewidth": 1.8}
        drawn.scatter(first, place, marker="o", s=52, label=legend_name(labels[0]), zorder=3, clip_on=False, **hollow)
        drawn.scatter(second, place, marker="D", s=30, color=FOR, label=legend_name(labels[1]), zorder=4, clip_on=False)
        drawn.set_xlim(0.0, 1.0)
        drawn.set_title(title)
        _rows_of_probabilities(drawn, rows)
    return drawn


def _rows_of_probabilities(ax: Axes, rows: Sequence[object] | pd.Index) -> None:
    """Name the rows, the first one on top, and the axis of probabilities below them."""
    ax.set_yticks(range(len(rows)), shortened_apart(rows), parse_math=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel("probability")
    ax.grid(axis="x", alpha=0.3)
    legend_beside(ax)


#: The maximum number of drawn values by default.
MOST_VALUES = 20


def before_and_after(
    before: Posterior,
    after: Posterior,
    who: object,
    ax: Axes | None = None,
    *,
    labels: tuple[str, str] = ("before", "after"),
    max_rows: int = MOST_VALUES,
) -> Axes:
    """Plot P(s | who) of two posteriors: one row per sensitive value, from a hollow point to a filled one.

    Parameters
    ----------
    before, after : Posterior
        Posteriors of the same sensitive attributes: without and with some knowledge, or of two releases. A value that
        one of them does not publish has probability 0 there.
    who : dict, str or int
        The person or group: a mapping of QI attributes to values, ``{"Gender": "male"}``; or a name or pseudonym in
        both posteriors.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    labels : tuple of two str
        The labels of the two in the legend.
    max_rows : int
        If there are more values, those with the largest changes are shown, as the title states.

    Returns
    -------
    Axes
        The axes, with the most probable value of `after` at the top.

    Raises
    ------
    StatementError
        If an argument is not a Posterior, their sensitive attributes differ, nobody matches `who`, `labels` are not two
        strings, `max_rows` is not an integer of at least 1, or `ax` is not a Matplotlib Axes.
    UnknownName
        If the attribute, value or person does not exist.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> before, after = model.solve(), model.add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> grace = {"Gender": "female", "Degree": "junior"}
    >>> ax = mx.plots.before_and_after(before, after, grace, ax=Figure().subplots())
    >>> ax.get_title(), ax.get_yticklabels()[0].get_text()
    ('P(Disease | Gender=female, Degree=junior)', 'Breast Cancer')
    """
    for post, name in ((before, "before"), (after, "after")):
        check_instance(post, Posterior, name)
    check_int(max_rows, "max_rows", 1)
    if not isinstance(labels, tuple | list) or len(labels) != 2 or any(not isinstance(label, str) for label in labels):
        raise StatementError("labels must be two strings, one for before and one for after")
    attributes = after.space.view.sensitive
    if before.space.view.sensitive != attributes:
        raise StatementError(
            "before and after must have the same sensitive attributes, not "
            f"{list(before.space.view.sensitive)} and {list(attributes)}"
        )
    first, second = _inferred(before, who), _inferred(after, who)
    table = pd.concat({"second": second, "first": first}, axis=1).fillna(0.0)
    n_values = len(table)
    if cut := len(table) > max_rows:
        change = (table["second"] - table["first"]).abs().to_numpy()
        table = table.iloc[np.argsort(-change, kind="stable")[:max_rows]]
    table = table.sort_values(["second", "first"], ascending=False, kind="stable")
    whom = ", ".join(f"{name}={joined(value)}" for name, value in who.items()) if isinstance(who, Mapping) else str(who)
    of_all = f" (the {max_rows} values of {n_values} that change most)" if cut else ""
    title = f"P({', '.join(attributes)} | {whom}){of_all}"
    return draw_dumbbells(ax, table.index, table["first"].to_numpy(), table["second"].to_numpy(), labels, title)


def _inferred(post: Posterior, who: object) -> pd.Series:
    """Return P(s | who) of every sensitive value."""
    space, values = post.space, post.space.view.sensitive_values
    names = space.view.sensitive
    # Each value in a list, as a tuple alone could be an interval.
    each = [value if len(names) > 1 else (value,) for value in values]
    events = [dict(zip(names, ([part] for part in value), strict=True)) for value in each]
    whose: dict[str, Any] = {"given": who} if isinstance(who, Mapping) else {"who": who}
    return pd.Series([post.prob(value, **whose) for value in events], index=values)


def inference_channels(table: pd.DataFrame, ax: Axes | None = None, max_rows: int = READABLE) -> Axes:
    """Plot P_u(s | i) of one release and P(s | i) of all, one row per channel, from a hollow point to a filled one.

    Parameters
    ----------
    table : DataFrame
        The result of :func:`maxent_cvx.inference_channels`; the largest change is at the top.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    max_rows : int
        If there are more channels, those with the largest changes are shown, as the title states.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is not one of :func:`maxent_cvx.inference_channels`, or is empty; `max_rows` is not an integer of
        at least 1, or `ax` is not a Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> series = mx.ReleaseSeries(
    ...     mx.Release.from_buckets(table, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
    ...     for table in mx.datasets.load_patients())
    >>> channels = mx.inference_channels(series, progress=False)
    >>> ax = mx.plots.inference_channels(channels, ax=Figure().subplots(), max_rows=3)
    >>> ax.get_yticklabels()[0].get_text(), ax.get_title()
    ('7: Diabetes (release 1)', 'inference channels (the 3 largest of 63)')
    """
    check_table(table, ("person", "value", "release", "alone", "together"), "inference_channels")
    check_int(max_rows, "max_rows", 1)
    if table.empty:
        raise StatementError(
            "there are no inference channels to plot: each release alone implies the same as all together"
        )
    p = as_floats(table[["alone", "together"]], "alone and together")
    if not ((p >= -1e-4) & (p <= 1 + 1e-4)).all():  # the precision of a certified answer
        raise TableError("alone and together must be probabilities, from 0 to 1")
    order = np.argsort(-np.abs(p[:, 1] - p[:, 0]), kind="stable")[:max_rows]
    alone, together = p[order].T
    rows = [
        f"{person}: {joined(value)} (release {release})"
        for person, value, release in table.iloc[order][["person", "value", "release"]].itertuples(index=False)
    ]
    of_all = f" (the {max_rows} largest of {len(table)})" if len(table) > max_rows else ""
    labels = ("the release alone", "all together")
    return draw_dumbbells(ax, rows, alone, together, labels, f"inference channels{of_all}")


#: The size of a cell with a number, and the width of a cell without, whose label is rotated, in inches.
CELL, BARE = (0.75, 0.32), 0.3
#: The maximum number of rows of a heat map, and of values, beyond which those close to 0 in every row are left out.
MOST_TUPLES, FEW_VALUES = 25, 8
#: The limit below which a probability is written as .00, and the decimals up to which rows count as equal.
SMALLEST_SHOWN, SAME_PLACES = 0.005, 9
#: The maximum number of values for which cells show numbers; with more, cells are too narrow.
NUMBERED = 16
#: The minimum height of a heat map, in rows, for the numbers of its colour bar.
LEAST = 4
#: The maximum number of characters of a label that is not rotated.
ACROSS = 6
#: The maximum length of the colour bar, and its thickness, in inches.
LONGEST_BAR, THICKNESS = 2.6, 0.16
#: The probability above which the number in a dark cell is white.
WHITE_ABOVE = 0.6


def posterior(post: Posterior, ax: Axes | None = None, max_rows: int = MOST_TUPLES, sensitive: object = None) -> Axes:
    """Plot P(s | q) as a heat map: one row per QI tuple, one column per sensitive value.

    Parameters
    ----------
    post : Posterior
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    max_rows : int
        With more tuples than this, tuples with the same probabilities share a row, and the rows with the largest
        probabilities are shown; the title states whether tuples are left out.
    sensitive : value or list of values, optional
        The sensitive values to show. By default all, or, of more than 8, those with a probability of at least .005 in
        some row; the title states how many are left out.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError
        If `post` is not a Posterior, `max_rows` is not an integer of at least 1, or `ax` is not a Matplotlib Axes.
    UnknownName
        If a sensitive value does not exist.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve()
    >>> mx.plots.posterior(post, ax=Figure().subplots(), max_rows=1).get_title()         # without ax=, in a new figure
    'P(Disease | Gender) (the 1 most exposed of 2)'
    >>> len(mx.plots.posterior(post, ax=Figure().subplots(), sensitive=["Flu", "HIV"]).get_xticks())
    2
    """
    check_instance(post, Posterior, "post")
    check_int(max_rows, "max_rows", 1)
    conditional, view = post.conditional(), post.space.view
    table = conditional if sensitive is None else _columns_of(conditional, sensitive)
    sizes = np.ones(len(table), dtype=int)
    if len(table) > max_rows:
        table, sizes = most_exposed(table, max_rows)
    remarks = [f"the {sizes.sum()} most exposed of {len(conditional)}"] if sizes.sum() < len(conditional) else []
    is_seen = np.max(table.to_numpy(), axis=0) >= SMALLEST_SHOWN
    if sensitive is None and len(is_seen) > FEW_VALUES and is_seen.any() and not is_seen.all():
        remarks.append(f"{(~is_seen).sum()} values below {SMALLEST_SHOWN:g} left out")
        table = table.iloc[:, np.flatnonzero(is_seen)]
    columns = shortened_apart(table.columns)
    rows = [
        f"{name}{f' and {n - 1} more' if n > 1 else ''}"
        for name, n in zip(shortened_apart(table.index), sizes.tolist(), strict=True)
    ]
    numbers = len(columns) <= NUMBERED
    width, height = len(columns) * (CELL[0] if numbers else BARE), max(len(table), LEAST) * CELL[1]
    with axes_for(ax, width, height) as drawn:
        image = drawn.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        drawn.set_yticks(range(len(table)), rows, parse_math=False)
        across = numbers and all(len(name) <= ACROSS for name in columns)
        turned: dict[str, Any] = {} if across else {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
        drawn.set_xticks(range(len(columns)), columns, parse_math=False, **turned)
        drawn.set_ylabel(shortened(tuple(conditional.index.names)))
        drawn.set_xlabel(shortened(tuple(view.sensitive)))
        if numbers:
            _write(drawn, table.to_numpy())
        remark = f" ({'; '.join(remarks)})" if remarks else ""
        drawn.set_title(f"P({', '.join(view.sensitive)} | {', '.join(view.qi)}){remark}")
        if ax is None:  # in inches, beside the axes
            bar = min(height, LONGEST_BAR)
            cax = drawn.inset_axes((1 + 0.12 / width, 1 - bar / height, THICKNESS / width, bar / height))
            drawn.figure.colorbar(image, cax=cax, label="probability")
        else:
            drawn.figure.colorbar(image, ax=drawn, label="probability")
    return drawn


def _columns_of(table: pd.DataFrame, sensitive: object) -> pd.DataFrame:
    """Return the columns of one or several sensitive values."""
    is_list = is_several(sensitive) and not isinstance(sensitive, str | tuple)
    values: list[Any] = list(sensitive) if is_list else [sensitive]  # type: ignore[call-overload]
    if not values:
        raise StatementError("sensitive must contain at least one value; omit it to show all values")
    if unknown := [value for value in values if value not in table.columns]:
        raise unknown_name("sensitive value", unknown[0], table.columns)
    labels: Any = pd.Index(values, dtype=object) if table.columns.nlevels == 1 else pd.MultiIndex.from_tuples(values)
    return table.iloc[:, table.columns.get_indexer(labels)]  # not loc, since labels can be True and False


def most_exposed(table: pd.DataFrame, max_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the distinct rows with the largest probabilities, by their first tuples, and their numbers of tuples."""
    p = table.to_numpy()
    _, first, sizes = np.unique(p.round(SAME_PLACES), axis=0, return_index=True, return_counts=True)
    order = np.lexsort((first, -p[first].max(axis=1)))[:max_rows]
    return table.iloc[first[order]], sizes[order]


def _write(ax: Axes, p: np.ndarray) -> None:
    """Write every probability in its cell, in a legible colour."""
    for (i, j), probability in np.ndenumerate(p):
        text = f"{probability:.2f}".replace("0.", ".")
        ax.text(j, i, text, ha="center", va="center", color="white" if probability > WHITE_ABOVE else "0.15")


def intervals(
    bounds: pd.DataFrame,
    estimates: Posterior | pd.Series | None = None,
    ax: Axes | None = None,
    max_rows: int = READABLE,
) -> Axes:
    """Plot the interval of each probability, low <= P <= high, as a line, and its estimate as a point.

    The interval follows from the rows alone; the position of the point in it follows from maximum entropy.

    Parameters
    ----------
    bounds : DataFrame
        The result of :meth:`maxent_cvx.MaxEnt.bounds`, for every P(s | q) or for several probabilities.
    estimates : Posterior or Series, optional
        The posterior of the same model, or probabilities with the index of `bounds`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    max_rows : int
        If there are more intervals, those with the largest lower ends are shown, as the title states.

    Returns
    -------
    Axes

    Raises
    ------
    TableError
        If `bounds` is not such a table or is empty, or an estimate is missing.
    StatementError
        If `estimates` has another type, `max_rows` is not an integer of at least 1, or `ax` is not a Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> bounds = model.bounds(["P(Flu | Gender=male)", "P(HIV | Gender=male)"])
    >>> ax = mx.plots.intervals(bounds, model.solve(), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['P(Flu | Gender=male)', 'P(HIV | Gender=male)']
    """
    check_table(bounds, ("low", "high"), "MaxEnt.bounds")
    if bounds.empty:
        raise TableError("the table of bounds is empty; pass the result of MaxEnt.bounds")
    ends = as_floats(bounds[["low", "high"]], "low and high")
    if (ends[:, 0] > ends[:, 1]).any():
        raise TableError("low must not be above high")
    check_int(max_rows, "max_rows", 1)
    point = None if estimates is None else _estimated(bounds.index, estimates)
    order = np.arange(len(bounds))
    if cut := len(bounds) > max_rows:
        order = np.argsort(-ends[:, 0], kind="stable")[:max_rows]
    place, (low, high) = np.arange(len(order)), ends[order].T
    with axes_for(ax, LENGTH, EACH * (len(order) + 0.5)) as drawn:
        drawn.hlines(place, low, high, color=FOR, linewidth=2.5, label="interval: what is certain", zorder=2)
        ticks: dict[str, Any] = {"color": FOR, "marker": "|", "s": 70, "linewidth": 1.8, "clip_on": False, "zorder": 2}
        drawn.scatter(np.append(low, high), np.append(place, place), **ticks)
        if point is not None:
            shape: dict[str, Any] = {"color": AGAINST, "marker": "D", "s": 26, "clip_on": False, "zorder": 3}
            drawn.scatter(point[order], place, label="estimate: maximum entropy", **shape)
        drawn.set_xlim(min(0.0, float(low.min())), max(1.0, float(high.max())))
        _rows_of_probabilities(drawn, bounds.index[order])
        if cut:
            drawn.set_title(f"the {max_rows} with the largest lower ends of {len(bounds)}")
    return drawn


def _estimated(index: pd.Index, estimates: object) -> np.ndarray:
    """Return the probabilities of a posterior or a Series for the rows of the bounds."""
    check_instance(estimates, (Posterior, pd.Series), "estimates")
    if isinstance(estimates, Posterior):
        if index.nlevels == 1:
            return np.array([estimates.prob(read_probability(str(label))) for label in index])
        conditional = estimates.conditional()
        column: object = conditional.stack(list(range(conditional.columns.nlevels)), future_stack=True)
    else:
        column = estimates
    assert isinstance(column, pd.Series)
    at = column.index.get_indexer(index) if column.index.is_unique else np.full(len(index), -1)
    if (at < 0).any():
        raise TableError(
            f"the estimates lack {join_names(index[at < 0], 3)}; pass the posterior of the same model, or one "
            "probability for each row of the bounds"
        )
    return as_floats(column.iloc[at], "estimates")


def likeliest_values(tables: dict[str, pd.DataFrame], records: pd.Series | None = None, ax: Axes | None = None) -> Axes:
    """Plot the share of records with max P(value | group) >= t against t, one line per table.

    Parameters
    ----------
    tables : dict of str to DataFrame
        A mapping of legends to probabilities, one row per group, one column per value; all with the same rows.
    records : Series, optional
        The number of records of each row; by default 1.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, TableError
        If `tables` is empty, a table is empty or contains anything but numbers, `records` does not have the rows of the
        tables, or `ax` is not a Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> tables = {"nothing known": model.solve().conditional()}
    >>> tables["no man has breast cancer"] = model.add("P(Breast Cancer | Gender=male) = 0").solve().conditional()
    >>> mx.plots.likeliest_values(tables, ax=Figure().subplots()).get_xlabel()
    'probability of the likeliest value, at least'
    """
    check_mapping(tables, "tables", "{name: table of probabilities}")
    if not tables:
        raise StatementError("tables must not be empty; pass {name: table of probabilities}")
    lines = [(name, *_steps(table, records)) for name, table in tables.items()]
    with axes_for(ax, *LINES) as drawn:
        draw_lines(drawn, lines, "steps-pre")
        drawn.set(xlim=(0.0, 1.01), ylim=(0.0, 1.02))
        describe(drawn, "probability of the likeliest value, at least", "share of the records")
    return drawn


def _steps(table: object, records: pd.Series | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted probabilities, and the share of records with at least each of them."""
    p = as_floats(check_dataframe(table, "a table of probabilities"), "probabilities")
    if not p.size:
        raise TableError("a table of probabilities has no rows or no columns; pass one row per group")
    if records is None:
        records = pd.Series(1.0, range(len(p)))
    if not isinstance(records, pd.Series) or len(records) != len(p):
        raise TableError(f"records must be a Series with one count for each of the {len(p)} rows of a table")
    weight = as_floats(records, "records")
    if not (weight >= 0).all() or not weight.sum() > 0:
        raise TableError("records must be nonnegative counts, not all 0")
    largest = p.max(axis=1)
    order = np.argsort(largest)
    share = np.cumsum(weight[order][::-1])[::-1] / weight.sum()
    return np.concatenate([[0.0], largest[order], largest[order][-1:]]), np.concatenate([[1.0], share, [0.0]])


#: The maximum number of characters of a drawn statement.
LONGEST_NAME = 60


def prices(table: pd.DataFrame, ax: Axes | None = None, max_rows: int = READABLE) -> Axes:
    """Plot the price ``|dH / d value|`` of each statement as a bar, infinite ones up to the edge.

    Parameters
    ----------
    table : DataFrame
        The result of :meth:`maxent_cvx.Posterior.prices`; the largest prices are at the top.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    max_rows : int
        With more statements than this, those with the largest prices are shown, as the title states.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is not one of prices, or empty; `max_rows` is not an integer of at least 1, or `ax` is not a
        Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve()
    >>> [label.get_text() for label in mx.plots.prices(post.prices(), ax=Figure().subplots()).get_yticklabels()]
    ['P(Flu | Gender=male) = 0.3']
    """
    check_table(table, ("side", "price"), "Posterior.prices", ("price",))
    check_int(max_rows, "max_rows", 1)
    if table.empty:
        raise StatementError("there are no prices to plot: the model contains no knowledge")
    shown = table.head(max_rows)
    price = shown["price"].to_numpy()
    finite = np.abs(price[np.isfinite(price)])
    edge = 1.15 * float(finite.max(initial=0.0)) or 1.0
    place = np.arange(len(shown))
    with axes_for(ax, LENGTH, EACH * (len(shown) + 0.5)) as drawn:
        for rows, color, more in ((price > 0, FOR, "more"), (price < 0, AGAINST, "less")):
            if rows.any():
                length, label = np.minimum(np.abs(price[rows]), edge), f"a larger value: {more} entropy"
                drawn.barh(place[rows], length, color=color, hatch=BARS[color], edgecolor="white", label=label)
        for i in map(int, np.flatnonzero(np.isinf(price))):
            boxed = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            drawn.text(0.98 * edge, i, "no limit: forces zeros", ha="right", va="center", fontsize="small", bbox=boxed)
        drawn.set_yticks(place, shortened_apart(shown.index, LONGEST_NAME), fontsize="small", parse_math=False)
        drawn.set_ylim(len(shown) - 0.5, -0.5)
        drawn.set_xlim(0, edge)
        drawn.set_xlabel("|dH / d value|, nats for a change of the value by 1")
        if len(table) > max_rows:
            drawn.set_title(f"the {max_rows} largest prices of {len(table)} statements")
        if (price != 0).any():
            legend_beside(drawn)
    return drawn


def sweep(table: pd.DataFrame, measured: str = "probability", ax: Axes | None = None) -> Axes:
    """Plot the measure of a sweep against eps, one line per value, or against the value, one line per eps.

    Parameters
    ----------
    table : DataFrame
        The result of :func:`maxent_cvx.sweep`.
    measured : str
        The column to plot.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, UnknownName, StatementError
        If the table is not the result of a sweep, or lacks the column; or `ax` is not a Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> table = mx.sweep(mx.MaxEnt(release), "P(Flu | Gender=male)", value=[0.2, 0.3], eps=[0.0, 0.05, 0.1])
    >>> [line.get_label() for line in mx.plots.sweep(table, "entropy", ax=Figure().subplots()).get_lines()]
    ['value = 0.2', 'value = 0.3']
    """
    check_table(table, ("value", "eps"), "sweep", ("value", "eps"))
    check_str(measured, "measured")
    if measured not in table.columns:
        raise unknown_name("column of the sweep", measured, list(table.columns[3:]))
    check_table(table, (measured,), "sweep", (measured,))
    along, each = ("eps", "value") if table["eps"].nunique() >= table["value"].nunique() else ("value", "eps")
    with axes_for(ax, *LINES) as drawn:
        parts = table.sort_values(along, kind="stable").groupby(each)
        draw_lines(drawn, ((f"{each} = {at:.4g}", part[along], part[measured].astype(float)) for at, part in parts))
        x = {"eps": "vagueness, eps", "value": "the value that is known"}[along]
        y = {"entropy": "entropy, nats"}.get(measured, measured)
        describe(drawn, x, y, has_legend=table[each].nunique() > 1)
    return drawn
