"""Plots; each returns its Axes and takes ``ax=``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from . import arguments
from .errors import StatementError, TableError, listing, unknown_name
from .errors import shown as written
from .measures import Equivocation
from .measures.accuracy import check_base
from .model.posterior import Posterior
from .solvers import ACCURACY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["equivocation", "posterior", "prices", "quantification", "solver_comparison", "sweep"]

#: QI tuples that a heat map still shows with readable labels.
READABLE = 40
#: Characters of a statement that are drawn.
LONGEST_NAME = 60
#: What is drawn of less: seconds, and error of a probability.
SHORTEST, FINEST = 1e-4, 1e-16
#: Where a point's name may stand: to the right (1) or left (-1), above (1) or below (-1), the best place first.
BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


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
        If `post` is no Posterior, `max_rows` no whole number of at least 1, or `ax` no Axes of Matplotlib.

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
    ax = _axes(ax, (2.2 + 0.75 * conditional.shape[1], 1.4 + 0.32 * len(conditional)))
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


def prices(table: pd.DataFrame, ax: Axes | None = None, max_rows: int = READABLE) -> Axes:
    """Draw what each statement is worth: bars of ``|dH / d value|``, those without limit up to the edge.

    Parameters
    ----------
    table : DataFrame
        What :meth:`maxent_cvx.Posterior.prices` returns; the dearest statements are at the top.
    ax : Axes, optional
        Where to draw; by default a new figure.
    max_rows : int
        With more statements than this, the dearest are shown, and the title says so.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is none of prices, or empty; `max_rows` is no whole number of at least 1, or `ax` no Axes.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3).solve()
    >>> [label.get_text() for label in mx.plots.prices(post.prices(), ax=Figure().subplots()).get_yticklabels()]
    ['P(Flu | Gender=male) = 0.3']
    """
    _check(table, ("side", "price"), "Posterior.prices")
    arguments.whole(max_rows, "max_rows", 1)
    if table.empty:
        raise StatementError("there is no price to draw: the model holds no knowledge")
    shown = table.head(max_rows)
    price = shown["price"].to_numpy()
    finite = np.abs(price[np.isfinite(price)])
    edge = 1.15 * float(finite.max(initial=0.0)) or 1.0
    ax = _axes(ax, (7.0, 1.2 + 0.32 * len(shown)))
    place = np.arange(len(shown))
    for some, color, more in ((price > 0, "C0", "more"), (price < 0, "C1", "less")):
        if some.any():
            length = np.minimum(np.abs(price[some]), edge)
            ax.barh(place[some], length, color=color, label=f"a larger value: {more} entropy")
    for i in map(int, np.flatnonzero(np.isinf(price))):
        ax.text(edge, i, "no limit: forces zeros ", ha="right", va="center", color="white", fontsize="small")
    names = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..." for name in map(str, shown.index)]
    ax.set_yticks(place, names, fontsize="small")
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, edge)
    ax.set_xlabel("|dH / d value|, nats for a change of the value by 1")
    if len(table) > max_rows:
        ax.set_title(f"the {max_rows} dearest of {len(table)} statements", pad=24)
    if (price != 0).any():
        ax.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return ax


def sweep(table: pd.DataFrame, measured: str = "probability", ax: Axes | None = None) -> Axes:
    """Draw what a sweep measured against eps, a line a value; or against the value, a line an eps.

    Parameters
    ----------
    table : DataFrame
        What :func:`maxent_cvx.sweep` returns.
    measured : str
        The column to draw.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, UnknownName, StatementError
        If the table is none of a sweep, which measured nothing of that name; or `ax` is no Axes of Matplotlib.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> table = mx.sweep(mx.MaxEnt(release), "P(Flu | Gender=male)", value=[0.2, 0.3], eps=[0.0, 0.05, 0.1])
    >>> [line.get_label() for line in mx.plots.sweep(table, "entropy", ax=Figure().subplots()).get_lines()]
    ['value = 0.2', 'value = 0.3']
    """
    _check(table, ("value", "eps"), "sweep")
    arguments.text(measured, "measured")
    if measured not in table.columns:
        raise unknown_name("column of the sweep", measured, list(table.columns[3:]))
    along, each = ("eps", "value") if table["eps"].nunique() >= table["value"].nunique() else ("value", "eps")
    ax = _axes(ax, (6.4, 4.2))
    for one, part in table.groupby(each):
        ordered = part.sort_values(along)
        ax.plot(ordered[along], ordered[measured].astype(float), marker="o", markersize=4, label=f"{each} = {one:g}")
    ax.set_xlabel({"eps": "vagueness, eps", "value": "the value that is known"}[along])
    ax.set_ylabel({"entropy": "entropy, nats"}.get(measured, measured))
    if table[each].nunique() > 1:
        ax.legend()
    ax.grid(alpha=0.3)
    return ax


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
        _check(table, ("K+", "K-", "score"), "quantify")
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


def equivocation(curves: Equivocation | Mapping[str, Equivocation], ax: Axes | None = None) -> Axes:
    """Draw H(eps), its area shaded: a curve, or several by name (CAE, Figs. 1 and 3).

    Parameters
    ----------
    curves : Equivocation, or dict of str to Equivocation
        What :func:`maxent_cvx.measures.equivocation` returns, by the name that the legend shows.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    StatementError, GroupTooLarge
        If there is no curve, or `ax` is no Axes of Matplotlib; or a curve takes too long.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> curves = {f"{a} or {b}": mx.measures.equivocation([a, b], [0.5, 0.5]) for a, b in [(77, 80), (50, 107)]}
    >>> [text.get_text() for text in mx.plots.equivocation(curves, ax=Figure().subplots()).get_legend().texts]
    ['77 or 80: area 3', '50 or 107: area 57']
    """
    named = {"": curves} if isinstance(curves, Equivocation) else curves
    if not isinstance(named, Mapping) or not named or any(not isinstance(one, Equivocation) for one in named.values()):
        raise StatementError("equivocation has no curve to draw; give one, or {name: equivocation(values, p)}")
    ax = _axes(ax, (6.4, 4.2))
    for i, (name, cae) in enumerate(named.items()):
        table = cae.curve
        eps, entropy = table["epsilon"], table["entropy"]
        low, high = cae.area_bounds
        open_ = "" if cae.exact or cae.step is not None else f" ± {(high - low) / 2:.2g}"
        area = f"area {cae.area:.4g}{open_}"
        ax.fill_between(eps, entropy, step="post", alpha=0.25, color=f"C{i}", linewidth=0)
        ax.step(eps, entropy, where="post", color=f"C{i}", label=f"{name}: {area}" if name else area)
    ax.set_xlim(0, 1.05 * max(cae.eps_max for cae in named.values()) or 1.0)
    ax.set_ylim(0, 1.1 * max(cae.initial for cae in named.values()) or 1.0)
    ax.set_xlabel("eps, the width of the window")
    ax.set_ylabel("H(eps), bits")
    ax.legend()
    ax.grid(alpha=0.3)
    return ax


def solver_comparison(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how far each solver's answer can be off against the seconds it took; down and to the left is better.

    Parameters
    ----------
    table : DataFrame
        What :func:`maxent_cvx.compare_solvers` returns. Solvers without an answer are named above.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    TableError, StatementError
        If the table is none of :func:`maxent_cvx.compare_solvers`, or has no answer; or `ax` is no Axes of Matplotlib.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from matplotlib.figure import Figure
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> table = mx.compare_solvers(mx.MaxEnt(release), ["DUAL_NEWTON", "DUAL_LBFGS"])
    >>> sorted(text.get_text() for text in mx.plots.solver_comparison(table, ax=Figure().subplots()).texts)
    ['DUAL_LBFGS', 'DUAL_NEWTON']
    """
    _check(table, ("bound", "certified", "compile_seconds", "solve_seconds"), "compare_solvers")
    from matplotlib.ticker import LogLocator, NullFormatter

    answered = table[table["bound"].notna()]
    if answered.empty:
        raise StatementError("no solver of the table has an answer to draw; its column 'message' says why")
    ax = _axes(ax, (6.4, 4.2))
    # A logarithm needs a floor; and no probability is off by more than 1, though nothing be proved.
    seconds = (answered["compile_seconds"] + answered["solve_seconds"]).clip(lower=SHORTEST).to_numpy()
    bound = answered["bound"].clip(FINEST, 1.0).to_numpy()
    certified = answered["certified"].to_numpy()
    for chosen, marker, color in ((certified, "o", "C0"), (~certified, "X", "C3")):
        ax.scatter(seconds[chosen], bound[chosen], marker=marker, color=color, s=45, zorder=3)
    ax.axhline(ACCURACY, color="0.5", linewidth=1, linestyle="--", zorder=1)
    ax.set(xscale="log", yscale="log", xlabel="seconds, compiling and solving")
    ax.set_ylabel("largest possible error of a P(s | q)\n(certified: below the dashed line)")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if seconds.max() < 50 * seconds.min() else (1,)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(0.15)
    ax.grid(alpha=0.3)
    if len(silent := table[table["bound"].isna()]):
        named = ", ".join(f"{name} ({status})" for name, status in silent["status"].items())
        ax.set_title(f"no answer: {named}", fontsize="small", wrap=True)
    _name_points(ax, np.c_[seconds, bound], [str(name) for name in answered.index])
    return ax


def _name_points(ax: Axes, points: np.ndarray, names: list[str]) -> None:
    """Write a name beside each point, or further away along a line where it would cover a point or other text."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # only a layout tells where things are
    half = 5 * figure.dpi / 72  # half a marker, and some air
    places = ax.transData.transform(points)
    taken = [*np.c_[places - half, places + half]]
    inside = ax.get_window_extent().extents
    for point, name in zip(points, names, strict=True):
        for away, (right, up) in itertools.product(range(6, 80, 12), BESIDE):
            text = ax.annotate(
                name, point, (away * right, away * up), textcoords="offset points", fontsize="small",
                ha=("center", "left", "right")[right], va=("center", "bottom", "top")[up],
                arrowprops={"arrowstyle": "-", "color": "0.6", "shrinkB": 4} if away > 6 else None,
            )  # fmt: skip
            text.set_in_layout(False)
            box = _extent(text)
            covers = any((box[:2] < other[2:]).all() and (box[2:] > other[:2]).all() for other in taken)
            if not covers and (box[:2] > inside[:2]).all() and (box[2:] < inside[2:]).all():
                break
            text.remove()
        else:  # more points than there is room for: better over another than not at all
            ax.annotate(name, point, (6, 0), textcoords="offset points", fontsize="small", va="center")
        taken.append(box)


def _extent(text: Annotation) -> np.ndarray:
    """The box of a text, pixels: left, bottom, right, top; without its line."""
    from matplotlib.text import Text

    text.get_window_extent()  # with its line; puts the text where it belongs
    return np.asarray(Text.get_window_extent(text).extents)


def _check(table: object, columns: tuple[str, ...], maker: str) -> None:
    """Check that something is the table that another function makes."""
    arguments.table(table, f"what is drawn, a table of {maker},")
    if missing := [name for name in columns if name not in table.columns]:  # type: ignore[attr-defined]
        raise TableError(f"the table has no column {listing(missing)}; what {maker} returns is drawn")


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Take the given axes, or make a figure."""
    if ax is not None:
        if not callable(getattr(ax, "set_xlabel", None)):
            raise StatementError(f"ax must be Axes of Matplotlib, not {written(ax)}")
        return ax
    import matplotlib.pyplot as plt  # half a second to load, which no other part needs

    return plt.subplots(figsize=size, layout="constrained")[1]
