"""The report of one answer, or of several side by side."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from os import PathLike

import pandas as pd

from ..errors import StatementError, arguments
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from ..system.files import path_of
from ..views import QITable
from .case import Case
from .composing import composed
from .page_file import Report
from .sections.attacks import KNOWN
from .settings import Attack, Settings

__all__ = ["report"]


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
        threshold=arguments.real(threshold, "threshold", 0.0, 1.0),
        sensitive=sensitive,
        baseline=baseline,
        within=within,
        population=_population(population),
        records=arguments.flag(records, "records"),
        attacks=_attacks(attacks),
        about=_about(about),
        rows=arguments.whole(rows, "rows", 1),
        time_limit=arguments.seconds(time_limit, "time_limit"),
    )
    arguments.optional_flag(progress, "progress")
    if asked.records and original is None:
        raise StatementError("records=True shows original records, and none are given: original=table")
    records_of = _originals(original, named)
    cases = [Case(name, post, replace(asked, original=records_of.get(name))) for name, post in named.items()]
    exposures = {case.name: case.exposure for case in cases}  # first: wrong arguments are refused before long work
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    html = composed(cases, day, progress)
    found = Report(html, exposures)
    if file is not None:
        found.save(file)
    return found


def _named(posts: object) -> dict[str, Posterior | PartitionedPosterior]:
    """Read the answers under their names; one alone has none."""
    if isinstance(posts, Posterior | PartitionedPosterior):
        return {"": posts}
    if isinstance(posts, Mapping):
        found = {arguments.text(name, "the name of an answer"): post for name, post in posts.items()}
    else:
        several = arguments.list_of(posts, "posts", "posteriors")
        found = {"" if len(several) == 1 else f"Variant {i}": post for i, post in enumerate(several, 1)}
    for post in found.values():
        arguments.instance(post, (Posterior, PartitionedPosterior), "an answer that is reported", "solve a model first")
    if not found:
        raise StatementError("there is no answer to report; give what model.solve() returns")
    return found


def _originals(given: object, named: Mapping[str, object]) -> dict[str, pd.DataFrame]:
    """Read the original records of each answer; one table is of all."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(named, arguments.table(given, "the original records"))
    for name in given:
        arguments.known_label(name, "name of an answer (in original)", named)
    return {name: arguments.table(table, f"the original records of {name!r}") for name, table in given.items()}


def _population(given: object) -> object:
    """Read everybody, or how many they are."""
    if given is None or isinstance(given, pd.DataFrame | QITable):
        return given
    return arguments.whole(given, "population", 1)


def _attacks(given: object) -> dict[str, Attack]:
    """Read attacks: names of those that are known, and functions of what is published."""
    if isinstance(given, Mapping):
        return {arguments.text(name, "the name of an attack"): arguments.function(attack, f"attack {name!r}")
                for name, attack in given.items()}  # fmt: skip
    found: dict[str, Attack] = {}
    for attack in arguments.list_of(given, "attacks", "names or functions"):
        if isinstance(attack, str):
            found[attack] = KNOWN[arguments.choice(attack, "an attack", list(KNOWN))]
        else:
            found[_name_of(arguments.function(attack, "an attack"))] = attack
    return found


def _name_of(attack: object) -> str:
    """The name of a function, also of one that has some of its arguments."""
    while isinstance(attack, partial):
        attack = attack.func
    return str(getattr(attack, "__name__", type(attack).__name__))


def _about(given: object) -> dict[str, str]:
    """Read what is said of the data."""
    found = {} if given is None else arguments.mapping(given, "about", "{what: text}")
    return {arguments.text(name, "about: what it is of"): str(value) for name, value in found.items()}
