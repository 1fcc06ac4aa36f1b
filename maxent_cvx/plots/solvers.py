"""Plots of solvers: performance profiles, and time against accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError
from ..solvers.certificate import ACCURACY
from ._style import AGAINST, FAINT, FOR, LINES, axes_for, check_table, describe, draw_lines, name_points, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: The factor by which lines extend beyond the largest ratio, so that their ends are legible.
BEYOND = 1.3


def performance_profile(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the fraction of models that each solver solves within tau times the best cost; up and to the left is better.

    Parameters
    ----------
    table : DataFrame
        The result of :func:`maxent_cvx.performance_profile`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is not one of :func:`maxent_cvx.performance_profile`; or `ax` is not a Matplotlib Axes.

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
        raise TableError("the table is empty, or tau or fraction is missing; pass the result of performance_profile")
    end = float(table["tau"].max()) * BEYOND
    with axes_for(ax, *LINES) as drawn:
        lines = []
        for solver, part in table.groupby("solver", sort=False):
            tau, fraction = part.sort_values("tau")[["tau", "fraction"]].to_numpy().T
            lines.append((solver, np.append(tau, end), np.append(fraction, fraction[-1])))
        draw_lines(drawn, lines, "steps-post", clip_on=False)
        drawn.set(xlim=(1.0, end), ylim=(0.0, 1.02))
        if end > 10:
            _use_log_scale(drawn, has_few_decades=end < 1000)
        describe(drawn, "tau: cost, as a multiple of the best solver's", "fraction of models solved and certified")
    return drawn


def _use_log_scale(ax: Axes, has_few_decades: bool) -> None:
    """Use a logarithmic x axis, with plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if has_few_decades else (1,)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


#: The least seconds, and the least error of a probability, in the plot; smaller numbers are plotted as these.
SHORTEST, FINEST = 1e-4, 1e-16
#: The maximum number of characters of a name beside a point, which has less space than one beside an axis.
LONGEST_NAME = 28


def solver_comparison(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the error bound of each solver's answer against its time, seconds; down and to the left is better.

    Parameters
    ----------
    table : DataFrame
        The result of :func:`maxent_cvx.compare_solvers`. Solvers without an answer are listed above.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is not one of :func:`maxent_cvx.compare_solvers`, or contains no answer; or `ax` is not a
        Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> table = mx.compare_solvers(mx.MaxEnt(release), ["DUAL_NEWTON", "DUAL_LBFGS"])
    >>> sorted(text.get_text() for text in mx.plots.solver_comparison(table, ax=Figure().subplots()).texts)
    ['DUAL_LBFGS', 'DUAL_NEWTON']
    """
    numbers = ("bound", "seconds")
    check_table(table, ("certified", "word", *numbers), "compare_solvers", numbers)
    answered = table[table["bound"].notna()]
    if answered.empty:
        raise StatementError("no solver in the table has an answer; see its column 'reason'")
    # A logarithmic axis needs a least value. The error of a probability is at most 1, even without a proven bound.
    seconds = answered["seconds"].clip(lower=SHORTEST).to_numpy()
    bound = answered["bound"].clip(FINEST, 1.0).to_numpy()
    certified = answered["certified"].to_numpy()
    with axes_for(ax, *LINES) as drawn:
        for chosen, marker, color in ((certified, "o", FOR), (~certified, "X", AGAINST)):
            drawn.scatter(seconds[chosen], bound[chosen], marker=marker, color=color, s=45, zorder=3)
        drawn.axhline(ACCURACY, color=FAINT, linewidth=1, linestyle="--", zorder=1)
        drawn.set(yscale="log", xlabel="seconds, certificate included")
        drawn.set_ylabel("largest possible error of a P(s | q)\n(certified: below the dashed line)")
        _use_log_scale(drawn, has_few_decades=seconds.max() < 50 * seconds.min())
        drawn.margins(0.15)
        drawn.grid(alpha=0.3)
        if len(silent := table[table["bound"].isna()]):
            named = ", ".join(f"{shortened(_label(name))} ({word})" for name, word in silent["word"].items())
            drawn.set_title(f"no answer: {named}", fontsize="small")
    name_points(drawn, np.c_[seconds, bound], [shortened(_label(name), LONGEST_NAME) for name in answered.index])
    return drawn


def _label(name: object) -> str:
    """Return the solver of a row, after the model if there are several."""
    return ": ".join(map(str, name)) if isinstance(name, tuple) else str(name)
