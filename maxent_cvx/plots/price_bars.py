"""Shadow prices of statements, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments
from .drawing import READABLE, axes_or_new, check_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["prices"]

#: Characters of a statement that are drawn.
LONGEST_NAME = 60


def prices(table: pd.DataFrame, ax: Axes | None = None, max_rows: int = READABLE) -> Axes:
    """Draw the price of each statement: bars of ``|dH / d value|``, infinite ones up to the edge.

    Parameters
    ----------
    table : DataFrame
        What :meth:`maxent_cvx.Posterior.prices` returns; the dearest statements are at the top.
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_rows : int
        With more statements than this, the dearest are shown, and the title says so.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is none of prices, or empty; `max_rows` is no integer of at least 1, or `ax` no Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve()
    >>> [label.get_text() for label in mx.plots.prices(post.prices(), ax=Figure().subplots()).get_yticklabels()]
    ['P(Flu | Gender=male) = 0.3']
    """
    check_table(table, ("side", "price"), "Posterior.prices")
    arguments.whole(max_rows, "max_rows", 1)
    if table.empty:
        raise StatementError("there is no price to draw: the model holds no knowledge")
    shown = table.head(max_rows)
    price = shown["price"].to_numpy()
    finite = np.abs(price[np.isfinite(price)])
    edge = 1.15 * float(finite.max(initial=0.0)) or 1.0
    ax = axes_or_new(ax, (7.0, 1.2 + 0.32 * len(shown)))
    place = np.arange(len(shown))
    for some, color, more in ((price > 0, "C0", "more"), (price < 0, "C1", "less")):
        if some.any():
            length = np.minimum(np.abs(price[some]), edge)
            ax.barh(place[some], length, color=color, label=f"a larger value: {more} entropy")
    for i in map(int, np.flatnonzero(np.isinf(price))):
        ax.text(edge, i, "no limit: forces zeros ", ha="right", va="center", color="white", fontsize="small")
    names = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..." for name in map(str, shown.index)]
    ax.set_yticks(place, names, fontsize="small")
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, edge)
    ax.set_xlabel("|dH / d value|, nats for a change of the value by 1")
    if len(table) > max_rows:
        ax.set_title(f"the {max_rows} dearest of {len(table)} statements", pad=24)
    if (price != 0).any():
        ax.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return ax
