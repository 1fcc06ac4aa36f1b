"""``mx.report``: the report of one posterior, or of several side by side, as one HTML page.

Each section has a function, which computes its content for one posterior, and a template, which contains its sentences.
Jinja escapes every value; labels of other writing directions are isolated.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from html import escape
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import LONGEST_LABEL, GroupTooLarge, StatementError
from .._utils.files import path_of, write_beside
from .._utils.formatting import Message, as_label, escaped, isolated
from .._utils.progress import progress_bar
from .._utils.validation import (
    check_bool,
    check_callable,
    check_dataframe,
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
from ..anonymize.merging import joined
from ..attacks.definetti import DeFinettiResult, definetti
from ..attacks.result import AttackResult
from ..attacks.worst_case import worst_case
from ..measures.exposure import Exposure, check_thresholds
from ..measures.uncertainty import uncertain
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.generalized import GroupedRelease
from ..releases.partitioned import PartitionedRelease
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from ..terms.people import OTHERS
from . import tables
from .data import Attack, Attempt, ReportData, Settings, least_merging, merge_pairs, solve_again
from .language import languages, speaking, text
from .tables import percent

#: Attacks that can be requested by name.
KNOWN: dict[str, Attack] = {"worst_case": worst_case, "definetti": definetti}
#: Largest number of values, groups or statements named in a sentence.
NAMED = 3
#: Largest number of sets of merged buckets that are named; of buckets named by their quasi-identifiers NAMED.
NAMED_SETS = 10
#: Number of rounds of merging buckets, and the largest model, in terms, for which it is tried.
ROUNDS, LARGEST = 3, 200_000
#: The largest model, in terms, that is solved again after merging: 16,000 terms became 3 million if all people were in one
#: bucket, which took 56 s and 1.2 GB.
LARGEST_MERGED = 1_000_000
#: Exposure is attributed to statements if their number times that of the terms is at most this.
MOST_WORK = 300_000
#: Largest number of statements of which all subsets are solved, and the probability that each is known.
MOST_UNCERTAIN, ONE_IN_TEN = 8, 0.1
#: The longest description that is readable in half the width of a page, in characters.
LONGEST = 60
#: Number of leading measures of inference that are omitted, since they repeat the number of exposed people.
COUNTED = 2


# --------------------------------------------------------------------------------------------- contents of the sections


def _answer(data: ReportData) -> dict[str, Any]:
    """Compute the verdict."""
    exposure = data.exposure
    certificate_holds = data.post.certificate.holds
    status = "bad" if exposure.people else "open" if exposure.warnings else "good"
    values = tables.who_values(data)
    who, excluded = exposure.who, exposure.values[exposure.values["anyway"] > 0]
    surest = None
    if len(values):
        p, people = who["P"].to_numpy(float), int(who["people"].iloc[0])
        surest = {
            "group": tables.group_name(who.index, 0), "value": tables.value_name(data.judged, values[0]),
            "is_named": "who" in who.index.names and who.index.get_level_values("who")[0] != OTHERS,
            "people": people, "p": p[0], "ties": len(p) > 1 and p[1] >= p[0] - data.exact,
            "baseline": who["baseline"].iloc[0] if "baseline" in who else None,
        }  # fmt: skip
    return {
        "exposure": exposure, "status": status if certificate_holds else "open", "certified": certificate_holds,
        "caveat": bool((exposure.warnings and not exposure.people) or not certificate_holds),
        "surest": surest,
        "excluded": [
            (tables.value_name(data.judged, value), int(row["anyway"]), row["baseline"])
            for value, row in excluded.head(NAMED).iterrows()
        ],
    }  # fmt: skip


def _changes(data: ReportData) -> dict[str, Any]:
    """Compute changes that would make the release safer against this adversary."""
    exposure, model, who = data.exposure, data.model, data.exposure.who
    context: dict[str, Any] = {"exposure": exposure, "certified": data.post.certificate.holds}
    if not exposure.people:
        return context
    groups = who.index.unique()
    named = range(min(NAMED, len(groups)) if groups.nlevels <= tables.MOST_COLUMNS + 1 else 0)
    context |= {"groups": [tables.group_name(groups, at) for at in named], "n_groups": len(groups)}
    if model is not None and model.knowledge:
        context["alone"] = alone = Attempt.of(lambda: exposure.published_alone)
        n = model.form.shape[0] - model.form.n_facts
        if alone.value is not None and alone.value < exposure.people and n * len(model.space) <= MOST_WORK:
            attributed = Attempt.of(lambda: exposure.statements).value
            if attributed is not None:
                needed = attributed[attributed["people"] > 0].head(NAMED)
                context["needed"] = [(name, int(row["people"])) for name, row in needed.iterrows()]
        if (
            data.n_statements == len(model.knowledge) <= MOST_UNCERTAIN  # a source is known as a whole
            and 2**n * len(model.space) <= MOST_WORK
            and data.is_judged_plainly
        ):
            context["uncertain"] = Attempt.of(lambda: _if_one_in_ten_knows(data)).value
    release = data.view
    can_merge = isinstance(release, Release) and release.persons is None and model is not None
    can_merge = can_merge and not data.is_without_her  # the original records have the buckets of the release
    if can_merge and len(model.space) <= LARGEST:
        context["merging"] = Attempt.of(lambda: _try_merging(data, release))
    return context


def _if_one_in_ten_knows(data: ReportData) -> dict[str, Any]:
    """Compute the number of exposed people if each statement is known with a probability of one in ten."""
    baseline = data.settings.baseline if data.is_compared else None
    known = dict.fromkeys(data.model.knowledge, ONE_IN_TEN)
    result = uncertain(data.model, known, threshold=data.settings.thresholds, baseline=baseline, progress=False)
    return {"expected": tables.number(result.expected, 2).text, "nobody": float(result.distribution.get(0, 0.0))}


def _try_merging(data: ReportData, release: Release) -> dict[str, Any]:
    """Try the least merging without knowledge, then merge the buckets of people who are still exposed."""
    now = len(release.buckets)
    if now < 2:
        return {"outcome": "one bucket"}
    n_terms = len(release.quasi_identifiers) * len(release.sensitive_values)
    if n_terms > LARGEST_MERGED:
        raise GroupTooLarge(
            f"a bucket of all people would have {n_terms:,} terms, and at most {LARGEST_MERGED:,} are solved again"
        )
    # A single bucket of all people gives a lower bound for every merging.
    least = data.exposed(solve_again(data.model, joined(release, np.zeros(now, dtype=int)))).people
    if least >= data.exposure.people:
        return {"outcome": "useless", "least": least}
    into = least_merging(release, data.settings.threshold) if data.is_judged_plainly else None
    into = np.arange(now) if into is None else into
    for i in range(ROUNDS + 1):
        parts, place = np.unique(into, return_inverse=True)
        merged = joined(release, into)
        exposure = data.exposure if len(parts) == now else data.exposed(solve_again(data.model, merged))
        if i == ROUNDS or exposure.people <= least or len(parts) < 2:
            break
        levels = [
            exposure.who.index.get_level_values(i) for i, name in enumerate(exposure.who.index.names) if name != "who"
        ]
        at = merged.quasi_identifiers.get_indexer(pd.MultiIndex.from_arrays(levels))
        buckets = np.flatnonzero(merged.n_qb[np.unique(at[at >= 0])].sum(axis=0)).tolist()
        into = parts[merge_pairs(merged, buckets)[place]]
    names, n_named = _bucket_names(release)
    sets = [names[place == part].tolist() for part in np.flatnonzero(np.bincount(place) > 1)]
    together = [text("{names} together", names=_joined(each)) for each in sets[:n_named]]
    outcome = "useless in part" if exposure.people >= data.exposure.people else "helps"
    return {
        "outcome": outcome, "least": least, "people": exposure.people, "names": together,
        "n_sets": len(sets), "buckets": len(parts), "buckets_now": now,
    }  # fmt: skip


def _bucket_names(release: Release) -> tuple[np.ndarray, int]:
    """Return the labels of buckets, or their QI tuples if each has one, and the largest number of sets to name."""
    tuples = sp.csc_array(release.n_qb > 0)
    if (np.diff(tuples.indptr) > 1).any():
        # Names of generalised cells are long, and several may be equal if they are shortened.
        names, n_named = [as_label(name) for name in release.buckets], NAMED if release.matched else NAMED_SETS
    else:  # as in a table without a bucket column
        names, n_named = [tables.group_name(release.quasi_identifiers, int(q)) for q in tuples.indices], NAMED
        if len(release.qi) > 1:
            names = [f"({name})" for name in names]
    return np.array(names, dtype=object), n_named


def _exposed(data: ReportData) -> dict[str, Any]:
    """Compute the tables of exposed groups, and of all people by the largest probability."""
    records = None
    if data.settings.records and data.exposure.people:
        records = Attempt.of(lambda: tables.records_table(data))
    return {
        "exposure": data.exposure, "tables": tables.exposed_tables(data),
        "pictures": [*([] if data.name else [tables.threshold_curve([data])]), tables.heat_map(data)],
        "measures": tables.measures_table(text("Other measures of inference"), data.figures_of("inference risk"), COUNTED),
        "records": records,
    }  # fmt: skip


def _certain(data: ReportData) -> dict[str, Any]:
    """Compute the table of logically certain inferences."""
    table = data.certain.value
    if table is None or table.empty:
        return {"attempt": data.certain}
    n_has = int((table["probability"] == 1).sum())
    return {
        "attempt": data.certain, "n_has": n_has, "n_has_not": len(table) - n_has,
        "tables": [tables.certain_table(data, table)],
    }  # fmt: skip


def _intervals(data: ReportData) -> dict[str, Any]:
    """Compute the interval of every probability."""
    if data.intervals.value is None:
        return {"why": data.intervals.why}
    context = tables.interval_tables(data, data.intervals.value)
    table = context.pop("table")
    return context | {"tables": [table] if table.rows else [], "threshold": data.settings.threshold}


def _assumptions(data: ReportData) -> dict[str, Any]:
    """Describe the release, and the assumed knowledge of the adversary."""
    view, model = data.view, data.model
    kinds = {
        Release: "release", PartitionedRelease: "release", QITable: "qi_table", GroupedRelease: "grouped",
        ReleaseSeries: "series",
    }  # fmt: skip
    context: dict[str, Any] = {
        "view": view, "qi": _and(view.qi), "sensitive": _and(view.sensitive), "people": _people_in(view),
        "kind": next((kind for cls, kind in kinds.items() if isinstance(view, cls)), "other"),
    }  # fmt: skip
    if isinstance(view, Release):
        # A bucket whose people all have the same value discloses it.
        same = int((np.diff(sp.csc_array(view.n_sb > 0).indptr) == 1).sum())
        context |= {"n_buckets": len(view.buckets), "n_same": same, "coarse": view.generalized, "matched": view.matched}
    elif isinstance(view, PartitionedRelease):
        context |= {"n_buckets": view.n_buckets, "n_same": None, "coarse": False, "matched": False}
    context["value_tables"] = [] if view.n_s is None else [tables.published_values_table(data)]
    if model is None:
        return context
    statements = tables.statements_of(model)
    return context | {
        "prior": model.prior, "prior_attributes": _and([", ".join(by) for by in model.prior.tables] if model.prior else []),
        "people_tables": [tables.named_people_table(data)] if data.n_named else [],
        "n_statements": len(statements), "tables": [tables.statements_table(data, statements)] if statements else [],
    }  # fmt: skip


def _and(names: Sequence[str]) -> str:
    """Write "A, B and C"."""
    return _joined([as_label(name, LONGEST_LABEL) for name in names]) if names else text("pseudonym only")


def _joined(labels: Sequence[str]) -> str:
    """Write labels as "A, B and C"."""
    return labels[0] if len(labels) == 1 else text("{names} and {last}", names=", ".join(labels[:-1]), last=labels[-1])


def _people_in(view: Any) -> int:
    """Return the number of people in the release; for a population, without people outside the release."""
    return int(view.n_records if view.inside.all() else view.n_s[view.inside].sum())


def _prices(data: ReportData) -> dict[str, Any]:
    """Compute the table of prices."""
    table = data.prices.value
    if table is None or table.empty:
        return {"attempt": data.prices}
    return {
        "attempt": data.prices, "n": len(table), "n_idle": int((table["price"] == 0).sum()),
        "tables": [tables.price_table(data, table)],
    }  # fmt: skip


def _attacks(data: ReportData) -> dict[str, Any]:
    """Run the requested attacks."""
    results = []
    for name, attack in data.settings.attacks.items():
        attempt: Attempt[Any] = Attempt.of(lambda attack=attack: attack(data.view))  # type: ignore[misc]
        result, rows, table = attempt.value, data.settings.rows, None
        if isinstance(result, AttackResult):
            table = tables.attack_result_table(result, rows)
        elif isinstance(result, pd.DataFrame):
            is_worst = attack is worst_case
            table = tables.worst_case_table(result, data.sa, rows) if is_worst else tables.plain_table(result, rows)
        results.append({
            "name": name, "attempt": attempt, "table": table, "is_worst_case": attack is worst_case,
            "certainty": _certainty_of(result, data.settings.original) if isinstance(result, AttackResult) else None,
        })  # fmt: skip
    return {"results": results, "tables": [part["table"] for part in results if part["table"]]}


def _certainty_of(result: AttackResult, original: pd.DataFrame | None) -> dict[str, Any]:
    """Compute the mean probability of the likeliest values, and their accuracy if original records are given."""
    inferred, without = result._likeliest()
    judged = None if original is None else Attempt.of(lambda: result.judge(original)).value
    return {
        "n": int(result.records.sum()), "said": inferred, "without": without, "judged": judged,
        "is_definetti": isinstance(result, DeFinettiResult),
        "iterations": len(result.log) if isinstance(result, DeFinettiResult) and not result.converged else 0,
    }  # fmt: skip


def _reidentification(data: ReportData) -> dict[str, Any]:
    """Compute the table of re-identification risks."""
    is_exact = isinstance(data.view, Release) and not (data.view.generalized or data.view.matched)
    table = tables.measures_table(text("Re-identification risks"), data.figures_of("re-identification risk"))
    return {"why": data.figures.why, "is_exact": is_exact, "table": table}


def _utility(data: ReportData) -> dict[str, Any]:
    """Compute the table of measures of utility."""
    table = tables.measures_table(text("Loss of information"), data.figures_of("utility"))
    return {"why": data.figures.why, "has_original": data.settings.original is not None, "table": table}


def _exactness(data: ReportData) -> dict[str, Any]:
    """Compute the table of the certificate."""
    return {"certificate": data.post.certificate, "table": tables.certificate_table(data)}


# ------------------------------------------------------------------------------------------- from sections to a page


class Section(NamedTuple):
    """A section of the page: its id is the name of its template, and `parts` are its contents by posterior."""

    id: str
    title: str
    lead: str
    parts: Sequence[tuple[ReportData, Mapping[str, Any]]]

    @property
    def is_side_by_side(self) -> bool:
        """Whether the parts are placed side by side; long descriptions of groups need the full width."""
        texts = [
            cell.text
            for _, context in self.parts
            for table in context.get("tables", ())
            for row in table.rows
            for cell, column in zip(row, table.columns, strict=True)
            if column.kind in ("group", "code")
        ]
        return len(self.parts) > 1 and max(map(len, texts), default=0) <= LONGEST


#: The order of a report: the answer, what to change, then the evidence.
SECTIONS: tuple[tuple[str, str, str, Callable[[ReportData], dict[str, Any]]], ...] = (
    ("answer", "The answer", "", _answer),
    ("changes", "Suggested changes", "", _changes),
    ("exposed", "Who is exposed", "Groups of people whose value is inferred with too high a probability.", _exposed),
    ("certain", "Certain inferences", "Logically certain inferences, and the statements that imply them.", _certain),
    (
        "intervals", "Intervals of the estimates",
        "All probabilities that the release and the statements permit, not only the best guess.", _intervals,
    ),
    (
        "assumptions", "The release, and the assumed knowledge of the adversary",
        "All results depend on these assumptions; adversaries with other knowledge infer other probabilities.", _assumptions,
    ),
    ("prices", "Influence of each statement", "The assumptions with the largest influence on the answer.", _prices),
    ("attacks", "Attacks", "Inferences from the release by other methods.", _attacks),
    (
        "reidentification", "Re-identification risk",
        "A separate risk: identification of a person's record, regardless of its sensitive value.", _reidentification,
    ),
    ("utility", "Utility", "The cost of the protection to users of the release.", _utility),
    ("exactness", "Accuracy of the numbers", "A proved bound on the error of the answer, independent of the solver.", _exactness),
)  # fmt: skip


def render_report(cases: Sequence[ReportData], day: str, language: str, progress: bool | None) -> str:
    """Render the report of some posteriors as HTML, which loads no resources and runs only its own script."""
    first, environment = cases[0], _environment()
    described = [section for section in SECTIONS if section[0] != "attacks" or first.settings.attacks]
    sections = [
        Section(name, text(title), text(lead), [(data, {"tables": [], **context(data)}) for data in cases])
        for name, title, lead, context in progress_bar(described, "report", progress)
    ]
    summary = tables.summary_table(cases, [_people_in(data.view) for data in cases]) if len(cases) > 1 else None
    title = text("Disclosure report")
    style, script = (environment.get_template(name).render() for name in ("style.css", "page.js"))
    return str(
        environment.get_template("report.html").render(
            title=f"{title}: {_and([data.name for data in cases])}" if first.name else title,
            subtitle=text(
                "Inferences about people's {attribute} from the release, and ways to reduce them", attribute=first.sa
            ),
            language=language,
            sections=sections, summary=summary, curve=tables.threshold_curve(cases) if summary else None,
            provenance=tables.provenance_table(cases, day), style=style, script=script, style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )  # fmt: skip


@cache
def _environment() -> Any:
    """Return the environment of the templates, in which every text is escaped and isolated."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        return Markup(escaped(value)) if isinstance(value, str) and not isinstance(value, Markup) else value

    def translated(message: str, **values: object) -> Markup:
        return Markup(text(message, lambda value: str(shown(str(value))), **values))

    environment = Environment(
        loader=PackageLoader(__package__, "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=shown,
    )  # fmt: skip
    environment.filters |= {
        "attribute": lambda text: Markup(escape(isolated(text))),
        "percent": percent,
        "from_on": tables.from_on,
        "below": tables.below,
        "count": lambda n: tables.count(n).text,
        "at_most": lambda x: tables.at_most(x).text,
        "plural": lambda n, one, many: translated(one if n == 1 else many, n=int(n)),
    }
    environment.globals["_"] = translated
    return environment


def _hash(text: str) -> str:
    """Return the hash by which a content security policy recognizes a text of the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# ---------------------------------------------------------------------------------------------- the public function


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A standalone HTML page, and the exposures that it reports.

    Attributes
    ----------
    html : str
        The page. It loads no resources, and every value in it is escaped.
    exposures : dict of str to Exposure
        Who is exposed, by the name of each posterior; a single one has the name "".

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> report = mx.report(mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve())
    >>> report.html.startswith("<!doctype html>"), [exposure.people for exposure in report.exposures.values()]
    (True, [1])
    """

    html: str
    exposures: Mapping[str, Exposure] = field(default_factory=dict)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            The name should end in .html.

        Raises
        ------
        TableError
            If the file cannot be written; an existing file is left unchanged.

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
    threshold: float | Sequence[float] = 0.8,
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
    language: str = "en",
    progress: bool | None = None,
) -> Report:
    """Report what a release discloses as one standalone page, for decision makers.

    The answer comes first, then suggested changes, then the evidence: exposed people, certain inferences, intervals, the
    release and the assumed knowledge, prices, attacks if requested, re-identification risk, utility, the certificate,
    versions and a glossary. Sections that cannot be computed state why.

    Parameters
    ----------
    posts : Posterior, or list or dict of them
        The posteriors to report; several are compared side by side, under the names in a dictionary.
    path : str or path, optional
        The file to write the page to; by default no file is written.
    threshold, sensitive, baseline, within
        The definition of exposure, see :func:`maxent_cvx.measures.exposed`.
    original : DataFrame, or dict of them, optional
        The original records, for measures of risk and utility; a dictionary contains those of each posterior. They are not
        shown unless `records` is True.
    population : DataFrame, QITable or int, optional
        The population that the people of the release belong to, or its size, for the re-identification risk; see
        :func:`maxent_cvx.measures.reidentification`.
    records : bool
        Show original records of exposed people.
    attacks : list, or dict by name
        "worst_case", "definetti", or functions of the release, such as
        ``partial(mx.attacks.membership, population=voters)``.
    about : dict, optional
        Information about the data for readers: ``{"source": "ward 3, 2024", "seed": 0}``.
    rows : int
        Number of rows shown per table; a longer table says so.
    time_limit : float
        Time limit of the intervals, and of the certain inferences, in seconds; if it is exceeded, the section states that.
    language : str
        The language of the page: "en", or "de" for German. Error messages and values are not translated.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    Report
        With ``.html``, ``.save(path)`` and ``.exposures``; a notebook displays it.

    Raises
    ------
    UnknownName, StatementError
        If `posts` contains other objects, an attack is neither a known name nor a function, or another argument is invalid.
    MaxEntError
        As :func:`maxent_cvx.measures.exposed`, if `threshold`, `sensitive`, `baseline` or `within` is invalid.
    TableError
        If the file cannot be written; an existing file is left unchanged.

    Notes
    -----
    The page contains the published counts and the assumed statements, and no original record unless `records` is True.
    Protect it like the release, or better.

    Examples
    --------
    >>> import maxent_cvx as mx, pathlib, tempfile
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> nothing, medicine = mx.MaxEnt(release), mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = mx.report({"knows nothing": nothing.solve(), "knows medicine": medicine.solve()},
    ...                        pathlib.Path(folder, "report.html"), about={"source": "the paper's Fig. 1"})
    >>> {name: exposure.people for name, exposure in report.exposures.items()}
    {'knows nothing': 0, 'knows medicine': 1}
    """
    named, file = _named(posts), None if path is None else path_of(path)
    if population is not None and not isinstance(population, pd.DataFrame | QITable):
        check_int(population, "population", 1)
    settings = Settings(
        thresholds=check_thresholds(threshold),
        sensitive=sensitive,
        baseline=baseline,
        within=within,
        population=population,
        records=check_bool(records, "records"),
        attacks=_read_attacks(attacks),
        about={
            check_str(name, "a name in about"): value if isinstance(value, Message) else str(value)
            for name, value in ({} if about is None else check_mapping(about, "about", "{name: text}")).items()
        },
        rows=check_int(rows, "rows", 1),
        time_limit=check_seconds(time_limit, "time_limit"),
    )
    check_optional_bool(progress, "progress")
    check_in(language, "language", languages())
    if settings.records and original is None:
        raise StatementError(
            "records (--records) shows original records of exposed people, but there are none: the release alone does not "
            "show who has which value; pass original (--original), or omit records (--records)"
        )
    originals = _originals(original, named)
    cases = [ReportData(name, post, replace(settings, original=originals.get(name))) for name, post in named.items()]
    exposures = {data.name: data.exposure for data in cases}  # first, to refuse invalid arguments before long work
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    with speaking(language):
        result = Report(render_report(cases, day, language, progress), exposures)
    if file is not None:
        result.save(file)
    return result


def _named(posts: object) -> dict[str, Posterior | PartitionedPosterior]:
    """Read the posteriors by name; a single one has the name ""."""
    if isinstance(posts, Posterior | PartitionedPosterior):
        return {"": posts}
    if isinstance(posts, Mapping):
        named = {check_str(name, "the name of a posterior"): post for name, post in posts.items()}
    else:
        several = check_list(posts, "posts", "posteriors")
        named = {"" if len(several) == 1 else f"Variant {i}": post for i, post in enumerate(several, 1)}
    for post in named.values():
        check_instance(post, (Posterior, PartitionedPosterior), "a posterior of the report", "solve a model first")
    if not named:
        raise StatementError("posts must contain at least one posterior, as returned by model.solve(), got none")
    return named


def _originals(original: object, named: Mapping[str, object]) -> dict[str, pd.DataFrame]:
    """Read the original records of each posterior; a single table is used for all."""
    if original is None:
        return {}
    if not isinstance(original, Mapping):
        return dict.fromkeys(named, check_dataframe(original, "the original records"))
    for name in original:
        check_label(name, "name of a posterior (in original)", named)
    return {name: check_dataframe(table, f"the original records of {name!r}") for name, table in original.items()}


def _read_attacks(attacks: object) -> dict[str, Attack]:
    """Read attacks: names of known ones, and functions of the release."""
    if isinstance(attacks, Mapping):
        return {check_str(name, "the name of an attack"): check_callable(attack, f"attack {name!r}")
                for name, attack in attacks.items()}  # fmt: skip
    chosen: dict[str, Attack] = {}
    for attack in check_list(attacks, "attacks", "names or functions"):
        if isinstance(attack, str):
            chosen[attack] = KNOWN[check_in(attack, "an attack", list(KNOWN))]
        else:
            chosen[_name_of(check_callable(attack, "an attack"))] = attack
    return chosen


def _name_of(attack: object) -> str:
    """Return the name of a function, or of the function of a partial object."""
    while isinstance(attack, partial):
        attack = attack.func
    return str(getattr(attack, "__name__", type(attack).__name__))
