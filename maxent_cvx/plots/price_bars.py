"""Shadow prices of statements, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments
from .drawing import READABLE, axes_for, check_table, shortened
from .fitting import legend_beside
from .looks import AGAINST, BARS, FOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["prices"]

#: Characters of a statement that are drawn.
LONGEST_NAME = 60
#: The size of the bars, inches: their length, and the height that each takes.
LENGTH, EACH = 5.0, 0.32


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
    check_table(table, ("side", "price"), "Posterior.prices", ("price",))
    arguments.whole(max_rows, "max_rows", 1)
    if table.empty:
        raise StatementError("there is no price to draw: the model holds no knowledge")
    shown = table.head(max_rows)
    price = shown["price"].to_numpy()
    finite = np.abs(price[np.isfinite(price)])
    edge = 1.15 * float(finite.max(initial=0.0)) or 1.0
    place = np.arange(len(shown))
    with axes_for(ax, LENGTH, EACH * (len(shown) + 0.5)) as drawn:
        for some, color, more in ((price > 0, FOR, "more"), (price < 0, AGAINST, "less")):
            if some.any():
                length, label = np.minimum(np.abs(price[some]), edge), f"a larger value: {more} entropy"
                drawn.barh(place[some], length, color=color, hatch=BARS[color], edgecolor="white", label=label)
        for i in map(int, np.flatnonzero(np.isinf(price))):
            boxed = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            drawn.text(0.98 * edge, i, "no limit: forces zeros", ha="right", va="center", fontsize="small", bbox=boxed)
        drawn.set_yticks(
            place, [shortened(name, LONGEST_NAME) for name in shown.index], fontsize="small", parse_math=False
        )
        drawn.set_ylim(len(shown) - 0.5, -0.5)
        drawn.set_xlim(0, edge)
        drawn.set_xlabel("|dH / d value|, nats for a change of the value by 1")
        if len(table) > max_rows:
            drawn.set_title(f"the {max_rows} dearest of {len(table)} statements")
        if (price != 0).any():
            legend_beside(drawn)
    return drawn
