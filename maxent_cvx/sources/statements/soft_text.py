"""Soft statements in the papers' notation: ``P(Flu | Gender=male) ~ 0.3 +- 0.05``."""

from __future__ import annotations

import re

from ...terms.blocks.wording import decimal
from ...terms.penalty import Penalty

__all__ = ["soft_text"]

#: How each relation is written where it can be missed.
SOFTENED = {" = ": " ~ ", " <= ": " <~ ", " >= ": " >~ "}


def soft_text(hard: str, penalty: Penalty) -> str:
    """Write a statement as soft: ``~`` for ``=``, ``<~`` for ``<=``, and what it costs to miss it.

    Parameters
    ----------
    hard : str
        The statement were it hard.
    penalty : Penalty
        Of one row.
    """
    # A relation stands outside of parentheses and quotes, in which values may hold anything.
    outside = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\([^()]*\))|( = | <= | >= )""")
    text = outside.sub(lambda found: found[1] or SOFTENED[found[2]], hard)
    sd, weight, delta = (
        "" if side is None else decimal(float(side)) for side in (penalty.sd, penalty.weight, penalty.delta)
    )
    return f"{text}, weight {weight}" if weight else f"{text} +- {sd}" + f", delta {delta}" * bool(delta)
