"""Inference channels: what one release says of a person, and what all say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, arguments
from .drawing import READABLE, check_table
from .dumbbells import draw_dumbbells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["inference_channels"]


def inference_channels(table: pd.DataFrame, ax: Axes | None = None, max_rows: int = READABLE) -> Axes:
    """Draw P_u(s | i) of one release and P(s | i) of all: a row a channel, from a hollow point to a filled one.

    Parameters
    ----------
    table : DataFrame
        What :func:`maxent_cvx.inference_channels` returns; the largest change is at the top.
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_rows : int
        With more channels than this, those that change most are shown, and the title says so.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is none of :func:`maxent_cvx.inference_channels`, or empty: there is no channel; `max_rows` is no
        integer of at least 1, or `ax` no Axes of Matplotlib.

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
    arguments.whole(max_rows, "max_rows", 1)
    if table.empty:
        raise StatementError("there is no inference channel to draw: every release alone says what all say together")
    try:
        p = table[["alone", "together"]].to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"alone and together must be probabilities: {error}") from error
    if not ((p >= -1e-4) & (p <= 1 + 1e-4)).all():
        raise TableError("alone and together must be probabilities, from 0 to 1, and none may be missing")
    order = np.argsort(-np.abs(p[:, 1] - p[:, 0]), kind="stable")[:max_rows]
    alone, together = p[order].T
    rows = [
        f"{person}: {', '.join(map(str, value)) if isinstance(value, tuple) else value} (release {release})"
        for person, value, release in table.iloc[order][["person", "value", "release"]].itertuples(index=False)
    ]
    of_all = f" (the {max_rows} largest of {len(table)})" if len(table) > max_rows else ""
    labels = ("the release alone", "all together")
    return draw_dumbbells(ax, rows, alone, together, labels, f"inference channels{of_all}")
