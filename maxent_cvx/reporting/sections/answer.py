"""The answer: how many people are exposed, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...errors import amount
from ..blocks import Block, Cell, Column, Paragraph, Table, Verdict
from ..case import Case
from ..formats import at_most, below, count, from_on, number, percent, share, value_name
from .exposed_rows import ExposedRows
from .published import people_in

__all__ = ["answer", "glance"]

#: A figure that not all answers can be compared by.
ENTROPY = "uncertainty that is left (entropy), nats"
#: Values that are named.
NAMED = 3


def answer(case: Case) -> list[Block]:
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


def _meaning(case: Case) -> str:
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


def _surest(case: Case) -> list[str]:
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
        f"{which}: {amount(int(rows.people[0]), 'person', 'people')} with {rows.whom(0)} "
        f"{'has' if rows.people[0] == 1 else 'have'} {rows.what(0)}{_about(case)}, {each}with a probability of "
        f"{percent(rows.p[0], case.exact)}{usual}."
    ]


def _about(case: Case) -> str:
    """How close to the value it is, where intervals are judged."""
    return f" to within {case.exposure.closeness}" * bool(case.exposure.closeness)


def _usual(case: Case) -> list[str]:
    """What is as likely and not counted, as its baseline reaches the threshold."""
    values = case.exposure.values
    some = values[values["anyway"] > 0]
    return [
        f"Not counted: {value_name(case.view.sensitive, value)}{_about(case)}, which is inferred as surely of "
        f"{amount(int(row['anyway']), 'person', 'people')}, has a baseline that reaches the threshold"
        f"{f': {percent(row.baseline)} of all people have it' * (case.exposure.baseline == 'overall')}."
        for value, row in some.head(NAMED).iterrows()
    ]


def _adversary(case: Case) -> str:
    """Who infers this."""
    if case.model is None:
        return "The adversary knows the release, and what was assumed when the answer was computed."
    n = case.model.form.shape[0] - case.model.form.n_facts + len(case.model.convex)
    people = f"{amount(case.n_named, 'person', 'people')} by name"
    known = [people] * bool(case.n_named) + [f"{amount(n, 'statement')}, listed below"] * bool(n)
    before = " Before, the adversary believed what the prior below says." * case.has_prior
    more = f", and besides {' and '.join(known)}" if known else ", and nothing besides" * (not case.has_prior)
    return f"The adversary knows the release{more}.{before} Whoever knows more may infer more."


def glance(cases: Sequence[Case]) -> Table:
    """The key figures of several answers side by side."""
    figures: dict[str, Callable[[Case], Cell]] = {
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


def _exposed(case: Case) -> Cell:
    return count(float(case.exposure.people))


def _largest(case: Case) -> Cell:
    if case.figures.value is None:
        return Cell("not known")
    p = float(case.figures.value["value"]["inference risk", "largest probability"])
    return Cell(percent(p, case.exact), p)


def _statements(case: Case) -> Cell:
    if case.model is None:
        return Cell("not known")
    return count(case.model.form.shape[0] - case.model.form.n_facts + len(case.model.convex))


def _certain(case: Case) -> Cell:
    return Cell("not known") if case.certain.value is None else count(len(case.certain.value))
