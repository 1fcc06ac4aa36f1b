"""Releases as points: how risky each is, and how useful."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import TableError, arguments, listing
from .drawing import LINES, axes_for, check_table, shortened
from .fitting import legend_beside
from .looks import AGAINST, FAINT, FOR
from .point_names import name_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["risk_utility"]

#: Characters of a name beside a point, which has less room than one beside an axis.
LONGEST_NAME = 28


def risk_utility(
    table: pd.DataFrame, risk: str = "risk", utility: str = "utility", ax: Axes | None = None, *, loss: bool = False
) -> Axes:
    """Draw the risk of each release against its utility, and the efficient frontier: no release is better in both.

    Parameters
    ----------
    table : DataFrame
        A row a release, named by the index.
    risk, utility : str
        The columns of what is large where a release is dangerous, and where it is useful; they label the axes.
    ax : Axes, optional
        Where to draw; by default a new figure.
    loss : bool
        Whether `utility` is what is lost, such as the error of queries: the less, the better.

    Returns
    -------
    Axes
        Efficient releases are filled points, joined by steps; the others, to which one of them is preferable, crosses.

    Raises
    ------
    TableError
        If there is no row or no such column, or something is no finite number.
    StatementError
        If `risk` or `utility` is no text, `loss` not True or False, or `ax` no Axes of Matplotlib.

    Notes
    -----
    The risk-utility map of Duncan, Keller-McNulty and Stokes (2001), "Disclosure risk vs. data utility: the R-U
    confidentiality map".

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from matplotlib.figure import Figure
    >>> found = {"exposed": [40, 12, 20], "query error": [0.02, 0.1, 0.2]}
    >>> table = pd.DataFrame(found, index=["l = 2", "l = 4", "k = 9"])
    >>> ax = mx.plots.risk_utility(table, "exposed", "query error", ax=Figure().subplots(), loss=True)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['efficient', 'another is preferable', 'efficient frontier']
    """
    arguments.flag(loss, "loss")
    arguments.text(risk, "risk"), arguments.text(utility, "utility")
    check_table(table, (risk, utility), "several releases, a row each,")
    x, y = _numbers(table, utility), _numbers(table, risk)
    if not len(x):
        raise TableError("there is no release to draw; give a table with a row each")
    efficient = _efficient(y, -x if not loss else x)
    with axes_for(ax, *LINES) as drawn:
        drawn.scatter(x[efficient], y[efficient], marker="o", s=50, color=FOR, label="efficient", zorder=3)
        if not efficient.all():
            worse: dict[str, Any] = {"marker": "X", "s": 50, "color": AGAINST, "zorder": 3}
            drawn.scatter(x[~efficient], y[~efficient], label="another is preferable", **worse)
        path = _steps(x[efficient], y[efficient], loss)
        faint: dict[str, Any] = {"color": FAINT, "linestyle": "--", "linewidth": 1.2, "zorder": 2}
        if len(path) > 1:
            drawn.plot(*path.T, label="efficient frontier", **faint)
        drawn.set_xlabel(f"{utility} ({'less' if loss else 'more'} is better)")
        drawn.set_ylabel(f"{risk} (less is better)")
        drawn.margins(0.15)
        drawn.grid(alpha=0.3)
        legend_beside(drawn)
    name_points(drawn, np.c_[x, y], [shortened(name, LONGEST_NAME) for name in table.index], path)
    return drawn


def _steps(x: np.ndarray, y: np.ndarray, loss: bool) -> np.ndarray:
    """The corners of the frontier: to whatever lies above it a release is preferable."""
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    # From a release to the next more useful one: less useful ones of the next one's risk are not efficient.
    between = np.c_[x[1:], y[:-1]] if loss else np.c_[x[:-1], y[1:]]
    corners = np.empty((2 * len(x) - 1, 2))
    corners[::2], corners[1::2] = np.c_[x, y], between
    return corners


def _numbers(table: pd.DataFrame, column: str) -> np.ndarray:
    """A column of finite numbers."""
    try:
        found = table[column].to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise TableError(f"column {column!r} must hold numbers: {error}") from error
    if found.ndim > 1:
        raise TableError(f"there are several columns {column!r}; rename all but one")
    if (missing := ~np.isfinite(found)).any():
        raise TableError(
            f"column {column!r} is missing or infinite for {listing(table.index[missing])}; leave these out"
        )
    return found


def _efficient(risk: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """Mark the points to which no other is preferable: none has at most as much of both, and less of one."""
    at_most = (risk <= risk[:, None]) & (loss <= loss[:, None])  # of a row: what the column's point is at most
    less = (risk < risk[:, None]) | (loss < loss[:, None])
    return np.asarray(~(at_most & less).any(axis=1))
