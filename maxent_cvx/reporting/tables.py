"""The tables and pictures of a report, and its formats of numbers and names; its sentences are in the templates."""

from __future__ import annotations

import base64
import io
import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, Context
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from pandas.api.types import is_numeric_dtype

from .._utils.errors import LONGEST_LABEL, short_repr
from .._utils.formatting import as_label, isolated, rounded
from .._utils.tables import sort_distinct
from ..attacks.result import AttackResult
from ..measures.events import sensitive_events
from ..measures.exposure import HAIR, is_strict, same_value
from ..plots._style import shortened
from ..plots.posterior import most_exposed
from ..plots.posterior import posterior as plot_posterior
from ..plots.risk import exposure as plot_exposure
from ..releases.base import View
from ..releases.readers import with_cells
from ..sources.statements import Statement
from ..terms.people import OTHERS
from .data import ReportData
from .language import SPACE, localized, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from ..measures.events import Intervals

#: Probabilities this close to 0 or 1 are written as 0 or 1, since solvers consider them exact.
NEAR = 1e-9
#: The smallest threshold of the curve, unless the threshold of the report is lower.
LEAST = 0.5
#: The largest heat map that is readable on a page: rows, columns, and quasi-identifiers in the row labels.
MOST_ROWS, MOST_VALUES, MOST_QI = 20, 20, 4
#: Largest number of statements that are listed even if other tables have fewer rows, since statements are assumptions.
MOST_STATEMENTS = 1_000
#: Largest number of quasi-identifiers with separate columns; more are joined in one column.
MOST_COLUMNS = 3
#: Intervals with ends closer than this are single values.
NARROW = 1e-6
#: Packages whose versions are listed.
PACKAGES = ("maxent-cvx", "numpy", "scipy", "pandas", "cvxpy")
#: Descriptions of the binding side of a statement.
SIDES = {
    "=": "is used exactly", "<=": "binds at its upper end", ">=": "binds at its lower end",
    "~": "may be violated", "": "is not needed",
}  # fmt: skip
#: Units of counts with their singular and plural, units of shares, and units of information.
SINGULAR = {
    "people": ("{n:,} person", "{n:,} people"), "records": ("{n:,} record", "{n:,} records"),
    "classes": ("{n:,} class", "{n:,} classes"), "values": ("{n:,.4g} value", "{n:,.4g} values"),
}  # fmt: skip
SHARES, INFORMATION = {"probability", "share", "ratio"}, {"bits", "nats"}


class Cell(NamedTuple):
    """A cell: its text; the number by which the column is sorted; the ends of a drawn interval.

    `full` is the full text of a shortened label, which is shown as a tooltip.
    """

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    full: str = ""


class Column(NamedTuple):
    """A column, and the kind of its cells: "text", "group", "code", "number", "bar" or "range"."""

    name: str
    kind: str = "text"


class Table(NamedTuple):
    """A sortable table; `rows` are shown of `total`, and `order` describes their selection."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    total: int
    order: str = "the first"


class Picture(NamedTuple):
    """An image as a data URI, with a text alternative; a wide image takes the full width."""

    source: str
    alt: str
    caption: str
    is_wide: bool = False


# ----------------------------------------------------------------------------------------------------- numbers and names


def percent(p: float, exact: float = 0.0) -> str:
    """Format a probability, never rounded to a certainty unless it is within `exact` (at most 1e-6) of 0 or 1.

    >>> [percent(p).replace(SPACE, " ") for p in (5 / 6, 0.8, 0.99999, 1.0, 1e-5)]
    ['83.3 %', '80 %', 'over 99.9 %', '100 %', 'below 0.1 %']
    """
    if math.isnan(p):
        return text("not known")
    exact = min(max(exact, NEAR), HAIR)
    if p >= 1 - exact:
        return f"100{SPACE}%"
    if p <= exact:
        return f"0{SPACE}%"
    if p > 0.9995:
        return text("over {percent}", percent=f"99.9{SPACE}%")
    if p < 0.0005:
        return text("below {percent}", percent=f"0.1{SPACE}%")
    return localized(f"{100 * p:.1f}".removesuffix(".0")) + f"{SPACE}%"


def exactly(threshold: float) -> str:
    """Format a threshold with all its digits; slightly above a round number as that number."""
    return localized(f"{100 * (round(threshold, 5) if is_strict(threshold) else threshold):.12g}") + f"{SPACE}%"


def from_on(threshold: float) -> str:
    """Format a threshold: "at least 80 %"; slightly above a round number "more than 50 %"."""
    value = exactly(threshold)
    return text("more than {percent}" if is_strict(threshold) else "at least {percent}", percent=value)


def below(threshold: float) -> str:
    """Format the complement of a threshold: "less than 80 %", or "at most 50 %"."""
    value = exactly(threshold)
    return text("at most {percent}" if is_strict(threshold) else "less than {percent}", percent=value)


def at_most(x: float) -> Cell:
    """Format an upper bound, never rounded down."""
    if not math.isfinite(x) or x == 0:
        return number(x)
    above = float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(x))))
    return Cell(localized(rounded(above, 2)), float(x))


def probability(p: float, exact: float = 0.0) -> Cell:
    """Format a probability as a cell."""
    return Cell(percent(p, exact), None if math.isnan(p) else float(p))


def count(n: float) -> Cell:
    """Format a count as a cell; expected counts with one decimal."""
    return Cell(localized(f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"), float(n))


def number(x: float, digits: int = 3) -> Cell:
    """Format any other number as a cell."""
    if math.isnan(x):
        return Cell(text("not known"))
    if math.isinf(x):
        return Cell(text("infinite" if x > 0 else "minus infinite"), x)
    return Cell(localized(rounded(x, digits)), float(x))


def label(value: object) -> Cell:
    """Format a label as a cell, shortened if it is too long for a table or a sentence."""
    full, short = as_label(value), as_label(value, LONGEST_LABEL)
    return Cell(short, full=full if full != short else "")


def value_name(sensitive: Sequence[str], value: object) -> str:
    """Format a sensitive value with its attribute: "Disease = Flu"."""
    values = value if isinstance(value, tuple) and len(sensitive) > 1 else (value,)
    return ", ".join(
        f"{as_label(name)} = {as_label(part, LONGEST_LABEL)}" for name, part in zip(sensitive, values, strict=True)
    )


def group_name(index: pd.Index, at: int) -> str:
    """Format a group: "Gender = female, Degree = junior", or for a named person "Iris (Gender = female)"."""
    labels = dict(zip(index.names, index[at] if isinstance(index, pd.MultiIndex) else (index[at],), strict=True))
    who = labels.pop("who", OTHERS)
    described = ", ".join(f"{as_label(name)} = {as_label(label, LONGEST_LABEL)}" for name, label in labels.items())
    name = as_label(who, LONGEST_LABEL)
    return described if who == OTHERS else f"{name} ({described})" if described else name


def column(name: str, cells: Iterable[Cell | str], kind: str = "text") -> tuple[Column, list[Cell]]:
    """Make a column with its cells."""
    return Column(name, kind), [cell if isinstance(cell, Cell) else Cell(cell) for cell in cells]


def counts(name: str, numbers: Iterable[float]) -> tuple[Column, list[Cell]]:
    """Make a column of counts."""
    return column(name, map(count, numbers), "number")


def probabilities(name: str, p: Iterable[float], exact: float = 0.0) -> tuple[Column, list[Cell]]:
    """Make a column of probabilities."""
    return column(name, [probability(x, exact) for x in p], "number")


def group_columns(index: pd.Index, at: Any) -> list[tuple[Column, list[Cell]]]:
    """Make the columns that describe groups; more than MOST_COLUMNS are joined in one."""
    shown = index[at]
    names = [text("Name") if name == "who" else str(name) for name in shown.names]
    levels = [[label(value) for value in shown.get_level_values(i)] for i in range(shown.nlevels)]
    if len(names) <= MOST_COLUMNS:
        return [column(name, labels) for name, labels in zip(names, levels, strict=True)]
    return [column(" \u00b7 ".join(names), map(_side_by_side, zip(*levels, strict=True)), "group")]


def _side_by_side(labels: Sequence[Cell]) -> Cell:
    """Join labels in one cell."""
    full = " \u00b7 ".join(label.full or label.text for label in labels)
    return Cell(
        " \u00b7 ".join(label.text for label in labels), full=full if any(label.full for label in labels) else ""
    )


def table_of(
    caption: str, *columns: tuple[Column, list[Cell]], total: int | None = None, order: str = "the first"
) -> Table:
    """Make a table of columns; `total` is the number of rows if only some are shown."""
    rows = list(zip(*(cells for _, cells in columns), strict=True))
    return Table(caption, [heading for heading, _ in columns], rows, len(rows) if total is None else total, text(order))


# -------------------------------------------------------------------------------------------------------------- pictures


def heat_map(data: ReportData) -> Picture | None:
    """Draw P(s | q) of the groups with the largest probabilities; return None if it would be unreadable."""
    view = data.view
    if data.in_partitions or len(view.sensitive_values) > MOST_VALUES or len(view.qi) > MOST_QI:
        return None
    n = min(len(view.quasi_identifiers), MOST_ROWS)
    ax = plot_posterior(data.post, max_rows=n)  # type: ignore[arg-type]
    p = data.post.conditional()  # type: ignore[call-arg]
    q, s = divmod(int(p.to_numpy().argmax()), p.shape[1])
    alt = text(
        "Heat map of the probability of each {attribute} for the {n} groups with the largest probabilities; the largest is "
        "{p}, for {value} and {group}.",
        attribute=data.sa, n=n, p=percent(float(p.to_numpy()[q, s]), data.exact), value=as_label(p.columns[s], LONGEST_LABEL),
        group=as_label(p.index[q], LONGEST_LABEL),
    )  # fmt: skip
    ax.set_title("")  # the caption contains it
    if len(p) > n:
        rows, sizes = most_exposed(p, n)
        labels = [
            text("{group} and {n} more", group=shortened(row), n=size - 1) if size > 1 else shortened(row)
            for row, size in zip(rows.index, sizes.tolist(), strict=True)
        ]
        ax.set_yticks(range(len(rows)), labels, parse_math=False)
    _translate(*(bar.yaxis.label for bar in ax.child_axes))
    caption = text("Inferred probabilities by group ({n} groups); darker is likelier.", n=n)
    return Picture(_as_source(ax), alt, caption, is_wide=True)


def threshold_curve(cases: Sequence[ReportData]) -> Picture | None:
    """Draw the number of exposed people against the threshold, one line per posterior; return None in partitions."""
    if any(data.in_partitions for data in cases):
        return None
    if len({data.is_compared for data in cases}) > 1:  # counts with and without a baseline are not comparable
        return None
    if cases[0].is_without_her:  # this baseline is solved for a single threshold, where it has no closed form
        return None
    settings = cases[0].settings
    posts: Any = {data.name or text("this adversary"): data.post for data in cases}
    baseline: Any = settings.baseline if cases[0].is_compared else None
    ax = plot_exposure(
        posts if len(posts) > 1 else cases[0].post,  # type: ignore[arg-type]
        sensitive=settings.sensitive, baseline=baseline, within=settings.within,
    )  # fmt: skip
    if not _show_from(ax, min(settings.threshold, LEAST)):
        _close(ax)
        return None
    ax.axvline(settings.threshold, color="0.3", linewidth=1, linestyle=(0, (1, 2)))
    legend = ax.get_legend()
    # With several posteriors, the legend contains the user's names.
    _translate(ax.xaxis.label, ax.yaxis.label, *(legend.get_texts() if legend and len(posts) == 1 else ()))
    counts = ", ".join(
        text("{n:,} for {name}", n=data.exposure.people, name=as_label(name))
        for name, data in zip(posts, cases, strict=True)
    )
    alt = text(
        "Number of exposed people against the threshold. At the threshold of this report, {percent}, a dotted line, it is "
        "{counts}.",
        percent=exactly(settings.threshold), counts=counts,
    )  # fmt: skip
    return Picture(_as_source(ax), alt, text("Number of people who would be exposed at other thresholds."))


def _show_from(ax: Axes, least: float) -> bool:
    """Restrict the curve to thresholds from `least` on; return whether anybody is exposed there."""
    from matplotlib.ticker import MaxNLocator

    lines = [(np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)) for line in ax.get_lines()]
    most = max(float(y[x >= least].max(initial=0.0)) for x, y in lines)  # steps are drawn "pre"
    for line in ax.get_lines():
        line.set_clip_on(True)
    ax.set_xlim(least, 1.0)
    ax.set_ylim(0.0, 1.05 * most or 1.0)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return most > 0


def _translate(*artists: Text) -> None:
    """Translate texts of a plot that were written by the package."""
    for artist in artists:
        artist.set_text(text(artist.get_text()))


def _as_source(ax: Axes) -> str:
    """Convert the figure to the data URI of an SVG, with its texts kept as texts, and close it."""
    import matplotlib as mpl
    from matplotlib.text import Text

    figure = ax.get_figure(root=True)
    assert figure is not None
    for artist in figure.findobj(Text):
        artist.set_parse_math(False)  # values may contain dollar signs
    file = io.StringIO()
    try:
        with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "maxent_cvx"}):
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    finally:
        _close(ax)
    return f"data:image/svg+xml;base64,{base64.b64encode(isolated(file.getvalue()).encode()).decode()}"


def _close(ax: Axes) -> None:
    import matplotlib.pyplot as plt

    plt.close(ax.get_figure(root=True))


# ------------------------------------------------------------------------------------------------------- who is exposed


def who_values(data: ReportData) -> list[object]:
    """Return the inferred value of each row of ``exposure.who``, whose first columns are the sensitive attributes."""
    columns = [data.exposure.who.iloc[:, i] for i in range(len(data.judged))]
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))


def exposed_tables(data: ReportData) -> list[Table]:
    """Make the tables of exposed groups, of their values, and of all people by the largest probability."""
    exposure, rows, attribute = data.exposure, data.settings.rows, as_label(data.judged)
    tables = []
    if len(exposure.who):
        who = exposure.who.iloc[:rows, len(data.judged) :]
        heading = attribute
        if exposure.closeness:
            heading = text("{attribute}, to within {distance}", attribute=attribute, distance=exposure.closeness)
        columns = [
            *group_columns(who.index, slice(None)),
            column(heading, map(label, who_values(data)[:rows])),
            probabilities(text("Probability"), who["P"], data.exact),
        ]
        if "baseline" in who:
            columns.append(probabilities(text("Baseline"), who["baseline"]))
        template = "Exposed groups, 1 person in all" if exposure.people == 1 else "Exposed groups, {n:,} people in all"
        caption = text(template, n=exposure.people)
        columns.append(counts(text("People"), who["people"]))
        tables.append(table_of(caption, *columns, total=len(exposure.who), order="the largest probabilities first"))
    by_value = exposure.values[(exposure.values["exposed"] > 0) | (exposure.values["not_counted"] > 0)]
    if len(by_value) and not exposure.closeness:  # people would be counted repeatedly in overlapping intervals
        shown = by_value.sort_values(["exposed", "anyway"], ascending=False, kind="stable").head(rows)
        tables.append(
            table_of(
                text("Inferred values"), column(attribute, map(label, shown.index)),
                probabilities(text("Baseline"), shown["baseline"]), counts(text("Exposed people"), shown["exposed"]),
                counts(text("With certainty"), shown["certain"]),
                counts(text("Likely, but expected from the baseline"), shown["anyway"]),
                total=len(by_value), order="the most frequent first",
            )
        )  # fmt: skip
    tenths, steps = exposure.histogram, exposure.histogram.index.array
    shares = tenths / max(tenths.sum(), 1)
    largest = [Cell(_from_to(percent(step.left), percent(step.right)), float(step.left)) for step in steps]
    everybody = table_of(
        text("All people, by the largest probability of a value that counts"),
        column(text("Largest probability"), largest, "number"), counts(text("People"), tenths),
        column(text("Share"), [Cell(percent(share), share, 0.0, share) for share in shares], "bar"),
    )  # fmt: skip
    return [*tables, everybody]


def _from_to(low: str, high: str) -> str:
    """Format an interval: "10 % to 20 %"."""
    return text("{low} to {high}", low=low, high=high)


def records_table(data: ReportData) -> Table:
    """Make the table of original records of exposed groups, with the correctness of the inferences."""
    original, view = data.settings.original, data.view
    assert original is not None
    index = data.exposure.who.index
    levels = [index.get_level_values(i) for i, name in enumerate(index.names) if name != "who"]
    inferred = dict(zip(pd.MultiIndex.from_arrays(levels), who_values(data), strict=True))
    placed = with_cells(view, original) if isinstance(view, View) and view.generalized else original
    code, tuples = sort_distinct(placed[list(view.qi)])
    at = np.flatnonzero(np.array([key in inferred for key in tuples])[code])
    shown = at[: data.settings.rows]
    groups = tuples[code[shown]]
    values = [inferred[group] for group in groups]
    truths: list[Any] = list(original.iloc[shown][list(data.judged)].itertuples(index=False, name=None))
    if len(data.judged) == 1:
        truths = [truth for (truth,) in truths]
    are_right = [same_value(data.exposure, value, truth) for value, truth in zip(values, truths, strict=True)]
    return table_of(
        text("Original records of exposed groups, as requested"),
        column(text("Row"), map(str, original.index[shown])),
        *(column(str(name), map(label, groups.get_level_values(i))) for i, name in enumerate(view.qi)),
        column(text("Inferred"), map(label, values)),
        column(text("True {attribute}", attribute=as_label(data.judged)), map(label, truths)),
        column(text("Right"), [text("yes" if is_right else "no") for is_right in are_right]),
        total=len(at),
    )


def measures_table(caption: str, table: pd.DataFrame | None, start: int = 0) -> Table | None:
    """Make the table of measures with their values and meanings, from one of them on; None without measures."""
    if table is None:
        return None
    table = table.iloc[start:]
    values = [_measured(float(value), unit) for value, unit in zip(table["value"], table["unit"], strict=True)]
    return table_of(
        caption,
        column(text("Measure"), [text(str(name)) for name in table.index]),
        column(text("Value"), values, "number"),
        column(text("Meaning"), map(text, table["says"])),
    )


def _measured(value: float, unit: str) -> Cell:
    if unit in SHARES:
        return Cell(percent(value) if value <= 1 else localized(f"{100 * value:,.0f}{SPACE}%"), value)
    if unit in SINGULAR:
        return Cell(text(SINGULAR[unit][value != 1], n=int(value) if value.is_integer() else value), value)
    written = number(0.0 if abs(value) < NEAR else value).text
    return Cell(f"{written} {text(unit)}" if unit in INFORMATION else written, value)


# ------------------------------------------------------------------------------------------------------- other sections


def summary_table(cases: Sequence[ReportData], people: Sequence[int]) -> Table:
    """Make the table of key figures of several posteriors."""
    unknown = Cell(text("not known"))

    def figures(data: ReportData, n: int) -> Iterator[Cell]:
        yield count(n)
        yield count(data.exposure.people)
        measures = data.figures_of("inference risk")
        yield unknown if measures is None else probability(measures["value"]["largest probability"], data.exact)
        yield unknown if data.n_statements is None else count(data.n_statements)
        yield unknown if data.certain.value is None else count(len(data.certain.value))
        if not is_any_named:
            yield number(data.post.entropy, 6)
        yield at_most(data.post.certificate.bound)

    # Entropies are not comparable if people are named, since distinguishable people add entropy.
    is_any_named = any(data.n_named for data in cases)
    names = [
        text("people"), text("people exposed"), text("largest inferred probability"),
        text("statements that the adversary knows"), text("inferences made certain by statements"),
        *([] if is_any_named else [text("remaining uncertainty (entropy), nats")]),
        text("certified error of every probability"),
    ]  # fmt: skip
    columns = [column(data.name, figures(data, n), "number") for data, n in zip(cases, people, strict=True)]
    return table_of(text("Side by side"), column(text("Figure"), names), *columns)


def published_values_table(data: ReportData) -> Table:
    """Make the table of the number of people with each sensitive value."""
    n_s = np.asarray(data.view.n_s)
    shown = np.argsort(-n_s, kind="stable")[: data.settings.rows]
    return table_of(
        text("Published number of people with each {attribute}", attribute=data.sa),
        column(data.sa, map(label, data.view.sensitive_values[shown])),
        counts(text("People"), n_s[shown]), probabilities(text("Share"), n_s[shown] / n_s.sum()),
        total=len(n_s), order="the most frequent first",
    )  # fmt: skip


def named_people_table(data: ReportData) -> Table:
    """Make the table of people known to the adversary by name."""
    people, tuples = data.post.space.people, data.view.quasi_identifiers  # type: ignore[union-attr]
    groups = tuples[people.q[: data.settings.rows]]
    return table_of(
        text("People known to the adversary by name"),
        column(text("Name"), map(label, people.names[: data.settings.rows])),
        *(column(str(name), map(label, groups.get_level_values(i))) for i, name in enumerate(data.view.qi)),
        total=len(people),
    )


def statements_of(model: Any) -> list[tuple[str, str]]:
    """Return every row of knowledge in notation, with its label if different."""
    form, blocks = model.form, model.blocks
    texts = {name: str(source) for name, source in model.knowledge.items() if isinstance(source, Statement)}
    statements = []
    for row in range(form.n_facts, form.shape[0]):
        name = blocks.name(row)
        if name in texts:
            statements.append((texts[name], name if name != texts[name] else ""))
        elif blocks.find(row)[0].penalty is not None:
            statements.append((name, ""))
        else:
            statements.append((f"{_row_name(name)} {_sides(*blocks.sides(row))}", ""))
    return statements + [(str(constraint), "") for constraint in model.convex]


def _row_name(name: object) -> str:
    """Format the name of a row of knowledge; translate the prefix of published rules."""
    words = {"published rule": text("published rule"), "no rule": text("no rule")}
    kind, colon, rule = str(name).partition(": ")
    return f"{words.get(kind, kind)}{colon}{rule}"


def _sides(low: float, high: float) -> str:
    if low == high:
        return f"= {low:g}"
    if math.isinf(low):
        return f"<= {high:g}"
    return f">= {low:g}" if math.isinf(high) else f"in [{low:g}, {high:g}]"


def statements_table(data: ReportData, statements: Sequence[tuple[str, str]]) -> Table:
    """Make the table of the adversary's statements, with a column of labels if some have one."""
    shown = statements[: max(data.settings.rows, MOST_STATEMENTS)]
    columns = [column(text("Statement"), [statement for statement, _ in shown], "code")]
    if any(name for _, name in shown):
        columns.append(column(text("Label"), [name for _, name in shown]))
    return table_of(text("Assumed knowledge of the adversary"), *columns, total=len(statements))


def certain_table(data: ReportData, table: pd.DataFrame) -> Table:
    """Make the table of certain inferences and the statements that imply them, certain values first."""
    order = np.lexsort((-table["people"].to_numpy(), table["probability"].to_numpy() != 1))
    shown = table.iloc[order[: data.settings.rows]]
    # Reasons may include published rows if the release has no closed form; these are not statements.
    published = {data.model.form.name(row) for row in range(data.model.form.n_facts)}
    reasons = [
        "; ".join(_row_name(name) for name in because if name not in published) or text("the release alone")
        for because in shown["because"]
    ]
    return table_of(
        text("Certain inferences and their reasons"),
        column(text("Inference"), map(str, shown.index), "code"),
        probabilities(text("Probability"), shown["probability"]),
        counts(text("People"), shown["people"]),
        column(text("Because"), reasons, "code"),
        total=len(table),
        order="certainties to have a value first",
    )


def interval_tables(data: ReportData, ends: pd.DataFrame) -> dict[str, Any]:
    """Make the table of intervals with more than one value, of values that count, and figures for the sentences."""
    view, threshold = data.view, data.settings.threshold
    levels = [ends.index.get_level_values(i) for i in range(ends.index.nlevels)]
    n_qi = len(view.qi)
    values = levels[n_qi] if len(levels) == n_qi + 1 else pd.MultiIndex.from_arrays(levels[n_qi:])
    q = view.quasi_identifiers.get_indexer(pd.MultiIndex.from_arrays(levels[:n_qi]))
    s = view.sensitive_values.get_indexer(values)
    estimate = np.nan_to_num(data.post.conditional().to_numpy()[q, s])  # type: ignore[call-arg]
    low, high = ends["low"].to_numpy(), ends["high"].to_numpy()
    counted = _counted_values(data)[s]
    is_fixed = high - low <= NARROW
    order = np.flatnonzero(counted & ~is_fixed)
    order = order[np.argsort(-estimate[order], kind="stable")]
    index = view.quasi_identifiers
    shown = order[: data.settings.rows]
    possible_values = [Cell(_interval(low[i], high[i]), estimate[i], low[i], high[i]) for i in shown]
    table = table_of(
        text("Estimates and their intervals"),
        *group_columns(index, q[shown]),
        column(data.sa, map(label, view.sensitive_values[s[shown]])),
        probabilities(text("Estimate"), estimate[shown], data.exact),
        column(text("Possible"), possible_values, "range"),
        total=len(order),
        order="the largest estimates first",
    )
    n_q = np.asarray(view.n_q)
    rule = data.exposure._rule
    if rule is None or rule.windows is None:
        reached = [np.unique(q[counted][end[counted] >= threshold - NARROW]) for end in (low, high)]
    else:
        least, most = (
            sp.csr_array((end, (q, s)), shape=(len(n_q), len(view.sensitive_values))).toarray() for end in (low, high)
        )
        reached = [
            np.flatnonzero(ends >= threshold - NARROW) for ends in _ends_of_windows(rule.windows, least, most, view)
        ]
    certain, possible = (int(n_q[tuples].sum()) for tuples in reached)
    return {
        "table": table,
        "people": int(n_q.sum()), "certain": certain, "possible": possible, "within": data.exposure.closeness,
        "n": int(counted.sum()), "fixed": int((counted & is_fixed).sum()),
        "zeros": int((counted & is_fixed & (high <= NARROW)).sum()),
        "leaves_out": len(ends) < len(index) * len(view.sensitive_values),
    }  # fmt: skip


def _ends_of_windows(
    windows: Intervals, low: np.ndarray, high: np.ndarray, view: View
) -> tuple[np.ndarray, np.ndarray]:
    """Compute bounds on the largest P of a window of close values, by QI tuple, from bounds for each value."""
    inside = view.inside
    least, most = (windows.of(windows.values.of(ends[:, inside])) for ends in (low, high))
    # A window has at least 1 minus the upper bounds of other values, and at most 1 minus their lower bounds.
    least = np.maximum(least, 1 - (high.sum(axis=1, keepdims=True) - most))
    most = np.minimum(most, 1 - (low.sum(axis=1, keepdims=True) - windows.of(windows.values.of(low[:, inside]))))
    return least.max(axis=1), most.max(axis=1)


def _interval(low: float, high: float) -> str:
    first, last = percent(low), percent(high)
    return _from_to(first, last) if first != last else text("about {percent}", percent=first)


def _counted_values(data: ReportData) -> np.ndarray:
    """Mark the values that must not be inferred; absence from the release is not a value."""
    counted = data.view.inside.copy()
    counted[counted] = sensitive_events(data.view.sensitive_values[counted], data.settings.sensitive).involved
    return counted


def price_table(data: ReportData, table: pd.DataFrame) -> Table:
    """Make the table of prices, largest first; signs are omitted, since they show only the direction of a change."""
    shown = table.head(data.settings.rows)
    return table_of(
        text("Prices of the statements"),
        column(text("Statement"), map(_row_name, shown.index), "code"),
        column(text("It"), [text(SIDES[str(side)]) for side in shown["side"]]),
        column(text("Price, nats per unit"), map(number, shown["price"].abs()), "number"),
        total=len(table),
        order="the largest first",
    )


def attack_result_table(result: AttackResult, rows: int) -> Table:
    """Make the table of the most certain inferences of an attack."""
    p = result.table.to_numpy()
    i = np.argsort(-p.max(axis=1), kind="stable")[:rows]
    j = p[i].argmax(axis=1)
    return table_of(
        text("Inferences of the attack"),
        *group_columns(result.table.index, i),
        column(text("Likeliest"), map(label, result.table.columns[j])),
        probabilities(text("Probability"), p[i, j]),
        probabilities(text("Without the attack"), result.baseline.to_numpy()[i, j]),
        counts(text("People"), result.records.iloc[i]),
        total=len(p),
        order="the largest probabilities first",
    )


def worst_case_table(table: pd.DataFrame, sa: str, rows: int) -> Table:
    """Make the table of the worst case by number of pieces of knowledge."""
    shown = table.head(rows)
    known = [
        "; ".join(_implication(premise, (person, value)) for premise in premises) or text("nothing")
        for premises, person, value in zip(table.attrs["premises"], shown["person"], shown["value"], strict=False)
    ]
    return table_of(
        text("The worst case"),
        counts(text("Pieces of knowledge"), shown["k"]),
        probabilities(text("Largest probability"), shown["disclosure"]),
        column(text("Person"), map(_person, shown["person"])),
        column(sa, map(label, shown["value"])),
        column(text("Example of such knowledge"), known),
        total=len(table),
    )


def _implication(premise: tuple[str, object], target: tuple[str, object]) -> str:
    """Format "if a person has a value, another has the target", or the negation for the same person."""
    (one, value), (other, other_value) = (
        (_person(person), as_label(value, LONGEST_LABEL)) for person, value in (premise, target)
    )
    if one == other:
        return text("{person} does not have {value}", person=one, value=value)
    return text(
        "if {one} has {value}, {other} has {other_value}", one=one, value=value, other=other, other_value=other_value
    )


def _person(name: str) -> str:
    """Format "person 1 of bucket 7"."""
    number, _, bucket = name.removeprefix("person ").partition(" of bucket ")
    return text("person {number} of bucket {bucket}", number=number, bucket=as_label(bucket))


def plain_table(table: pd.DataFrame, rows: int) -> Table:
    """Make the table of a DataFrame returned by an attack."""

    def cell(value: object) -> Cell:
        if isinstance(value, float):
            return number(value)
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return count(int(value))
        if isinstance(value, tuple | list):
            return Cell("; ".join(map(str, value)))
        return Cell("" if value is None else str(value))

    columns = [
        column(str(name), map(cell, table[name].head(rows)), "number" if is_numeric_dtype(table[name]) else "text")
        for name in table
    ]
    return table_of(text("Results of the attack"), *columns, total=len(table))


def certificate_table(data: ReportData) -> Table:
    """Make the table of the certificate."""
    post, certificate = data.post, data.post.certificate
    cells = {
        text("largest possible error of a probability"): at_most(certificate.bound),
        text("largest violation of a statement, people"): number(certificate.residual, 2),
        text("duality gap, people"): number(certificate.gap, 2),
        text("terms with one possible value"): number(float(certificate.forced), 9),
        text("iterations"): number(float(post.iterations), 9),
        text("seconds to solve"): number(float(post.solve_seconds), 2),
    }
    if certificate.backward:
        cells[text("relative tolerance of the statements")] = number(certificate.backward, 2)
    cells[text("solver and its status")] = Cell(
        f"{getattr(post, 'solver', 'DUAL_NEWTON in partitions')}, {post.status}"
    )
    figures = column(text("Figure"), cells), column(text("Value"), cells.values(), "number")
    return table_of(text("The certificate"), *figures)


def provenance_table(cases: Sequence[ReportData], day: str) -> Table:
    """Make the table of the settings, data, versions and seed that reproduce the report."""
    settings = cases[0].settings
    if settings.baseline is None:
        baseline = text("nothing")
    elif not all(data.is_compared for data in cases):
        baseline = text("none if the release does not publish the number of people with each value")
    elif cases[0].is_without_her:
        baseline = text("the inference without the person's own record")
    elif isinstance(settings.baseline, str):
        baseline = text("the share of all people with the value")
    else:
        baseline = text("given probabilities")
    sensitive: Any = settings.sensitive
    within: Any = settings.within
    if isinstance(within, PurePath):
        within = within.name
    elif not isinstance(within, int | float):  # a duration, in words
        within = cases[0].exposure.closeness or (within if isinstance(within, str) else short_repr(within))
    values = list(sensitive) if isinstance(sensitive, list | set | frozenset) else [sensitive]
    facts = {
        text("threshold of exposure"): ", ".join(map(from_on, settings.thresholds)),
        text("sensitive values"): text("all") if sensitive is None else ", ".join(map(str, values)),
        text("baseline"): baseline,
        text("values that count as equal"): (
            text("default") if settings.within is None else text("within {distance}", distance=within)
        ),
        text("original records"): text("given, for measures" if settings.original is not None else "not given"),
        text("date"): day,
        **{text(str(name)): text(value) if isinstance(value, str) else value for name, value in settings.about.items()},
        **{name: _version(name) for name in PACKAGES},
        "Python": platform.python_version(),
    }
    if "seed" not in {name.lower() for name in settings.about}:
        facts[text("seed")] = text("none given; solving is deterministic")
    items = column(text("Item"), map(str, facts)), column(text("Value"), map(str, facts.values()))
    return table_of(text("Settings and versions"), *items)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"
