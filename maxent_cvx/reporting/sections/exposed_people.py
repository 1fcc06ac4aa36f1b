"""Who is exposed, by group, and how sure the adversary is of everybody."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import count, label, percent, probability
from ..pictures import heat_map, threshold_curve
from ..tables import group_cells, group_columns
from .exposed_records import exposed_records
from .exposed_rows import ExposedRows
from .measured import measured_table, of_kind

__all__ = ["exposed_people"]

#: The first measures of inference say how many people are exposed, which stands above already.
COUNTED = 2


def exposed_people(case: Case) -> list[Block]:
    """List the groups of people who are exposed, the surest first, and count everybody by the surest inference."""
    found = case.exposure
    blocks: list[Block] = [_groups(case, ExposedRows.of(found, case.view.sensitive), int(found.people))]
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


def _values(case: Case, values: pd.DataFrame) -> list[Block]:
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


def _others(case: Case) -> list[Block]:
    """What other measures say of the same inferences."""
    found = None if case.figures.value is None else of_kind(case.figures.value, "inference risk")
    return [] if found is None else [measured_table("Other measures of what is inferred", found.iloc[COUNTED:])]


def _groups(case: Case, exposed: ExposedRows, people: int) -> Block:
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
