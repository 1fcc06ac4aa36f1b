"""Attacks by somebody who knows nobody's sensitive value: those that were asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...attacks import AttackResult, definetti, worst_case
from ..blocks import Block, Cell, Column, Heading, Paragraph, Table
from ..case import Case, Tried
from ..formats import count, label, number, probability
from ..settings import Attack
from ..tables import group_cells, group_columns

__all__ = ["KNOWN", "attacks"]

#: Attacks that can be asked for by name, on a release alone.
KNOWN: dict[str, Attack] = {"worst_case": worst_case, "definetti": definetti}
#: What they are called in a report.
TITLES = {
    "worst_case": "The worst that a few pieces of knowledge can do",
    "definetti": "deFinetti: learning from all buckets",
}


def attacks(case: Case) -> list[Block]:
    """Run what was asked for, each on what is published."""
    found: list[Block] = []
    for name, attack in case.asked.attacks.items():
        found.append(Heading(TITLES.get(name, name)))
        tried: Tried[Any] = Tried.of(lambda attack=attack: attack(case.view))  # type: ignore[misc]
        if tried.value is None:
            found.append(Paragraph(f"This attack could not be made: {tried.why}.", "missing"))
        elif isinstance(tried.value, AttackResult):
            found += _result(tried.value, case)
        elif isinstance(tried.value, pd.DataFrame):
            found += _worst(tried.value, case) if attack is worst_case else _table(tried.value, case)
        else:
            found.append(Paragraph(str(tried.value)))
    return found


def _result(result: AttackResult, case: Case) -> list[Block]:
    """The sentence, and the surest inferences."""
    p, without = result.table.to_numpy(), result.baseline.to_numpy()
    order = np.argsort(-p.max(axis=1), kind="stable")[: case.asked.rows]
    index, at = result.table.index, p.argmax(axis=1)
    rows = [
        [
            *group_cells(index, int(i)), Cell(label(result.table.columns[at[i]])), probability(float(p[i, at[i]])),
            probability(float(without[i, at[i]])), count(float(result.records.iloc[i])),
        ]
        for i in order
    ]  # fmt: skip
    columns = [
        *group_columns(index), Column("Likeliest"), Column("Probability", "number"),
        Column("Without the attack", "number"), Column("People", "number"),
    ]  # fmt: skip
    return [Paragraph(f"{result.sentence}."), Table("What the attack infers", columns, rows, len(p), "the surest")]


def _worst(table: pd.DataFrame, case: Case) -> list[Block]:
    """What the worst adversary of each size infers, and an example of what it takes to know."""
    rows = [
        [
            count(int(row["k"])), probability(float(row["disclosure"])), Cell(str(row["person"])),
            Cell(label(row["value"])), Cell("; ".join(row["sentences"]) or "nothing"),
        ]
        for _, row in table.head(case.asked.rows).iterrows()
    ]  # fmt: skip
    columns = [
        Column("Pieces known", "number"), Column("Largest probability", "number"), Column("Of whom"), Column(case.sa),
        Column("For example, knowing", "code"),
    ]  # fmt: skip
    words = (
        "Nobody knows beforehand what an adversary knows. This is the largest probability that somebody has a value, "
        "for an adversary who knows the release and, instead of the statements of this report, so many pieces of "
        'knowledge, the most harmful ones; a piece reads "if this person has this value, that person has that value". '
        "Everything else that fits the release is taken to be equally likely."
    )
    return [Paragraph(words), Table("The worst case", columns, rows, len(table))]


def _table(table: pd.DataFrame, case: Case) -> list[Block]:
    """A table as the attack gives it."""
    numeric = [pd.api.types.is_numeric_dtype(table[column]) for column in table]
    columns = [Column(str(column), "number" if n else "text") for column, n in zip(table, numeric, strict=True)]
    rows = [[_cell(value) for value in row] for row in table.head(case.asked.rows).itertuples(index=False)]
    return [Table("What the attack finds", columns, rows, len(table))]


def _cell(value: object) -> Cell:
    """A cell of any table."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return count(int(value))
    if isinstance(value, tuple | list):
        return Cell("; ".join(map(str, value)))
    return Cell("" if value is None else str(value))
