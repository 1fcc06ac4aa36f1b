"""Performance profiles as steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import TableError
from .drawing import LINES, axes_for, check_table
from .fitting import legend_beside
from .looks import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["performance_profile"]

#: How far lines are drawn beyond the largest ratio, as a factor, so that their ends can be read.
BEYOND = 1.3


def performance_profile(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the fraction of models that each solver solves within tau times the best cost; up and to the left is better.

    Parameters
    ----------
    table : DataFrame
        What :func:`maxent_cvx.performance_profile` returns.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is none of :func:`maxent_cvx.performance_profile`; or `ax` is no Axes of Matplotlib.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> models = {f"{p:.0%}": mx.MaxEnt(release).add(f"P(Flu | Gender=male) = {p}") for p in (0.3, 0.4)}
    >>> table = mx.performance_profile(mx.compare_solvers(models, ["DUAL_NEWTON", "DUAL_LBFGS"]), "iterations")
    >>> ax = mx.plots.performance_profile(table, ax=Figure().subplots())
    >>> [line.get_label() for line in ax.get_lines()]
    ['DUAL_NEWTON', 'DUAL_LBFGS']
    """
    check_table(table, ("solver", "tau", "fraction"), "performance_profile", ("tau", "fraction"))
    if not len(table) or not np.isfinite(table[["tau", "fraction"]].to_numpy(dtype=float)).all():
        raise TableError("the table has no rows, or tau or fraction is missing; give what performance_profile returns")
    from matplotlib.ticker import LogLocator, NullFormatter

    end = float(table["tau"].max()) * BEYOND
    with axes_for(ax, *LINES) as drawn:
        for number, (solver, part) in enumerate(table.groupby("solver", sort=False)):
            ordered = part.sort_values("tau")
            tau, fraction = [*ordered["tau"], end], [*ordered["fraction"], ordered["fraction"].iloc[-1]]
            drawn.step(tau, fraction, where="post", label=str(solver), clip_on=False, **look(number, len(tau)))
        drawn.set(xlim=(1.0, end), ylim=(0.0, 1.02), xlabel="tau: cost, as a multiple of the best solver's")
        drawn.set_ylabel("fraction of models solved, certified")
        if end > 10:
            drawn.set_xscale("log")
            drawn.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if end < 1000 else (1,)))
            drawn.xaxis.set_major_formatter("{x:g}")
            drawn.xaxis.set_minor_formatter(NullFormatter())
        drawn.grid(alpha=0.3)
        legend_beside(drawn)
    return drawn
