"""Plots of risk: exposed people, disclosure against knowledge, equivocation, and risk against utility."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError
from .._utils.tables import undominated
from .._utils.validation import check_bool, check_instance, check_mapping, check_str
from ..measures.accuracy import check_base
from ..measures.disclosure import of_those_inside
from ..measures.equivocation import Equivocation
from ..measures.events import ROUNDING, read_events
from ..measures.exposure import ExposureRule, certified_error, with_baseline
from ..measures.uncertainty import UncertainKnowledge
from ..model.posterior import Posterior
from ..priors import QIDistribution
from ._style import (
    AGAINST,
    COLOURS,
    FAINT,
    FOR,
    LINES,
    as_floats,
    axes_for,
    check_lines,
    check_table,
    describe,
    draw_lines,
    name_points,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def equivocation(curves: Equivocation | Mapping[str, Equivocation], ax: Axes | None = None) -> Axes:
    """Plot H(eps) with its area shaded, as one curve, or curves by name (CAE, Figs. 1 and 3).

    Parameters
    ----------
    curves : Equivocation, or dict of str to Equivocation
        Results of :func:`maxent_cvx.measures.equivocation`, by their names in the legend.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, GroupTooLarge
        If `curves` is empty, `ax` is not a Matplotlib Axes, or a curve takes too long.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> curves = {f"{a} or {b}": mx.measures.equivocation([a, b], [0.5, 0.5]) for a, b in [(77, 80), (50, 107)]}
    >>> [text.get_text() for text in mx.plots.equivocation(curves, ax=Figure().subplots()).get_legend().texts]
    ['77 or 80: area 3', '50 or 107: area 57']
    """
    named = check_lines(curves, Equivocation, "curve", "result of equivocation")
    lines = []
    for name, cae in named.items():
        curve = check_instance(cae, Equivocation, "a curve").curve
        lines.append((_labelled(name, cae), curve["epsilon"], curve["entropy"]))
    with axes_for(ax, *LINES) as drawn:
        shade = min(0.25, 0.5 / len(named))
        for i, (_, eps, entropy) in enumerate(lines):
            drawn.fill_between(eps, entropy, step="post", alpha=shade, color=COLOURS[i % len(COLOURS)], linewidth=0)
        draw_lines(drawn, lines, "steps-post")
        drawn.set_xlim(0, 1.05 * max(cae.eps_max for cae in named.values()) or 1.0)
        drawn.set_ylim(0, 1.1 * max(cae.initial for cae in named.values()) or 1.0)
        describe(drawn, "eps, the width of the window", "H(eps), bits")
    return drawn


def _labelled(name: str, cae: Equivocation) -> str:
    """Return the name of a curve, and the area below it, with its largest error if it is not exact."""
    low, high = cae.area_bounds
    off = "" if cae.exact or cae.step is not None else f" ± {(high - low) / 2:.2g}"
    area = f"area {cae.area:.4g}{off}"
    return f"{name}: {area}" if name else area


def exposure(
    posteriors: Posterior | Mapping[str, Posterior],
    ax: Axes | None = None,
    *,
    sensitive: object = None,
    baseline: Posterior | QIDistribution | pd.DataFrame | pd.Series | str | None = None,
    within: object = None,
) -> Axes:
    """Plot the number of people with P(s | q) >= t and P0(s) < t for some sensitive s, against the threshold t.

    The curve is exact: at each t, it is the count of :func:`maxent_cvx.measures.exposed`. With a baseline, it can
    increase, as a value begins to count when t exceeds its baseline.

    Parameters
    ----------
    posteriors : Posterior, or dict of str to Posterior
        The adversary's posterior, or several posteriors by their names in the legend, one line each.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    sensitive, baseline, within
        As in :func:`maxent_cvx.measures.exposed`: the values that count, the baseline P0, which cannot be "without her",
        and the distance within which numbers count as equal. For a single posterior, the curve without the baseline is
        also plotted.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, UnknownName, TableError, BadProbability
        If an item is not a posterior, `sensitive` or `baseline` does not fit one, or `ax` is not a Matplotlib Axes.

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
    named = check_lines(posteriors, Posterior, "line", "posterior")
    lines = {}
    for name, post in named.items():
        check_instance(post, Posterior, "a posterior to plot")
        if baseline is not None:
            lines[str(name) or "above the baseline"] = _exposure_steps(post, sensitive, baseline, within)
        if baseline is None or len(named) == 1:
            called = str(name) if baseline is None else "without a baseline"
            lines[called] = _exposure_steps(post, sensitive, None, within)
    with axes_for(ax, *LINES) as drawn:
        draw_lines(drawn, ((name, *steps) for name, steps in lines.items()), "steps-pre", clip_on=False)
        drawn.set_xlim(0.0, 1.0)
        drawn.set_ylim(bottom=0.0)
        describe(drawn, "threshold t of the probability", "people exposed at t", has_legend=list(lines) != [""])
    return drawn


def _exposure_steps(
    post: Posterior, sensitive: object, baseline: object, within: object
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted thresholds, and the number of people exposed from above the previous one to each."""
    rows, people = of_those_inside(post)
    judged, intervals = read_events(rows.columns, sensitive, within)
    rule = ExposureRule(0.0, certified_error(post), rows.columns, judged, None, intervals)
    high = np.minimum(rule.of(rows.to_numpy()) + rule.slack, 1.0)
    low = np.full(high.shape, -1.0)
    if baseline is not None:
        rule = with_baseline(rule, baseline, post, rows, sensitive, within)
        low = np.broadcast_to(rule.least_p0 + ROUNDING, high.shape)
    # A group is exposed at t if low < t <= high for some event. Intervals of several events may overlap: each group
    # must be counted once. The number at t is that of the lower ends below t minus that of the upper ends below t.
    order = np.argsort(low, axis=1, kind="stable")  # intervals with the same union that do not overlap within a row
    low, high = np.take_along_axis(low, order, 1), np.take_along_axis(high, order, 1)
    reached = np.maximum.accumulate(high, axis=1)[:, :-1]
    low = np.column_stack([low[:, :1], np.maximum(low[:, 1:], reached)])
    weight = np.broadcast_to(people[:, None], low.shape)
    is_interval = high > low
    ends = np.unique(np.clip(np.concatenate([low[is_interval], high[is_interval], [0.0, 1.0]]), 0.0, 1.0))
    begun, ended = (
        np.bincount(np.searchsorted(ends, end[is_interval], "right"), weight[is_interval], len(ends) + 1)
        for end in (low, high)
    )
    return ends, np.cumsum(begun - ended)[:-1]


#: The maximum number of characters of a name beside a point, which has less space than one beside an axis.
LONGEST_NAME = 28


def risk_utility(
    table: pd.DataFrame, risk: str = "risk", utility: str = "utility", ax: Axes | None = None, *, loss: bool = False
) -> Axes:
    """Plot the risk of each release against its utility, and the efficient frontier.

    Parameters
    ----------
    table : DataFrame
        One row per release, named by the index.
    risk, utility : str
        The columns of the risk and the utility, which label the axes.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    loss : bool
        Whether `utility` measures a loss, such as the error of queries, so that smaller is better.

    Returns
    -------
    Axes
        Efficient releases are filled points, connected by steps; dominated releases are crosses. Of more than 40
        releases, only those are named whose names have space, the efficient ones first.

    Raises
    ------
    TableError
        If the table is empty or lacks a column, or a value is not a finite number.
    StatementError
        If `risk` or `utility` is not a string, `loss` is not a bool, or `ax` is not a Matplotlib Axes.

    Notes
    -----
    The risk-utility map of Duncan, Keller-McNulty and Stokes (2001), "Disclosure risk vs. data utility: the R-U
    confidentiality map".

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from matplotlib.figure import Figure
    >>> measured = {"exposed": [40, 12, 20], "query error": [0.02, 0.1, 0.2]}
    >>> table = pd.DataFrame(measured, index=["l = 2", "l = 4", "k = 9"])
    >>> ax = mx.plots.risk_utility(table, "exposed", "query error", ax=Figure().subplots(), loss=True)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['efficient', 'another is preferable', 'efficient frontier']
    """
    check_bool(loss, "loss")
    check_str(risk, "risk"), check_str(utility, "utility")
    check_table(table, (risk, utility), "several releases, one row each,")
    x, y = (as_floats(table[name], f"column {name!r}") for name in (utility, risk))
    if not len(x):
        raise TableError("there are no releases to plot; pass a table with one row per release")
    efficient = undominated(np.c_[x if loss else -x, y])
    with axes_for(ax, *LINES) as drawn:
        drawn.scatter(x[efficient], y[efficient], marker="o", s=50, color=FOR, label="efficient", zorder=3)
        if not efficient.all():
            worse: dict[str, Any] = {"marker": "X", "s": 50, "color": AGAINST, "zorder": 3}
            drawn.scatter(x[~efficient], y[~efficient], label="another is preferable", **worse)
        corners = np.unique(np.c_[x, y][efficient], axis=0)
        if len(corners) > 1:  # releases with the next one's risk and less utility are not efficient
            faint: dict[str, Any] = {"color": FAINT, "linestyle": "--", "linewidth": 1.2, "zorder": 2}
            drawn.step(*corners.T, where="post" if loss else "pre", label="efficient frontier", **faint)
        drawn.margins(0.15)
        describe(drawn, f"{utility} ({'less' if loss else 'more'} is better)", f"{risk} (less is better)")
    order = np.argsort(~efficient, kind="stable")  # efficient releases are named first
    name_points(drawn, np.c_[x, y][order], [shortened(name, LONGEST_NAME) for name in table.index[order]])
    return drawn


#: The size of the box, in inches: square, since both axes are shares.
SQUARE = (3.8, 3.8)


def roc(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the true positive rate against the false positive rate, one line per group; the diagonal is chance.

    Parameters
    ----------
    table : DataFrame
        The `roc` of a result of :func:`maxent_cvx.attacks.aggregates`, with the columns `group`, `threshold`,
        `false_positive` and `true_positive`; both rates increase from 0 to 1 in each group.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table lacks a column, is empty, or contains anything but shares; or `ax` is not a Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> from matplotlib.figure import Figure
    >>> table = pd.DataFrame({"group": "in the data", "threshold": [9.0, 0.8, 0.1],
    ...                       "false_positive": [0.0, 0.2, 1.0], "true_positive": [0.0, 0.9, 1.0]})
    >>> ax = mx.plots.roc(table, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['in the data (area 0.85)', 'by chance']
    """
    shares = ("false_positive", "true_positive")
    check_table(table, ("group", *shares), "attacks.aggregates(...).roc", shares)
    if not len(table):
        raise TableError("the table has no rows: no group has both people with the value and people without it")
    rates = table[list(shares)]
    if not ((rates >= 0) & (rates <= 1)).all(axis=None):
        raise TableError("false and true positive rates must be from 0 to 1, without missing values")
    with axes_for(ax, *SQUARE) as drawn:
        groups = [
            (group, *part[list(shares)].to_numpy(dtype=float).T) for group, part in table.groupby("group", sort=False)
        ]
        draw_lines(drawn, ((f"{group} (area {np.trapezoid(y, x):.2f})", x, y) for group, x, y in groups), clip_on=False)
        drawn.plot([0, 1], [0, 1], color=FAINT, linewidth=1.0, linestyle=":", label="by chance")
        drawn.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
        if ax is not None:
            drawn.set_aspect("equal")  # the box of a new figure is square
        describe(drawn, "false positives: share of people without the value", "true positives: share of people with it")
    return drawn


def quantification(curves: dict[str, pd.DataFrame], ax: Axes | None = None, base: float = 2) -> Axes:
    """Plot scores against the number of known associations, one curve per result of ``quantify`` (Fig. 5).

    Parameters
    ----------
    curves : dict of str to DataFrame
        A mapping of legends to results of :func:`maxent_cvx.quantify`, with the columns "K+", "K-" and "score".
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    base : float
        The base of the logarithm in the scores, for the label: 2 for bits, ``math.e`` for nats.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, TableError, BadProbability
        If `curves` is empty, a table is not one of :func:`maxent_cvx.quantify`, `ax` is not a Matplotlib Axes, or the
        base is at most 1.

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
    check_mapping(curves, "curves", "{name: table of quantify}")
    check_base(base)
    for table in curves.values():
        check_table(table, ("K+", "K-", "score"), "quantify", ("K+", "K-", "score"))
    if not curves:
        raise StatementError("quantification has no curve to plot; pass {name: table of quantify}")
    unit = {2: "bits", math.e: "nats"}.get(base, f"base {base:g}")
    with axes_for(ax, *LINES) as drawn:
        draw_lines(drawn, ((name, table["K+"] + table["K-"], table["score"]) for name, table in curves.items()))
        describe(drawn, "associations the adversary knows, K = K+ + K-", f"divergence from the truth ({unit})")
    return drawn


def uncertain_knowledge(result: UncertainKnowledge, ax: Axes | None = None) -> Axes:
    """Plot P(measure >= v) against v if each statement is known with a probability; its mean is a vertical line.

    Parameters
    ----------
    result : UncertainKnowledge
        The result of :func:`maxent_cvx.uncertain`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError
        If `result` has another type, or `ax` is not a Matplotlib Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> result = mx.uncertain(mx.MaxEnt(release), {"P(Breast Cancer | Gender=male) = 0": 0.1})
    >>> ax = mx.plots.uncertain_knowledge(result, ax=Figure().subplots())
    >>> ax.get_legend().get_texts()[-1].get_text()
    'mean 0.1'
    """
    check_instance(result, UncertainKnowledge, "result")
    distribution = result.distribution[result.distribution.index.notna()]
    values = distribution.index.to_numpy(dtype=float)
    at_least = np.r_[distribution.to_numpy()[::-1].cumsum()[::-1], 0.0]
    is_finite = np.isfinite(values)
    finite = values[is_finite] if is_finite.any() else np.zeros(1)
    margin = 0.05 * float(np.ptp(finite)) or 0.5
    with axes_for(ax, *LINES) as drawn:
        # A step function, as P(measure >= v) is constant between neighbouring values.
        x = np.r_[finite[0] - margin, finite, finite[-1] + margin]
        y = at_least[np.searchsorted(values, x)]
        drawn.step(x, y, where="pre", label="distribution", color=COLOURS[0])
        if is_finite.sum() < len(result.distribution):
            p = result.distribution.sum() - distribution.to_numpy()[is_finite].sum()
            drawn.set_title(f"not shown: infinite or missing, with probability {p:.3g}", fontsize="small")
        error = f" (standard error {result.standard_error:.2g})" if result.draws is not None else ""
        drawn.axvline(result.expected, color=COLOURS[1], linestyle="--", label=f"mean {result.expected:.4g}{error}")
        name = result.distribution.index.name
        drawn.set_xlabel("people exposed" if name == "people" else str(name))
        drawn.set_ylabel("probability of so many or more" if name == "people" else "probability of so much or more")
        if name == "people":
            drawn.locator_params(axis="x", integer=True)
        drawn.set_ylim(0.0, 1.05)
        drawn.grid(alpha=0.3)
        drawn.legend()
    return drawn


def worst_case(tables: pd.DataFrame | Mapping[str, pd.DataFrame], ax: Axes | None = None) -> Axes:
    """Plot the largest disclosure against k, the pieces of knowledge, one line per release; lower is better.

    Parameters
    ----------
    tables : DataFrame, or dict of str to DataFrame
        Results of :func:`maxent_cvx.attacks.worst_case`, by their names in the legend; or other tables with the columns
        `k` and `disclosure`, such as a part of :func:`maxent_cvx.attacks.skyline` with a renamed column.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, TableError
        If there is no table, a table is empty or lacks a column, or a value is not a number; or `ax` is not a
        Matplotlib Axes.

    Examples
    --------
    Implications, and negated atoms alone ("she does not have the flu"):

    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> negated = mx.attacks.skyline(release, target=range(4), others=0, same=0).rename(columns={"target": "k"})
    >>> tables = {"implications": mx.attacks.worst_case(release), "negated atoms": negated}
    >>> ax = mx.plots.worst_case(tables, ax=Figure().subplots())
    >>> [line.get_ydata().round(2).tolist() for line in ax.get_lines()]
    [[0.5, 0.75, 1.0, 1.0], [0.5, 0.67, 1.0, 1.0]]
    """
    named = check_lines(tables, pd.DataFrame, "line", "result of attacks.worst_case")
    lines = [(name, *_points(table)) for name, table in named.items()]
    from matplotlib.ticker import MaxNLocator

    with axes_for(ax, *LINES) as drawn:
        draw_lines(drawn, lines, clip_on=False)
        drawn.set_ylim(0.0, 1.0)
        drawn.xaxis.set_major_locator(MaxNLocator(integer=True))
        y = "largest probability that can be inferred"
        describe(drawn, "pieces of knowledge, k", y, has_legend=list(named) != [""])
    return drawn


def _points(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a line, by k."""
    check_table(table, ("k", "disclosure"), "attacks.worst_case")
    numbers = as_floats(table[["k", "disclosure"]], "k and disclosure")
    if not len(numbers):
        raise TableError("the table is empty; pass the result of attacks.worst_case")
    k, disclosure = numbers[np.argsort(numbers[:, 0], kind="stable")].T
    return k, disclosure
