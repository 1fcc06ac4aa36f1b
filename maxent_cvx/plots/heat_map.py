"""P(s | q) as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import arguments
from ..model.posterior import Posterior
from .drawing import READABLE, axes_for, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["posterior"]

#: The size of a cell with a number in it, and the width of one without, whose label is turned, inches.
CELL, BARE = (0.75, 0.32), 0.3
#: Values of which cells show their number; more are too narrow.
NUMBERED = 16
#: Rows that a heat map has room for at least: its colour bar has as many numbers.
LEAST = 4
#: Characters of a label that fits below its cell and is not turned.
ACROSS = 6
#: The largest length of the colour bar, and its thickness, inches.
LONGEST_BAR, THICKNESS = 2.6, 0.16
#: The probability above which a cell is so dark that its number is white.
WHITE_ABOVE = 0.6


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
    shown = f" (the {max_rows} most exposed of {total})" if total > max_rows else ""
    columns = [_label(s) for s in conditional.columns]
    numbers = len(columns) <= NUMBERED
    width, height = len(columns) * (CELL[0] if numbers else BARE), max(len(conditional), LEAST) * CELL[1]
    with axes_for(ax, width, height) as drawn:
        image = drawn.imshow(conditional, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        drawn.set_yticks(range(len(conditional)), [_label(q) for q in conditional.index], parse_math=False)
        across = numbers and all(len(name) <= ACROSS for name in columns)
        turned: dict[str, Any] = {} if across else {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
        drawn.set_xticks(range(len(columns)), columns, parse_math=False, **turned)
        if numbers:
            _write(drawn, conditional.to_numpy())
        drawn.set_title(f"P({', '.join(view.sensitive)} | {', '.join(view.qi)}){shown}")
        bar = min(height, LONGEST_BAR)
        place: dict[str, Any] = {"shrink": bar / height, "aspect": bar / THICKNESS, "anchor": (0.0, 1.0), "pad": 0.02}
        drawn.figure.colorbar(image, ax=drawn, label="probability", **place)
    return drawn


def _label(labels: object) -> str:
    """The name of a row or a column."""
    return shortened(", ".join(map(str, labels)) if isinstance(labels, tuple) else labels)


def _write(ax: Axes, p: np.ndarray) -> None:
    """Write every probability in its cell, in what can be read there."""
    for (i, j), one in np.ndenumerate(p):
        text = f"{one:.2f}".replace("0.", ".")
        ax.text(j, i, text, ha="center", va="center", color="white" if one > WHITE_ABOVE else "0.15")
