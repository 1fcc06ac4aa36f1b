"""Intervals of probabilities, and the estimates inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import TableError, arguments, listing
from ..model.posterior import Posterior
from ..sources import read_probability
from .drawing import READABLE, axes_for, check_table, shortened
from .fitting import legend_beside
from .looks import AGAINST, FOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["intervals"]

#: The size of the rows, inches: their length, and the height that each takes.
LENGTH, EACH = 5.0, 0.32


def intervals(
    bounds: pd.DataFrame,
    estimates: Posterior | pd.Series | None = None,
    ax: Axes | None = None,
    max_rows: int = READABLE,
) -> Axes:
    """Draw what the rows alone imply, low <= P <= high, as a line a probability, and the estimate as a point on it.

    A line is what is certain; where on it the point is, is what maximum entropy adds.

    Parameters
    ----------
    bounds : DataFrame
        What :meth:`maxent_cvx.MaxEnt.bounds` returns, of every P(s | q) or of several probabilities.
    estimates : Posterior or Series, optional
        The posterior of the same model; or probabilities, by the index of `bounds`.
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_rows : int
        With more intervals than this, those with the largest lower ends are shown, and the title says so.

    Returns
    -------
    Axes

    Raises
    ------
    TableError
        If `bounds` is no such table, or empty, or an estimate is missing.
    StatementError
        If `estimates` is something else, `max_rows` no integer of at least 1, or `ax` no Axes of Matplotlib.

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
    ends = _read(bounds)
    arguments.whole(max_rows, "max_rows", 1)
    point = None if estimates is None else _estimated(bounds.index, estimates)
    order = np.arange(len(bounds))
    if cut := len(bounds) > max_rows:
        order = np.argsort(-ends[:, 0], kind="stable")[:max_rows]
    with axes_for(ax, LENGTH, EACH * (len(order) + 0.5)) as drawn:
        _draw(drawn, ends[order], None if point is None else point[order])
        drawn.set_yticks(range(len(order)), [_written(label) for label in bounds.index[order]], parse_math=False)
        if cut:
            drawn.set_title(f"the {max_rows} with the largest lower ends of {len(bounds)}")
        legend_beside(drawn)
    return drawn


def _read(bounds: object) -> np.ndarray:
    """The ends of the intervals, shape (n, 2)."""
    check_table(bounds, ("low", "high"), "MaxEnt.bounds")
    assert isinstance(bounds, pd.DataFrame)
    if bounds.empty:
        raise TableError("the table of bounds has no rows; give what MaxEnt.bounds returns")
    try:
        ends = bounds[["low", "high"]].to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"low and high must be numbers: {error}") from error
    if not np.isfinite(ends).all() or (ends[:, 0] > ends[:, 1]).any():
        raise TableError("low and high must be numbers, the first not above the second, and none may be missing")
    return ends


def _draw(ax: Axes, ends: np.ndarray, point: np.ndarray | None) -> None:
    """Draw lines with ticks at their ends, and points."""
    place, (low, high) = np.arange(len(ends)), ends.T
    ax.hlines(place, low, high, color=FOR, linewidth=2.5, label="interval: what is certain", zorder=2)
    ticks: dict[str, Any] = {"color": FOR, "marker": "|", "s": 70, "linewidth": 1.8, "clip_on": False, "zorder": 2}
    ax.scatter(np.append(low, high), np.append(place, place), **ticks)
    if point is not None:
        shape: dict[str, Any] = {"color": AGAINST, "marker": "D", "s": 26, "clip_on": False, "zorder": 3}
        ax.scatter(point, place, label="estimate: maximum entropy", **shape)
    ax.set_ylim(len(ends) - 0.5, -0.5)
    ax.set_xlim(min(0.0, float(low.min())), max(1.0, float(high.max())))
    ax.set_xlabel("probability")
    ax.grid(axis="x", alpha=0.3)


def _written(label: object) -> str:
    """The name of an interval: what was asked, or the values of q and s."""
    return shortened(", ".join(map(str, label)) if isinstance(label, tuple) else label)


def _estimated(index: pd.Index, estimates: object) -> np.ndarray:
    """The probabilities that a posterior or a Series gives to what the rows of the bounds are about."""
    arguments.instance(estimates, (Posterior, pd.Series), "estimates")
    if isinstance(estimates, Posterior):
        if index.nlevels == 1:
            return np.array([estimates.prob(read_probability(str(asked))) for asked in index])
        conditional = estimates.conditional()
        found: object = conditional.stack(list(range(conditional.columns.nlevels)), future_stack=True)
    else:
        found = estimates
    assert isinstance(found, pd.Series)
    at = found.index.get_indexer(index) if found.index.is_unique else np.full(len(index), -1)
    if (at < 0).any():
        raise TableError(
            f"there is no estimate of {listing(index[at < 0], 3)}, or of one several; give the posterior of the model "
            "that was bounded, or one probability for each row of the bounds"
        )
    try:
        return found.to_numpy(dtype=float)[at]
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"estimates must be numbers: {error}") from error
