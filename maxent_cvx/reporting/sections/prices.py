"""What each statement is worth to the adversary."""

from __future__ import annotations

import numpy as np

from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import number

__all__ = ["prices"]

#: What the sign of a price means for the value of a statement, by its side.
SIDES = {
    "=": "is used as it stands", "<=": "holds at its upper end", ">=": "holds at its lower end", "~": "may be missed",
    "": "is not needed",
}  # fmt: skip


def prices(case: Case) -> list[Block]:
    """List statements, the dearest first."""
    if case.prices.value is None:
        return [Paragraph(f"Prices are not given: {case.prices.why}.", "missing")]
    table = case.prices.value
    if table.empty:
        return [Paragraph("The adversary is assumed to know no statement, and only statements have prices.")]
    price = table["price"].to_numpy()
    idle = int((price == 0).sum())
    words = (
        "The price says how much uncertainty a small change of the statement's value would give or take. A large one "
        "is a reason to ask whether anybody can know the statement so exactly; an infinite one means that it excludes "
        "something altogether."
    )
    if idle:
        has = "has" if idle == 1 else "have"
        words += (
            f" {idle:,} of the {len(table):,} statements {has} the price 0: the answer is the same without any one."
        )
    rows = [
        [Cell(str(table.index[at])), Cell(SIDES[str(table["side"].iloc[at])]), _size(price[at])]
        for at in range(min(len(table), case.asked.rows))
    ]
    columns = [Column("Statement", "code"), Column("It"), Column("Price, nats per unit", "number")]
    return [Paragraph(words), Table("Prices of the statements", columns, rows, len(table), "the dearest")]


def _size(price: float) -> Cell:
    """The size of a price; its sign says only which way the value would have to move."""
    return number(float(np.abs(price)))
