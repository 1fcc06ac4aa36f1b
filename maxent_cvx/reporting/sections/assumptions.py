"""What is published, and everything that the adversary is assumed to know, in notation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import amount
from ...sources import Statement
from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import count, label, percent
from .published import published_in_words

__all__ = ["assumptions", "statements_of"]

#: Statements are assumptions: as many are listed, however few rows other tables have.
MOST_STATEMENTS = 1_000


def assumptions(case: Case) -> list[Block]:
    """Write what is published, who is known by name, what was believed before, and each statement."""
    found: list[Block] = [Paragraph(published_in_words(case.view)), *_values(case)]
    if case.in_partitions:
        why = "The answer of a release in partitions does not list all that it was told; the statements it is "
        return [*found, Paragraph(f"{why}sensitive to are among the prices below.", "missing")]
    if case.model is None:
        why = "The answer was read from a file, which does not hold what the adversary knows: ask whoever wrote it."
        return [*found, Paragraph(why, "missing")]
    return [*found, *_before(case), *_people(case), *_statements(case)]


def _values(case: Case) -> list[Block]:
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


def _before(case: Case) -> list[Block]:
    """What was believed before anything was published."""
    prior = case.model.prior
    if prior is None:
        return []
    about = f": {prior.about}" if getattr(prior, "about", "") else ""
    return [Paragraph(f"Before anything is published, the adversary believes something of people by their "
                      f"{' and '.join(', '.join(one) for one in prior.tables)}{about}.")]  # fmt: skip


def _people(case: Case) -> list[Block]:
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


def _statements(case: Case) -> list[Block]:
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
        f"Besides, the adversary is assumed to know {amount(len(found), 'statement')}, whether true or not. "
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
