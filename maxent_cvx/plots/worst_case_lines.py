"""The worst that k pieces of knowledge can do, a line a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError
from .drawing import LINES, axes_for, check_table
from .fitting import legend_beside
from .looks import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["worst_case"]


def worst_case(tables: pd.DataFrame | Mapping[str, pd.DataFrame], ax: Axes | None = None) -> Axes:
    """Draw the largest disclosure against k, the pieces of knowledge: a line a release, low and late is better.

    Parameters
    ----------
    tables : DataFrame, or dict of str to DataFrame
        What :func:`maxent_cvx.attacks.worst_case` returns, by the name that the legend shows; or another table with the
        columns `k` and `disclosure`, such as a part of :func:`maxent_cvx.attacks.skyline` with a column renamed.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, TableError
        If there is no table, or one lacks a column, rows or numbers; or `ax` is no Axes of Matplotlib.

    Examples
    --------
    Implications, and negated atoms alone ("she has not the flu"):

    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> negated = mx.attacks.skyline(release, target=range(4), others=0, same=0).rename(columns={"target": "k"})
    >>> tables = {"implications": mx.attacks.worst_case(release), "negated atoms": negated}
    >>> ax = mx.plots.worst_case(tables, ax=Figure().subplots())
    >>> [line.get_ydata().round(2).tolist() for line in ax.get_lines()]
    [[0.5, 0.75, 1.0, 1.0], [0.5, 0.67, 1.0, 1.0]]
    """
    named = {"": tables} if isinstance(tables, pd.DataFrame) else tables
    if not isinstance(named, Mapping) or not named:
        raise StatementError("worst_case has no line to draw; give {name: what attacks.worst_case returns}")
    lines = {name: _points(table) for name, table in named.items()}
    from matplotlib.ticker import MaxNLocator

    with axes_for(ax, *LINES) as drawn:
        for number, (name, (k, disclosure)) in enumerate(lines.items()):
            drawn.plot(k, disclosure, label=str(name), clip_on=False, **look(number, len(k)))
        drawn.set_ylim(0.0, 1.0)
        drawn.xaxis.set_major_locator(MaxNLocator(integer=True))
        drawn.set_xlabel("pieces of knowledge, k")
        drawn.set_ylabel("largest probability that can be inferred")
        drawn.grid(alpha=0.3)
        if list(lines) != [""]:
            legend_beside(drawn)
    return drawn


def _points(table: object) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a line, by k."""
    check_table(table, ("k", "disclosure"), "attacks.worst_case")
    assert isinstance(table, pd.DataFrame)
    try:
        numbers = table[["k", "disclosure"]].to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"k and disclosure must be numbers: {error}") from error
    if not len(numbers) or not np.isfinite(numbers).all():
        raise TableError("a table has no rows, or k or disclosure is missing; give what attacks.worst_case returns")
    k, disclosure = numbers[np.argsort(numbers[:, 0], kind="stable")].T
    return k, disclosure
