"""What two releases say together of somebody who is in both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from ..result import AttackResult

__all__ = ["IntersectionResult"]


@dataclass(frozen=True, eq=False, repr=False)
class IntersectionResult(AttackResult):
    """P(s | q, in all releases), beside P(s | q) of the one release that says most of each.

    :meth:`judge` takes the records of people who are in all releases, who need not be known to the attack.

    Attributes
    ----------
    table, baseline : DataFrame
        Probabilities, a row a QI tuple, a column a value.
    records : Series
        The most people of each QI tuple who can be in all releases, or those who are, if that is known.
    error : float
        0 of an unknown overlap, exact over possible worlds; else how far P is from the maximum-entropy answer at most.
    bounds : DataFrame
        A row for every QI tuple and value that somebody in all releases can have: `low` and `high`, the smallest and
        the largest share of these people who have it. Never narrower than the truth; attained where it is not known who
        else is in all of them.
    known_overlap : bool
        Whether it is known which QI the people have who are in all releases: then `records` are these people.
    impossible : MultiIndex
        QI tuples that all releases have, and that nobody in all of them can have: no value is in all their groups.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> first = pd.DataFrame({"Age": [28, 31, 35], "Disease": ["AIDS", "Flu", "Ulcer"], "Bucket": [1, 1, 1]})
    >>> second = pd.DataFrame({"Age": [28, 40, 28], "Disease": ["AIDS", "Cold", "Cold"], "Bucket": [1, 1, 2]})
    >>> releases = [mx.Release.from_buckets(t, qi="Age", sa="Disease", bucket="Bucket") for t in (first, second)]
    >>> result = mx.attacks.intersection(releases)
    >>> print(result)
    of 1 record that may be in all releases, 1 (100.0%) can have one value only; the likeliest value has a probability
    of 1.00 on average, 0.75 without the attack
    >>> result.certain.to_dict(), result.candidates.to_dict()
    ({28: 'AIDS'}, {28: 1})
    """

    bounds: pd.DataFrame
    impossible: pd.MultiIndex
    known_overlap: bool = False

    title: ClassVar[str | None] = "intersection"

    @property
    def candidates(self) -> pd.Series:
        """How many values somebody with each QI tuple, in all releases, can have."""
        levels = list(range(self.table.index.nlevels))
        some = self.bounds.loc[self.bounds["high"] > 0]
        return some.groupby(level=levels, sort=False).size().reindex(self.table.index).rename("values")

    @property
    def certain(self) -> pd.Series:
        """The value of those with a QI tuple who are in all releases, where there is one only; of several a tuple."""
        one = (self.candidates == 1).to_numpy()
        likeliest = self.table.to_numpy()[one].argmax(axis=1)
        values = self.table.columns.to_flat_index()[likeliest]
        return pd.Series(values, self.table.index[one], name=self.table.columns.name)

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        n = self.records.to_numpy()
        exposed = int(n[(self.candidates == 1).to_numpy()].sum())
        sure, without = (float(n @ p.to_numpy().max(axis=1) / n.sum()) for p in (self.table, self.baseline))
        which = "in" if self.known_overlap else "that may be in"
        return (
            f"of {int(n.sum())} record{'s' * bool(n.sum() != 1)} {which} all releases, {exposed} "
            f"({exposed / n.sum():.1%}) can have one value only; the likeliest value has a probability of {sure:.2f} "
            f"on average, {without:.2f} without the attack"
        )

    def _check_number(self, truth: np.ndarray) -> None:
        """Who is in all releases need not be known to the attack."""
