"""What to change: which people, which assumptions, and what merging their buckets would do, tried out."""

from __future__ import annotations

import numpy as np

from ...errors import amount
from ...measures import Exposure
from ...model.posterior import Posterior
from ...views import Release
from ..blocks import Block, Bullets, Paragraph
from ..case import Case, Tried
from ..formats import count
from ..merging import again, in_one_bucket, merged_once
from ..tables import MOST_COLUMNS
from .exposed_rows import ExposedRows

__all__ = ["changes"]

#: How often buckets are merged, and how many terms a model may have that is solved again to try it.
ROUNDS, LARGEST = 3, 200_000
#: Groups, statements and merged buckets that are named.
NAMED = 3
#: Statements are left out in turn if their number, times that of the terms, is not above this.
MOST_WORK = 300_000


def changes(case: Case) -> list[Block]:
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
    advice = [*_groups(case, found), *_statements(case, found), *_merging(case, found)]
    return [Bullets(advice)]


def _groups(case: Case, found: Exposure) -> list[str]:
    """Whom to look at."""
    rows = ExposedRows.of(found, case.view.sensitive)
    n, total = rows.index.nunique(), found.total
    short = rows.index.nlevels <= MOST_COLUMNS + 1
    each = list(dict.fromkeys(rows.whom(at) for at in range(len(rows))))[:NAMED] if short else []
    names = "; ".join(each) if short else "the list below"
    which = f": {names}" if short and n <= NAMED else f", beginning with {names}" if short else f": see {names}"
    return [
        f"The exposed people, {count(found.people).text} of {count(total).text}, are in {amount(n, 'group')}{which}. "
        "Put them together with people who have other values, coarsen what is told of them, or withhold them."
    ]


def _statements(case: Case, found: Exposure) -> list[str]:
    """Whether it is the publication that exposes them, or what the adversary knows besides."""
    if case.model is None:
        return []
    if not case.model.knowledge:
        if case.has_prior:
            return ["The release exposes them to somebody who believed before what the prior says: check the prior."]
        return ["The release alone exposes them: the adversary is assumed to know nothing else of anybody's value."]
    alone = Tried.of(lambda: found.published_alone)
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
            else f"{release} exposes {amount(alone.value, 'person', 'people')} by itself; the other "
        )
        + f"{amount(rest, 'person is', 'people are')} exposed only to somebody who also knows the statements. Check "
        "whether anybody outside can know each of them: what nobody can know is no reason to change anything, and can "
        "be left out of the model.",
        *_through(case, found),
    ]


def _through(case: Case, found: Exposure) -> list[str]:
    """Which statements it takes, where there are few enough to leave out each in turn."""
    n = case.model.form.shape[0] - case.model.form.n_facts
    if n * len(case.model.space) > MOST_WORK:
        return []
    table = Tried.of(lambda: found.statements)
    if table.value is None:
        return []
    some = table.value[table.value["people"] > 0]
    return [
        f"Without the statement {name}, {amount(int(row['people']), 'person', 'people')} of these would not be exposed."
        for name, row in some.head(NAMED).iterrows()
    ]


def _merging(case: Case, found: Exposure) -> list[str]:
    """Merge the buckets of exposed people with others, as often as it takes, and count again."""
    post, release = case.post, case.view
    if not isinstance(release, Release) or not isinstance(post, Posterior) or case.model is None:
        return []
    if len(post.space) > LARGEST or release.persons is not None:
        return []
    tried = Tried.of(lambda: _merged(case, post, release, found))
    return [f"Merging buckets could not be tried: {tried.why}."] if tried.value is None else [tried.value]


def _merged(case: Case, post: Posterior, release: Release, found: Exposure) -> str:
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
            f"Merging buckets two by two does not help: after {amount(len(names), 'merger')}, "
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
        f"would have {amount(len(now.buckets), 'bucket')} instead of {len(release.buckets):,}, and answer its readers "
        f"less precisely.{more}"
    )


def _buckets(release: Release, found: Exposure) -> list[int]:
    """The buckets that exposed people are in."""
    at = release.quasi_identifiers.get_indexer(ExposedRows.of(found, release.sensitive).tuples)
    return np.flatnonzero(release.n_qb[np.unique(at[at >= 0])].sum(axis=0)).tolist()
