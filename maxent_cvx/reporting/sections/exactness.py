"""The certificate in words: how exact the numbers are, and who says so."""

from __future__ import annotations

from ..blocks import Block, Cell, Column, Paragraph, Table
from ..case import Case
from ..formats import at_most, number

__all__ = ["exactness"]

#: Errors below this need no number to be understood.
MILLIONTH = 1e-6


def exactness(case: Case) -> list[Block]:
    """Say what is proved."""
    found = case.post.certificate
    if found.holds:
        small = ", less than one in a million" if found.bound < MILLIONTH else ""
        words = Paragraph(
            f"Every probability that is inferred is proved to be within {at_most(found.bound).text} of the exact "
            f"answer{small}. "
            "The proof is worked out from the statements themselves and does not rely on the program that found the "
            "answer."
        )
    else:
        worst = at_most(min(found.bound, 1.0)).text
        words = Paragraph(
            f"The answer is not certified: a probability may be off by {worst}. Do not decide by this report; "
            "solve the model again with the default solver.",
            "warning",
        )
    said: list[list[Cell]] = [
        [Cell("largest possible error of a probability"), at_most(found.bound)],
        [Cell("largest violation of a statement, people"), number(found.residual, 2)],
        [Cell("distance from the optimum (duality gap), people"), number(found.gap, 2)],
        [Cell("terms that can have one value only"), number(float(found.forced), 9)],
        [Cell("iterations"), number(float(case.post.iterations), 9)],
        [Cell("seconds to solve"), number(float(case.post.solve_seconds), 2)],
    ]
    if found.backward:
        said.append([Cell("statements are met up to this share of their values"), number(found.backward, 2)])
    said.append([Cell("solver, and how it ended"), Cell(f"{getattr(case.post, 'solver', 'DUAL_NEWTON in partitions')}, "
                                                         f"{case.post.status}")])  # fmt: skip
    return [words, Table("The certificate", [Column("What"), Column("Value", "number")], said, len(said))]
