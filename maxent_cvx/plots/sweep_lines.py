"""What a sweep measured, as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..errors import arguments, unknown_name
from .drawing import LINES, axes_for, check_table
from .fitting import legend_beside
from .looks import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["sweep"]


def sweep(table: pd.DataFrame, measured: str = "probability", ax: Axes | None = None) -> Axes:
    """Draw what a sweep measured against eps, a line a value; or against the value, a line an eps.

    Parameters
    ----------
    table : DataFrame
        What :func:`maxent_cvx.sweep` returns.
    measured : str
        The column to draw.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, UnknownName, StatementError
        If the table is none of a sweep, which measured nothing of that name; or `ax` is no Axes of Matplotlib.

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
    arguments.text(measured, "measured")
    if measured not in table.columns:
        raise unknown_name("column of the sweep", measured, list(table.columns[3:]))
    check_table(table, (measured,), "sweep", (measured,))
    along, each = ("eps", "value") if table["eps"].nunique() >= table["value"].nunique() else ("value", "eps")
    with axes_for(ax, *LINES) as drawn:
        for number, (one, part) in enumerate(table.groupby(each)):
            ordered = part.sort_values(along)
            label = f"{each} = {one:.4g}"
            drawn.plot(ordered[along], ordered[measured].astype(float), label=label, **look(number, len(part)))
        drawn.set_xlabel({"eps": "vagueness, eps", "value": "the value that is known"}[along])
        drawn.set_ylabel({"entropy": "entropy, nats"}.get(measured, measured))
        drawn.grid(alpha=0.3)
        if table[each].nunique() > 1:
            legend_beside(drawn)
    return drawn
