"""The order of a report: the answer first, then what to change, then the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..system.progress import progress_bar
from .blocks import Block
from .case import Case
from .pictures import threshold_curve
from .rendering import Part, Section, page
from .sections.answer import answer, glance
from .sections.assumptions import assumptions
from .sections.attacks import attacks
from .sections.certain import certain
from .sections.changes import changes
from .sections.exactness import exactness
from .sections.exposed_people import exposed_people
from .sections.intervals import intervals
from .sections.making import making
from .sections.measured import recognised, useful
from .sections.prices import prices

__all__ = ["composed"]

#: The sections that say something of each answer: id, title, what each is about, and what it says.
EVIDENCE: tuple[tuple[str, str, str, Callable[[Case], list[Block]]], ...] = (
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


def composed(cases: Sequence[Case], day: str, progress: bool | None) -> str:
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


def _section(cases: Sequence[Case], described: tuple[str, str, str, Callable[[Case], list[Block]]]) -> Section:
    """What a section says of each answer."""
    name, title, lead, write = described
    return Section(name, title, lead, [Part(case.name if len(cases) > 1 else "", write(case)) for case in cases])
