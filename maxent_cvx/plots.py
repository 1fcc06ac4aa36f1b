"""Plots; each returns its Axes and takes ``ax=``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .errors import StatementError
from .posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["posterior", "quantification"]

#: QI tuples that a heat map still shows with readable labels.
READABLE = 40


def posterior(post: Posterior, ax: Axes | None = None, max_rows: int = READABLE) -> Axes:
    """Draw P(s | q) as a heat map: a row a QI tuple, a column a sensitive value.

    Parameters
    ----------
    post : Posterior
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_rows : int
        With more tuples than this, the ones with the largest probability are shown, and the title says so.
    """
    conditional = post.conditional()
    total = len(conditional)
    if total > max_rows:
        most_exposed = np.argsort(-conditional.to_numpy().max(axis=1), kind="stable")
        conditional = conditional.iloc[most_exposed[:max_rows]]
    view = post.space.view
    ax = _axes(ax, (2.2 + 0.75 * conditional.shape[1], 1.4 + 0.32 * len(conditional)))
    image = ax.imshow(conditional, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    rows = [", ".join(map(str, q)) if isinstance(q, tuple) else str(q) for q in conditional.index]
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(conditional.shape[1]), [str(s) for s in conditional.columns], rotation=35, ha="right")
    if conditional.shape[1] <= 16:
        for (i, j), p in np.ndenumerate(conditional.to_numpy()):
            ax.text(j, i, f"{p:.2f}".replace("0.", "."), ha="center", va="center", color="white" if p > 0.6 else "0.25")
    shown = f" (the {max_rows} most exposed of {total})" if total > max_rows else ""
    ax.set_title(f"P({view.sa} | {', '.join(view.qi)}){shown}")
    ax.figure.colorbar(image, ax=ax, label="probability")
    return ax


def quantification(curves: dict[str, pd.DataFrame], ax: Axes | None = None, base: float = 2) -> Axes:
    """Draw scores against the number of associations known, a curve a table of :func:`quantify` (Fig. 5).

    Parameters
    ----------
    curves : dict of str to DataFrame
        Legend to table, with the columns "K+", "K-" and "score".
    ax : Axes, optional
    base : float
        Of the score's logarithm, for the label.
    """
    if not curves:
        raise StatementError("quantification has no curve to draw; give {name: table of quantify}")
    ax = _axes(ax, (6.4, 4.2))
    for marker, (name, table) in zip("o^sDvP*X" * (1 + len(curves) // 8), curves.items(), strict=False):
        ax.plot(table["K+"] + table["K-"], table["score"], marker=marker, markersize=4, label=name)
    ax.set_xlabel("associations the adversary knows, K = K+ + K-")
    unit = {2: "bits", math.e: "nats"}.get(base, f"base {base:g}")
    ax.set_ylabel(f"divergence from the truth ({unit})")
    ax.legend()
    ax.grid(alpha=0.3)
    return ax


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Take the given axes, or make a figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # half a second to load, which no other part needs

    return plt.subplots(figsize=size, layout="constrained")[1]
