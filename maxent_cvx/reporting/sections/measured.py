"""What users of disclosure control expect beside inference: who can be found, and what readers lose."""

from __future__ import annotations

import pandas as pd

from ...views import Release
from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import count, number, percent

__all__ = ["measured_table", "of_kind", "recognised", "useful"]

#: Distances that are smaller are rounding.
ROUNDING = 1e-9

#: Units of whole things, with their singular; of shares; and of information.
SINGLE = {"people": "person", "records": "record", "classes": "class", "values": "value"}
SHARES, INFORMATION = {"probability", "share", "ratio"}, {"bits", "nats"}


def recognised(case: Case) -> list[Block]:
    """List how likely it is that somebody's record is found."""
    if case.figures.value is None:
        return [Paragraph(f"Re-identification is not measured: {case.figures.why}.", "missing")]
    found = of_kind(case.figures.value, "re-identification risk")
    if found is None:
        return [Paragraph("Re-identification is not measured of a series: ask its releases one by one.", "missing")]
    blocks: list[Block] = []
    if isinstance(case.view, Release) and not case.view.generalized:
        words = (
            "In buckets the quasi-identifiers are published as they are, so that whoever is in the release can be "
            f"recognised in it. Their {case.sa} is published by bucket only: the answer above says what that protects."
        )
        blocks.append(Paragraph(words))
    return [*blocks, measured_table("Risks of being recognised", found)]


def useful(case: Case) -> list[Block]:
    """List how wrong the answers are that readers get."""
    if case.asked.original is None:
        why = "Utility is measured against the original records, which were not given: original=table."
        return [Paragraph(why, "missing")]
    if case.figures.value is None:
        return [Paragraph(f"Utility is not measured: {case.figures.why}.", "missing")]
    found = of_kind(case.figures.value, "utility")
    if found is None:
        return [Paragraph("Utility is measured of releases of buckets in memory, and this is none.", "missing")]
    return [measured_table("What readers lose", found)]


def of_kind(figures: pd.DataFrame, kind: str) -> pd.DataFrame | None:
    """The measures of a kind, if there are any."""
    found = figures[figures.index.get_level_values("kind") == kind].droplevel("kind")
    return found if len(found) else None


def measured_table(caption: str, found: pd.DataFrame) -> Table:
    """Measures with their values, and what they say."""
    rows = [
        [Cell(str(name)), _value(float(row["value"]), str(row["unit"])), Cell(str(row["says"]))]
        for name, row in found.iterrows()
    ]
    return Table(caption, [Column("Measure"), Column("Value", "number"), Column("What it says")], rows, len(rows))


def _value(value: float, unit: str) -> Cell:
    """Write a value in its unit, if that is one that readers know."""
    if unit in SHARES:
        return Cell(percent(value) if value <= 1 else f"{100 * value:,.0f} %", value)
    if unit in SINGLE:
        return Cell(f"{count(value).text} {SINGLE[unit] if value == 1 else unit}", value)
    found = number(0.0 if abs(value) < ROUNDING else value)
    return Cell(f"{found.text} {unit}" if unit in INFORMATION else found.text, value)
