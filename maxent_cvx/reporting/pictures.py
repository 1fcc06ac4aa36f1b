"""Pictures in the page itself: those of :mod:`maxent_cvx.plots`, with words for readers who do not see them."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..plots.heat_map import posterior as drawn_posterior
from .blocks import Block, Picture
from .case import Case
from .formats import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map", "source_of"]

#: Rows and columns of a heat map that can still be read in a page.
MOST_ROWS, MOST_VALUES = 20, 20
#: Quasi-identifiers that still can be written beside one.
MOST_QI = 4


def heat_map(case: Case) -> list[Block]:
    """P(s | q) of the people of whom the adversary is surest; nothing where it could not be read."""
    view = case.view
    if (
        isinstance(case.post, PartitionedPosterior)
        or len(view.sensitive_values) > MOST_VALUES
        or len(view.qi) > MOST_QI
    ):
        return []
    from matplotlib.figure import Figure

    n = min(len(case.view.quasi_identifiers), MOST_ROWS)
    size = (3.4 + 0.5 * len(case.view.sensitive_values), 1.6 + 0.3 * n)
    ax = drawn_posterior(case.post, ax=Figure(figsize=size, layout="constrained").subplots(), max_rows=n)
    p = case.post.conditional()
    q, s = divmod(int(p.to_numpy().argmax()), p.shape[1])
    whom = ", ".join(map(str, p.index[q])) if isinstance(p.index[q], tuple) else str(p.index[q])
    alt = (
        f"A heat map of the probability of each {case.sa} for the {n} groups of whom the adversary is surest; "
        f"the largest is {percent(float(p.to_numpy()[q, s]), case.exact)}, of {p.columns[s]} for {whom}."
    )
    return [Picture(source_of(ax), alt, f"What is inferred of each group: the darker, the likelier ({n} groups).")]


def source_of(ax: Axes) -> str:
    """Write a drawing as the source of an image: SVG, with its texts as texts."""
    import matplotlib as mpl
    from matplotlib.text import Text

    figure = ax.get_figure(root=True)
    assert figure is not None
    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a value may hold dollars
    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "maxent_cvx"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue().encode()).decode()}"
