"""``mx.report``: the report of one answer, or of several side by side, as a page of HTML."""

from __future__ import annotations

import base64
import datetime
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from html import escape
from os import PathLike
from typing import Any

import pandas as pd

from .._utils.errors import StatementError
from .._utils.files import path_of, write_beside
from .._utils.formatting import escaped, isolated
from .._utils.progress import progress_bar
from .._utils.validation import (
    check_bool,
    check_callable,
    check_dataframe,
    check_float,
    check_in,
    check_instance,
    check_int,
    check_label,
    check_list,
    check_mapping,
    check_optional_bool,
    check_seconds,
    check_str,
)
from ..measures.exposure import Exposure
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.qi_table import QITable
from .data import Attack, ReportData, Settings
from .tables import (
    KNOWN,
    Block,
    Table,
    answer,
    assumptions,
    attacks,
    certain,
    changes,
    exactness,
    exposed_people,
    glance,
    intervals,
    making,
    prices,
    recognised,
    threshold_curve,
    useful,
)

__all__ = [
    "report",
]

# From sections to a page: one file of HTML, with its style and its script in it; jinja2 escapes every value.


#: Characters of a description that can still be read in half the width of a page.
LONGEST = 60


@dataclass(frozen=True)
class Part:
    """What a section says of one answer."""

    name: str
    blocks: Sequence[Block]
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A section of the page, for all answers side by side."""

    id: str
    title: str
    lead: str
    parts: Sequence[Part]

    @property
    def is_side_by_side(self) -> bool:
        """Whether its parts stand beside each other: long descriptions of people need the whole width."""
        tables = [block for part in self.parts for block in part.blocks if isinstance(block, Table)]
        texts = [
            cell.text
            for table in tables
            for row in table.rows
            for cell, column in zip(row, table.columns, strict=True)
            if column.kind in ("group", "code")
        ]
        return len(self.parts) > 1 and max(map(len, texts), default=0) <= LONGEST


def page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """Write the page."""
    environment = _environment()
    style, script = (environment.get_template(name).render() for name in ("style.css", "page.js"))
    return str(
        environment.get_template("report.html").render(
            title=title, subtitle=subtitle, sections=sections, style=style, script=script,
            style_hash=_hash(style), script_hash=_hash(script),
        )
    )  # fmt: skip


@cache
def _environment() -> Any:
    """Return the environment of the templates, in which every text is escaped and isolated."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    found = Environment(
        loader=PackageLoader(__package__, "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_text,
    )  # fmt: skip
    found.filters["attribute"] = lambda text: Markup(escape(isolated(text)))
    found.filters["kind"] = lambda block: type(block).__name__
    return found


def _text(value: object) -> object:
    """Write what a template is given: text is escaped, and its labels are isolated; markup stays as it is."""
    from markupsafe import Markup

    return Markup(escaped(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    """The hash by which a content security policy knows a text in the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# The order of a report: the answer first, then what to change, then the evidence.


#: The sections that say something of each answer: id, title, what each is about, and what it says.
EVIDENCE: tuple[tuple[str, str, str, Callable[[ReportData], list[Block]]], ...] = (
    ("changes", "What to change", "", changes),
    ("exposed", "Who is exposed", "Groups of people whose value is inferred too surely.", exposed_people),
    ("certain", "What is certain, and why", "What follows by logic, and the statements that it follows from.", certain),
    (
        "intervals", "Intervals beside estimates",
        "Every probability that the release and the statements permit, not only the best guess.", intervals,
    ),
    (
        "assumptions", "What is published, and what the adversary is assumed to know",
        "Everything in this report rests on these assumptions; another adversary infers other things.", assumptions,
    ),
    ("prices", "What each statement is worth", "Which of the assumptions the answer depends on most.", prices),
    ("attacks", "Attacks", "What can be inferred from what is published by other methods, as asked for.", attacks),
    (
        "recognised", "Being recognised", "Another risk: that somebody finds a person's record, whatever is in it.",
        recognised,
    ),
    ("useful", "What the release is good for", "What its readers lose by what protects people.", useful),
    ("exactness", "How exact the numbers are", "What was proved of the answer, whichever program found it.", exactness),
)  # fmt: skip


def render_report(cases: Sequence[ReportData], day: str, progress: bool | None) -> str:
    """Write the report of some answers, as HTML."""
    first, asked = cases[0], cases[0].asked
    sections = [_section(cases, ("answer", "The answer", "", answer))]
    if len(cases) > 1:
        parts = [*sections[0].parts, Part("", [glance(cases), *threshold_curve(cases)], wide=True)]
        sections = [Section("answer", "The answer", "", parts)]
    wanted = [one for one in EVIDENCE if one[0] != "attacks" or asked.attacks]
    sections += [_section(cases, one) for one in progress_bar(wanted, "report", progress)]
    sections.append(Section("making", "How this report was made", "", [Part("", making(cases, day), wide=True)]))
    names = " and ".join(filter(None, [", ".join(case.name for case in cases[:-1]), cases[-1].name]))
    subtitle = f"What can be inferred of people's {first.sa} from what is published, and what to do about it"
    title = "Disclosure report" + (f": {names}" if first.name else "")
    return page(title, subtitle, sections)


def _section(
    cases: Sequence[ReportData], described: tuple[str, str, str, Callable[[ReportData], list[Block]]]
) -> Section:
    """What a section says of each answer."""
    name, title, lead, write = described
    return Section(name, title, lead, [Part(case.name if len(cases) > 1 else "", write(case)) for case in cases])


# A finished report: a page that shows itself in a notebook, and is written whole or not at all.


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """One page of HTML, with everything in it, and the verdicts that it tells.

    Attributes
    ----------
    html : str
        The page. It fetches nothing, and every value in it is escaped.
    exposures : dict of str to Exposure
        Who is exposed, by the name of each answer; of one alone under the name "".

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> report = mx.report(mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve())
    >>> report.html.startswith("<!doctype html>"), [found.people for found in report.exposures.values()]
    (True, [1])
    """

    html: str
    exposures: Mapping[str, Exposure] = field(default_factory=dict)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            Its name ends in .html as a rule, so that a browser opens it.

        Raises
        ------
        TableError
            If the file cannot be written; what was there before is unchanged.

        Examples
        --------
        >>> import maxent_cvx as mx, pathlib, tempfile
        >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
        >>> report = mx.report(mx.MaxEnt(release).solve())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report.save(pathlib.Path(folder, "report.html"))
        ...     pathlib.Path(folder, "report.html").read_text(encoding="utf-8") == report.html
        True
        """
        data = self.html.encode("utf-8", "replace")
        write_beside(path, lambda draft: draft.write_bytes(data))

    def __repr__(self) -> str:
        return f"<Report: {len(self.html) / 1000:,.0f} kB of HTML; save(path) writes it>"

    def _repr_html_(self) -> str:
        page = escape(self.html)
        return (
            f'<iframe srcdoc="{page}" title="Disclosure report" width="100%" height="600" sandbox="allow-scripts">'
            "</iframe>"
        )


def report(
    posts: Posterior | PartitionedPosterior | Iterable[Posterior] | Mapping[str, Posterior],
    path: str | PathLike[str] | None = None,
    *,
    threshold: float = 0.8,
    sensitive: object = None,
    baseline: object = "overall",
    within: object = None,
    original: pd.DataFrame | Mapping[str, pd.DataFrame] | None = None,
    population: pd.DataFrame | QITable | int | None = None,
    records: bool = False,
    attacks: Iterable[str | Attack] | Mapping[str, Attack] = (),
    about: Mapping[str, object] | None = None,
    rows: int = 25,
    time_limit: float = 60.0,
    progress: bool | None = None,
) -> Report:
    """Write what a release discloses as one page, for somebody who decides whether to publish it.

    The answer stands first, then what to change, then the evidence: who is exposed, what is certain and why, intervals
    beside estimates, what is published and what the adversary is assumed to know, prices, attacks if asked, the
    certificate, versions; and a glossary. What cannot be given is said, and why.

    Parameters
    ----------
    posts : Posterior, or list or dict of them
        What the adversary infers; several are shown side by side, under the names that a dictionary gives them.
    path : str or path, optional
        Where to write the page, whole or not at all; without it nothing is written.
    threshold, sensitive, baseline, within
        Whom to count as exposed, as of :func:`maxent_cvx.measures.exposed`.
    original : DataFrame, or dict of them, optional
        The records that were published; where answers have names, maybe others for each. Risk and utility are measured
        by them; none is shown.
    population : DataFrame, QITable or int, optional
        Everybody of whom the people of the release are some, or how many they are, to judge whether somebody can be
        recognised: of :func:`maxent_cvx.measures.reidentification`.
    records : bool
        Whether to show original records of people who are exposed.
    attacks : list, or dict by name
        "worst_case", "definetti", or functions of what is published, such as
        ``partial(mx.attacks.membership, population=voters)``.
    about : dict, optional
        What readers should know of the data, in their own words: ``{"source": "ward 3, 2024", "seed": 0}``.
    rows : int
        Rows of a table that are shown; a table with more says so.
    time_limit : float
        Seconds for intervals, and as many for what is certain; what takes longer is said to be missing.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    Report
        With ``.html``, ``.save(path)`` and ``.exposures``; it shows itself in a notebook.

    Raises
    ------
    UnknownName, StatementError
        If something is no posterior, an attack is neither known nor a function, or another argument cannot be read.
    MaxEntError
        As of :func:`maxent_cvx.measures.exposed`, if `threshold`, `sensitive`, `baseline` or `within`
        cannot be read.
    TableError
        If the file cannot be written; what was there before is unchanged.

    Notes
    -----
    The page fetches nothing from anywhere. It contains what is published and what is assumed, and no original record
    unless `records` asks for some. Treat it as you treat what is published, or more carefully.

    Examples
    --------
    >>> import maxent_cvx as mx, pathlib, tempfile
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> nothing, medicine = mx.MaxEnt(release), mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = mx.report({"knows nothing": nothing.solve(), "knows medicine": medicine.solve()},
    ...                        pathlib.Path(folder, "report.html"), about={"source": "the paper's Fig. 1"})
    >>> {name: found.people for name, found in report.exposures.items()}
    {'knows nothing': 0, 'knows medicine': 1}
    """
    named, file = _named(posts), None if path is None else path_of(path)
    asked = Settings(
        threshold=check_float(threshold, "threshold", 0.0, 1.0),
        sensitive=sensitive,
        baseline=baseline,
        within=within,
        population=_population(population),
        records=check_bool(records, "records"),
        attacks=_attacks(attacks),
        about=_about(about),
        rows=check_int(rows, "rows", 1),
        time_limit=check_seconds(time_limit, "time_limit"),
    )
    check_optional_bool(progress, "progress")
    if asked.records and original is None:
        raise StatementError("records=True shows original records, and none are given: original=table")
    records_of = _originals(original, named)
    cases = [ReportData(name, post, replace(asked, original=records_of.get(name))) for name, post in named.items()]
    exposures = {case.name: case.exposure for case in cases}  # first: wrong arguments are refused before long work
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    html = render_report(cases, day, progress)
    found = Report(html, exposures)
    if file is not None:
        found.save(file)
    return found


def _named(posts: object) -> dict[str, Posterior | PartitionedPosterior]:
    """Read the answers under their names; one alone has none."""
    if isinstance(posts, Posterior | PartitionedPosterior):
        return {"": posts}
    if isinstance(posts, Mapping):
        found = {check_str(name, "the name of an answer"): post for name, post in posts.items()}
    else:
        several = check_list(posts, "posts", "posteriors")
        found = {"" if len(several) == 1 else f"Variant {i}": post for i, post in enumerate(several, 1)}
    for post in found.values():
        check_instance(post, (Posterior, PartitionedPosterior), "an answer that is reported", "solve a model first")
    if not found:
        raise StatementError("there is no answer to report; give what model.solve() returns")
    return found


def _originals(given: object, named: Mapping[str, object]) -> dict[str, pd.DataFrame]:
    """Read the original records of each answer; one table is of all."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(named, check_dataframe(given, "the original records"))
    for name in given:
        check_label(name, "name of an answer (in original)", named)
    return {name: check_dataframe(table, f"the original records of {name!r}") for name, table in given.items()}


def _population(given: object) -> object:
    """Read everybody, or how many they are."""
    if given is None or isinstance(given, pd.DataFrame | QITable):
        return given
    return check_int(given, "population", 1)


def _attacks(given: object) -> dict[str, Attack]:
    """Read attacks: names of those that are known, and functions of what is published."""
    if isinstance(given, Mapping):
        return {check_str(name, "the name of an attack"): check_callable(attack, f"attack {name!r}")
                for name, attack in given.items()}  # fmt: skip
    found: dict[str, Attack] = {}
    for attack in check_list(given, "attacks", "names or functions"):
        if isinstance(attack, str):
            found[attack] = KNOWN[check_in(attack, "an attack", list(KNOWN))]
        else:
            found[_name_of(check_callable(attack, "an attack"))] = attack
    return found


def _name_of(attack: object) -> str:
    """The name of a function, also of one that has some of its arguments."""
    while isinstance(attack, partial):
        attack = attack.func
    return str(getattr(attack, "__name__", type(attack).__name__))


def _about(given: object) -> dict[str, str]:
    """Read what is said of the data."""
    found = {} if given is None else check_mapping(given, "about", "{what: text}")
    return {check_str(name, "about: what it is of"): str(value) for name, value in found.items()}
