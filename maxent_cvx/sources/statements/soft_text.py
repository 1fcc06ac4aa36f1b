"""Soft statements in the papers' notation: ``P(Flu | Gender=male) ~ 0.3 +- 0.05``."""

from __future__ import annotations

from ...terms.blocks.wording import decimal
from ...terms.penalty import Penalty

__all__ = ["RELATIONS", "cost_text"]

#: How "equal", "at most" and "at least" are written, of hard and of soft statements.
RELATIONS = {False: ("=", "<=", ">="), True: ("~", "<~", ">~")}


def cost_text(penalty: Penalty | None) -> str:
    """Write what it costs to miss a statement, after it: " +- 0.05", ", weight 50"; nothing of a hard one.

    Parameters
    ----------
    penalty : Penalty, optional
        Of one row.
    """
    if penalty is None:
        return ""
    sd, weight, delta = (
        "" if side is None else decimal(float(side)) for side in (penalty.sd, penalty.weight, penalty.delta)
    )
    return f", weight {weight}" if weight else f" +- {sd}" + f", delta {delta}" * bool(delta)
