"""How many people are exposed, as the threshold varies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments
from ..measures.disclosure import of_those_inside
from ..measures.exposure.baseline import ROUNDING, baseline_of
from ..measures.exposure.intervals import judged_within
from ..measures.exposure.judge import Judge, slack_of
from ..model.posterior import Posterior
from ..priors import QIDistribution
from .drawing import LINES, axes_for
from .fitting import legend_beside
from .looks import look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["exposure"]


def exposure(
    posteriors: Posterior | Mapping[str, Posterior],
    ax: Axes | None = None,
    *,
    sensitive: object = None,
    baseline: Posterior | QIDistribution | pd.DataFrame | pd.Series | str | None = None,
    within: object = None,
) -> Axes:
    """Draw how many people have P(s | q) >= t while P0(s) < t, for some sensitive s, against the threshold t.

    The curve is exact: at each t it is what :func:`maxent_cvx.measures.exposed` counts there. With a baseline it need
    not fall: a value begins to count where t is above its baseline.

    Parameters
    ----------
    posteriors : Posterior, or dict of str to Posterior
        What is inferred; several by the name that the legend shows, a line each.
    ax : Axes, optional
        Where to draw; by default a new figure.
    sensitive, baseline, within
        As of :func:`maxent_cvx.measures.exposed`: the values that count, what they are compared with, P0, and how close
        numbers are to count as the same. Of one posterior the people who would be exposed without the baseline are
        drawn, too.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, UnknownName, TableError, BadProbability
        If there is no posterior, `sensitive` or `baseline` does not fit one, or `ax` is no Axes of Matplotlib.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release)
    >>> posteriors = {"release": model.solve()}
    >>> posteriors["and a rumour"] = model.add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> ax = mx.plots.exposure(posteriors, ax=Figure().subplots(), baseline="overall")
    >>> [line.get_label() for line in ax.get_lines()]
    ['release', 'and a rumour']
    """
    named = {"": posteriors} if isinstance(posteriors, Posterior) else posteriors
    if not isinstance(named, Mapping) or not named:
        raise StatementError("exposure has no line to draw; give a posterior, or {name: posterior}")
    lines = {}
    for name, post in named.items():
        arguments.instance(post, Posterior, "a posterior to draw")
        if baseline is not None:
            lines[str(name) or "above the baseline"] = _steps(post, sensitive, baseline, within)
        if baseline is None or len(named) == 1:
            lines[str(name) if baseline is None else "without a baseline"] = _steps(post, sensitive, None, within)
    with axes_for(ax, *LINES) as drawn:
        for number, (name, (threshold, people)) in enumerate(lines.items()):
            drawn.step(threshold, people, where="pre", label=name, clip_on=False, **look(number, len(people)))
        drawn.set_xlim(0.0, 1.0)
        drawn.set_ylim(bottom=0.0)
        drawn.set_xlabel("threshold t of the probability")
        drawn.set_ylabel("people exposed at t")
        drawn.grid(alpha=0.3)
        if list(lines) != [""]:
            legend_beside(drawn)
    return drawn


def _steps(post: Posterior, sensitive: object, baseline: object, within: object) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds in order, and how many people are exposed at each and below it, down to the one before.

    Somebody is exposed by s for P0(s) < t <= P(s | q): the union of these intervals over the values that count.
    """
    rows, people = of_those_inside(post)
    judged, intervals = judged_within(rows.columns, sensitive, within)
    judge = Judge(0.0, slack_of(post), rows.columns, judged, None, intervals)
    right = np.minimum(judge.of(rows.to_numpy()) + judge.slack, 1.0)
    left = np.full(right.shape, -1.0)
    if baseline is not None:
        judge = replace(judge, baseline=baseline_of(baseline, post, rows, judge.units))
        left = np.broadcast_to(judge.least_p0 + ROUNDING, right.shape)
    left, right = _apart(left, right)
    weight = np.broadcast_to(people[:, None], left.shape)
    some = right > left
    ends = np.unique(np.clip(np.concatenate([left[some], right[some], [0.0, 1.0]]), 0.0, 1.0))
    return ends, _below(left[some], weight[some], ends) - _below(right[some], weight[some], ends)


def _apart(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of the same union, of which those of a row do not overlap; some are empty."""
    order = np.argsort(left, axis=1, kind="stable")
    left, right = np.take_along_axis(left, order, 1), np.take_along_axis(right, order, 1)
    reached = np.maximum.accumulate(right, axis=1)[:, :-1]
    left = np.column_stack([left[:, :1], np.maximum(left[:, 1:], reached)])
    return left, right


def _below(ends: np.ndarray, weight: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The weight of the ends that are below each number."""
    order = np.argsort(ends, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    return np.asarray(total[np.searchsorted(ends[order], at, side="left")])
