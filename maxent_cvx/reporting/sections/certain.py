"""What is certain, and why."""

from __future__ import annotations

import numpy as np

from ...errors import amount
from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import count, percent

__all__ = ["certain"]

#: What is not in the list.
ALONE = "What each bucket determines by itself, such as the value that all of its people have, is not listed here."


def certain(case: Case) -> list[Block]:
    """List inferences that are no matter of probability, those that somebody has a value first."""
    if case.certain.value is None:
        return [Paragraph(f"What is certain is not listed: {case.certain.why}.", "missing")]
    found = case.certain.value
    if found.empty:
        return [Paragraph(f"No statement makes anything certain that the release leaves open. {ALONE}")]
    has, people = found["probability"].to_numpy() == 1, found["people"].to_numpy()
    order = np.lexsort((-people, ~has))
    said = [
        f"{amount(int(has.sum()), 'inference')} that people have a value" if has.any() else "",
        f"{amount(int((~has).sum()), 'inference')} that they have it not" if (~has).any() else "",
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
