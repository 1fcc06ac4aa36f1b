"""The curves of the paper: scores against bounds of knowledge (Privacy-MaxEnt, Fig. 5)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from ..errors import StatementError, arguments
from ..measures.accuracy import check_base
from .drawing import LINES, axes_for, check_table
from .fitting import legend_beside
from .looks import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["quantification"]


def quantification(curves: dict[str, pd.DataFrame], ax: Axes | None = None, base: float = 2) -> Axes:
    """Draw scores against the number of associations known, a curve a table of :func:`~maxent_cvx.quantify` (Fig. 5).

    Parameters
    ----------
    curves : dict of str to DataFrame
        Legend to table, with the columns "K+", "K-" and "score".
    ax : Axes, optional
        Where to draw; by default a new figure.
    base : float
        Of the score's logarithm, for the label: 2 is bits, ``math.e`` is nats.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, TableError, BadProbability
        If there is no curve, a table is none of :func:`maxent_cvx.quantify`, `ax` is no Axes, or the base is at most 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> table = mx.quantify(release, hospital, [(0, 0), (2, 2), (5, 5)], min_support=1, progress=False)
    >>> mx.plots.quantification({"both kinds": table}, ax=Figure().subplots()).get_ylabel()
    'divergence from the truth (bits)'
    """
    arguments.mapping(curves, "curves", "{name: table of quantify}")
    check_base(base)
    for table in curves.values():
        check_table(table, ("K+", "K-", "score"), "quantify", ("K+", "K-", "score"))
    if not curves:
        raise StatementError("quantification has no curve to draw; give {name: table of quantify}")
    unit = {2: "bits", math.e: "nats"}.get(base, f"base {base:g}")
    with axes_for(ax, *LINES) as drawn:
        for number, (name, table) in enumerate(curves.items()):
            drawn.plot(table["K+"] + table["K-"], table["score"], label=str(name), **look(number, len(table)))
        drawn.set_xlabel("associations the adversary knows, K = K+ + K-")
        drawn.set_ylabel(f"divergence from the truth ({unit})")
        drawn.grid(alpha=0.3)
        legend_beside(drawn)
    return drawn
