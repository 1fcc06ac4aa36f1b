"""Pictures in the page itself: those of :mod:`maxent_cvx.plots`, with words for readers who do not see them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display import as_label, isolated
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..plots.exposure_steps import exposure
from ..plots.heat_map import posterior as drawn_posterior
from .blocks import Block, Picture
from .case import Case
from .formats import label, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map", "source_of", "threshold_curve"]

#: The least threshold that is drawn, unless somebody asks for a lower one.
LEAST = 0.5
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
    n = min(len(case.view.quasi_identifiers), MOST_ROWS)
    ax = drawn_posterior(case.post, max_rows=n)
    p = case.post.conditional()
    q, s = divmod(int(p.to_numpy().argmax()), p.shape[1])
    whom, what = label(p.index[q]), label(p.columns[s])
    alt = (
        f"A heat map of the probability of each {case.sa} for the {n} groups of whom the adversary is surest; "
        f"the largest is {percent(float(p.to_numpy()[q, s]), case.exact)}, for example of {what} for {whom}."
    )
    return [Picture(source_of(ax), alt, f"What is inferred of each group: the darker, the likelier ({n} groups).")]


def threshold_curve(cases: Sequence[Case]) -> list[Block]:
    """How many people are exposed against the threshold, a line an answer; nothing of releases in partitions."""
    posts = {case.name or "this adversary": case.post for case in cases}
    if any(isinstance(post, PartitionedPosterior) for post in posts.values()):
        return []
    if len({case.is_compared for case in cases}) > 1:  # one drawing would count them by different rules
        return []
    asked = cases[0].asked
    baseline: Any = asked.baseline if all(case.is_compared for case in cases) else None
    given: Any = posts if len(posts) > 1 else next(iter(posts.values()))
    ax = exposure(given, sensitive=asked.sensitive, baseline=baseline, within=asked.within)
    if not _from(ax, min(asked.threshold, LEAST)):
        _closed(ax)
        return []
    ax.axvline(asked.threshold, color="0.3", linewidth=1, linestyle=(0, (1, 2)))
    counted = ", ".join(
        f"{case.exposure.people:,} of {as_label(name)}" for name, case in zip(posts, cases, strict=True)
    )
    alt = (
        "How many people are exposed, against the threshold from which on somebody counts as exposed. At the threshold "
        f"of this report, {percent(asked.threshold)}, a dotted line, these are: {counted}."
    )
    return [Picture(source_of(ax), alt, "How many people would be exposed at another threshold.")]


def _from(ax: Axes, least: float) -> bool:
    """Show what is to the right: at low thresholds the curve says little. Whether anybody is exposed there."""
    from matplotlib.ticker import MaxNLocator

    lines = [(np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)) for line in ax.get_lines()]
    # Steps are drawn "pre": a value holds from the one before on, so that the first that is inside belongs there.
    most = max(float(y[x >= least].max(initial=0.0)) for x, y in lines)
    for line in ax.get_lines():
        line.set_clip_on(True)
    ax.set_xlim(least, 1.0)
    ax.set_ylim(0.0, 1.05 * most or 1.0)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))  # people are whole
    return most > 0


def source_of(ax: Axes) -> str:
    """Write a drawing as the source of an image, SVG with its texts as texts, and close it."""
    import matplotlib as mpl
    from matplotlib.text import Text

    figure = ax.get_figure(root=True)
    assert figure is not None
    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a value may hold dollars
    file = io.StringIO()
    try:
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "maxent_cvx"}):
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    finally:
        _closed(ax)
    return f"data:image/svg+xml;base64,{base64.b64encode(isolated(file.getvalue()).encode()).decode()}"


def _closed(ax: Axes) -> None:
    """Forget a drawing, which a notebook would show otherwise."""
    import matplotlib.pyplot as plt

    plt.close(ax.get_figure(root=True))
