"""Solvers as points: seconds, and how far an answer can be off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import StatementError
from ..solvers import ACCURACY
from .drawing import LINES, axes_or_new, check_table
from .point_names import name_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["solver_comparison"]

#: The least seconds, and the least error of a probability, that are drawn; less is drawn as these.
SHORTEST, FINEST = 1e-4, 1e-16


def solver_comparison(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how far each solver's answer can be off against the seconds it took; down and to the left is better.

    Parameters
    ----------
    table : DataFrame
        What :func:`maxent_cvx.compare_solvers` returns. Solvers without an answer are named above.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is none of :func:`maxent_cvx.compare_solvers`, or has no answer; or `ax` is no Axes of Matplotlib.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> table = mx.compare_solvers(mx.MaxEnt(release), ["DUAL_NEWTON", "DUAL_LBFGS"])
    >>> sorted(text.get_text() for text in mx.plots.solver_comparison(table, ax=Figure().subplots()).texts)
    ['DUAL_LBFGS', 'DUAL_NEWTON']
    """
    check_table(table, ("bound", "certified", "compile_seconds", "solve_seconds"), "compare_solvers")
    from matplotlib.ticker import LogLocator, NullFormatter

    answered = table[table["bound"].notna()]
    if answered.empty:
        raise StatementError("no solver of the table has an answer to draw; its column 'message' says why")
    ax = axes_or_new(ax, LINES)
    # A logarithmic axis needs a least value; and no probability is off by more than 1, even if no bound is proved.
    seconds = (answered["compile_seconds"] + answered["solve_seconds"]).clip(lower=SHORTEST).to_numpy()
    bound = answered["bound"].clip(FINEST, 1.0).to_numpy()
    certified = answered["certified"].to_numpy()
    for chosen, marker, color in ((certified, "o", "C0"), (~certified, "X", "C3")):
        ax.scatter(seconds[chosen], bound[chosen], marker=marker, color=color, s=45, zorder=3)
    ax.axhline(ACCURACY, color="0.5", linewidth=1, linestyle="--", zorder=1)
    ax.set(xscale="log", yscale="log", xlabel="seconds, compiling and solving")
    ax.set_ylabel("largest possible error of a P(s | q)\n(certified: below the dashed line)")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if seconds.max() < 50 * seconds.min() else (1,)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(0.15)
    ax.grid(alpha=0.3)
    if len(silent := table[table["bound"].isna()]):
        named = ", ".join(f"{name} ({status})" for name, status in silent["status"].items())
        ax.set_title(f"no answer: {named}", fontsize="small", wrap=True)
    name_points(ax, np.c_[seconds, bound], [str(name) for name in answered.index])
    return ax
