"""P(s | q) as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import arguments
from ..model.posterior import Posterior
from .drawing import READABLE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["posterior"]


def posterior(post: Posterior, ax: Axes | None = None, max_rows: int = READABLE) -> Axes:
    """Draw P(s | q) as a heat map: a row a QI tuple, a column a sensitive value.

    Parameters
    ----------
    post : Posterior
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_rows : int
        With more tuples than this, the ones with the largest probability are shown, and the title says so.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError
        If `post` is no Posterior, `max_rows` no integer of at least 1, or `ax` no Axes of Matplotlib.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve()
    >>> mx.plots.posterior(post, ax=Figure().subplots(), max_rows=1).get_title()         # without ax=, in a new figure
    'P(Disease | Gender) (the 1 most exposed of 2)'
    """
    arguments.instance(post, Posterior, "post")
    arguments.whole(max_rows, "max_rows", 1)
    conditional = post.conditional()
    total = len(conditional)
    if total > max_rows:
        most_exposed = np.argsort(-conditional.to_numpy().max(axis=1), kind="stable")
        conditional = conditional.iloc[most_exposed[:max_rows]]
    view = post.space.view
    ax = axes_or_new(ax, (2.2 + 0.75 * conditional.shape[1], 1.4 + 0.32 * len(conditional)))
    image = ax.imshow(conditional, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    rows = [", ".join(map(str, q)) if isinstance(q, tuple) else str(q) for q in conditional.index]
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(
        range(conditional.shape[1]),
        [", ".join(map(str, s)) if isinstance(s, tuple) else str(s) for s in conditional.columns],
        rotation=35,
        ha="right",
    )
    if conditional.shape[1] <= 16:
        for (i, j), p in np.ndenumerate(conditional.to_numpy()):
            ax.text(j, i, f"{p:.2f}".replace("0.", "."), ha="center", va="center", color="white" if p > 0.6 else "0.25")
    shown = f" (the {max_rows} most exposed of {total})" if total > max_rows else ""
    ax.set_title(f"P({', '.join(view.sensitive)} | {', '.join(view.qi)}){shown}")
    ax.figure.colorbar(image, ax=ax, label="probability")
    return ax
