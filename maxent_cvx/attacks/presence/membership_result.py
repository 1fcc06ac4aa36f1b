"""Who of a population is in a release, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ...errors import TableError
from ...tables.coding import sort_distinct
from ...tables.columns import check_columns
from ..result import AttackResult

__all__ = ["INSIDE", "MembershipResult"]

#: What is inferred: whether somebody is in the release.
INSIDE = "in the release"


@dataclass(frozen=True, eq=False, repr=False)
class MembershipResult(AttackResult):
    """P(in the release | q) of everybody in a population, beside N / population.

    Attributes
    ----------
    table, baseline : DataFrame
        Probabilities of False and True, a row a QI tuple of the population.
    records : Series
        People of the population with it, counts.
    error : float
        How far P is from the maximum-entropy answer at most; 0 where no two groups cover the same people, and the
        answer is exact.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> release = mx.Release.from_generalized(
    ...     pd.DataFrame({"Age": ["2*", "2*", "45"], "Disease": ["Flu", "HIV", "Flu"]}), qi="Age", sa="Disease")
    >>> voters = pd.DataFrame({"Age": ["21", "24", "28", "45", "50"]})
    >>> result = mx.attacks.membership(release, voters)
    >>> result
    <3 of 5 people are in the release: P(in the release) is from 0 to 1, and surely 1 for 1 person>
    >>> result.delta
    (0.0, 1.0)
    >>> result.judge(pd.DataFrame({"Age": ["21", "28", "45"]})).right           # of those in it, a row each
    0.8
    """

    title: ClassVar[str | None] = "membership"

    @property
    def p(self) -> pd.Series:
        """P(in the release) by QI tuple."""
        return self.table[True].rename(INSIDE)

    @property
    def delta(self) -> tuple[float, float]:
        """(delta_min, delta_max): the least and the largest P(in the release) of anybody in the population."""
        return float(self.p.min()), float(self.p.max())

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        n = self.records.to_numpy()
        inside = round(float(n @ self.baseline[True].to_numpy()))
        sure = int(n[self.p.to_numpy() >= 1 - self.error].sum())
        least, most = (f"{end:.3g}" for end in self.delta)
        return (
            f"{inside} of {int(n.sum())} people are in the release: P(in the release) is from {least} to {most}, and "
            f"surely 1 for {sure} {'person' if sure == 1 else 'people'}"
        )

    def _truth(self, original: pd.DataFrame) -> np.ndarray:
        """How many people of each QI tuple are out and in, from a table of those in the release."""
        qi = [str(name) for name in self.table.index.names]
        check_columns(original, {"of whom": qi}, "the people in the release")
        code, tuples = sort_distinct(original[qi])
        at = self.table.index.get_indexer(tuples if len(qi) > 1 else tuples.get_level_values(0))
        if (at < 0).any():
            raise TableError("people are said to be in the release who are not in the population; pass its people")
        inside = np.bincount(at[code], minlength=len(self.table))
        n = round(float(self.records.to_numpy() @ self.baseline[True].to_numpy()))
        if len(original) != n:
            raise TableError(
                f"{len(original)} people are said to be in the release, which has {n} records; pass everybody who is "
                "in it, a row each"
            )
        if (few := self.records.to_numpy() < inside).any():
            raise TableError(
                f"more people are said to be in the release than there are in the population, with {int(few.sum())} "
                "QI tuples; pass the people who are in the release"
            )
        return np.column_stack([self.records.to_numpy() - inside, inside])
