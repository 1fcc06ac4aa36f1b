"""The sections of a report: each makes the tables and sentences of one question."""

from __future__ import annotations

import base64
import io
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import pluralize, short_repr
from .._utils.formatting import as_label, isolated
from .._utils.tables import sort_distinct
from .._utils.validation import is_several
from ..attacks.definetti import definetti
from ..attacks.result import AttackResult
from ..attacks.worst_case import worst_case
from ..measures.exposure import Exposure, same_value
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..plots.posterior import posterior as drawn_posterior
from ..plots.risk import exposure
from ..releases.generalized import OUTSIDE, GroupedRelease
from ..releases.partitioned import PartitionedRelease
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..sources.statements import Statement
from ..terms.people import OTHERS
from .data import Attack, Attempt, ReportData, again, in_one_bucket, merged_once

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "KNOWN",
    "SPACE",
    "Block",
    "Table",
    "answer",
    "assumptions",
    "attacks",
    "certain",
    "changes",
    "exactness",
    "exposed_people",
    "glance",
    "intervals",
    "making",
    "percent",
    "prices",
    "recognised",
    "threshold_curve",
    "useful",
]

# What a section of a report is made of: paragraphs, lists, tables and pictures, as text that is escaped later.


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text."""

    text: str
    kind: str = "plain"


@dataclass(frozen=True)
class Heading:
    """The heading of a part of a section."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: Sequence[str]


@dataclass(frozen=True)
class Verdict:
    """The answer in one line, and what it means."""

    status: str
    headline: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Picture:
    """A picture in the page itself."""

    source: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Column:
    """A column: its heading, and what kind of things are in it: "text", "group", "code", "number", "bar", "range"."""

    name: str
    kind: str = "text"


@dataclass(frozen=True)
class Table:
    """A table that is sorted by a click on its headings."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    total: int
    order: str = "the first"
    notes: Sequence[str] = field(default=())

    @property
    def cut(self) -> str:
        """The sentence that says of how many rows these are, if not all are there."""
        if len(self.rows) == self.total:
            return ""
        return f"Shown are {len(self.rows):,} of {self.total:,} rows, {self.order}."


Block: TypeAlias = Paragraph | Heading | Bullets | Verdict | Picture | Table


# Numbers and names as a report writes them: no probability is rounded to a certainty that it is not.


#: Probabilities this close to 0 or 1 are written as such: what solvers call exact.
NEAR = 1e-9
#: A threshold that is above a round number by less than this is meant to be above it.
HAIR = 1e-6
#: Keeps a number and its unit on one line.
SPACE = "\u00a0"


def percent(p: float, exact: float = 0.0) -> str:
    """Write a probability, as 83.3 %; what is within `exact` of 0 or 1 is that, if `exact` is a millionth at most."""
    if math.isnan(p):
        return "not known"
    exact = min(max(exact, NEAR), HAIR)  # a worse answer is not rounded to a certainty
    if p >= 1 - exact:
        return f"100{SPACE}%"
    if p <= exact:
        return f"0{SPACE}%"
    if p > 0.9995:
        return f"over 99.9{SPACE}%"
    if p < 0.0005:
        return f"below 0.1{SPACE}%"
    return f"{100 * p:.1f}".removesuffix(".0") + f"{SPACE}%"


def from_on(threshold: float) -> str:
    """Write from which probability on something counts; a hair above a round number is "more than" that."""
    round_number = round(threshold, 5)
    return f"{'more than' if 0 < threshold - round_number < HAIR else 'at least'} {percent(round_number)}"


def below(threshold: float) -> str:
    """Write below which probability something does not count, the other side of :func:`from_on`."""
    return from_on(threshold).replace("at least", "less than").replace("more than", "at most")


def at_most(x: float) -> Cell:
    """A cell with a bound, which is rounded up, never down."""
    if not math.isfinite(x) or x == 0:
        return number(x)
    return Cell(f"{float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(x)))):.2g}", float(x))


def probability(p: float, exact: float = 0.0) -> Cell:
    """A cell with a probability."""
    return Cell(percent(p, exact), None if math.isnan(p) else float(p))


def share(part: float, whole: float) -> str:
    """Write "12 of 345 people"; whole people as such, expected ones to a tenth."""
    return f"{count(part).text} of {count(whole).text} people"


def count(n: float) -> Cell:
    """A cell with a number of people or things."""
    return Cell(f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}", float(n))


def number(x: float, digits: int = 3) -> Cell:
    """A cell with a number that has no unit of its own."""
    if math.isnan(x):
        return Cell("not known")
    if math.isinf(x):
        return Cell("infinite" if x > 0 else "minus infinite", x)
    return Cell(f"{x:.{digits}g}", float(x))


def label(value: object) -> str:
    """Write a value of an attribute, or a combination of values of several."""
    return ", ".join(map(as_label, value)) if isinstance(value, tuple) else as_label(value)


def value_name(sensitive: tuple[str, ...], value: object) -> str:
    """Write a sensitive value with its attribute: "Disease = Flu"."""
    several = value if isinstance(value, tuple) and len(sensitive) > 1 else (value,)
    return ", ".join(f"{as_label(name)} = {as_label(one)}" for name, one in zip(sensitive, several, strict=True))


def group_name(index: pd.Index, at: int) -> str:
    """Write whom a row of probabilities is about: "Gender = female, Degree = junior", or "Iris", who is named."""
    levels = index[at] if isinstance(index, pd.MultiIndex) else (index[at],)
    pairs = [(name, one) for name, one in zip(index.names, levels, strict=True) if (name, one) != ("who", OTHERS)]
    return ", ".join(as_label(one) if name == "who" else f"{as_label(name)} = {as_label(one)}" for name, one in pairs)


# Pictures in the page itself: those of :mod:`maxent_cvx.plots`, with words for readers who do not see them.


#: The least threshold that is drawn, unless somebody asks for a lower one.
LEAST = 0.5
#: Rows and columns of a heat map that can still be read in a page.
MOST_ROWS, MOST_VALUES = 20, 20
#: Quasi-identifiers that still can be written beside one.
MOST_QI = 4


def heat_map(case: ReportData) -> list[Block]:
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


def threshold_curve(cases: Sequence[ReportData]) -> list[Block]:
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


# The rows of an exposure: whom each is about, what is inferred, how surely, and how usual that is.


@dataclass(frozen=True, eq=False)
class ExposedRows:
    """Who is exposed, by column."""

    index: pd.Index
    values: list[object]
    p: np.ndarray
    usual: np.ndarray
    people: np.ndarray
    sensitive: tuple[str, ...]

    @classmethod
    def of(cls, found: Exposure, sensitive: tuple[str, ...]) -> ExposedRows:
        """Read the table of an exposure; its first columns are the sensitive attributes, whatever they are called."""
        table = found.who
        columns = [table.iloc[:, i] for i in range(len(sensitive))]
        values = list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
        rest = table.iloc[:, len(sensitive) :]
        usual = rest["baseline"].to_numpy(float) if "baseline" in rest else np.full(len(table), np.nan)
        p, people = rest["P"].to_numpy(float), rest["people"].to_numpy(float)
        return cls(table.index, values, p, usual, people, sensitive)

    @property
    def tuples(self) -> pd.MultiIndex:
        """The QI tuples, without names."""
        levels = [self.index.get_level_values(i) for i, name in enumerate(self.index.names) if name != "who"]
        return pd.MultiIndex.from_arrays(levels)

    def __len__(self) -> int:
        return len(self.p)

    def whom(self, at: int) -> str:
        """Whom a row is about."""
        return group_name(self.index, at)

    def what(self, at: int) -> str:
        """What is inferred of them."""
        return value_name(self.sensitive, self.values[at])


# What a view publishes, in a sentence or two.


def people_in(view: Any) -> int:
    """How many people are in what is published; of a population, how many of them are."""
    if isinstance(view, GroupedRelease):
        outside = view.sensitive_values.to_flat_index() == OUTSIDE
        return int(view.n_s[~outside].sum())
    return int(view.n_records)


def published_in_words(view: Any) -> str:
    """Say what everybody can see, and what not."""
    qi, sa, n = _and(view.qi), _and(view.sensitive), f"{view.n_records:,}"
    if isinstance(view, Release | PartitionedRelease):
        buckets = len(view.buckets) if isinstance(view, Release) else view.n_buckets
        coarse = ", coarsened," if isinstance(view, Release) and view.generalized else ""
        held = "1 bucket" if buckets == 1 else f"{buckets:,} buckets"
        return (
            f"A table of {n} people in {held}. Of each bucket it is published who is in it, by {qi}{coarse} and how "
            f"often each value of {sa} occurs in it. Who of them has which value is not published{_told(view)}."
        )
    if isinstance(view, QITable):
        counted = "" if view.n_s is None else f", and how many people have each value of {sa}"
        return (
            f"The {qi} of {n} people is known{counted}. No record with a {sa} is published; what is, the statements "
            "below say."
        )
    if isinstance(view, GroupedRelease):
        return (
            f"Records of {people_in(view):,} people with coarsened {qi} and their {sa}; and it is known who lives "
            f"there: {n} people with their exact {qi}, from whom the {people_in(view):,} are. Who of them is in which "
            "group, and who is in none, is not published."
        )
    if isinstance(view, ReleaseSeries):
        return (
            f"{pluralize(len(view.releases), 'table')} of people who come and go, {n} in all, whose pseudonyms say who is "
            f"the same. Of each bucket of each table it is published who is in it and how often each value of {sa} "
            "occurs in it."
        )
    tables = "; ".join(" and ".join(roles) for roles in view.published)
    return f"A {view.noun} of {n} people: how many there are by each of these: {tables}. q stands for {qi}, s for {sa}."


def _told(view: Release | PartitionedRelease) -> str:
    """Say where it follows all the same: in buckets of which all people have the same value."""
    if not isinstance(view, Release):
        return ", but follows where all people of a bucket have the same"
    n = int((np.diff(sp.csc_array(view.n_sb > 0).indptr) == 1).sum())
    return f", but follows in {pluralize(n, 'bucket')}, where all people have the same" if n else ""


def _and(names: tuple[str, ...]) -> str:
    """Write "A, B and C"; of no name, that there is none."""
    if not names:
        return "pseudonym only"
    names = tuple(map(as_label, names))
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


# The answer: how many people are exposed, in plain words.


#: A figure that not all answers can be compared by.
ENTROPY = "uncertainty that is left (entropy), nats"
#: Values that are named.
NAMED = 3


def answer(case: ReportData) -> list[Block]:
    """Say whether anybody is exposed, what that means, and of whom the adversary is surest."""
    found, n = case.exposure, case.exposure.total
    people, holds = float(found.people), case.post.certificate.holds
    but = ", but see the warning" * bool((found.warnings and not people) or not holds)
    if people:
        headline = f"{share(people, n)} {'is' if people == 1 else 'are'} exposed{but}"
    else:
        headline = f"Nobody of {count(n).text} {'person' if n == 1 else 'people'} is exposed{but}"
    status = "bad" if people else "open" if found.warnings else "good"
    sentences = [_meaning(case), *found.distances, *_surest(case), *_usual(case), _adversary(case)]
    warnings: list[Block] = [Paragraph(one, "warning") for one in found.warnings]
    if not holds:
        text = "The answer is not certified, so that nothing in this report is proved. See how exact the numbers are."
        warnings.insert(0, Paragraph(text, "warning"))
    return [Verdict(status if holds else "open", headline, sentences), *warnings]


def _meaning(case: ReportData) -> str:
    """What being exposed means here."""
    asked = case.asked
    what = f"a value of {case.sa}" if asked.sensitive is None else f"a sensitive value of {case.sa}"
    close = f", to within {case.exposure.closeness}," * bool(case.exposure.closeness)
    words = f"A person is exposed if an adversary infers {what}{close} with a probability of {from_on(asked.threshold)}"
    if case.is_compared:
        before = (
            f"its share among all people of the release is {below(asked.threshold)}"
            if isinstance(asked.baseline, str)
            else f"the baseline says {below(asked.threshold)}"
        )
        return f"{words}, while {before}."
    if asked.baseline is None:
        return f"{words}, however many people have it."
    return f"{words}. How many people have it anyway is not published, and so not considered."


def _surest(case: ReportData) -> list[str]:
    """The surest inference of all."""
    rows = ExposedRows.of(case.exposure, case.view.sensitive)
    if not len(rows):
        return []
    usual = ""
    if rows.usual[0] == rows.usual[0]:
        overall = case.exposure.baseline == "overall"
        usual = f"; {'of all people' if overall else 'in the baseline'} {percent(rows.usual[0])} have it"
    ties = len(rows) > 1 and rows.p[1] >= rows.p[0] - case.exact
    which = "One of the surest inferences that count" if ties else "The surest inference that counts"
    each = "" if rows.people[0] == 1 else "each "
    return [
        f"{which}: {pluralize(int(rows.people[0]), 'person', 'people')} with {rows.whom(0)} "
        f"{'has' if rows.people[0] == 1 else 'have'} {rows.what(0)}{_about(case)}, {each}with a probability of "
        f"{percent(rows.p[0], case.exact)}{usual}."
    ]


def _about(case: ReportData) -> str:
    """How close to the value it is, where intervals are judged."""
    return f" to within {case.exposure.closeness}" * bool(case.exposure.closeness)


def _usual(case: ReportData) -> list[str]:
    """What is as likely and not counted, as its baseline reaches the threshold."""
    values = case.exposure.values
    some = values[values["anyway"] > 0]
    return [
        f"Not counted: {value_name(case.view.sensitive, value)}{_about(case)}, which is inferred as surely of "
        f"{pluralize(int(row['anyway']), 'person', 'people')}, has a baseline that reaches the threshold"
        f"{f': {percent(row.baseline)} of all people have it' * (case.exposure.baseline == 'overall')}."
        for value, row in some.head(NAMED).iterrows()
    ]


def _adversary(case: ReportData) -> str:
    """Who infers this."""
    if case.model is None:
        return "The adversary knows the release, and what was assumed when the answer was computed."
    n = case.model.form.shape[0] - case.model.form.n_facts + len(case.model.convex)
    people = f"{pluralize(case.n_named, 'person', 'people')} by name"
    known = [people] * bool(case.n_named) + [f"{pluralize(n, 'statement')}, listed below"] * bool(n)
    before = " Before, the adversary believed what the prior below says." * case.has_prior
    more = f", and besides {' and '.join(known)}" if known else ", and nothing besides" * (not case.has_prior)
    return f"The adversary knows the release{more}.{before} Whoever knows more may infer more."


def glance(cases: Sequence[ReportData]) -> Table:
    """The key figures of several answers side by side."""
    figures: dict[str, Callable[[ReportData], Cell]] = {
        "people": lambda case: count(people_in(case.view)),
        "people exposed": _exposed,
        "largest probability that is inferred": _largest,
        "statements that the adversary knows": _statements,
        "inferences that statements make certain": _certain,
        ENTROPY: lambda case: number(case.post.entropy, 6),
        "every probability proved to be within": lambda case: at_most(case.post.certificate.bound),
    }
    if any(case.names_people for case in cases):  # named people are distinguishable, which alone is entropy
        del figures[ENTROPY]
    columns = [Column("What"), *(Column(case.name, "number") for case in cases)]
    rows = [[Cell(name), *(figure(case) for case in cases)] for name, figure in figures.items()]
    return Table("Side by side", columns, rows, len(rows))


def _exposed(case: ReportData) -> Cell:
    return count(float(case.exposure.people))


def _largest(case: ReportData) -> Cell:
    if case.figures.value is None:
        return Cell("not known")
    p = float(case.figures.value["value"]["inference risk", "largest probability"])
    return Cell(percent(p, case.exact), p)


def _statements(case: ReportData) -> Cell:
    if case.model is None:
        return Cell("not known")
    return count(case.model.form.shape[0] - case.model.form.n_facts + len(case.model.convex))


def _certain(case: ReportData) -> Cell:
    return Cell("not known") if case.certain.value is None else count(len(case.certain.value))


# What is published, and everything that the adversary is assumed to know, in notation.


#: Statements are assumptions: as many are listed, however few rows other tables have.
MOST_STATEMENTS = 1_000


def assumptions(case: ReportData) -> list[Block]:
    """Write what is published, who is known by name, what was believed before, and each statement."""
    found: list[Block] = [Paragraph(published_in_words(case.view)), *_assumed_values(case)]
    if case.in_partitions:
        why = "The answer of a release in partitions does not list all that it was told; the statements it is "
        return [*found, Paragraph(f"{why}sensitive to are among the prices below.", "missing")]
    if case.model is None:
        why = "The answer was read from a file, which does not hold what the adversary knows: ask whoever wrote it."
        return [*found, Paragraph(why, "missing")]
    return [*found, *_before(case), *_people(case), *_assumed_statements(case)]


def _assumed_values(case: ReportData) -> list[Block]:
    """How many people have each sensitive value, where that is published."""
    view = case.view
    if view.n_s is None:
        return [Paragraph(f"How many people have which {case.sa} is not published.", "note")]
    n_s, rows = np.asarray(view.n_s), []
    for at in np.argsort(-n_s, kind="stable")[: case.asked.rows]:
        share = float(n_s[at] / n_s.sum())
        name = Cell(label(view.sensitive_values[at]))
        rows.append([name, count(float(n_s[at])), Cell(percent(share), share)])
    columns = [Column(case.sa), Column("People", "number"), Column("Of all", "number")]
    return [Table(f"How many people have which {case.sa}, as published", columns, rows, len(n_s), "the most frequent")]


def _before(case: ReportData) -> list[Block]:
    """What was believed before anything was published."""
    prior = case.model.prior
    if prior is None:
        return []
    about = f": {prior.about}" if getattr(prior, "about", "") else ""
    return [Paragraph(f"Before anything is published, the adversary believes something of people by their "
                      f"{' and '.join(', '.join(one) for one in prior.tables)}{about}.")]  # fmt: skip


def _people(case: ReportData) -> list[Block]:
    """Who is known by name."""
    people, view = case.post.space.people, case.view  # type: ignore[union-attr]
    if not len(people):
        return []
    tuples = view.quasi_identifiers
    rows = [
        [Cell(str(name)), *(Cell(str(value)) for value in tuples[q])]
        for name, q in zip(people.names[: case.asked.rows], people.q, strict=False)
    ]
    columns = [Column("Name"), *map(Column, map(str, view.qi))]
    return [Table("People whom the adversary knows by name", columns, rows, len(people))]


def _assumed_statements(case: ReportData) -> list[Block]:
    """Each statement."""
    found = statements_of(case.model)
    if not found:
        only = (
            "No statement about them is assumed to be known"
            if case.n_named or case.has_prior
            else ("The adversary is assumed to know nothing besides the release")
        )
        return [Paragraph(f"{only}. Whoever knows more may infer more.", "note")]
    shown = found[: max(case.asked.rows, MOST_STATEMENTS)]
    named = any(held for _, held in shown)
    columns = [Column("Statement", "code"), *[Column("Called")][:named]]
    rows = [[Cell(text), *[Cell(held)][:named]] for text, held in shown]
    lead = Paragraph(
        f"Besides, the adversary is assumed to know {pluralize(len(found), 'statement')}, whether true or not. "
        "P(A | B) = 0.3 reads: of the people with B, 30 % have A."
    )
    return [lead, Table("What the adversary is assumed to know", columns, rows, len(found))]


def statements_of(model: Any) -> list[tuple[str, str]]:
    """Every row of knowledge in notation, and the name under which it is held if that is another."""
    form, blocks = model.form, model.blocks
    texts = {name: str(source) for name, source in model.knowledge.items() if isinstance(source, Statement)}
    found = []
    for row in range(form.n_facts, form.shape[0]):
        name = blocks.name(row)
        if name in texts:
            found.append((texts[name], name if name != texts[name] else ""))
        elif blocks.find(row)[0].penalty is not None:
            found.append((name, ""))
        else:
            found.append((f"{name} {_sides(*blocks.sides(row))}", ""))
    return found + [(str(constraint), "") for constraint in model.convex]


def _sides(low: float, high: float) -> str:
    """Write what a row is compared with."""
    if low == high:
        return f"= {low:g}"
    if math.isinf(low):
        return f"<= {high:g}"
    return f">= {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"


#: Quasi-identifiers that have columns of their own; more are written into one.
MOST_COLUMNS = 3


def group_columns(index: pd.Index) -> list[Column]:
    """The columns that say whom a row is about."""
    if index.nlevels <= MOST_COLUMNS:
        return [Column("Name" if name == "who" else str(name)) for name in index.names]
    return [Column(" \u00b7 ".join("Name" if name == "who" else str(name) for name in index.names), "group")]


def group_cells(index: pd.Index, at: int) -> list[Cell]:
    """What they hold in a row."""
    levels = index[at] if isinstance(index, pd.MultiIndex) else (index[at],)
    if index.nlevels <= MOST_COLUMNS:
        return [Cell(label(one)) for one in levels]
    return [Cell(" \u00b7 ".join(map(label, levels)))]


# Attacks by somebody who knows nobody's sensitive value: those that were asked for.


#: Attacks that can be asked for by name, on a release alone.
KNOWN: dict[str, Attack] = {"worst_case": worst_case, "definetti": definetti}
#: What they are called in a report.
TITLES = {
    "worst_case": "The worst that a few pieces of knowledge can do",
    "definetti": "deFinetti: learning from all buckets",
}


def attacks(case: ReportData) -> list[Block]:
    """Run what was asked for, each on what is published."""
    found: list[Block] = []
    for name, attack in case.asked.attacks.items():
        found.append(Heading(TITLES.get(name, name)))
        tried: Attempt[Any] = Attempt.of(lambda attack=attack: attack(case.view))  # type: ignore[misc]
        if tried.value is None:
            found.append(Paragraph(f"This attack could not be made: {tried.why}.", "missing"))
        elif isinstance(tried.value, AttackResult):
            found += _result(tried.value, case)
        elif isinstance(tried.value, pd.DataFrame):
            found += _worst(tried.value, case) if attack is worst_case else _attack_table(tried.value, case)
        else:
            found.append(Paragraph(str(tried.value)))
    return found


def _result(result: AttackResult, case: ReportData) -> list[Block]:
    """The sentence, and the surest inferences."""
    p, without = result.table.to_numpy(), result.baseline.to_numpy()
    order = np.argsort(-p.max(axis=1), kind="stable")[: case.asked.rows]
    index, at = result.table.index, p.argmax(axis=1)
    rows = [
        [
            *group_cells(index, int(i)), Cell(label(result.table.columns[at[i]])), probability(float(p[i, at[i]])),
            probability(float(without[i, at[i]])), count(float(result.records.iloc[i])),
        ]
        for i in order
    ]  # fmt: skip
    columns = [
        *group_columns(index), Column("Likeliest"), Column("Probability", "number"),
        Column("Without the attack", "number"), Column("People", "number"),
    ]  # fmt: skip
    return [Paragraph(f"{result.sentence}."), Table("What the attack infers", columns, rows, len(p), "the surest")]


def _worst(table: pd.DataFrame, case: ReportData) -> list[Block]:
    """What the worst adversary of each size infers, and an example of what it takes to know."""
    rows = [
        [
            count(int(row["k"])), probability(float(row["disclosure"])), Cell(str(row["person"])),
            Cell(label(row["value"])), Cell("; ".join(row["sentences"]) or "nothing"),
        ]
        for _, row in table.head(case.asked.rows).iterrows()
    ]  # fmt: skip
    columns = [
        Column("Pieces known", "number"), Column("Largest probability", "number"), Column("Of whom"), Column(case.sa),
        Column("For example, knowing", "code"),
    ]  # fmt: skip
    words = (
        "Nobody knows beforehand what an adversary knows. This is the largest probability that somebody has a value, "
        "for an adversary who knows the release and, instead of the statements of this report, so many pieces of "
        'knowledge, the most harmful ones; a piece reads "if this person has this value, that person has that value". '
        "Everything else that fits the release is taken to be equally likely."
    )
    return [Paragraph(words), Table("The worst case", columns, rows, len(table))]


def _attack_table(table: pd.DataFrame, case: ReportData) -> list[Block]:
    """A table as the attack gives it."""
    numeric = [pd.api.types.is_numeric_dtype(table[column]) for column in table]
    columns = [Column(str(column), "number" if n else "text") for column, n in zip(table, numeric, strict=True)]
    rows = [[_cell(value) for value in row] for row in table.head(case.asked.rows).itertuples(index=False)]
    return [Table("What the attack finds", columns, rows, len(table))]


def _cell(value: object) -> Cell:
    """A cell of any table."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return count(int(value))
    if isinstance(value, tuple | list):
        return Cell("; ".join(map(str, value)))
    return Cell("" if value is None else str(value))


# What is certain, and why.


#: What is not in the list.
ALONE = "What each bucket determines by itself, such as the value that all of its people have, is not listed here."


def certain(case: ReportData) -> list[Block]:
    """List inferences that are no matter of probability, those that somebody has a value first."""
    if case.certain.value is None:
        return [Paragraph(f"What is certain is not listed: {case.certain.why}.", "missing")]
    found = case.certain.value
    if found.empty:
        return [Paragraph(f"No statement makes anything certain that the release leaves open. {ALONE}")]
    has, people = found["probability"].to_numpy() == 1, found["people"].to_numpy()
    order = np.lexsort((-people, ~has))
    said = [
        f"{pluralize(int(has.sum()), 'inference')} that people have a value" if has.any() else "",
        f"{pluralize(int((~has).sum()), 'inference')} that they have it not" if (~has).any() else "",
    ]
    lead = Paragraph(
        f"Certain by logic alone, whatever is likely: {' and '.join(filter(None, said))}. The reasons beside each "
        f"force it, together with the release; without any one of several reasons it would be open. {ALONE}"
    )
    rows = []
    for at in order[: case.asked.rows]:
        row = found.iloc[at]
        because = "; ".join(row["because"]) or "what is published alone"
        p = float(row["probability"])
        rows.append([Cell(str(found.index[at])), Cell(percent(p), p), count(float(row["people"])), Cell(because)])
    columns = [
        Column("Inference", "code"), Column("Probability", "number"), Column("People", "number"),
        Column("Because", "code"),
    ]  # fmt: skip
    return [lead, Table("Certain inferences and their reasons", columns, rows, len(found), "certainties to have first")]


# What to change: which people, which assumptions, and what merging their buckets would do, tried out.


#: How often buckets are merged, and how many terms a model may have that is solved again to try it.
ROUNDS, LARGEST = 3, 200_000
#: Groups, statements and merged buckets that are named.
#: Statements are left out in turn if their number, times that of the terms, is not above this.
MOST_WORK = 300_000


def changes(case: ReportData) -> list[Block]:
    """Say what would make the release safer against this adversary."""
    found = case.exposure
    if not found.people:
        if not case.post.certificate.holds:
            return [Paragraph("Whether anything has to change cannot be said: the answer is not certified.", "warning")]
        nothing = "Nothing has to change for this adversary and this threshold"
        if found.undecided:
            nothing = "Whether something has to change is not decided: see the warnings above."
        else:
            nothing += ", if what the warnings above name may be known." if found.warnings else "."
        return [
            Paragraph(nothing),
            Bullets(
                [
                    "Ask what else somebody could know of these people. Add it as statements, and make this report "
                    "again.",
                    "Compare with a lower threshold, and ask how much a few pieces of knowledge could disclose at "
                    "worst (the worst-case attack).",
                ]
            ),
        ]
    advice = [*_groups(case, found), *_changed_statements(case, found), *_merging(case, found)]
    return [Bullets(advice)]


def _groups(case: ReportData, found: Exposure) -> list[str]:
    """Whom to look at."""
    rows = ExposedRows.of(found, case.view.sensitive)
    n, total = rows.index.nunique(), found.total
    short = rows.index.nlevels <= MOST_COLUMNS + 1
    each = list(dict.fromkeys(rows.whom(at) for at in range(len(rows))))[:NAMED] if short else []
    names = "; ".join(each) if short else "the list below"
    which = f": {names}" if short and n <= NAMED else f", beginning with {names}" if short else f": see {names}"
    return [
        f"The exposed people, {count(found.people).text} of {count(total).text}, are in {pluralize(n, 'group')}{which}. "
        "Put them together with people who have other values, coarsen what is told of them, or withhold them."
    ]


def _changed_statements(case: ReportData, found: Exposure) -> list[str]:
    """Whether it is the publication that exposes them, or what the adversary knows besides."""
    if case.model is None:
        return []
    if not case.model.knowledge:
        if case.has_prior:
            return ["The release exposes them to somebody who believed before what the prior says: check the prior."]
        return ["The release alone exposes them: the adversary is assumed to know nothing else of anybody's value."]
    alone = Attempt.of(lambda: found.published_alone)
    if alone.value is None:
        return [f"Whether what is published exposes them by itself could not be worked out: {alone.why}."]
    release = "The release, with the prior," if case.has_prior else "The release"
    if alone.value >= found.people:
        return [f"{release} exposes all of them by itself, without the statements."]
    rest = found.people - alone.value
    return [
        (
            f"{release} exposes none of them by itself: "
            if not alone.value
            else f"{release} exposes {pluralize(alone.value, 'person', 'people')} by itself; the other "
        )
        + f"{pluralize(rest, 'person is', 'people are')} exposed only to somebody who also knows the statements. Check "
        "whether anybody outside can know each of them: what nobody can know is no reason to change anything, and can "
        "be left out of the model.",
        *_through(case, found),
    ]


def _through(case: ReportData, found: Exposure) -> list[str]:
    """Which statements it takes, where there are few enough to leave out each in turn."""
    n = case.model.form.shape[0] - case.model.form.n_facts
    if n * len(case.model.space) > MOST_WORK:
        return []
    table = Attempt.of(lambda: found.statements)
    if table.value is None:
        return []
    some = table.value[table.value["people"] > 0]
    return [
        f"Without the statement {name}, {pluralize(int(row['people']), 'person', 'people')} of these would not be exposed."
        for name, row in some.head(NAMED).iterrows()
    ]


def _merging(case: ReportData, found: Exposure) -> list[str]:
    """Merge the buckets of exposed people with others, as often as it takes, and count again."""
    post, release = case.post, case.view
    if not isinstance(release, Release) or not isinstance(post, Posterior) or case.model is None:
        return []
    if len(post.space) > LARGEST or release.persons is not None:
        return []
    tried = Attempt.of(lambda: _merged(case, post, release, found))
    return [f"Merging buckets could not be tried: {tried.why}."] if tried.value is None else [tried.value]


def _merged(case: ReportData, post: Posterior, release: Release, found: Exposure) -> str:
    """Say what came of it; what one bucket of all does not do, no merging does."""
    if len(release.buckets) < 2:
        return "All people are in one bucket already: merging buckets cannot help."
    least = case.exposed(again(post, in_one_bucket(release).release)).people
    if least >= found.people:
        return (
            f"Merging buckets does not help: with one bucket for everybody, which was tried, {count(least).text} "
            f"people would be exposed to this adversary, and now it is {count(found.people).text}. Withhold these "
            "groups, or ask again whether anybody knows so much."
        )
    now, exposed, names = release, found, list[str]()
    for _ in range(ROUNDS):
        merged = merged_once(now, _buckets(now, exposed))
        now, names = merged.release, [*names, *merged.names]
        exposed = case.exposed(again(post, now))
        if exposed.people <= least or len(now.buckets) < 2:
            break
    if exposed.people >= found.people:
        return (
            f"Merging buckets two by two does not help: after {pluralize(len(names), 'merger')}, "
            f"{count(exposed.people).text} people would be exposed to this adversary. In one bucket for everybody it "
            f"would be {count(least).text}."
        )
    listed = ", ".join(names[:NAMED]) + (f", and {len(names) - NAMED} more" if len(names) > NAMED else "")
    left = (
        "nobody" if not exposed.people else f"{count(exposed.people).text} instead of {count(found.people).text} people"
    )
    more = "" if exposed.people <= least else f" In one bucket of all it would be {count(least).text}."
    return (
        f"Merge buckets. It was tried: after merging {listed}, {left} would be exposed to this adversary. The release "
        f"would have {pluralize(len(now.buckets), 'bucket')} instead of {len(release.buckets):,}, and answer its readers "
        f"less precisely.{more}"
    )


def _buckets(release: Release, found: Exposure) -> list[int]:
    """The buckets that exposed people are in."""
    at = release.quasi_identifiers.get_indexer(ExposedRows.of(found, release.sensitive).tuples)
    return np.flatnonzero(release.n_qb[np.unique(at[at >= 0])].sum(axis=0)).tolist()


# The certificate in words: how exact the numbers are, and who says so.


#: Errors below this need no number to be understood.
MILLIONTH = 1e-6


def exactness(case: ReportData) -> list[Block]:
    """Say what is proved."""
    found = case.post.certificate
    if found.holds:
        small = ", less than one in a million" if found.bound < MILLIONTH else ""
        words = Paragraph(
            f"Every probability that is inferred is proved to be within {at_most(found.bound).text} of the exact "
            f"answer{small}. "
            "The proof is worked out from the statements themselves and does not rely on the program that found the "
            "answer."
        )
    else:
        worst = at_most(min(found.bound, 1.0)).text
        words = Paragraph(
            f"The answer is not certified: a probability may be off by {worst}. Do not decide by this report; "
            "solve the model again with the default solver.",
            "warning",
        )
    said: list[list[Cell]] = [
        [Cell("largest possible error of a probability"), at_most(found.bound)],
        [Cell("largest violation of a statement, people"), number(found.residual, 2)],
        [Cell("distance from the optimum (duality gap), people"), number(found.gap, 2)],
        [Cell("terms that can have one value only"), number(float(found.forced), 9)],
        [Cell("iterations"), number(float(case.post.iterations), 9)],
        [Cell("seconds to solve"), number(float(case.post.solve_seconds), 2)],
    ]
    if found.backward:
        said.append([Cell("statements are met up to this share of their values"), number(found.backward, 2)])
    said.append([Cell("solver, and how it ended"), Cell(f"{getattr(case.post, 'solver', 'DUAL_NEWTON in partitions')}, "
                                                         f"{case.post.status}")])  # fmt: skip
    return [words, Table("The certificate", [Column("What"), Column("Value", "number")], said, len(said))]


# Original records of people who are exposed, where somebody asked to see them.


def exposed_records(case: ReportData) -> list[Block]:
    """List the records of exposed groups, and whether what is inferred of them is true; nothing unless asked for."""
    if not case.asked.records or not case.exposure.people:
        return []
    found = Attempt.of(lambda: _table(case))
    if found.value is None:
        return [Paragraph(f"Records are not shown: {found.why}.", "missing")]
    if not found.value.total:
        why = "Records are not shown: no original record has the quasi-identifiers of an exposed group, as published."
        return [Paragraph(why, "missing")]
    return [found.value]


def _table(case: ReportData) -> Table:
    """The records, by their labels in the table that was given."""
    original, view = case.asked.original, case.view
    assert original is not None
    rows = ExposedRows.of(case.exposure, view.sensitive)
    inferred = dict(zip(rows.tuples, rows.values, strict=True))
    code, tuples = sort_distinct(original[list(view.qi)])
    of_exposed = np.array([key in inferred for key in tuples])
    at = np.flatnonzero(of_exposed[code])
    cells = []
    for i in at[: case.asked.rows]:
        truth = tuple(original[list(view.sensitive)].iloc[i])
        true: object = truth if len(truth) > 1 else truth[0]
        value = inferred[tuples[code[i]]]
        cells.append(
            [
                Cell(str(original.index[i])), *(Cell(str(one)) for one in tuples[code[i]]), Cell(label(value)),
                Cell(label(true)), Cell("yes" if same_value(case.exposure, value, true) else "no"),
            ]
        )  # fmt: skip
    columns = [
        Column("Row"), *map(Column, map(str, view.qi)), Column("Inferred"), Column(f"True {case.sa}"), Column("Right"),
    ]  # fmt: skip
    return Table("Original records of exposed groups, as asked for", columns, cells, len(at))


# What users of disclosure control expect beside inference: who can be found, and what readers lose.


#: Distances that are smaller are rounding.
ROUNDING = 1e-9

#: Units of whole things, with their singular; of shares; and of information.
SINGLE = {"people": "person", "records": "record", "classes": "class", "values": "value"}
SHARES, INFORMATION = {"probability", "share", "ratio"}, {"bits", "nats"}


def recognised(case: ReportData) -> list[Block]:
    """List how likely it is that somebody's record is found."""
    if case.figures.value is None:
        return [Paragraph(f"Re-identification is not measured: {case.figures.why}.", "missing")]
    found = of_kind(case.figures.value, "re-identification risk")
    if found is None:
        return [Paragraph("Re-identification is not measured of a series: ask its releases one by one.", "missing")]
    blocks: list[Block] = []
    if isinstance(case.view, Release) and not case.view.generalized:
        words = (
            "In buckets the quasi-identifiers are published as they are, so that whoever is in the release can be "
            f"recognised in it. Their {case.sa} is published by bucket only: the answer above says what that protects."
        )
        blocks.append(Paragraph(words))
    return [*blocks, measured_table("Risks of being recognised", found)]


def useful(case: ReportData) -> list[Block]:
    """List how wrong the answers are that readers get."""
    if case.asked.original is None:
        why = "Utility is measured against the original records, which were not given: original=table."
        return [Paragraph(why, "missing")]
    if case.figures.value is None:
        return [Paragraph(f"Utility is not measured: {case.figures.why}.", "missing")]
    found = of_kind(case.figures.value, "utility")
    if found is None:
        return [Paragraph("Utility is measured of releases of buckets in memory, and this is none.", "missing")]
    return [measured_table("What readers lose", found)]


def of_kind(figures: pd.DataFrame, kind: str) -> pd.DataFrame | None:
    """The measures of a kind, if there are any."""
    found = figures[figures.index.get_level_values("kind") == kind].droplevel("kind")
    return found if len(found) else None


def measured_table(caption: str, found: pd.DataFrame) -> Table:
    """Measures with their values, and what they say."""
    rows = [
        [Cell(str(name)), _value(float(row["value"]), str(row["unit"])), Cell(str(row["says"]))]
        for name, row in found.iterrows()
    ]
    return Table(caption, [Column("Measure"), Column("Value", "number"), Column("What it says")], rows, len(rows))


def _value(value: float, unit: str) -> Cell:
    """Write a value in its unit, if that is one that readers know."""
    if unit in SHARES:
        return Cell(percent(value) if value <= 1 else f"{100 * value:,.0f} %", value)
    if unit in SINGLE:
        return Cell(f"{count(value).text} {SINGLE[unit] if value == 1 else unit}", value)
    found = number(0.0 if abs(value) < ROUNDING else value)
    return Cell(f"{found.text} {unit}" if unit in INFORMATION else found.text, value)


# Who is exposed, by group, and how sure the adversary is of everybody.


#: The first measures of inference say how many people are exposed, which stands above already.
COUNTED = 2


def exposed_people(case: ReportData) -> list[Block]:
    """List the groups of people who are exposed, the surest first, and count everybody by the surest inference."""
    found = case.exposure
    blocks: list[Block] = [_exposed_groups(case, ExposedRows.of(found, case.view.sensitive), int(found.people))]
    blocks += _values(case, found.values)
    tenths = found.histogram
    rows = [
        [
            Cell(f"{percent(step.left)} to {percent(step.right)}", float(step.left)), count(float(people)),
            _share(float(people), float(max(tenths.sum(), 1))),
        ]
        for step, people in zip(tenths.index.array, tenths, strict=True)
    ]  # fmt: skip
    columns = [Column("Surest inference", "number"), Column("People", "number"), Column("Of all", "bar")]
    blocks.append(Table("Everybody, by the probability of the likeliest value that counts", columns, rows, len(rows)))
    return [
        *blocks,
        *([] if case.name else threshold_curve([case])),
        *heat_map(case),
        *_others(case),
        *exposed_records(case),
    ]


def _share(people: float, total: float) -> Cell:
    """A share of all people, drawn."""
    return Cell(percent(people / total), people / total, 0.0, people / total)


def _values(case: ReportData, values: pd.DataFrame) -> list[Block]:
    """What is inferred, and what does not count because it is usual."""
    some = values[(values["exposed"] > 0) | (values["not_counted"] > 0)]
    if some.empty or case.exposure.closeness:  # intervals overlap: a table of them counts the same people many times
        return []
    some = some.sort_values(["exposed", "anyway"], ascending=False, kind="stable")
    columns = [
        Column(case.sa), Column("Usual", "number"), Column("Exposed people", "number"),
        Column("Of them for certain", "number"), Column("Likely, but usual", "number"),
    ]  # fmt: skip
    rows = [
        [
            Cell(label(name)), probability(row["baseline"]), *(count(row[c]) for c in ("exposed", "certain", "anyway")),
        ]
        for name, row in some.head(case.asked.rows).iterrows()
    ]  # fmt: skip
    return [Table("What is inferred, by value", columns, rows, len(some), "the most frequent")]


def _others(case: ReportData) -> list[Block]:
    """What other measures say of the same inferences."""
    found = None if case.figures.value is None else of_kind(case.figures.value, "inference risk")
    return [] if found is None else [measured_table("Other measures of what is inferred", found.iloc[COUNTED:])]


def _exposed_groups(case: ReportData, exposed: ExposedRows, people: int) -> Block:
    """The groups."""
    if not len(exposed):
        return Paragraph(f"None of {count(case.exposure.total).text} people is exposed.")
    compared = not np.isnan(exposed.usual).all()
    close = case.exposure.closeness
    what = f"{case.sa}, to within {close}" if close else case.sa
    columns = [*group_columns(exposed.index), Column(what), Column("Probability", "number")]
    columns += [Column("Usual", "number")] * compared + [Column("People", "number")]
    rows = [
        [
            *group_cells(exposed.index, at), Cell(label(exposed.values[at])), probability(exposed.p[at], case.exact),
            *[probability(exposed.usual[at])] * compared, count(exposed.people[at]),
        ]
        for at in range(min(len(exposed), case.asked.rows))
    ]  # fmt: skip
    return Table(f"Groups of people who are exposed ({people:,} in all)", columns, rows, len(exposed), "the surest")


# Which sensitive values count.


def counted_values(case: ReportData) -> np.ndarray:
    """Mark the values that must not be inferred; not to be in a release is no value."""
    values, asked = case.view.sensitive_values.to_flat_index(), case.asked.sensitive
    inside = np.asarray(values != OUTSIDE)
    if asked is None:
        return inside
    if isinstance(asked, Mapping):
        levels = [case.view.sensitive_values.get_level_values(name) for name in asked]
        return inside & np.all(
            [level.isin(_listed(some)) for level, some in zip(levels, asked.values(), strict=True)], axis=0
        )
    wanted = _listed(asked)
    return inside & np.array([value in wanted for value in values])


def _listed(values: object) -> list[object]:
    """Read one value or several; a tuple is one, a combination."""
    return [values] if isinstance(values, str | tuple) or not is_several(values) else list(values)


# Intervals beside estimates: what could be true at all, whatever anybody deems likely.


#: Ends of an interval that are nearer to each other are one value.
NEAR_SHARE = 1e-6


def intervals(case: ReportData) -> list[Block]:
    """Put P(s | q) between the least and the largest value that everything known permits."""
    if case.intervals.value is None:
        return [Paragraph(f"Intervals are not given: {case.intervals.why}.", "missing")]
    ends, view = case.intervals.value, case.view
    q, s = _positions(ends.index, case)
    estimate = np.nan_to_num(case.post.conditional().to_numpy()[q, s])  # type: ignore[call-arg]
    low, high = ends["low"].to_numpy(), ends["high"].to_numpy()
    counted = counted_values(case)[s]
    order = np.flatnonzero(counted & (high - low > NEAR_SHARE))
    order = order[np.argsort(-estimate[order], kind="stable")]
    index = view.quasi_identifiers
    rows = [
        [
            *group_cells(index, int(q[at])), Cell(label(view.sensitive_values[s[at]])),
            probability(estimate[at], case.exact),
            Cell(_ends(low[at], high[at]), estimate[at], low[at], high[at]),
        ]
        for at in order[: case.asked.rows]
    ]  # fmt: skip
    words = [*_sentences(case, low[counted], high[counted], q[counted]), _fixed(low[counted], high[counted])]
    if len(ends) < len(index) * len(view.sensitive_values):
        words.append(Paragraph("Values that nobody of a group can have by the release alone are left out.", "note"))
    if not rows:
        return words
    columns = [
        *group_columns(index), Column(case.sa), Column("Estimate", "number"), Column("What is possible", "range")
    ]  # fmt: skip
    table = Table("Estimates, and the interval that each lies in", columns, rows, len(order), "the largest estimates")
    return [*words, table]


def _fixed(low: np.ndarray, high: np.ndarray) -> Paragraph:
    """Say how many probabilities have one possible value, and how many of them are 0."""
    is_fixed = high - low <= NEAR_SHARE
    n, fixed, zeros = len(low), int(is_fixed.sum()), int((is_fixed & (high <= NEAR_SHARE)).sum())
    if not fixed:
        return Paragraph(f"Of each of the {n:,} probabilities more than one value is possible.")
    which = f"{zeros:,} of them {'is' if zeros == 1 else 'are'} 0" if zeros else "none of them is 0"
    others = f"; the table is about the other {n - fixed:,}" if fixed < n else ""
    return Paragraph(f"Of {fixed:,} of {n:,} probabilities only one value is possible ({which}){others}.")


def _sentences(case: ReportData, low: np.ndarray, high: np.ndarray, q: np.ndarray) -> list[Block]:
    """How many people reach the threshold for sure, and how many could."""
    n_q, at = np.asarray(case.view.n_q), case.asked.threshold
    sure, could = (int(n_q[np.unique(q[ends >= at - NEAR_SHARE])].sum()) for ends in (low, high))
    total = int(n_q.sum())
    words = (
        "An estimate is the adversary's best guess for somebody who is known by the quasi-identifiers only. The "
        "interval contains every probability that the release and the statements permit. For "
        f"{share(sure, total)}, the smallest possible probability of some value is {from_on(at)}; for "
        f"{share(could, total)}, the largest possible probability of some value is {from_on(at)}. The baseline is not "
        "considered here."
    )
    more = (
        "Intervals do not bound what somebody infers who can tell people with the same quasi-identifiers apart, or who "
        "knows how the values of different people depend on each other: see the worst-case attack."
    )
    return [Paragraph(words), Paragraph(more, "note")]


def _ends(low: float, high: float) -> str:
    """Write an interval."""
    one, other = percent(low), percent(high)
    return f"{one} to {other}" if one != other else f"about {one}"


def _positions(index: pd.Index, case: ReportData) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the QI tuple and of the value of each row."""
    view, n = case.view, len(case.view.qi)
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    tuples = pd.MultiIndex.from_arrays(levels[:n])
    values = levels[n] if len(levels) == n + 1 else pd.MultiIndex.from_arrays(levels[n:])
    return view.quasi_identifiers.get_indexer(tuples), view.sensitive_values.get_indexer(values)


# How a report was made: what was asked, from where the data are, versions, seed.


#: Packages that an answer depends on.
PACKAGES = ("maxent-cvx", "numpy", "scipy", "pandas", "cvxpy")


def making(cases: Sequence[ReportData], day: str) -> list[Block]:
    """List what somebody needs who wants to make the same report."""
    asked, compared = cases[0].asked, all(case.is_compared for case in cases)
    values = "all" if asked.sensitive is None else ", ".join(map(str, _several(asked.sensitive)))
    said = {
        "threshold of exposure": from_on(asked.threshold),
        "sensitive values": values,
        "compared with": _compared(asked.baseline, compared),
        "values that count as the same": "by default" if asked.within is None else f"within {short_repr(asked.within)}",
        "original records": "given, to measure by" if asked.original is not None else "not given",
        "made on": day,
        **asked.about,
        **{name: _version(name) for name in PACKAGES},
        "Python": platform.python_version(),
    }
    if "seed" not in {name.lower() for name in asked.about}:
        said["seed"] = "none was given; solving draws nothing at random"
    rows = [[Cell(str(name)), Cell(str(value))] for name, value in said.items()]
    return [Table("What this report was made of", [Column("What"), Column("Value")], rows, len(rows))]


def _several(values: object) -> list[object]:
    return list(values) if isinstance(values, list | set | frozenset) else [values]


def _compared(baseline: object, compared: bool) -> str:
    """What an inference is compared with, in words."""
    if baseline is None:
        return "nothing"
    if not compared:
        return "nothing where the release does not say how many people have each value"
    return "how many of all people have the value" if isinstance(baseline, str) else f"a {type(baseline).__name__}"


def _version(name: str) -> str:
    """The version of a package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"


# What each statement is worth to the adversary.


#: What the sign of a price means for the value of a statement, by its side.
SIDES = {
    "=": "is used as it stands", "<=": "holds at its upper end", ">=": "holds at its lower end", "~": "may be missed",
    "": "is not needed",
}  # fmt: skip


def prices(case: ReportData) -> list[Block]:
    """List statements, the dearest first."""
    if case.prices.value is None:
        return [Paragraph(f"Prices are not given: {case.prices.why}.", "missing")]
    table = case.prices.value
    if table.empty:
        return [Paragraph("The adversary is assumed to know no statement, and only statements have prices.")]
    price = table["price"].to_numpy()
    idle = int((price == 0).sum())
    words = (
        "The price says how much uncertainty a small change of the statement's value would give or take. A large one "
        "is a reason to ask whether anybody can know the statement so exactly; an infinite one means that it excludes "
        "something altogether."
    )
    if idle:
        has = "has" if idle == 1 else "have"
        words += (
            f" {idle:,} of the {len(table):,} statements {has} the price 0: the answer is the same without any one."
        )
    rows = [
        [Cell(str(table.index[at])), Cell(SIDES[str(table["side"].iloc[at])]), _size(price[at])]
        for at in range(min(len(table), case.asked.rows))
    ]
    columns = [Column("Statement", "code"), Column("It"), Column("Price, nats per unit", "number")]
    return [Paragraph(words), Table("Prices of the statements", columns, rows, len(table), "the dearest")]


def _size(price: float) -> Cell:
    """The size of a price; its sign says only which way the value would have to move."""
    return number(float(np.abs(price)))
