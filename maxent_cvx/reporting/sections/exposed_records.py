"""Original records of people who are exposed, where somebody asked to see them."""

from __future__ import annotations

import numpy as np

from ...measures.exposure.exposure import same_value
from ...tables.coding import sort_distinct
from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case, Tried
from ..formats import label
from .exposed_rows import ExposedRows

__all__ = ["exposed_records"]


def exposed_records(case: Case) -> list[Block]:
    """List the records of exposed groups, and whether what is inferred of them is true; nothing unless asked for."""
    if not case.asked.records or not case.exposure.people:
        return []
    found = Tried.of(lambda: _table(case))
    if found.value is None:
        return [Paragraph(f"Records are not shown: {found.why}.", "missing")]
    if not found.value.total:
        why = "Records are not shown: no original record has the quasi-identifiers of an exposed group, as published."
        return [Paragraph(why, "missing")]
    return [found.value]


def _table(case: Case) -> Table:
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
