"""Receiver operating characteristics as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..errors import TableError
from .drawing import axes_for, check_table
from .fitting import legend_beside
from .looks import FAINT, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["roc"]

#: The size of the box, inches: square, since both axes are shares.
SQUARE = (3.8, 3.8)


def roc(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the share of true positives against that of false ones, a line a group; on the diagonal nothing is told.

    Parameters
    ----------
    table : DataFrame
        The `roc` of a result of :func:`maxent_cvx.attacks.aggregates`: columns `group`, `threshold`, `false_positive`
        and `true_positive`, shares, rising in each group from 0 to 1.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table has no such columns, no rows, or something else than shares; or `ax` is no Axes of Matplotlib.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from matplotlib.figure import Figure
    >>> table = pd.DataFrame({"group": "in the data", "threshold": [9.0, 0.8, 0.1],
    ...                       "false_positive": [0.0, 0.2, 1.0], "true_positive": [0.0, 0.9, 1.0]})
    >>> ax = mx.plots.roc(table, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['in the data (area 0.85)', 'by chance']
    """
    shares = ("false_positive", "true_positive")
    check_table(table, ("group", *shares), "attacks.aggregates(...).roc", shares)
    if not len(table):
        raise TableError("the table has no rows: in no group there are people with the value and without")
    rates = table[list(shares)]
    if not ((rates >= 0) & (rates <= 1)).all(axis=None):
        raise TableError("shares of false and of true positives must be from 0 to 1, and none may be missing")
    with axes_for(ax, *SQUARE) as drawn:
        for number, (group, part) in enumerate(table.groupby("group", sort=False)):
            x, y = (part[name].to_numpy(dtype=float) for name in rates)
            area = float(((y[1:] + y[:-1]) / 2 * (x[1:] - x[:-1])).sum())
            drawn.plot(x, y, label=f"{group} (area {area:.2f})", clip_on=False, **look(number, len(x)))
        drawn.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle=":", label="by chance")
        drawn.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
        if ax is not None:
            drawn.set_aspect("equal")  # the box of a new figure is square
        drawn.set_xlabel("false positives: share of people without the value")
        drawn.set_ylabel("true positives: share of people with it")
        drawn.grid(alpha=0.3)
        legend_beside(drawn)
    return drawn
